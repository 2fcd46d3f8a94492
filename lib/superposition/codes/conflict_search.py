"""Attacks on the lower bounds: descent on the factors of W, and annealing over codes of infinite ratio.

In the annealing, entries are small whole numbers, so that zeros, and therefore conflicts, are exact. Codes in levels
have an infinite ratio from one level to the next and a finite one among the one, two or three features of a level.
Source: ours, against The Persian Rug, section 4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, ranges
from superposition.checked import checked
from superposition.codes import ranges as within
from superposition.codes.fans import Code, valid_code
from superposition.codes.lower_bound import conflict_cost, conflict_slope, truncated_squares

CHARGE = 100.0  # on the square of a positive entry, so that descent gains by the cost of conflicts
IMPOSSIBLE = 10**9  # more conflicts than any code has: some feature has no reader
HIDDEN = 1 / 3  # cost of a conflict at an infinite ratio
CROWD = 3  # features of a level at most
BLIND = 1000.0  # for a feature without a reader: above what all conflicts of a small code cost
_WEDGE = [[(1, 0)], [(1, 1), (1, -1)]]
PLANES = {  # two digons, and swept fans of five and six, level by level
    4: [[(1, 0), (-1, 0)], [(0, 1), (0, -1)]],
    5: [*_WEDGE, [(-1, 1)], [(-1, -1)]],
    6: [*_WEDGE, [(0, 1), (0, -1)], [(-1, 0)]],
}
Levels = list[list[int]]  # which of the whole vectors are in each level, the loudest first


def _codes(name: str, value: Any) -> list[Code]:
    """Codes in a list; there may be none."""
    found = list(value) if isinstance(value, Sequence) and not isinstance(value, Code) else [value]
    return [valid_code(name, one) for one in found]


def _start_somewhere(n: int, m: int, tries: int, first: Sequence[Code]) -> None:
    """Refuse ranks above the size, codes of a different size, and a search without a start."""
    checks.whole("m", m, 1, n)
    if any(one.W_in.shape != (m, n) for one in first):
        raise ValueError(f"first has codes of shapes {[one.W_in.shape for one in first]}; allowed: {(m, n)}")
    if not tries and not first:
        raise ValueError("tries, first = 0, () leave no start; allowed: one or more")


@checked(
    _start_somewhere, score=ranges.function, n=ranges.whole(1, 256), m=ranges.whole(1, 256),
    tries=ranges.whole(0, 1000), seed=ranges.seed, first=_codes,
)  # fmt: skip
def lowest_score(
    score: Callable[[np.ndarray], tuple[float, np.ndarray]], n: int, m: int, *, tries: int = 3, seed: int = 0, first:
    Sequence[Code] = (),
) -> float:  # fmt: skip
    """Least score of a matrix (n, n) with a unit diagonal and rank m by descent from random factors, and from codes.

    Parameters
    ----------
    score : callable
        Takes W, returns a value and its slope in the entries off the diagonal: `conflict_score`, `lemma_score`.
    first : sequence of Code
        More starts, with weights of shape (m, n).

    Returns
    -------
    float
        Found in at most 60 steps of L-BFGS-B from each start; 1e6 where no start has a diagonal. Source: ours.

    Examples
    --------
    >>> round(lowest_score(lemma_score, 2, 1), 3)  # n^2 / m
    4.0
    """
    from scipy.optimize import minimize

    rng = np.random.default_rng(seed)

    def value(flat):
        left, right = flat[: n * m].reshape(n, m), flat[n * m :].reshape(m, n)
        W = left @ right
        diagonal = np.diag(W)[:, None]
        if np.abs(diagonal).min() <= 1e-6:
            return 1e6, np.zeros_like(flat)
        value, slope = score(W / diagonal)
        slope = slope / diagonal
        np.fill_diagonal(slope, 0)
        np.fill_diagonal(slope, -np.sum(slope * W, axis=1) / diagonal[:, 0])
        return value, np.r_[(slope @ right.T).ravel(), (left.T @ slope).ravel()]

    starts = [
        *rng.standard_normal((tries, 2 * n * m)),
        *(np.r_[code.W_out.ravel(), code.W_in.ravel()] for code in first),
    ]
    found = (minimize(value, start, jac=True, method="L-BFGS-B", options={"maxiter": 60}) for start in starts)
    return float(min(one.fun for one in found))


@checked(W=within.square)
def conflict_score(W: ArrayLike) -> tuple[float, NDArray[np.float64]]:
    """Cost of the conflicts of a code per feature, with a charge on positive entries, for `lowest_score`.

    Returns
    -------
    value : float
        The `limit_cost` plus 100 times the mean square of positive entries, for a unit diagonal.
    slope : numpy.ndarray
        In the entries off the diagonal, shape of `W`. Source: ours.

    Examples
    --------
    >>> round(conflict_score([[1, -3], [-1 / 3, 1]])[0] * 162, 6)  # the best digon
    25.0
    """
    off = np.array(W, float)
    np.fill_diagonal(off, 0)
    above, alpha = np.maximum(off, 0), np.maximum(-off, 0)
    value = conflict_cost(alpha).sum() / len(off) + CHARGE * np.mean(above**2)
    return float(value), (2 * CHARGE / len(off) * above - conflict_slope(alpha)) / len(off)


@checked(W=within.with_diagonal)
def lemma_score(W: ArrayLike) -> tuple[float, NDArray[np.float64]]:
    """`truncated_squares` of a matrix with a unit diagonal, for `lowest_score`.

    Returns
    -------
    value : float
        The sum of the Lemma.
    slope : numpy.ndarray
        In the entries off the diagonal, shape of `W`. Source: ours.

    Examples
    --------
    >>> lemma_score([[1, -0.5], [-0.5, 1]])[0]
    2.5
    """
    off = np.array(W, float)
    np.fill_diagonal(off, 0)
    return truncated_squares(W), 2 * off * (off**2 + off.T**2 < 2)


def _places(dots: np.ndarray, order: NDArray[np.int64]) -> None:
    """Refuse numbers of features that ``dots`` does not have."""
    checks.wholes("order", order, 0, dots.shape[1] - 1)


def _order(name: str, value: Any) -> NDArray[np.int64]:
    """Numbers of features, the loudest first, a list of whole numbers from 0."""
    return np.array(checks.wholes(name, value, 0, 10**9), dtype=np.int64)


@checked(_places, dots=ranges.array("k l"), order=_order)
def fewest_conflicts(dots: ArrayLike, order: Sequence[int] | NDArray[np.int64]) -> int:
    """Fewest conflicts of features in this order of loudness, each with its best reader.

    Parameters
    ----------
    dots : array_like
        Shape (k, l): products of k possible readers with l encoder vectors, zeros exact.

    Returns
    -------
    int
        A billion where a feature has no reader. Source: ours.

    Examples
    --------
    >>> from superposition.codes import cone
    >>> fewest_conflicts(cone(5).W.round(12), range(5))
    5
    """
    chosen, total = np.asarray(dots)[:, order], 0
    for t in range(chosen.shape[1]):
        fits = (chosen[:, t] > 0) & (chosen[:, :t] <= 0).all(axis=1)
        if not fits.any():
            return IMPOSSIBLE
        total += int((chosen[fits, :t] < 0).sum(axis=1).min())
    return total


@checked(within.vectors_enough, m=within.walked, n=ranges.whole(1, 2186), steps=ranges.steps, seed=ranges.seed)
def annealed_conflicts(m: int, n: int, *, steps: int = 1500, seed: int = 0) -> int:
    """Least number of conflicts on a walk over codes of infinite ratio with entries -1, 0 and 1.

    Parameters
    ----------
    n : int
        Features, from 1 to 3^m - 1, the number of vectors in m dimensions, m from 1 to 7.
    steps : int
        Codes that are tried, from 1 to a million; one with k conflicts more is accepted with probability 4^-k.

    Returns
    -------
    int
        A billion where some feature never had a reader. Source: ours.

    Examples
    --------
    >>> annealed_conflicts(2, 4, steps=300, seed=3)  # n (n - 3) / 2
    2
    """
    rng = np.random.default_rng(seed)
    whole = _whole(m)
    dots = whole @ whole.T
    order = rng.choice(len(whole), n, replace=False)
    now = least = fewest_conflicts.unchecked(dots, order)
    for _ in range(steps):
        new = _changed(order, len(whole), rng)
        then = fewest_conflicts.unchecked(dots, new)
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


@checked(
    m=ranges.whole(2, 7), n=ranges.whole(4, 21), start=ranges.one_of("mixture", "random"), steps=ranges.steps,
    seed=ranges.seed,
)  # fmt: skip
def annealed_levels(m: int, n: int, start: str, *, steps: int = 2000, seed: int = 0) -> tuple[float, float]:
    """Cost of conflicts of the best mixture known, and the least cost on a walk over codes in levels.

    Parameters
    ----------
    n : int
        Features, from 2 m to 3 m, or to 3 m - 1 if m is odd; m from 2 to 7.
    start : str
        "mixture", swept fans and digons side by side, or "random".
    steps : int
        Codes that are tried, from 1 to a million. A code that is worse by a conflict is accepted with probability 1/4
        at first, 4^-20 in the end.

    Returns
    -------
    known, found : float
        Sums over conflicts, not divided by n; 1000 or more where some feature never had a reader. Source: ours.

    Examples
    --------
    >>> known, found = annealed_levels(2, 4, "mixture", steps=20)
    >>> round(known * 162 / 25, 6), found <= known  # two digons
    (4.0, True)
    """
    checks.one_of("start", start, ("mixture", "random"))
    rng, whole = np.random.default_rng(seed), _whole(m)
    dots = whole @ whole.T
    known = [[int(np.flatnonzero((whole == w).all(axis=1))[0]) for w in level] for level in _mixture(m, n)]
    levels = known if start == "mixture" else [[int(t)] for t in rng.choice(len(whole), n)]
    now = least = _level_cost(dots, levels)
    for step in range(steps):
        new = _moved(levels, len(whole), rng)
        then = _level_cost(dots, new)
        if then <= now or rng.random() < 4.0 ** max((now - then) / HIDDEN * (1 + 19 * step / steps), -100):
            levels, now = new, then
            least = min(least, now)
    return _level_cost(dots, known), least


def _level_cost(dots: NDArray[np.int64], levels: Levels) -> float:
    """Cost of all conflicts, not divided by n: each feature with its best reader, each level at its best ratios."""
    louder: list[int] = []
    total = 0.0
    for level in levels:
        choices = [_readers(dots, t, louder, level[:k] + level[k + 1 :]) for k, t in enumerate(level)]
        if all(choices):
            total += min(
                sum(reader[0] for reader in picked) * HIDDEN + _within(tuple(reader[1:] for reader in picked))
                for picked in product(*choices)
            )
        else:
            total += BLIND * sum(not some for some in choices)
        louder += level
    return total


def _readers(dots, t, louder, others):
    """For readers of t: how many louder features hide it, and how much the others of its level weaken it."""
    fits = (dots[:, t] > 0) & (dots[:, louder + others] <= 0).all(axis=1)
    rows = np.c_[(dots[fits][:, louder] < 0).sum(axis=1), -dots[fits][:, others] / dots[fits, t][:, None]]
    rows = np.unique(rows, axis=0)
    worse = (rows[:, None] >= rows).all(axis=2) & (rows[:, None] > rows).any(axis=2)
    return [tuple(row) for row in rows[~worse.any(axis=1)].tolist()]  # pyrefly: ignore[no-matching-overload]: a matrix


@lru_cache(maxsize=100_000)
def _within(weights):
    """Least cost of conflicts within a level over the loudness of its features, on a grid of powers of 3."""
    size = len(weights)
    power = np.array(list(product(np.arange(-8, 8.1, 0.25), repeat=size - 1)))
    loud = 3.0 ** np.c_[np.zeros(len(power)), power]
    alpha = np.zeros((len(power), size, size))
    for t, row in enumerate(weights):
        others = [u for u in range(size) if u != t]
        alpha[:, t, others] = np.array(row) * loud[:, others] / loud[:, [t]]
    return float(conflict_cost(alpha).sum(axis=(1, 2)).min())


def _moved(levels, count, rng):
    """Levels with a vector replaced, two exchanged, or one moved to a level of its own or of others."""
    new = [list(level) for level in levels]
    (a, i), (b, j) = (_place(new, rng) for _ in range(2))
    kind = rng.integers(4)
    if kind == 0:
        new[a][i] = int(rng.integers(count))
    elif kind == 1:
        new[a][i], new[b][j] = new[b][j], new[a][i]
    else:
        moved = new[a].pop(i)
        if kind == 2 or len(new[b]) >= CROWD:
            new.insert(int(rng.integers(len(new) + 1)), [moved])
        else:
            new[b].append(moved)
    return [level for level in new if level]


def _place(levels, rng):
    level = int(rng.integers(len(levels)))
    return level, int(rng.integers(len(levels[level])))


def _mixture(m, n):
    """Swept fans of five and six and digons side by side, level by level; an odd dimension has a digon."""
    fans, left = m // 2, n - 2 * (m % 2)
    if m < 2 or not 4 * fans <= left <= 6 * fans:
        raise ValueError(
            f"n = {n} features fill no swept fans in {m} dimensions; allowed: 2 m to 3 m, or 3 m - 1 if odd"
        )
    levels = [[(0,) * (m - 1) + (sign,) for sign in (1, -1)]] * (m % 2)
    for k in range(fans):
        plane = PLANES[left // fans + (k < left % fans)]
        levels += [[(0,) * (2 * k) + w + (0,) * (m - 2 * k - 2) for w in level] for level in plane]
    return levels


def _whole(m):
    """All vectors of entries -1, 0 and 1 except zero."""
    return np.array(list(product((-1, 0, 1), repeat=m)))[np.arange(3**m) != 3**m // 2]
