"""What the arguments of this wing may be, each range in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from superposition import checks, features

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

LARGEST = 1e30  # of gains, biases and noise: fourth powers of their products are still finite


def gains(a: ArrayLike) -> np.ndarray:
    """Return gains ``a`` as a float64 array, or refuse them."""
    return checks.real("a", a, 1 / LARGEST, LARGEST)


def biases(b: ArrayLike) -> np.ndarray:
    """Return biases ``b`` as a float64 array, or refuse them."""
    return checks.real("b", b, -LARGEST, LARGEST)


def spreads(sigma: ArrayLike) -> np.ndarray:
    """Return standard deviations ``sigma`` of the interference as a float64 array, or refuse them."""
    return heard(checks.real("sigma", sigma, 0, LARGEST))


def heard(sigma: np.ndarray) -> np.ndarray:
    """Return standard deviations with 0 for those whose inverse would overflow."""
    return sigma * (sigma >= 1 / LARGEST)


def ratios(r: ArrayLike) -> np.ndarray:
    """Return compression ratios ``r`` as a float64 array, or refuse them."""
    return checks.real("r", r, 0, 1, open_low=True)


def one_output(a: float, b: float, p: float) -> tuple[float, float, float]:
    """Return gain, bias and probability of one output as floats, or refuse them."""
    return checks.number("a", gains(a)), checks.number("b", biases(b)), features.one_probability(p)


def off_diagonal(weights: ArrayLike) -> np.ndarray:
    """Return the weights of the other features in one row, shape (n,), or refuse them."""
    weights = checks.array("off_diagonal", weights, "n")
    return checks.real("off_diagonal", weights, -LARGEST, LARGEST)


def rate(lr: float) -> float:
    """Return a learning rate ``lr``, or refuse it."""
    return checks.number("lr", lr, 0, LARGEST, open_low=True)
