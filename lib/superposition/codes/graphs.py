"""Graph tiles: codes whose rivals are the neighbours in a triangle-free strongly regular graph.

The projector on the most negative eigenspace of such a graph has a negative entry for every edge and a small
positive one for every other pair: each feature is inhibited by its neighbours, which do not inhibit each other.
Unlike fans these codes need no dynamic range. Source: ours; the graphs are those of Higman, Sims, Hoffman,
Singleton, Gewirtz and Clebsch, the largest from the Golay code. Each is the only graph with its parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, features, ranges
from superposition.checked import checked
from superposition.codes.exact_losses import best_shift, best_shift_by_law, output_moments, shifts
from superposition.codes.fans import Code

CROWDED = 0.3  # features on at once, on average, beyond which sets of active features are too many to enumerate

# parameters of the strongly regular graphs: features, neighbours, common neighbours of an edge and of a non-edge
GRAPH_PARAMETERS = {
    "Clebsch": (16, 5, 0, 2),
    "Hoffman-Singleton": (50, 7, 0, 1),
    "Gewirtz": (56, 10, 0, 2),
    "M22": (77, 16, 0, 4),
    "Higman-Sims": (100, 22, 0, 6),
}


@dataclass(frozen=True)
class GraphTile:
    """A graph tile with its best gain and bias: dimensions ``nd``, ratio ``r``, ``inhibition``, ``a``, ``b``, ``loss``.

    The bias is effective: it includes the mean of the interference.
    """

    name: str
    nd: int
    r: float
    inhibition: float
    a: float
    b: float
    loss: float


def _tile(name: str, value: Any) -> GraphTile:
    """A `GraphTile` from `graph_tile`."""
    found = ranges.instance(GraphTile)(name, value)
    checks.one_of("name", found.name, tuple(GRAPH_PARAMETERS))
    checks.number("inhibition", found.inhibition, 0, 1, open_high=True)
    checks.one_of("nd", found.nd, (_graph_row(found.name, found.inhibition)[1],))
    for field in ("a", "b"):
        checks.number(field, getattr(found, field), -ranges.LARGEST, ranges.LARGEST)
    return found


@checked(name=ranges.one_of(*GRAPH_PARAMETERS))
def graph_adjacency(name: str) -> NDArray[np.int64]:
    """Adjacency matrix of one of the five graphs, built from scratch.

    Returns
    -------
    numpy.ndarray
        Shape (n, n), entries 0 and 1. Source: the constructions are those of `superposition.codes.graphs`.

    Examples
    --------
    >>> graph_adjacency("Clebsch").sum(axis=0)[:3]
    array([5, 5, 5])
    """
    return _BUILD[name]()


@checked(A=ranges.array("n n"))
def strongly_regular_parameters(A: ArrayLike) -> tuple[int, int, int, int]:
    """Parameters (n, k, lambda, mu) of a strongly regular graph.

    Parameters
    ----------
    A : array_like
        Adjacency matrix, shape (n, n). Any other graph is refused.

    Returns
    -------
    tuple of int
        Features, neighbours, common neighbours of an edge and of a pair that is not an edge.

    Raises
    ------
    ValueError
        If the graph is not strongly regular.

    Examples
    --------
    >>> strongly_regular_parameters(graph_adjacency("Clebsch"))
    (16, 5, 0, 2)
    """
    A = np.asarray(A)
    simple = np.array_equal(A, A.T) and not A.diagonal().any() and np.isin(A, (0, 1)).all()
    if not simple or len(np.unique(A.sum(axis=0))) != 1:
        raise ValueError(f"A of shape {A.shape} is no regular graph; allowed: symmetric, 0 and 1, equal row sums")
    A = A.astype(np.int64)
    common, apart = A @ A, (A == 0) & ~np.eye(len(A), dtype=bool)
    found = [np.unique(common[pairs]) for pairs in (A == 1, apart)]
    if [len(values) for values in found] != [1, 1]:
        raise ValueError(
            "A is not strongly regular; allowed: one number of common neighbours for edges and one for others"
        )
    return len(A), int(A[0].sum()), int(found[0][0]), int(found[1][0])


def _graph_row(name: str, inhibition: float = 0.0) -> tuple[NDArray[np.float64], int]:
    """Off-diagonal entries (n - 1,) of a row of a graph tile, the neighbours first, and its rank."""
    # with inhibition c the tile is (W - c J) / (1 - c), J all ones: one dimension more, everything a little lower
    c, (n, k, common, apart) = inhibition, GRAPH_PARAMETERS[name]
    spread = np.sqrt((common - apart) ** 2 + 4 * (k - apart))
    tau = (common - apart - spread) / 2
    nd = round(((n - 1) + (2 * k + (n - 1) * (common - apart)) / spread) / 2)
    # the projector on the eigenspace of tau, the least eigenvalue, to a diagonal of 1
    row = np.repeat([tau / k, -(tau + 1) / (n - k - 1)], [k, n - 1 - k])
    return (row - c) / (1 - c), nd + (c > 0)


@checked(
    name=ranges.one_of(*GRAPH_PARAMETERS), p=ranges.one_probability, inhibition=ranges.number(0, 1, open_high=True)
)
def graph_tile(name: str, p: float, inhibition: float | None = None) -> GraphTile:
    """A graph tile with the gain and bias that suit it best, by the exact law of its interference.

    Parameters
    ----------
    inhibition : float, optional
        c in (W - c J) / (1 - c), J all ones, in [0, 1): one dimension more, everything a little lower. The best from
        0.005 to 0.2 if left out.

    Raises
    ------
    ValueError
        If an argument is outside its range, or `p` too small for the law to be resolved.

    Notes
    -----
    Source: ours, with the law of a row in The Persian Rug, eq. 4. Use `priority_fan` instead where the dynamic range
    is not limited.

    Examples
    --------
    >>> tile = graph_tile("Higman-Sims", 0.05, inhibition=0)
    >>> tile.nd, round(tile.loss, 4)
    (22, 0.0044)
    """
    from scipy.optimize import minimize_scalar

    if inhibition is None:
        best = minimize_scalar(
            lambda c: _best_gain_and_bias(_graph_row(name, c)[0], p)[2],
            bounds=(0.005, 0.2),
            method="bounded",
            options={"xatol": 2e-3},
        )
        inhibition = float(best.x)
    row, nd = _graph_row(name, inhibition)
    a, b, loss = _best_gain_and_bias(row, p)
    return GraphTile(name, nd, nd / (len(row) + 1), inhibition, a, b, loss)


@checked(tile=_tile, p=ranges.one_probability)
def graph_code(tile: GraphTile, p: float) -> Code:
    """Weights of a graph tile.

    Parameters
    ----------
    p : float
        Probability that a feature is on, in (0, 1]: the mean of the interference goes into the bias.

    Notes
    -----
    Source: ours; the vectors span the eigenspace of the least eigenvalue of the adjacency matrix.

    Examples
    --------
    >>> graph_code(graph_tile("Clebsch", 0.1, inhibition=0), 0.1).W_in.shape
    (5, 16)
    """
    A, c = graph_adjacency(tile.name), tile.inhibition
    space = tile.nd - (c > 0)
    lowest = np.linalg.eigh(A)[1][:, :space]  # of equal eigenvalues: only the space does not hang on rounding
    inside = lowest @ (lowest.T @ np.random.default_rng(0).standard_normal((len(A), space)))
    vectors = np.linalg.qr(inside)[0] * np.sqrt(len(A) / space)
    extra = np.full((len(A), int(c > 0)), np.sqrt(c))
    W_in = np.c_[vectors, extra].T / (1 - c)
    W_out = tile.a * np.c_[vectors, -extra]
    b = tile.b - tile.a * float(features.mean(p)) * _graph_row(tile.name, c)[0].sum()
    return Code(W_in, W_out, np.full(len(A), b))


def _best_gain_and_bias(off_diagonal: ArrayLike, p: float) -> tuple[float, float, float]:
    """Best gain and effective bias for the actual row of weights, and the loss, with no Gaussian assumption."""
    weights = np.asarray(off_diagonal, float)
    if len(weights) * p < CROWDED:
        mean = float(features.mean(p)) * weights.sum()
        exact = lambda shift: output_moments(weights.round(12), 1.0, shift - mean, p)  # noqa: E731
        a, shift, loss = best_shift(exact, shifts(weights, p), p, 1e-4)
    else:  # the smoothing of the law costs less than a percent there
        a, shift, loss = best_shift_by_law(weights, p)
    return a, a * shift, loss


def _folded_cube():
    """The vertices of the folded 5-cube."""
    index = np.arange(16)
    return np.isin(index[:, None] ^ index, (1, 2, 4, 8, 15)).astype(np.int64)


def _pentagons_and_pentagrams():
    """Robertson's construction."""
    A = np.zeros((2, 5, 5, 2, 5, 5), dtype=np.int64)
    for h, i, j in np.ndindex(5, 5, 5):
        A[0, h, j, 1, i, (h * i + j) % 5] = A[1, i, (h * i + j) % 5, 0, h, j] = 1
    for h, j, step in np.ndindex(5, 5, 2):
        for kind in (0, 1):
            A[kind, h, j, kind, h, (j + (1 + kind) * (1, -1)[step]) % 5] = 1
    return A.reshape(50, 50)


