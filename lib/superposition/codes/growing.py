"""Training a network that grows by a group of features and their dimensions at a time, on the task. Needs torch.

Source: ours, against The Persian Rug, section 5.
"""

from __future__ import annotations

import numpy as np

from superposition import checks, ranges
from superposition.checked import checked
from superposition.codes import ranges as within
from superposition.codes.fans import Code

WARM = 0.01  # share of the steps over which the rate rises; without it large networks die in the first hundred


def _fits(ns: int, nd: int, group: int, batch: int) -> None:
    """Refuse groups without a dimension, more dimensions than features, and batches that do not fit."""
    checks.whole("group", group, 1, ns)
    checks.whole("nd", nd, -(-ns // group), ns)
    ranges.batch_fits(batch, ns)


@checked(
    _fits, ns=ranges.whole(2, checks.MOST_FEATURES), nd=ranges.whole(1, checks.MOST_FEATURES), p=within.rare,
    group=ranges.whole(1, checks.MOST_FEATURES), grown=ranges.number(0, 1), apart=ranges.flag, steps=ranges.steps,
    batch=within.batch, lr=ranges.rate, largest=ranges.number(1e-3, 1e6), seed=within.torch_seed,
)  # fmt: skip
def train_growing(
    ns: int, nd: int, p: float, *, group: int = 20, grown: float = 0.5, apart: bool = True, steps: int = 6000,
    batch: int = 2048, lr: float = 0.01, largest: float = 10.0, seed: int = 0, device: str = "cpu",
) -> Code:  # fmt: skip
    """Train W_in, W_out and b by plain Adam while features join with dimensions of their own. Needs torch.

    The data is the task itself, of the features that are there. All weights of the features and dimensions that are
    there are free at every step.

    Parameters
    ----------
    p : float
        Probability that a feature is on, from 1e-12 to 1.
    group : int
        Features that join at a time, neighbours by number, with an equal share of the dimensions.
    grown : float
        Share of the steps after which all features are there; 0: all are there from the first step.
    apart : bool
        Whether features that join have random weights in their own dimensions alone. Else they have them in all
        dimensions that are there, and older features have them in the new dimensions: the control.
    largest : float
        Weights are cut to this size after every step.
    device : str
        "auto" (CUDA when present), "cpu", "cuda" or "cuda:N". Each kind of device draws other numbers.

    Returns
    -------
    Code
        Weights that are float32 numbers.

    Notes
    -----
    Source: ours, against The Persian Rug, section 5. At p = 0.05 and r = 1/4 it helps 60 features within 3000 steps and
    120 features within 9000, but not within 3000; `train_exclusive_first` needs fewer steps.

    Examples
    --------
    >>> train_growing(40, 8, 0.05, steps=2).W_in.shape
    (8, 40)
    """
    from superposition.devices import resolve_device, torch

    on = resolve_device(device)
    generator = torch.Generator(on).manual_seed(seed)
    count = -(-ns // group)
    joins, room = torch.arange(ns, device=on) // group, torch.arange(nd, device=on) * count // nd
    W_in = torch.randn(nd, ns, generator=generator, device=on) / nd**0.5
    if apart:
        W_in = count**0.5 * W_in * (room[:, None] == joins)
    full = [W_in, 2 * nd / ns * W_in.T]
    weights = [torch.zeros(shape, device=on, requires_grad=True) for shape in ((nd, ns), (ns, nd), (ns,))]
    optimiser = torch.optim.Adam(weights, lr=lr, fused=True)
    latest, there = -1, []
    for step in range(steps):
        done = step / steps
        last = min(count - 1, int(min(1.0, done / grown) * count)) if grown else count - 1
        optimiser.param_groups[0]["lr"] = lr * (1 + np.cos(np.pi * done)) / 2 * min(1, (step + 1) / (WARM * steps))
        if last > latest:
            here, rows = (joins <= last).float(), (room <= last).float()
            before, there = there, [rows[:, None] * here, here[:, None] * rows, here]
            with torch.no_grad():
                for k in range(2):
                    weights[k] += full[k] * (there[k] - before[k] if before else there[k])
            latest = last
        x = torch.rand(batch, ns, generator=generator, device=on)
        x = x * (torch.rand(batch, ns, generator=generator, device=on) < p) * there[2]
        output = torch.relu(x @ weights[0].T @ weights[1].T + weights[2])
        optimiser.zero_grad()
        (((output - x) * there[2]).square().sum() / (batch * ns * p)).backward()
        for value, mask in zip(weights, there, strict=True):
            value.grad *= mask  # pyrefly: ignore[unsupported-operation]  # a step has a gradient
        optimiser.step()
        with torch.no_grad():
            for value in weights[:2]:
                value.clamp_(-largest, largest)
    return Code(*(value.detach().double().cpu().numpy() for value in weights))
