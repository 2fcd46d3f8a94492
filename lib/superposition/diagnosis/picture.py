"""A picture of a diagnosed model: its place in the plane of p and r, among the codes at its p, and its features.

Needs matplotlib, unlike the public functions of this wing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, codes
from superposition.diagnosis.diagnosed import Diagnosis
from superposition.rug import meanfield

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROWS = 48  # probabilities of the map
# what a region of the map is made of, in the order of the legend, with Okabe and Ito's colours
PHASES = {
    "dropped": "#E5E5E5",
    "fan": "#0072B2",
    "swept": "#F0E442",
    "antipodal": "#E69F00",
    "rug": "#CC79A7",
    "digon": "#56B4E9",
    "own dimension": "#009E73",
}
KINDS = {"heard": "#0072B2", "dropped": "#E69F00", "dead": "#D55E00"}


def draw(found: Diagnosis, title: str = "") -> Figure:
    """Draw the place of a model; ``title`` is its name."""
    import matplotlib.pyplot as plt

    if not isinstance(found, Diagnosis) or found.p is None:
        raise ValueError(f"found = {checks.shown(found)} has no place on the map; allowed: a diagnosis at a p")
    fig, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    probabilities = np.geomspace(min(1e-3, found.p), max(0.5, found.p), ROWS)
    hulls = [_with_fans(hull) for hull in codes.hulls([*probabilities, found.p], points=10)]
    _map(axes[0], found, probabilities, hulls[:-1])
    _losses(axes[1], found, hulls[-1])
    _features(axes[2], found)
    fig.suptitle(": ".join(part for part in (checks.printable(title).replace("$", r"\$"), found.name) if part))
    return fig


def _with_fans(hull):
    """The best mixtures at one p, including fans; the hull of hulls is a hull."""
    sizes = np.arange(4, codes.LARGEST_FAN + 1)
    points = list(zip(hull.phase, hull.r, hull.loss, strict=True))
    for B in sizes.tolist():
        in_pairs = 4 < B <= codes.LARGEST_SWEPT
        loss = codes.swept_loss(hull.p, B) if in_pairs else codes.fan_loss(hull.p, B)
        points.append(("swept" if in_pairs else "fan", 2 / B, float(loss)))
    return codes.lower_hull(sorted(points, key=lambda point: point[1:]))


def _map(ax: Axes, found, probabilities, hulls):
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    r = np.geomspace(min(0.01, found.r), 0.999, 240)
    names = list(PHASES)
    area = [[names.index(name) for name in _largest(hull, r)] for hull in hulls]
    look = {"cmap": ListedColormap(list(PHASES.values())), "vmin": -0.5, "vmax": len(names) - 0.5, "alpha": 0.75}
    ax.pcolormesh(r, probabilities, area, shading="nearest", rasterized=True, **look)
    ax.plot([found.r], [found.p], "*", color="black", markersize=15, markeredgecolor="white")
    ax.set(xscale="log", yscale="log", xlabel="compression ratio $r$", ylabel="probability $p$")
    ax.set_title("what the best known code is made of", fontsize=10)
    seen = sorted({index for row in area for index in row})
    patches = [Patch(color=PHASES[names[index]], label=names[index], alpha=0.75) for index in seen]
    ax.legend(handles=patches, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=3, frameon=False)


def _largest(hull, r):
    """The phase with the most features at each ratio."""
    corners = np.array([point[1] for point in hull])
    right = np.clip(np.searchsorted(corners, r), 1, len(corners) - 1)
    nearer_right = r - corners[right - 1] > corners[right] - r
    return [hull[k if near else k - 1][0] for k, near in zip(right, nearer_right, strict=True)]


def _losses(ax: Axes, found, hull):
    r = np.geomspace(min(0.02, found.r / 2), 0.999, 60)
    _, corners, losses = zip(*hull, strict=True)
    ax.plot(r, meanfield.linear_loss(found.p, r), ":", color="0.4", label="linear")
    ax.plot(r, meanfield.optimum(found.p, r).loss, color="black", label="the rug (theory)")
    ax.plot(r, np.interp(r, corners, losses), color="#0072B2", label="best known")
    ax.plot([found.r], [found.loss], "*", color="#D55E00", markersize=14, markeredgecolor="white", label="this model")
    top = 1.5 * max(float(meanfield.linear_loss(found.p, r[0])), found.loss)
    least = min(found.loss, float(np.interp(found.r, corners, losses))) or top / 1e4
    lower = np.array([codes.counting_bound(found.p, x) for x in r[::4]])
    if lower.max() > least:  # where it can be seen
        ax.plot(r[::4], lower, "--", color="0.6", label="no code is below")
    ax.set(
        xscale="log", yscale="log", xlabel="compression ratio $r$", ylabel="loss per feature", ylim=(least / 10, top)
    )
    ax.set_title(f"loss at $p$ = {found.p:g}", fontsize=10)
    ax.legend(fontsize=8, frameon=False)


def _features(ax: Axes, found):
    for kind, colour in KINDS.items():
        chosen = found.kind == kind
        if chosen.any():
            at = found.rows.diagonal[chosen], found.rows.b_eff[chosen]
            ax.plot(*at, "o", color=colour, markersize=4, alpha=0.6, label=f"{chosen.sum()} {kind}")
    ax.plot([found.theory.a], [found.theory.b], "+", color="black", markersize=13, markeredgewidth=2, label="the rug")
    ax.set(xlabel="gain $W_{ii}$", ylabel="effective bias")
    if np.ptp(found.rows.b_eff) > 10:
        ax.set_yscale("symlog", linthresh=1)
    ax.set_title("its features", fontsize=10)
    ax.legend(fontsize=8, frameon=False)
