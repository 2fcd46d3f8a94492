"""The best known loss, over probability and compression ratio, with the code that has it.

Codes laid side by side mix: loss and ratio of the whole are averages over the parts. The best known loss
at one p is therefore the lower convex hull of all codes in the plane of ratio and loss.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, features, ranges
from superposition.checked import checked
from superposition.codes import partners, planes, swept
from superposition.codes import ranges as within
from superposition.codes.as_networks import FORMATS, measured_loss
from superposition.codes.fans import Code, fan_loss, valid_code
from superposition.codes.mixtures import lower_hull
from superposition.codes.planes import LARGEST_FAN
from superposition.codes.stored_bounds import best_bound
from superposition.rug import meanfield
from superposition.rug.rugs import Rug
from superposition.rug.tight_frames import rug_directions

MEASURED = 100_000  # feature vectors for the loss of a block in a number format
_RUGS = {"rug": meanfield.optimum, "antipodal": partners.antipodal_optimum}


@dataclass(frozen=True)
class Share:
    """A share of a mixture: the phase, its ``size`` (features of a block, 0 for rugs), ratio, loss and ``fraction``."""

    phase: str
    size: int
    r: float
    loss: float
    fraction: float


@dataclass(frozen=True)
class Best:
    """The best known code at one p and r: its loss, the loss of the rug, a bound for every size, and its parts."""

    p: float
    r: float
    loss: float
    rug: float
    lower: float
    parts: tuple[Share, ...]

    @property
    def phase(self) -> str:
        """Names of the parts, the largest first."""
        names = [part.phase for part in sorted(self.parts, key=lambda part: -part.fraction)]
        return " and ".join(dict.fromkeys(names))

    def blocks(self, ns: int, dtype: str = "float64") -> list[Code]:
        """Blocks of ns features in all, from 2 to 65536, in at most r ns dimensions, that a network of a format holds.

        In "float64" they have the loss `loss_of` ns. In "float32", "bfloat16" and "float16" loudness is less.
        """
        rugs, plan = self._shares(ns, dtype)
        whole = [rug_code(size, (nd + 0.5) / size, self.p, antipodal=phase == "antipodal") for phase, size, nd in rugs]
        silent = [dropped(plan.dropped, self.p)] if plan.dropped else []
        return [*whole, *planes.built(plan, self.p, dtype), *silent]

    def loss_of(self, ns: int, dtype: str = "float64") -> float:
        """The loss of the weights for ns features; ``loss`` is its limit for many features.

        Exact in "float64", except for rugs; measured in other formats, to about half a percent.
        """
        rugs, plan = self._shares(ns, dtype)
        if dtype != "float64":
            return float(measured_loss(self.blocks(ns, dtype), self.p, samples=MEASURED, seed=0, dtype=dtype).mean)
        return (sum(size * float(_RUGS[phase](self.p, nd / size).loss) for phase, size, nd in rugs) + plan.loss) / ns

    def _shares(self, ns, dtype):
        """The rugs as (phase, features, dimensions), and the plan of the planes for all other features."""
        largest = planes.LARGEST[checks.one_of("dtype", dtype, FORMATS)]
        ns, allowed = checks.whole("ns", ns, 2, 65536), ("dropped", "digon", "own dimension", "fan", "swept", *_RUGS)
        for part in self.parts:
            if part.phase not in allowed:
                raise ValueError(f"phase = {part.phase} came without weights; allowed: {', '.join(allowed)}")
        nd, rugs = int(self.r * ns * (1 + 1e-12)), []
        if nd < 1:
            least = int(np.ceil(1 / self.r))
            raise ValueError(f"ns = {ns} has no whole dimension at r = {self.r}; allowed: from {least}")
        for part in self.parts:
            size = round(part.fraction * ns) // 4 * 4
            dimensions = min(nd, int(part.r * size)) // 2 * 2
            if part.phase in _RUGS and dimensions:
                rugs.append((part.phase, size, dimensions))
        left = ns - sum(rug[1] for rug in rugs), nd - sum(rug[2] for rug in rugs)
        return rugs, planes.plan(self.p, *left, largest)


def _blocks(name: str, value: Any) -> list[Code]:
    """Codes in a list, at least one."""
    found = list(value) if isinstance(value, Iterable) else [value]
    if not found:
        raise ValueError(f"{name} = [] holds no code; allowed: one or more")
    return [valid_code(name, block) for block in found]


@checked(p=ranges.sparse_probability, r=ranges.one_ratio, largest_fan=ranges.whole(4), also=within.points)
def best_known(
    p: float, r: float, *, largest_fan: int = LARGEST_FAN, also: Iterable[tuple[str, float, float]] = ()
) -> Best:
    """The best code known at a probability and a compression ratio.

    Parameters
    ----------
    largest_fan : int
        Most features of a fan, at least 4. The default is the largest that double precision can represent; larger
        fans have a loss but no weights.
    also : iterable of tuple
        Further codes to choose from, as (name, ratio, loss), such as tiles found by search and graph tiles.

    Notes
    -----
    Source: ours. Fans count with their loss at an infinite ratio of loudness. `Best.blocks` gives weights for any
    number of features in whole dimensions, and `Best.loss_of` their loss: up to 60 features in a plane the two agree
    to 1e-3, beyond to a percent; a rug has its mean-field loss. With all weights of a block free, descent from these
    codes ends up to 0.2 percent lower, at five features in a plane and p = 1/4. Use `best_along` instead for many
    ratios.

    Examples
    --------
    >>> best = best_known(0.05, 0.2)
    >>> best.phase, round(best.loss / best.rug, 3)
    ('swept', 0.349)
    >>> sum(len(block.b) for block in best.blocks(256)), round(best.loss_of(250) / best.loss, 6)
    (256, 1.0)
    """
    rug = float(meanfield.optimum(p, r).loss)
    here = [("rug", r, rug)] + ([("antipodal", r, float(partners.antipodal_optimum(p, r).loss))] if r <= 0.5 else [])
    hull = best_codes(p, largest_fan=largest_fan, also=[*also, *here])
    right = min(max(int(np.searchsorted([point[1] for point in hull], r)), 1), len(hull) - 1)
    (_, low, _), (_, high, _) = ends = hull[right - 1], hull[right]
    weights = ((high - r) / (high - low), (r - low) / (high - low))
    parts = tuple(_share(end, weight) for end, weight in zip(ends, weights, strict=True) if weight > 1e-9)
    loss = sum(part.fraction * part.loss for part in parts)
    lower = best_bound.unchecked(p, r)
    return Best(float(p), r, float(loss), rug, lower, parts)


@checked(p=ranges.one_probability, largest_fan=ranges.whole(4), also=within.points)
def best_codes(
    p: float, *, largest_fan: int = LARGEST_FAN, also: Iterable[tuple[str, float, float]] = ()
) -> list[tuple[str, float, float]]:
    """The codes of which the best mixtures at one probability are made; arguments as in `best_known`.

    Returns
    -------
    list of tuple
        (name, ratio, loss) by increasing ratio, from "dropped" to "own dimension". Source: ours.

    Examples
    --------
    >>> [name for name, _, _ in best_codes(0.05)[-3:]]
    ['swept 5', 'digon', 'own dimension']
    """
    points = [*_points(p, largest_fan), *also]
    return lower_hull(sorted(points, key=lambda point: point[1:]))


@checked(p=ranges.one_probability, r=within.ratios, largest_fan=ranges.whole(4), also=within.points)
def best_along(
    p: float, r: ArrayLike, *, largest_fan: int = LARGEST_FAN, also: Iterable[tuple[str, float, float]] = ()
) -> tuple[NDArray[np.float64], list[str]]:
    """The best known loss at many ratios of one probability; arguments as in `best_known`.

    Returns
    -------
    loss : numpy.ndarray
        Shape of `r`.
    phases : list of str
        Names of the codes at each ratio. Source: ours.

    Examples
    --------
    >>> best_along(0.05, [0.2, 0.9])[1]
    ['swept', 'digon + own dimension']
    """
    r = np.asarray(r, float)
    names, corners, losses = zip(*best_codes(p, largest_fan=largest_fan, also=also), strict=True)
    kinds = [_named(name)[0] for name in names]
    right = np.clip(np.searchsorted(corners, r), 1, len(corners) - 1)
    return np.interp(r, corners, losses), [" + ".join(sorted({kinds[k - 1], kinds[k]})) for k in right]


def dropped(size: int, p: float) -> Code:
    """Dropped features: no weights, and their best bias p/2."""
    return Code(np.zeros((0, size)), np.zeros((size, 0)), np.full(size, float(features.mean(p))))


@checked(blocks=_blocks)
def side_by_side(blocks: Iterable[Code]) -> Code:
    """One code from blocks: features and dimensions one after the other, no weights between blocks.

    Examples
    --------
    >>> from superposition.codes import priority_fan
    >>> side_by_side([priority_fan(5, 10), priority_fan(4, 1)]).W_in.shape
    (4, 9)
    """
    blocks = list(blocks)
    sizes = np.array([block.W_in.shape for block in blocks]).sum(axis=0)
    W_in, W_out, at = np.zeros(sizes), np.zeros(sizes[::-1]), np.zeros(2, dtype=int)
    for block in blocks:
        end = at + block.W_in.shape
        W_in[at[0] : end[0], at[1] : end[1]], W_out[at[1] : end[1], at[0] : end[0]] = block.W_in, block.W_out
        at = end
    return Code(W_in, W_out, np.concatenate([block.b for block in blocks]))


@checked(
    within.antipodal_fits, size=ranges.whole(1, checks.MOST_FEATURES), r=ranges.one_ratio, p=ranges.one_probability,
    antipodal=ranges.flag,
)  # fmt: skip
def rug_code(size: int, r: float, p: float, *, antipodal: bool = False) -> Code:
    """Weights of a rug with the bias and gain of the mean-field theory.

    Parameters
    ----------
    size : int
        Number of features, up to 16384; an antipodal rug uses a multiple of four and leaves out the rest.

    Returns
    -------
    Code
        In r times as many dimensions, rounded down, at least one.

    Notes
    -----
    Source: The Persian Rug, section 4; the antipodal rug is ours.

    Examples
    --------
    >>> rug_code(64, 0.2, 0.05).W_in.shape
    (12, 64)
    """
    size, nd = size - size % 4 if antipodal else size, max(1, int(size * r))
    rug = Rug(size, nd - nd % 2 if antipodal and nd > 1 else nd, antipodal=antipodal)
    best = (partners.antipodal_optimum if antipodal else meanfield.optimum)(p, rug.nd / rug.ns)
    W_in = rug_directions(rug, seed=0)
    others = rug.row().sum() - 1 + antipodal  # the bias of an antipodal rug has its partner's mean already
    b = float(best.b) - float(best.a) * float(features.mean(p)) * others
    return Code(W_in, float(best.a) * W_in.T, np.full(size, b))


def _points(p, largest):
    """All codes at one p, as (name, ratio, loss)."""
    sizes = _sizes(largest)
    fans = [(f"fan {B}", 2 / B, float(fan_loss(p, B))) for B in sizes if B == 4 or B > swept.LARGEST_SWEPT]
    pairs = [(f"swept {B}", 2 / B, planes.plane_loss(p, B)) for B in sizes if 4 < B <= swept.LARGEST_SWEPT]
    return [*_of_any_size(p), *fans, *pairs]


@lru_cache(maxsize=256)
def _of_any_size(p):
    """All codes at one p except fans."""
    points = [("dropped", 0.0, float(features.variance(p))), ("own dimension", 1.0, 0.0)]
    points.append(("digon", 0.5, planes.cached_digon(p)[1]))
    for (name, optimum), most in zip(_RUGS.items(), (0.999, 0.5), strict=True):
        r = np.unique(np.r_[np.geomspace(1e-5, 0.1, 30), np.linspace(0.1, most, 30)])
        points += [(name, float(x), float(y)) for x, y in zip(r, optimum(p, r).loss, strict=True)]
    return points


def _sizes(largest) -> NDArray[np.int64]:
    return np.unique(np.r_[np.arange(4, min(largest, 400) + 1), np.geomspace(4, largest, 200).astype(int)])


def _named(name):
    """Phase and size of a code."""
    phase, _, size = name.rpartition(" ") if name.startswith(("fan ", "swept ")) else (name, "", "")
    return phase, int(size or {"digon": 2, "own dimension": 1, "dropped": 1}.get(name, 0))


def _share(point: tuple[str, float, float], fraction: float) -> Share:
    return Share(*_named(point[0]), *point[1:], float(fraction))
