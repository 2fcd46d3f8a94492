"""Names of codes: rug, antipodal rug, digons, fan, swept fan, cone, tile, random frame, or none of these.

Source: ours. The name follows from the product of decoder and encoder among the features that are heard, each row over
its gain; every limit is here, and each is our choice.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from superposition.diagnosis import ablations

NAMED = 512  # features up to which all pairs are looked at
LINKED = 0.02  # of the gain: a smaller weight both ways is none, in a trained model too
USED = 0.05  # of the largest singular value of a block: a smaller one is no dimension
TIGHT, NEARLY = 0.05, 0.25  # spread of the eigenvalues of a tight frame, and of what is near one
LOUD = 3.0  # loudest over quietest, beyond which a code is loud and quiet
HIDING = 0.8  # share of the quieter that the louder do not add to
OPPOSITE = 0.95  # of the gain: what a feature takes from the one that points the other way
SMALL = 16  # features of a tile
FRAMES = ("a Persian rug", "near a rug", "a tight frame", "a random frame", "none of the codes of this book")
LEAST, NEAR_LEAST = 1.05, 1.3  # noise over the least possible, of a rug and near it
GAUSSIAN, NEARLY_GAUSSIAN = 0.5, 1.0  # skewness of rows: trained ones have -1 to -2
AS_A_RUG, AS_NEARLY = (0.9, 1.15), (0.8, 1.3)  # loss over the rug's: rugs of 64 features lose a tenth more
TRAINED = 0.8  # loss over that of Gaussian noise, below which partners do the work
MUTUAL, FEW_TRIANGLES = 0.5, 0.1  # of partners; of closed paths of two steps
PLANE, SPACE = 2, 3


def named(found: Any) -> str:
    """Name of a diagnosed code by its product, for many features by its eigenvalues, checked against noise and loss."""
    if not found.stands:
        return FRAMES[-1]  # no matrix makes these outputs, so responses to pairs name no code
    r = min(1.0, found.rank / found.heard.sum())
    if found.relative is None:
        return _judged(of_large(found.spread, r), found) + ", by its eigenvalues" * (not np.isnan(found.spread))
    return _judged(of(found.relative, found.loudness[found.heard], found.spread, r), found)


def _judged(name, found):
    """Name of a frame: a rug if its noise is near the least, its rows are Gaussian and its loss is the rug's."""
    if name not in FRAMES:
        return name
    gated = found.weights.k is not None or found.weights.threshold is not None  # then neither formula is its own
    own = found.stands and not gated
    comparable = own and found.importance is None and found.company is None
    apart = found.loss if found.company is None else found.company.apart.mean
    share = apart / found.gaussian if own and found.gaussian > 0 else 1.0
    if share < TRAINED and found.mutual > MUTUAL and found.clustering < FEW_TRIANGLES:
        return "a trained code: mutual partners, few triangles"
    if name in FRAMES[3:]:
        return name
    noise = found.sigma / found.sigma_bound if found.sigma_bound > 0 else np.inf
    skew = abs(found.rows.off_skewness[found.heard].mean())
    loss = found.loss / found.theory.loss if comparable and found.theory.loss > 0 else 1.0
    if noise < LEAST and skew < GAUSSIAN:
        doubt = 4 * found.simulated.se / found.theory.loss if found.exact is None and found.theory.loss > 0 else 0.0
        if AS_A_RUG[0] - doubt < loss < AS_A_RUG[1] + doubt and found.heard.all():
            return "a Persian rug" if comparable else "directions of a Persian rug"
        return "directions of a Persian rug with other biases and gains"
    if noise < NEAR_LEAST and skew < NEARLY_GAUSSIAN and AS_NEARLY[0] < loss < AS_NEARLY[1]:
        return "near a rug"
    return "a tight frame that is not a rug" if noise < LEAST else FRAMES[-1]


def of(relative: NDArray[np.float64], loud: NDArray[np.float64], spread: float, r: float) -> str:
    """Name of a code from its product (n, n), diagonal 1, its loudness (n,), spread of eigenvalues, and ratio."""
    blocks = _blocks(relative)
    if len(blocks) == 1:
        return _whole(relative, loud, spread, r)
    names = Counter(_block(relative[np.ix_(block, block)], loud[block]) for block in blocks)
    return " and ".join(_counted(name, count) for name, count in names.most_common(3)) + (
        ", and others" if len(names) > 3 else ""
    )


def of_large(spread: float, r: float) -> str:
    """Name of a code of many features, from the spread of its eigenvalues and its ratio alone."""
    if np.isnan(spread):
        return "a code too large to be named from its product"
    if spread < TIGHT:
        return "a tight frame"
    return _by_spread(spread, r)


