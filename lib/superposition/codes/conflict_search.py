"""Attacks on the lower bounds: descent on the factors of W, and annealing over codes of infinite ratio.

In the annealing entries are small whole numbers, so zeros are exact and a conflict is a conflict.
Source: ours, against The Persian Rug, section 4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition.codes.lower_bound import conflict_cost

CHARGE = 100.0  # on the square of a positive entry, so that the cost of conflicts is what descent can win
IMPOSSIBLE = 10**9  # more conflicts than any code has: some feature has no reader


def lowest(score: Callable[[np.ndarray], float], n: int, m: int, *, tries: int = 3, seed: int = 0) -> float:
    """Least score of a matrix (n, n) with a unit diagonal and rank m that descent from random factors finds."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(seed)

    def value(flat):
        W = flat[: n * m].reshape(n, m) @ flat[n * m :].reshape(m, n)
        diagonal = np.diag(W)
        return score(W / diagonal[:, None]) if np.abs(diagonal).min() > 1e-6 else 1e6

    starts = rng.standard_normal((tries, 2 * n * m))
    return float(min(minimize(value, start, method="L-BFGS-B", options={"maxiter": 60}).fun for start in starts))


def charged_cost(W: ArrayLike) -> float:
    """What the conflicts of a code cost, for each feature, and a charge on positive entries off the diagonal."""
    W = np.asarray(W, float)
    off = W - np.diag(np.diag(W))
    return float(conflict_cost(np.maximum(-off, 0)).sum() / len(W) + CHARGE * np.mean(np.maximum(off, 0) ** 2))


def fewest_conflicts(dots: ArrayLike, order: Sequence[int] | NDArray[np.int64]) -> int:
    """Fewest conflicts of features in this order, the loudest first, each with its best reader; ``dots``: (k, l)."""
    chosen, total = np.asarray(dots)[:, order], 0
    for t in range(chosen.shape[1]):
        fits = (chosen[:, t] > 0) & (chosen[:, :t] <= 0).all(axis=1)
        if not fits.any():
            return IMPOSSIBLE
        total += int((chosen[fits, :t] < 0).sum(axis=1).min())
    return total


def annealed_conflicts(m: int, n: int, *, steps: int = 1500, seed: int = 0) -> int:
    """Least number of conflicts on a walk over codes of infinite ratio with entries -1, 0 and 1."""
    # What is worse by k is accepted with probability 4^-k.
    rng = np.random.default_rng(seed)
    whole = np.array(list(product((-1, 0, 1), repeat=m)))[np.arange(3**m) != 3**m // 2]
    dots = whole @ whole.T
    order = rng.choice(len(whole), n, replace=False)
    now = least = fewest_conflicts(dots, order)
    for _ in range(steps):
        new = _changed(order, len(whole), rng)
        then = fewest_conflicts(dots, new)
        if then <= now or rng.random() < 4.0 ** max(now - then, -100):
            order, now = new, then
            least = min(least, now)
    return least


def _changed(order, count, rng):
    """The order with one vector replaced or two places swapped."""
    new = order.copy()
    if rng.random() < 0.5:
        new[rng.integers(len(new))] = rng.integers(count)
    else:
        pair = rng.choice(len(new), 2, replace=False)
        new[pair] = new[pair[::-1]]
    return new
