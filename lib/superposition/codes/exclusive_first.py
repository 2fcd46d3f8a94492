"""Training in an order: first features of which one in each group is on, then the task itself. Needs torch.

Features that never meet share dimensions, and those that often meet keep apart. Groups therefore get dimensions of
their own, and within a group the loud features hide the quiet ones before independent features come. Source: ours,
against The Persian Rug, section 5.
"""

from __future__ import annotations

from superposition import checks, ranges
from superposition.checked import checked
from superposition.codes import ranges as within
from superposition.codes.fans import Code
from superposition.codes.on_vectors import train_on_vectors

HELD = 0.4  # share of the lesson in which exclusive features are all that there is


def _fits(ns: int, nd: int, group: int, batch: int) -> None:
    """Refuse more dimensions than features, groups larger than the number of features, and batches that do not fit."""
    checks.whole("nd", nd, 1, ns)
    checks.whole("group", group, 1, ns)
    ranges.batch_fits(batch, ns)


@checked(
    _fits, ns=ranges.whole(2, checks.MOST_FEATURES), nd=ranges.whole(1, checks.MOST_FEATURES), p=within.rare,
    group=ranges.whole(1, checks.MOST_FEATURES), lesson=ranges.number(0, 1), lasting=ranges.flag, steps=ranges.steps,
    batch=within.batch, lr=ranges.rate, largest=ranges.number(1e-3, 1e6), seed=within.torch_seed,
)  # fmt: skip
def train_exclusive_first(
    ns: int, nd: int, p: float, *, group: int = 20, lesson: float = 0.3, lasting: bool = True, steps: int = 6000,
    batch: int = 2048, lr: float = 0.01, largest: float = 10.0, seed: int = 0, device: str = "cpu",
) -> Code:  # fmt: skip
    """Train W_in, W_out and b from dense random weights by plain Adam, on exclusive features first. Needs torch.

    Only the data has a schedule. For the first part of the lesson exactly one feature of each group is on; then a group
    is drawn so with a chance that falls to 0; after the lesson features are independent.

    Parameters
    ----------
    p : float
        Probability that a feature is on, from 1e-12 to 1.
    group : int
        Features of a group, neighbours by number. About five dimensions for each group are best; two are too few.
    lesson : float
        Share of the steps until features are independent, of which 0.4 have exclusive features alone. 0 is training on
        the task alone, the control.
    lasting : bool
        Whether groups last; else they are drawn anew for every step, another control.
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
    Source: ours, against The Persian Rug, section 5. With five dimensions for each group at r = 1/4 the lesson helps
    at p = 0.02 and 0.05, and does not at 0.01 and 0.2, with 60 features, and at p = 0.05 with up to 480. A lesson of
    600 steps is long enough at a rate of 0.01, and one of 300 is not; one of 900 is long enough at 0.03 and 0.08, and
    not at 0.003. A rate of 0.16 ruins some networks. Use `train_dense` instead for other methods, which do not help,
    and `train_on_vectors` for an order of your own.

    Examples
    --------
    >>> train_exclusive_first(40, 8, 0.05, steps=2).W_in.shape
    (8, 40)
    """

    def vectors(step, _, generator):
        return _drawn(ns, p, group, _share(step / steps, lesson), lasting, batch, generator), p

    return train_on_vectors(ns, nd, vectors, steps=steps, lr=lr, largest=largest, seed=seed, device=device)


def _share(done, lesson):
    """Chance that a group has exactly one feature on, after a share `done` of the steps."""
    left = 1 - done / lesson if lesson else 0.0
    return min(1.0, max(0.0, left / (1 - HELD)))


def _drawn(ns, p, group, share, lasting, batch, generator):
    """Feature vectors, independent or with exactly one feature on in a group; which of the two is drawn per group."""
    from superposition.devices import torch

    on, size = generator.device, -(-ns // group) * group
    x = torch.rand(batch, size, generator=generator, device=on)
    alone = torch.rand(batch, size, generator=generator, device=on) < p
    if share:
        groups = (batch, size // group, 1)
        picked = torch.randint(group, groups, generator=generator, device=on)
        exclusive = torch.rand(groups, generator=generator, device=on) < share
        alone = alone.view(batch, -1, group)
        alone = torch.where(exclusive, picked == torch.arange(group, device=on), alone).reshape(batch, size)
    x = (x * alone)[:, :ns]
    return x if lasting or not share else x[:, torch.randperm(ns, generator=generator, device=on)]
