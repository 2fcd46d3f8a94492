"""The weights of an autoencoder ReLU(W_out W_in x + b), in one form for all layouts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Weights:
    """An autoencoder: ``W_in`` (nd, ns) and ``W_out`` (ns, nd), or their product ``W`` (ns, ns); ``b`` (ns,).

    ``threshold`` (ns,), which an output must exceed to pass, and ``k``, the number of outputs that pass, belong to
    sparse autoencoders, as do ``l0``, the number that their settings aim at, and ``offset`` (nd,), the bias of their
    decoder, which ``b`` already includes; ``single``, whether the numbers were kept in single precision or less;
    ``told``, how arrays were identified; ``layout``, the package; ``otherwise``, the other reading of a file that does
    not determine which is right.
    """

    b: NDArray[np.floating]
    W_in: NDArray[np.floating] | None = None
    W_out: NDArray[np.floating] | None = None
    W: NDArray[np.floating] | None = None
    threshold: NDArray[np.floating] | None = None
    k: int | None = None
    l0: int | None = None
    offset: NDArray[np.floating] | None = None
    single: bool = False
    is_sae: bool = False
    told: tuple[str, ...] = field(default=())
    layout: str = ""
    otherwise: tuple[str, Weights] | None = None

    @property
    def ns(self) -> int:
        """Number of features."""
        return len(self.b)

    @property
    def nd(self) -> int | None:
        """Number of dimensions between the factors; None of a product."""
        return None if self.W_in is None else len(self.W_in)

    def gains(self) -> NDArray[np.floating]:
        """Diagonal of the product, shape (ns,)."""
        if self.W is not None:
            return np.diag(self.W)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.einsum("ij,ji->i", self.W_out, self.W_in)  # pyrefly: ignore[no-matching-overload]: both are there

    def rows(self, start: int, stop: int) -> NDArray[np.floating]:
        """Rows of the product, shape (stop - start, ns)."""
        if self.W is not None:
            return self.W[start:stop]
        with np.errstate(over="ignore", invalid="ignore"):  # it is refused in words
            return self.W_out[start:stop] @ self.W_in  # pyrefly: ignore[unsupported-operation]: both are there

    def drive(self, x: NDArray[np.floating]) -> NDArray[np.floating]:
        """Inputs of the outputs' ReLU for feature vectors (batch, ns)."""
        if self.W is not None:
            return x @ self.W.T + self.b
        return x @ self.W_in.T @ self.W_out.T + self.b  # pyrefly: ignore[missing-attribute]: both are there

    def encode(self, h: NDArray[np.floating]) -> NDArray[np.floating]:
        """Latents (batch, ns) of activations (batch, nd)."""
        assert self.offset is not None and self.W_out is not None  # of every sparse autoencoder
        return self.outputs((h - self.offset) @ self.W_out.T + self.b)

    def outputs(self, drive: NDArray[np.floating]) -> NDArray[np.floating]:
        """The outputs after the gate, in the shape of the drive."""
        return np.where(drive > self.bars(drive), drive, 0)

    def bars(self, drive: NDArray[np.floating], *, middle: bool = False) -> NDArray[np.floating] | float:
        """The value that the drive has to exceed to pass: 0, a threshold, or the (k + 1)-th largest of its vector.

        In place of the latter, with ``middle``, its mean with the k-th largest.
        """
        if self.k is not None and self.k < self.ns:
            places = [self.ns - self.k - 1, self.ns - self.k]
            found = np.partition(drive, places if middle else places[0], axis=1)[:, places]
            return np.maximum(found.mean(axis=1, keepdims=True) if middle else found[:, :1], 0)
        return 0.0 if self.threshold is None else np.maximum(self.threshold, 0)
