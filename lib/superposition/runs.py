"""The named runs behind the figures: what is computed, on which grid, and what it costs.

A run names a function, which knows nothing of it, and two grids of points. A point is a frozen
and closed configuration; its key is a hash of the configuration together with the digest of the
library code that the function depends on, so a result is never taken for another one, nor for
that of an older library. `superposition.sweeps` computes the points, `superposition.results`
keeps them, `superposition.tables` makes the tables in ``book/data``.
"""

import difflib
import hashlib
import itertools
import json
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from superposition import checks, digest, results
from superposition.parameters import Count, Real

GRIDS = ("small", "full")


class Point(BaseModel):
    """A configuration: no unknown names, no changes afterwards, numbers within their ranges."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def __str__(self):
        """Name the fields and their values, as in "ns=128, p=0.05"."""
        return ", ".join(f"{name}={value}" for name, value in self)


class TrainedPoint(Point):
    """One autoencoder to train: what `superposition.experiments.trained_autoencoder` takes."""

    ns: Annotated[Count, Field(ge=3, le=16384)]
    p: Annotated[Real, Field(gt=0, le=1)]
    r: Annotated[Real, Field(gt=0, lt=1)]
    steps: Annotated[Count, Field(ge=1)]
    full_rate_from: Annotated[Real, Field(gt=0, le=1)]
    seed: Annotated[Count, Field(ge=0)]


class StoppedPoint(Point):
    """One autoencoder that the text's rule stops: what `superposition.stopping.stopped_autoencoder` takes."""

    ns: Annotated[Count, Field(ge=3, le=16384)]
    p: Annotated[Real, Field(gt=0, le=1)]
    r: Annotated[Real, Field(gt=0, lt=1)]
    steps: Annotated[Count, Field(ge=1)]
    seed: Annotated[Count, Field(ge=0)]


class MatrixPoint(Point):
    """One matrix to find: what `superposition.decree` and `superposition.descent` take."""

    ns: Annotated[Count, Field(ge=4, le=16384)]
    p: Annotated[Real, Field(gt=0, le=1)]
    r: Annotated[Real, Field(gt=0, lt=1)]
    steps: Annotated[Count, Field(ge=1)]
    seed: Annotated[Count, Field(ge=0)]


@dataclass(frozen=True)
class Run:
    """A named run.

    ``feeds`` says which figure or claim it is for; ``function``, as "module:name", takes the
    fields of a ``point`` (a subclass of `Point`) and ``device`` as keywords and returns a dict of
    numbers and texts. ``small`` and ``full`` are grids: tuples of blocks, each a dict from field to
    values, of which the product is taken. ``hours`` has the expected hours of both.
    """

    name: str
    feeds: str
    function: str
    point: type
    small: tuple
    full: tuple
    hours: dict
    hardware: str


@dataclass(frozen=True)
class Status:
    """The points of a grid, sorted by what is on disk; ``damaged`` maps points to what is wrong.

    ``others`` counts files of other grids or of other library code in the same folder.
    """

    done: tuple
    missing: tuple
    damaged: dict
    others: int


def find(name):
    """Look up a run.

    Parameters
    ----------
    name : str
        One of `RUNS`.

    Returns
    -------
    Run

    Raises
    ------
    ValueError
        If there is no such run; the message has the nearest name.
    """
    if name not in RUNS:
        nearest = difflib.get_close_matches(name, RUNS, n=1, cutoff=0)[0]
        raise ValueError(f"run = {name!r} is unknown; nearest: {nearest}; all: {', '.join(RUNS)}")
    return RUNS[name]


def points(run, grid):
    """All points of a grid, each once.

    Parameters
    ----------
    run : Run
        The run.
    grid : {"small", "full"}
        Which of its grids.

    Returns
    -------
    tuple of Point
        In the order of the blocks.

    Raises
    ------
    ValueError
        If the grid is empty or unknown, or holds a value that its point does not allow.
    """
    checks.one_of("grid", grid, GRIDS)
    products = (itertools.product(*block.values()) for block in getattr(run, grid))
    found = dict.fromkeys(
        run.point(**dict(zip(block, values, strict=True)))
        for block, product in zip(getattr(run, grid), products, strict=True)
        for values in product
    )
    if not found:
        raise ValueError(f"grid = {grid!r} of run {run.name} is empty; allowed: at least one point")
    return tuple(found)


