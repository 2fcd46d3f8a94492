"""Codes for a graph of features that may meet: loss zero for every distribution on it, in few dimensions.

H joins features that may be on together. The loss is zero if W_tt = 1, W_ts = 0 where t and s are joined, and W_ts <= 0
elsewhere, so that the distribution behind the graph does not matter. Source: ours. Colouring graphs of features that
meet, to bundle those that do not, is older: Ke and others (2017), Feinberg and Li (2020).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, ranges
from superposition.checked import checked
from superposition.correlated import exclusive
from superposition.correlated.dimensions import least_dimensions
from superposition.correlated.ranges import entries, graph, on_graph


class GraphCode(NamedTuple):
    """Weights ``W_in`` (m, n), ``W_out`` (n, m) and ``b`` (n,), the ``dimensions`` used, and the ``colours`` (n,)."""

    W_in: NDArray[np.float64]
    W_out: NDArray[np.float64]
    b: NDArray[np.float64]
    dimensions: int
    colours: NDArray[np.int64]

    @property
    def W(self) -> NDArray[np.float64]:
        """The product W_out W_in, shape (n, n)."""
        return self.W_out @ self.W_in


@checked(H=graph, m=ranges.whole(1, checks.MOST_FEATURES))
def colour_code_for(H: NDArray[np.bool_], m: int | None = None) -> GraphCode:
    """Features that meet only along a graph, without loss: colours, and an exclusive code for each.

    Parameters
    ----------
    H : array_like, shape (n, n)
        1 where two features are ever on together, else 0; symmetric, zeros on the diagonal, n up to 4096.
    m : int, optional
        Dimensions; by default the fewest that this construction needs, at most three a colour.

    Raises
    ------
    ValueError
        If an argument is outside of its range, or `m` is too small.

    Notes
    -----
    Source: ours. Use `graph_code_for` instead for fewer dimensions, where noise does not matter.

    Examples
    --------
    >>> ring = np.roll(np.eye(12), 1, axis=1)
    >>> code = colour_code_for(ring + ring.T)
    >>> code.dimensions, np.abs(code.W * (ring + ring.T)).max(), (code.W - np.eye(12)).max().round(9) + 0.0
    (6, np.float64(0.0), np.float64(0.0))
    """
    # One exclusive code a colour, in dimensions of its own; further dimensions go where most features share one.
    colours = coloured(H)
    sizes = np.bincount(colours)
    used = [least_dimensions(G) for G in sizes]
    if m is not None and m < sum(used):
        raise ValueError(f"m = {m} is too few for this graph; allowed: {sum(used)} or more, or None")
    for _ in range(0 if m is None else m - sum(used)):
        load = [G / d if d < G / 2 else 0 for G, d in zip(sizes, used, strict=True)]
        used[int(np.argmax(load))] += max(load) > 0
    ends = np.cumsum([0, *used])
    W_in, W_out = np.zeros((ends[-1], len(H))), np.zeros((len(H), ends[-1]))
    for colour, (G, d) in enumerate(zip(sizes, used, strict=True)):
        code, members = exclusive.exclusive_code(int(G), d), np.flatnonzero(colours == colour)
        W_in[ends[colour] : ends[colour + 1], members] = code.W_in
        W_out[members, ends[colour] : ends[colour + 1]] = code.W_out
    return GraphCode(W_in, W_out, np.zeros(len(H)), int(ends[-1]), colours)


def coloured(H):
    """Colours such that no two joined features share one: greedily, by falling degree; at most largest degree + 1."""
    colours = np.full(len(H), -1)
    for t in np.argsort(-H.sum(axis=1), kind="stable"):
        taken = set(colours[H[t]])
        colours[t] = next(c for c in range(len(H)) if c not in taken)
    return colours


@checked(on_graph, W=entries, H=graph)
def largest_error(W: ArrayLike, H: NDArray[np.bool_]) -> float:
    """A bound on the error of every output, whichever features are on in this graph, for strengths up to 1.

    Examples
    --------
    >>> largest_error([[1, 0.25], [0, 1]], [[0, 0], [0, 0]])
    0.25
    """
    # A feature that is on meets only its neighbours; one that is off may receive all others.
    W, own = np.asarray(W, float), np.eye(len(H), dtype=bool)
    on = np.abs(np.diag(W) - 1) + np.where(H, np.abs(W), 0).sum(axis=1)
    off = np.where(own, 0, np.maximum(W, 0)).sum(axis=1)
    return float(max(on.max(), off.max()))
