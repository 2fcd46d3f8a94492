"""Plain descent on balanced weights: it keeps crystals, and measures whether dense starts reach them. Needs torch.

Encoder and decoder are equally long and every weight is free, so Adam's step is the same for loud and quiet features.
Source: ours, against The Persian Rug, section 5.
"""

from __future__ import annotations

import numpy as np

from superposition import checks, ranges
from superposition.checked import checked
from superposition.codes import ranges as within
from superposition.codes.best_map import side_by_side
from superposition.codes.budgets import balanced
from superposition.codes.fans import Code, priority_fan
from superposition.codes.swept import swept_fan
from superposition.codes.tile_search import measured_code_loss
from superposition.placing import placed

CRYSTALS = {"fans": priority_fan, "swept": lambda B, ratio: swept_fan(B, ratio, 1.0)}
DENSE = ("plain", "levels", "sparse", "rare first", "shaken")
TILE = 10  # features in each plane of a crystal
RANGE = 1000.0  # of loudness of "levels"


def _whole_tiles(ns: int) -> None:
    """Refuse a number of features that is not a multiple of ten."""
    if ns % TILE:
        raise ValueError(f"ns = {ns} is not a multiple of {TILE}; allowed: multiples of {TILE}")


@placed
@checked(
    _whole_tiles, ns=ranges.whole(TILE, checks.MOST_FEATURES), p=within.rare, start=ranges.one_of(*CRYSTALS, *DENSE),
    ratio=ranges.number(1, 1e4), noise=ranges.number(0, 1e3), steps=ranges.steps, batch=within.batch, lr=ranges.rate,
    fresh=within.draws, seed=within.torch_seed,
)  # fmt: skip
def train_plain(
    ns: int, p: float, start: str, *, ratio: float = 4.0, noise: float = 0.0, steps: int = 1500, batch: int = 512,
    lr: float = 1e-3, fresh: int = 10_000, seed: int = 0,
) -> dict[str, float]:  # fmt: skip
    """Train W_in, W_out and b at r = 1/5 by plain Adam on balanced weights. Needs torch.

    Parameters
    ----------
    ns : int
        Features, a multiple of ten, up to 16384.
    p : float
        Probability that a feature is on, from 1e-12 to 1.
    start : str
        Crystals, tiles of ten features in a plane without bias: "fans", "swept". Dense starts, random directions:
        "plain"; "levels": loudness over a range of 1000; "sparse": a strong l1 term on the encoder that fades over the
        first half; "rare first": p rises to its value over the first half, from a tenth; "shaken": noise on every
        weight at every step that falls to zero over the first half.
    ratio : float
        Loudness of a feature, or a pair, of a crystal divided by the loudness of the next, from 1 to 1e4.
    noise : float
        Standard deviation of the noise on every weight of a crystal, from 0 to 1000.
    fresh : int
        Feature vectors that measure the loss.

    Returns
    -------
    dict
        "start_loss"; "loss" and "loss_se"; "asymmetry" |W - W^T| / |W|.

    Notes
    -----
    Source: ours, against The Persian Rug, section 5. Use `train_dense` instead with loudness as a parameter.

    Examples
    --------
    >>> sorted(train_plain(10, 0.1, "fans", steps=2, fresh=100))
    ['asymmetry', 'loss', 'loss_se', 'start_loss']
    """
    from superposition.devices import torch

    checks.one_of("start", start, (*CRYSTALS, *DENSE))  # a misspelt one would be trained as another
    rng, generator = np.random.default_rng([seed, 7]), torch.Generator().manual_seed(seed)
    first = _first(ns, start, ratio, noise, rng)
    values = [torch.tensor(value, dtype=torch.float32, requires_grad=True) for value in first]
    optimiser = torch.optim.Adam(values, lr=lr)
    for step in range(steps):
        left = max(0.0, 1 - 2 * step / steps)
        for group in optimiser.param_groups:
            group["lr"] = lr * min(1, (step + 1) / 100) * (1 - step / steps)
        q = p * 0.1**left if start == "rare first" else p
        x = (torch.rand(batch, ns, generator=generator) < q) * torch.rand(batch, ns, generator=generator)
        loss = (torch.relu(x @ values[0].T @ values[1].T + values[2]) - x).square().mean() / q**2
        if start == "sparse":
            loss = loss + 3 * left * values[0].abs().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if start == "shaken" and left:
            for value in values[:2]:
                value.data += 0.01 * left * torch.randn(value.shape, generator=generator)
    W_in, W_out, b = (value.detach().double().numpy() for value in values)
    W, (end, se) = W_out @ W_in, measured_code_loss(W_in, W_out, b, p, samples=fresh, seed=seed + 2)
    return {
        "start_loss": measured_code_loss(*first, p, samples=fresh, seed=seed + 1)[0],
        "loss": end,
        "loss_se": se,
        "asymmetry": float(np.linalg.norm(W - W.T) / np.linalg.norm(W)),
    }


def _first(ns, start, ratio, noise, rng):
    if start in CRYSTALS:
        even = balanced(CRYSTALS[start](TILE, ratio))
        code = side_by_side([even] * (ns // TILE))
        return Code(*(value + noise * rng.standard_normal(value.shape) for value in code[:2]), code.b)  # pyrefly: ignore[bad-argument-count]: two
    nd = 2 * ns // TILE
    W_in = rng.standard_normal((nd, ns)) / np.sqrt(nd)
    loud = RANGE ** rng.uniform(-0.25, 0.25, ns) if start == "levels" else np.ones(ns)
    return Code(W_in * loud, (W_in / loud).T, np.zeros(ns))
