"""Ranges of the arguments of this wing, and relations between them, as `superposition.ranges` has them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from superposition import checks, ranges

LARGEST_INHIBITION = 1e300  # of negative weights; those of a fan reach 1e250
LARGEST_WEIGHT = 1e75  # of positive weights and biases
LARGEST_PARTNER = 1e6  # weight of a partner, and one over the smallest
LARGEST_FACTOR = 1e150  # entries of encoder and decoder; those of a fan reach 1e125
LEAST_DIAGONAL = 1e-30
SPANS = {"fan": 1e250, "cone": 1e9}  # of loudness: rounding errors of a cone are multiplied by it

fan_size = ranges.whole(4, checks.MOST_FEATURES)
loudness_ratio = ranges.number(1, 1e250)
gain = ranges.real(1 / ranges.LARGEST, ranges.LARGEST)
partner = ranges.real(1 / LARGEST_PARTNER, LARGEST_PARTNER)
antipodal_ratio = ranges.real(0, 0.5, open_low=True)
share = ranges.number(0, 1)
torch_seed = ranges.whole(0, checks.LARGEST_SEED)
batch = ranges.whole(1, 2**20)
draws = ranges.whole(2, 10**10)
copies = ranges.whole(1, 4096)
rare = ranges.number(1e-12, 1)
walked = ranges.whole(1, 7)


def rare_probability(name: str, value: Any) -> float:
    """Probability that a feature is on, one number in (0, 1); not below 1e-300."""
    return checks.number(name, value, 1e-300, 1, open_high=True)


def probabilities(name: str, value: Any) -> np.ndarray:
    """Probabilities that a feature is on, one or several in a row, in (0, 1]; not below 1e-30."""
    found = ranges.probability(name, value)
    if found.ndim > 1:
        raise ValueError(f"{name} has shape {found.shape}; allowed: one number or one axis")
    return found


def spread(name: str, value: Any) -> np.ndarray:
    """Standard deviation of the interference, one or an array, from 0 to 1e30; below 1e-30 it counts as 0."""
    found = checks.real(name, value, 0, ranges.LARGEST)
    tiny = found < 1 / ranges.LARGEST  # their inverse would overflow
    return found * ~tiny if np.any(tiny) else found


def ratios(name: str, value: Any) -> np.ndarray:
    """Compression ratios in [0, 1], one axis."""
    found = checks.real(name, value, 0, 1)
    if found.ndim != 1:
        raise ValueError(f"{name} has shape {found.shape}; allowed: (n,)")
    return found


def noise_above(name: str, value: Any) -> np.ndarray:
    """Standard deviation of the interference, one or an array, from 1e-30 to 1e30."""
    return checks.real(name, value, 1 / ranges.LARGEST, ranges.LARGEST)


def weights(name: str, value: Any) -> np.ndarray:
    """Weights of shape (B, B), from -1e300 to 1e75; huge negative ones silence an output."""
    return checks.real(name, checks.array(name, value, "B B"), -LARGEST_INHIBITION, LARGEST_WEIGHT)


def row_of_weights(name: str, value: Any) -> np.ndarray:
    """Weights of the other features in one row, shape (n,), from -1e300 to 1e75; there may be none."""
    found = checks.real(name, value, -LARGEST_INHIBITION, LARGEST_WEIGHT)
    if found.ndim != 1:
        raise ValueError(f"{name} has shape {found.shape}; allowed: (n,)")
    return found


def with_diagonal(name: str, value: Any) -> np.ndarray:
    """Weights of shape (B, B) whose diagonal is positive, from 1e-30 on, and not too small for the other weights."""
    found = weights(name, value)
    diagonal = np.diag(found)[:, None]
    if diagonal.min() < LEAST_DIAGONAL:
        raise ValueError(f"{name} has {diagonal.min():g} on its diagonal; allowed: from {LEAST_DIAGONAL:g} on")
    with np.errstate(over="ignore"):
        weights(name, found / diagonal)
    return found


def square(name: str, value: Any) -> np.ndarray:
    """Matrix of shape (n, n), entries from -1e150 to 1e150."""
    return checks.real(name, checks.array(name, value, "n n"), -LARGEST_FACTOR, LARGEST_FACTOR)


def factor(name: str, value: Any) -> np.ndarray:
    """Encoder or decoder, a matrix with entries from -1e150 to 1e150."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and not np.isfinite(value).all():
        raise ValueError(f"{name} is not finite, as after a training that diverged; allowed: numbers up to 1e150")
    found = checks.real(name, value, -LARGEST_FACTOR, LARGEST_FACTOR)
    if found.ndim != 2:
        raise ValueError(f"{name} has shape {found.shape}; allowed: two axes")
    return found


