"""How many neurons end up with two features, and the constant in front of n^2 / m, measured stage by stage.

Source: Incidental Polysemanticity, section 2.1 and Figure 3; the constant is ours.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from superposition import checks
from superposition.experiments.shared import DEVICE, L1, Rate, Seed, Steps
from superposition.inputs import Count, Real
from superposition.runs.point import Meaning, Run

END = 6.0  # lambda t at which the flow is stopped: all rows but a few in a thousand have one weight left
LOOKS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)  # values of lambda t at which pairs are counted on the way
FAST = 25.0  # time after which positive overlaps have settled, without the l1 term
EARLY, FINER = 5.0, 8  # until then steps are so many times shorter: long ones push positive overlaps below zero


_FEATURES, _NEURONS = Meaning("features", "number of features"), Meaning("neurons", "number of neurons")
Step = Annotated[Real, Field(gt=0, le=0.5), Meaning("time", "largest time step of the gradient flow")]


ManyFeatures = Annotated[Count, Field(ge=2, le=256), _FEATURES]
FewFeatures = Annotated[Count, Field(ge=1), _FEATURES]
ManyNeurons = Annotated[Count, Field(ge=2, le=4096), _NEURONS]
FewNeurons = Annotated[Count, Field(ge=1), _NEURONS]
Networks = Annotated[
    Count, Field(ge=2), Meaning("networks", "networks over which the means and standard errors are taken")
]
Lambda = Annotated[Real, Field(gt=0), Meaning("above 0", "coefficient of the l1 norm in the loss")]
Method = Annotated[Literal["adamw", "sgd"], Meaning("adamw, sgd", "optimiser")]


def by_flow(
    *, n: FewFeatures, m: FewNeurons, lambda_: L1, step: Step, seed: Seed, device: str = "auto"
) -> dict[str, float | int | str]:
    """Count polysemantic neurons at the end of the gradient flow, from weights of variance 1/m."""
    from superposition import incidental
    from superposition.devices import resolve_device

    lambda_ = checks.number("lambda_", lambda_, 0, open_low=True, open_high=True)
    w0 = incidental.random_encodings(n, m, seed=seed).astype(np.float32)
    times = np.array([*LOOKS, END]) / lambda_
    weights = incidental.gradient_flow(w0, lambda_, times, step=step, device=device)
    pairs = {f"pairs_{at:g}": incidental.opposite_tops(W) for at, W in zip(LOOKS, weights, strict=False)}
    end = weights[-1]
    return {**describe(end), "first_wins": _first_wins(w0, end), **pairs, "device": str(resolve_device(device))}


def by_descent(
    *, n: FewFeatures, m: FewNeurons, lambda_: Lambda, method: Method, lr: Rate, steps: Steps, seed: Seed,
    device: str = "auto",
) -> dict[str, float | int | str]:  # fmt: skip
    """Count polysemantic neurons after training, from weights of variance 1/m."""
    from superposition import incidental
    from superposition.devices import resolve_device

    w0 = incidental.random_encodings(n, m, seed=seed)
    end = incidental.descend_encodings(w0, lambda_, method=method, steps=steps, lr=lr, device=device)
    return {**describe(end), "first_wins": _first_wins(w0, end), "device": str(resolve_device(device))}


def describe(W: np.ndarray) -> dict[str, int]:
    """Count what the weights of a trained network look like."""
    from superposition import incidental

    size = np.abs(checks.array("W", W, "n m"))
    return {
        "polysemantic": incidental.count_polysemantic(W, 0.5),
        "at_low": incidental.count_polysemantic(W, 0.2),
        "at_high": incidental.count_polysemantic(W, 0.8),
        "crowded": int(((size >= 0.5).sum(0) >= 3).sum()),
        "same_sign": incidental.same_sign_pairs(W, 0.5),
        "unfinished": int(((size > 0.1).sum(1) > 1).sum()),
        "dead": int((size.max(1) < 0.5).sum()),
    }


def _first_wins(start, end):
    return float(np.mean(np.abs(start).argmax(1) == np.abs(end).argmax(1)))


def measured(
    *, n: ManyFeatures, m: ManyNeurons, networks: Networks, lambda_: L1, step: Step, seed: Seed
) -> dict[str, float]:
    """Count shared neurons of many networks, and pairs of opposite tops along the way."""
    from superposition import incidental

    n, networks = checks.whole("n", n, 2), checks.whole("networks", networks, 2)
    lambda_ = checks.number("lambda_", lambda_, 0, open_low=True, open_high=True)
    step = checks.number("step", step, 1e-6, 0.5)
    w0 = incidental.random_networks(networks, n, m, seed=seed)
    settled, end = _flow(w0, 0.0, FAST, step), _flow(w0, lambda_, END / lambda_, step)
    unit = n * (n - 1) / m
    start, fast = (incidental.opposite_tops_each(W) / unit for W in (w0, settled))
    plain = incidental.count_polysemantic_each(end) / unit
    values = {"plain": plain, "constant": plain - start + 0.25, "fast": fast - start + 0.25, "slow": plain - fast}
    values["isotropic"] = incidental.isotropic_pairs(settled) / 4
    found = {}
    for name, value in values.items():
        found |= {name: float(value.mean()), f"{name}_se": float(value.std(ddof=1) / np.sqrt(networks))}
    several = ((np.abs(end) > 0.1).sum(axis=2) > 1).sum(axis=1)
    return {**found, "overlap": incidental.mean_overlap(settled), "unfinished": float(several.mean())}


def _flow(w0, lambda_, t, step):
    """The flow with shorter steps while lengths and overlaps settle."""
    from superposition import incidental

    early = incidental.gradient_flow_each(w0, lambda_, min(EARLY, t), step=step / FINER)
    return incidental.gradient_flow_each(early, lambda_, max(t - EARLY, 0.0), step=step)


_COUNTS = {
    "polysemantic": Meaning(
        "neurons", "neurons in which two features or more have a weight of size 0.5 or more, at the end"
    ),
    "at_low": Meaning("neurons", "the same at the threshold 0.2"),
    "at_high": Meaning("neurons", "the same at the threshold 0.8"),
    "crowded": Meaning("neurons", "neurons in which three features or more have a weight of size 0.5 or more"),
    "same_sign": Meaning("pairs of features", "pairs that use one neuron with the same sign, at the threshold 0.5"),
    "unfinished": Meaning("features", "features with more than one weight of size above 0.1"),
    "dead": Meaning("features", "features with no weight of size 0.5 or more"),
    "first_wins": Meaning(
        "0 to 1", "share of features whose largest weight at the end is on the neuron that had it at the start"
    ),
    **DEVICE,
}
_PAIRS = {
    f"pairs_{at:g}": Meaning(
        "pairs of features", f"pairs whose largest weights share a neuron with opposite signs, at lambda t = {at:g}"
    )
    for at in LOOKS
}
_CONSTANT = {
    "plain": Meaning(
        "n (n - 1)/m", "polysemantic neurons at lambda t = 6, mean per network; independent choice would be 1/4"
    ),
    "plain_se": Meaning("n (n - 1)/m", "standard error of plain over networks"),
    "constant": Meaning(
        "n (n - 1)/m",
        "plain less the pairs of opposite largest weights at the start above their exact mean 1/4: the same "
        "mean with less noise",
    ),
    "constant_se": Meaning("n (n - 1)/m", "standard error of constant over networks"),
    "fast": Meaning(
        "n (n - 1)/m",
        "pairs of features whose largest weights share a neuron with opposite signs after the fast stage (t = "
        "25 without the l1 term), corrected in the same way",
    ),
    "fast_se": Meaning("n (n - 1)/m", "standard error of fast over networks"),
    "slow": Meaning("n (n - 1)/m", "constant - fast"),
    "slow_se": Meaning("n (n - 1)/m", "standard error of slow over networks"),
    "isotropic": Meaning(
        "n (n - 1)/m", "fast, predicted from the overlaps after the fast stage alone, for random orientations"
    ),
    "isotropic_se": Meaning("n (n - 1)/m", "standard error of isotropic over networks"),
    "overlap": Meaning("no unit", "sqrt(m) W_i . W_j after the fast stage, mean over pairs and networks"),
    "unfinished": Meaning("features", "rows with more than one weight above 0.1 at the end, mean per network"),
}
_FLOW = {"lambda_": (0.0025,), "step": (0.4,)}
_PUBLIC = {"lambda_": (0.001,), "method": ("adamw",), "lr": (0.001,), "steps": (7500,)}  # the text's public code
_SIZES = (
    (2, 8, 20000), (3, 12, 20000), (4, 16, 20000), (6, 24, 4000), (8, 32, 4000), (12, 48, 2500), (16, 64, 2000),
    (24, 96, 1500), (40, 160, 400), (2, 32, 12000), (3, 48, 12000), (4, 64, 13000), (6, 96, 8000), (8, 128, 8000),
    (12, 192, 6500), (40, 120, 400), (10, 80, 4000),
    (4, 4, 3000), (4, 8, 3000), (4, 32, 6000), (8, 8, 1000), (8, 16, 1500), (8, 64, 4000),
)  # fmt: skip
_STRONG = {"lambda_": (0.01,), "step": (0.4,)}

RUNS = (
    Run(
        name="polysemantic-flow",
        feeds="Incidental Polysemanticity, Figure 3: counts under the gradient flow",
        computes=by_flow,
        columns=_COUNTS | _PAIRS,
        small=({"n": (32,), "m": (32, 64), **_FLOW, "seed": (0, 1)},),
        full=(
            {"n": (64,), "m": (64, 128, 256, 512, 1024), **_FLOW, "seed": tuple(range(48))},
            {"n": (128,), "m": (128, 256, 512, 1024), **_FLOW, "seed": tuple(range(16))},
            {"n": (256,), "m": (256, 512, 1024), **_FLOW, "seed": tuple(range(4))},
            {"n": (64,), "m": (256,), "lambda_": (0.01, 0.04), "step": (0.4,), "seed": tuple(range(48))},
            {"n": (64,), "m": (64, 256), "lambda_": (0.0025,), "step": (0.2,), "seed": tuple(range(12))},
            {"n": (64,), "m": (2048,), **_FLOW, "seed": tuple(range(48))},
            {"n": (64,), "m": (256,), "lambda_": (0.00125,), "step": (0.4,), "seed": tuple(range(24))},
            {"n": (64,), "m": (4096,), **_FLOW, "seed": tuple(range(48))},
        ),
        hours={"small": 0.001, "full": 0.1},
        hardware="two CPU cores",
    ),
    Run(
        name="polysemantic-descent",
        feeds="Incidental Polysemanticity, Figure 3: counts under AdamW and SGD",
        computes=by_descent,
        columns=_COUNTS,
        small=({"n": (16,), "m": (32,), **_PUBLIC, "seed": (0, 1)},),
        full=(
            {"n": (64,), "m": (64, 128, 256, 512, 1024), **_PUBLIC, "seed": tuple(range(48))},
            {"n": (64,), "m": (2048,), **_PUBLIC, "seed": tuple(range(16))},
            {"n": (64,), "m": (4096,), **_PUBLIC, "seed": tuple(range(8))},
            {"n": (128,), "m": (128, 256, 512, 1024), **_PUBLIC, "seed": tuple(range(16))},
            {"n": (256,), "m": (256, 512, 1024), **_PUBLIC, "seed": tuple(range(4))},
            {"n": (64,), "m": (128,), "lambda_": (0.01,), "method": ("sgd",), "lr": (0.025,), "steps": (24000,),
             "seed": tuple(range(16))},
            {"n": (64,), "m": (128,), "lambda_": (0.001,), "method": ("sgd",), "lr": (0.001,), "steps": (7500,),
             "seed": (0, 1, 2)},
        ),
        hours={"small": 0.002, "full": 0.1},
        hardware="two CPU cores",
    ),
    Run(
        name="constant-size",
        feeds="Incidental Polysemanticity, section 2.1: the constant in front of n^2 / m, by size",
        computes=measured,
        columns=_CONSTANT,
        small=({"n": (3,), "m": (12,), "networks": (400,), **_STRONG, "seed": (0,)},),
        full=tuple({"n": (n,), "m": (m,), "networks": (count,), **_STRONG, "seed": (300,)} for n, m, count in _SIZES),
        hours={"small": 0.001, "full": 0.1},
    ),
)  # fmt: skip
