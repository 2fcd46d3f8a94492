"""Incidental Polysemanticity: how fast encodings sparsify, how often they collide, and what noise does to them.

What stands here is theory, in float64. It refuses what is outside its range, with a ValueError that names the argument,
its value and what is allowed; the modules behind it compute: `superposition.incidental.sparsification_rate` (the law of
the rate), `superposition.incidental.kurtosis` (moments of one noisy step), and, with torch,
`superposition.incidental.many_features` and `superposition.incidental.noisy_training`.

Source: Incidental Polysemanticity (Lecomte et al.).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks
from superposition.incidental import collisions, l1_loss, noise_loss, one_feature
from superposition.incidental.noise_laws import Law, bipolar, discrete, four_point, laplace, normal, uniform
from superposition.incidental.one_feature import Trajectory

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike

    from superposition.incidental.collisions import Expected

__all__ = [
    "Law",
    "Trajectory",
    "bipolar",
    "count_polysemantic",
    "discrete",
    "expected",
    "expected_loss",
    "expected_loss_grad",
    "forces",
    "four_point",
    "gradient",
    "laplace",
    "loss",
    "normal",
    "threshold",
    "trajectory",
    "uniform",
]

LARGEST = 1e50  # weights under noise, so that their squares stay finite


def expected(n: int, m: int) -> Expected:
    """Count what chance alone gives.

    Parameters
    ----------
    n, m : int
        Features and neurons, at least 1. Fewer neurons than features give a warning.

    Returns
    -------
    Expected
        ``distinct`` is nan where n > 2m.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: Incidental Polysemanticity, sections 1 and 2.1; the last two are ours.

    Examples
    --------
    >>> print(expected(256, 1024).pairs)  # n (n - 1) / 4m
    15.9375
    """
    return collisions.expected(checks.whole("n", n, 1), checks.whole("m", m, 1))


def count_polysemantic(W: ArrayLike, threshold: float = 0.5) -> int:
    """Count neurons that at least two features use.

    Parameters
    ----------
    W : array_like, shape (n, m)
        Encodings, finite.
    threshold : float
        Size from which a weight counts, in (0, 1]. Once every feature has one weight left the
        sizes are 0 or close to 1, and any value in between gives the same count.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: Incidental Polysemanticity, section 1.

    Examples
    --------
    >>> count_polysemantic([[1.0, 0.0], [-0.9, 0.1], [0.0, 1.0]])
    1
    """
    W = checks.array("W", W, "n m")
    return collisions.count_polysemantic(W, checks.number("threshold", threshold, 0, 1, open_low=True))


def loss(W: ArrayLike, lambda_: float) -> float:
    """Squared error on the n basis vectors, plus the l1 term.

    Parameters
    ----------
    W : array_like, shape (n, m)
        Encodings, finite.
    lambda_ : float
        Strength of the l1 term in the loss convention, 0 or more.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: Incidental Polysemanticity, section 2, "Learning dynamics and loss".

    Examples
    --------
    >>> loss([[1.0, 0.0], [0.0, 1.0]], 0.01)  # two monosemantic features: the l1 term alone
    0.02
    """
    return l1_loss.loss(checks.array("W", W, "n m"), _strength(lambda_))


def gradient(W: ArrayLike, lambda_: float) -> Float[np.ndarray, "n m"]:
    """Gradient of `loss`, with sign(0) = 0.

    Parameters
    ----------
    W : array_like, shape (n, m)
        Encodings, finite.
    lambda_ : float
        Strength of the l1 term in the loss convention, 0 or more.

    Returns
    -------
    numpy.ndarray, shape (n, m)

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: Incidental Polysemanticity, section 2, the training dynamics, with the constants 4.

    Examples
    --------
    >>> gradient([[1.0, 0.5], [-0.5, 1.0]], 0.01)
    array([[ 1.01,  0.51],
           [-0.51,  1.01]])
    """
    return l1_loss.gradient(checks.array("W", W, "n m"), _strength(lambda_))


def forces(
    W: ArrayLike, lambda_: float
) -> tuple[Float[np.ndarray, "n m"], Float[np.ndarray, "n m"], Float[np.ndarray, "n m"]]:
    """Feature benefit, interference and regularization on every weight, in the simplified convention.

    Parameters
    ----------
    W : array_like, shape (n, m)
        Encodings, finite.
    lambda_ : float
        Strength of the l1 term in the simplified convention, 0 or more.

    Returns
    -------
    benefit, interference, regularization : numpy.ndarray, shape (n, m)

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: Incidental Polysemanticity, section 2.

    Examples
    --------
    >>> benefit, interference, regularization = forces([[0.5, 0.5]], 0.1)
    >>> benefit, regularization
    (array([[0.25, 0.25]]), array([[-0.1, -0.1]]))
    """
    return l1_loss.forces(checks.array("W", W, "n m"), _strength(lambda_))


def threshold(norm_squared: ArrayLike, lambda_: float) -> np.ndarray:
    """Size above which a weight grows: lambda / (1 - |W|^2).

    Parameters
    ----------
    norm_squared : array_like
        |W|^2, 0 or more.
    lambda_ : float
        Strength of the l1 term, 0 or more.

    Returns
    -------
    numpy.ndarray
        Infinite where |W|^2 >= 1: there every weight shrinks.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: Incidental Polysemanticity, section 2, with sign(W_ik) for the printed sign(W_i).

    Examples
    --------
    >>> threshold([0.0, 0.5, 1.0], 0.1)
    array([0.1, 0.2, inf])
    """
    norm_squared = checks.real("norm_squared", norm_squared, 0, open_high=True)
    return l1_loss.threshold(norm_squared, _strength(lambda_))


def expected_loss(W: ArrayLike, law: Law) -> float:
    """Expected loss, summed over the n inputs and the n outputs.

    Parameters
    ----------
    W : array_like, shape (n, m)
        Tied weights; row i encodes feature i.
    law : Law
        Law of the noise on each neuron.

    Returns
    -------
    float
        Exact for discrete laws and the normal law; to about 1e-9 n^2 sigma^2 for the others.

    Raises
    ------
    ValueError
        If `W` is no finite matrix, or a discrete law has too many sums: bipolar noise goes up to
        m = 32, three points up to m = 20. The message has the count.

    Notes
    -----
    Source: Incidental Polysemanticity, section 3.1; the expectation is ours.

    Examples
    --------
    >>> W = [[1.0, -0.1], [-0.1, 1.0]]  # overlaps of -0.2: noise of 0.1 does not get through if it is bipolar
    >>> round(expected_loss(W, bipolar(0.1)), 6)
    0.0204
    >>> round(expected_loss(W, normal(0.1)), 6)
    0.02052
    """
    return noise_loss.expected_loss(_noisy(W), law)


def expected_loss_grad(W: ArrayLike, law: Law) -> Float[np.ndarray, "n m"]:
    """Gradient of `expected_loss` in W.

    Parameters
    ----------
    W : array_like, shape (n, m)
        Tied weights.
    law : Law
        Law of the noise on each neuron.

    Returns
    -------
    numpy.ndarray, shape (n, m)

    Raises
    ------
    ValueError
        As `expected_loss`.

    Notes
    -----
    Source: Incidental Polysemanticity, section 3.1; the expectation is ours. A step of noisy
    descent is, on average, a step along this gradient.

    Examples
    --------
    >>> expected_loss_grad([[1.0, 0.0], [-0.5, 0.5]], uniform(0.1)).round(4)
    array([[ 0.02, -0.  ],
           [ 0.99, -0.99]])
    """
    return noise_loss.expected_loss_grad(_noisy(W), law)


def trajectory(w0: ArrayLike, lambda_: float, times: ArrayLike) -> Trajectory:
    """Exact evolution of one encoding without interference.

    Parameters
    ----------
    w0 : array_like, shape (m,)
        Weights at t = 0, finite, at least one.
    lambda_ : float
        Strength of the l1 term in the simplified convention, above 0 and up to 1e6. Above 2 / (3 sqrt 3) even
        a single weight dies, which gives a warning.
    times : array_like, shape (k,)
        Times in the simplified convention, 0 or more, at least one, in any order.

    Returns
    -------
    Trajectory

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Costs O(m log m), and two arrays of length m besides the input. Relative errors are some 1e-9, and 1e-11 in
    ``single``.
    Source: Incidental Polysemanticity, Appendix B (the affine map), made into a solver.

    Examples
    --------
    >>> path = trajectory([0.6, -0.5, 0.1], 0.05, [0.0, 2.0, 40.0])
    >>> path.survivors
    array([3, 3, 1])
    >>> path.weights(2.0).round(4)
    array([ 0.7422, -0.5994,  0.028 ])
    """
    w0 = checks.array("w0", w0, "m")
    lambda_ = checks.number("lambda_", lambda_, 0, 1e6, open_low=True)
    times = np.atleast_1d(checks.real("times", times, 0, open_high=True))
    if times.ndim != 1 or not times.size:
        raise ValueError(f"times of shape {times.shape} are not allowed; allowed: at least one")
    return one_feature.trajectory(w0, lambda_, times)


def _strength(lambda_):
    return checks.number("lambda_", lambda_, 0, open_high=True)


def _noisy(W):
    return checks.real("W", checks.array("W", W, "n m"), -LARGEST, LARGEST)
