"""The best allocation of dimensions to features of any frequency, over the phases, by a price per dimension.

Each feature chooses, at a price per dimension, the phase that costs it least: dropped, a share of a rug, a place in
a fan, half of a digon, or a dimension of its own. The price is then set so that the dimensions are used up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import features, ranges
from superposition.checked import checked
from superposition.codes import best_digon, fan_loss
from superposition.frequencies.ranges import all_of_features, importances, phases, probabilities, weighted
from superposition.rug import meanfield

KNOTS = 12  # probabilities at which the theory is solved; between them it is interpolated
NOISES = np.geomspace(1e-8, 30, 100)  # interference in a rug: its choices of share
DIGONS = np.r_[1e-4, 1e-3, 0.01, 0.05, np.linspace(0.1, 1, 14)]  # below, the loss is a multiple of p^2
FANS = np.unique(np.r_[np.arange(4, 40), np.geomspace(40, 20_000, 32).astype(int)])  # features of a fan


class Allocation(NamedTuple):
    """For each feature its ``phase``, its ``share`` of the dimensions and its ``losses`` (without importance).

    ``price`` is the value of one more dimension: the fall of the weighted loss.
    """

    phase: NDArray[np.str_]
    share: NDArray[np.float64]
    losses: NDArray[np.float64]
    price: float


@checked(all_of_features, weighted, p=probabilities, nds=ranges.wholes(1), importance=importances, phases=phases)
def allocate(
    p: ArrayLike, nds: Sequence[int], *, importance: ArrayLike = 1.0, phases: Sequence[str] = ("rug", "fan", "digon")
) -> list[Allocation]:
    """The best allocations of several numbers of dimensions to features of any frequency and importance.

    Parameters
    ----------
    p : array_like, shape (ns,)
        Probability that each feature is on, in (0, 1].
    nds : sequence of int
        Dimensions, each 1 to ns.
    importance : array_like, shape (ns,) or scalar
        Weight of each feature's squared error, 1e-30 to 1e30.
    phases : sequence of str
        Phases besides dropped features and own dimensions, among "rug", "fan" and "digon".

    Returns
    -------
    list of Allocation
        One for each number. The shares add up to it, or fall short of it by less than one feature's share.

    Notes
    -----
    Source: ours. The rug counts with Gaussian interference; blocks count as if their features were equally frequent,
    as neighbours in rank nearly are. Use `tied_shares` or `even_shares` instead for a rule in one line.

    Examples
    --------
    >>> [best] = allocate([0.5, 0.01, 0.01, 0.01, 0.01], [3])
    >>> best.phase[:2].tolist(), float(best.share.sum())
    (['own', 'digon'], 3.0)
    """
    p = np.asarray(p, float)
    weight = np.broadcast_to(np.asarray(importance, float), p.shape)
    names, share, loss = _choices(p, phases)
    return [_allocated(names, share, loss, weight, weight * p, nd) for nd in nds]


def _allocated(names, share, loss, weight, worth, nd):
    """Halve the interval of the price until the dimensions are just used up."""
    weighted = weight[:, None] * loss
    # A dimension of its own in place of a fan or a digon is worth about weight p^2 / 3 to a feature.
    low, high = np.log(min(1e-15 * worth.max(), 0.1 * (worth**2 / weight).min())), np.log(10 * worth.max())
    for _ in range(50):
        middle = (low + high) / 2
        fits = _taken(share, _chosen(share, weighted, middle)).sum() <= nd * (1 + 1e-12)
        low, high = (low, middle) if fits else (middle, high)
    at = _filled(share, *(_chosen(share, weighted, end) for end in (high, low)), worth, nd)  # pyrefly: ignore[bad-argument-count]: two
    return Allocation(names[at], _taken(share, at), _taken(loss, at), float(np.exp(high)))


def _choices(p, phases):
    """Names of the choices; their shares and losses, a row for each feature."""
    V = features.variance(p)[:, None]
    found = [("dropped", 0 * V, V), ("own", 1 + 0 * V, 0 * V)]
    found += [(name, *_phase(name, p.tobytes())) for name in phases]
    names = np.concatenate([[name] * share.shape[1] for name, share, _ in found])
    return names, *(np.concatenate([part[k] for part in found], axis=1) for k in (1, 2))


@lru_cache(maxsize=8)
def _phase(name, p):
    """Shares and losses of a phase for features of given probabilities, the bytes of an array."""
    return PHASES[name](np.frombuffer(p))


def _rug(p):
    def relative(at):
        V = features.variance(at)[:, None]
        return meanfield.optimum(at[:, None], V / (V + NOISES)).loss / V

    V = features.variance(p)[:, None]
    return V / (V + NOISES), _interpolated(relative, p) * V


def _fan(p):
    return np.broadcast_to(2 / FANS, (len(p), len(FANS))), np.stack([fan_loss(p, int(B)) for B in FANS], axis=1)


def _digon(p):
    losses = (_digon_curve()(np.log(np.maximum(p, DIGONS[0]))) * p**2)[:, None]
    return np.full_like(losses, 0.5), losses


@cache
def _digon_curve():
    """Loss of the best digon divided by p^2."""
    from scipy.interpolate import PchipInterpolator

    return PchipInterpolator(np.log(DIGONS), best_digon(DIGONS)[1] / DIGONS**2)


PHASES: dict[str, Callable] = {"rug": _rug, "fan": _fan, "digon": _digon}


def _interpolated(function, p):
    """A function of probability from some of its values, cubic in the logarithm."""
    from scipy.interpolate import PchipInterpolator

    distinct = np.unique(p)
    if len(distinct) <= KNOTS:
        return function(distinct)[np.searchsorted(distinct, p)]
    at = np.geomspace(distinct[0], distinct[-1], KNOTS)
    at[[0, -1]] = distinct[[0, -1]]
    return PchipInterpolator(np.log(at), function(at), axis=0)(np.log(p))


def _chosen(share, loss, log_price):
    return (loss + np.exp(log_price) * share).argmin(axis=1)


def _taken(table, at):
    return np.take_along_axis(table, at[:, None], axis=1)[:, 0]


def _filled(share, small, large, worth, nd):
    """A mixture of the choices at two neighbouring prices: features that are worth more get the larger share first."""
    at, order = small.copy(), np.argsort(-worth, kind="stable")
    more = (_taken(share, large) - _taken(share, small))[order]
    fits = np.cumsum(more) <= nd - _taken(share, small).sum() + 1e-9
    at[order[fits]] = large[order[fits]]
    return at
