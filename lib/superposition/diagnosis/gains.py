"""The gain from repairing a model, and its worst features with the reason for each.

Source: ours. A gain is the amount by which the loss would fall, not the present cost of the fault: a repaired feature
still has the loss of the other features.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from superposition.rug import meanfield

WORTH = 0.05  # of the loss: what gains less is not named
MEANT = 0.8  # of the loss of Gaussian noise: a code with less does not lose what noise costs
WORST = 10
COMMON = "as the others"
APART = 1.5  # times the median of the heard features: what a reason has to be


class Mend(NamedTuple):
    """A repair: the share of the loss that it ``gain``s, and its description in ``words``."""

    gain: float
    words: str


def of(found: Any) -> list[Mend]:
    """All repairs that gain a twentieth of the loss or more, the best first."""
    every = [_answered(found), _represented(found), _refitted(found), _turned(found), _trained_on(found)]
    return sorted((one for one in every if one is not None and one.gain >= WORTH), reverse=True)


def worst(found: Any) -> list[str]:
    """The ten features that lose most, by number, each with its share of the loss and the reason."""
    order = np.argsort(-found.by_feature)[:WORST].tolist()
    share = found.by_feature / max(found.by_feature.sum(), 1e-300)
    reasons = [_reason(found, i) for i in order]
    if all(reason == COMMON for reason in reasons):
        return [f"{', '.join(map(str, order))}: none of them differs much from the others"]
    return [f"{i} ({100 * share[i]:.2g} %: {reason})" for i, reason in zip(order, reasons, strict=True)]


def unfinished(found: Any) -> bool:
    """Whether a model loses more than finished trainings, by a worthwhile share and three of their standard errors."""
    end = found.finished
    return end is not None and found.loss > (1 + WORTH + 3 * end.error) * end.loss


def _trained_on(found):
    """The gain of further training."""
    return Mend(1 - found.finished.loss / found.loss, "training longer") if unfinished(found) else None


def _answered(found):
    """Gain for dead or silent outputs: with a bias like that of the others, they have the loss of the others."""
    return _mended(found, found.kind == "dead", "biases for {} silent outputs", 1.0)


def _represented(found):
    """Gain for features without a direction: with one, all share the dimensions, and lose as in a rug of that ratio."""
    dropped = found.kind == "dropped"
    if not dropped.any() or found.p is None:
        return None
    now, then = (float(meanfield.optimum(found.p, min(1.0, found.nd / n)).loss) for n in (found.heard.sum(), found.ns))
    if now <= 0:
        return None
    return _mended(found, dropped, "directions for {} unheard features", then / now)


def _mended(found, lost, words, dearer):
    """Gain if lost features had the loss of the heard ones, which then rises by a factor."""
    if not lost.any():
        return None
    worth = np.ones(found.ns) if found.importance is None else found.importance
    each = float(found.by_feature[found.heard].sum() / max(worth[found.heard].sum(), 1e-300)) * dearer
    after = found.by_feature.copy()
    after[lost] = np.minimum(each * worth[lost], after[lost])
    after[found.heard] *= dearer
    total = max(found.by_feature.sum(), 1e-300)
    return Mend(float(1 - after.sum() / total), words.format(int(lost.sum())))


def _refitted(found):
    """Gain from moving all biases and scaling all outputs together."""
    if not np.isfinite(found.refitted) or found.simulated.mean <= 0:
        return None
    return Mend(1 - found.refitted / found.simulated.mean, "biases and gains moved and scaled together")


def _turned(found):
    """Gain from directions with the least interference, as far as the loss is due to noise."""
    if found.p is None or not 0 < found.sigma_bound < found.sigma or not found.stands:
        return None
    r = found.nd / found.heard.sum()
    now, then = (float(meanfield.optimum(found.p, ratio).loss) for ratio in (ratio_of(found), r))
    if found.importance is not None or found.loss <= MEANT * now:  # such a loss is not that of Gaussian noise
        return None
    return Mend(min(1.0, (now - then) * found.heard.mean() / found.loss), "directions with the least interference")


def ratio_of(found: Any) -> float:
    """The ratio of a rug that has as much noise as this code."""
    variance = float(found.population.variance[found.heard].mean())
    return 1 / (1 + found.sigma**2 / variance)


def _reason(found, i):
    """The reason for a high loss of a feature: its kind, or its first number that is far from the median."""
    if found.kind[i] != "heard":
        return {"dead": "its output is silent", "dropped": "it has no direction of its own"}.get(
            found.kind[i], "its output is on though it never is")  # fmt: skip
    rows, heard = found.rows, found.heard
    noise = np.sqrt(found.measured.noise) / np.maximum(rows.diagonal, 1e-300)
    worth = np.ones(found.ns) if found.importance is None else found.importance
    for value, words in ((noise, "noise {:.2g} times the median"), (worth, "importance {:.2g} times the median"),
                         (found.population.variance, "varies {:.2g} times the median")):  # fmt: skip
        ratio = value[i] / max(_middle(value[heard]), 1e-300)
        if ratio > APART:
            return words.format(ratio)
    return _by_bias(rows, heard, noise, i)


def _by_bias(rows, heard, noise, i):
    """Whether its bias or its gain is unusual; otherwise it is like the others."""
    bias, gain = rows.b_eff / np.maximum(rows.diagonal, 1e-300), rows.diagonal
    if abs(bias[i] - _middle(bias[heard])) > noise[i] / 2:
        return f"bias {'above' if bias[i] > _middle(bias[heard]) else 'below'} the others"
    ratio = gain[i] / _middle(gain[heard])
    return f"gain {ratio:.2g} times the median" if abs(np.log(ratio)) > np.log(APART) / 2 else COMMON


def _middle(values: NDArray) -> float:
    return float(np.median(values))
