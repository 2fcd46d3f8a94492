"""How an autoencoder is trained: learning rate, steps, batch, schedule and start, as one rule in one place.

Source: the text's protocol is from The Persian Rug, section 2, and its public code; the recipe is ours.
"""

from __future__ import annotations

from dataclasses import dataclass

from superposition import ranges
from superposition.checked import checked
from superposition.rug.ranges import rank

PROTOCOLS = ("recipe", "earlier", "text")
STARTS = ("tied", "independent")
RATE = 1e-2
SMALL = 256  # features up to which the recipe keeps its full rate; beyond, it falls as 1 / sqrt(ns)
ON = 48.0  # features on at once, ns p, from which it falls as 1 / (ns p)
RECIPE_SHIFT = 1 / 3  # how far two steps of the recipe may move every output together, in units of the largest feature
FREQUENT = 0.1  # p from which no feature is too rare for an independent start


@dataclass(frozen=True)
class Protocol:
    """Learning rate, Adam steps (an upper limit for the text's), feature vectors a step, schedule and start."""

    lr: float
    steps: int
    batch: int
    schedule: str
    start: str


@checked(
    rank, shift=ranges.number(1e-30, 1e30), ns=ranges.whole(1), nd=ranges.whole(1), p=ranges.one_probability,
)  # fmt: skip
def rate_at_shift(shift: float, ns: int, nd: int, p: float) -> float:
    """Learning rate at which two Adam steps of the same sign move every output by ``shift``.

    Parameters
    ----------
    shift : float
        In units of the largest feature; the run rug-edge has the shift from which trainings collapse.

    Notes
    -----
    Source: ours.

    Examples
    --------
    >>> round(rate_at_shift(1 / 3, ns=256, nd=51, p=0.05), 4)
    0.032
    """
    # An Adam step moves each weight by about the rate, whatever the gradient's size. Where outputs are too large, the
    # encoder's weights of a hidden unit move with one sign, so its mean moves by lr ns p / 2; the next step of the
    # decoder goes against these means, nd of them, with one sign too, and moves every output by lr^2 ns nd p / 2.
    return (2 * shift / (ns * nd * p)) ** 0.5


@checked(rank, name=ranges.one_of(*PROTOCOLS), ns=ranges.whole(1), nd=ranges.whole(1), p=ranges.one_probability)
def training_protocol(name: str, ns: int, nd: int, p: float) -> Protocol:
    """Learning rate, steps, batch, schedule and start of a protocol at a given size, rank and sparsity.

    "recipe": the rate is 1e-2, beyond 256 features less by sqrt(256 / ns), at most 1e-2 * 48 / (ns p), and at most
    `rate_at_shift` of `RECIPE_SHIFT`, since a larger one drives all outputs to zero within a few steps; 2000 steps of a
    cosine. Below p = 0.1 the decoder starts as the encoder's transpose, so that every W_ii is positive: for an output
    that starts with a negative W_ii, its own feature acts as noise, and the output dies if the feature is rare.
    Frequent features learn the sign in time, and those that are better dropped are dropped more easily from an
    independent start. "earlier": the protocol of older tables. "text": the rate of the public code.

    Notes
    -----
    Source: The Persian Rug, section 2, and its public code for "text"; the others are ours. The run rug-recipe shows
    the losses that the recipe reaches from 64 to 4096 features, rug-corners those where its rate is nearest to a
    collapse: none happens.

    Examples
    --------
    >>> training_protocol("recipe", 256, 51, 0.05)
    Protocol(lr=0.01, steps=2000, batch=1024, schedule='cosine', start='tied')
    """
    if name == "text":
        return Protocol(3e-3 / ns**0.5, 100_000, 1024, "constant", "independent")
    if name == "earlier":
        return Protocol(RATE * min(1.0, 256 / ns), 2000, 1024, "cosine", "independent")
    start = "tied" if p < FREQUENT else "independent"
    lr = min(RATE * min(1.0, (SMALL / ns) ** 0.5, ON / (ns * p)), rate_at_shift(RECIPE_SHIFT, ns, nd, p))
    return Protocol(lr, 2000, 1024, "cosine", start)
