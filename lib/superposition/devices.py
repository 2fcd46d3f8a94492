"""Where training runs: the only module that names a device, and the one through which torch is imported."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager

from defprint import transparent

try:
    import torch
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