def bias_row(name: str, value: Any) -> np.ndarray:
    """Biases of all outputs, shape (B,), from -1e75 to 1e75."""
    return checks.real(name, checks.array(name, value, "B"), -LARGEST_WEIGHT, LARGEST_WEIGHT)


def counts(name: str, value: Any) -> int | np.ndarray:
    """Numbers of features, one or an array of whole numbers, from 4 to a billion."""
    if np.ndim(found := checks.real(name, value, 4, 1e9)) == 0:
        return checks.whole(name, value, 4, 10**9)
    if np.any(found % 1):
        raise ValueError(f"{name} = {checks.shown(value)} has fractions; allowed: whole numbers")
    return found.astype(np.int64)


def points(name: str, value: Any) -> list[tuple[str, float, float]]:
    """Codes as tuples (name, ratio, loss), the ratio from 0 to 1, the loss not negative."""
    found = list(value) if isinstance(value, Iterable) else [value]
    if not all(isinstance(code, tuple) and len(code) == 3 for code in found):
        raise ValueError(f"{name} = {checks.shown(found)} are no codes; allowed: tuples (name, ratio, loss)")
    return [(str(of), checks.number(name, r, 0, 1), checks.number(name, loss, 0, 1e30)) for of, r, loss in found]


def sorted_points(name: str, value: Any) -> list[tuple[str, float, float]]:
    """Codes as tuples (name, ratio, loss) by increasing ratio, from 0 to 1; the loss is not negative."""
    found = points(name, value)
    if any(one[1] > other[1] for one, other in zip(found, found[1:], strict=False)):
        raise ValueError(f"{name} = {checks.shown(value)} goes back in the ratio; allowed: increasing ratios")
    return found


def phases(name: str, value: Any) -> list[str]:
    """Phases to leave out, a list of "rug", "antipodal" and "digon"."""
    found = list(value) if isinstance(value, Collection) and not isinstance(value, str) else [value]
    return [checks.one_of(name, one, ("rug", "antipodal", "digon")) for one in found]


def torch_generator(name: str, value: Any) -> Any:
    """A generator of torch's, on the CPU."""
    from superposition.devices import torch

    return ranges.instance(torch.Generator)(name, value)


def same_length(W: np.ndarray, b: np.ndarray) -> None:
    """Refuse a bias whose length is not that of the rows of W, and a diagonal far below zero."""
    if np.diag(W).min() < -LARGEST_WEIGHT:
        raise ValueError(f"W has {np.diag(W).min():g} on its diagonal; allowed: from {-LARGEST_WEIGHT:g} on")
    if len(b) != len(W):
        raise ValueError(f"b has shape {b.shape}; allowed: ({len(W)},), one for each row of W")


def factors_fit(W_in: np.ndarray, W_out: np.ndarray, b: np.ndarray) -> None:
    """Refuse encoder, decoder and bias that do not belong to one code, or are too large for a loss."""
    if W_out.shape != W_in.shape[::-1] or len(b) != W_in.shape[1]:
        shapes = f"{W_in.shape}, {W_out.shape} and {b.shape}"
        raise ValueError(f"W_in, W_out, b have shapes {shapes}; allowed: (m, B), (B, m) and (B,)")
    if np.max(W_out @ W_in) > LARGEST_WEIGHT:
        raise ValueError(f"W_in, W_out have a product above {LARGEST_WEIGHT:g}; allowed: less")


def fan_spans(B: int, ratio: float) -> None:
    """Refuse a fan whose loudness spans more than double precision carries."""
    checks.number("ratio", ratio, 1, SPANS["fan"] ** (1 / (B - 1)))


def cone_spans(B: int, ratio: float) -> None:
    """Refuse a cone whose rounding errors would be too loud."""
    checks.number("ratio", ratio, 1, SPANS["cone"] ** (1 / (B - 1)))


def antipodal_fits(size: int, r: float, antipodal: bool) -> None:
    """Refuse an antipodal rug of fewer than four features, or above the ratio 1/2."""
    if antipodal:
        checks.whole("size", size, 4)
        checks.number("r", r, 0, 0.5, open_low=True)


def tile_fits(m: int, B: int) -> None:
    """Refuse tiles of fewer than two features to a dimension, or above ten: starts overflow in single precision."""
    checks.whole("B", B, 2 * m, 10 * m)


def a_range_from_1(budget: str, strength: float) -> None:
    """Refuse a loudest feature that is softer than the softest."""
    if budget == "range" and strength < 1:
        raise ValueError(f"strength = {strength} is out of range; allowed: 1 or more, loudest over softest")


def vectors_enough(m: int, n: int) -> None:
    """Refuse more features than there are vectors of entries -1, 0 and 1."""
    checks.whole("n", n, 1, 3**m - 1)