@cache
def _hexads():
    """The 77 blocks of the Steiner system S(3, 6, 22), as rows over 22 points: octads of the Golay code through two."""
    residues = np.isin(np.arange(23), np.arange(1, 12) ** 2 % 23)
    generators = np.array([np.r_[np.roll(residues, shift), 0] for shift in range(12)], dtype=np.int64)
    generators[:, 23] = generators.sum(axis=1) % 2
    words = (np.arange(4096)[:, None] >> np.arange(12) & 1) @ generators % 2
    octads = words[words.sum(axis=1) == 8]
    return octads[(octads[:, 22] == 1) & (octads[:, 23] == 1)][:, :22]


def _disjoint(blocks):
    return (blocks @ blocks.T == 0).astype(np.int64)


def _gewirtz():
    """The hexads without one point, joined where they do not meet."""
    hexads = _hexads()
    return _disjoint(hexads[hexads[:, 0] == 0])


def _higman_sims():
    """The hexads, their 22 points, and one further point."""
    hexads = _hexads()
    points = np.c_[np.ones((22, 1), dtype=np.int64), np.zeros((22, 22), dtype=np.int64), hexads.T]
    top = np.r_[0, np.ones(22, dtype=np.int64), np.zeros(77, dtype=np.int64)]
    blocks = np.c_[np.zeros((77, 1), dtype=np.int64), hexads, _disjoint(hexads)]
    return np.vstack([top, points, blocks])


_BUILD = {
    "Clebsch": _folded_cube,
    "Hoffman-Singleton": _pentagons_and_pentagrams,
    "Gewirtz": _gewirtz,
    "M22": lambda: _disjoint(_hexads()),
    "Higman-Sims": _higman_sims,
}
