"""The book's own kinds of pictures, on light and dark pages, by a digest of their SVG: a snapshot, not a proof.

After a change that was meant: ``python tests/book/test_drawings.py`` stores anew, and names what is other.
"""

import io
import json
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from superposition.book import animation, dark, maps, running, style

STORED = Path(__file__).with_name("drawings.json")
MEND = "run `python tests/book/test_drawings.py` if that was meant"
W = np.array([[1.0, 0.5, -0.6, -0.6, 0], [0, 0.8, 0.3, 0.3, -0.2]])
CORNERS = np.array([*np.eye(3), *-np.eye(3), np.eye(3)[0]]).T
HIDES = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]], dtype=bool)
NAMES = [["a", "b + c", "b"], ["d", "a", "b"]]
MANY = [[f"n{k}" for k in range(12)]]


def moving(figure, frame):
    figure.add_subplot().plot([0, frame], color="red")


def animated(ax):
    """Its first and last frame beside each other, and how long each is shown."""
    from PIL import Image, ImageSequence

    shown = animation.picture(moving, [1, 2, 4], size=(1.5, 1.0), dpi=30, seconds=0.25, colours=8)
    with Image.open(io.BytesIO(shown.data)) as file:
        frames = [(np.asarray(one.convert("RGB")), one.info) for one in ImageSequence.Iterator(file)]
        ax.set_xlabel(f"{[round(info.get('duration', 0)) for _, info in frames]} {file.info.get('loop')} {shown.width}")
    ax.imshow(np.hstack([frames[0][0], frames[-1][0]]), interpolation="none")


def with_colours(ax):
    """What a dark page has to tell apart: a picture with a colour bar, marks on it and beside it, dark colours."""
    maps.values(ax, [0, 1, 2], [[0, 1, 2], [2, 1, 0]], "size", cmap="viridis")
    ax.plot([0.5, 1], [0, 1], color="#440154")
    ax.text(1, 0.5, "on it", color="0.2")
    ax.set_title("beside it", color="#00007f")


def with_image(ax):
    style.matrix(ax, [[1.0, -0.25], [0.5, np.nan]], colours=style.RUG)
    ax.annotate("tip", (0.5, 0.5), (1, 0.2), arrowprops={"arrowstyle": "->", "color": "0.4"})


DRAWINGS = {
    "values": lambda ax: maps.values(ax, [0, 1, 3], [[0, 1, 2], [2, 1, 0.5]], "size", alpha=0.5),
    "names": lambda ax: maps.names(ax, [0, 1, 2], NAMES),
    "many names": lambda ax: maps.names(ax, range(12), MANY),
    "arrows": lambda ax: maps.arrows(ax, W, ["red", "0.5", "blue", "black", "C1"]),
    "conflicts": lambda ax: maps.conflicts(ax, HIDES, [1, 3, 2, 0.5]),
    "many conflicts": lambda ax: maps.conflicts(ax, np.roll(np.eye(20, dtype=bool), 2, 1), np.arange(1, 21)),
    "directions": lambda ax: style.directions(ax, W),
    "directions on a line": lambda ax: style.directions(ax, [[0.4, 0.4, -1, -1]], colour="green"),
    "matrix": lambda ax: style.matrix(ax, [[0.5, -1], [0.2, 0]]),
    "matrix with a limit": lambda ax: style.matrix(ax, [[0.5, -1], [0.2, 0]], limit=2, colours="viridis"),
    "measured": lambda ax: style.measured(ax, [1, 2], [3, 4], [0.2, 0.1]),
    "open": lambda ax: style.measured(ax, [1, 2], [3, 4], colour="0.3", marker="s", filled=False, zorder=5),
    "animated": animated,
    "with colours": with_colours,
    "with an image": with_image,
}
IN_SPACE = {
    "cut off": lambda ax: maps.cut_off(ax, np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0.1, 0.7]]), 2, (0, 1)),
    "octahedron": lambda ax: style.polyhedron(ax, CORNERS),
    "cube": lambda ax: style.polyhedron(ax, np.array(np.meshgrid(*[[-0.5, 0.5]] * 3)).reshape(3, 8), colour="red"),
}  # fmt: skip


def svg(name):
    """A drawing in the book's style."""
    with mpl.rc_context():
        style.use_style(dpi=40)
        figure = plt.figure(figsize=(3, 2))
        space = {"projection": "3d"} if name in IN_SPACE else {}
        (DRAWINGS | IN_SPACE)[name](figure.add_subplot(**space))
        sink = io.StringIO()
        figure.savefig(sink, format="svg", metadata={"Date": None})
        plt.close(figure)
    return sink.getvalue()


def looks(name):
    """The drawing and its variant for dark pages, each by its digest, which rounds numbers to three digits."""
    light = svg(name)
    return [running.digest([{"data": {"image/svg+xml": one}}]) for one in (light, dark.darkened(light))]


@pytest.mark.parametrize("name", DRAWINGS | IN_SPACE)
def test_a_drawing_is_the_one_that_is_stored(name):
    assert looks(name) == json.loads(STORED.read_text())[name], MEND


def main():
    """Store the drawings of today, and name those that are other."""
    before = json.loads(STORED.read_text()) if STORED.exists() else {}
    found = {name: looks(name) for name in DRAWINGS | IN_SPACE}
    STORED.write_text(json.dumps(found, indent=0) + "\n")
    print("\n".join(name for name in found if found[name] != before.get(name)))


if __name__ == "__main__":
    main()
