"""Gates of trained networks: fields against those of fixed gates, other marginals, basins, minima of a whole sample.

Source: the notes on localization, sections 4.2, 5 and 6.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from superposition import checks
from superposition.experiments.shared import DEVICE, GAIN, Length0, Length1, Neurons, Seed, Steps
from superposition.inputs import Count, Real
from superposition.runs.point import Columns, Meaning, Run

if TYPE_CHECKING:
    from jaxtyping import Float


LARGE_BATCH = 6000  # near the critical gain waves decay at 0.01 / tau: small batches would keep them alive
_SAMPLES = Meaning("vectors", "vectors of each label; mirror images double them")


GatedPixels = Annotated[Count, Field(ge=3), Meaning("pixels", "pixels of the ring")]
GatedSamples = Annotated[Count, Field(ge=1), _SAMPLES]
MarginalSamples = Annotated[Count, Field(ge=2), _SAMPLES]
BasinGain = Annotated[Real, Field(gt=0), GAIN]
FieldGain = Annotated[Real, Field(gt=0, le=100), GAIN]
Noise = Annotated[
    Real, Field(ge=0), Meaning("norm of the field", "norm of the push in units of the norm of the trained field")
]
BasinSteps = Annotated[Count, Field(ge=1), Meaning("steps", "training steps before the push, and as many after it")]
Trials = Annotated[Count, Field(ge=1), Meaning("pushes", "number of pushes")]
Law = Annotated[
    Literal["erf", "tanh", "sine", "sinh", "power", "shrink", "elliptical", "cubic"],
    Meaning(
        "erf, tanh, sine, sinh, power, shrink, elliptical, cubic",
        "marginal of the data, as superposition.receptive.marginals.draw",
    ),
]
Strength = Annotated[Real, Meaning("number", "parameter of the marginal; for erf the gain")]
Starts = Annotated[Count, Field(ge=1), Meaning("neurons", "neurons, each from random weights of its own")]


def trained_fields(
    *, n: GatedPixels, xi1: Length1, xi2: Length0, gain: FieldGain, K: Neurons, samples: GatedSamples, steps: Steps,
    seed: Seed,
) -> dict[str, float | str]:  # fmt: skip
    """Train a ReLU network and compare its fields with those that fixed gates would give."""
    from superposition import receptive

    streams = np.random.SeedSequence(checks.whole("seed", seed, 0)).generate_state(4)
    n = checks.whole("n", n, 3)
    x, y = receptive.labelled_sample(n, xi1, xi2, gain, samples, seed=streams[0])
    fresh = receptive.labelled_sample(n, xi1, xi2, gain, samples, seed=streams[1])
    w0 = receptive.initial_weights(1, K, n, seed=int(streams[2]))
    w = receptive.train_gated(w0, x, y, receptive.RELU, steps=steps, lr=K / 3, turn=True, seed=streams[3])[0]
    own, out_own = _least_squares(w, x, y, fresh[0])
    _, out_random = _least_squares(receptive.gate_directions("random", n, K, seed=streams[3]), x, y, fresh[0])
    out = receptive.gated_outputs(w[None], fresh[0], receptive.RELU)[:, 0]
    tiling, loss_tiling = tiled(n, xi1, xi2, gain, K)
    gates = fresh[0][:, receptive.gate_centres(n, K)] > 0
    templates = {
        "cos_ols": receptive.small_bump_field(n, xi1, xi2, gain, 0),
        "cos_pixel": np.eye(1, n)[0],
        "cos_kernel": receptive.kernel_row(n, xi1),
        "cos_flat": np.ones(n),
    }
    return {
        "n_ipr": float(np.median(n * receptive.ipr(w))),
        **{name: float(np.median(receptive.best_shift_cosine(w, row))) for name, row in templates.items()},
        "cos_own": float(np.sum(w * own) / np.linalg.norm(w) / np.linalg.norm(own)),
        "same_outputs": float(np.sum(out * out_own) / np.linalg.norm(out) / np.linalg.norm(out_own)),
        **{
            f"loss_{name}": float(np.mean((values - fresh[1]) ** 2))
            for name, values in (("relu", out), ("own", out_own), ("random", out_random))
        },
        "loss_tiling": loss_tiling,
        "agree_tiling": float(np.mean(receptive.opened_gates(tiling, fresh[0]) == gates)),
        "device": "cpu",
    }


def tiled(n: int, xi1: float, xi2: float, gain: float, K: int) -> tuple[Float[np.ndarray, "K n"], float]:
    """Fields and limiting loss of K evenly spaced single-pixel gates, exact."""
    from superposition import receptive

    pixels = receptive.gate_centres(n, K)
    A = sum(
        receptive.small_bump_second_moment(pixels, receptive.gaussian_covariance(n, xi), gain) / 2
        for xi in receptive.correlation_lengths(n, xi1, xi2)
    )
    b = np.stack([receptive.small_bump_covariance(n, xi1, gain, i) for i in pixels])
    return receptive.limiting_weights(A, b), receptive.limiting_loss(A, b)


def other_marginal(
    *, n: GatedPixels, xi1: Length1, xi2: Length0, law: Law, strength: Strength, samples: MarginalSamples, steps: Steps,
    starts: Starts, seed: Seed,
) -> dict[str, float | str]:  # fmt: skip
    """Train single ReLU neurons on inputs with another marginal."""
    from superposition import receptive

    streams = np.random.SeedSequence(checks.whole("seed", seed, 0)).generate_state(4)
    xi1, xi2 = receptive.correlation_lengths(n, xi1, xi2)
    one = receptive.draw_marginal(law, strength, n, xi1, samples, seed=streams[0])
    zero = receptive.draw_marginal(law, strength, n, xi2, samples, seed=streams[1])
    x, y = receptive.mirrored_sample(one, zero, seed=streams[2])
    w0 = receptive.initial_weights(starts, 1, n, seed=int(streams[2]))
    batch = min(LARGE_BATCH, len(x))
    w = receptive.train_gated(w0, x, y, receptive.RELU, steps=steps, lr=1.0, batch=batch, turn=True, seed=streams[3])[
        :, 0
    ]
    found = n * receptive.ipr(w)
    return {
        "n_ipr": float(np.median(found)),
        "n_ipr_low": float(found.min()),
        "n_ipr_high": float(found.max()),
        "kurtosis": float(np.mean(one**4) / np.mean(one**2) ** 2 - 3),
        "device": "cpu",
    }


def hermite_ratios(columns: Columns) -> Columns:
    """The ratio of the third to the first Hermite coefficient of each marginal."""
    from superposition import receptive

    rows = list(zip(columns["law"].tolist(), columns["strength"].tolist(), strict=True))
    known = {row: receptive.hermite_ratio(*row) for row in set(rows)}
    return {"c3_over_c1": np.array([known[row] for row in rows])}


def basin(
    *, n: GatedPixels, xi1: Length1, xi2: Length0, gain: BasinGain, noise: Noise, samples: GatedSamples,
    steps: BasinSteps, trials: Trials, seed: Seed,
) -> dict[str, float | str]:  # fmt: skip
    """Perturb a localised field with noise, train on, and measure where it ends."""
    from superposition import receptive

    n, trials = checks.whole("n", n, 3), checks.whole("trials", trials, 1)
    noise = checks.number("noise", noise, 0, open_high=True)
    streams = np.random.SeedSequence(checks.whole("seed", seed, 0)).generate_state(5)
    x, y = receptive.labelled_sample(n, xi1, xi2, gain, samples, seed=streams[0])
    start = receptive.initial_weights(1, 1, n, seed=int(streams[1]))
    options = {"steps": steps, "lr": 0.5, "turn": True}
    field = receptive.train_gated(start, x, y, receptive.RELU, **options, seed=streams[2])[0, 0]
    z = np.random.default_rng(streams[3]).standard_normal((trials, n))
    pushed = field + noise * np.linalg.norm(field) * z / np.linalg.norm(z, axis=1, keepdims=True)
    end = receptive.peak(receptive.train_gated(pushed[:, None], x, y, receptive.RELU, **options, seed=streams[4])[:, 0])
    home = receptive.peak(field)
    guess = receptive.peak(pushed @ receptive.nlgp_covariance(n, xi1, gain))
    return {
        "stays": float(np.mean(end == home)),
        "predicted": float(np.mean(guess == home)),
        "agrees": float(np.mean((end == home) == (guess == home))),
        "silent": float(np.mean((end == home) == (receptive.peak(pushed) == home))),
        "n_ipr": float(n * receptive.ipr(field)),
        "device": "cpu",
    }


def _least_squares(directions, x, y, fresh):
    """Least-squares fields of half-space gates on one sample, and their predictions on another."""
    from superposition import receptive

    fields = receptive.limiting_weights(*receptive.gated_moments(receptive.opened_gates(directions, x), x, y))
    return fields, np.mean(receptive.opened_gates(directions, fresh) * (fresh @ fields.T), axis=1)


_FIELD_COLUMNS = {
    "n_ipr": Meaning("n IPR", "median over neurons"),
    "cos_ols": Meaning(
        "-1 to 1",
        "cosine of a field with the closed-form field of a single-pixel gate at the best shift, median over neurons",
    ),
    "cos_pixel": Meaning("-1 to 1", "the same with a single pixel"),
    "cos_kernel": Meaning("-1 to 1", "the same with the correlations of label 1"),
    "cos_flat": Meaning("-1 to 1", "the same with a flat field"),
    "cos_own": Meaning(
        "-1 to 1",
        "cosine of the weights with the least-squares fields of the network's own gates, all neurons together",
    ),
    "same_outputs": Meaning("-1 to 1", "cosine of what these two predict on fresh vectors"),
    "loss_relu": Meaning("squared error", "E (yhat - Y)^2 of the ReLU network on fresh vectors, without a factor 1/2"),
    "loss_own": Meaning("squared error", "the same of the least-squares fields of its own gates"),
    "loss_random": Meaning("squared error", "the same of the least-squares fields of random gates"),
    "loss_tiling": Meaning("squared error", "the same, exact, of evenly spaced single-pixel gates"),
    "agree_tiling": Meaning("0 to 1", "how often a field of that tiling agrees in sign with its own gate"),
    **DEVICE,
}
_MARGINAL_COLUMNS = {
    "n_ipr": Meaning("n IPR", "median over neurons"),
    "n_ipr_low": Meaning("n IPR", "smallest of them"),
    "n_ipr_high": Meaning("n IPR", "largest of them"),
    "kurtosis": Meaning("no unit", "excess kurtosis of the pixels with label 1, in the sample"),
    "c3_over_c1": Meaning("no unit", "ratio of the third to the first Hermite coefficient of the marginal"),
    **DEVICE,
}
_BASIN_COLUMNS = {
    "stays": Meaning("0 to 1", "share of fields that end at the pixel from which they were pushed"),
    "predicted": Meaning("0 to 1", "share for which that pixel is the largest of |C1 w| right after the push"),
    "agrees": Meaning("0 to 1", "how often these two say the same of one field"),
    "silent": Meaning("0 to 1", "how often the field's own largest pixel after the push says the same as its end"),
    "n_ipr": Meaning("n IPR", "of the field before the pushes"),
    **DEVICE,
}
_RING = {"n": (40,), "xi1": (2.0,), "xi2": (1.0,)}
_FIVE = (0, 1, 2, 3, 4)
_FIELDS = {**_RING, "samples": (20000,), "steps": (6000,)}
_MARGINALS = {**_RING, "samples": (250000,), "steps": (2500,), "starts": (4,), "seed": (0, 1, 2)}
_TINY_HOURS = 0.005

RUNS = (
    Run(
        name="gated-fields",
        feeds="Localization, section 4.2: trained ReLU networks against the fields of fixed gates",
        computes=trained_fields,
        columns=_FIELD_COLUMNS,
        small=({**_RING, "samples": (1000,), "steps": (100,), "gain": (3.0,), "K": (1, 2), "seed": (0,)},),
        full=(
            {**_FIELDS, "gain": (0.01, 0.1, 0.3, 1.0, 3.0, 10.0), "K": (1,), "seed": _FIVE},
            {**_FIELDS, "gain": (0.01, 0.3, 1.0, 3.0, 10.0), "K": (12,), "seed": _FIVE},
            {**_FIELDS, "gain": (3.0,), "K": (2, 3, 4, 6, 24), "seed": (0, 1, 2)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.15},
    ),
    Run(
        name="gated-marginals",
        feeds="Localization, section 6.1: which marginals make a neuron localise",
        computes=other_marginal,
        columns=_MARGINAL_COLUMNS,
        predicted=(hermite_ratios,),
        small=(
            {**_RING, "law": ("erf",), "strength": (3.0,), "samples": (1000,), "steps": (100,), "starts": (2,),
             "seed": (0,)},
        ),
        full=(
            {**_MARGINALS, "law": ("erf",), "strength": (0.7, 3.0)},
            {**_MARGINALS, "law": ("tanh", "sine", "sinh"), "strength": (1.0,)},
            {**_MARGINALS, "law": ("power",), "strength": (0.001, 0.5, 1.0, 2.0)},
            {**_MARGINALS, "law": ("shrink",), "strength": (0.7,)},
            {**_MARGINALS, "law": ("elliptical",), "strength": (-1.0, 1.0)},
            {**_MARGINALS, "law": ("cubic",), "strength": (-0.036, -0.027, -0.018, -0.009, -0.0045, 0.018)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.05},
    ),
    Run(
        name="gated-basin",
        feeds="Localization, section 5: how far a localised field can be pushed and still come back",
        computes=basin,
        columns=_BASIN_COLUMNS,
        small=(
            {**_RING, "gain": (3.0,), "noise": (1.0,), "samples": (1000,), "steps": (100,), "trials": (5,),
             "seed": (0,)},
        ),
        full=(
            {**_RING, "gain": (1.0, 3.0, 10.0), "noise": (0.5, 1.0, 1.5, 2.0, 3.0, 5.0), "samples": (20000,),
             "steps": (2500,), "trials": (40,), "seed": (0, 1)},
        ),
        hours={"small": _TINY_HOURS, "full": 0.1},
    ),
)  # fmt: skip
