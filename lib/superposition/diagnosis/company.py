"""Vectors given instead of a distribution: they are read, measured, and compared with independent features.

Source: ours.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from superposition import checks
from superposition.correlated import company_losses, state_losses
from superposition.diagnosis import files, strangers
from superposition.diagnosis.feature_laws import Population
from superposition.diagnosis.measures import BLOCK, Rows, Simulated
from superposition.diagnosis.weights import Weights
from superposition.features import Estimate
from superposition.ranges import MOST_NUMBERS

FEWEST = 100  # vectors: below, no share of them says how often a feature is on
OVERLAPS = 2048  # features up to which all pairs are counted


@dataclass(frozen=True, eq=False)
class Company:
    """Features as they come, compared with the same features each shuffled separately.

    ``apart``, the loss without company; ``field``, the loss that the mean field with company predicts (None for gated
    outputs); ``interference``, the standard deviation of the interference divided by that of independent features;
    ``carried``, how much higher interference is while the own feature is on, in those standard deviations; ``overlap``,
    the mean of W_ij / W_ii over pairs, each weighted by how much more often than by chance the two are on together
    (None for many features, or where no pair is); ``vectors``, how many there were.
    """

    apart: Estimate
    field: float | None
    interference: float
    carried: float
    overlap: float | None
    vectors: int

    def __str__(self) -> str:
        """The difference in words."""
        field = "" if self.field is None else f"; the mean field with company says {self.field:.4g}"
        overlap = "" if self.overlap is None else f"; features that fire together overlap by {self.overlap:+.2g}"
        return (
            f"on your {self.vectors} vectors {self.interference:.3g} times the interference of independent features, "
            f"{self.carried:+.2g} standard deviations of it while the own feature is on{overlap}; of independent "
            f"features the loss would be {self.apart.mean:.4g} ± {self.apart.se:.2g}{field}"
        )


def vectors(name: str, given: Any) -> NDArray[np.floating]:
    """Finite numbers (n, width) from an array, several in turn, .npy, or the only array of a .safetensors file."""
    if isinstance(given, (str, os.PathLike)):
        given = from_file(name, os.fspath(given))
    elif isinstance(given, Iterable) and not hasattr(given, "shape") and not isinstance(given, (list, tuple)):
        given = _joined(name, given)
    given = files.plain(given)
    single = type(given) is np.ndarray and given.dtype == np.float32 and np.all(np.isfinite(given))  # half the memory
    found = given if single else checks.real(name, given, open_low=True, open_high=True)
    if found.ndim != 2 or len(found) < FEWEST:
        raise ValueError(f"{name} has shape {found.shape}; allowed: numbers (vectors, width), {FEWEST} or more")
    return found


def _joined(name, given):
    """Batches joined one after the other, as far as memory allows."""
    parts, total = [], 0
    for part in given:
        part = np.atleast_2d(np.asarray(files.plain(part) if hasattr(part, "shape") else part))
        total += part.size
        if total > MOST_NUMBERS or (parts and part.shape[1:] != parts[0].shape[1:]):
            allowed = f"one width, up to {MOST_NUMBERS} numbers in all"
            raise ValueError(f"{name} has batches of shape {part.shape}, {total} numbers by now; allowed: {allowed}")
        parts.append(part)
    if not parts:
        raise ValueError(f"{name} is empty; allowed: at least {FEWEST} vectors")
    return np.concatenate(parts)


def from_file(name: str, path: str) -> NDArray:
    """The array of a file that holds exactly one."""
    where = f"{name} = {checks.shown(path)}"
    if not os.path.isfile(path):
        raise ValueError(f"{where} is no file; allowed: .npy, or .safetensors with one array")
    with strangers.untrusted(where):
        found, _ = files.contents(Path(path), where)
        if len(found) != 1:
            raise ValueError(f"{where} holds {len(found)} arrays; allowed: one")
        return next(iter(found.values())).numbers()


def measured(
    weights: Weights, population: Population, rows: Rows, seen: Simulated, again: Callable[[Population], Simulated],
    heard: NDArray[np.bool_], seed: int, worth: NDArray[np.float64] | None,
) -> Company:  # fmt: skip
    """The effect of the company of features; ``again`` simulates another population."""
    X = population.vectors
    assert X is not None
    interference = _variance(weights, X, rows)[heard]
    alone = np.sqrt(np.maximum(rows.noise[heard], 1e-300))
    return Company(
        apart=again(population.apart(seed)).loss,
        field=_field(weights, X, worth),
        interference=float(np.sqrt(interference.sum() / max(rows.noise[heard].sum(), 1e-300))),
        carried=float(np.median((seen.pushed - (rows.rows.b_eff - weights.b))[heard] / alone)),
        overlap=_overlap(weights, X, heard) if weights.ns <= OVERLAPS else None,
        vectors=len(X),
    )


def _field(weights, X, worth):
    """Loss by the mean field with company, where ReLU(W x + b) is the forward pass."""
    if weights.k is not None or weights.threshold is not None:
        return None
    code = (np.eye(weights.ns), weights.W) if weights.W_in is None else (weights.W_in, weights.W_out)
    if weights.is_sae:  # latents are off because this sum was below zero: Gaussian false alarms do not occur
        losses = state_losses(X, *code, weights.b, threshold=np.zeros(weights.ns)).on
    else:
        losses = company_losses(X, *code, weights.b).company
    return float((losses if worth is None else losses * worth).mean())


def _variance(weights, X, rows):
    """Variance of the interference of each output on the vectors as they come."""
    sums, squares, size = np.zeros(weights.ns), np.zeros(weights.ns), max(1, BLOCK // weights.ns)
    pushed = rows.rows.b_eff - weights.b
    for start in range(0, len(X), size):
        x = X[start : start + size]
        off = weights.drive(x) - weights.b - rows.rows.diagonal * x - pushed
        sums, squares = sums + off.sum(axis=0), squares + (off**2).sum(axis=0)
    return squares / len(X) - (sums / len(X)) ** 2


def _overlap(weights, X, heard):
    """Mean overlap of pairs, weighted by how much more often than by chance they are on together."""
    on = (X[:, heard] != 0).astype(np.float32)
    rate = on.mean(axis=0, dtype=float)
    excess = np.maximum(on.T @ on / len(on) - np.outer(rate, rate), 0)
    np.fill_diagonal(excess, 0)
    # chance alone gives an excess of half a standard error: what is below four of them is no company
    excess[excess < 4 * np.sqrt(np.outer(rate, rate) / len(on))] = 0
    W = weights.rows(0, weights.ns)[np.ix_(heard, heard)].astype(float)
    total = excess.sum()
    return float((excess * W / np.diag(W)[:, None]).sum() / total) if total > 0 else None
