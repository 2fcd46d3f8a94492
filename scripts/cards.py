"""Draw the pictures of the front page, one message each, from library and tables: ``python scripts/cards.py``."""

import io
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from superposition import decoders, incidental, receptive, rug, toy
from superposition.book import style
from superposition.book.style import COLOURS
from superposition.runs import tables

CARDS = Path(__file__).resolve().parent.parent / "book" / "figures" / "cards"
P, R = 0.05, 0.2  # where the cards compare codes


def over_theory(table, **where):
    """Losses of the trained networks of a table over the theory at their own ratio, which is near 1/5."""
    run = tables.load(table).where(p=P, r=R, **where).columns
    return run["loss"] / rug.optimum(P, run["nd"] / run["ns"]).loss


def fan(ax):
    """Ten arrows, each shorter than the one before."""
    angles = [*np.linspace(0, np.pi, 9), 1.5 * np.pi]
    for rank, angle in enumerate(angles):
        size = 1 / (1 + 0.16 * rank)
        ax.annotate("", size * np.array([np.cos(angle), np.sin(angle)]), (0, 0),
                    arrowprops={"arrowstyle": "-|>", "color": COLOURS["blue"], "linewidth": 1.6})  # fmt: skip
    ax.set(xlim=(-1.05, 1.05), ylim=(-0.45, 1.02), aspect="equal", title="ten features, two dimensions")
    ax.set_axis_off()


def cone(ax):
    """Twelve arrows up to a circle, seen from above its rim, and the plane that cuts one of them off."""
    turn = 2 * np.pi * (np.arange(12) + 0.3) / 12 - np.pi / 2  # the first one in front
    tips = np.array([np.cos(turn), 1 + 0.3 * np.sin(turn)]).T
    rim = np.linspace(0, 2 * np.pi, 90)
    ax.plot(np.cos(rim), 1 + 0.3 * np.sin(rim), color=COLOURS["black"], linewidth=0.8)
    ax.fill(*np.array([(0, 0), *1.25 * tips[[-1, 1]]]).T, color=COLOURS["orange"], alpha=0.4, linewidth=0)
    for i in range(11, -1, -1):
        ax.annotate("", tips[i], (0, 0), arrowprops={"arrowstyle": "-|>", "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0,
                    "color": COLOURS["blue" if i else "vermilion"]})  # fmt: skip
    ax.set(xlim=(-1.4, 1.4), ylim=(-0.05, 1.5), title="twelve exclusive features, three dimensions")
    ax.set_axis_off()


def steps(ax):
    """Trained loss over the theory's against the number of features: how long they trained, and how."""
    drawn = {
        "rug-sizes-recipe": ("o-", "vermilion", 2000),
        "rug-stopped-large": ("s-", "purple", 100_000),
        "rug-sizes-longer": ("^--", "green", 8000),
    }
    ax.axhline(1, color=COLOURS["blue"])
    for table, (marks, colour, at) in drawn.items():
        sizes = np.unique(tables.load(table).where(p=P, r=R, steps=at).columns["ns"])
        found = [over_theory(table, steps=at, ns=int(ns)).mean() for ns in sizes]
        ax.plot(sizes, found, marks, color=COLOURS[colour], markersize=4)
    ax.text(64, 1.015, "Persian rug", color=COLOURS["blue"])
    ax.text(900, 0.93, "the text's protocol", color=COLOURS["purple"], ha="right")
    ax.text(230, 0.70, "2000 steps", color=COLOURS["vermilion"])
    ax.text(4400, 0.80, "8000 steps", color=COLOURS["green"], ha="center", va="top")
    ax.set(xscale="log", xlabel="number of features", ylabel="loss / theory", ylim=(0.65, 1.08), xlim=(55, 1.2e4))
    ax.set_xticks([64, 512, 4096], ["64", "512", "4096"])
    ax.set_xticks([], minor=True)


def layers(ax):
    """What iterations leave of the loss of a rug, and of an antipodal one at best."""
    unit, steps = float(rug.optimum(P, R).loss), np.arange(1, 9)
    ax.plot(steps, decoders.state_evolution(P, R, 8).loss / unit, "o-", color=COLOURS["blue"], markersize=4)
    ax.axhline(decoders.digon_bayes_loss(P) / unit, color=COLOURS["vermilion"])
    ax.text(8, 0.07, "antipodal rug at best", ha="right", color=COLOURS["vermilion"])
    ax.text(2.2, 0.5, "Persian rug", color=COLOURS["blue"])
    ax.set(yscale="log", ylim=(3e-4, 2), xlabel="iterations of the decoder", ylabel="loss")


def noise(ax):
    """Loss of rugs of one noise against the weight of a partner."""
    w, best = np.linspace(-1, 1, 41), rug.optimum(P, R)
    a, b = float(best.a), float(best.b)
    ax.plot(w, [rug.partner_loss(v, a, b, P, R) / float(best.loss) for v in w], color=COLOURS["vermilion"])
    ax.axhline(1, color=COLOURS["blue"])
    ax.text(-1, 1.05, "what the theory says", color=COLOURS["blue"])
    ax.set(xlabel="weight of a partner", ylabel="loss / theory", xticks=[-1, 0, 1])


