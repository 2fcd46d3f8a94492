"""The Persian Rug: how many sparse features one layer holds, by the text's own answer.

What stands here is theory, in float64. It refuses what is outside its range, with a ValueError that names the argument,
its value and what is allowed; the modules behind it compute: `superposition.rug.rugs` (weights of every size),
`superposition.rug.scaling` and `superposition.rug.loss_bounds` (how the loss vanishes), `superposition.rug.noise_bound`
(the least interference) and, with torch, `superposition.rug.training`. What beats it: `superposition.codes`.

Source: The Persian Rug (Cowsik, Dolev and Infanger).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from superposition import checks, features
from superposition.rug import bayes, jumprelu, meanfield, ranges, rugs
from superposition.rug.jumprelu import JumpOptimum
from superposition.rug.meanfield import Gradient, Optimum
from superposition.rug.rugs import Rug

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from superposition.checks import Floats

__all__ = [
    "Gradient",
    "JumpOptimum",
    "Optimum",
    "Rug",
    "bayes_decoder",
    "bayes_loss",
    "jumprelu_optimum",
    "linear_loss",
    "loss",
    "loss_grad",
    "noise_std",
    "optimum",
    "row_loss",
]


def loss(a: ArrayLike, b: ArrayLike, sigma: ArrayLike, p: ArrayLike) -> Floats:
    """Mean squared error of one feature, L(a, b, sigma).

    Parameters
    ----------
    a : array_like
        Gain (the diagonal of W), a > 0.
    b : array_like
        Effective bias, any real number.
    sigma : array_like
        Standard deviation of the interference, sigma >= 0.
    p : array_like
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    numpy.ndarray
        The loss per feature, shape of the broadcast arguments.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: The Persian Rug, eq. 5 and the split into on and off terms below it; the closed
    form is ours. Tested to 1e-10 relative against 30-digit quadrature for 1e-12 <= p <= 1,
    sigma of every 0 < r <= 1, 1e-3 <= a <= 5 and |b| <= 5, optima included.

    Examples
    --------
    >>> float(round(loss(a=1.2, b=-0.4, sigma=0.25, p=0.05), 6))
    0.007729
    """
    return meanfield.loss(ranges.gains(a), ranges.biases(b), ranges.spreads(sigma), features.probability(p))


def loss_grad(a: ArrayLike, b: ArrayLike, sigma: ArrayLike, p: ArrayLike) -> Gradient:
    """Gradient of `loss` with respect to a, b and sigma.

    Parameters
    ----------
    a : array_like
        Gain, a > 0.
    b : array_like
        Effective bias, any real number.
    sigma : array_like
        Standard deviation of the interference, sigma >= 0.
    p : array_like
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    Gradient
        Fields ``a``, ``b``, ``sigma``, each of the broadcast shape.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: derivative of The Persian Rug, eq. 5.

    Examples
    --------
    >>> da, db, dsigma = loss_grad(a=1.2, b=-0.4, sigma=0.25, p=0.05)
    >>> float(round(dsigma, 5))
    0.07582
    """
    return meanfield.loss_grad(ranges.gains(a), ranges.biases(b), ranges.spreads(sigma), features.probability(p))


def noise_std(p: ArrayLike, r: ArrayLike) -> Floats:
    """Smallest interference at ratio r: sigma^2 = (4 p - 3 p^2) / 12 (1/r - 1).

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].
    r : array_like
        Compression ratio nd / ns, in (0, 1].

    Returns
    -------
    numpy.ndarray
        sigma, 0 at r = 1.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: The Persian Rug, eq. 6 at equality.

    Examples
    --------
    >>> float(round(noise_std(p=0.05, r=0.2), 5))
    0.25331
    """
    return meanfield.noise_std(features.probability(p), ranges.ratios(r))


def linear_loss(p: ArrayLike, r: ArrayLike) -> Floats:
    """Loss per feature of the best linear autoencoder, Var[x] (1 - r).

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].
    r : array_like
        Compression ratio nd / ns, in (0, 1].

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: The Persian Rug, section 2 ("closely related to principal component analysis").

    Examples
    --------
    >>> float(round(linear_loss(p=0.05, r=0.2), 6))
    0.012833
    """
    return meanfield.linear_loss(features.probability(p), ranges.ratios(r))


def optimum(p: ArrayLike, r: ArrayLike) -> Optimum:
    """Gain and bias that minimise the loss at the smallest interference.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on; tested for 1e-12 <= p <= 1.
    r : array_like
        Compression ratio nd / ns, in (0, 1]; r = 1 is sigma = 0, solved exactly.

    Returns
    -------
    Optimum
        Fields ``a``, ``b``, ``sigma``, ``loss``, each of the broadcast shape.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: The Persian Rug, section 4.2 ("we do this numerically"), eq. 9 and eq. 14 to eq. 16.

    Examples
    --------
    >>> best = optimum(p=0.05, r=0.2)
    >>> round(float(best.a), 4), round(float(best.b), 4), round(float(best.loss), 6)
    (1.1703, -0.4649, 0.007427)
    >>> optimum(0.05, [0.1, 0.2, 1.0]).loss.round(5)
    array([0.01222, 0.00743, 0.     ])
    """
    return meanfield.optimum(features.probability(p), ranges.ratios(r))


def bayes_loss(p: ArrayLike, sigma: ArrayLike) -> Floats:
    """Loss of the best element-wise decoder, E[Var(x | x + nu)].

    No function of the pre-activation alone does better while the interference is Gaussian.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].
    sigma : array_like
        Standard deviation of the interference, sigma >= 0.

    Returns
    -------
    numpy.ndarray
        The loss per feature, shape of the broadcast arguments.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: The Persian Rug, eq. 23, eq. 24, eq. 25 (Bayes' rule, with the density of y given u in its
    numerator) and eq. 26, without the text's restriction to features that are on. Tested against
    30-digit quadrature.

    Examples
    --------
    >>> float(round(bayes_loss(p=0.05, sigma=0.25), 6))
    0.00694
    """
    return bayes.bayes_loss(features.probability(p), ranges.spreads(sigma))


def bayes_decoder(y: ArrayLike, sigma: ArrayLike, p: ArrayLike) -> tuple[Floats, Floats]:
    """What a pre-activation says of its feature: posterior mean and variance of x given y = x + nu.

    Parameters
    ----------
    y : array_like
        Pre-activation in units of the gain, without the mean of the interference.
    sigma : array_like
        Standard deviation of the interference, sigma > 0.
    p : array_like
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    mean : numpy.ndarray
        E[x | y], in [0, 1], shape of the broadcast arguments.
    variance : numpy.ndarray
        Var[x | y]; its mean over y is `bayes_loss`.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: The Persian Rug, eq. 26, without the text's restriction to features that are on.

    Examples
    --------
    >>> mean, variance = bayes_decoder([0.1, 0.4, 0.9], sigma=0.1, p=0.05)
    >>> mean.round(3)
    array([0.002, 0.39 , 0.871])
    """
    sigma = checks.real("sigma", sigma, 1 / ranges.LARGEST, ranges.LARGEST)
    y = checks.real("y", y, -bayes.LARGEST, bayes.LARGEST)
    return bayes.bayes_decoder(y, sigma, features.probability(p))


def jumprelu_optimum(p: ArrayLike, r: ArrayLike) -> JumpOptimum:
    """Gain, bias and threshold that minimise the loss of a JumpReLU at the smallest interference.

    The output is the pre-activation ``y = a (x + nu) + b`` where it exceeds ``theta``, and 0 elsewhere;
    ``theta = 0`` is the ReLU.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on; tested for 1e-12 <= p <= 1.
    r : array_like
        Compression ratio nd / ns, in (0, 1]; r = 1 is sigma = 0, solved exactly.

    Returns
    -------
    JumpOptimum
        Fields ``a``, ``b``, ``theta``, ``sigma``, ``loss``, each of the broadcast shape. Where no jump
        helps, it is the ReLU of `optimum`, with ``theta`` 0.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: our answer to The Persian Rug, abstract and section 5.2.1 ("gating"), which rule out a gain.

    Examples
    --------
    >>> best = jumprelu_optimum(p=0.001, r=0.2)
    >>> round(float(best.a), 3), round(float(best.theta), 4), round(float(best.loss * 1e5), 4)
    (1.0, 0.1538, 0.2844)
    """
    return jumprelu.jumprelu_optimum(features.probability(p), ranges.ratios(r))


def row_loss(off_diagonal: ArrayLike, a: float, b: float, p: float) -> float:
    """Loss of one output for its actual row of weights, with no Gaussian assumption.

    Good to 1e-9 of itself where no weight is above 1 in size, and to 1e-5 for larger ones; to 1e-3 where the ReLU
    closes exactly at an atom of the law.

    Parameters
    ----------
    off_diagonal : array_like, shape (n,)
        Weights of the other features, divided by the gain (rows of W have diagonal a).
    a : float
        Gain, a > 0.
    b : float
        Effective bias.
    p : float
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is outside its range, or `p` so small, or a weight so large (a few hundred), that the atoms of
        the law cannot be resolved.

    Notes
    -----
    Source: The Persian Rug, eq. 4 and eq. 5, without "because nu becomes Gaussian".

    Examples
    --------
    >>> round(row_loss(Rug(8, 3, indices=[3, 5, 6]).row()[1:], a=1.1, b=-0.3, p=0.05), 5)
    0.01039
    """
    return rugs.row_loss(ranges.off_diagonal(off_diagonal), *ranges.one_output(a, b, p))
