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
BATCH = 2048  # as in train_exclusive_first
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
    from superposition import codes

    def vectors(step, weights, generator):
        left = max(0.0, 1 - step / steps / until)
        if not waking:
            return _drawn(ns, p, 1 + (POOL - 1) * left, generator), p
        if 1 < step <= 2 * until * steps and (step - 1) % max(1, int(WOKEN * steps)) == 0:
            _begin_anew(weights, generator)
        q = p * (FIRST / p) ** left if p < FIRST else p
        return _drawn(ns, q, 1, generator), q

    return codes.train_on_vectors(ns, nd, vectors, lr=lr, steps=steps, seed=seed, device=device)


def _begin_anew(weights, generator):
    """Give dead features new weights in place."""
    from superposition.devices import torch

    W_in, W_out, b = weights
    dead = (W_in * W_out.T).sum(dim=0) < DEAD
    new = AGAIN * torch.randn(W_in.shape, generator=generator, device=generator.device) / len(W_in) ** 0.5
    W_in[:, dead], W_out[dead], b[dead] = new[:, dead], new.T[dead], 0.0


def _drawn(ns, p, pool, generator):
    """A batch of feature vectors; those with fewest features on, of a pool that is so many times as large."""
    from superposition.devices import torch

    size, on = int(BATCH * pool), generator.device
    x = torch.rand(size, ns, generator=generator, device=on)
    x = x * (torch.rand(size, ns, generator=generator, device=on) < p)
    if size == BATCH:
        return x
    number = (x > 0).sum(dim=1) + torch.rand(size, generator=generator, device=on)  # in any order where it is equal
    return x[number.argsort()[:BATCH]]


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
