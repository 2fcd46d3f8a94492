"""Where training runs: the only module that names a device, and the one through which torch is imported."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from defprint import transparent

try:
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._pytree import tree_map_only
except ModuleNotFoundError as missing:
    if missing.name != "torch":  # torch is there, something that it needs is not
        raise
    raise ModuleNotFoundError("training needs torch: pip install '.[train]'", name="torch") from None


def accelerator(device: str) -> torch.device:
    """Return the device that a name means, "auto", "cpu", or an accelerator of torch's, and refuse what is not there.

    "auto" is the accelerator of this machine where it computes in float64, and the CPU elsewhere.

    Raises
    ------
    ValueError
        If there is no such device here.
    """
    here = torch.accelerator.current_accelerator(check_available=True)
    found = [f"{here.type}:{i}" for i in range(torch.accelerator.device_count())] if here else []
    names = {"auto": "cpu", "cpu": "cpu", **{name: name for name in found}}
    if found:
        # pyrefly: ignore[missing-attribute]: where there is one
        names |= {here.type: found[0], "auto": found[0] if has_float64(torch.device(found[0])) else "cpu"}
    if not isinstance(device, str) or device not in names:
        raise ValueError(f"device = {str(device)[:60]!r} is not on this machine; allowed: {', '.join(names)}")
    return torch.device(names[device])


def has_float64(device: torch.device) -> bool:
    """Whether a device computes in float64: Apple's GPUs do not."""
    try:
        return bool(torch.ones(1, dtype=torch.float64, device=device).dtype == torch.float64)
    except (TypeError, RuntimeError):
        return False


@contextmanager
def refusing_too_small(device: torch.device) -> Iterator[None]:
    """Raise an error of one sentence if a device does not have enough memory for the computation inside."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise ValueError(
            f"device = {str(device)!r} is too small ({str(error).splitlines()[0].partition('. ')[0]}); "
            "allowed: a larger one, or fewer numbers"
        ) from None


class Placed(TorchFunctionMode):
    """While it is entered, tensors that torch makes on the host move to a device; draws stay on the host."""

    def __init__(self, device: torch.device) -> None:
        super().__init__()
        self.device = device

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Compute on the device, or on the host what draws there or leaves torch, and move the result."""
        kwargs = kwargs or {}
        if func in LEAVING:
            return func(args[0].cpu(), *args[1:], **kwargs)
        goal = "cpu" if kwargs.get("generator") is not None else self.device
        args, kwargs = tree_map_only(torch.Tensor, partial(_moved, goal=goal), (args, kwargs))
        return tree_map_only(torch.Tensor, partial(_moved, goal=self.device), func(*args, **kwargs))


def _moved(tensor, goal):
    """A tensor on another device, a leaf if it was one; a single number stays where it is, as it mixes with all."""
    goal = torch.device(goal)
    if tensor.device == goal or not tensor.dim():
        return tensor
    origin, version = getattr(tensor, "origin", (None, None))
    if origin is not None and version == tensor._version and origin.device == goal:
        return origin  # unchanged since it was moved: nothing has to come back
    if tensor.is_leaf and tensor.requires_grad:
        return tensor.detach().to(goal).requires_grad_()
    made = tensor.to(goal)
    if tensor.is_leaf:
        made.origin = tensor, made._version
    return made


LEAVING = (torch.Tensor.numpy, torch.Tensor.tolist, torch.Tensor.__array__)


@transparent
def _other_accelerators(resolve):
    """Resolve names by `accelerator` where that is not CUDA; a place changes no value, so no stored table is stale."""

    @functools.wraps(resolve)
    def resolved(device):
        here = torch.accelerator.current_accelerator(check_available=True)
        if here is None or here.type == "cuda":
            return resolve(device)
        on = accelerator(device)
        if not has_float64(on):
            raise ValueError(
                f"device = {device!r} has no float64, which this needs; allowed: cpu, or rug.train_on_device there"
            )
        return on

    return resolved


@_other_accelerators
def resolve_device(device: str) -> torch.device:
    """Return where training runs, "auto" (CUDA when present), "cpu", "cuda" or "cuda:N"; refuse what is not there."""
    present = ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
    names = {"auto": present[-1] if len(present) == 1 else "cuda:0", **{name: name for name in present}}
    if len(present) > 1:
        names["cuda"] = "cuda:0"
    if not isinstance(device, str) or device not in names:
        raise ValueError(f"device = {str(device)[:60]!r} is not on this machine; allowed: {', '.join(names)}")
    return torch.device(names[device])
