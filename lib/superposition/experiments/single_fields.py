"""Receptive fields of single neurons: where and above which gain they localize, and their shape on a torus.

Source: the notes on localization, sections 1 to 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from superposition import checks
from superposition.experiments.shared import GAIN, Batch, Gain, Initials, Length0, Length1, Pixels, Rate, Seed, Steps
from superposition.experiments.trained_fields import DESCRIBED, Law, batches, describe
from superposition.inputs import Count, Real
from superposition.runs.point import Columns, Meaning, Run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from superposition.devices import torch


Samples = Annotated[Count, Field(ge=100), Meaning("vectors", "vectors of the Monte Carlo")]
Scale = Annotated[Real, Field(gt=0), Meaning("above 0", "scale of the initial weights, in units of Xavier's")]
Fraction = Annotated[Real, Field(gt=0), Meaning("critical gain", "gain in units of the predicted critical gain")]
Side = Annotated[Count, Field(ge=3, le=100), Meaning("pixels", "pixels along each direction of the torus")]
SideLength1 = Annotated[Real, Field(gt=0), Meaning("pixels", "correlation length of the data with label 1")]
SideLength0 = Annotated[Real, Field(gt=0), Meaning("pixels", "correlation length of the data with label 0")]


def location(
    *, n: Pixels, xi1: Length1, xi2: Length0, gain: Gain, scale: Scale, initials: Initials, steps: Steps, lr: Rate,
    batch: Batch, seed: Seed, device: str = "auto",
) -> dict[str, float]:  # fmt: skip
    """Train single neurons and compare their peaks with the prediction from the initial weights."""
    from superposition import receptive

    W = receptive.initial_weights(initials, 1, n, scale=scale, seed=seed)
    first, second = (
        receptive.train_fields(
            W, batches("nlgp", n, xi1, xi2, gain, batch, seed=s, device=device), steps=steps, lr=lr
        ).W[:, 0]
        for s in (2 * seed, 2 * seed + 1)
    )
    w0 = W[:, 0]
    C1, C0 = (receptive.nlgp_covariance(n, xi, gain) for xi in (xi1, xi2))
    after_flow = np.concatenate([receptive.single_neuron_flow(w, C0, C1, [1.0]) for w in w0])
    predictors = {"raw": w0, "smooth": w0 @ C1, "twice": w0 @ C1 @ C1, "flow": after_flow, "again": second}
    at = receptive.peak(first)
    top = first[np.arange(len(first)), at]
    return {
        **{
            f"{name}_{how}": float(receptive.same_place(forecast, first, within).mean())
            for name, forecast in predictors.items()
            for how, within in (("exact", 0), ("near", 1))
        },
        "n_ipr": float(np.median(n * receptive.ipr(first))),
        "positive": float((top > 0).mean()),
        "same_sign": float((top * (w0 @ C1)[np.arange(len(first)), at] > 0).mean()),
    }


def onset(
    *, n: Pixels, xi1: Length1, xi2: Length0, fraction: Fraction, law: Law, initials: Initials, steps: Steps, lr: Rate,
    batch: Batch, seed: Seed, device: str = "auto",
) -> dict[str, float | str]:  # fmt: skip
    """Train single neurons at a multiple of the predicted critical gain."""
    from superposition import receptive

    gain = checks.number("fraction", fraction, 0, 1e6, open_low=True) * receptive.critical_gain(n, xi1, xi2)
    W = receptive.initial_weights(initials, 1, n, seed=seed)
    data = batches(law, n, xi1, xi2, gain, batch, seed=seed, device=device)
    found = receptive.train_fields(W, data, steps=steps, lr=lr).W
    return {"gain": gain, "wave": float(np.median(1 - receptive.power_spectrum(found)[..., 0])), **describe(found)}


def critical_point(*, n: Pixels, xi1: Length1, xi2: Length0, samples: Samples, seed: Seed) -> dict[str, float]:
    """Critical gain by formula and by Monte Carlo."""
    from superposition import receptive

    measured, se = receptive.measured_critical_gain(n, xi1, xi2, samples=samples, seed=seed)
    return {"measured": measured, "se": se}


def predicted_gain(columns: Columns) -> Columns:
    """The critical gain by formula."""
    from superposition import receptive

    rows = zip(*(columns[name].tolist() for name in ("n", "xi1", "xi2")), strict=True)
    return {"predicted": np.array([receptive.critical_gain(*row) for row in rows])}


def torus_field(
    *, side: Side, xi1: SideLength1, xi2: SideLength0, gain: Gain, initials: Initials, steps: Steps, lr: Rate,
    batch: Batch, seed: Seed, device: str = "auto",
) -> dict[str, float | str]:  # fmt: skip
    """Train single neurons on a torus of pixels, beside the first-order prediction."""
    from superposition import receptive

    n = side**2
    W = receptive.initial_weights(initials, 1, n, seed=seed)
    data = torus_batches(side, xi1, xi2, gain, batch, seed=seed, device=device)
    found = receptive.train_fields(W, data, steps=steps, lr=lr).W[:, 0]
    row = receptive.kernel_row(side, 2 * xi1)
    starts = [np.outer(row, row), np.outer(row, np.ones(side)), np.ones((side, side)) + np.outer(row, row) / 5]
    starts = np.reshape(starts, (3, n)) + 1e-3 * np.random.default_rng(seed).standard_normal((3, n))
    first = receptive.best_field(starts, receptive.torus_task(side, xi1, xi2, gain))
    narrow, wide = extents(found, side)
    return {
        "ipr": float(np.median(n * receptive.ipr(found))),
        "narrow": float(np.median(narrow)),
        "wide": float(np.median(wide)),
        **dict(zip(("first_narrow", "first_wide"), (float(e[0]) for e in extents(first[None], side)), strict=True)),
        "field": " ".join(f"{value:.3g}" for value in found[0]),
    }


def torus_batches(
    side: int, xi1: float, xi2: float, gain: float, batch: int, *, seed: int, device: str = "auto"
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Endless batches of NLGP data on a torus: z is A Z A with A the square root of a ring's correlations."""
    from superposition import receptive
    from superposition.devices import resolve_device, torch

    on, scale, gain = resolve_device(device), float(receptive.normalization(gain)), float(gain)
    roots = [
        torch.tensor(receptive.square_root(receptive.gaussian_covariance(side, xi)), dtype=torch.float32, device=on)
        for xi in (xi1, xi2)
    ]
    generator = torch.Generator().manual_seed(seed)
    while True:
        drawn = (torch.randn(batch // 2, side, side, generator=generator).to(on) for _ in roots)
        one, zero = (
            torch.erf(gain * (A @ Z @ A)).reshape(-1, side**2) / scale for A, Z in zip(roots, drawn, strict=True)
        )
        yield one, zero


def extents(w: ArrayLike, side: int) -> tuple[np.ndarray, np.ndarray]:
    """Pixels that take part along either direction of a torus."""
    energy = np.reshape(w, (-1, side, side)) ** 2
    shares = (energy.sum(axis=axis) / energy.sum(axis=(1, 2))[:, None] for axis in (1, 2))
    both = np.sort([1 / np.sum(share**2, axis=1) for share in shares], axis=0)
    return both[0], both[1]


_LOCATION = {
    "raw_exact": Meaning("0 to 1", "share of neurons that end with their peak at that of |w0|, the initial weights"),
    "raw_near": Meaning("0 to 1", "the same to within one pixel"),
    "smooth_exact": Meaning("0 to 1", "share that peak where |C1 w0| does, C1 the covariance of label 1"),
    "smooth_near": Meaning("0 to 1", "the same to within one pixel"),
    "twice_exact": Meaning("0 to 1", "share that peak where |C1 C1 w0| does"),
    "twice_near": Meaning("0 to 1", "the same to within one pixel"),
    "flow_exact": Meaning("0 to 1", "share that peak where the Gaussian flow from w0 does after a time of 1"),
    "flow_near": Meaning("0 to 1", "the same to within one pixel"),
    "again_exact": Meaning(
        "0 to 1", "share that peak where a second training from the same weights on other data does"
    ),
    "again_near": Meaning("0 to 1", "the same to within one pixel"),
    "n_ipr": Meaning("n IPR", "median over neurons"),
    "positive": Meaning("0 to 1", "share of neurons whose weight at the peak is positive"),
    "same_sign": Meaning("0 to 1", "share of neurons whose weight at the peak has the sign of C1 w0 there"),
}
_ONSET_COLUMNS = {
    "gain": Meaning(GAIN.unit, GAIN.meaning + " that fraction stands for"),
    "wave": Meaning("0 to 1", "share of a field's energy that is not in the flat mode, median over neurons"),
    **DESCRIBED,
}
_CRITICAL = {
    "predicted": Meaning("gain", "critical gain by the formula of first order"),
    "measured": Meaning("gain", "critical gain by conditional Monte Carlo: where the growth rate changes its sign"),
    "se": Meaning("gain", "standard error of measured"),
}
_RING = {"n": (40,), "xi1": (2,), "xi2": (1,)}
_SEEDS = (0, 1, 2)
_LAWS = ("nlgp", "clone")
_WHERE = {"initials": (100,), "steps": (800,), "lr": (0.25,), "batch": (4000,)}
_ONSET = {"initials": (4,), "steps": (2500,), "lr": (0.3,), "batch": (8000,), "seed": (0,)}
_BRIEF = {"initials": (2,), "steps": (60,), "batch": (200,), "seed": (0,)}
_TORUS_COLUMNS = {
    "ipr": Meaning("n IPR", "with n = side^2, median over neurons"),
    "narrow": Meaning(
        "pixels",
        "1 over the sum of squared shares of energy along the direction with fewer pixels, median over neurons",
    ),
    "wide": Meaning("pixels", "the same along the other direction"),
    "first_narrow": Meaning("pixels", "as narrow, of the best field to first order"),
    "first_wide": Meaning("pixels", "as wide, of the best field to first order"),
    "field": Meaning("side^2 numbers in a text", "one trained field, row by row"),
}
_TORUS = {"side": (16,), "xi1": (2,), "xi2": (1,), "initials": (4,), "steps": (2400,), "lr": (0.3,), "batch": (2000,)}
_FEW = {"steps": (60,), "batch": (50,)}

RUNS = (
    Run(
        name="field-where",
        feeds="where a single neuron localizes, and what the initial weights foretell of it",
        computes=location,
        columns=_LOCATION,
        small=({**_RING, **_WHERE, **_BRIEF, "gain": (3,), "scale": (1,)},),
        full=({**_RING, **_WHERE, "gain": (3,), "scale": (1, 0.001), "seed": _SEEDS},),
        hours={"small": 0.001, "full": 0.05},
    ),
    Run(
        name="field-onset",
        feeds="single neurons trained below and above the critical gain, beside Gaussian clones",
        computes=onset,
        columns=_ONSET_COLUMNS,
        small=({**_RING, **_ONSET, **_BRIEF, "fraction": (0.5, 2), "law": _LAWS},),
        full=({**_RING, **_ONSET, "fraction": (0.5, 1.2, 1.8), "law": _LAWS, "seed": _SEEDS},),
        hours={"small": 0.001, "full": 0.04},
    ),
    Run(
        name="field-onset-near",
        feeds="single neurons trained close to the critical gain",
        computes=onset,
        columns=_ONSET_COLUMNS,
        small=({**_RING, **_ONSET, **_BRIEF, "fraction": (1,), "law": ("nlgp",)},),
        full=(
            {**_RING, **_ONSET, "fraction": (0.8, 0.9, 1, 1.1), "law": ("nlgp",), "batch": (4000,), "seed": (0, 1)},
        ),
        hours={"small": 0.001, "full": 0.04},
    ),
    Run(
        name="field-critical",
        feeds="the critical gain of a single neuron by formula and by Monte Carlo",
        computes=critical_point,
        columns=_CRITICAL,
        predicted=(predicted_gain,),
        small=({**_RING, "samples": (2000,), "seed": (0,)},),
        full=(
            {"n": (20, 40, 80), "xi1": (2,), "xi2": (1,), "samples": (40_000,), "seed": (0,)},
        ),
        hours={"small": 0.001, "full": 0.03},
    ),
    Run(
        name="field-torus",
        feeds="does a field localize in both directions of a torus, and at which gain",
        computes=torus_field,
        columns=_TORUS_COLUMNS,
        small=({**_TORUS, **_FEW, "side": (8,), "xi1": (1.2,), "xi2": (0.6,), "gain": (1,), "seed": (0,)},),
        full=({**_TORUS, "gain": (0.3, 0.5, 0.7, 1, 3), "seed": (0,)},),
        hours={"small": 0.001, "full": 0.05},
    ),
)  # fmt: skip
