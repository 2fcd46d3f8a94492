"""Ranges of the arguments of this wing: features of unequal frequency, their shares, and relations between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from superposition import checks, ranges

MOST = 2**28  # numbers in one array: two gigabytes
PHASES = ("rug", "fan", "digon")

importances = ranges.real(1 / ranges.LARGEST, ranges.LARGEST)


def probabilities(name: str, value: Any) -> np.ndarray:
    """Probability that each feature is on, shape (ns,), in (0, 1]; not below 1e-30, up to 10^6 features."""
    return _short(name, checks.array(name, ranges.probability(name, value), "ns"))


def all_shares(name: str, value: Any) -> np.ndarray:
    """Share of the dimensions of each feature, shape (ns,), in [0, 1]."""
    return checks.real(name, checks.array(name, value, "ns"), 0, 1)


def square_code(name: str, value: Any) -> np.ndarray:
    """Weights of shape (ns, ns), from -1e30 to 1e30, none above 1e75 times a positive own weight of its row."""
    W = checks.real(name, checks.array(name, value, "ns ns"), -ranges.LARGEST, ranges.LARGEST)
    own = np.diag(W)
    if np.any(np.abs(W).max(axis=1)[own > 0] > 1e75 * own[own > 0]):
        raise ValueError(f"{name} has an own weight of {own[own > 0].min():g}; allowed: 1e-75 of its row, or none")
    return W


def phases(name: str, value: Any) -> list[str]:
    """Phases beside dropped features and own dimensions, some of "rug", "fan" and "digon"."""
    is_many = isinstance(value, (list, tuple, set)) or (isinstance(value, np.ndarray) and value.ndim > 0)
    chosen = list(value) if is_many else [value]
    return [checks.one_of(name, one, PHASES) for one in chosen]


def of_features(p: np.ndarray, nd: int) -> None:
    """Refuse more dimensions than features."""
    checks.whole("nd", nd, 1, len(p))


def all_of_features(p: np.ndarray, nds: list[int]) -> None:
    """Refuse more dimensions than features."""
    checks.wholes("nds", nds, 1, len(p))


def weighted(p: np.ndarray, importance: np.ndarray | float) -> None:
    """Refuse importances that are not one for each feature."""
    if np.shape(importance) not in ((), p.shape):
        raise ValueError(
            f"importance has shape {np.shape(importance)}; allowed: one number, or one for each p: {p.shape}"
        )


def shared(p: np.ndarray, share: np.ndarray) -> None:
    """Refuse shares that are not one for each feature."""
    checks.array("share", share, p.shape)


def encoded(W_in: np.ndarray, p: np.ndarray) -> None:
    """Refuse probabilities that are not one for each column."""
    checks.array("p", p, W_in.shape[1:])


def decoded(W: np.ndarray, p: np.ndarray) -> None:
    """Refuse probabilities that are not one for each output."""
    checks.array("p", p, W.shape[1:])


def drawn(p: np.ndarray, samples: int) -> None:
    """Refuse samples that do not fit into memory."""
    if len(p) * samples > MOST:
        raise ValueError(f"samples = {samples} is too many of {len(p)} features; allowed: up to {MOST // len(p)}")


def fits_in_memory(p: np.ndarray, nd: int, batch: int) -> None:
    """Refuse batches, and weights, that do not fit into memory."""
    if len(p) * batch > MOST:
        raise ValueError(f"batch = {batch} is too many of {len(p)} features; allowed: up to {MOST // len(p)}")
    if len(p) * nd > MOST:
        raise ValueError(f"nd = {nd} is too many for {len(p)} features; allowed: up to {MOST // len(p)}")


def gentle(lr: float, pull: float) -> None:
    """Refuse a pull that overshoots."""
    if pull * lr > 1:
        raise ValueError(f"pull = {pull:g} is too strong for lr = {lr:g}; allowed: pull times lr up to 1")


def _short(name, p):
    if len(p) > 10**6:
        raise ValueError(f"{name} has shape {p.shape}; allowed: up to 10^6 features")
    return p
