"""Features that occur together, and features that never meet: what each costs.

Groups of G features, each on with probability p, and with s if a given partner is on: s = p is independence, s = 0
means that partners never meet. What stands here is theory, in float64, and refuses what is outside its range with a
ValueError that names the argument, its value and what is allowed. Behind it, unchecked:
`superposition.correlated.grouped_rugs` and `superposition.correlated.finite_rugs` (with simulations),
`superposition.correlated.graphs` and, with torch, `superposition.correlated.training`.

Source: ours; the open question of The Persian Rug, section 5.3, on correlated data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, features
from superposition.correlated import exclusive, facet_codes, finite_rugs, graphs, grouped_rugs, moments, pairs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from superposition.codes.fans import Code
    from superposition.correlated.finite_rugs import FiniteRug
    from superposition.correlated.graphs import GraphCode
    from superposition.correlated.grouped_rugs import GroupedRug
    from superposition.correlated.pairs import Pairs

__all__ = [
    "colour_code_for",
    "curve_code_for",
    "exclusive_code",
    "graph_code_for",
    "grouped_rug",
    "linear_loss",
    "noise_gain",
    "pairs_in_plane",
    "rug_loss",
    "topic_code",
]

LARGEST_GROUP = 32  # features: sums of more uniform strengths than this lose digits
MOST_POINTS = 300  # features that are spread over a sphere of three dimensions or more: the search goes by pairs
MOST_JOINED = 4096  # features of a graph: W alone is 134 MB


def linear_loss(p: float, r: float, G: int, s: float) -> float:
    """Loss per feature of the best linear code on groups of features.

    Parameters
    ----------
    p : float
        Probability that a feature is on, in (0, 1].
    r : float
        Compression ratio, in (0, 1].
    G : int
        Features of a group, 1 to 32.
    s : float
        Probability that a given partner of a feature that is on is on too, 0 to 1; below p, G p may be 1 at most.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours. With rho = (s - p)/(4/3 - p) the eigenvalues of a group's covariance are V (1 + (G - 1) rho), once,
    and V (1 - rho).

    Examples
    --------
    >>> round(linear_loss(0.05, 0.25, 4, 0.05), 6), round(linear_loss(0.05, 0.25, 4, 1.0), 6)
    (0.012031, 0.003125)
    """
    return float(moments.linear_loss(*_law(p, r, G, s)))


def grouped_rug(p: float, r: float, G: int, s: float, *, phase: str = "best") -> GroupedRug:
    """The best code made of one rug on the means of groups and others on the contrasts within them.

    Parameters
    ----------
    p : float
        Probability that a feature is on, 1e-4 to 1.
    r : float
        Compression ratio, 0.01 to 1.
    G : int
        Features of a group, 2 to 32.
    s : float
        Probability that a given partner of a feature that is on is on too, 0 to 1; below p, G p may be 1 at most.
    phase : {"best", "apart", "together"}
        All such codes; those that pass nothing of the mean, in which partners point away from each other; or those in
        which they add.

    Returns
    -------
    superposition.correlated.grouped_rugs.GroupedRug

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours, in the limit of many groups.

    Examples
    --------
    >>> best = grouped_rug(0.05, 0.25, 4, 0.5)
    >>> round(best.loss, 5), round(best.partner / best.own, 2)
    (0.0044, 0.21)
    """
    p, r, G, s = _law(p, r, G, s)
    checks.whole("G", G, 2)
    checks.number("p", p, 1e-4, 1)
    checks.number("r", r, 0.01, 1)
    return grouped_rugs.grouped_rug(p, r, G, s, phase=checks.one_of("phase", phase, ("best", "apart", "together")))


def rug_loss(n: int, p: float, r: float, G: int, s: float) -> FiniteRug:
    """Loss of a rug of n features whose groups have random places, at its best gain and bias.

    Parameters
    ----------
    n : int
        Number of features, a multiple of G, from 2 G to 10^6.
    p : float
        Probability that a feature is on, 1e-3 to 1.
    r : float
        Compression ratio, 0.01 to below 1.
    G : int
        Features of a group, 2 to 32.
    s : float
        Probability that a given partner of a feature that is on is on too, 0 to 1; below p, G p may be 1 at most.

    Returns
    -------
    superposition.correlated.finite_rugs.FiniteRug

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours. Given what is on, the interference is taken as Gaussian: good to 3 % from about 1000 features.

    Examples
    --------
    >>> round(rug_loss(1024, 0.05, 0.25, 4, 0.5).loss, 5)
    0.00598
    """
    p, r, G, s = _law(p, r, G, s)
    checks.whole("G", G, 2)
    checks.number("p", p, 1e-3, 1)
    checks.number("r", r, 0.01, 1, open_high=True)
    n = checks.whole("n", n, 2 * G, 10**6)
    if n % G:
        raise ValueError(f"n = {n} is no multiple of G = {G}; allowed: whole groups")
    return finite_rugs.rug_loss(n, p, r, G, s)


def exclusive_code(G: int, m: int) -> Code:
    """G features of which at most one is on, in m dimensions, without loss, and with as little noise as we know how.

    Parameters
    ----------
    G : int
        Number of features, 1 to 16384; to 300 where 3 < m < G / 2.
    m : int
        Dimensions: at least 1 for up to two features, 2 for up to four, 3 for any number; at most 16384.

    Returns
    -------
    superposition.codes.fans.Code
        Digons for G up to 2 m, of `noise_gain` 1; else points on a sphere, raised: in three dimensions a cone of gain
        cot^2(pi / G).

    Raises
    ------
    ValueError
        If an argument is outside its range, or there is no such code.

    Notes
    -----
    Source: ours; which numbers of directions can be positively independent is known (Davis 1954; Hare and Song 2015).

    Examples
    --------
    >>> code = exclusive_code(12, 3)
    >>> (code.W - np.eye(12)).max().round(9) + 0.0, noise_gain(code.W_in, code.W_out).max().round(2)
    (np.float64(0.0), np.float64(13.93))
    """
    G, m = checks.whole("G", G, 1, checks.MOST_FEATURES), checks.whole("m", m, 1, checks.MOST_FEATURES)
    if m < exclusive.least_dimensions(G):
        raise ValueError(f"m = {m} is too few for G = {G}; allowed: {exclusive.least_dimensions(G)} or more")
    if m > 3 and G > 2 * m:
        checks.whole("G", G, 1, MOST_POINTS)
    return exclusive.exclusive_code(G, m)


def noise_gain(W_in: ArrayLike, W_out: ArrayLike) -> np.ndarray:
    """How much each output magnifies noise on the hidden vector: |v_t| |w_t| over its own weight v_t . w_t.

    Parameters
    ----------
    W_in : array_like, shape (m, n)
        The encoder, of columns w_t.
    W_out : array_like, shape (n, m)
        The decoder, of rows v_t, all own weights above 0.

    Returns
    -------
    numpy.ndarray, shape (n,)
        1 or more.

    Raises
    ------
    ValueError
        If the shapes do not fit, or an own weight is not above 0.

    Examples
    --------
    >>> noise_gain([[1, 0], [0, 1]], [[1, -1], [0, 1]])
    array([1.41421356, 1.        ])
    """
    W_in = checks.real("W_in", checks.array("W_in", W_in, "m n"), -1e100, 1e100)
    W_out = checks.real("W_out", checks.array("W_out", W_out, W_in.shape[::-1]), -1e100, 1e100)
    checks.real("own weights of W_out W_in", np.einsum("ti,it->t", W_out, W_in), 0, 1e100, open_low=True)
    return exclusive.noise_gain(W_in, W_out)


def graph_code_for(H: ArrayLike) -> GraphCode:
    """Features that meet only along a graph, without loss, in the fewest dimensions of all constructions.

    Parameters
    ----------
    H : array_like, shape (n, n)
        1 where two features are ever on together, else 0; symmetric, zeros on the diagonal, n up to 4096.

    Returns
    -------
    superposition.correlated.graphs.GraphCode
        At most floor(4 D / 3) + 2 dimensions where no feature meets more than D > 0 others, at most three a colour, and
        k + 1 for cliques of k. Its weights are whole numbers over powers of two, and its loss in exact arithmetic is 0;
        ``colours`` says which part a feature belongs to.

    Raises
    ------
    ValueError
        If `H` is no such matrix.

    Notes
    -----
    Source: ours; the split of a graph into parts is Lovasz's. Use `colour_code_for` where noise matters.

    Examples
    --------
    >>> ring = np.roll(np.eye(12), 1, axis=1)
    >>> code = graph_code_for(ring + ring.T)
    >>> code.dimensions, np.abs(code.W * (ring + ring.T)).max(), (code.W - np.eye(12)).max()
    (3, np.float64(0.0), np.float64(0.0))
    """
    return facet_codes.least_code_for(_graph(H))


def colour_code_for(H: ArrayLike, m: int | None = None) -> GraphCode:
    """The same by colours, and an exclusive code for each: more dimensions, less noise.

    Parameters
    ----------
    H : array_like, shape (n, n)
        1 where two features are ever on together, else 0; symmetric, zeros on the diagonal, n up to 4096.
    m : int, optional
        Dimensions; by default the fewest that this construction needs, at most three a colour.

    Returns
    -------
    superposition.correlated.graphs.GraphCode

    Raises
    ------
    ValueError
        If `H` is no such matrix or `m` is too small.

    Notes
    -----
    Source: ours. Use `graph_code_for` for fewer dimensions.

    Examples
    --------
    >>> ring = np.roll(np.eye(12), 1, axis=1)
    >>> colour_code_for(ring + ring.T).dimensions
    6
    """
    H = _graph(H)
    return graphs.graph_code_for(H, None if m is None else checks.whole("m", m, 1, checks.MOST_FEATURES))


def curve_code_for(H: ArrayLike) -> Code:
    """The same in 2 D + 3 dimensions, where no feature meets more than D others: no colours, but much noise.

    Parameters
    ----------
    H : array_like, shape (n, n)
        1 where two features are ever on together, else 0; symmetric, zeros on the diagonal, n up to 4096, and no row
        with more than 6 ones.

    Returns
    -------
    superposition.codes.fans.Code
        Its readers are polynomials on a closed curve. The more features, the more they magnify rounding, too.

    Raises
    ------
    ValueError
        If `H` is no such matrix.

    Notes
    -----
    Source: ours.

    Examples
    --------
    >>> pairs = np.kron(np.eye(8), [[0, 1], [1, 0]])
    >>> code = curve_code_for(pairs)
    >>> code.W_in.shape[0], (code.W - np.eye(16)).max().round(6) + 0.0
    (5, np.float64(0.0))
    """
    H = _graph(H)
    most = int(H.sum(axis=1).max())
    if most > 6:
        raise ValueError(f"H has a feature that meets {most} others; allowed: up to 6")
    return graphs.curve_code_for(H)


def topic_code(topics: int, k: int) -> Code:
    """Topics of which at most one is on, with k features that may all meet: k + 1 dimensions, without loss.

    Parameters
    ----------
    topics : int
        Number of topics, 1 to 1000.
    k : int
        Features of a topic, 1 to 100.

    Returns
    -------
    superposition.codes.fans.Code
        Feature j of topic i stands at i k + j. One topic takes k dimensions; topics of one feature take up to 3.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours.

    Examples
    --------
    >>> topic_code(50, 4).W_in.shape
    (5, 200)
    """
    return facet_codes.topics_code(checks.whole("topics", topics, 1, 1000), checks.whole("k", k, 1, 100))


def pairs_in_plane(p: float, s: float) -> Pairs:
    """Two pairs of partners in the plane: losses with partners antipodal, orthogonal, or merged.

    Parameters
    ----------
    p : float
        Probability that a feature is on, in (0, 1].
    s : float
        Probability that the partner of a feature that is on is on too, 0 to 1; below p, p may be 1/2 at most.

    Returns
    -------
    superposition.correlated.pairs.Pairs

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours, for the pictures of Toy Models of Superposition on correlated features.

    Examples
    --------
    >>> pairs_in_plane(0.1, 0.05).best, pairs_in_plane(0.1, 0.5).best, pairs_in_plane(0.6, 1.0).best
    ('antipodal', 'orthogonal', 'merged')
    """
    p, _, _, s = _law(p, 1.0, 2, s)
    return pairs.pairs_in_plane(p, s)


def _law(p, r, G, s):
    """Probability, ratio, size of a group and s, if there is such a law."""
    p, G = features.one_probability(p), checks.whole("G", G, 1, LARGEST_GROUP)
    r, s = checks.number("r", r, 0, 1, open_low=True), checks.number("s", s, 0, 1)
    if s < p and G * p > 1 + 1e-12:
        raise ValueError(f"s = {s:g} is too small for {G} features with p = {p:g}; allowed: p to 1, or G p up to 1")
    return p, r, G, s


def _graph(H):
    """A graph as booleans."""
    H = checks.real("H", checks.array("H", H, "n n"), 0, 1)
    checks.whole("features of H", len(H), 1, MOST_JOINED)
    if not np.isin(H, (0, 1)).all() or (H != H.T).any() or H.diagonal().any():
        raise ValueError("H is no graph; allowed: 0 and 1, symmetric, 0 on the diagonal")
    return H > 0
