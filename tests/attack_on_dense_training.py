"""Attack on training from dense random weights at p = 0.05 and r = 1/4, by somebody who knew only the statement.

Each way has the settings that the statement lets vary: a larger probability at first with dead features begun anew,
vectors with few features on first, and features that join in groups. Four ways without groups are free: loudness as
a parameter of its own, more hidden dimensions at first, and penalties on weights or on the number of interferences.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass

import torch
from superposition import rug


@dataclass(frozen=True)
class Way:
    """How to train; the defaults are the task alone."""

    lr: float = 1e-2
    steps: int = 3000
    first_p: float = 0.0  # the probability at step 0, which falls geometrically to p (0: p from the start)
    fallen: float = 0.5  # the share of the steps after which it is p
    wake: int = 0  # steps between two searches for dead features (0: none)
    few_first: str = ""  # "most": at most a growing number on; "limit": and never none; "half": the emptier half
    limit: float = 1.5  # how many may be on at step 0,
    growth: float = 10.0  # how this number grows over all steps,
    ends: float = 0.7  # and the share of the steps after which the vectors are the task's
    pool: int = 4  # vectors of the task that are drawn for each that may be kept
    groups: int = 0  # how many groups of features join (0: all features from the start)
    joined: float = 0.5  # the share of the steps after which all have joined
    into: float = 1.0  # size of new weights into the hidden dimensions, and out of them
    out: float = 1.0
    own_loudness: float = 0.0  # learning rate of logarithms of loudness over that of the weights (0: no such parameter)
    more: int = 0  # hidden dimensions that fade, linearly until 0.6 of the steps
    shrink: float = 0.0  # weight of the sum of sizes of weights
    count: float = 0.0  # weight of the number of interferences


def drawn(count: int, ns: int, p: float, generator: torch.Generator) -> torch.Tensor:
    """Feature vectors."""
    return torch.rand(count, ns, generator=generator) * (torch.rand(count, ns, generator=generator) < p)


def batch(way: Way, done: float, ns: int, p: float, generator: torch.Generator, size: int) -> torch.Tensor:
    """The vectors of one step."""
    if done < way.fallen and way.first_p:
        p *= (way.first_p / p) ** (1 - done / way.fallen)
    if not way.few_first or done > way.ends:
        return drawn(size, ns, p, generator)
    x = drawn(2 * size if way.few_first == "half" else way.pool * size, ns, p, generator)
    on = (x > 0).sum(1)
    if way.few_first == "half":
        return x[on.argsort()][:size]
    return x[((on > 0) | (way.few_first == "most")) & (on <= way.limit + way.growth * done)][:size]


def begin_anew(
    which: torch.Tensor, sizes: tuple[float, float], u: torch.Tensor, v: torch.Tensor, b: torch.Tensor,
    adam: torch.optim.Adam, generator: torch.Generator,
) -> None:  # fmt: skip
    """New random weights in all dimensions for some features, and no memory of the old ones."""
    with torch.no_grad():
        new = torch.randn(len(u), int(which.sum()), generator=generator) / math.sqrt(len(u))
        u[:, which], v[which], b[which] = sizes[0] * new, sizes[1] * new.T, 0.0
    for parameter in (u, v, b):
        for key in ("exp_avg", "exp_avg_sq") if adam.state[parameter] else ():
            (adam.state[parameter][key].T if parameter is u else adam.state[parameter][key])[which] = 0


def trained(
    way: Way, ns: int, nd: int, p: float, *, seed: int, size: int = 2048
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """W_in, W_out and b after Adam."""
    generator = torch.Generator().manual_seed(seed)
    u = (torch.randn(nd + way.more, ns, generator=generator) / math.sqrt(nd + way.more)).requires_grad_()
    v = u.detach().T.clone().requires_grad_()
    b, s = torch.zeros(ns, requires_grad=True), torch.zeros(ns, requires_grad=True)
    adam = torch.optim.Adam([{"params": [u, v, b]}, {"params": [s]}])
    W_in, W_out, order, joined = u, v, torch.randperm(ns, generator=generator), torch.zeros(ns)
    for step in range(way.steps):
        done = step / way.steps
        pace = min(1.0, done / 0.02 + 1e-3) * 0.5 * (1 + math.cos(math.pi * done))
        adam.param_groups[0]["lr"], adam.param_groups[1]["lr"] = way.lr * pace, way.lr * pace * way.own_loudness
        x, before = batch(way, done, ns, p, generator, size), joined.clone()
        share = (1 + int(way.groups * done / way.joined)) / way.groups if way.groups else 1.0
        joined[order[: max(1, int(ns * min(1.0, share)))]] = 1
        if step and (joined > before).any():
            begin_anew(joined > before, (way.into, way.out), u, v, b, adam, generator)
        fade = torch.cat([torch.ones(nd), torch.full((way.more,), max(0.0, 1 - done / 0.6))])
        W_in, W_out = u * s.exp() * fade[:, None], v * (-s).exp()[:, None]
        y = torch.relu((x * joined) @ W_in.T @ W_out.T + b)
        loss = (((y - x) ** 2) * joined).sum(1).mean()
        left = max(0.0, 1 - done / 0.7)
        if way.shrink or way.count:
            between = (W_out @ W_in).abs() * (1 - torch.eye(ns))
            loss = loss + way.shrink * left * (u.abs().sum() + v.abs().sum())
            loss = loss + way.count * left * (between / (between + 0.1)).sum()
        adam.zero_grad()
        loss.backward()
        adam.step()
        if way.wake and step % way.wake == way.wake - 1 and done < 0.7:
            with torch.no_grad():
                error = ((torch.relu(x @ W_in.T @ W_out.T + b) - x) ** 2 * (x > 0)).sum(0) / (x**2).sum(0)
            begin_anew(error > 0.6, (way.into, way.out), u, v, b, adam, generator)
    return W_in[:nd].detach(), W_out[:, :nd].detach(), b.detach()


def over_rug(way: Way, ns: int, nd: int, p: float, *, seed: int, fresh: int = 400_000) -> float:
    """The loss on fresh vectors, over that of the rug."""
    W_in, W_out, b = trained(way, ns, nd, p, seed=seed)
    generator = torch.Generator().manual_seed(10**6 + seed)
    parts = [drawn(fresh // 10, ns, p, generator) for _ in range(10)]
    loss = sum(((torch.relu(x @ W_in.T @ W_out.T + b) - x) ** 2).mean().item() for x in parts) / 10
    return loss / float(rug.optimum(p, nd / ns).loss)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    for name, default in vars(Way()).items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    asked = vars(parser.parse_args())
    print(over_rug(Way(**{key: asked[key] for key in vars(Way())}), 60, 15, 0.05, seed=asked["seed"]))