def jump(ax):
    """How much of a second feature appears at once."""
    p = np.array([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.52, 0.53, 0.6, 0.7, 0.8, 0.84, 0.88, 0.92, 0.96, 0.99])
    jumps = [toy.superposition_border(one).strengths[1] for one in p]
    ax.plot(p, jumps, "o-", color=COLOURS["vermilion"], markersize=3)
    ax.set(xlabel="probability of a feature", ylabel="size of the jump", xlim=(0, 1), ylim=(0, None))


def pentagon(left, right):
    """The best arrangement for rare features and for frequent ones."""
    style.directions(left, toy.polygon(5))
    style.directions(right, np.array([[1.0, -1, 0, 0, 0], [0, 0, 1, -1, 0]]))
    left.set(title="$S$ > 0.775")
    right.set(title="$S$ < 0.775")


def race(ax):
    """The number of weights left, times the square of the time."""
    law = incidental.continuum(np.linspace(0, 6, 61))
    ax.plot(law.T[1:], (law.survivors * law.T**2)[1:], color=COLOURS["blue"])
    for level, words in ((1.75, "the limit, 2"), (1.05, "as the text plots it, 1")):
        ax.axhline(round(level), color=COLOURS["black"], linestyle=":", linewidth=1.2)
        ax.text(3e4, level, words, ha="right")
    ax.set(xscale="log", xlim=(1, 4e4), ylim=(0, 3), xlabel=r"time $\lambda t \sqrt{m}$", ylabel=r"$m' (\lambda t)^2$")


def collisions(ax):
    """The constant of accidental sharing against the number of features."""
    run = tables.load("constant-size").columns
    many = run["m"] >= 4 * run["n"]
    style.measured(ax, run["n"][many], run["constant"][many], 4 * run["constant_se"][many])
    ax.axhline(0.25, color=COLOURS["blue"])
    ax.text(40, 0.254, "the text's ¼", ha="right", color=COLOURS["blue"])
    ax.set(xscale="log", xlabel="number of features", ylabel="constant", xticks=[2, 4, 8, 16, 40], ylim=(0.15, 0.34))
    ax.set_xticks([], minor=True)
    ax.set_xticklabels([2, 4, 8, 16, 40])


def kurtosis(ax):
    """Where a law of negative kurtosis makes rows sparser, and where denser."""
    run = tables.load("noise-sixth").where(law_name="four:-1:28", n=6, noise="shared", seed=0).columns
    style.measured(ax, run["sigma"], run["direction"], 4 * run["direction_se"])
    ax.axhline(3 / 10, color=COLOURS["blue"])
    ax.text(0.145, 0.315, "random rows", ha="right", color=COLOURS["blue"])
    ax.set(xlabel=r"size of the noise $\sigma$", ylabel="sparsity $f$", ylim=(0.1, 0.8))


def gain(ax):
    """How narrow a trained field is against the gain."""
    run = tables.load("field-one").where(n=40, xi1=2.0, xi2=1.0).columns
    style.measured(ax, run["gain"], run["median"])
    critical = float(receptive.critical_gain(40, 2, 1))
    ax.axvline(critical, color=COLOURS["blue"], linestyle="--")
    ax.text(1.1 * critical, 30, f"critical gain {critical:.3f}", color=COLOURS["blue"], va="top")
    ax.set(xscale="log", xlim=(0.1, 15), xlabel="gain", ylabel="localization", ylim=(0, 35))


def window_losses(network, text, window, vectors, *names):
    """Means over five draws of columns of the run on windows of text."""
    found = tables.load("real-windows").where(network=network, text=text, window=window, vectors=vectors).columns
    return tuple(float(found[name].mean()) for name in names)


def words(ax):
    """Loss of reading the tokens of a window, predicted against measured."""
    table = tables.load("real-windows")
    ax.plot([0.005, 1], [0.005, 1], ":", color="0.5")
    for vectors, name, colour, mark in (
        ("random", "gaussian", "green", "^"),
        ("own", "gaussian", "vermilion", "o"),
        ("own", "both", "blue", "o"),
    ):
        found = table.where(vectors=vectors).columns
        cases = sorted(set(zip(*(found[key].tolist() for key in ("network", "text", "window")), strict=True)))
        x, y = np.array([window_losses(*case, vectors, "relu", name) for case in cases]).T
        ax.plot(x, y, mark, color=COLOURS[colour], markersize=4)
    ax.text(0.022, 0.4, "learned, corrected", color=COLOURS["blue"])
    ax.text(0.022, 0.2, "random", color=COLOURS["green"])
    ax.text(0.9, 0.0105, "learned, Gaussian", color=COLOURS["vermilion"], ha="right")
    ax.set(xscale="log", yscale="log", xlim=(0.009, 1), ylim=(0.009, 1), xlabel="measured loss", ylabel="predicted")


DRAWN = (fan, cone, steps, layers, noise, jump, pentagon, race, collisions, kurtosis, gain, words)


def picture(draw):
    """A drawing as SVG."""
    style.use_style()
    with mpl.rc_context({"font.size": 10, "axes.titlesize": 10}):
        figure = Figure(figsize=(3.3, 1.9), layout="constrained")
        draw(*np.ravel(figure.subplots(1, 2 if draw is pentagon else 1)))
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def main():
    """Write them all."""
    CARDS.mkdir(exist_ok=True)
    for draw in DRAWN:
        (CARDS / f"{draw.__name__}.svg").write_text(picture(draw), encoding="utf-8")


if __name__ == "__main__":
    main()
