"""Adam with a cosine: the one loop behind every training here. Needs torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.devices import torch


def _leaves(name: str, value: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
    """Tensors that ask for gradients, in a list."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(one, torch.Tensor) and one.is_leaf for one in value):
        raise ValueError(f"{name} holds something else than leaves; allowed: a list of tensors that ask for gradients")
    return value


@checked(
    weights=_leaves, gradient=ranges.function, steps=ranges.steps, lr=ranges.rate,
    schedule=ranges.one_of("cosine", "constant"), fused=ranges.flag,
)  # fmt: skip
def adam(
    weights: Sequence[torch.Tensor], gradient: Callable[[], torch.Tensor], *, steps: int, lr: float,
    schedule: str = "cosine", fused: bool = True,
) -> Iterator[tuple[int, torch.Tensor]]:  # fmt: skip
    """Take Adam steps on weights, in place, one for each pair (steps done, loss before the step) that is asked for.

    ``gradient()`` leaves the gradients in ``weight.grad`` and returns the loss. The schedule is "cosine", to zero, or
    "constant". torch's fused kernel is faster and differs in the last bits.

    Examples
    --------
    >>> x = torch.ones(1, requires_grad=True)
    >>> for done, loss in adam([x], by_autograd([x], lambda: (x**2).sum()), steps=200, lr=0.1):
    ...     pass
    >>> abs(x.item()) < 0.01
    True
    """
    optimiser = torch.optim.Adam(weights, lr=lr, fused=fused)
    for step in range(steps):
        loss = gradient()
        if schedule == "cosine":
            optimiser.param_groups[0]["lr"] = lr * (1 + np.cos(np.pi * step / steps)) / 2
        optimiser.step()
        yield step + 1, loss


@checked(weights=_leaves, loss=ranges.function)
def by_autograd(weights: Sequence[torch.Tensor], loss: Callable[[], torch.Tensor]) -> Callable[[], torch.Tensor]:
    """Return the gradients of ``loss()`` as `adam` takes them, by automatic differentiation.

    Examples
    --------
    >>> x = torch.ones(1, requires_grad=True)
    >>> by_autograd([x], lambda: (x**2).sum())().item(), x.grad.item()
    (1.0, 2.0)
    """

    def gradient():
        for weight in weights:
            weight.grad = None
        value = loss()
        value.backward()
        return value.detach()

    return gradient
