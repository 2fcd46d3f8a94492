"""How an autoencoder is trained: learning rate, steps, batch, schedule and start, as one rule in one place.

Source: the text's protocol is that of The Persian Rug, section 2, and of its public code; the recipe is ours.
"""

from __future__ import annotations

from dataclasses import dataclass

from superposition import checks, features
from superposition.ranges import MOST_FEATURES

PROTOCOLS = ("recipe", "earlier", "text")
STARTS = ("tied", "independent")
RATE = 1e-2
SMALL = 256  # features up to which the recipe keeps its full rate; beyond, it falls as 1 / sqrt(ns)
ON = 48.0  # features on at once, ns p, from which it falls as 1 / (ns p)
FREQUENT = 0.1  # p from which no feature is too rare for an independent start


@dataclass(frozen=True)
class Protocol:
    """Learning rate, Adam steps (an upper limit for the text's), feature vectors a step, schedule and start."""

    lr: float
    steps: int
    batch: int
    schedule: str
    start: str


def protocol(name: str, ns: int, p: float) -> Protocol:
    """What a protocol does at a given size and sparsity.

    Parameters
    ----------
    name : {"recipe", "earlier", "text"}
        "recipe": the rate is 1e-2, beyond 256 features less by sqrt(256 / ns), and at most 1e-2 * 48 / (ns p), since a
        larger one drives outputs to zero where many features are on at once; 2000 steps of a cosine. Below p = 0.1
        the decoder starts as the encoder's transpose, so that every W_ii is positive: an output that starts with a
        negative one sees its feature as noise, and dies where the feature is rare. Frequent features learn the sign
        in time, and those that are better dropped are dropped more easily from an independent start.
        "earlier": what older tables were made by; the rate falls as 256 / ns beyond 256 features, whatever p is, and
        the start is independent.
        "text": the constant rate 3e-3 / sqrt(ns) until the loss no longer falls, from an independent start.
    ns : int
        Number of features, at least 2.
    p : float
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    Protocol

    Raises
    ------
    ValueError
        If `name` is unknown, or `ns` or `p` is out of range.

    Notes
    -----
    Source: the text's rate is that of the public code of The Persian Rug. The run rug-recipe shows what the recipe
    reaches from 64 to 4096 features.

    Examples
    --------
    >>> protocol("recipe", 256, 0.05)
    Protocol(lr=0.01, steps=2000, batch=1024, schedule='cosine', start='tied')
    >>> rare, frequent = protocol("recipe", 4096, 0.002), protocol("recipe", 4096, 0.5)
    >>> rare.lr, rare.start, frequent.lr, frequent.start
    (0.0025, 'tied', 0.000234375, 'independent')
    """
    checks.one_of("protocol", name, PROTOCOLS)
    ns, p = checks.whole("ns", ns, 2, MOST_FEATURES), features.one_probability(p)
    if name == "text":
        return Protocol(3e-3 / ns**0.5, 100_000, 1024, "constant", "independent")
    if name == "earlier":
        return Protocol(RATE * min(1.0, 256 / ns), 2000, 1024, "cosine", "independent")
    start = "tied" if p < FREQUENT else "independent"
    return Protocol(RATE * min(1.0, (SMALL / ns) ** 0.5, ON / (ns * p)), 2000, 1024, "cosine", start)
