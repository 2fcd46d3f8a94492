"""Dense networks that are trained without exclusive features: growing ones, woken features, sorted feature vectors.

Written before the run, after trials with seeds 0 and 1 at 60 features (growing 0.50 to 0.60 of the rug's loss, growing
everywhere 0.69, waking 0.64) and with seed 0 at 120 (growing 0.66); sorted vectors had not been tried. Means of five
networks: growing ends below 0.58 at 60 features, which is 0.05 below the task alone, and above 0.62 at 120, where
nothing is gained; growing everywhere, waking and sorted end above 0.61 at 60 features. With groups of 10, growing ends
above 0.59. Added when four of these networks had been trained and none had been looked at, after a trial with seed 0
(0.545): growing during 80 % of 9000 steps ends below 0.6 at 120 features, where the task alone ends above 0.62 after as
many steps.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from superposition.experiments.lessons import Group, Lr, Nd, Ns, Samples
from superposition.experiments.shared import DEVICE, LOSS, OVER_RUG, Probability, Seed, Steps, over_rug
from superposition.inputs import Real
from superposition.runs.point import Meaning, Run

Method = Annotated[
    Literal["alone", "growing", "growing everywhere", "waking", "sorted"],
    Meaning(
        "alone, growing, growing everywhere, waking, sorted",
        "the task alone; groups join in dimensions of their own, or in all; p falls and dead features begin anew; "
        "vectors with few features on come first",
    ),
]
Until = Annotated[Real, Field(gt=0, le=1), Meaning("0 to 1", "share of the steps after which the data is the task's")]
FIRST, POOL, DEAD = 0.4, 4, 0.1  # p at the start; vectors that one is chosen from; a diagonal entry of W that is small
WARM, LARGEST, BATCH = 0.01, 10.0, 2048  # as in train_exclusive_first
WOKEN, AGAIN = 0.01, 0.5  # share of the steps between two searches for dead features; length of their new weights


def trained_unled(
    *, ns: Ns, nd: Nd, p: Probability, group: Group, method: Method, until: Until, lr: Lr, steps: Steps,
    samples: Samples, seed: Seed, device: str = "auto",
) -> dict[str, float | str]:  # fmt: skip
    """Train a dense network alone or in one of four ways without exclusive features; run it as a network."""
    from superposition import codes
    from superposition.devices import resolve_device

    form = {"lr": lr, "steps": steps, "seed": seed, "device": device}
    if method == "alone":
        code = codes.train_exclusive_first(ns, nd, p, group=group, lesson=0.0, **form)
    elif method in ("waking", "sorted"):
        code = _on_other_vectors(ns, nd, p, method == "waking", until, **form)
    else:
        code = codes.train_growing(ns, nd, p, group=group, grown=until, apart=method == "growing", **form)
    loss = codes.network_loss(code, p, samples=samples, seed=seed + 1)
    own, square = np.arange(ns) // group, code.W**2
    return {
        "loss": loss.mean,
        "loss_se": loss.se,
        "asymmetry": float(np.linalg.norm(code.W - code.W.T) / np.linalg.norm(code.W)),
        "between": float(square[own[:, None] != own].sum() / square.sum()),
        "dead": int((np.diag(code.W) < DEAD).sum()),
        "device": str(resolve_device(device)).partition(":")[0],
    }


def _on_other_vectors(ns, nd, p, waking, until, *, lr, steps, seed, device):
    """Plain Adam on vectors of a larger p, with dead features begun anew, or on those with few features on."""
    from superposition.codes import Code
    from superposition.devices import resolve_device, torch

    on = resolve_device(device)
    generator = torch.Generator(on).manual_seed(seed)
    W_in = torch.randn(nd, ns, generator=generator, device=on) / nd**0.5
    weights = [W_in, 2 * nd / ns * W_in.T, torch.zeros(ns, device=on)]
    weights = [value.clone().requires_grad_() for value in weights]
    optimiser = torch.optim.Adam(weights, lr=lr, fused=True)
    for step in range(steps):
        left = max(0.0, 1 - step / steps / until)
        optimiser.param_groups[0]["lr"] = (
            lr * (1 + np.cos(np.pi * step / steps)) / 2 * min(1, (step + 1) / (WARM * steps))
        )
        q = p * (FIRST / p) ** left if waking and p < FIRST else p
        x = _drawn(ns, q, BATCH, 1 if waking else 1 + (POOL - 1) * left, generator)
        output = torch.relu(x @ weights[0].T @ weights[1].T + weights[2])
        optimiser.zero_grad()
        ((output - x).square().sum() / (BATCH * ns * q)).backward()
        optimiser.step()
        with torch.no_grad():
            for value in weights[:2]:
                value.clamp_(-LARGEST, LARGEST)
            if waking and 0 < step < 2 * until * steps and step % max(1, int(WOKEN * steps)) == 0:
                dead = ((weights[0] * weights[1].T).sum(dim=0) < DEAD).float()
                new = AGAIN * torch.randn(nd, ns, generator=generator, device=on) / nd**0.5
                for value, fresh in zip(weights, (new, new.T, torch.zeros_like(dead)), strict=True):
                    value += (fresh - value) * (dead[:, None] if value is weights[1] else dead)
    return Code(*(value.detach().double().cpu().numpy() for value in weights))


def _drawn(ns, p, batch, pool, generator):
    """Feature vectors; those with fewest features on, of a pool that is so many times as large."""
    from superposition.devices import torch

    size, on = int(batch * pool), generator.device
    x = torch.rand(size, ns, generator=generator, device=on)
    x = x * (torch.rand(size, ns, generator=generator, device=on) < p)
    if size == batch:
        return x
    number = (x > 0).sum(dim=1) + torch.rand(size, generator=generator, device=on)  # in any order where it is equal
    return x[number.argsort()[:batch]]


_FIVE = {"p": (0.05,), "until": (0.5,), "lr": (0.01,), "steps": (3000,), "samples": (50_000,), "seed": (2, 3, 4, 5, 6)}
_SMALLEST = {**_FIVE, "ns": (60,), "nd": (15,), "group": (20,)}
RUNS = (
    Run(
        name="rug-unled",
        feeds="dense networks that grow, wake features or see sorted vectors",
        computes=trained_unled,
        columns={
            **LOSS,
            **OVER_RUG,
            "asymmetry": Meaning("0 to 2", "|W - W^T| / |W|, Frobenius norms"),
            "between": Meaning("0 to 1", "share of the squares of W between features of different groups"),
            "dead": Meaning("features", "features whose diagonal entry of W is below 0.1"),
            **DEVICE,
        },
        predicted=(over_rug(over_rug="loss"),),
        small=({**_FIVE, "ns": (40,), "nd": (8,), "group": (10,),
                "method": ("growing", "waking", "sorted"), "steps": (20,), "samples": (200,), "seed": (0,)},),
        full=(
            {**_SMALLEST, "method": ("alone", "growing", "growing everywhere", "waking", "sorted")},
            {**_SMALLEST, "group": (10,), "method": ("growing",)},
            {**_SMALLEST, "ns": (120,), "nd": (30,), "method": ("growing",)},
            {**_SMALLEST, "ns": (120,), "nd": (30,), "method": ("alone", "growing"),
             "steps": (9000,), "until": (0.8,)},
        ),
        hours={"small": 0.001, "full": 0.3},
    ),
)  # fmt: skip
