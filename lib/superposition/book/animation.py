"""Moving pictures that need no script: animated PNG, which browsers and JupyterLab show as a picture."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from superposition import checks

if TYPE_CHECKING:
    from IPython.display import Image
    from matplotlib.figure import Figure


def picture(
    draw: Callable[[Figure, Any], object], frames: Sequence, *, size: tuple[float, float] = (7.0, 3.2), dpi: int = 80,
    seconds: float = 0.12, colours: int = 32,
) -> Image:  # fmt: skip
    """Put ``draw(figure, frame)`` of each frame into one animated PNG; the last is shown eight times as long."""
    from IPython.display import Image

    checks.whole("frames", len(frames), 1)
    checks.whole("colours", colours, 2, 256)
    millis = 1000 * float(checks.real("seconds", seconds, 0, open_low=True))
    first, *others = _one_palette([_pixels(draw, frame, size, dpi) for frame in frames], colours)
    out = io.BytesIO()
    times = [millis] * len(others) + [8 * millis]
    first.save(out, "PNG", save_all=True, append_images=others, duration=times, loop=5, optimize=True)
    return Image(out.getvalue(), format="png", width=int(size[0] * dpi))


def _pixels(draw, frame, size, dpi):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=dpi, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    draw(figure, frame)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3]


def _one_palette(arrays, colours):
    """All frames in the colours of the last one, white as paper: an animated PNG has a single palette."""
    from PIL import Image

    common = Image.fromarray(arrays[-1]).quantize(colours)
    frames = [Image.fromarray(array).quantize(palette=common, dither=Image.Dither.NONE) for array in arrays]
    paper = int(np.argmax(np.bincount(np.asarray(frames[-1]).ravel())))
    for frame in frames:
        frame.putpalette([255 if i // 3 == paper else value for i, value in enumerate(common.getpalette() or [])])
    return frames
