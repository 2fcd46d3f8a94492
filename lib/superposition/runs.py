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


class _Field(Point):
    """What the runs of chapter 6 share: ring, correlation lengths and seed."""

    n: Annotated[Count, Field(ge=3, le=1000)]
    xi1: Annotated[Real, Field(gt=0)]
    xi2: Annotated[Real, Field(gt=0)]
    seed: Annotated[Count, Field(ge=0)]


class _TrainedField(_Field):
    """Networks to train, several initial weights side by side."""

    initials: Annotated[Count, Field(ge=1)]
    steps: Annotated[Count, Field(ge=1)]
    lr: Annotated[Real, Field(gt=0)]
    batch: Annotated[Count, Field(ge=2)]


class LocalizationPoint(_TrainedField):
    """What `superposition.fieldruns.localization` takes."""

    gain: Annotated[Real, Field(ge=1e-6, le=1e6)]
    law: str
    K: Annotated[Count, Field(ge=1)]


class LocationPoint(_TrainedField):
    """What `superposition.fieldruns.location` takes."""

    gain: Annotated[Real, Field(ge=1e-6, le=1e6)]
    scale: Annotated[Real, Field(gt=0)]


class OnsetPoint(_TrainedField):
    """What `superposition.fieldruns.onset` takes."""

    fraction: Annotated[Real, Field(gt=0)]
    law: str


class CriticalPoint(_Field):
    """What `superposition.fieldruns.critical_point` takes."""

    samples: Annotated[Count, Field(ge=100)]


class BiasPoint(_TrainedField):
    """What `superposition.fieldruns.bias_sign` takes."""

    gain: Annotated[Real, Field(ge=1e-6, le=1e6)]
    activation: str
    bias: Annotated[Real, Field()]
    K: Annotated[Count, Field(ge=1)]


class FlipsPoint(_TrainedField):
    """What `superposition.fieldruns.sign_flips` takes."""

    gain: Annotated[Real, Field(ge=1e-6, le=1e6)]
    K: Annotated[Count, Field(ge=1)]
    keep_every: Annotated[Count, Field(ge=1)]


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

_RING = {"n": (40,), "xi1": (2,), "xi2": (1,)}
_GAINS = (0.01, 0.3, 1, 3)
_K1 = {"K": (1,), "initials": (16,), "steps": (1000,), "lr": (0.5,), "batch": (4000,)}
_K12 = {"K": (12,), "initials": (4,), "steps": (1500,), "lr": (6,), "batch": (2000,)}
_LAWS = ("nlgp", "clone")
_WHERE = {"initials": (100,), "steps": (800,), "lr": (0.25,), "batch": (10000,), "seed": (0,)}
_ONSET = {"initials": (4,), "steps": (2500,), "lr": (0.3,), "batch": (8000,), "seed": (0,)}
_BIAS = {"gain": (3,), "K": (8,), "initials": (4,), "steps": (6000,), "lr": (1,), "batch": (2000,), "seed": (0,)}
_CAPTION = {"K": (12,), "initials": (1,), "steps": (5000,), "lr": (0.01,), "batch": (10000,), "keep_every": (20,)}
_TRAINS = {**_CAPTION, "steps": (4000,), "lr": (2,), "batch": (4000,)}
_BRIEF = {"initials": (2,), "steps": (60,), "batch": (200,), "seed": (0,)}
_FIELDS = "superposition.fieldruns:"

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
            name="field-gain",
            feeds="localization of ReLU networks with 1 and 12 neurons against the gain, beside Gaussian clones",
            function=_FIELDS + "localization",
            point=LocalizationPoint,
            small=({**_RING, **_K1, **_BRIEF, "gain": (0.01, 3), "law": _LAWS},),
            full=(
                {**_RING, **_K1, "gain": _GAINS, "law": ("nlgp",), "seed": (0,)},
                {**_RING, **_K12, "gain": (0.01, 0.3, 3), "law": ("nlgp",), "seed": (0,)},
                {**_RING, **_K1, "gain": (3,), "law": ("clone",), "seed": (0,)},
                {**_RING, **_K12, "gain": (3,), "law": ("clone",), "seed": (0,)},
            ),
            hours={"small": 0.001, "full": 0.05},
            hardware="one CPU core",
        ),
        Run(
            name="field-where",
            feeds="where a single neuron localizes, and what the initial weights foretell of it",
            function=_FIELDS + "location",
            point=LocationPoint,
            small=({**_RING, **_WHERE, **_BRIEF, "gain": (3,), "scale": (1,)},),
            full=(
                {**_RING, **_WHERE, "gain": (1, 3), "scale": (1,)},
                {**_RING, **_WHERE, "gain": (3,), "scale": (0.001,)},
            ),
            hours={"small": 0.001, "full": 0.05},
            hardware="one CPU core",
        ),
        Run(
            name="field-onset",
            feeds="single neurons trained below and above the critical gain, beside Gaussian clones",
            function=_FIELDS + "onset",
            point=OnsetPoint,
            small=({**_RING, **_ONSET, **_BRIEF, "fraction": (0.5, 2), "law": _LAWS},),
            full=({**_RING, **_ONSET, "fraction": (0.5, 1.2, 1.8), "law": _LAWS},),
            hours={"small": 0.001, "full": 0.04},
            hardware="one CPU core",
        ),
        Run(
            name="field-critical",
            feeds="the critical gain of a single neuron by formula and by Monte Carlo",
            function=_FIELDS + "critical_point",
            point=CriticalPoint,
            small=({**_RING, "samples": (2000,), "seed": (0,)},),
            full=(
                {"n": (20, 40, 80), "xi1": (2,), "xi2": (1,), "samples": (40_000,), "seed": (0,)},
            ),
            hours={"small": 0.001, "full": 0.03},
            hardware="one CPU core",
        ),
        Run(
            name="field-bias",
            feeds="the sign of the hidden bias decides what erf and sigmoid networks localize on",
            function=_FIELDS + "bias_sign",
            point=BiasPoint,
            small=({**_RING, **_BIAS, **_BRIEF, "activation": ("erf",), "bias": (-1, 1)},),
            full=(
                {**_RING, **_BIAS, "activation": ("erf", "sigmoid"), "bias": (-1, 1)},
                {**_RING, **_BIAS, "xi1": (1,), "xi2": (2,), "activation": ("erf",), "bias": (-1, 1)},
            ),
            hours={"small": 0.001, "full": 0.03},
            hardware="one CPU core",
        ),
        Run(
            name="field-flips",
            feeds="the notes on localization, Figure 3, at its caption's settings and at settings that train",
            function=_FIELDS + "sign_flips",
            point=FlipsPoint,
            small=({**_RING, **_CAPTION, **_BRIEF, "gain": (3,)},),
            full=(
                {**_RING, **_CAPTION, "gain": (0.01,), "seed": (0,)},
                {**_RING, **_TRAINS, "gain": (0.01, 3), "seed": (0,)},
            ),
            hours={"small": 0.001, "full": 0.05},
            hardware="one CPU core",
        ),
    )
}  # fmt: skip
