"""What arrays of known names say: an autoencoder ReLU(W_out W_in x + b), in one form, whatever it was kept as."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks
from superposition.diagnosis import files
from superposition.diagnosis.files import CONVERT, NAMES

READINGS = ("product", "tied")
BIASES = ("b_dec", "decoder_bias", "b")  # of what the decoder gives
UNREAD = ("gated", "transcoder", "skip_transcoder", "abstopk", "temporal", "matching_pursuit")  # other architectures
ALLOWED = (
    "W_in, W_out and b; encoder.weight, decoder.weight and their biases; W_enc, W_dec, b_enc and b_dec; W and b or "
    "b_final"
)


@dataclass(frozen=True, eq=False)
class Weights:
    """An autoencoder: ``W_in`` (nd, ns) and ``W_out`` (ns, nd), or their product ``W`` (ns, ns); ``b`` (ns,).

    ``threshold`` (ns,), above which alone an output passes, and ``k``, the number of outputs that pass, are those of
    sparse autoencoders; ``single``, whether the numbers were kept in single precision or less; ``told``, what was
    taken for what.
    """

    b: NDArray[np.floating]
    W_in: NDArray[np.floating] | None = None
    W_out: NDArray[np.floating] | None = None
    W: NDArray[np.floating] | None = None
    threshold: NDArray[np.floating] | None = None
    k: int | None = None
    single: bool = False
    is_sae: bool = False
    told: tuple[str, ...] = field(default=())

    @property
    def ns(self) -> int:
        """Number of features."""
        return len(self.b)

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
        """What the outputs' ReLU gets from feature vectors (batch, ns)."""
        if self.W is not None:
            return x @ self.W.T + self.b
        return x @ self.W_in.T @ self.W_out.T + self.b  # pyrefly: ignore[missing-attribute]: both are there

    def outputs(self, drive: NDArray[np.floating]) -> NDArray[np.floating]:
        """What passes, shape as the drive's."""
        return np.where(drive > self.bars(drive), drive, 0)

    def bars(self, drive: NDArray[np.floating]) -> NDArray[np.floating] | float:
        """What the drive has to be above to pass: 0, a threshold, or the k-th largest but one of its vector."""
        if self.k is not None and self.k < self.ns:
            return np.maximum(np.partition(drive, self.ns - self.k - 1, axis=1)[:, [self.ns - self.k - 1]], 0)
        return 0.0 if self.threshold is None else np.maximum(self.threshold, 0)


def read(
    W: ArrayLike | str | os.PathLike | Mapping[str, ArrayLike],
    b: ArrayLike | None = None,
    W_out: ArrayLike | None = None,
    *,
    instance: int | None = None,
    reading: str | None = None,
) -> Weights:
    """Weights from a file or folder, arrays by name, a product, a tied encoder, or an encoder and a decoder."""
    if reading is not None:
        checks.one_of("reading", reading, READINGS)
    if isinstance(W, (str, os.PathLike, Mapping)):
        if b is not None or W_out is not None:
            raise ValueError(f"b = {checks.shown(b)} beside a file; allowed: the file alone, W, which has the bias")
        arrays, settings = (W, {}) if isinstance(W, Mapping) else files.opened(W)
        return _named(arrays, settings, "the weights" if isinstance(W, Mapping) else f"path = {W}", instance, reading)
    if b is None:
        raise ValueError("b = None; allowed: a bias, shape (ns,), unless W is a file or holds arrays by name")
    if W_out is None:
        return _named({"W": W, "b": b}, {}, "W", instance, reading)
    checks.real("W", files.plain(W), open_low=True, open_high=True)  # under the name that the caller knows
    given = {"W_in": W, "W_out": W_out, "b": b}
    return _named(given, {}, "W", instance, reading)


def _named(arrays, settings, where, instance, reading):
    """Arrays by their own names."""
    parts, single = _parts(arrays)
    told = []
    kind = str(settings.get("architecture", "")).lower()
    if kind in UNREAD or settings.get("transcode") or any("r_mag" in str(name) for name in arrays):
        raise ValueError(
            f"{where} is {kind or 'gated or a transcoder'}, which is no ReLU of one product; allowed: standard, "
            "JumpReLU and TopK"
        )
    parts = _one_instance(parts, instance, told)
    shapes = ", ".join(f"{name} {tuple(np.shape(array))}" for name, array in arrays.items())
    problem = f"{where} holds {checks.printable(shapes) or 'nothing'}"
    if "W" in parts and "b" in parts:
        found = _single(parts, reading, problem, told)
    elif ends := _ends(parts):
        found = _pair(parts, *ends, problem, settings, told)
    else:
        raise ValueError(f"{problem}; allowed: {ALLOWED}. Otherwise {CONVERT}")
    return replace(found, single=single, told=tuple(told))


def _parts(arrays):
    """Finite numbers under the names of this module, and whether the weights were in single precision."""
    parts, single = {}, True
    for name, value in arrays.items():
        short = _short(str(name))
        if short is None or short in parts:
            continue
        value = files.plain(value)
        kept = isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.dtype.itemsize <= 4
        array = checks.real(checks.printable(str(name)), value, open_low=True, open_high=True)
        parts[short] = array
        if array.ndim > 1:
            single = single and (kept or _was_single(array))
    return parts, single


def _was_single(array):
    """Whether numbers of double precision were kept in single once; whole ones are exact in both."""
    with np.errstate(over="ignore"):
        return bool(np.all(array == array.astype(np.float32)) and np.any(array != np.round(array)))


def _short(name):
    """The name that stands for it: that of its last parts."""
    pieces = name.lower().split(".")
    return next((NAMES[end] for i in range(len(pieces)) if (end := ".".join(pieces[i:])) in NAMES), None)


