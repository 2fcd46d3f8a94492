"""Training from dense random weights on feature vectors that come in any order. Needs torch.

Source: ours, against The Persian Rug, section 5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, ranges
from superposition.checked import checked
from superposition.codes import ranges as within
from superposition.codes.fans import Code

if TYPE_CHECKING:
    from superposition.devices import torch

WARM = 0.01  # share of the steps over which the rate rises; without it large networks die in the first hundred


def _fits(ns: int, nd: int) -> None:
    """Refuse more dimensions than features."""
    checks.whole("nd", nd, 1, ns)


@checked(
    _fits, ns=ranges.whole(2, checks.MOST_FEATURES), nd=ranges.whole(1, checks.MOST_FEATURES), vectors=ranges.function,
    steps=ranges.steps, lr=ranges.rate, largest=ranges.number(1e-3, 1e6), seed=within.torch_seed,
)  # fmt: skip
def train_on_vectors(
    ns: int, nd: int,
    vectors: Callable[[int, list[torch.Tensor], torch.Generator], tuple[torch.Tensor, float]], *,
    steps: int = 6000, lr: float = 0.01, largest: float = 10.0, seed: int = 0, device: str = "cpu",
) -> Code:  # fmt: skip
    """Train W_in, W_out and b from dense random weights by plain Adam on vectors that a function gives. Needs torch.

    Parameters
    ----------
    vectors : callable
        Takes the number of the step, from 0, the list [W_in, W_out, b], whose tensors it may change in place, and the
        generator of random numbers; returns the feature vectors of this step, of shape (batch, ns), and the
        probability that a feature is on in them, which divides the squared error.
    largest : float
        Weights are cut to this size after every step.
    device : str
        "auto" (CUDA when present), "cpu", "cuda" or "cuda:N". Each kind of device draws other numbers.

    Returns
    -------
    Code
        Weights that are float32 numbers.

    Raises
    ------
    ValueError
        If the function gives something else.

    Notes
    -----
    Source: ours, against The Persian Rug, section 5. Use `train_exclusive_first` or `train_growing` instead for the two
    orders that were found to help.

    Examples
    --------
    >>> def pairs(step, weights, generator):  # features 0 and 1 come together, and so on
    ...     x = torch.rand(64, 8, generator=generator)
    ...     return x * (torch.rand(64, 4, generator=generator) < 0.1).repeat_interleave(2, dim=1), 0.1
    >>> import torch
    >>> train_on_vectors(8, 2, pairs, steps=2).W_in.shape
    (2, 8)
    """
    from superposition.devices import resolve_device, torch

    on = resolve_device(device)
    generator = torch.Generator(on).manual_seed(seed)
    W_in = torch.randn(nd, ns, generator=generator, device=on) / nd**0.5
    weights = [W_in, 2 * nd / ns * W_in.T, torch.zeros(ns, device=on)]
    weights = [value.clone().requires_grad_() for value in weights]
    optimiser = torch.optim.Adam(weights, lr=lr, fused=True)
    for step in range(steps):
        decay = (1 + np.cos(np.pi * step / steps)) / 2
        optimiser.param_groups[0]["lr"] = lr * decay * min(1, (step + 1) / (WARM * steps))
        with torch.no_grad():
            x, p = _given(vectors(step, weights, generator), ns, step)
        output = torch.relu(x @ weights[0].T @ weights[1].T + weights[2])
        optimiser.zero_grad()
        ((output - x).square().sum() / (x.numel() * p)).backward()
        optimiser.step()
        with torch.no_grad():
            for value in weights[:2]:
                value.clamp_(-largest, largest)
    return Code(*(value.detach().double().cpu().numpy() for value in weights))


def _given(found, ns, step):
    """Feature vectors (batch, ns) and the probability that a feature is on, or a refusal."""
    if not isinstance(found, tuple) or len(found) != 2:
        gave = checks.shown(found)
        raise ValueError(f"vectors gave {gave} at step {step}; allowed: feature vectors and a probability")
    x, p = found
    if getattr(x, "ndim", 0) != 2 or x.shape[1] != ns:
        raise ValueError(f"vectors have shape {tuple(np.shape(x))} at step {step}; allowed: (batch, {ns})")
    return x, within.rare("p", p)
