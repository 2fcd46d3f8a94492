"""A verifier for records: weights from a file, their loss, and whether they beat the best code known.

Source: ours. The file is a safetensors file; what it promises is measured here on feature vectors of our own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from superposition import checks
from superposition.rug.best_map import best_known
from superposition.rug.exact_losses import code_loss, simulated_code_loss

EXACT = 12  # features up to which the loss is exact


@dataclass(frozen=True)
class Record:
    """What a code is worth: ``ns``, ``nd`` (rank), ``r``, ``loss`` with ``se`` (0: exact), ``best`` known, ``rug``."""

    ns: int
    nd: int
    r: float
    p: float
    loss: float
    se: float
    best: float
    rug: float

    @property
    def is_record(self) -> bool:
        """Whether the loss is below the best known by more than four standard errors."""
        return self.loss + 4 * self.se < self.best * (1 - 1e-6)

    def __str__(self) -> str:
        """One line for people."""
        error = f" ± {self.se:.2g}" if self.se else " (exact)"
        verdict = "a record" if self.is_record else "no record"
        return (
            f"{self.ns} features in {self.nd} dimensions, p = {self.p:g}: loss {self.loss:.6g}{error}, "
            f"{self.loss / self.best:.4f} of the best known, {self.loss / self.rug:.4f} of the rug: {verdict}"
        )


def load_weights(path: str | Path) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """W and b from a safetensors file.

    Parameters
    ----------
    path : str or pathlib.Path
        A file that holds W_in (nd, ns), W_out (ns, nd) and b (ns,), or W (ns, ns) and b.

    Returns
    -------
    W : numpy.ndarray, shape (ns, ns)
    b : numpy.ndarray, shape (ns,)

    Raises
    ------
    ValueError
        If the file is missing, is no safetensors file, or holds other names, shapes or values.

    Examples
    --------
    >>> load_weights("nowhere.safetensors")
    Traceback (most recent call last):
    ...
    ValueError: path = 'nowhere.safetensors' is no file; allowed: a safetensors file with W_in, W_out and b, or W and b
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    allowed = "allowed: a safetensors file with W_in, W_out and b, or W and b"
    if not isinstance(path, str | Path) or not Path(path).is_file():
        raise ValueError(f"path = {checks.shown(path)} is no file; {allowed}")
    try:
        found = load_file(path)
    except SafetensorError as error:
        raise ValueError(f"path = {path} cannot be read ({error}); {allowed}") from None
    if set(found) not in ({"W_in", "W_out", "b"}, {"W", "b"}):
        raise ValueError(f"path = {path} holds {', '.join(sorted(found))}; {allowed}")
    found = {name: checks.real(name, value, open_low=True, open_high=True) for name, value in found.items()}
    shapes = {name: value.shape for name, value in found.items()}
    if "W" not in found:
        if found["W_in"].ndim != 2 or found["W_out"].shape != found["W_in"].shape[::-1]:
            raise ValueError(f"shapes {shapes} do not fit; allowed: W_in (nd, ns), W_out (ns, nd), b (ns,)")
        found["W"] = found["W_out"] @ found["W_in"]
    W, b = found["W"], found["b"]
    if W.ndim != 2 or W.shape[0] != W.shape[1] or b.shape != W.shape[:1]:
        raise ValueError(f"shapes {shapes} do not fit; allowed: W (ns, ns), b (ns,)")
    return W, b


def check(W: NDArray[np.float64], b: NDArray[np.float64], p: float, *, samples: int = 400_000, seed: int = 0) -> Record:
    """Measure a code against the best known at its probability and ratio.

    Parameters
    ----------
    W : numpy.ndarray, shape (ns, ns)
        Product of decoder and encoder. Its rank, with a tolerance of 1e-9 of each row, is the number of dimensions.
    b : numpy.ndarray, shape (ns,)
        Bias.
    p : float
        Probability that a feature is on, in (0, 1).
    samples : int
        Feature vectors, where there are more than EXACT features; at least 2.
    seed : int
        Seed of the feature vectors.

    Returns
    -------
    Record

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> from superposition.rug.codes import priority_fan
    >>> fan = priority_fan(10, 30)
    >>> check(fan.W, fan.b, 0.05).is_record
    False
    """
    W = checks.of_shape("W", W, ("ns", "ns"))
    b = checks.of_shape("b", b, W.shape[:1])
    rank = rank_of(W)
    if len(b) <= EXACT:
        loss, se = code_loss(W, b, p, rtol=1e-7), 0.0
    else:
        found = simulated_code_loss(W, b, p, samples=samples, seed=seed)
        loss, se = found.mean, found.se
    best = best_known(p, min(1.0, rank / len(b)))
    return Record(len(b), rank, rank / len(b), float(p), loss, se, best.loss, best.rug)


def rank_of(W: NDArray[np.float64]) -> int:
    """Rank of a matrix whose rows and columns may differ by many orders of magnitude.

    Parameters
    ----------
    W : numpy.ndarray, shape (ns, ns)
        Finite.

    Returns
    -------
    int
        Pivots of a complete elimination above 1e-9 of what each had to cancel: at least 1.

    Raises
    ------
    ValueError
        If `W` holds anything but finite numbers.

    Examples
    --------
    >>> from superposition.rug.codes import priority_fan
    >>> rank_of(priority_fan(10, 1000).W)
    2
    """
    W = checks.array("W", W, "ns ns").copy()
    size, rank = np.abs(W), 0
    while rank < len(W):
        share = np.abs(W) / np.where(size > 0, size, 1)
        i, j = np.unravel_index(np.argmax(np.where(share > 1e-9, np.abs(W), 0)), W.shape)
        if share[i, j] <= 1e-9:
            break
        step = np.outer(W[:, j] / W[i, j], W[i])
        size = np.maximum(size, np.abs(step))
        W, rank = W - step, rank + 1
        W[i], W[:, j] = 0, 0
    return max(1, rank)