def key(run, point):
    """What the result of a point is called: a hash of function, configuration and library code.

    Parameters
    ----------
    run : Run
        The run.
    point : Point
        One of its points.

    Returns
    -------
    str
        Thirty-two hexadecimal digits.
    """
    text = json.dumps([run.function, point.model_dump(mode="json"), digest.of(run.function)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def status(run, grid, folder):
    """Look which points of a grid are finished.

    Parameters
    ----------
    run : Run
        The run.
    grid : {"small", "full"}
        Which of its grids.
    folder : str or os.PathLike
        The run's results folder; it may be missing.

    Returns
    -------
    Status

    Raises
    ------
    ValueError
        If the grid is empty or unknown.
    superposition.results.ResultError
        If the folder was written by another version, or holds something else.
    """
    wanted = {point: key(run, point) for point in points(run, grid)}
    present = results.keys(folder)
    done, missing, damaged = [], [], {}
    for point, name in wanted.items():
        try:
            found = results.read(folder, name) if name in present else None
            (missing if found is None else done).append(point)
        except results.ResultError as error:
            damaged[point] = str(error)
    return Status(tuple(done), tuple(missing), damaged, len(present - set(wanted.values())))


_P = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5)
_R = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)
_TRAINED = "superposition.experiments:trained_autoencoder"
_USUAL = {"steps": (2000,), "full_rate_from": (0.05,)}
_GENTLE = {**_USUAL, "full_rate_from": (1.0,)}  # where the full rate drives every output to zero
_TINY = ({"ns": (64,), "p": (0.05, 0.3), "r": (0.2, 0.5), "steps": (300,), "full_rate_from": (0.05,), "seed": (0,)},)
_TINY_HOURS = 0.005
_FIVE = {"seed": (0, 1, 2, 3, 4)}
_UNLESS_STOPPED = {"steps": (100_000,)}

