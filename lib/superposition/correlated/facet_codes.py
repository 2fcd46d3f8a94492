"""Codes for graphs of features that may meet, in at most 4 D / 3 + 2 dimensions at largest degree D.

A polytope can have any number of facets. Parts of a graph that share no edge go on facets of their own: a functional
that vanishes on one facet and is negative on all others silences the readers of one part where another is on. A graph
is first split into parts in which no feature meets more than two others. All weights are integers divided by powers of
two, which double precision represents exactly. Source: ours; the split is Lovasz's (1966).
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from superposition import ranges
from superposition.checked import checked
from superposition.codes import Code
from superposition.correlated import graphs
from superposition.correlated.graphs import GraphCode
from superposition.correlated.ranges import graph

Graph = NDArray[np.bool_]


class Placed(NamedTuple):
    """Columns w (d, n) of a part of the graph, its readers v (n, d), and the features (n,) in their order."""

    w: NDArray[np.float64]
    v: NDArray[np.float64]
    features: NDArray[np.int64]


@checked(degree=ranges.whole(0))
def most_dimensions(degree: int) -> int:
    """Return the dimensions that are enough for every graph of this largest degree: floor(4 degree / 3) + 2, 3 for 0.

    Source: ours. Use `graph_code_for` for the code of one graph, which may need fewer.

    Examples
    --------
    >>> [most_dimensions(degree) for degree in (1, 2, 3, 4)]
    [3, 4, 6, 7]
    """
    return 4 * degree // 3 + 2 if degree else 3


@checked(H=graph)
def graph_code_for(H: Graph) -> GraphCode:
    """Join features that meet only along a graph, without loss, in the fewest dimensions of all constructions.

    These are colours, the split into parts, and topics if all components are cliques.

    Returns
    -------
    superposition.correlated.graphs.GraphCode
        At most floor(4 D / 3) + 2 dimensions where no feature meets more than D > 0 others, at most three a colour, and
        k + 1 for cliques of k. Its weights are whole numbers over powers of two, and its loss in exact arithmetic is 0;
        ``colours`` says which part a feature belongs to.

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
    colours = graphs.coloured(H)
    found = [_parts_code(H, colours), split_code_for(H)]
    if (topics := _cliques(H)) is not None:
        found.append(clique_code_for(topics, len(H)))
    return min(found, key=lambda code: code.dimensions)


def split_code_for(H: Graph) -> GraphCode:
    """The code by Lovasz's split: part by part in dimensions of its own, components of a part on facets."""
    degree = int(H.sum(axis=1).max(initial=0))
    return _parts_code(H, lovasz_split(H, part_degrees(degree)))


def clique_code_for(topics: list[NDArray[np.int64]], n: int) -> GraphCode:
    """Cliques without an edge between them, the largest of k features, in k + 1 dimensions; k if there is but one."""
    k = max(map(len, topics))
    if len(topics) == 1:
        return _side_by_side([Placed(np.eye(k), np.eye(k), topics[0])], n, np.zeros(n, dtype=int))
    homes = [Placed(*_corners(len(topic), max(k, 2)), topic) for topic in topics]
    return _side_by_side([on_facets(homes)], n, np.zeros(n, dtype=int))


@checked(topics=ranges.whole(1, 1000), k=ranges.whole(1, 100))
def topic_code(topics: int, k: int) -> Code:
    """Join topics of which at most one is on, with k features that may all meet: k + 1 dimensions, without loss.

    Feature j of topic i is at i k + j. One topic takes k dimensions; topics of one feature take up to 3.

    Source: ours.

    Examples
    --------
    >>> topic_code(50, 4).W_in.shape
    (5, 200)
    """
    groups = list(np.arange(topics * k).reshape(topics, k))
    code = clique_code_for(groups, topics * k)
    return Code(code.W_in, code.W_out, code.b)


def part_degrees(degree: int) -> list[int]:
    """Largest degrees of the parts, each 2 or 1; the sum of these, each increased by one, is degree + 1."""
    threes, left = divmod(degree + 1, 3)
    if left == 1:
        return [2] * (threes - 1) + [1, 1] if threes else [0]
    return [2] * threes + [1] * (left == 2)


