"""Maps with one row for each value of a parameter, arrows in the plane, and graphs on a circle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import ListedColormap

from superposition.book.style import COLOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.typing import ColorType
    from mpl_toolkits.mplot3d import Axes3D
    from numpy.typing import ArrayLike

# neighbours in this list are easy to tell apart; greys for what is left
SHADES = ["#D55E00", "#0072B2", "#56B4E9", "#009E73", "#F0E442", "#CC79A7", "#E69F00", "0.6", "0.3", "0.85"]
_LOOK: dict[str, Any] = {"shading": "nearest", "rasterized": True}


def values(ax: Axes, x: ArrayLike, rows: ArrayLike, label: str, **kwargs) -> Colorbar:
    """Colour cells by a number: row k of the map at height k; the rest goes to matplotlib's ``pcolormesh``."""
    image = ax.pcolormesh(x, range(len(np.asarray(rows))), rows, **(_LOOK | kwargs))
    return ax.figure.colorbar(image, ax=ax, label=label)


def names(ax: Axes, x: ArrayLike, rows: Sequence[Sequence[str]]) -> Colorbar:
    """Colour cells by a name, of which more than ten share colours; those without a plus come first in the bar."""
    known = sorted({name for row in rows for name in row}, key=lambda name: (name.count("+"), name))
    colours = ListedColormap([SHADES[k % len(SHADES)] for k in range(len(known))])
    numbers = [[known.index(name) for name in row] for row in rows]
    bar = values(ax, x, numbers, "", cmap=colours, vmin=-0.5, vmax=len(known) - 0.5)
    bar.set_ticks(range(len(known)), labels=known, fontsize=8)
    return bar


def arrows(ax: Axes, W: ArrayLike, colours: Sequence[ColorType]) -> None:
    """Draw the columns of W as numbered arrows from the origin, in the plane."""
    W, paper = np.asarray(W, dtype=float), {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
    for k, (w, colour) in enumerate(zip(W.T, colours, strict=True), 1):
        ax.annotate("", w, (0, 0), arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 2})
        place = w * (1 + 0.11 * np.abs(W).max() / np.linalg.norm(w))
        ax.text(*place, str(k), ha="center", va="center", fontsize=10, bbox=paper)  # pyrefly: ignore[bad-argument-count]: two
    ax.set(aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def cut_off(ax: Axes3D, W: ArrayLike, chosen: int, beside: tuple[int, int]) -> None:
    """Draw the columns of W in space, and the plane through the origin and two of them that cuts off the chosen one."""
    W = np.asarray(W, dtype=float)
    for k, w in enumerate(W.T):
        colour, width = (COLOURS["vermilion"], 2.2) if k == chosen else (COLOURS["blue"], 1.4)
        ax.plot(*np.outer(w, [0, 1]), color=colour, linewidth=width)
        ax.plot(*w[:, None], "o", color=colour, markersize=5)
    corners = np.c_[np.zeros(3), 1.25 * W[:, list(beside)]]
    ax.plot_trisurf(*corners, color=COLOURS["orange"], alpha=0.35, linewidth=0)
    ax.set_axis_off()


def conflicts(ax: Axes, hides: ArrayLike, loudness: ArrayLike) -> None:
    """Draw which features hide which (column j hides row i), on a circle, clockwise from the loudest at the top."""
    loudness = np.asarray(loudness, dtype=float)
    order = np.argsort(-loudness)
    hides, turn = np.asarray(hides)[np.ix_(order, order)], np.pi / 2 - 2 * np.pi * np.arange(len(order)) / len(order)
    x, y = np.cos(turn), np.sin(turn)
    for colour, joined in (("vermilion", hides ^ hides.T), ("blue", hides & hides.T)):
        i, j = np.argwhere(np.triu(joined, 1)).T
        gap = np.full(len(i), np.nan)  # one path for all lines of a colour
        ends = (np.c_[at[i], at[j], gap].ravel() for at in (x, y))
        ax.plot(*ends, color=COLOURS[colour], linewidth=min(1, 10 / len(order)), zorder=1)
    ax.scatter(x, y, s=5 + 60 * loudness[order] / loudness.max(), color="black", zorder=3)
    ax.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
