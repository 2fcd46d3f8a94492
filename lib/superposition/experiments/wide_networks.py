"""Networks of many neurons: where fields sit, pulses, and least squares behind the gates of a whole sample.

Source: the notes on localization, sections 1, 3.2 and 4.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import AfterValidator, Field

from superposition.experiments.shared import (
    NETWORK_LOSS,
    Batch,
    Gain,
    Initials,
    Length0,
    Length1,
    Neurons,
    Pixels,
    RatePerNeuron,
    Seed,
    Steps,
)
from superposition.inputs import Count, From, Real, UpTo
from superposition.runs.point import Meaning, Run

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


FORECASTS = ("raw", "short", "long", "twice")


def _longest(shortest):
    return AfterValidator(From(shortest, shortest)), AfterValidator(UpTo("n", "n"))


Samples = Annotated[Count, Field(ge=1), Meaning("vectors", "vectors of each label, each with its mirror image")]
Iterations = Annotated[Count, Field(ge=1), Meaning("iterations", "iterations of L-BFGS on the whole sample")]
HundredSteps = Annotated[Count, Field(ge=15), Meaning("steps", "training steps")]
Activation = Annotated[
    Literal["relu", "erf", "sigmoid", "tanh"], Meaning("relu, erf, sigmoid, tanh", "activation of the hidden neurons")
]
Bias = Annotated[Real, Meaning("units of the pre-activation", "where hidden biases start; a ReLU network has none")]
Scale = Annotated[Real, Field(gt=0), Meaning("above 0", "scale of the initial weights, in units of Xavier's")]
PulsePixels = Annotated[Count, Field(ge=2, le=1000), Meaning("pixels", "pixels of the ring")]
Version = Annotated[
    Literal["raw", "complemented", "signed"],
    Meaning("raw, complemented, signed", "which pulses, as superposition.receptive.pulse_support"),
]
LongLow = Annotated[Count, Field(ge=1), Meaning("pixels", "shortest pulse with label 1")]
LongHigh = Annotated[Count, *_longest("long_low"), Meaning("pixels", "longest pulse with label 1")]
ShortLow = Annotated[Count, Field(ge=1), Meaning("pixels", "shortest pulse with label 0")]
ShortHigh = Annotated[Count, *_longest("short_low"), Meaning("pixels", "longest pulse with label 0")]


def hundred(
    *, n: Pixels, xi1: Length1, xi2: Length0, gain: Gain, activation: Activation, bias: Bias, scale: Scale, K: Neurons,
    initials: Initials, steps: HundredSteps, lr: RatePerNeuron, batch: Batch, seed: Seed, device: str = "auto",
) -> dict[str, float]:  # fmt: skip
    """Train wide networks, and compare the peaks of their neurons with the prediction from the initial weights."""
    from superposition import receptive

    W0 = receptive.initial_weights(initials, K, n, scale=scale, seed=seed)
    data = receptive.nlgp_batches(n, xi1, xi2, gain, batch, seed=seed, device=device)
    learned = None if activation == "relu" else bias
    found = receptive.train_fields(
        W0, data, steps=steps, lr=lr * K, lr_out=lr, activation=activation, bias=learned, keep_every=max(1, steps // 30)
    )
    C1, C0 = (receptive.nlgp_covariance(n, xi, gain) for xi in (xi1, xi2))
    at, long = receptive.peak(found.W), W0 @ C1
    guesses = dict(zip(FORECASTS, (W0, W0 @ C0, long, long @ C1), strict=True))
    hits = {name: receptive.ring_distance(receptive.peak(guess), at, n) <= 1 for name, guess in guesses.items()}
    ipr = np.median(n * receptive.ipr(found.W), axis=1)
    top, there = (np.take_along_axis(w, at[..., None], axis=2) for w in (found.W, long))
    return {
        "ipr": float(np.median(ipr)),
        "ipr_low": float(ipr.min()),
        "ipr_high": float(ipr.max()),
        "frequency": float(np.median(receptive.mean_frequency(found.W))),
        "kernel": float(np.median(receptive.best_shift_cosine(found.W, receptive.kernel_row(n, xi1)))),
        "ols": float(np.median(receptive.best_shift_cosine(found.W, receptive.small_bump_field(n, xi1, xi2, gain, 0)))),
        "loss": float(found.loss.mean()),
        "bias_mean": float(found.bias.mean()),
        **{name: float(hit.mean()) for name, hit in hits.items()},
        "same_sign": float((top * there > 0).mean()),
        "power_early": filter_power(W0, found.kept[1], C1),
        "power_late": filter_power(W0, found.kept[3], C1),
    }


def filter_power(W0: ArrayLike, W: ArrayLike, C1: ArrayLike) -> float:
    """The power of C1 to which the linear filter from initial to final weights is equivalent."""
    from superposition import receptive

    before, after = (np.fft.rfft(w, axis=-1) for w in (W0, W))
    filtered = np.abs(np.sum(after * np.conj(before), axis=(0, 1)).real) / np.sum(np.abs(before) ** 2, axis=(0, 1))
    lam = receptive.eigenvalues(C1)
    here = lam > lam.max() / 3
    return float(np.polyfit(np.log(lam[here]), np.log(filtered[here]), 1)[0])


def pulse_fields(
    *, n: PulsePixels, version: Version, long_low: LongLow, long_high: LongHigh, short_low: ShortLow,
    short_high: ShortHigh, K: Neurons, initials: Initials, steps: Steps, lr: RatePerNeuron, seed: Seed,
    device: str = "auto",
) -> dict[str, float]:  # fmt: skip
    """Train on all pulses at once, to distinguish long from short ones."""
    from superposition import receptive

    spans = range(long_low, long_high + 1), range(short_low, short_high + 1)
    data = receptive.fixed_batches(*(receptive.pulse_support(n, list(span), version) for span in spans), device=device)
    found = receptive.train_fields(receptive.initial_weights(initials, K, n, seed=seed), data, steps=steps, lr=lr * K)
    width = receptive.half_energy_width(found.W)
    return {
        "width": float(np.median(width)),
        "width_low": float(width.min()),
        "width_high": float(width.max()),
        "ipr": float(np.median(n * receptive.ipr(found.W))),
        "flat": float(np.median(receptive.power_spectrum(found.W)[..., 0])),
        "loss": float(found.loss.mean()),
    }


def frozen_gates(
    *, n: Pixels, xi1: Length1, xi2: Length0, gain: Gain, K: Neurons, samples: Samples, iterations: Iterations,
    seed: Seed,
) -> dict[str, float]:  # fmt: skip
    """Minimize the loss on a whole sample, and compare the network with least squares behind its own gates."""
    from scipy.optimize import minimize

    from superposition import receptive

    x, y = receptive.labelled_sample(n, xi1, xi2, gain, samples, seed=seed)

    def objective(flat):
        gates = (h := x @ flat.reshape(K, n).T) > 0
        error = np.mean(h * gates, axis=1) - y
        return np.mean(error**2) / 2, ((gates * error[:, None]).T @ x / len(x) / K).ravel()

    start = receptive.initial_weights(1, K, n, seed=seed)[0].ravel()
    options = {"maxiter": iterations, "maxfun": 2 * iterations, "gtol": 1e-12, "ftol": 0, "maxcor": 30}
    w = minimize(objective, start, jac=True, method="L-BFGS-B", options=options).x
    A, b = receptive.gated_moments(x @ w.reshape(K, n).T > 0, x, y)
    eigenvalues, own = np.linalg.eigvalsh(A), K * np.linalg.solve(A, b.ravel())
    loss, slope = objective(w)
    gradient, size = np.linalg.norm(slope), np.linalg.norm(w)
    return {
        "gradient": float(gradient),
        "cos_own": float(own @ w / np.linalg.norm(own) / size),
        "distance": float(np.linalg.norm(w - own) / size),
        "bound": float(K**2 * gradient / eigenvalues[0] / size),
        "condition": float(eigenvalues[-1] / eigenvalues[0]),
        "loss": float(loss),
    }


_HUNDRED_COLUMNS = {
    **NETWORK_LOSS,
    "ipr": Meaning("n IPR", "median over networks of the median over neurons"),
    "ipr_low": Meaning("n IPR", "smallest of the networks' medians"),
    "ipr_high": Meaning("n IPR", "largest of the networks' medians"),
    "frequency": Meaning(
        "waves round the ring", "mean frequency of a field, weighted with energy, median over neurons and networks"
    ),
    "kernel": Meaning("-1 to 1", "cosine of a field with the correlations of label 1 at the best shift, median"),
    "ols": Meaning(
        "-1 to 1", "cosine of a field with the least-squares field of a single-pixel gate at the best shift, median"
    ),
    "bias_mean": Meaning(
        "units of the pre-activation", "hidden bias at the end, mean over neurons and networks; 0 where there is none"
    ),
    "raw": Meaning("0 to 1", "share of neurons that peak within a pixel of the peak of |w0|, the initial weights"),
    "short": Meaning("0 to 1", "the same for |C0 w0|, C0 the covariance of label 0"),
    "long": Meaning("0 to 1", "the same for |C1 w0|, C1 the covariance of label 1"),
    "twice": Meaning("0 to 1", "the same for |C1 C1 w0|"),
    "same_sign": Meaning("0 to 1", "share of neurons whose weight at the peak has the sign of C1 w0 there"),
    "power_early": Meaning(
        "no unit",
        "slope of the log of the linear filter from initial to present weights against the log of C1's "
        "eigenvalues, after a thirtieth of the steps",
    ),
    "power_late": Meaning("no unit", "the same after a tenth of the steps"),
}
_PULSE_COLUMNS = {
    **NETWORK_LOSS,
    "width": Meaning("pixels", "shortest arc that holds half of sum w^2, median over neurons and networks"),
    "width_low": Meaning("pixels", "smallest of them"),
    "width_high": Meaning("pixels", "largest of them"),
    "ipr": Meaning("n IPR", "median over neurons and networks"),
    "flat": Meaning("0 to 1", "share of a field's energy in the flat mode, median over neurons and networks"),
}
_RING = {"n": (40,), "xi1": (2,), "xi2": (1,)}
_HUNDRED = {"K": (100,), "initials": (8,), "steps": (1500,), "lr": (0.5,), "batch": (500,), "gain": (3,), "seed": (0,)}
_SIGNS = {"activation": ("sigmoid", "tanh"), "bias": (-1, 1), "steps": (4000,), "lr": (0.5,)}
_RELU = {"activation": ("relu",), "bias": (0,)}
_FEW = {"steps": (60,), "batch": (50,)}
_LONG = {"long_low": (16,), "long_high": (19,), "short_low": (1,), "short_high": (4,)}
_AUTHORS = {"long_low": (9,), "long_high": (10,), "short_low": (3,), "short_high": (4,)}
_PULSES = {"n": (40,), "version": ("raw", "signed"), "initials": (2,), "steps": (4000,), "lr": (0.15,)}
_FROZEN_COLUMNS = {
    "gradient": Meaning("per unit of W", "norm of the gradient of the loss at the end"),
    "cos_own": Meaning(
        "-1 to 1",
        "cosine of the network's weights and the least-squares weights behind its own gates, all neurons together",
    ),
    "distance": Meaning("no unit", "distance of these two over the norm of the weights"),
    "bound": Meaning(
        "no unit",
        "bound on distance: K^2 times gradient over the least eigenvalue of A and over the norm of the "
        "weights, A the second moments behind the gates",
    ),
    "condition": Meaning("1 or more", "largest over least eigenvalue of A"),
    "loss": Meaning("squared error", "loss E (yhat - Y)^2 / 2 on the sample itself, at the end"),
}
_FROZEN = {"n": (40,), "xi1": (2,), "xi2": (1,), "gain": (3,), "iterations": (300,), "seed": (0, 1)}

RUNS = (
    Run(
        name="field-hundred",
        feeds="width, frequency and place of the fields of a hundred neurons: three activations, both signs of bias",
        computes=hundred,
        columns=_HUNDRED_COLUMNS,
        small=({**_RING, **_HUNDRED, **_RELU, **_FEW, "K": (4,), "initials": (2,), "scale": (1,)},),
        full=(
            {**_RING, **_HUNDRED, **_RELU, "scale": (1, 0.001)},
            {**_RING, **_HUNDRED, **_SIGNS, "scale": (1, 0.001)},
        ),
        hours={"small": 0.001, "full": 0.1},
    ),
    Run(
        name="field-pulses",
        feeds="do pulses localize: form, lengths, neurons, seeds",
        computes=pulse_fields,
        columns=_PULSE_COLUMNS,
        small=({**_PULSES, **_LONG, "K": (1,), "initials": (1,), "steps": (20,), "seed": (0,)},),
        full=tuple({**_PULSES, **span, "K": (1, 8, 100), "seed": (0, 1, 2)} for span in (_LONG, _AUTHORS)),
        hours={"small": 0.001, "full": 0.03},
    ),
    Run(
        name="field-frozen",
        feeds="a ReLU network minimized on a whole sample, beside least squares behind its own gates",
        computes=frozen_gates,
        columns=_FROZEN_COLUMNS,
        small=({**_FROZEN, "K": (2,), "samples": (200,), "iterations": (20,), "seed": (0,)},),
        full=({**_FROZEN, "K": (4, 12, 24), "samples": (1000, 4000, 16_000)},),
        hours={"small": 0.001, "full": 0.1},
    ),
)  # fmt: skip