RUNS = {
    run.name: run
    for run in (
        Run(
            name="rug-grid",
            feeds="The Persian Rug, Figures 2 to 7 at ns = 128, 256 and 512",
            function=_TRAINED,
            point=TrainedPoint,
            small=_TINY,
            full=(
                {"ns": (128,), "p": _P, "r": _R, **_USUAL, "seed": (0, 1)},
                {"ns": (256,), "p": _P[:-2], "r": _R, **_USUAL, "seed": (0, 1)},
                {"ns": (256,), "p": (0.3,), "r": _R[:-2], **_USUAL, "seed": (0, 1)},
                {"ns": (256,), "p": (0.5,), "r": _R[:-3], **_USUAL, "seed": (0, 1)},
                {"ns": (256,), "p": (0.3,), "r": _R[-2:], **_GENTLE, "seed": (0, 1)},
                {"ns": (256,), "p": (0.5,), "r": _R[-3:], **_GENTLE, "seed": (0, 1)},
                {"ns": (128, 256), "p": (0.05, 0.3), "r": (0.2, 0.5), **_USUAL, "seed": (2, 3, 4)},
                {"ns": (512,), "p": (0.01, 0.02, 0.05, 0.2), "r": (0.1, 0.2, 0.3, 0.5, 0.9), **_USUAL, "steps": (3000,),
                 "seed": (0,)},
                {"ns": (512,), "p": (0.5,), "r": (0.1, 0.2, 0.3), **_USUAL, "steps": (3000,), "seed": (0,)},
                {"ns": (512,), "p": (0.5,), "r": (0.5, 0.9), **_GENTLE, "steps": (3000,), "seed": (0,)},
            ),
            hours={"small": _TINY_HOURS, "full": 0.65},
            hardware="two CPU cores",
        ),
        Run(
            name="rug-budget",
            feeds="what half or twice the training steps change in run rug-grid, at ns = 256",
            function=_TRAINED,
            point=TrainedPoint,
            small=_TINY,
            full=(
                {"ns": (256,), "p": (0.05, 0.3), "r": (0.2, 0.5), **_USUAL, "steps": (1000, 2000, 4000), "seed": (0,)},
            ),
            hours={"small": _TINY_HOURS, "full": 0.05},
            hardware="two CPU cores",
        ),
        Run(
            name="rug-rate",
            feeds="what the learning rate changes for rare features, at ns = 128",
            function=_TRAINED,
            point=TrainedPoint,
            small=_TINY,
            full=(
                {"ns": (128,), "p": (0.01,), "r": (0.2, 0.5, 0.9), **_USUAL, "full_rate_from": (0.01, 0.05, 0.2),
                 "seed": (0,)},
            ),
            hours={"small": _TINY_HOURS, "full": 0.02},
            hardware="two CPU cores",
        ),
        Run(
            name="rug-grid-large",
            feeds="The Persian Rug, Figures 4 to 7 at ns = 2048 and 8192",
            function=_TRAINED,
            point=TrainedPoint,
            small=_TINY,
            full=(
                {"ns": (2048,), "p": _P, "r": _R, **_USUAL, "steps": (8000,), "seed": (0,)},
                {"ns": (8192,), "p": _P, "r": (0.2,), **_USUAL, "steps": (8000,), "seed": (0,)},
                {"ns": (8192,), "p": (0.05,), "r": _R, **_USUAL, "steps": (8000,), "seed": (0,)},
            ),
            hours={"small": _TINY_HOURS, "full": 3.0},
            hardware="one GPU of the data-centre kind with 40 GiB or more (an estimate: not run yet)",
        ),
        Run(
            name="rug-stopped",
            feeds="The Persian Rug, Figures 2 and 3: the text's learning rate and stopping rule",
            function="superposition.stopping:stopped_autoencoder",
            point=StoppedPoint,
            small=({"ns": (64,), "p": (0.05,), "r": (0.2, 0.5), "steps": (3000,), "seed": (0,)},),
            full=(
                {"ns": (128,), "p": (0.05,), "r": (0.1, 0.2, 0.5), **_UNLESS_STOPPED, **_FIVE},
                {"ns": (128,), "p": (0.05,), "r": (0.3,), **_UNLESS_STOPPED, "seed": (0, 1, 3)},
                {"ns": (256,), "p": (0.05,), "r": (0.2,), **_UNLESS_STOPPED, **_FIVE},
                {"ns": (256,), "p": (0.05,), "r": (0.1,), **_UNLESS_STOPPED, "seed": (2,)},
                {"ns": (512,), "p": (0.045,), "r": (0.25390625,), **_UNLESS_STOPPED, **_FIVE},
                {"ns": (512,), "p": (0.05,), "r": (0.2,), **_UNLESS_STOPPED, "seed": (0, 1)},
                {"ns": (1024,), "p": (0.05,), "r": (0.2,), **_UNLESS_STOPPED, "seed": (0,)},
            ),
            hours={"small": _TINY_HOURS, "full": 0.2},
            hardware="one CPU core",
        ),
        Run(
            name="rug-gaussian",
            feeds="a control of The Persian Rug, section 4.1: the recipe with Gaussian interference by decree",
            function="superposition.decree:gaussian_autoencoder",
            point=MatrixPoint,
            small=({"ns": (64,), "p": (0.05,), "r": (0.2, 0.5), "steps": (300,), "seed": (0,)},),
            full=({"ns": (128,), "p": (0.05,), "r": (0.1, 0.2, 0.5), "steps": (2000,), **_FIVE},),
            hours={"small": _TINY_HOURS, "full": 0.06},
            hardware="one CPU core",
        ),
        Run(
            name="rug-descent",
            feeds="which rug descent on Walsh eigenvalues chooses",
            function="superposition.descent:descended_rug",
            point=MatrixPoint,
            small=({"ns": (64,), "p": (0.05,), "r": (0.2, 0.5), "steps": (300,), "seed": (0,)},),
            full=(
                {"ns": (256,), "p": (0.05,), "r": (0.2, 0.3, 0.5), "steps": (1000,), **_FIVE},
                {"ns": (256,), "p": (0.05,), "r": (0.1, 0.4), "steps": (1000,), "seed": (0, 1)},
            ),
            hours={"small": _TINY_HOURS, "full": 0.06},
            hardware="one CPU core",
        ),
    )
}  # fmt: skip
