"""Where training runs: the only place that names a device."""

import torch


def resolve_device(device):
    """The one place that decides where training runs.

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
    """
    present = ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
    names = {"auto": present[-1] if len(present) == 1 else "cuda:0", **{name: name for name in present}}
    if len(present) > 1:
        names["cuda"] = "cuda:0"
    if not isinstance(device, str) or device not in names:
        raise ValueError(f"device = {str(device)[:60]!r} is not on this machine; allowed: {', '.join(names)}")
    return torch.device(names[device])
