"""Adam with a cosine: the one loop behind every training here. Needs torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from superposition.devices import torch


def adam(
    weights: Sequence[torch.Tensor],
    gradient: Callable[[], torch.Tensor],
    *,
    steps: int,
    lr: float,
    schedule: str = "cosine",
    fused: bool = True,
) -> Iterator[tuple[int, torch.Tensor]]:
    """Adam steps on weights, in place, one each time the next pair (steps done, loss before the step) is asked for."""
    # ``gradient()`` leaves the gradients in ``weight.grad`` and returns the loss. The schedule is "cosine", to zero, or
    # "constant". torch's fused kernel is faster and has other last bits.
    optimiser = torch.optim.Adam(weights, lr=lr, fused=fused)
    for step in range(steps):
        loss = gradient()
        if schedule == "cosine":
            optimiser.param_groups[0]["lr"] = lr * (1 + np.cos(np.pi * step / steps)) / 2
        optimiser.step()
        yield step + 1, loss


def by_autograd(weights: Sequence[torch.Tensor], loss: Callable[[], torch.Tensor]) -> Callable[[], torch.Tensor]:
    """Gradients of ``loss()`` as `adam` wants them, by automatic differentiation; the weights are leaves."""

    def gradient():
        for weight in weights:
            weight.grad = None
        value = loss()
        value.backward()
        return value.detach()

    return gradient
