"""Ranges of the arguments of this wing: weights, biases and importances, and relations between them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from superposition import checks, ranges

LARGEST = 1e40  # of weights, biases and importances: squared errors stay finite
MOST = 2**26  # overlaps of all models together, or numbers of a batch: half a gigabyte

biases = ranges.real(-LARGEST, LARGEST)
importances = ranges.real(0, LARGEST, open_low=True)
trained_importances = ranges.real(1e-10, 1e10)  # in single precision
trained_rate = ranges.number(0, 10, open_low=True)  # beyond, single precision overflows


def directions(name: str, value: Any) -> np.ndarray:
    """Finite numbers of shape (..., m, n), a column for each feature; up to 1e150, of up to 2^26 overlaps."""
    return _sized(name, checks.real(name, checks.array(name, value, "... m n"), -1e150, 1e150))


def columns(name: str, value: Any) -> np.ndarray:
    """Finite numbers of shape (m, n), no column of length zero."""
    found = directions(name, checks.array(name, value, "m n"))
    if np.linalg.norm(found, axis=0).min() < 1e-150:
        raise ValueError(f"{name} has a column of length 0; allowed: directions, none shorter than 1e-150")
    return found


def weights(name: str, value: Any) -> np.ndarray:
    """Weights of shape (..., m, n), m <= n, from -1e40 to 1e40; up to 2^26 overlaps."""
    W = checks.real(name, checks.array(name, value, "... m n"), -LARGEST, LARGEST)
    checks.whole("m", W.shape[-2], 1, W.shape[-1])
    return _sized(name, W)


def one_model(name: str, value: Any) -> np.ndarray:
    """Weights of shape (m, n), m <= n, from -1e40 to 1e40."""
    return weights(name, checks.array(name, value, "m n"))


def short_columns(name: str, value: Any) -> np.ndarray:
    """Weights of shape (m, n), m <= n, from -100 to 100."""
    return checks.real(name, one_model(name, value), -100, 100)


def starting_weights(name: str, value: Any) -> list[np.ndarray]:
    """A list of weights, each of shape (m, n)."""
    if not isinstance(value, (list, tuple)) and not (isinstance(value, np.ndarray) and value.ndim):
        raise ValueError(f"{name} = {checks.shown(value)} is no list; allowed: weights of shape (m, n) in a list")
    return [one_model(name, W) for W in value]


def ordered_importances(name: str, value: Any) -> np.ndarray:
    """Importances of shape (n,), above 0."""
    return importances(name, checks.array(name, value, "n"))


def rising_times(name: str, value: Any) -> np.ndarray:
    """Times of shape (t,), from 0 on and rising."""
    times = checks.real(name, checks.array(name, value, "t"), 0, ranges.LARGEST)
    if np.any(np.diff(times) <= 0):
        raise ValueError(f"{name} does not rise; allowed: times from 0 on, each above the one before")
    return times


def fits(W: np.ndarray, importance: np.ndarray | float) -> None:
    """Refuse importances that do not fit these models."""
    _fits(W, importance=importance)


def model(W: np.ndarray, b: np.ndarray | float, importance: np.ndarray | float) -> None:
    """Refuse biases and importances that do not fit these models."""
    _fits(W, b=b, importance=importance)


def of_one(W: np.ndarray, importance: np.ndarray | float) -> None:
    """Refuse importances that do not fit one model."""
    _one("importance", importance, W.shape[-1])


def of_one_with_bias(W: np.ndarray, b: np.ndarray | float, importance: np.ndarray | float) -> None:
    """Refuse biases and importances that do not fit one model."""
    _one("b", b, W.shape[-1])
    _one("importance", importance, W.shape[-1])


def of_directions(directions: np.ndarray, importance: np.ndarray | float) -> None:
    """Refuse importances that are not one for each direction."""
    _one("importance", importance, directions.shape[-1])


def probabilities(W: np.ndarray, b: np.ndarray | float, importance: np.ndarray | float, p: np.ndarray | float) -> None:
    """Refuse probabilities that are not one for each model."""
    models = np.broadcast_shapes(W.shape[:-2], np.shape(b)[:-1], np.shape(importance)[:-1])
    ranges.fit_together(p=p, models=np.empty(models))


def dimensions(n: int, m: int) -> None:
    """Refuse more dimensions than features."""
    checks.whole("m", m, 1, n)


def starts_of(n: int, m: int, starts: int, first: list[np.ndarray], importance: np.ndarray | float) -> None:
    """Refuse starts whose shapes do not fit, an empty list of starts, and importances that do not fit."""
    if wrong := [W.shape for W in first if W.shape != (m, n)]:
        raise ValueError(f"first holds weights of shape {wrong[0]}; allowed: (m, n) = ({m}, {n})")
    checks.whole("starts", starts, 0 if first else 1)
    _one("importance", importance, n)


def kept(importance: np.ndarray, m: int) -> None:
    """Refuse more dimensions than features."""
    checks.whole("m", m, 1, len(importance))


def on(W: np.ndarray, k: int) -> None:
    """Refuse a number of active features above the number of features."""
    checks.whole("k", k, 0, W.shape[-1])


def column(W: np.ndarray, feature: int) -> None:
    """Refuse a column that is not there."""
    checks.whole("feature", feature, 0, W.shape[-1] - 1)


def short_path(importance: np.ndarray | float, times: np.ndarray) -> None:
    """Refuse times that a flow of bounded step does not reach in seconds."""
    reach = float(np.max(importance)) * times[-1]
    if reach > 1e5:
        raise ValueError(f"times = {times[-1]:g} is too late; allowed: importance times time up to 1e+05")


def drawn(W: np.ndarray, batch: int) -> None:
    """Refuse batches that do not fit into memory."""
    _batch(batch, W.shape[-1])


def trained(n: int, sparsity: np.ndarray | float, importance: np.ndarray | float, instances: int, batch: int) -> None:
    """Refuse sparsities and importances of different groups, and stacks that do not fit into memory."""
    groups, shape = np.shape(sparsity), np.shape(importance)
    if len(groups) > 1 or groups == (0,):
        raise ValueError(f"sparsity has shape {groups}; allowed: a number, or one for each group")
    g = math.prod(groups)
    allowed = ((), (n,), (1, n), *([(g, n)] if g > 1 else [(shape[0], n)] if len(shape) == 2 else []))
    if shape not in allowed:
        raise ValueError(f"importance has shape {shape}; allowed: a number, ({n},), or a row for each of the groups")
    _batch(batch, n * instances * max(g, shape[0] if len(shape) == 2 else 1))


def energy_exists(n: int, m: int, energy: str) -> None:
    """Refuse Coulomb's energy of points on a line: two of them coincide."""
    if energy == "coulomb" and m == 1 and n > 2:
        raise ValueError(f"m = 1 is too few for n = {n} charges, two of which coincide; allowed: 2 or more")


def curves(start: Any, importance: Any, p: Any, times: Any) -> None:
    """Refuse arguments of a curve that do not broadcast."""
    ranges.fit_together(start=start, importance=importance, p=p, times=times)


def _sized(name, W):
    count = W.size // W.shape[-2] * W.shape[-1]
    if count > MOST:
        raise ValueError(f"{name} has shape {W.shape}, with {count} overlaps; allowed: up to {MOST}")
    return W


def _batch(batch, n):
    if batch * n > MOST:
        raise ValueError(f"batch = {batch} is too many vectors of {n} numbers; allowed: up to {MOST // n}")


def _fits(W, **others):
    n = W.shape[-1]
    for name, value in others.items():
        if np.ndim(value) and np.shape(value)[-1] != n:
            raise ValueError(f"{name} has shape {np.shape(value)}; allowed: a number, or (..., n) with n = {n}")
    ranges.fit_together(W=W[..., 0, :], **others)


def _one(name, value, n):
    if np.shape(value) not in ((), (n,)):
        raise ValueError(f"{name} has shape {np.shape(value)}; allowed: a number, or (n,) with n = {n}")
