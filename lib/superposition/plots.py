"""One style for the figures of the book."""

import matplotlib as mpl
import matplotlib.colors

# Okabe and Ito's colours, told apart by colour-blind readers, and markers that differ as well
COLOURS = {"black": "#000000", "orange": "#E69F00", "sky": "#56B4E9", "green": "#009E73",
           "blue": "#0072B2", "vermilion": "#D55E00", "purple": "#CC79A7"}  # fmt: skip

# for rugs: navy below zero, cream at zero, red above
RUG = mpl.colors.LinearSegmentedColormap.from_list(
    "rug", ["#0b1d3a", "#16456b", "#3f8fa3", "#f4ead2", "#d98e32", "#a3242b", "#3d0a12"]
)


def use_style():
    """Set the style of the book's figures, as vector graphics that are the same in every run."""
    mpl.rcParams.update(
        {
            "figure.figsize": (7.0, 4.4),
            "figure.constrained_layout.use": True,
            "figure.facecolor": "white",
            "savefig.facecolor": "white",
            "font.size": 11,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": mpl.cycler(color=list(COLOURS.values())),
            "legend.frameon": False,
            "lines.linewidth": 1.8,
            "svg.hashsalt": "superposition",
            "svg.fonttype": "path",
        }
    )
    if mpl.get_backend() == "module://matplotlib_inline.backend_inline":
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        # the page shows the vector graphic; JupyterLab shows no SVG of a notebook it does not trust yet
        set_matplotlib_formats("svg", "png", metadata={"Date": None}, dpi=110)