def _one_instance(parts, instance, told):
    """Arrays without the leading axis of instances, where the weights have one."""
    deep = {len(array) for array in parts.values() if array.ndim == 3}
    if not deep:
        if instance is not None:
            raise ValueError(f"instance = {instance} of weights without instances; allowed: none")
        return parts
    [count, *more] = deep
    if more:
        raise ValueError(f"weights have {' and '.join(map(str, sorted(deep)))} instances; allowed: one number")
    chosen = checks.whole("instance", 0 if instance is None else instance, 0, count - 1)
    if count > 1:
        told.append(f"instance {chosen} of {count}" + (" (another: --instance 1, …)" if instance is None else ""))
    usual = {name: 3 if name not in (*BIASES, "b_enc", "threshold") else 2 for name in parts}
    return {name: array[chosen] if array.ndim == usual[name] else array for name, array in parts.items()}


def _single(parts, reading, problem, told):
    """One matrix: a product, or a tied encoder in either orientation."""
    W, b = parts["W"], parts["b"]
    if W.ndim != 2 or b.ndim != 1 or len(b) not in W.shape:
        raise ValueError(f"{problem}, which do not fit; allowed: W (ns, ns), or tied (nd, ns) or (ns, nd), and b (ns,)")
    square = W.shape[0] == W.shape[1]
    if square and reading != "tied":
        if reading is None:
            told.append("a square W is the product W_out W_in (a tied encoder: --reading tied)")
        return Weights(b, W=W)
    if reading == "product":
        raise ValueError(f"{problem}; a product is square; allowed: no reading, or tied")
    W_in = W if W.shape[1] == len(b) else W.T
    told.append(f"W {W.shape} is a tied encoder of {len(b)} features in {len(W_in)} dimensions")
    return Weights(b, W_in=W_in, W_out=W_in.T)


def _ends(parts):
    """Names of the encoder and the decoder, if there are both."""
    first = next((name for name in ("W_in", "encoder", "W_enc") if name in parts), None)
    last = next((name for name in ("W_out", "decoder", "W_dec") if name in parts), None)
    return (first, last) if first and last else None


def _pair(parts, first, last, problem, settings, told):
    """Encoder and decoder: of a model, or of a sparse autoencoder, which has more latents than inputs."""
    E, D = parts[first].astype(float), parts[last].astype(float)
    E, D = (E.T if first == "W_enc" else E), (D.T if last == "W_dec" else D)
    inner, outer = parts.get("b_enc"), next((parts[name] for name in BIASES if name in parts), None)
    for turn_first, turn_last in ((False, False), (True, True), (True, False), (False, True)):
        one, two = (E.T if turn_first else E), (D.T if turn_last else D)
        if _fits(one, two, inner, outer):
            break
    else:
        raise ValueError(
            f"{problem}, which do not fit; allowed: W_in (nd, ns), W_out (ns, nd) and b (ns,). Otherwise {CONVERT}"
        )
    if turn_first or turn_last:
        told.append("matrices are turned to fit the biases")
    if len(one) <= one.shape[1] or (first, last) == ("W_in", "W_out"):
        if outer is None:
            raise ValueError(f"{problem}, no bias of the output; allowed: {ALLOWED}; zeros if it has none")
        if inner is not None:
            told.append("the hidden bias is taken into the output's")
        return Weights(outer if inner is None else outer + two @ inner, W_in=one, W_out=two)
    return _sae(one, two, inner, outer, parts, settings, told)


def _fits(E, D, inner, outer):
    """Whether encoder (m, n), decoder (n, m) and their biases belong together."""
    if E.ndim != 2 or D.shape != E.shape[::-1]:
        return False
    return (inner is None or inner.shape == E.shape[:1]) and (outer is None or outer.shape == D.shape[:1])


def _sae(E, D, inner, outer, parts, settings, told):
    """A sparse autoencoder: its latents are the features, its decoder's directions what they write."""
    latents, width = E.shape
    b = np.zeros(latents) if inner is None else inner
    told.append(f"a sparse autoencoder: its {latents} latents are the features, its {width} inputs the dimensions")
    if outer is not None and np.any(outer):
        taken_off = settings.get("apply_b_dec_to_input", "decoder_bias" not in parts)  # a linear layer's own is not
        if not taken_off:
            b = b + E @ outer
        told.append("b_dec is taken off before the encoder, so it drops out" if taken_off
                    else "b_dec stays in the encoder's input, so it is part of the bias")  # fmt: skip
    if settings.get("rescale_acts_by_decoder_norm") and settings.get("architecture") != "jumprelu":
        length = np.linalg.norm(D, axis=0)
        E, D, b = E * length[:, None], D / np.where(length > 0, length, 1), b * length
    normal = settings.get("normalize_activations")
    if normal not in (None, "none"):
        told.append(f"inputs are taken to be normalised already ({checks.printable(str(normal))})")
    threshold, k = _gate(parts, settings, latents, told)
    return Weights(b, W_in=D, W_out=E, threshold=threshold, k=k, is_sae=True)


def _gate(parts, settings, latents, told):
    """Threshold and number of the latents that pass; None where there is none."""
    threshold = parts.get("threshold")
    if threshold is not None and np.any(threshold > 0):
        told.append("JumpReLU: only the simulation knows its thresholds, the formulas are those of ReLU")
        return np.broadcast_to(threshold, (latents,)), None
    k = settings.get("k", parts.get("k"))
    if k is None or settings.get("activation", "topk") != "topk":
        return None, None
    k = checks.whole("k", k, 1, latents)
    told.append(f"TopK: only the simulation knows that {k} latents pass, the formulas are those of ReLU")
    return None, k
