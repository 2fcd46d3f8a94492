"""Incidental polysemanticity with company: some inputs hold two features, and a shared neuron then costs something.

A single feature comes with probability 1 - q, any two together with q. Otherwise the losses and the flow are those of
the text, W' = -(dL/dW)/4 - lambda sign(W); a given pair meets at the rate B = 2 q / (n - 1). Source: Incidental
Polysemanticity, section 2, where the inputs are basis vectors; company is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.incidental import ranges as own

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike

EARLY = 20.0  # until then the weights move fast, and the step is half as long
STEP = 0.2
AT_REST = 1e-6  # speed of the fastest weight; a weight that is exactly 0 stays 0

_rate = ranges.number(0, 1000)


def company_settles(W: np.ndarray, alone: float, both: float) -> None:
    """Refuse networks whose weights would not settle at the first steps of the flow, of STEP / 2."""
    overlaps = np.maximum(np.asarray(W, float) @ np.asarray(W, float).swapaxes(1, 2), 0)
    rate = (alone + both * (W.shape[1] - 1)) * float(overlaps.sum(axis=2).max())
    if rate > 4 / STEP:
        raise ValueError(f"W has weights that move at rates up to {rate:g}; allowed: up to {4 / STEP:g}")


def company_ends(lambda_: float, t: float | None) -> None:
    """Refuse a flow that has no end."""
    least = 80 / own.LONGEST
    if t is None and lambda_ < least:
        raise ValueError(
            f"lambda_ = {lambda_:g} is too small for a time of 8 / lambda; allowed: from {least:g} on, or t"
        )


@checked(q=ranges.number(0, 1), n=own.several)
def company_rates(q: float, n: int) -> tuple[float, float]:
    """How often a given feature comes alone, and how often a given pair meets, per feature. Source: ours.

    Examples
    --------
    >>> company_rates(0.2, 5)
    (0.8, 0.1)
    """
    return 1 - q, 2 * q / (n - 1)


@checked(q=ranges.number(0, 1), n=own.several)
def pair_company_rates(q: float, n: int) -> tuple[float, float]:
    """The rates of two features out of n that share no neuron with others: with these, each is as if alone.

    Source: ours. Use `company_rates` for all n features.

    Examples
    --------
    >>> [round(rate, 4) for rate in pair_company_rates(0.2, 5)]
    [1.1, 0.1]
    """
    return 1 - q + 2 * q * (n - 2) / (n - 1), 2 * q / (n - 1)


@checked(
    company_settles, company_ends, W=own.kept("b n m"), alone=_rate, both=_rate, lambda_=own.strength,
    t=ranges.number(0, own.LONGEST / 10),
)  # fmt: skip
def company_flow(
    W: ArrayLike, alone: float, both: float, lambda_: float, t: float | None = None
) -> Float[np.ndarray, "b n m"]:
    """Gradient flow of many networks (b, n, m) for a time t, by default 8 / lambda, in their own precision.

    Source: ours, for section 2. Use `gradient_flow_each` without company: its steps are longer.

    Examples
    --------
    >>> company_flow([[[0.9, 0.1], [-0.9, 0.0]]], 1.0, 0.2, 0.02, 5.0).round(3)
    array([[[ 1.036,  0.06 ],
            [-0.938,  0.   ]]])
    """
    W, left = np.array(W), 8 / lambda_ if t is None else t
    start = left
    while left > 1e-9:
        h, before = min(STEP / 2 if start - left < EARLY else STEP, left), W
        W = W - np.asarray(h, W.dtype) * _gradient(W, alone, both)
        W = W - np.clip(W, -h * lambda_, h * lambda_).astype(W.dtype)
        left -= h
        if np.abs(W - before).max() < AT_REST * h:
            break
    return W


def _gradient(W: ArrayLike, alone: float, both: float) -> Float[np.ndarray, "b n m"]:
    """A quarter of the gradient of the squared errors over single features and pairs, at networks (b, n, m)."""
    # With delta the error of the outputs that are above 0, an input x adds (delta x' + x delta') W / 2.
    W = np.asarray(W)
    single, pairs = _errors(W, both, heard=True)
    on = alone * single
    if both:
        H = pairs.sum(axis=2)
        on = on + W.dtype.type(both / 2) * (H + H.swapaxes(1, 2))
    return on.astype(W.dtype) @ W


def _errors(W, both, heard=False):
    """ReLU(W W' x) - x for every feature (b, n, n) and ordered pair (b, n, n, n); with `heard`, 0 for shut outputs."""
    gram = W @ W.swapaxes(1, 2)
    own = np.eye(W.shape[1], dtype=W.dtype)
    single = np.maximum(gram, 0) - own
    if heard:
        single = np.where(gram > 0, single, 0)
    if not both:
        return single, np.zeros((len(W), 1, 1, 1), W.dtype)
    sums = gram[:, :, None, :] + gram[:, None, :, :]
    pairs = np.maximum(sums, 0) - (own[:, None, :] + own[None, :, :])
    if heard:
        pairs = np.where(sums > 0, pairs, 0)
    return single, pairs * (1 - own)[:, :, None]


@checked(alone=_rate, both=_rate, lambda_=own.strength)
def settled_pair(alone: float, both: float, lambda_: float) -> tuple[float, float]:
    """The two weights, opposite in sign, of a pair that shares a neuron and has settled: sizes, the larger first.

    Source: ours. Use `resting_weight` without company.

    Raises
    ------
    ValueError
        If an argument is outside of its range, or the pair does not settle.

    Examples
    --------
    >>> [round(size, 4) for size in settled_pair(1.0, 0.05, 0.02)]
    [1.0025, 0.977]
    """
    from scipy.optimize import root

    def push(z):
        x, y = z
        missed = both / 2 * (1 - x * (x - y))
        return [alone * x * (1 - x**2) - lambda_ + missed * (2 * x - y), alone * y * (1 - y**2) - lambda_ - missed * x]

    found = root(push, [1.0, 0.97], tol=1e-13)
    x, y = found.x
    if min(x, y) <= 0 or (not found.success and max(map(abs, push(found.x))) > 1e-9):
        given = f"alone, both, lambda_ = {alone:g}, {both:g}, {lambda_:g}"
        raise ValueError(f"{given} have no settled pair; allowed: smaller both or lambda_")
    return float(x), float(y)


@checked(both=_rate, lambda_=own.positive_strength)
def curing_weight(both: float, lambda_: float) -> float:
    """How large a weight on a free neuron must be to part a settled pair, 1 / (1 + B / 2 lambda), for one weight.

    Source: ours.

    Examples
    --------
    >>> curing_weight(0.08, 0.01)
    0.2
    """
    return 1 / (1 + both / (2 * lambda_))
