"""The face of the wing: each argument is checked here, once, and what stands behind computes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, features
from superposition.decoders import (
    coupled,
    dictionaries,
    families,
    ladder,
    planar_decoders,
    shared_directions,
    yardsticks,
)
from superposition.decoders.coupled import CoupledRug
from superposition.decoders.dictionaries import KINDS, Dictionary, Scores
from superposition.decoders.ladder import Evolution
from superposition.decoders.planar_decoders import Bracket
from superposition.decoders.yardsticks import Ceiling
from superposition.rug import ranges

if TYPE_CHECKING:
    from jaxtyping import Float

    from superposition.checks import Floats
    from superposition.rug.rugs import Rug

SMALLEST_R = 1e-60  # below, fourth powers of the interference overflow
LONGEST_CHAIN = 10_000  # blocks: the evolution of so many fills a gigabyte


def state_evolution(p: ArrayLike, r: ArrayLike, iterations: int) -> Evolution:
    """Loss of the iterated Bayes decoder on a rug, as ns -> infinity.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].
    r : array_like
        Compression ratio nd / ns, in [1e-60, 1].
    iterations : int
        At least 1; the first is the best element-wise decoder.

    Returns
    -------
    Evolution
        Fields ``sigma`` and ``loss``, of the broadcast shape and one more axis for the iterations.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: Ma and Ping (2017), section IV, for a projector without noise: v = `superposition.rug.bayes_loss` (p,
    sigma), tau = 1 / (1 / v - 1 / sigma^2), next sigma^2 = tau (1 / r - 1), from tau = Var[x].

    Examples
    --------
    >>> (state_evolution(0.05, 0.2, 4).loss / 0.007427).round(3)  # in units of the best ReLU
    array([0.956, 0.465, 0.202, 0.077])
    """
    p, r = features.probability(p), checks.real("r", r, SMALLEST_R, 1)
    return ladder.state_evolution(p, r, checks.whole("iterations", iterations, 1))


def recovery_ratio(p: ArrayLike) -> Floats:
    """The ratio above which the iterated Bayes decoder recovers every feature of a rug, as ns -> infinity.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    numpy.ndarray
        max over sigma of `superposition.rug.bayes_loss` (p, sigma) / sigma^2, between p and 1.

    Raises
    ------
    ValueError
        If `p` is outside (0, 1].

    Notes
    -----
    Source: Donoho, Maleki and Montanari (2009) for the argument. A fixed point of `state_evolution` is a sigma with
    bayes_loss = r sigma^2, and all of them lie below its start. As p -> 0 it is 2/3 p ln(1/p).

    Examples
    --------
    >>> float(recovery_ratio(0.05).round(4))
    0.1122
    """
    return ladder.recovery_ratio(features.probability(p))


def final_loss(p: float, r: float) -> float:
    """Where `state_evolution` ends: what no number of iterations takes away from a rug.

    Parameters
    ----------
    p : float
        Probability that a feature is on, in (0, 1].
    r : float
        Compression ratio, in [1e-60, 1].

    Returns
    -------
    float
        r sigma^2 at the largest sigma with bayes_loss = r sigma^2; 0 above `recovery_ratio`.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours; the last fixed point of `state_evolution` below its start.

    Examples
    --------
    >>> round(final_loss(0.05, 0.1) / 0.01222, 2), final_loss(0.05, 0.2)  # in units of the best ReLU
    (0.8, 0.0)
    """
    return ladder.final_loss(features.one_probability(p), checks.number("r", r, SMALLEST_R, 1))


def decode(hidden: ArrayLike, W_in: ArrayLike, p: float, *, iterations: int = 20) -> Float[np.ndarray, "... ns"]:
    """Estimate feature vectors from hidden vectors by the iterated Bayes decoder.

    Parameters
    ----------
    hidden : array_like, shape (..., nd)
        Hidden vectors W_in x, without noise or bias.
    W_in : array_like, shape (nd, ns)
        Encoder. Only its row space counts; the decoder is best where that is a tight frame without coherence (a rug),
        and no more than a good guess where features share directions.
    p : float
        Probability that a feature is on, in (0, 1]; its values are uniform on [0, 1].
    iterations : int
        At least 1; the first is the element-wise Bayes decoder. A vector whose own estimate of its error has stopped
        falling keeps its best.

    Returns
    -------
    numpy.ndarray, shape (..., ns)
        Posterior means, in [0, 1].

    Raises
    ------
    ValueError
        If an argument is outside its range or the shapes do not fit.

    Notes
    -----
    Source: Ma and Ping (2017); Rangan, Schniter and Fletcher (2019). `decode_rug` is the fast form for rugs.

    Examples
    --------
    >>> import numpy as np
    >>> from superposition.features import sample
    >>> x = sample(400, 0.05, 20, seed=0)
    >>> W_in = np.random.default_rng(1).standard_normal((160, 400))
    >>> bool(np.mean((decode(x @ W_in.T, W_in, 0.05) - x) ** 2) < 1e-6)
    True
    """
    W_in = checks.array("W_in", W_in, "nd ns")
    hidden = checks.real("hidden", checks.array("hidden", hidden, "... nd"), -ranges.LARGEST, ranges.LARGEST)
    if hidden.shape[-1] != len(W_in):
        raise ValueError(f"hidden has shape {hidden.shape}; allowed: (..., {len(W_in)})")
    p, iterations = features.one_probability(p), checks.whole("iterations", iterations, 1)
    return ladder.decode(hidden, W_in, p, iterations=iterations)


def decode_rug(readout: ArrayLike, rug: Rug, p: float, *, iterations: int = 20) -> Iterator[np.ndarray]:
    """Give the estimates of the iterated Bayes decoder on a rug, one after each iteration.

    Parameters
    ----------
    readout : array_like, shape (batch, ns)
        R x, which is what the hidden vectors say.
    rug : superposition.rug.Rug
        The matrix R.
    p : float
        Probability that a feature is on, in (0, 1].
    iterations : int
        At least 1.

    Returns
    -------
    iterator of numpy.ndarray, shape (batch, ns)
        Posterior means; the same memory each time.

    Raises
    ------
    ValueError
        If an argument is outside its range or the shapes do not fit.

    Notes
    -----
    Source: as `decode`, at a cost of two fast transforms an iteration.

    Examples
    --------
    >>> import numpy as np
    >>> from superposition.features import sample
    >>> from superposition.rug import Rug
    >>> rug, x = Rug(4096, 1229), sample(4096, 0.05, 4, seed=0)
    >>> losses = [np.mean((estimate - x) ** 2) for estimate in decode_rug(rug.apply(x), rug, 0.05, iterations=4)]
    >>> [f"{loss:.0e}" for loss in losses]
    ['4e-03', '9e-04', '2e-04', '3e-05']
    """
    readout = checks.real("readout", checks.array("readout", readout, "batch ns"), -ranges.LARGEST, ranges.LARGEST)
    if readout.shape[1] != rug.ns:
        raise ValueError(f"readout has shape {readout.shape}; allowed: (batch, {rug.ns})")
    p, iterations = features.one_probability(p), checks.whole("iterations", iterations, 1)
    return ladder.decode_rug(readout, rug, p, iterations=iterations)


def coupled_rug(size: int, dims: int, *, blocks: int = 32, width: int = 4, seed: int = 0) -> CoupledRug:
    """A chain of small rugs that overlap: a code that an iterated decoder reads below the threshold of one rug.

    Parameters
    ----------
    size : int
        Features of a block, at least 2.
    dims : int
        Dimensions of each small rug, from 1 to `size`; the chain has blocks + width - 1 of them.
    blocks : int
        Blocks of features, at least 1.
    width : int
        Neighbouring blocks that a small rug holds, from 1 to `blocks`; at the ends of the chain fewer.
    seed : int
        Of index sets and column signs.

    Returns
    -------
    superposition.decoders.coupled.CoupledRug
        Its ``nd``, ``ns`` and ``r`` count the ends; ``readout(x)`` is what the hidden vectors of features say.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: Krzakala et al. (2012) and Donoho, Javanmard and Montanari (2013) for spatial coupling; Barbier, Schuelke
    and Krzakala (2013) with fast transforms. Here each link of the chain is a rug: orthogonal rows, unit diagonal.

    Examples
    --------
    >>> code = coupled_rug(256, 24, blocks=8, width=3)
    >>> code.ns, code.nd, round(code.r, 3)
    (2048, 240, 0.117)
    """
    size = checks.whole("size", size, 2)
    dims, blocks = checks.whole("dims", dims, 1, size), checks.whole("blocks", blocks, 1, LONGEST_CHAIN)
    return CoupledRug(
        size, dims, blocks, checks.whole("width", width, 1, blocks), checks.whole("seed", seed, 0, checks.LARGEST_SEED)
    )


def coupled_evolution(p: float, density: float, *, blocks: int = 32, width: int = 4, iterations: int) -> Evolution:
    """Loss of the iterated Bayes decoder on a coupled rug, block by block, as blocks become large.

    Parameters
    ----------
    p : float
        Probability that a feature is on, in [1e-6, 1].
    density : float
        Dimensions of a small rug over features of a block, dims / size, in [1e-3, 1]: the ratio of an endless chain.
    blocks, width : int
        As in `coupled_rug`.
    iterations : int
        At least 1.

    Returns
    -------
    Evolution
        Fields ``sigma`` and ``loss``, shape (blocks, iterations). Below a loss of about 1e-18 it stands still.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours, in the manner of Donoho, Javanmard and Montanari (2013). Small rug a of ratio r_a meets noise of
    variance (1 / r_a - 1) times the mean of tau over its blocks; precisions of the rugs that hold a block add up to
    1 / sigma^2; v = `superposition.rug.bayes_loss` (p, sigma); what goes back to rug a has 1 / tau = 1 / v - 1 / its
    own noise. With width 1 it is `state_evolution`.

    Examples
    --------
    >>> loss = coupled_evolution(0.05, 0.09, iterations=200).loss  # one rug needs a ratio above 0.1122
    >>> float(loss[:, 100].max().round(3)), bool(loss[:, -1].max() < 1e-15)
    (0.009, True)
    """
    p, density = checks.number("p", p, 1e-6, 1), checks.number("density", density, 1e-3, 1)
    blocks = checks.whole("blocks", blocks, 1, LONGEST_CHAIN)
    width, iterations = checks.whole("width", width, 1, blocks), checks.whole("iterations", iterations, 1)
    return coupled.coupled_evolution(p, density, blocks, width, iterations)


def decode_coupled(readout: ArrayLike, code: CoupledRug, p: float, *, iterations: int = 200) -> Iterator[np.ndarray]:
    """Give the estimates of the iterated Bayes decoder on a coupled rug, one after each iteration.

    Parameters
    ----------
    readout : array_like, shape (batch, features of all small rugs)
        ``code.readout(x)``: what the hidden vectors say.
    code : superposition.decoders.coupled.CoupledRug
        From `coupled_rug`.
    p : float
        Probability that a feature is on, in (0, 1].
    iterations : int
        At least 1.

    Returns
    -------
    iterator of numpy.ndarray, shape (batch, ns)
        Posterior means.

    Raises
    ------
    ValueError
        If an argument is outside its range or the shapes do not fit.

    Notes
    -----
    Source: ours; the step is that of `decode_rug` on each small rug. What the rugs say of a feature is averaged with
    their precisions, and each gets back what the others and the prior know.

    Examples
    --------
    >>> import numpy as np
    >>> from superposition.features import sample
    >>> code, x = coupled_rug(1024, 200, blocks=4, width=2), sample(4096, 0.05, 2, seed=0)
    >>> *_, last = decode_coupled(code.readout(x), code, 0.05, iterations=12)
    >>> bool(np.mean((last - x) ** 2) < 1e-6)
    True
    """
    readout = checks.real("readout", checks.array("readout", readout, "batch n"), -ranges.LARGEST, ranges.LARGEST)
    if readout.shape[1] != (total := sum(rug.ns for rug in code.rugs)):
        raise ValueError(f"readout has shape {readout.shape}; allowed: (batch, {total}), of all small rugs")
    p, iterations = features.one_probability(p), checks.whole("iterations", iterations, 1)
    return coupled.decode_coupled(readout, code, p, iterations)


def digon_bayes_loss(p: ArrayLike, c: ArrayLike = 1.0) -> Floats:
    """Loss of the best decoder of a digon, which sees x - c x' alone.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].
    c : array_like
        Weight of the second feature, from 1e-15 to 1e15; 1 for the tied digon.

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
    Source: ours. If both are on, the number seen leaves an interval of length l open, and the error is that of a
    value that is 0 or uniform on it. As p -> 0 it is p^2 (1 + c^-2) (2 - 1 / c) / 12, the loss of one ReLU: the best
    decoder gains a term of order p^3 alone.

    Examples
    --------
    >>> float(round(digon_bayes_loss(0.05) / 0.05**2, 4))  # 1/6 less p / 10
    0.1616
    """
    return shared_directions.digon_bayes_loss(features.probability(p), checks.real("c", c, 1e-15, 1e15))


def planar_bayes_loss(W_in: ArrayLike, p: float, *, samples: int, seed: int) -> Bracket:
    """Loss of the best decoder of a code in the plane, by Monte Carlo over its exact posterior.

    Parameters
    ----------
    W_in : array_like, shape (2, B)
        Encoder, B at least 3; two features may share a line in opposite directions, not more, and not in one. The
        loudest may be 1e10 times as long as the quietest: beyond, rounding hides the one behind the other.
    p : float
        Probability that a feature is on, in [1e-100, 1).
    samples : int
        Feature vectors with two or more features on, at least 2.
    seed : int
        Seed of the feature vectors.

    Returns
    -------
    superposition.decoders.planar_decoders.Bracket
        The decoder that knows whether four or more features are on, and is excused then, is below every other:
        ``lower``. The same decoder without excuse is one: ``upper``.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours. With two features on there is one solution for each pair, with three a segment for each triple;
    a set T weighs p^k (1 - p)^(B - k) times length over the root of det(W_T W_T^T). On a line, `digon_bayes_loss`.

    Examples
    --------
    >>> from superposition.codes import priority_fan
    >>> found = planar_bayes_loss(priority_fan(6, 10).W_in, 0.05, samples=4000, seed=0)
    >>> round(found.lower, 5), round(found.upper, 5)  # with one ReLU 0.0014
    (0.00041, 0.00041)
    """
    W_in = checks.array("W_in", W_in, (2, "B"))
    if W_in.shape[1] < 3:
        raise ValueError(f"W_in has shape {W_in.shape}; allowed: (2, B) with B of 3 or more")
    p, samples = checks.number("p", p, 1e-100, 1, open_high=True), checks.whole("samples", samples, 2)
    return planar_decoders.planar_bayes_loss(W_in, p, samples=samples, seed=checks.generator("seed", seed))


def dictionary(
    ns: int,
    nd: int,
    kind: str = "rug",
    *,
    p: float = 0.05,
    exponent: float = 0.0,
    p_max: float = 1.0,
    noise: float = 0.0,
    children: float = 0.0,
    seed: int = 0,
) -> Dictionary:
    """Directions with an exact law of overlaps, and frequencies of the features.

    Parameters
    ----------
    ns : int
        Number of features, at least 2.
    nd : int
        Dimensions, from 1 to ns.
    kind : {"rug", "antipodal", "cone", "random"}
        A tight frame whose overlaps have the least mean square; the same with a feature of opposite direction for each;
        nd / 3 cones of 3 ns / nd features each, in orthogonal spaces; or independent directions.
    p : float
        Mean probability that a feature is on, in (0, 1].
    exponent : float
        p_i falls as i to the power of minus this, from 0 (equal features) to 10.
    p_max : float
        Largest p_i, from p to 1: the most frequent features are cut off there, the others share what is left.
    noise : float
        Standard deviation of Gaussian noise on every coordinate of an activation, 0 or more.
    children : float
        From 0 to 1; above 0, feature ns / 2 + i is the child of feature i: on with this probability while its parent
        is, and never without it. Parents have equal probabilities then.
    seed : int
        Of the index set of a rug and the basis of its space, or of random directions.

    Returns
    -------
    superposition.decoders.dictionaries.Dictionary
        With ``activations(batch, seed=...)``, features and what they make; ``batches(batch, seed=...)``, activations
        alone, in single precision, without end; ``split("test", batch)``, the same for everybody; ``fingerprint``,
        ``difficulty``, ``save`` and ``load``, and ``to_saelens(path)``, a folder that SAELens reads.

    Raises
    ------
    ValueError
        If an argument is outside its range, no such frame exists, or a p_i would be above 1.

    Notes
    -----
    Source: ours; the features are those of The Persian Rug, section 2, and the directions of its section 4.2.2.
    Children after Chanin and others (2024), with strengths of their own.

    Examples
    --------
    >>> truth = dictionary(64, 16, "antipodal", p=0.05, exponent=0.5)
    >>> truth.interference[:3].round(9)
    array([3., 3., 3.])
    >>> round(float(truth.directions[:, 0] @ truth.directions[:, 32]), 9)
    -1.0
    >>> x, h = truth.activations(10, seed=0)
    >>> x.shape, h.shape
    ((10, 64), (10, 16))
    """
    ns = checks.whole("ns", ns, 2)
    nd, p = checks.whole("nd", nd, 1, ns), features.one_probability(p)
    checks.one_of("kind", kind, KINDS)
    exponent, seed = checks.number("exponent", exponent, 0, 10), checks.whole("seed", seed, 0)
    p_max, noise = checks.number("p_max", p_max, p, 1), checks.number("noise", noise, 0, open_high=True)
    children = float(checks.number("children", children, 0, 1))
    if children:
        if ns % 2 or exponent:
            raise ValueError(
                f"children = {children:g} with ns = {ns}, exponent = {exponent:g}; allowed: even ns, exponent 0"
            )
        return families.families(ns, nd, kind, p=p, children=children, noise=noise, seed=seed)
    return dictionaries.dictionary(ns, nd, kind, p=p, exponent=exponent, p_max=p_max, noise=noise, seed=seed)


def ceilings(truth: Dictionary, *, looks: int = 4, samples: int = 20_000, seed: int = 0) -> list[Ceiling]:
    """What readers reach that know a dictionary, by which an autoencoder that has to find it can be measured.

    Parameters
    ----------
    truth : Dictionary
        Directions, probabilities and noise.
    looks : int
        Iterations of the Bayes decoder, at least 1.
    samples : int
        Activations of the simulations, at least 2.
    seed : int
        Their seed.

    Returns
    -------
    list of superposition.decoders.yardsticks.Ceiling
        Fields ``reader``, ``loss`` (per feature), ``evidence`` and ``se``. The linear reader is exact. One ReLU is the
        law of large rugs where features are equal and there is no noise, else a simulation; one look is the law of
        Gaussian interference, and left out where that is none (antipodal and cone); more looks are `state_evolution`,
        of equal features on a rug; who is told the support solves by least squares, in a simulation of at most 2,000.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: ours; The Persian Rug for one ReLU and one look, `state_evolution` for more.

    Examples
    --------
    >>> for row in ceilings(dictionary(256, 96), looks=3, samples=200):
    ...     print(f"{row.reader:17} {row.loss:.6f} {row.evidence}")
    linear            0.010026 exact
    one ReLU          0.003250 law
    one look, Bayes   0.002818 law
    2 looks           0.000436 law
    3 looks           0.000053 law
    told the support  0.000000 simulation
    """
    if not isinstance(truth, Dictionary):
        raise ValueError(f"truth = {checks.shown(truth)} is no dictionary; allowed: one of `dictionary`")
    if isinstance(truth, families.Families):
        raise ValueError("truth = one with children; allowed: independent features, children = 0")
    looks, samples = checks.whole("looks", looks, 1), checks.whole("samples", samples, 2)
    return yardsticks.ceilings(truth, looks=looks, samples=samples, seed=checks.whole("seed", seed, 0))


def scores(
    truth: Dictionary,
    x: ArrayLike,
    codes: ArrayLike,
    directions: ArrayLike | None = None,
    *,
    hidden: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    threshold: float | None = None,
) -> Scores:
    """Score codes, and the directions they belong to, against the truth.

    Parameters
    ----------
    truth : Dictionary
        What made the activations.
    x : array_like, shape (batch, ns)
        The features.
    codes : array_like, shape (batch, k)
        Latents, one activation a row.
    directions : array_like, shape (nd, k), optional
        Decoder directions of any length; those of the truth if left out (then k is ns, in its order).
    hidden : array_like, shape (batch, nd), optional
        The activations, where they have noise; those that the features make if left out.
    offset : array_like, shape (nd,), optional
        What the decoder adds, if anything.
    threshold : float, optional
        A latent is on where its size is above this, 0 or more, in units of unit directions; above 1e-9 of the largest,
        which is rounding, if left out. For posterior means, which are never 0.

    Returns
    -------
    superposition.decoders.dictionaries.Scores

    Raises
    ------
    ValueError
        If the shapes do not fit or a value is out of range.

    Notes
    -----
    Source: SAELens, ``sae_lens/synthetic/evals.py`` of release 6.54.12, for what has its names; the matching by signed
    cosines and what follows from it are ours. Both match by `scipy.optimize.linear_sum_assignment`.

    Examples
    --------
    >>> truth = dictionary(8, 4, seed=0, p=0.2)
    >>> x, h = truth.activations(500, seed=1)
    >>> found = scores(truth, x, 0.5 * x[:, ::-1], truth.directions[:, ::-1])
    >>> found.mcc, found.recall, round(found.shrinkage, 6), round(found.slope, 6), found.latent[:3]
    (1.0, 1.0, 0.5, 0.5, array([7, 6, 5]))
    """
    nd, ns = truth.directions.shape
    x = checks.array("x", x, ("batch", ns))
    if directions is not None:
        directions = checks.array("directions", directions, (nd, "k"))
    codes = checks.array("codes", codes, (len(x), ns if directions is None else directions.shape[1]))
    if offset is not None:
        offset = checks.array("offset", offset, (nd,))
    if hidden is not None:
        hidden = checks.array("hidden", hidden, (len(x), nd))
    threshold = None if threshold is None else checks.number("threshold", threshold, 0)
    return dictionaries.scores(truth, x, codes, directions, hidden=hidden, offset=offset, threshold=threshold)


def nonnegative_lasso(
    hidden: ArrayLike, directions: ArrayLike, lambda_: float, *, iterations: int = 200
) -> NDArray[np.float64]:
    """Sparse codes of activations by FISTA: the least |h - D c|^2 / 2 + lambda sum c over c of 0 or more.

    Parameters
    ----------
    hidden : array_like, shape (batch, nd)
        Activations.
    directions : array_like, shape (nd, k)
        A dictionary D.
    lambda_ : float
        Price of a unit of a code, 0 or more.
    iterations : int
        At least 1.

    Returns
    -------
    numpy.ndarray, shape (batch, k)

    Raises
    ------
    ValueError
        If the shapes do not fit or a value is out of range.

    Notes
    -----
    Source: Beck and Teboulle (2009), with a constant step of one over the largest eigenvalue of D^T D.

    Examples
    --------
    >>> nonnegative_lasso([[1.0, -2.0]], [[1, 0], [0, 1]], 0.25).round(6)
    array([[0.75, 0.  ]])
    """
    directions = checks.array("directions", directions, "nd k")
    hidden = checks.array("hidden", hidden, ("batch", len(directions)))
    lambda_ = checks.number("lambda_", lambda_, 0, open_high=True)
    iterations = checks.whole("iterations", iterations, 1)
    return dictionaries.nonnegative_lasso(hidden, directions, lambda_, iterations=iterations)
