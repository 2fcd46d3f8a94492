"""Trainings whose data the host draws, on any device: the draws are the same everywhere, the work is on the device.

Such a training makes all its random numbers with generators of the host, so it has the same data on every device, and
nothing else in it depends on the place of a tensor. `placed` can therefore give it a device without a change of the
function: while the function runs, torch passes every call to `superposition.devices.Placed`, which moves tensors.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from defprint import transparent

from superposition.checked import at_home

_AFTER = re.compile(r"\n(?=\n(Returns|Yields|Raises)\n-)")  # sections after the parameters
_WORDS = """device : str
    Where it trains: "cpu"; "auto", the accelerator if there is one; or an accelerator's name, as "cuda:1".
"""


@transparent
def placed(function: Callable) -> Any:
    """Decorate a training in torch that draws its random numbers on the host, so that it runs on any device.

    Source: ours; it uses `torch.overrides.TorchFunctionMode`, as `torch.set_default_device` does. Use a generator of
    the device instead where drawing takes longer than the products, as in `superposition.rug.train_on_device`.

    Parameters
    ----------
    function : callable
        If it has a parameter ``device``, that one is read.

    Returns
    -------
    callable
        The same function, with the keyword ``device``, "cpu" unless the function has another default.

    Raises
    ------
    ValueError
        In a call, if there is no such device here or if it does not compute in float64.

    Examples
    --------
    >>> @placed
    ... def drawn(n):
    ...     from superposition.devices import torch
    ...     return torch.rand(n, generator=torch.Generator())
    >>> drawn(2, device="cpu").device
    device(type='cpu')
    """
    signature = inspect.signature(function)
    known = signature.parameters.get("device")
    entered = _entered  # a name of the closure, as `at_home` gives the function other globals

    def there(*args, device=known.default if known else "cpu", **kwargs):
        if known:
            kwargs["device"] = device
        with entered(device):
            return function(*args, **kwargs)

    made = at_home(there, function)
    made.placed = True
    if not known:
        own = inspect.Parameter("device", inspect.Parameter.KEYWORD_ONLY, default="cpu", annotation="str")
        made.__signature__ = signature.replace(parameters=[*signature.parameters.values(), own])
        made.__doc__ = _AFTER.sub(f"\n{_WORDS}", inspect.getdoc(function) or "", count=1)
    return made


def _entered(device):
    """The context in which tensors are on a device; for the CPU it is empty, also where torch is missing."""
    if device == "cpu":
        return nullcontext()
    from superposition.devices import Placed, resolve_device

    on = resolve_device(device)
    return nullcontext() if on.type == "cpu" else Placed(on)