def lovasz_split(H: Graph, degrees: list[int]) -> NDArray[np.int64]:
    """Parts 0, 1, ... such that no feature of part i meets more than degrees[i] others of its part."""
    # A feature that meets too many at home has a part in which it meets fewer than degree + 1; a move there lowers the
    # sum over parts of inner edges / (degree + 1), so this ends.
    room = np.array(degrees) + 1
    parts = np.zeros(len(H), dtype=int)
    meets = np.stack([(H & (parts == k)).sum(axis=1) for k in range(len(room))], axis=1)
    while True:
        crowded = np.flatnonzero(meets[np.arange(len(H)), parts] >= room[parts])
        if not len(crowded):
            return parts
        t = crowded[0]
        old, new = parts[t], int(np.argmin(meets[t] / room))
        parts[t] = new
        meets[H[t], old] -= 1
        meets[H[t], new] += 1


def on_facets(homes: list[Placed]) -> Placed:
    """Parts without an edge between them, each on a facet of its own, in one more dimension."""
    # A home has vectors (1, a, b, ...) with |a| below half of a power of two E. Facet s has (E, s E + a, s^2 E + 2 s a,
    # E b, ...), on which f = -s^2 y_0 + 2 s y_1 - y_2 vanishes; on facet s + d it is -d (d E + 2 a), which is negative.
    E = 2.0 ** np.ceil(np.log2(4 * max(np.abs(home.w[1]).max() for home in homes) + 4))
    columns, silent = [], []
    for s, home in enumerate(homes, -(len(homes) // 2)):
        one, a, *rest = home.w
        columns.append(np.array([E * one, s * E * one + a, s * s * E * one + 2 * s * a, *[E * b for b in rest]]))
        silent.append(np.array([-s * s, 2 * s, -1, *[0] * len(rest)], float))
    w, rows = np.hstack(columns), []
    for s, (home, f) in enumerate(zip(homes, silent, strict=True), -(len(homes) // 2)):
        first, slope, *rest = home.v.T
        v = np.column_stack([first / E - s * slope, slope, 0 * slope, *[other / E for other in rest]])
        sees, falls = v @ w, f @ w
        abroad = falls < 0
        need = np.max(np.maximum(sees[:, abroad], 0) / -falls[abroad], axis=1, initial=0)
        rows.append(v + np.ceil(need)[:, None] * f)
    return Placed(w, np.vstack(rows), np.concatenate([home.features for home in homes]))


@checked(H=graph)
def clique_number_at_least(H: Graph) -> int:
    """Return the size of a clique that is found greedily from each feature: no code has fewer dimensions.

    Source: ours.

    Examples
    --------
    >>> clique_number_at_least(1 - np.eye(4))
    4
    """
    best = int(len(H) > 0)
    for t in range(len(H)):
        clique, common = [t], H[t].copy()
        while common.any():
            one = max(np.flatnonzero(common).tolist(), key=lambda s: int((H[s] & common).sum()))
            clique.append(one)
            common &= H[one]
        best = max(best, len(clique))
    return best


@checked(code=ranges.instance(GraphCode, Code), H=graph)
def exact_failures(code: GraphCode | Code, H: Graph) -> int:
    """Count the entries of W, in exact arithmetic, that are not 1 on the diagonal, 0 on edges and at most 0 elsewhere.

    Source: ours. Use `largest_error` for the size of the error, in double precision.

    Raises
    ------
    ValueError
        If the graph and the code have different numbers of features.

    Examples
    --------
    >>> path = np.diag([1, 1], 1) + np.diag([1, 1], -1)
    >>> exact_failures(graph_code_for(path), path > 0)
    0
    """
    if len(code.b) != len(H):
        raise ValueError(f"H has shape {H.shape}; allowed: ({len(code.b)}, {len(code.b)}), as the code has features")
    w, v = ([[Fraction(float(x)) for x in row] for row in half] for half in (code.W_in.T, code.W_out))
    wrong = sum(map(bool, code.b.tolist()))
    for t, row in enumerate(v):
        used = [k for k, x in enumerate(row) if x]
        for i, column in enumerate(w):
            entry = sum((row[k] * column[k] for k in used), Fraction(0))
            wrong += entry != 1 if i == t else entry != 0 if H[t, i] else entry > 0
    return wrong


def _parts_code(H, parts):
    """Each part in dimensions of its own."""
    blocks = [_part_code(H, np.flatnonzero(parts == k)) for k in np.unique(parts)]
    return _side_by_side(blocks, len(H), parts)


def _part_code(H, members):
    """A part in which no feature meets more than two others."""
    inner = H[np.ix_(members, members)]
    degree = int(inner.sum(axis=1).max(initial=0))
    if not degree:
        return Placed(*_never_together(len(members)), members)
    homes = [
        Placed(*(_chain(inner, chain) if degree == 2 else _corners(len(chain), 2)), members[chain])
        for chain in _chains(inner)
    ]
    return homes[0] if len(homes) == 1 else on_facets(homes)


def _never_together(n):
    """Features of which at most one is on: digons up to four, else points of a parabola, read by its tangents."""
    if n <= 4:
        axes = np.repeat(np.eye((n + 1) // 2), 2, axis=0)[:n] * np.tile([[1.0], [-1.0]], (2, 1))[:n]
        return axes.T, axes
    a = np.arange(n) - n // 2
    return np.array([np.ones(n), a, a**2]), np.column_stack([1 - 2.0 * a**2, 4.0 * a, np.full(n, -2.0)])


def _chains(H):
    """Components of a graph of paths and cycles, each in its order."""
    left, found = set(range(len(H))), []
    starts = sorted(left, key=lambda t: int(H[t].sum()))  # ends of paths first
    for start in starts:
        if start not in left:
            continue
        chain = [start]
        left.remove(start)
        while ahead := [int(s) for s in np.flatnonzero(H[chain[-1]]) if s in left]:
            chain.append(ahead[0])
            left.remove(ahead[0])
        found.append(np.array(chain))
    return found


def _chain(H, chain):
    """A path or cycle as a convex polygon on a parabola: vectors (1, a, a^2), readers by chords."""
    # Gaps between neighbours are powers of two, and so is the distance of the ends of a cycle: all own weights are
    # powers of two before they are made 1.
    k = len(chain)
    gaps = [2.0 ** int(np.ceil(np.log2(max(k - 1, 1))))]
    while len(gaps) < k - 1:
        gaps.remove(most := max(gaps))
        gaps += [most / 2, most / 2]
    a = np.cumsum([0.0, *gaps][:k])
    a -= a[k // 2]
    closed = k > 2 and H[chain[0], chain[-1]]
    rows = []
    for t in range(k):
        if k == 1:
            row = np.array([1.0, 0, 0])
        elif not closed and t in (0, k - 1):
            other = a[1] if t == 0 else a[-2]
            row = np.array([other, -1.0, 0]) / (other - a[t])
        else:
            x, y = a[t - 1], a[(t + 1) % k]
            row = np.array([x * y, -(x + y), 1.0]) / ((a[t] - x) * (a[t] - y))
        rows.append(row)
    return np.array([np.ones(k), a, a**2]), np.array(rows)


def _corners(k, size):
    """K of the corners of a simplex with ``size``: vectors (1, u), readers the barycentric coordinates."""
    u = np.eye(size)[1:, :k]
    readers = np.c_[np.zeros(size), np.vstack([np.zeros(size - 1), np.eye(size - 1)])]
    readers[0] = np.r_[1.0, -np.ones(size - 1)]
    return np.vstack([np.ones(k), u]), readers[:k]


def _cliques(H):
    """The components of a graph, if each is a clique."""
    closed = H | np.eye(len(H), dtype=bool)
    groups = {tuple(np.flatnonzero(row)) for row in closed}
    return [np.array(group) for group in sorted(groups)] if sum(map(len, groups)) == len(H) else None


def _side_by_side(blocks, n, parts):
    """Blocks in dimensions of their own."""
    m = sum(len(block.w) for block in blocks)
    W_in, W_out, at = np.zeros((m, n)), np.zeros((n, m)), 0
    for block in blocks:
        end = at + len(block.w)
        W_in[at:end, block.features], W_out[block.features, at:end] = block.w, block.v
        at = end
    return GraphCode(W_in, W_out, np.zeros(n), m, parts)
