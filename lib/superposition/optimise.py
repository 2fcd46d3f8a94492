"""Adam with a cosine: the one loop behind every training here. Needs torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch


def adam(
    weights: Sequence[torch.Tensor],
    gradient: Callable[[], torch.Tensor],
    *,
    steps: int,
    lr: float,
    schedule: str = "cosine",
    fused: bool = True,
) -> Iterator[tuple[int, torch.Tensor]]:
    """Adam steps on weights, one each time the next value is asked for.

    Parameters
    ----------
    weights : sequence of torch.Tensor
        What is trained, in place.
    gradient : callable
        Called as ``gradient()``: leaves the gradients in ``weight.grad`` and returns the loss.
    steps : int
        How many steps.
    lr : float
        First learning rate, above 0.
    schedule : {"cosine", "constant"}
        Whether the rate falls to zero along a cosine.
    fused : bool
        torch's fused kernel: faster, other last bits.

    Yields
    ------
    done : int
        Steps done, from 1.
    loss : torch.Tensor
        The loss before the step.

    Examples
    --------
    >>> w = torch.tensor([3.0], requires_grad=True)
    >>> for done, loss in adam([w], by_autograd([w], lambda: torch.sum((w - 1) ** 2)), steps=200, lr=0.1):
    ...     pass
    >>> done, round(w.item(), 3)
    (200, 1.0)
    """
    optimiser = torch.optim.Adam(weights, lr=lr, fused=fused)
    for step in range(steps):
        loss = gradient()
        if schedule == "cosine":
            optimiser.param_groups[0]["lr"] = lr * (1 + np.cos(np.pi * step / steps)) / 2
        optimiser.step()
        yield step + 1, loss


def by_autograd(weights: Sequence[torch.Tensor], loss: Callable[[], torch.Tensor]) -> Callable[[], torch.Tensor]:
    """Gradients of a loss as `adam` wants them, by automatic differentiation.

    Parameters
    ----------
    weights : sequence of torch.Tensor
        Leaves that require gradients.
    loss : callable
        Called as ``loss()``; gives the loss of the weights.

    Returns
    -------
    callable
        ``gradient()``, which sets the gradients and returns the detached loss.
    """

    def gradient():
        for weight in weights:
            weight.grad = None
        value = loss()
        value.backward()
        return value.detach()

    return gradient