def spread_of(values: NDArray[np.floating]) -> float:
    """Standard deviation over mean of the eigenvalues that are not zero: 0 for a tight frame."""
    kept = values[values > values.max() / 1e4]
    return float(kept.std() / kept.mean())


def _whole(relative, loud, spread, r):
    """Name of a single block that contains all features."""
    off = _off(relative)
    if len(relative) <= SMALL or _is_loud(relative, loud):
        return _block(relative, loud)
    if spread < TIGHT:
        if np.all(off.min(axis=1) < -OPPOSITE):
            return "an antipodal rug"
        return "a graph tile" if _is_graph(relative) else "a Persian rug"
    return _by_spread(spread, r)


def _by_spread(spread, r):
    """Name by eigenvalues alone: for random directions their spread is the root of r (Marchenko and Pastur)."""
    if r < 1 and abs(spread / np.sqrt(r) - 1) < 0.2:
        return "a random frame"
    return "near a rug" if spread < NEARLY else "none of the codes of this book"


def _block(relative, loud):
    """Name of one small block."""
    n, off = len(relative), _off(relative)
    even = _off(relative * loud[:, None] / loud)  # as if all were equally loud
    values = np.linalg.svd(even + np.eye(n), compute_uv=False)
    rank = int((values > USED * values[0]).sum())
    if n == 1:
        return "a dimension of its own"
    if n == 2 and rank == 1 and off[0, 1] < 0:
        return "a digon"
    if rank == PLANE and n > SPACE and _is_loud(relative, loud):
        return _in_the_plane(relative, loud)
    if rank == SPACE and n > SPACE and even.max() < LINKED and np.all((even > -LINKED).sum(axis=1) == 2 + 1):
        return f"a cone of {n} features"
    if _is_loud(relative, loud):
        return f"a loud and quiet code of {n} features in {_counted_dimensions(rank)}"
    if _is_graph(relative):
        return f"a graph tile of {n} features in {_counted_dimensions(rank)}"
    if n <= SMALL:
        return f"a tile of {n} features in {_counted_dimensions(rank)}"
    return f"a block of {n} features in {_counted_dimensions(rank)}"


def _in_the_plane(relative, loud):
    """Name of a plane code: a fan turns one way from loud to quiet, a swept fan to the left and right in turn."""
    n, order = len(relative), np.argsort(-loud)
    ordered = relative[np.ix_(order, order)]
    if _hidden(relative, loud) < OPPOSITE:
        return f"a loud and quiet code of {n} features in 2 dimensions"
    # the order of directions around the circle is what no change of the basis of the plane takes away
    _, _, basis = np.linalg.svd(ordered * loud[order, None] / loud[order])
    angle = np.arctan2(basis[1], basis[0])
    around = np.argsort(angle)
    around = np.roll(around, -int(np.flatnonzero(around == n - 1)[0]))[1:]
    turns = np.sign(np.diff(around))
    if np.all(turns == turns[0]):
        return f"a fan of {n} features"
    if np.sum(np.diff(turns) != 0) == 1 and turns[0] < 0:
        return f"a swept fan of {n} features"
    return f"a loud and quiet code of {n} features in 2 dimensions"


def _hidden(relative, loud):
    """Share of the pairs in which the louder feature does not add to the output of the quieter one."""
    order = np.argsort(-loud)
    ordered = relative[np.ix_(order, order)]
    louder = np.tri(len(loud), k=-1, dtype=bool)
    return float(np.mean(ordered[louder] <= LINKED * np.abs(ordered).max(axis=1).repeat(np.arange(len(loud)))))


def _is_loud(relative, loud):
    return bool(loud.max() > LOUD * loud.min()) and _hidden(relative, loud) > HIDING


def _is_graph(relative):
    """Whether partners are mutual, at least two per feature, without triangles, and weights have only a few sizes."""
    found = ablations.code_structure(relative)
    sizes = np.unique(_off(relative)[~np.eye(len(relative), dtype=bool)].round(3))
    return found["partners"] >= 2 and found["mutual"] == 1 and found["clustering"] == 0 and len(sizes) <= 4


def _blocks(relative):
    """Groups of features that are connected by weights."""
    linked = np.abs(_off(relative)) > LINKED
    count, label = sparse.csgraph.connected_components(sparse.csr_array(linked), directed=False)
    return [np.flatnonzero(label == one) for one in range(count)]


def _off(relative):
    return relative - np.diag(np.diag(relative))


def _counted_dimensions(rank):
    return f"{rank} dimension{'s' * (rank > 1)}"


def _counted(name, count):
    """A name with its number: "3 fans of 10 features"."""
    if count == 1:
        return name
    first, _, rest = name.removeprefix("a ").partition(" of ")
    return f"{count} {first}s" + (f" of {rest}" if rest else "")
