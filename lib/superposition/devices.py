"""Where training runs: the only place that names a device, and the door through which torch comes in."""

from __future__ import annotations

try:
    import torch
except ModuleNotFoundError as missing:
    if missing.name != "torch":  # torch is there, something that it needs is not
        raise
    raise ModuleNotFoundError("training needs torch: pip install 'superposition[train]'", name="torch") from None


def resolve_device(device: str) -> torch.device:
    """Say where training runs, and refuse what is not there.

    Parameters
    ----------
    device : str
        "auto" (CUDA when present, else the CPU), "cpu", "cuda" or "cuda:N".

    Returns
    -------
    torch.device

    Raises
    ------
    ValueError
        If the device is unknown or not there.

    Examples
    --------
    >>> resolve_device("cpu")
    device(type='cpu')
    """
    present = ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
    names = {"auto": present[-1] if len(present) == 1 else "cuda:0", **{name: name for name in present}}
    if len(present) > 1:
        names["cuda"] = "cuda:0"
    if not isinstance(device, str) or device not in names:
        raise ValueError(f"device = {device!r} is not on this machine; allowed: {', '.join(names)}")
    return torch.device(names[device])
