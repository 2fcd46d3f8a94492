"""A lower bound on the loss of every code at every number of features, with no limit of rare features first.

An output that reproduces its own feature well responds to each rival alone, by at least a truncated share of the
rival's strength; independent rivals add up, and the Lemma of `superposition.codes.lower_bound` counts them. Source:
ours, against The Persian Rug, section 4.2.1.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import ranges
from superposition.checked import checked
from superposition.codes.lower_bound import KAPPA, conflict_cost

ERRORS = np.geomspace(1e-8, 0.08, 141)  # mean squared errors of a feature that is on, at which a share is computed
_WEIGHTS = np.geomspace(0.02, 100, 91)  # of a rival
_SPENT = np.r_[0, np.geomspace(1e-8, 3, 161)]  # squared error spent at one strength


@checked(p=ranges.sparse_probability, r=ranges.one_ratio)
def bound_at_any_size(p: float, r: float) -> float:
    """Lower bound on the loss per feature of every code of a rank up to r times its number of features, for every p.

    Notes
    -----
    Source: ours. Features whose error is above a limit cost that. The others respond to each rival alone, by
    Hoeffding's decomposition of the variance and Chebyshev's inequality, and the rank limits how few rivals there are.
    Integrals are bounded from below, on grids. Use `counting_bound` instead where r is of order p.

    Examples
    --------
    >>> round(bound_at_any_size(0.01, 0.2) / 0.01**2, 3)  # Theorem A in the limit is 0.431
    0.192
    """
    # features whose error is above a limit cost the limit; the others, a share g of all, obey the Lemma, and
    # (1 - g) limit + cost (g^2 / r - g) is least where its slope in g is zero, or at an end
    limit = (1 - p) * ERRORS
    gain = np.maximum(0, 1 - np.sqrt(12 * np.minimum(limit, 1 / 12)))  # their diagonal is at least this
    cost = p * (1 - p) * shares() * gain**2 * KAPPA
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.nan_to_num(r * (limit + cost) / (2 * cost), nan=1, posinf=1)
    g = np.clip(least, r, 1)
    return float(p * np.max((1 - g) * limit + cost * (g**2 / r - g)))


@cache
def shares() -> NDArray[np.float64]:
    """Least share of a conflict's cost that a rival still costs an output, by its mean squared error in ERRORS."""
    # Every grid errs on the safe side. What a rival does rises with the strength of the output's own feature: the lower
    # end of each cell. It falls with the error spent: the upper end, while the multiplier charges the lower. It is
    # concave in the rival's strength, so chords lie below. Its mean square rises with the weight, but slower than the
    # weight's square: two bounds in each cell of weights.
    own, cost = np.arange(100)[:, None, None] / 100, conflict_cost(_WEIGHTS)
    found = np.array([_squares(weight, own) for weight in _WEIGHTS])
    rising = found[:-1] / cost[1:, None, None]
    slower = found[1:] * ((_WEIGHTS[:-1] / _WEIGHTS[1:]) ** 2 / cost[:-1])[:, None, None]
    ends = [found[0] * 3 / _WEIGHTS[0] ** 2, found[-1] * 3]
    return np.min([_dual(kept) for kept in [*np.maximum(rising, slower), *ends]], axis=0)


def _least_answer(rival: ArrayLike, own: ArrayLike, error: ArrayLike) -> NDArray[np.float64]:
    """Least E min(F, rival) over outputs F >= 0 with E (own - F)^2 <= error: the least effect of a rival."""
    # concave in F, so two values suffice: either own - sqrt(error), or the rival's strength and a lower one, 2 rival -
    # own or 0, that is rare enough
    rival, own, error = (np.asarray(value, float) for value in (rival, own, error))  # broadcast as late as can be
    root, gap = np.sqrt(error), np.maximum(own - rival, 1e-12)
    mixed = np.where(root <= 2 * gap, error / (4 * gap), rival - own + root)
    rare = np.minimum(error / np.maximum(own, 1e-12) ** 2, 1) * rival
    quiet = rival - np.where(2 * rival >= own, mixed, rare)
    return np.maximum(np.where(rival >= own, own - root, quiet), 0)


def _squares(weight, own):
    """Mean over the rival's strength of the square of its least effect, at each own strength and error spent."""
    rival = weight * np.arange(33) / 32
    below = np.count_nonzero(rival < own.max())  # a rival above every own strength must do what any such one must
    answer = _least_answer(rival[: below + 1], own, _SPENT[1:, None])
    low, high = answer[..., :-1], answer[..., 1:]
    cells = np.sum(low**2 + low * high + high**2, axis=-1) / 3
    return (cells + (32 - min(below, 32)) * answer[..., -1] ** 2) / 32


def _dual(kept):
    """The least mean of `kept` (own strength, error spent) at each mean error, from below, by a multiplier."""
    multipliers = np.geomspace(1e-3, 1e5, 121)
    value = np.min(kept + multipliers[:, None, None] * _SPENT[:-1], axis=2).mean(axis=1)
    return np.clip(np.max(value - multipliers * ERRORS[:, None], axis=1), 0, 1)
