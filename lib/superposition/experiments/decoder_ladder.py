"""The ladder of decoders on rugs and on antipodal rugs. On the CPU, by fast transforms."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from superposition import checks, features
from superposition.experiments.shared import FEATURES, Probability, Ratio, Seed
from superposition.inputs import Count
from superposition.runs.point import Meaning, Run

CHUNK = 8  # feature vectors at a time: what is needed of them stays in 64 MB


Ns = Annotated[Count, Field(ge=2), FEATURES]
Iterations = Annotated[Count, Field(ge=1), Meaning("steps", "iterations of the decoders")]
Samples = Annotated[Count, Field(ge=1), Meaning("feature vectors", "feature vectors that measure every decoder")]


def ladder(
    *, ns: Ns, r: Ratio, p: Probability, iterations: Iterations, samples: Samples, seed: Seed
) -> dict[str, float]:
    """Loss of every decoder of the ladder on one rug and the same feature vectors."""
    from superposition.decoders import decode_rug
    from superposition.rug import jumprelu_optimum, optimum

    rug = _rug(ns, r, seed, antipodal=False)
    relu, jump = optimum(p, rug.nd / ns), jumprelu_optimum(p, rug.nd / ns)
    centre, ratio = float(features.mean(p)), rug.nd / ns
    shift = centre * (rug.apply(np.ones(ns)) - 1)  # mean of the interference

    def decoders(readout):
        y = readout - shift
        yield "linear", centre + ratio * (y - centre)
        yield "relu", np.maximum(relu.a * y + relu.b, 0)
        above = jump.a * y + jump.b
        yield "jumprelu", np.where(above > jump.theta, above, 0)
        yield from _numbered("bayes", decode_rug(readout, rug, p, iterations=iterations))

    return _losses(rug, p, samples, seed, decoders)


def antipodal_ladder(
    *, ns: Ns, r: Ratio, p: Probability, iterations: Iterations, samples: Samples, seed: Seed
) -> dict[str, float]:
    """The same on an antipodal rug, with two iterated decoders."""
    from superposition import codes
    from superposition.decoders import decode_antipodal, decode_rug

    rug = _rug(ns, r, seed, antipodal=True)
    relu = codes.antipodal_optimum(p, rug.nd / ns)
    others = float(features.mean(p)) * (rug.apply(np.ones(ns)))  # of all but the partner, whose mean cancels its own

    def decoders(readout):
        yield "relu", np.maximum(relu.a * (readout - others) + relu.b, 0)
        yield from _numbered("plain", decode_rug(readout, rug, p, iterations=iterations))
        yield from _numbered("pairs", decode_antipodal(readout, rug, p, iterations=iterations))

    return _losses(rug, p, samples, seed, decoders)


def _rug(ns, r, seed, antipodal):
    from superposition.rug import Rug

    r = checks.number("r", r, 0, 1, open_low=True, open_high=True)
    return Rug(ns, max(1, round(r * ns)), seed=checks.whole("seed", seed, 0), antipodal=antipodal)


def _numbered(name, steps):
    for k, estimate in enumerate(steps, 1):
        yield f"{name}_{k}", estimate


def _losses(rug, p, samples, seed, decoders):
    """Mean loss of everything that ``decoders(readout)`` gives by name."""
    samples, rng = checks.whole("samples", samples, 1), np.random.default_rng([seed, 1])
    sums: dict[str, float] = {}
    for start in range(0, samples, CHUNK):
        x = features.sample(rug.ns, p, min(CHUNK, samples - start), seed=rng)
        for name, estimate in decoders(rug.apply(x)):
            sums[name] = sums.get(name, 0.0) + float(np.sum(np.mean((estimate - x) ** 2, axis=1)))
    return {name: total / samples for name, total in sums.items()}


def _after(name, iterations, meaning):
    """Columns of the losses after each iteration."""
    numbers = range(1, iterations + 1)
    return {f"{name}_{k}": Meaning(_UNIT, f"loss after iteration {k} of the {meaning}") for k in numbers}


_HERE, _UNIT = "superposition.experiments.decoder_ladder:", "squared error, per feature"
_RELU = {"relu": Meaning(_UNIT, "loss of one ReLU with the best gain and bias of theory")}
_LADDER = {
    **_RELU,
    "linear": Meaning(_UNIT, "loss of the best linear decoder"),
    "jumprelu": Meaning(_UNIT, "loss of a JumpReLU with the best gain, bias and threshold of theory"),
    **_after("bayes", 5, "iterated Bayes decoder"),
}
_ANTIPODAL = {
    **_RELU,
    **_after("plain", 8, "decoder of rugs, which does not know of pairs"),
    **_after("pairs", 8, "decoder of signed pairs"),
}
_SMALL = {"ns": (256,), "r": (0.3,), "p": (0.05,), "iterations": (2,), "samples": (8,), "seed": (0,)}
_FULL = {
    "ns": (65_536,),
    "r": (0.1, 0.2, 0.3, 0.5),
    "p": (0.01, 0.05, 0.2),
    "iterations": (5,),
    "samples": (16,),
    "seed": (0, 1, 2, 3, 4),
}

RUNS = (
    Run(
        name="rug-ladder",
        feeds="the ladder of decoders on rugs of 65536 features: linear to the fifth iteration",
        computes=ladder,
        columns=_LADDER,
        small=(_SMALL,),
        full=(_FULL,),
        hours={"small": 0.001, "full": 0.05},
    ),
    Run(
        name="rug-ladder-antipodal",
        feeds="the same on antipodal rugs, by the decoder of rugs and by the best one",
        computes=antipodal_ladder,
        columns=_ANTIPODAL,
        small=(_SMALL,),
        full=(_FULL | {"ns": (16_384,), "r": (0.2, 0.3, 0.5), "p": (0.05,), "iterations": (8,)},),
        hours={"small": 0.001, "full": 0.01},
    ),
)
