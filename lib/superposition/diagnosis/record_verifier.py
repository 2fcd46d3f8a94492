"""A verifier for records: the loss of any weights, and whether it is below that of the best known code.

Source: ours. The loss of a file of weights is measured here on our own feature vectors.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, ranges
from superposition.checked import checked
from superposition.codes import LARGEST_INHIBITION, LARGEST_WEIGHT, best_known, code_loss, simulated_code_loss
from superposition.diagnosis import reading

EXACT = 12  # features up to which the loss is exact
MOST = 4096  # features whose product is made here: an eighth of a gigabyte


@dataclass(frozen=True)
class Record:
    """Measured values of a code: ``ns``, ``nd`` (rank), ``r``, ``loss``, ``se`` (0: exact), ``best`` known, ``rug``."""

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
        beside = "where nothing need be lost"
        if self.best:
            beside = f"{self.loss / self.best:.4f} of the best known, {self.loss / self.rug:.4f} of the rug"
        return (
            f"{self.ns} features in {self.nd} dimensions, p = {self.p:g}: loss {self.loss:.6g}{error}, "
            f"{beside}: {'a record' if self.is_record else 'no record'}"
        )


@checked(p=ranges.sparse_probability, samples=ranges.whole(2, 10**9), seed=ranges.whole(0))
def check_record(
    W: ArrayLike, b: ArrayLike, p: float, *, nd: int | None = None, samples: int = 400_000, seed: int = 0,
) -> Record:  # fmt: skip
    """Measure a code against the best known at its probability and ratio.

    Parameters
    ----------
    W : array_like, shape (ns, ns)
        Product of decoder and encoder, from -1e300 to 1e75.
    b : array_like, shape (ns,)
        Bias.
    p : float
        Probability that a feature is on, in (0, 1).
    nd : int, optional
        Dimensions, from 1 to ns, where the factors show them; the rank of W if that is less or nothing is given.
    samples : int
        Feature vectors, where there are more than twelve features; at least 2.
    seed : int
        Seed of the feature vectors.

    Notes
    -----
    Source: ours. The best known code is that of `superposition.codes.best_known`.

    Examples
    --------
    >>> from superposition.codes import priority_fan
    >>> fan = priority_fan(10, 30)
    >>> check_record(fan.W, fan.b, 0.05).is_record
    False
    """
    ns, rank, loss, se = measured_record(W, b, p, nd=nd, samples=samples, seed=seed)
    p = float(p)
    best = best_known(p, rank / ns)
    return Record(ns, rank, rank / ns, p, loss, se, best.loss, best.rug)


def of_file(path: str | os.PathLike, p: float, instance: int | None = None) -> Record:
    """The record of a toy model in a file, refused before its product is made where that is too large."""
    found = reading.read(path, instance=instance, reading="toy")
    if found.ns > MOST:
        raise ValueError(f"path = {checks.shown(path)} has {found.ns} features; allowed: at most {MOST} for a record")
    W = checks.real("W_out W_in", found.rows(0, found.ns), open_low=True, open_high=True)
    return check_record(W, found.b, p, nd=None if found.W_in is None else len(found.W_in))


@checked(p=ranges.sparse_probability, samples=ranges.whole(2, 10**9), seed=ranges.whole(0))
def measured_record(
    W: ArrayLike, b: ArrayLike, p: float, *, nd: int | None = None, samples: int = 400_000, seed: int = 0,
) -> tuple[int, int, float, float]:  # fmt: skip
    """Return features, dimensions, loss and standard error (0: exact) of a code, by the arguments of `check_record`.

    Examples
    --------
    >>> ns, rank, loss, se = measured_record([[1.0, -1.0], [-1.0, 1.0]], [0.0, 0.0], 0.05)
    >>> ns, rank, round(loss, 7), se
    (2, 1, 0.0004167, 0.0)
    """
    W = checks.real("W", checks.array("W", W, "ns ns"), -LARGEST_INHIBITION, LARGEST_WEIGHT)
    b = checks.real("b", checks.array("b", b, W.shape[:1]), -LARGEST_WEIGHT, LARGEST_WEIGHT)
    ns, p = len(b), checks.number("p", p, 0, 1, open_low=True, open_high=True)
    rank = min(rank_of(W), checks.whole("nd", ns if nd is None else nd, 1, ns))
    checks.whole("samples", samples, 2), checks.generator("seed", seed)
    if ns <= EXACT:
        loss, se = code_loss(W, b, p, rtol=1e-7), 0.0
    else:
        found = simulated_code_loss(W, b, p, samples=samples, seed=seed)
        loss, se = found.mean, found.se
    return ns, rank, loss, se


def rank_of(W: NDArray[np.float64]) -> int:
    """Rank, at least 1, of a matrix (n, n) whose rows and columns may differ by many orders of magnitude."""
    # pivots of a complete elimination above 1e-9 of what each had to cancel
    W = W.copy()
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
