"""Many files of weights in one table and one figure: superposition of the directions of each release.

Source: ours; the measures are the ones of `superposition.diagnosis.diagnose`. For a file that is refused, the table has
the reason.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from superposition import checks, ranges
from superposition.checked import checked
from superposition.diagnosis import autoencoder, files, strangers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ("release", "layer", "layout", "width", "inputs", "L0", "noise over least", "effective dimensions",
           "partners", "rank", "capacity", "twins", "dead", "refused")  # fmt: skip
SAMPLES = 20_000  # feature vectors: of them only the dead ones are taken
TWIN = 0.9  # cosine of two directions from which on they are twins
BLOCK = 1024  # rows of cosines at a time
MOST = 10_000  # files
LAYER = re.compile(r"(?:layers?|blocks|L)[._-]?(\d+)")
AXES = (("L0", "noise over least"), ("width", "effective dimensions"), ("noise over least", "capacity"))

Row = dict[str, str | int | float]


def files_in(name: str, folders: Any) -> list[Path]:
    """Folders, or files, of weights, 1 to 10,000 of them in all, also in the folders below."""
    given = [folders] if isinstance(folders, (str, os.PathLike)) else folders
    if not isinstance(given, (list, tuple)) or not all(isinstance(one, (str, os.PathLike)) for one in given):
        raise ValueError(f"{name} = {checks.shown(folders)} is not a list of paths; allowed: folders, files of weights")
    found = []
    for folder in given:
        with strangers.untrusted(f"{name} = {strangers.cut(str(folder))}"):
            if not Path(folder).exists():
                raise ValueError("is not there; allowed: folders, files of weights")
            below = [Path(folder)] if Path(folder).is_file() else sorted(Path(folder).rglob("*"))
            found += filter(_is_weights, below)
    if not 0 < len(found) <= MOST:
        raise ValueError(f"{name} = {checks.shown(given)} hold {len(found)} files of weights; allowed: 1 to {MOST}")
    return found


def _is_weights(path):
    return path.suffix in files.ENDINGS and path.stem not in files.BESIDE and path.is_file()


@checked(folders=files_in, l0=ranges.number(0, open_low=True), seed=ranges.whole(0))
def survey_files(
    folders: Any, l0: float | None = None, seed: int = 0, progress: Callable[[int, int], None] | None = None
) -> list[Row]:
    """Measure every file of weights in folders: one row per file, with the columns of `COLUMNS`.

    Parameters
    ----------
    l0 : float, optional
        How many latents are on, for files that do not give this number.

    Returns
    -------
    list of dict
        Release and layer from the path, layout, width, L0, noise divided by the least possible, participation ratio of
        the directions, partners, rank, capacity, twins (a cosine above .9), dead latents; or why a file was refused.

    Notes
    -----
    Source: ours. Use `diagnose` instead for one file and its whole report.

    Examples
    --------
    >>> survey_files("nowhere")
    Traceback (most recent call last):
    ValueError: folders = nowhere is not there; allowed: folders, files of weights
    """
    rows = []
    for done, path in enumerate(folders, 1):
        rows.append(_row(path, l0, seed))
        if progress is not None:
            progress(done, len(folders))
    return rows


def _row(path, l0, seed):
    release, layer = _place(path)
    row: Row = {**dict.fromkeys(COLUMNS, ""), "release": release, "layer": layer}
    try:
        got = autoencoder.diagnose(path, l0=None if _has_k(path) else l0, samples=SAMPLES, seed=seed)
    except ValueError as error:
        return row | {"refused": strangers.cut(str(error))}
    D = got.weights.W_in
    return row | {
        "layout": got.weights.layout, "width": got.ns, "inputs": got.nd, "L0": _short((got.p or 0) * got.ns),
        "noise over least": _short(got.sigma / got.sigma_bound) if got.sigma_bound else "",
        "effective dimensions": "" if D is None else _short(effective(D)), "partners": _short(got.partners),
        "rank": got.rank, "capacity": _short(got.capacity), "twins": "" if D is None else twins(D),
        "dead": int((got.kind == "dead").sum()),
    }  # fmt: skip


def _has_k(path):
    """Whether the file itself gives the number of latents that are on."""
    return autoencoder.read(path).l0 is not None


def _short(value):
    return float(f"{value:.4g}")


def _place(path):
    """Release and layer, from the names of the folders."""
    parts = [part for part in path.parts[:-1] if part not in ("/", "checkpoints")] or [path.stem]
    numbers = [one[1] for part in reversed(parts) if (one := LAYER.search(part))]
    return checks.printable("/".join(parts[-2:])).lstrip("=+-@"), numbers[0] if numbers else ""


def effective(D: NDArray[np.floating]) -> float:
    """Participation ratio of the directions (inputs, latents), each of length one: (tr C)² / tr C²."""
    unit = D / np.maximum(np.linalg.norm(D, axis=0), 1e-300)
    C = unit @ unit.T
    return float(np.trace(C) ** 2 / np.sum(C**2))


def twins(D: NDArray[np.floating]) -> int:
    """Number of directions (inputs, latents) that have a cosine above .9 with another one."""
    unit = D / np.maximum(np.linalg.norm(D, axis=0), 1e-300)
    count = 0
    for start in range(0, unit.shape[1], BLOCK):
        cosines = unit[:, start : start + BLOCK].T @ unit
        cosines[np.arange(len(cosines)), start + np.arange(len(cosines))] = 0
        count += int((cosines.max(axis=1) > TWIN).sum())
    return count


def write(rows: Sequence[Row], path: str | os.PathLike) -> None:
    """The table as CSV."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


def draw(rows: Sequence[Row]) -> Figure:
    """All releases on three maps: noise, effective dimensions, capacity."""
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    for ax, (x, y) in zip(axes, AXES, strict=True):
        shown = [row for row in rows if row[x] != "" and row[y] != ""]
        for i, row in enumerate(shown):
            name = f"{row['release']}".replace("$", r"\$")
            ax.plot([row[x]], [row[y]], "o", color=f"C{i % 10}", label=name if ax is axes[0] else None)
        ax.set(xlabel=x, ylabel=y, xscale="log")
    if rows:
        fig.legend(fontsize=6, loc="outside lower center", ncols=3, frameon=False)
    return fig
