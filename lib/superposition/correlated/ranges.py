"""Ranges of the arguments of this wing: groups of features, graphs, codes, and relations between arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from superposition import checks, ranges
from superposition.correlated.dimensions import least_dimensions

LARGEST_GROUP = 32  # features: sums of more uniform strengths than this lose digits
MOST_POINTS = 300  # features that are spread over a sphere of three dimensions or more: the search goes by pairs
MOST_JOINED = 4096  # features of a graph: W alone is 134 MB
MOST = 2**26  # numbers in one array: half a gigabyte

partner_probability = ranges.number(0, 1)
group = ranges.whole(2, LARGEST_GROUP)
entries = ranges.array("n n", -1e100, 1e100)
rival_number = ranges.whole(0, 8)


def graph(name: str, value: Any) -> np.ndarray:
    """Graph of shape (n, n): 1 where two features are ever on together, else 0; symmetric, 0 on the diagonal."""
    H = checks.real(name, checks.array(name, value, "n n"), 0, 1)
    checks.whole(f"features of {name}", len(H), 1, MOST_JOINED)
    if not np.isin(H, (0, 1)).all() or (H != H.T).any() or H.diagonal().any():
        raise ValueError(f"{name} is no graph; allowed: 0 and 1, symmetric, 0 on the diagonal")
    return H > 0


def directions(name: str, value: Any) -> np.ndarray:
    """Directions of shape (m, G), two to 512, of lengths from 1e-6 to 1e6."""
    w = checks.array(name, value, "m G")
    checks.whole("m", w.shape[0], 1, 512)
    checks.whole("G", w.shape[1], 2, 512)
    checks.real(f"lengths of {name}", np.linalg.norm(w, axis=0), 1e-6, 1e6)
    return w


def present(name: str, value: Any) -> np.ndarray:
    """Probabilities that a window holds each feature, shape (n,), in (0, 1)."""
    return checks.real(name, checks.array(name, value, "n"), ranges.SMALLEST, 1 - 1e-12)


def widths(name: str, value: Any) -> list[int]:
    """Numbers of dimensions in a list, each from 1 to 1024."""
    if found := checks.wholes(name, value, 1, 1024):
        return found
    raise ValueError(f"{name} = {checks.shown(value)} is empty; allowed: one number of dimensions or more")


def law(p: float, G: int, s: float) -> None:
    """Refuse groups for which there is no law."""
    if s < p and G * p > 1 + 1e-12:
        raise ValueError(f"s = {s:g} is too small for {G} features with p = {p:g}; allowed: p to 1, or G p up to 1")


def pair(p: float, s: float) -> None:
    """Refuse pairs for which there is no law: none is on with probability 1 - 2 p + p s."""
    if 1 - 2 * p + p * s < -1e-12:
        raise ValueError(f"s = {s:g} is too small for two features with p = {p:g}; allowed: 2 - 1/p to 1")


def correlated(p: np.ndarray | float, s: np.ndarray | float) -> None:
    """Refuse probabilities that do not broadcast."""
    ranges.fit_together(p=p, s=s)


def compared(p: np.ndarray | float, r: np.ndarray | float, loss: np.ndarray | float) -> None:
    """Refuse arguments that do not broadcast."""
    ranges.fit_together(p=p, r=r, loss=loss)


def whole_groups(n: int, G: int) -> None:
    """Refuse numbers of features that are not two whole groups or more."""
    checks.whole("n", n, 2 * G, 10**6)
    if n % G:
        raise ValueError(f"n = {n} is no multiple of G = {G}; allowed: whole groups")


def some_dimensions(n: int, r: float) -> None:
    """Refuse ratios that leave no dimension, or as many as there are features."""
    if not 1 <= round(r * n) < n:
        raise ValueError(f"r = {r:g} leaves {round(r * n)} dimensions to {n} features; allowed: 1 to {n - 1}")


def drawn(n: int, samples: int) -> None:
    """Refuse samples that do not fit into memory."""
    _memory("samples", samples, n)


def drawn_groups(G: int, groups: int, samples: int) -> None:
    """Refuse samples that do not fit into memory."""
    _memory("samples", samples, groups * G)


def batches(groups: int, G: int, nd: int, batch: int) -> None:
    """Refuse batches that do not fit into memory."""
    _memory("batch", batch, max(groups * G, nd))


def starting_points(G: int, dims: list[int], starts: int) -> None:
    """Refuse starts that do not fit into memory."""
    _memory("starts", starts, len(dims) * G * max(G, *dims))


def code_exists(G: int, m: int) -> None:
    """Refuse numbers of dimensions in which there is no code without loss, or for which the search is too long."""
    if m < least_dimensions(G):
        raise ValueError(f"m = {m} is too few for G = {G}; allowed: {least_dimensions(G)} or more")
    if m > 3 and G > 2 * m:
        checks.whole("G", G, 1, MOST_POINTS)


def own_weights(W_in: np.ndarray, W_out: np.ndarray) -> None:
    """Refuse decoders whose shape does not fit, and own weights that are not above 0."""
    checks.array("W_out", W_out, W_in.shape[::-1])
    checks.real("own weights of W_out W_in", np.einsum("ti,it->t", W_out, W_in), 1e-200, 1e200)


def one_at_a_time(W: np.ndarray, p: float) -> None:
    """Refuse features that are on too often to exclude each other."""
    if len(W) * p > 1 + 1e-12:
        raise ValueError(f"p = {p:g} is too large for {len(W)} features of which one is on; allowed: up to 1/{len(W)}")


def on_graph(W: np.ndarray, H: np.ndarray) -> None:
    """Refuse a graph with a different number of features."""
    checks.array("W", W, H.shape)


def vectors_of(vectors: np.ndarray, p: np.ndarray) -> None:
    """Refuse frequencies of a different number of features, and vectors with a dimension for each feature."""
    checks.array("vectors", vectors, (len(p), "d"))
    checks.whole("features of vectors", len(vectors), np.shape(vectors)[1] + 1, MOST_JOINED)


def measured_code(x: np.ndarray, W_in: np.ndarray, W_out: np.ndarray, b: np.ndarray) -> None:
    """Refuse weights that do not fit the features, and too few vectors to estimate their joint statistics."""
    nd, ns = np.shape(W_in)
    checks.array("x", x, ("samples", ns))
    checks.array("W_out", W_out, (ns, nd))
    checks.array("b", b, (ns,))
    checks.whole("samples of x", len(x), 2)


def one_each(b: np.ndarray, threshold: np.ndarray) -> None:
    """Refuse a number of thresholds that is not that of the outputs."""
    checks.array("threshold", threshold, (len(b),))


def cells_of(p: np.ndarray, cells: np.ndarray, weights: np.ndarray, swell: np.ndarray) -> None:
    """Refuse kinds of windows with a different number of features, and shares that do not add up to 1."""
    checks.array("cells", cells, (len(weights), len(p)))
    checks.array("swell", swell, (len(weights),))
    if abs(np.sum(weights) - 1) > 1e-9:
        raise ValueError(f"weights add up to {np.sum(weights):g}; allowed: 1")


def _memory(name, count, each):
    if count * each > MOST:
        raise ValueError(f"{name} = {count} is too many of {each} numbers; allowed: up to {MOST // each}")
