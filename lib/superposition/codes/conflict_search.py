"""Attacks on the lower bounds: descent on the factors of W, and annealing over codes of infinite ratio.

In the annealing entries are small whole numbers, so zeros are exact and a conflict is a conflict.
Source: ours, against The Persian Rug, section 4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from superposition import checks
from superposition.codes.lower_bound import conflict_cost
from superposition.ranges import LARGEST_SEED, MOST_STEPS

CHARGE = 100.0  # on the square of a positive entry, so that the cost of conflicts is what descent can win
IMPOSSIBLE = 10**9  # more conflicts than any code has: some feature has no reader


def lowest(score: Callable[[np.ndarray], float], n: int, m: int, *, tries: int = 3, seed: int = 0) -> float:
    """Least score of a matrix with a unit diagonal and rank m that descent from random factors finds.

    Parameters
    ----------
    score : callable
        Takes an array of shape (n, n) with a diagonal of 1 and returns a number.
    n, m : int
        Features, at least 1, and dimensions, from 1 to n.
    tries : int
        Random starts, at least 1.
    seed : int
        Seed of the starts.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> round(lowest(lambda W: (W**2).sum(), 4, 2), 3)  # at least n^2 / m
    8.0
    """
    from scipy.optimize import minimize

    n = checks.whole("n", n, 1)
    m, tries = checks.whole("m", m, 1, n), checks.whole("tries", tries, 1)
    rng = np.random.default_rng(checks.whole("seed", seed, 0, LARGEST_SEED))

    def value(flat):
        W = flat[: n * m].reshape(n, m) @ flat[n * m :].reshape(m, n)
        diagonal = np.diag(W)
        return score(W / diagonal[:, None]) if np.abs(diagonal).min() > 1e-6 else 1e6

    starts = rng.standard_normal((tries, 2 * n * m))
    return float(min(minimize(value, start, method="L-BFGS-B", options={"maxiter": 60}).fun for start in starts))


def charged_cost(W: ArrayLike) -> float:
    """What the conflicts of a code cost, for each feature, and a charge on positive entries off the diagonal.

    Parameters
    ----------
    W : array_like, shape (n, n)
        Finite weights; the diagonal does not count.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `W` is not square or not finite.

    Examples
    --------
    >>> round(charged_cost([[1, -1], [-1, 1]]), 4)  # a digon: 1 / 6
    0.1667
    """
    W = checks.array("W", W, "n n")
    off = W - np.diag(np.diag(W))
    return float(conflict_cost(np.maximum(-off, 0)).sum() / len(W) + CHARGE * np.mean(np.maximum(off, 0) ** 2))


def fewest_conflicts(dots: ArrayLike, order: Iterable[int]) -> int:
    """Fewest conflicts of features in this order of loudness, each with its best reader.

    Parameters
    ----------
    dots : array_like, shape (k, l)
        Inner products of k readers with l encoder vectors.
    order : iterable of int
        Which of the encoder vectors stand in the code, the loudest first.

    Returns
    -------
    int
        `IMPOSSIBLE` if a feature has no reader that hears it and none of the louder ones.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> fewest_conflicts([[1, -1], [-1, 1]], [0, 1])  # a digon
    1
    """
    dots = checks.array("dots", dots, "k l")
    chosen, total = dots[:, checks.wholes("order", order, 0, dots.shape[1] - 1)], 0
    for t in range(chosen.shape[1]):
        fits = (chosen[:, t] > 0) & (chosen[:, :t] <= 0).all(axis=1)
        if not fits.any():
            return IMPOSSIBLE
        total += int((chosen[fits, :t] < 0).sum(axis=1).min())
    return total


def annealed_conflicts(m: int, n: int, *, steps: int = 1500, seed: int = 0) -> int:
    """Least number of conflicts on a walk over codes of infinite ratio with entries -1, 0 and 1.

    A step replaces one vector or swaps two places in the order. What is worse by k is accepted with probability 4^-k.

    Parameters
    ----------
    m : int
        Dimensions, 1 to 6.
    n : int
        Features, 2 to 3^m - 1.
    steps : int
        Steps, at least 1.
    seed : int
        Seed of the walk.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> annealed_conflicts(2, 4, steps=300)  # two digons, as few as the fan of four
    2
    """
    m = checks.whole("m", m, 1, 6)
    n, steps = checks.whole("n", n, 2, 3**m - 1), checks.whole("steps", steps, 1, MOST_STEPS)
    rng = np.random.default_rng(checks.whole("seed", seed, 0, LARGEST_SEED))
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
