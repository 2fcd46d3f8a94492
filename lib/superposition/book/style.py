"""One style for the figures of the book."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import matplotlib.colors
import numpy as np

from superposition import checks
from superposition.book import running

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.container import ErrorbarContainer
    from matplotlib.image import AxesImage
    from mpl_toolkits.mplot3d import Axes3D
    from numpy.typing import ArrayLike

# Okabe and Ito's colours, told apart by colour-blind readers, and markers that differ as well
COLOURS = {"black": "#000000", "orange": "#E69F00", "sky": "#56B4E9", "green": "#009E73",
           "blue": "#0072B2", "vermilion": "#D55E00", "purple": "#CC79A7"}  # fmt: skip

# for rugs: navy below zero, cream at zero, red above
RUG = mpl.colors.LinearSegmentedColormap.from_list(
    "rug", ["#0b1d3a", "#16456b", "#3f8fa3", "#f4ead2", "#d98e32", "#a3242b", "#3d0a12"]
)


def use_style(dpi: int = 110) -> None:
    """Set the style of the book's figures, as vector graphics that are the same in every run."""
    dpi = checks.whole("dpi", dpi, 20)
    mpl.rcParams.update(
        {
            "figure.figsize": (7.0, 4.4),
            "figure.constrained_layout.use": True,
            "figure.facecolor": "white",
            "savefig.facecolor": "white",
            "font.size": 11,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": mpl.rcsetup.cycler(color=list(COLOURS.values())),
            "legend.frameon": False,
            "lines.linewidth": 1.8,
            "svg.hashsalt": "superposition",
            "svg.fonttype": "path",
        }
    )
    if mpl.get_backend() == "module://matplotlib_inline.backend_inline":
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        # the page shows the vector graphic; JupyterLab shows no SVG of a notebook it does not trust yet
        set_matplotlib_formats("svg", "png", metadata={"Date": None}, dpi=dpi)
        running.show_captions()


def directions(ax: Axes, W: ArrayLike, colour: str = COLOURS["blue"]) -> None:
    """Draw the columns of W, one or two high, as arrows in a unit circle, with their number where some coincide."""
    W = np.vstack([W, np.zeros((2 - np.shape(W)[0], np.shape(W)[1]))])
    ax.add_patch(mpl.patches.Circle((0, 0), 1, fill=False, linewidth=0.8, color="0.7"))
    W, count = _distinct(W)
    for (x, y), times in zip(W.T, count, strict=True):
        ax.plot([0, x], [0, y], color=colour, linewidth=1.6)
        ax.plot([x], [y], "o", color=colour, markersize=4)
        if times > 1 and np.hypot(x, y) > 0.5:
            ax.text(1.25 * x, 1.25 * y, f"×{times}", ha="center", va="center", fontsize=8)
    ax.set(xlim=(-1.45, 1.45), ylim=(-1.45, 1.45), aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def polyhedron(ax: Axes3D, W: ArrayLike, colour: str = COLOURS["blue"]) -> None:
    """Draw unit vectors in space as corners of a polyhedron, larger where some coincide; edges at the back are pale."""
    from scipy.spatial import ConvexHull

    W, count = _distinct(W)
    faces = ConvexHull(W.T, qhull_options="QJ Pp").simplices
    edges = {tuple(sorted(pair)) for face in faces for pair in itertools.combinations(face, 2)}
    normals = {}
    for face in faces:  # an edge between two faces of one plane is no edge
        normal = np.cross(W[:, face[1]] - W[:, face[0]], W[:, face[2]] - W[:, face[0]])
        for pair in itertools.combinations(sorted(face), 2):
            normals.setdefault(pair, []).append(normal / np.linalg.norm(normal))
    azimuth, elevation = np.radians([ax.azim, ax.elev])
    viewer = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    for pair in edges:
        if len(normals[pair]) == 2 and abs(np.dot(*normals[pair])) > 0.999:
            continue
        ends = W[:, list(pair)]
        front = (viewer @ ends).mean() > -0.05
        ax.plot(*ends, color=colour, linewidth=1.5 if front else 0.8, alpha=1 if front else 0.35)
    for point, times in zip(W.T, count, strict=True):
        front = viewer @ point > -0.05
        ax.plot(*point[:, None], "o", color=colour, markersize=4.5 + 4 * (times - 1), alpha=1 if front else 0.35)
    ax.set(xlim=(-0.65, 0.65), ylim=(-0.65, 0.65), zlim=(-0.65, 0.65))
    ax.set_axis_off()


def matrix(
    ax: Axes, values: ArrayLike, *, limit: float | None = None, colours: str | Colormap = "RdBu_r", **kwargs
) -> AxesImage:
    """Draw a matrix as coloured squares, zero in the middle of a scale that ends at ``limit``, or the largest size."""
    limit = np.abs(values).max() if limit is None else limit
    return ax.imshow(values, cmap=colours, vmin=-limit, vmax=limit, interpolation="none", **kwargs)


def measured(
    ax: Axes, x: ArrayLike, y: ArrayLike, error: ArrayLike | None = None, *, colour: str = "vermilion",
    marker: str = "o", filled: bool = True, **kwargs,
) -> ErrorbarContainer:  # fmt: skip
    """Draw measured points with error bars; theory is a line. Open points are larger, so that they surround others."""
    look: dict[str, Any] = {"linestyle": "none", "marker": marker, "color": COLOURS.get(colour, colour)}
    look |= {"markersize": 6} if filled else {"markersize": 9, "markerfacecolor": "none"}
    return ax.errorbar(x, y, error, **(look | kwargs))


def _distinct(W):
    """Columns of W without repetition, and how often each occurs."""
    W = np.asarray(W)
    first = [i for i, w in enumerate(W.T) if not any(np.allclose(w, v, atol=1e-3) for v in W.T[:i])]
    return W[:, first], [sum(np.allclose(W[:, i], v, atol=1e-3) for v in W.T) for i in first]
