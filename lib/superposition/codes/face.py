"""The face of the wing: each argument is checked here, once, and what stands behind computes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, features
from superposition.codes import any_size, best_map, exact_losses, fans, graphs, mixtures, partners, rare_features, swept
from superposition.codes.best_map import Best
from superposition.codes.exact_losses import LARGEST, LOUDEST, Decoder
from superposition.codes.fans import Code
from superposition.codes.graphs import GraphTile
from superposition.codes.mixtures import Hull
from superposition.codes.planes import LARGEST_FAN
from superposition.rug import ranges
from superposition.rug.meanfield import Optimum

if TYPE_CHECKING:
    from superposition.checks import Floats


def best_known(
    p: float, r: float, *, largest_fan: int = LARGEST_FAN, also: Iterable[tuple[str, float, float]] = ()
) -> Best:
    """The best code known at a probability and a compression ratio.

    Parameters
    ----------
    p : float
        Probability that a feature is on, in (0, 1).
    r : float
        Compression ratio, in (0, 1].
    largest_fan : int
        Most features of a fan, at least 4. The default is what double precision carries; more is for the mathematics
        alone, and has no weights.
    also : iterable of tuple
        More codes to choose from, as (name, ratio, loss): tiles found by search, graph tiles.

    Returns
    -------
    Best

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours. Fans count with their loss at an infinite ratio of loudness. `Best.blocks` gives weights for any
    number of features in whole dimensions, and `Best.loss_of` their loss: up to 60 features in a plane the two agree
    to 1e-3, beyond to a percent; a rug has its mean-field loss.

    Examples
    --------
    >>> best = best_known(0.05, 0.2)
    >>> best.phase, round(best.loss / best.rug, 3)
    ('swept', 0.349)
    >>> sum(len(block.b) for block in best.blocks(256)), round(best.loss_of(250) / best.loss, 6)
    (256, 1.0)
    """
    p = checks.number("p", p, 0, 1, open_low=True, open_high=True)
    r = checks.number("r", r, 0, 1, open_low=True)
    largest_fan = checks.whole("largest_fan", largest_fan, 4)
    return best_map.best_known(p, r, largest_fan=largest_fan, also=_more(also))


def counting_bound(p: float, r: float) -> float:
    """Lower bound on the loss at every number of features, from the count of patterns of active outputs.

    Parameters
    ----------
    p : float
        Probability that a feature is on, in (0, 1).
    r : float
        Compression ratio, in (0, 1].

    Returns
    -------
    float
        0 where the count says nothing.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours, with the bounds of Clarkson and Shor and of McMullen. n outputs above a threshold tau, a share pi of
    them at once, make at most exp(n H(r/2) + n (r/2 + pi) H((r/2) / (r/2 + pi))) patterns, H the entropy in nats, and
    at most exp(n H(r)). With a share eta of the active features above tau and a share phi of the others, the patterns
    know p kl(eta | pi) + (1 - p) kl(phi | pi) nats a feature, pi = p eta + (1 - p) phi, and the loss is at least
    (1 - p) phi tau^2 + (p/3) max(0, 1 - eta - tau)^3. Each cell of the grid in phi is bounded by its ends.

    Examples
    --------
    >>> round(counting_bound(1e-6, 1e-8) / (1e-6 / 3), 2)  # nothing can be done here
    0.9
    """
    p = checks.number("p", p, 0, 1, open_low=True, open_high=True)
    return rare_features.counting_bound(p, checks.number("r", r, 0, 1, open_low=True))


def bound_at_any_size(p: float, r: float) -> float:
    """Lower bound on the loss of every code, at every number of features and every p.

    Parameters
    ----------
    p : float
        Probability that a feature is on, in (0, 1).
    r : float
        Compression ratio, in (0, 1].

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours. Features whose error is above a limit cost that. The others hear each rival alone, by Hoeffding's
    decomposition of the variance and Chebyshev's inequality, and the rank limits how few rivals there are. Integrals
    are bounded from below, on grids.

    Examples
    --------
    >>> best = best_known(0.01, 0.2)
    >>> round(bound_at_any_size(0.01, 0.2) / best.loss, 2)
    0.17
    """
    p = checks.number("p", p, 0, 1, open_low=True, open_high=True)
    return any_size.bound(p, checks.number("r", r, 0, 1, open_low=True))


def code_loss(W: ArrayLike, b: ArrayLike, p: float, *, rtol: float = 1e-4) -> float:
    """Loss per feature of ReLU(W x + b), by exact integrals over every set of active features.

    Parameters
    ----------
    W : array_like, shape (B, B)
        Weights from -1e300 to 1e75; huge negative ones silence an output.
    b : array_like, shape (B,)
        Bias.
    p : float
        Probability that a feature is on, in (0, 1].
    rtol : float
        Sets with many active features are left out once they are worth less than this share of the
        loss, by a bound that holds for any weights. 0 leaves out none.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is outside its range, or an output would need more than
        LARGEST_ENUMERATION sets.

    Notes
    -----
    Source: The Persian Rug, eq. 1 and 2 per feature.

    Examples
    --------
    >>> round(code_loss([[1, -1], [-1, 1]], [0, 0], 0.5), 6)  # a digon: p^2 / 6
    0.041667
    """
    rtol = checks.number("rtol", rtol, 0, 1)
    return exact_losses.code_loss(*_block(W, b), features.one_probability(p), rtol=rtol)


def best_decoder(W: ArrayLike, p: float, *, rtol: float = 1e-4) -> Decoder:
    """Best bias and gain of every output of a code, each row on its own.

    Parameters
    ----------
    W : array_like, shape (B, B)
        Finite weights with a positive diagonal.
    p : float
        Probability that a feature is on, in (0, 1].
    rtol : float
        As in `code_loss`.

    Returns
    -------
    Decoder
        The weights ``gain[:, None] * W`` with bias ``b`` have the loss.

    Raises
    ------
    ValueError
        If an argument is outside its range, or an output would need more than
        LARGEST_ENUMERATION sets.

    Notes
    -----
    Source: for each ratio of bias and gain the best gain is known (The Persian Rug, eq. 9); the
    search runs over that ratio, from -0.6 to 0.2 of the diagonal.

    Examples
    --------
    >>> best_decoder([[1.0]], 0.1).gain.round(6)
    array([1.])
    """
    W, _ = _block(W, np.zeros(len(checks.array("W", W, "B B"))))
    checks.real("diagonal of W", np.diag(W), 0, open_low=True)
    return exact_losses.best_decoder(W, features.one_probability(p), rtol=checks.number("rtol", rtol, 0, 1))


def priority_fan(B: int, ratio: float) -> Code:
    """The priority fan: B features in the plane, each louder than the next.

    Feature t points to the angle (t - 1) 180 / (B - 2) degrees, the last one to 270. It is read
    orthogonally to its louder neighbour, so that no louder feature adds to it.

    Parameters
    ----------
    B : int
        Number of features, at least 4. Four are two digons.
    ratio : float
        Loudness of a feature over that of the next, at least 1. ratio^(B - 1) may not exceed 1e250.

    Returns
    -------
    Code
        With a bias of 0 and gain 1 to 1e-7 B. The zeros of W are exact in any order of summation: the
        products that cancel are representable. Loudness follows `ratio` to half a percent.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours. Zeros must be exact because a rounding error is multiplied by ratio^(B - 1).

    Examples
    --------
    >>> import numpy as np
    >>> fan = priority_fan(6, 100)
    >>> np.sign(fan.W * np.tri(6, k=-1)).astype(int)
    array([[ 0,  0,  0,  0,  0,  0],
           [ 0,  0,  0,  0,  0,  0],
           [-1,  0,  0,  0,  0,  0],
           [-1, -1,  0,  0,  0,  0],
           [-1, -1, -1,  0,  0,  0],
           [ 0, -1, -1, -1,  0,  0]])
    """
    B = checks.whole("B", B, 4)
    return fans.priority_fan(B, checks.number("ratio", ratio, 1, 1e250 ** (1 / (B - 1))))


def cone(B: int, ratio: float = 1.0) -> Code:
    """The cone: B features on a circle in three dimensions, each hidden by all but its two neighbours.

    Parameters
    ----------
    B : int
        Number of features, at least 4.
    ratio : float
        Loudness of a feature over that of the next one on the circle, at least 1. ratio^(B - 1) may
        not exceed 1e9: rounding errors are multiplied by it.

    Returns
    -------
    Code
        With a bias of 0 and gain 1. The zeros are zero to 1e-15 times the ratio of loudness.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours; it appears to be the case k = 1 of the DFT layer of Grivas, Vergari and Lopez
    (arXiv 2310.10443), 2 k + 1 dimensions for any k active labels.

    Examples
    --------
    >>> cone(6).W.round(3)[0]
    array([ 1.,  0., -2., -3., -2.,  0.])
    """
    B = checks.whole("B", B, 4)
    return fans.cone(B, checks.number("ratio", ratio, 1, 1e9 ** (1 / (B - 1))))


def fan_loss(p: ArrayLike, B: int) -> NDArray[np.float64]:
    """Loss of a priority fan at an infinite ratio, exact for every p; that of a cone in the order of the circle too.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].
    B : int
        Number of features, at least 4.

    Returns
    -------
    numpy.ndarray
        Loss per feature, shape of `p`.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours. A feature is lost, at a cost of 1/3, if one of its hiders is on:
    L = p / (3 B) sum_t (1 - q^k_t), q = 1 - p.

    Examples
    --------
    >>> round(float(fan_loss(1e-6, 10)) / 1e-12, 3)  # (B - 3) / 6 for small p
    1.167
    """
    return fans.fan_loss(features.probability(p), checks.whole("B", B, 4))


def swept_fan(B: int, ratio: float, inner: float = 3.0, growth: float | None = None) -> Code:
    """The swept fan: B features in the plane, in pairs to the left and to the right.

    The angles are 0, x_1, -x_1, x_2, -x_2, ..., for even B up to 90 and -90 and then 180 degrees; odd B ends with the
    opposite of the last right one and with one at a right angle to both. A left feature is read orthogonally to the
    left one before it, a right one to the right one.

    Parameters
    ----------
    B : int
        Number of features, at least 4; `priority_fan` is better at 4.
    ratio : float
        Loudness of the softer of a pair over the louder of the next, at least 1. All of loudness, together with what
        `growth` adds, may not span more than 1e250.
    inner : float
        Loudness of the left one of a pair over the right one, at least 1. In the limit of large `ratio` 3 is best.
    growth : float, optional
        Factor from the tangent of an angle to that of the next, above 1; equal steps if left out.

    Returns
    -------
    Code
        With a bias of 0 and gain 1 to 1e-7. The zeros of W are exact in any order of summation. Loudness follows the
        arguments to 1e-3, that of the last but one at odd B to three percent.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours. A left and a right one of a level weaken each other by weights of product
    (sin(x + y) / sin(x - y))^2, x and y their angle and the one before: 1 for the first and the last pair.

    Examples
    --------
    >>> import numpy as np
    >>> np.sign(swept_fan(6, 100).W * np.tri(6)).astype(int)
    array([[ 1,  0,  0,  0,  0,  0],
           [ 0,  1,  0,  0,  0,  0],
           [ 0, -1,  1,  0,  0,  0],
           [-1,  0, -1,  1,  0,  0],
           [-1, -1,  0, -1,  1,  0],
           [-1, -1, -1,  0,  0,  1]])
    """
    B = checks.whole("B", B, 4)
    inner = checks.number("inner", inner, 1, 1e6)
    if growth is not None:
        growth = checks.number("growth", growth, 1, 1e6, open_low=True)
    largest = swept.largest_ratio(B, inner, growth or 1.0)
    return swept.swept_fan(B, checks.number("ratio", ratio, 1, largest), inner, growth)


def swept_loss(p: ArrayLike, B: int) -> NDArray[np.float64]:
    """Loss of a swept fan at an infinite ratio between pairs and a ratio of 3 within, exact for every p.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].
    B : int
        Number of features, at least 4.

    Returns
    -------
    numpy.ndarray
        Loss per feature, shape of `p`; from seven features on it is approached as `growth` rises, and not reached.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours. That of a fan, less (2/81) (p^2 / B) (1 + q^2 + q^4 + ...), one term a pair, q = 1 - p.

    Examples
    --------
    >>> round(float(swept_loss(0.05, 6) / fan_loss(0.05, 6)), 4)
    0.9837
    """
    return swept.swept_loss(features.probability(p), checks.whole("B", B, 4))


def graph_tile(name: str, p: float, inhibition: float | None = None) -> GraphTile:
    """A graph tile with the gain and bias that suit it best, by the exact law of its interference.

    Parameters
    ----------
    name : str
        "Clebsch", "Hoffman-Singleton", "Gewirtz", "M22" or "Higman-Sims".
    p : float
        Probability that a feature is on, in (0, 1].
    inhibition : float, optional
        c in (W - c J) / (1 - c), J all ones, in [0, 1): one dimension more, everything a little lower. The best from
        0.005 to 0.2 if left out.

    Returns
    -------
    GraphTile

    Raises
    ------
    ValueError
        If an argument is outside its range, or `p` too small for the law to be resolved.

    Notes
    -----
    Source: ours; the graphs and who found them are in `superposition.codes.graphs`, and the law of a row in The
    Persian Rug, eq. 4.

    Examples
    --------
    >>> tile = graph_tile("Higman-Sims", 0.05, inhibition=0)
    >>> tile.nd, round(tile.loss, 4)
    (22, 0.0044)
    """
    checks.one_of("name", name, tuple(graphs.PARAMETERS))
    if inhibition is not None:
        inhibition = checks.number("inhibition", inhibition, 0, 1, open_high=True)
    return graphs.graph_tile(name, features.one_probability(p), inhibition)


def graph_code(tile: GraphTile, p: float) -> Code:
    """Weights of a graph tile.

    Parameters
    ----------
    tile : superposition.codes.graphs.GraphTile
        From `graph_tile`.
    p : float
        Probability that a feature is on, in (0, 1]: the mean of the interference goes into the bias.

    Returns
    -------
    superposition.codes.fans.Code

    Raises
    ------
    ValueError
        If `p` is outside (0, 1].

    Notes
    -----
    Source: ours; the vectors span the eigenspace of the least eigenvalue of the adjacency matrix.

    Examples
    --------
    >>> graph_code(graph_tile("Clebsch", 0.1, inhibition=0), 0.1).W_in.shape
    (5, 16)
    """
    return graphs.graph_code(tile, features.one_probability(p))


def digon(p: ArrayLike, c: ArrayLike = 1.0) -> Floats:
    """Best loss of a digon: two features on one dimension, with nothing else in the way (r = 1/2).

    Its matrix is ((a_1, -a_1 c), (-a_2 / c, a_2)), of rank one; tied for c = 1.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].
    c : array_like
        The partner's weight in the first row, from 1e-6 to 1e6; 1 / c is that in the second.

    Returns
    -------
    numpy.ndarray
        The loss per feature, averaged over both.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours. As p -> 0 it is p^2 (1 + c^-2) (2 - 1/c) / 12 for c >= 1: p^2 / 6 for the tied
    digon, and least at c = 3, where it is 25/162 p^2.

    Examples
    --------
    >>> p = 1e-6
    >>> float(round(digon(p, c=1) / p**2, 4)), float(round(digon(p, c=3) / p**2, 4))
    (0.1667, 0.1543)
    """
    return partners.digon(features.probability(p), checks.real("c", c, 1 / partners.WEIGHTS, partners.WEIGHTS))


def best_digon(p: ArrayLike) -> tuple[Floats, Floats]:
    """Best digon over the ratio of its two weights.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    c : numpy.ndarray
        The partner's weight in the first row, from 1 to 5; 1 / c is that in the second.
    loss : numpy.ndarray
        The loss per feature there.

    Raises
    ------
    ValueError
        If `p` is outside (0, 1].

    Notes
    -----
    Source: ours; a grid of ratios, and a parabola through the best three.

    Examples
    --------
    >>> c, loss = best_digon(0.05)
    >>> round(float(c), 2), round(float(loss), 6)
    (2.97, 0.000385)
    """
    return partners.best_digon(features.probability(p))


def antipodal_loss(a: ArrayLike, b: ArrayLike, sigma: ArrayLike, p: ArrayLike) -> Floats:
    """Mean squared error of one feature of an antipodal rug, L(a, b, sigma).

    The output sees ``ReLU(a (x - x' + nu) + b)``: its feature, one partner with weight -1, and
    Gaussian interference ``nu`` of all other features.

    Parameters
    ----------
    a : array_like
        Gain (the diagonal of W), a > 0.
    b : array_like
        Bias, any real number. The mean of ``nu`` is in it, that of the partner is not: the
        effective bias, as `superposition.rug.loss` has it, is b - a p/2.
    sigma : array_like
        Standard deviation of all off-diagonal noise, as in `superposition.rug.loss`. The partner is part of it, so
        that ``nu`` has variance sigma^2 - Var[x], which must not be negative.
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
    Source: ours; The Persian Rug, eq. 5, has no partner. Tested against 30-digit quadrature.

    Examples
    --------
    >>> float(round(antipodal_loss(a=1.2, b=-0.3, sigma=0.25, p=0.05), 6))
    0.006852
    """
    a, b, sigma = ranges.gains("a", a), ranges.biases("b", b), ranges.spreads("sigma", sigma)
    return partners.antipodal_loss(a, b, sigma, features.probability(p))


def antipodal_optimum(p: ArrayLike, r: ArrayLike) -> Optimum:
    """Gain and bias that minimise the loss of an antipodal rug.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].
    r : array_like
        Compression ratio nd / ns, in (0, 1/2]. At r = 1/2 the rug falls apart into digons.

    Returns
    -------
    superposition.rug.meanfield.Optimum
        Fields ``a``, ``b`` (as in `antipodal_loss`), ``sigma`` (the same as that of `superposition.rug.optimum`)
        and ``loss``, each of the broadcast shape.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours. The matrix is a scaled projector with constant diagonal, like the text's rug,
    and saturates The Persian Rug's eq. 6; only the law of the interference differs.

    Examples
    --------
    >>> from superposition import rug
    >>> float(round(antipodal_optimum(p=0.05, r=0.2).loss / rug.optimum(p=0.05, r=0.2).loss, 3))
    0.826
    """
    return partners.antipodal_optimum(features.probability(p), checks.real("r", r, 0, 0.5, open_low=True))


def hull(p: float, *, without: Sequence[str] = (), points: int = 160) -> Hull:
    """The best mixture of phases at every compression ratio.

    Parameters
    ----------
    p : float
        Probability that a feature is on, in (0, 1].
    without : sequence of str
        Phases to leave out, of "rug", "antipodal" and "digon".
    points : int
        Ratios at which the two rugs are computed, at least 10.

    Returns
    -------
    superposition.codes.mixtures.Hull
        With ``at(r)``, the loss, and ``parts(r)``, what the mixture is made of.

    Raises
    ------
    ValueError
        If `p` is outside (0, 1], a name in `without` is unknown or `points` is too small.

    Notes
    -----
    Source: ours. The text's theory is the phase "rug" alone.

    Examples
    --------
    >>> mixed = hull(0.05, points=20)
    >>> round(float(mixed.at(0.2)), 5), [part.phase for part in mixed.parts(0.03)]
    (0.00618, ['dropped', 'antipodal'])
    """
    p, points = features.one_probability(p), checks.whole("points", points, 10)
    for name in without if isinstance(without, Collection) else [without]:
        checks.one_of("without", name, tuple(mixtures.CURVES))
    return mixtures.hull(p, without=without, points=points)


def _block(W, b):
    """Weights (B, B) and bias (B,) that exact integrals can take."""
    W = checks.real("W", checks.array("W", W, "B B"), -LARGEST, LOUDEST)
    return W, checks.real("b", checks.array("b", b, W.shape[:1]), -LOUDEST, LOUDEST)


def _more(also):
    """The codes of a caller, as (name, ratio, loss)."""
    also = list(also) if isinstance(also, Iterable) else [also]
    if not all(isinstance(code, tuple) and len(code) == 3 for code in also):
        raise ValueError(f"also = {checks.shown(also)} are no codes; allowed: tuples (name, ratio, loss)")
    return [(str(name), checks.number("also", r, 0, 1), checks.number("also", loss, 0)) for name, r, loss in also]
