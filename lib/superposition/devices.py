"""Where training runs: the only place that names a device, and the door through which torch comes in."""

from __future__ import annotations

try:
    import torch
except ModuleNotFoundError as missing:
    if missing.name != "torch":  # torch is there, something that it needs is not
        raise
    raise ModuleNotFoundError("training needs torch: pip install '.[train]'", name="torch") from None


def resolve_device(device: str) -> torch.device:
    """Say where training runs, "auto" (CUDA when present), "cpu", "cuda" or "cuda:N", and refuse what is not there."""
    present = ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
    names = {"auto": present[-1] if len(present) == 1 else "cuda:0", **{name: name for name in present}}
    if len(present) > 1:
        names["cuda"] = "cuda:0"
    if not isinstance(device, str) or device not in names:
        raise ValueError(f"device = {str(device)[:60]!r} is not on this machine; allowed: {', '.join(names)}")
    return torch.device(names[device])
