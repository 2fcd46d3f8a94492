"""How many neurons end up with two features: the experiments behind Figure 3.

Plain functions of numbers that return plain numbers, for `superposition.runs`.
Source: Incidental Polysemanticity, section 2.1 and Figure 3.
"""

from __future__ import annotations

import numpy as np

from superposition import checks
from superposition.devices import resolve_device
from superposition.incidental import collisions, many_features

END = 6.0  # lambda t at which the flow is stopped: all rows but a few in a thousand have one weight left
LOOKS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)  # values of lambda t at which pairs are counted on the way


def by_flow(
    *, n: int, m: int, lambda_: float, step: float, seed: int, device: str = "auto"
) -> dict[str, float | int | str]:
    """Count polysemantic neurons at the end of the gradient flow, from weights of variance 1/m.

    Parameters
    ----------
    n, m : int
        Features and neurons.
    lambda_ : float
        Strength of the l1 term in the simplified convention, above 0.
    step : float
        Largest step of `superposition.incidental.many_features.flow`.
    seed : int
        Seed of the weights at the start.
    device : str
        See `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float, int or str
        What `superposition.experiments.counts.describe` says at lambda t = 6; ``first_wins``, the
        fraction of features whose neuron had their largest weight at the start; ``pairs_X``, the
        pairs of features whose largest weights share a neuron with opposite signs, at
        lambda t = X; and the ``device``.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    lambda_ = checks.number("lambda_", lambda_, 0, open_low=True, open_high=True)
    w0 = many_features.start(n, m, seed=seed).astype(np.float32)
    times = np.array([*LOOKS, END]) / lambda_
    weights = many_features.flow(w0, lambda_, times, step=step, device=device)
    pairs = {f"pairs_{at:g}": collisions.opposite_tops(W) for at, W in zip(LOOKS, weights, strict=False)}
    end = weights[-1]
    return {**describe(end), "first_wins": _first_wins(w0, end), **pairs, "device": str(resolve_device(device))}


def by_descent(
    *, n: int, m: int, lambda_: float, method: str, lr: float, steps: int, seed: int, device: str = "auto"
) -> dict[str, float | int | str]:
    """Count polysemantic neurons after training, from weights of variance 1/m.

    Parameters
    ----------
    n, m : int
        Features and neurons.
    lambda_ : float
        Strength of the l1 term in the loss, above 0.
    method : {"adamw", "sgd"}
        Optimiser.
    lr : float
        Learning rate.
    steps : int
        Training steps.
    seed : int
        Seed of the weights at the start.
    device : str
        See `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float, int or str
        What `superposition.experiments.counts.describe` says at the end, ``first_wins`` as in
        `by_flow`, and the ``device``.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    w0 = many_features.start(n, m, seed=seed)
    end = many_features.descend(w0, lambda_, method=method, steps=steps, lr=lr, device=device)
    return {**describe(end), "first_wins": _first_wins(w0, end), "device": str(resolve_device(device))}


def describe(W: np.ndarray) -> dict[str, int]:
    """Count what the weights of a trained network look like.

    Parameters
    ----------
    W : numpy.ndarray, shape (n, m)
        Encodings.

    Returns
    -------
    dict of str to int
        Polysemantic neurons at thresholds 0.5 (``polysemantic``), 0.2 (``at_low``) and 0.8
        (``at_high``); ``crowded``, neurons with three features or more; ``same_sign``, pairs of
        features on one neuron with the same sign; ``unfinished``, features with more than one
        weight above 0.1; ``dead``, features with none above 0.5.
    """
    size = np.abs(checks.array("W", W, "n m"))
    return {
        "polysemantic": collisions.count_polysemantic(W, 0.5),
        "at_low": collisions.count_polysemantic(W, 0.2),
        "at_high": collisions.count_polysemantic(W, 0.8),
        "crowded": int(((size >= 0.5).sum(0) >= 3).sum()),
        "same_sign": collisions.same_sign_pairs(W, 0.5),
        "unfinished": int(((size > 0.1).sum(1) > 1).sum()),
        "dead": int((size.max(1) < 0.5).sum()),
    }


def _first_wins(start, end):
    return float(np.mean(np.abs(start).argmax(1) == np.abs(end).argmax(1)))
