"""Sentences about a stranger's file: whatever goes wrong, one, short and printable, and what would help."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from superposition import checks

LONGEST = 200  # letters of what a stranger's file says
CONVERT = """three lines make one that can be read:
    import numpy as np
    # W_in (nd, ns), W_out (ns, nd), b (ns,) of the model ReLU(W_out W_in x + b); from torch by .numpy(force=True)
    np.savez("model.npz", W_in=..., W_out=..., b=...)"""
ITSELF = "\n    # or give the model itself, in Python: superposition.diagnose(model, p=0.05)"
STATE = """Three lines make a file that can be read (they run what the file holds: only if you trust it):
    import torch
    model = torch.load({name}, weights_only=False){inside}
    torch.save(model.state_dict(), "weights.pt")"""


@contextmanager
def untrusted(where: str) -> Iterator[None]:
    """Raise an error of one short sentence, whatever goes wrong with a stranger's file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except Exception as error:
        said = "\n".join(checks.printable(line[:1200]) for line in _said(error).splitlines()[:6])
        if not isinstance(error, ValueError) or "allowed:" not in said:
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            said = f"{where} cannot be read ({kind}{cut(said)}); allowed: whole files of weights"
        raise ValueError(
            said
            if said.startswith(where.split(" = ")[0])
            else f"{where} {said}"
            if said.startswith("is ")
            else f"{where}: {said}"
        ) from None


def _said(error):
    """The message of an error, without the path that system errors repeat."""
    return getattr(error, "strerror", None) or str(error)


def cut(text: str, most: int = LONGEST) -> str:
    """A stranger's text, made printable and cut where it is long."""
    text = checks.printable(" ".join(text[: 4 * most].split()))
    return text if len(text) <= most else text[:most] + "…"
