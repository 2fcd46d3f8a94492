"""The same networks twice: trained under noise, and descended on the expected loss, without noise.

Source: Incidental Polysemanticity, section 4 and Figure 5; the comparison is ours.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from superposition import checks
from superposition.experiments import noisy_networks
from superposition.experiments.noisy_networks import Eta, Instances, LawName, NoisyFeatures, Sigma
from superposition.experiments.shared import Seed
from superposition.inputs import Count, Real
from superposition.runs.point import Meaning, Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from superposition.incidental import Law

RECORDS = 200  # looks at the weights, evenly spaced over the time
SETTLING, CAREFUL = 10.0, 4  # until this eta t lengths settle, and descent takes steps so many times smaller
RATIOS = (0.5, 0.7, 0.9, 1.1, 1.3)  # learning rates in units of the border


FewNeurons = Annotated[Count, Field(ge=1, le=32), Meaning("neurons", "number of neurons")]
BorderEta = Annotated[Real, Field(gt=0, lt=0.25), Meaning("above 0", "step of the descent on the expected loss")]
BorderLevel = Annotated[
    Real, Field(gt=0, lt=1), Meaning("1/m to 1", "mean f / S^2 to which the networks descend first")
]
DescentLevel = Annotated[Real, Field(gt=0, lt=1), Meaning("0 to 1", "mean fourth norm f to be reached")]
Draws = Annotated[Count, Field(ge=2), Meaning("noises", "noises of each network for the scatter of its steps")]
DescentEta = Annotated[Real, Field(gt=0, lt=0.25), Meaning("above 0", "step of the descent on the expected loss")]
Least = Annotated[Real, Field(gt=0), Meaning("eta t", "time of the training at the least of the learning rates")]
Until = Annotated[Real, Field(gt=10), Meaning("eta t", "time at which both end")]


def descended_and_trained(
    *, law_name: LawName, sigma: Sigma, n: NoisyFeatures, m: FewNeurons, eta: Eta, descent_eta: DescentEta,
    until: Until, level: DescentLevel, instances: Instances, seed: Seed, device: str = "auto",
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, float]:  # fmt: skip
    """Time to a mean fourth norm, by descent on the expected loss and by training from the same weights."""
    from superposition import incidental

    start = incidental.initial_instances(n, m, checks.whole("instances", instances, 2), seed=seed)
    noise = noisy_networks.law(law_name, sigma)
    until = checks.number("until", until, SETTLING + RECORDS * max(eta, descent_eta), open_high=True)
    times = np.linspace(SETTLING, until, RECORDS)
    quiet = []
    for done, W in enumerate(start, 1):
        quiet.append(_descent(W, noise, descent_eta, times))
        if progress is not None:
            progress(done, len(start))
    record = [0, *(round(t / eta) for t in times)]
    settings = dict(eta=eta, steps=record[-1], record=record, seed=seed + 1, device=device)
    noisy = incidental.train_with_noise(start, noise, **settings).f.mean(axis=2)
    return compared(np.array([0, *times]), np.transpose(quiet), noisy, level)


def step_border(
    *, law_name: LawName, sigma: Sigma, n: NoisyFeatures, m: FewNeurons, eta: BorderEta, level: BorderLevel,
    draws: Draws, instances: Instances, seed: Seed,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, float]:  # fmt: skip
    """The learning rate at which the noise of the steps cancels the slope of the expected loss."""
    from superposition import incidental

    start = incidental.initial_instances(n, m, checks.whole("instances", instances, 2), seed=seed)
    noise, parts = noisy_networks.law(law_name, sigma), []
    for done, W in enumerate(start, 1):
        parts.append(
            incidental.slope_and_drift(
                incidental.descend_to_level(W, noise, level, eta=eta), noise, draws=draws, seed=seed + done
            )
        )
        if progress is not None:
            progress(done, len(start))
    slope, drift = np.transpose(parts)
    without = (slope.sum() - slope) / (drift.sum() - drift)  # each network once left out
    spread = np.sqrt((len(parts) - 1) * np.mean((without - without.mean()) ** 2))
    return {"slope": float(slope.mean()), "drift": float(drift.mean()), "border": float(slope.sum() / drift.sum()),
            "border_se": float(spread)}  # fmt: skip


def half_lost(
    *, law_name: LawName, sigma: Sigma, n: NoisyFeatures, m: FewNeurons, eta: BorderEta, draws: Draws, least: Least,
    instances: Instances, seed: Seed, device: str = "auto",
) -> dict[str, float]:  # fmt: skip
    """Share of the sparsity that is lost at each multiple of the border, and where half is."""
    from superposition import incidental

    random, goal = 3 / (m + 2), float(np.mean(np.sum(incidental.simplex(n, m) ** 4, axis=1)))
    point = dict(law_name=law_name, sigma=sigma, n=n, m=m, eta=eta, draws=draws, instances=instances, seed=seed)
    border = step_border(**point, level=random + (goal - random) / 8)["border"]
    rates = np.array(RATIOS) * border
    start = np.tile(incidental.initial_instances(n, m, instances, seed=seed), (len(rates), 1, 1))
    steps, each = round(least / rates[0]), np.repeat(rates, instances)
    settings = dict(eta=each, steps=steps, record=[steps], seed=seed + 1, device=device)
    end = incidental.train_with_noise(start, noisy_networks.law(law_name, sigma), **settings).direction[0].mean(axis=1)
    lost = (goal - np.nanmean(end.reshape(len(rates), -1), axis=1)) / (goal - random)
    crossed = noisy_networks.crossing(np.array(RATIOS), lost, 0.5)
    shares = {f"lost_{r:g}": float(share) for r, share in zip(RATIOS, lost, strict=True)}
    return {"border": border, "half": crossed, **shares, "diverged": int(np.sum(~np.isfinite(end)))}


def compared(times: ArrayLike, quiet: ArrayLike, noisy: ArrayLike, level: float) -> dict[str, float]:
    """Times at which two batches of curves reach a level in the mean, and their ratio."""
    times = checks.array("times", times, "records")
    quiet = checks.array("quiet", quiet, (times.size, "instances"))
    noisy = checks.array("noisy", noisy, quiet.shape)
    if quiet.shape[1] < 2:
        raise ValueError("quiet has 1 instance; allowed: at least 2")
    reached = np.array([[noisy_networks.crossing(times, c, level) for c in _means(part)] for part in (quiet, noisy)])
    names = {"descent": float(reached[0, 0]), "training": float(reached[1, 0])}
    if not reached.all():
        return names | {"log_ratio": 0.0, "log_ratio_se": 0.0}
    ratio = np.log(reached[1] / reached[0])
    parts = ratio[1:]
    spread = np.sqrt((len(parts) - 1) * np.mean((parts - parts.mean()) ** 2))
    return names | {"log_ratio": float(ratio[0]), "log_ratio_se": float(spread)}


def _means(curves):
    """The mean curve, and those that leave one instance out."""
    return [curves.mean(axis=1), *(np.delete(curves, i, axis=1).mean(axis=1) for i in range(curves.shape[1]))]


def _descent(W: np.ndarray, noise: Law, rate: float, times: np.ndarray) -> np.ndarray:
    """Mean f at the start and at the times, along descent on the expected loss."""
    from superposition import incidental

    settled = round(CAREFUL * SETTLING / rate)
    first = incidental.descend_expected_loss(W, noise, eta=rate / CAREFUL, steps=settled, record=[settled])[0]
    later = [round((t - SETTLING) / rate) for t in times[1:]]
    path = incidental.descend_expected_loss(first, noise, eta=rate, steps=later[-1], record=later)
    return np.mean(np.sum(np.concatenate([[W, first], path]) ** 4, axis=2), axis=1)


_COLUMNS = {
    "descent": Meaning(
        "eta t",
        "time at which f, mean over rows and networks, crosses level in the descent on the expected loss; 0 if never",
    ),
    "training": Meaning("eta t", "the same in the training under noise, from the same weights"),
    "log_ratio": Meaning("natural logarithm", "ln(training / descent); 0 if one never gets there"),
    "log_ratio_se": Meaning("natural logarithm", "its standard error, leaving out one network at a time of both"),
}
_both = partial(Run, computes=descended_and_trained, columns=_COLUMNS, hardware="one core of a busy two-core machine")
_DESCENT = {"law_name": ("bipolar",), "eta": (0.02,), "descent_eta": (0.15,), "level": (0.3,), "seed": (0,)}
_TINY_HOURS = 0.005

_BORDER_COLUMNS = {
    "slope": Meaning(
        "per eta t", "d(f / S^2)/d(eta t) of the descent on the expected loss at the level, mean over networks"
    ),
    "drift": Meaning(
        "per eta^2 and step", "fall of f / S^2 by the scatter of the steps along common rotations, mean over networks"
    ),
    "border": Meaning("learning rate", "slope / drift: beyond it steps of this size undo what the slope gives"),
    "border_se": Meaning("learning rate", "standard error of border, leaving out one network at a time"),
}
_HALF_COLUMNS = {
    "border": Meaning("learning rate", "border of these networks, as in noise-border"),
    "half": Meaning("borders", "learning rate at which half of the sparsity is lost; 0 if none of those tried"),
    **{f"lost_{r:g}": Meaning("no unit", f"part of f / S^2 between a simplex and random directions that is lost at "
                              f"{r:g} borders; by chance above 1") for r in RATIOS},
    "diverged": Meaning("networks", "networks that diverged, of those at all rates; left out of the shares"),
}  # fmt: skip
_BORDER = {"law_name": ("bipolar",), "n": (8,), "m": (16,), "eta": (0.1,), "level": (0.25,), "draws": (1000,)}
_HALF = {"law_name": ("bipolar",), "eta": (0.1,), "draws": (200,), "least": (1500,), "instances": (8,)}
_SIZES = ((4, 8, 0.3), (5, 12, 0.3), (6, 12, 0.29), (7, 14, 0.29))  # n, m and sigma; the last two were drawn

RUNS = (
    _both(
        name="noise-descent",
        feeds="Incidental Polysemanticity, section 4: time to f = 0.3 by descent on the expected loss, and by training",
        small=({**_DESCENT, "sigma": (0.2,), "n": (8,), "m": (16,), "until": (80.0,), "instances": (2,)},),
        full=tuple(
            {**_DESCENT, "n": (8,), "m": (16,), "sigma": (s,), "eta": (eta,), "until": (until,), "instances": (12,)}
            for s, eta, until in ((0.2, 0.005, 80.0), (0.2, 0.02, 80.0), (0.15, 0.02, 80.0), (0.1, 0.02, 250.0))
        ),
        hours={"small": _TINY_HOURS, "full": 0.04},
        hardware="one core of a busy two-core machine",
    ),
    _both(
        name="noise-descent-more",
        feeds="the same at another size of the noise",
        small=({**_DESCENT, "sigma": (0.2,), "n": (8,), "m": (16,), "until": (80.0,), "instances": (2,)},),
        full=({**_DESCENT, "n": (8,), "m": (16,), "sigma": (0.12,), "until": (150.0,), "instances": (12,)},),
        hours={"small": _TINY_HOURS, "full": 0.02},
        hardware="one core of a busy two-core machine",
    ),
    Run(
        name="noise-border",
        feeds="Incidental Polysemanticity, Figure 5: the learning rate beyond which steps keep rows dense",
        computes=step_border,
        columns=_BORDER_COLUMNS,
        small=({**_BORDER, "sigma": (0.3,), "draws": (100,), "instances": (2,), "seed": (0,)},),
        full=({**_BORDER, "sigma": (0.182, 0.242, 0.283), "instances": (16,), "seed": (7,)},),
        hours={"small": _TINY_HOURS, "full": 0.02},
        hardware="one core of a busy two-core machine",
    ),
    Run(
        name="noise-half",
        feeds="Incidental Polysemanticity, Figure 5: the learning rate at which half of the sparsity is lost, by size",
        computes=half_lost,
        columns=_HALF_COLUMNS,
        small=({**_HALF, "sigma": (0.3,), "n": (4,), "m": (6,), "least": (20,), "instances": (2,), "seed": (0,)},),
        full=tuple({**_HALF, "sigma": (s,), "n": (n,), "m": (m,), "seed": (20, 21, 22, 23, 24)} for n, m, s in _SIZES),
        hours={"small": _TINY_HOURS, "full": 0.1},
        hardware="one core of a busy two-core machine",
    ),
)
