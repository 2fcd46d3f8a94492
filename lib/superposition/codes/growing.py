"""Training a network that grows by a group of features and their dimensions at a time, on the task. Needs torch.

Source: ours, against The Persian Rug, section 5.
"""

from __future__ import annotations

from superposition import checks, ranges
from superposition.checked import checked
from superposition.codes import ranges as within
from superposition.codes.fans import Code
from superposition.codes.on_vectors import train_on_vectors


def _fits(ns: int, nd: int, group: int, batch: int) -> None:
    """Refuse groups without a dimension, more dimensions than features, and batches that do not fit."""
    checks.whole("group", group, 1, ns)
    checks.whole("nd", nd, -(-ns // group), ns)
    ranges.batch_fits(batch, ns)


@checked(
    _fits, ns=ranges.whole(2, checks.MOST_FEATURES), nd=ranges.whole(1, checks.MOST_FEATURES), p=within.rare,
    group=ranges.whole(1, checks.MOST_FEATURES), grown=ranges.number(0, 1), apart=ranges.flag, steps=ranges.steps,
    batch=within.batch, lr=ranges.rate, largest=ranges.number(1e-3, 1e6), seed=within.torch_seed,
)  # fmt: skip
def train_growing(
    ns: int, nd: int, p: float, *, group: int = 20, grown: float = 0.5, apart: bool = True, steps: int = 6000,
    batch: int = 2048, lr: float = 0.01, largest: float = 10.0, seed: int = 0, device: str = "cpu",
) -> Code:  # fmt: skip
    """Train W_in, W_out and b by plain Adam while features join with dimensions of their own. Needs torch.

    The data is the task itself, of the features that are there. All weights of the features and dimensions that are
    there are free at every step.

    Parameters
    ----------
    p : float
        Probability that a feature is on, from 1e-12 to 1.
    group : int
        Features that join at a time, neighbours by number, with an equal share of the dimensions.
    grown : float
        Share of the steps after which all features are there; 0: all are there from the first step.
    apart : bool
        Whether features that join have random weights in their own dimensions alone. Else they have them in all
        dimensions that are there, and older features have them in the new dimensions: the control.
    largest : float
        Weights are cut to this size after every step.
    device : str
        "auto" (CUDA when present), "cpu", "cuda" or "cuda:N". Each kind of device draws other numbers.

    Returns
    -------
    Code
        Weights that are float32 numbers.

    Notes
    -----
    Source: ours, against The Persian Rug, section 5. At p = 0.05 and r = 1/4 it helps 60 features within 3000 steps and
    120 features within 9000, but not within 3000; `train_exclusive_first` needs fewer steps.

    Examples
    --------
    >>> train_growing(40, 8, 0.05, steps=2).W_in.shape
    (8, 40)
    """
    from superposition.devices import torch

    count = -(-ns // group)
    full: list[torch.Tensor] = []

    def last(step):
        """Number of the latest group that is there, -1 before the first step."""
        share = min(1.0, step / steps / grown) if grown else 1.0
        return -1 if step < 0 else min(count - 1, int(share * count))

    def vectors(step, weights, generator):
        joins = torch.arange(ns, device=generator.device) // group
        room = torch.arange(nd, device=generator.device) * count // nd
        if not step:
            W_in = count**0.5 * weights[0] * (room[:, None] == joins) if apart else weights[0].clone()
            full.extend((W_in, 2 * nd / ns * W_in.T))
        now, before = last(step), last(step - 1)
        if now > before:
            for value, whole, row, column in zip(weights[:2], full, (room, joins), (joins, room), strict=True):
                there, kept = ((row <= k)[:, None] & (column <= k) for k in (now, before))
                value.copy_(torch.where(kept, value, whole * there))
        x = torch.rand(batch, ns, generator=generator, device=generator.device)
        return x * (torch.rand(batch, ns, generator=generator, device=generator.device) < p) * (joins <= now), p

    return train_on_vectors(ns, nd, vectors, steps=steps, lr=lr, largest=largest, seed=seed, device=device)
