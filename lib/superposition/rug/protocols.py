"""How an autoencoder is trained: learning rate, steps, batch, schedule and start, as one rule in one place.

Source: the text's protocol is that of The Persian Rug, section 2, and of its public code; the recipe is ours.
"""

from __future__ import annotations

from dataclasses import dataclass

from superposition import checks, features
from superposition.ranges import MOST_FEATURES
from superposition.rug import ranges

PROTOCOLS = ("recipe", "earlier", "text")
STARTS = ("tied", "independent")
RATE = 1e-2
SMALL = 256  # features up to which the recipe keeps its full rate; beyond, it falls as 1 / sqrt(ns)
ON = 48.0  # features on at once, ns p, from which it falls as 1 / (ns p)
SHIFT = 1 / 3  # how far two steps of the recipe may move every output together, in units of the largest feature
FREQUENT = 0.1  # p from which no feature is too rare for an independent start


@dataclass(frozen=True)
class Protocol:
    """Learning rate, Adam steps (an upper limit for the text's), feature vectors a step, schedule and start."""

    lr: float
    steps: int
    batch: int
    schedule: str
    start: str


def rate_at_shift(shift: float, ns: int, nd: int, p: float) -> float:
    """Learning rate at which two Adam steps of the same sign can move every output by a given amount.

    An Adam step moves each weight by about the rate, whatever the gradient's size. Where outputs are too large, the
    encoder's weights of a hidden unit move with one sign, so its mean moves by lr ns p / 2; the next step of the
    decoder goes against these means, nd of them, with one sign too, and moves every output by
    lr nd (lr ns p / 2) = lr^2 ns nd p / 2.

    Parameters
    ----------
    shift : float
        How far, in units of the largest feature, above 0. At about 1 no feature reaches beyond it.
    ns, nd : int
        Features, at least 2, and hidden dimensions, 1 to ns.
    p : float
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    float
        sqrt(2 shift / (ns nd p)).

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: ours. The run rug-edge has the shift from which trainings collapse.

    Examples
    --------
    >>> rate_at_shift(0.5, 400, 100, 0.25)
    0.01
    """
    shift = checks.number("shift", shift, 0, ranges.LARGEST, open_low=True)
    ns = checks.whole("ns", ns, 2, MOST_FEATURES)
    return (2 * shift / (ns * checks.whole("nd", nd, 1, ns) * features.one_probability(p))) ** 0.5


def protocol(name: str, ns: int, nd: int, p: float) -> Protocol:
    """What a protocol does at a given size, rank and sparsity.

    Parameters
    ----------
    name : {"recipe", "earlier", "text"}
        "recipe": the rate is 1e-2, beyond 256 features less by sqrt(256 / ns), at most 1e-2 * 48 / (ns p), and at most
        `rate_at_shift` of 1/3, since a larger one drives all outputs to zero within a few steps; 2000 steps of a
        cosine. Below p = 0.1 the decoder starts as the encoder's transpose, so that every W_ii is positive: an output
        that starts with a negative one sees its feature as noise, and dies where the feature is rare. Frequent
        features learn the sign in time, and those that are better dropped are dropped more easily from an independent
        start.
        "earlier": what older tables were made by; the rate falls as 256 / ns beyond 256 features, whatever p is, and
        the start is independent.
        "text": the constant rate 3e-3 / sqrt(ns) until the loss no longer falls, from an independent start.
    ns, nd : int
        Features, at least 2, and hidden dimensions, 1 to ns; only the recipe depends on nd.
    p : float
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    Protocol

    Raises
    ------
    ValueError
        If `name` is unknown, or `ns`, `nd` or `p` is out of range.

    Notes
    -----
    Source: the text's rate is that of the public code of The Persian Rug. The run rug-recipe shows what the recipe
    reaches from 64 to 4096 features, rug-corners where its rate is nearest to a collapse (it fails at p = 0.2 with
    2048 features and nd / ns = 0.9).

    Examples
    --------
    >>> protocol("recipe", 256, 51, 0.05)
    Protocol(lr=0.01, steps=2000, batch=1024, schedule='cosine', start='tied')
    >>> rare, frequent = protocol("recipe", 4096, 819, 0.002), protocol("recipe", 4096, 819, 0.5)
    >>> rare.lr, rare.start, frequent.lr, frequent.start
    (0.0025, 'tied', 0.000234375, 'independent')
    >>> [f"{protocol('recipe', 4096, nd, 0.05).lr:.2e}" for nd in (819, 2048)]  # the rank decides from r = 0.15 on
    ['1.99e-03', '1.26e-03']
    """
    checks.one_of("protocol", name, PROTOCOLS)
    ns, p, most = checks.whole("ns", ns, 2, MOST_FEATURES), features.one_probability(p), rate_at_shift(SHIFT, ns, nd, p)
    if name == "text":
        return Protocol(3e-3 / ns**0.5, 100_000, 1024, "constant", "independent")
    if name == "earlier":
        return Protocol(RATE * min(1.0, 256 / ns), 2000, 1024, "cosine", "independent")
    start = "tied" if p < FREQUENT else "independent"
    lr = min(RATE * min(1.0, (SMALL / ns) ** 0.5, ON / (ns * p)), most)
    return Protocol(lr, 2000, 1024, "cosine", start)
