"""What a `Diagnosis` says: the answer in words first, then the numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from superposition.diagnosis import ablations
from superposition.rug import meanfield

MEANT = 0.8  # of the loss of Gaussian noise: a code with less does not lose what noise costs
OTHERS = 1000  # feature vectors on which another reading is tried
WORTH = 0.05  # of the loss: what gains less is not named


def text(found: Any) -> str:
    """The report: an answer, and a line for each thing that was measured."""
    return "\n".join([answer(found), *(f"{name:<10}{line}" for name, line in _lines(found))])


def answer(found: Any) -> str:
    """One line: what it is, what it loses beside other codes, and what would gain most."""
    name = found.name[:1].upper() + found.name[1:]
    beside = ", ".join(f"{_share(found.loss, unit)} of {code}" for code, unit in _units(found))
    return f"{name}: loss {found.loss:.4g}, {beside}. {_most_to_gain(found)}"


def _most_to_gain(found):
    """The fault that costs most, if any costs much."""
    gain, words = max(_gains(found))
    if gain < WORTH:
        best = found.best is not None and found.loss > (1 + WORTH) * found.best.loss
        return "No fault costs 5 % of it" + (": only another code loses less." if best else ".")
    return words


def _gains(found: Any) -> Iterator[tuple[float, str]]:
    """Share of the loss that each thing costs, and how to say it."""
    cost = found.by_feature / max(found.by_feature.sum(), 1e-300)
    for words, kinds in (("silent", ["dead"]), ("silent or unheard", ["dead", "dropped"]), ("unheard", ["dropped"])):
        lost = np.isin(found.kind, kinds)
        share, least = float(cost[lost].sum()), 1e-12 * len(kinds)  # the fewer kinds say it if they say as much
        yield (
            share - least,
            f"{lost.sum()} of {found.ns} features are {words}; they cost {100 * share:.0f} % of the loss.",
        )
    after = found.refitted / found.simulated.mean if found.simulated.mean > 0 else 1.0
    yield (
        1 - after,
        f"Most to gain: biases and gains, moved and scaled together, take {100 * (1 - after):.0f} % off it.",
    )
    if found.p is not None and 0 < found.sigma_bound < found.sigma:
        r = found.nd / found.heard.sum()
        now, then = (float(meanfield.optimum(found.p, ratio).loss) for ratio in (_ratio_of(found), r))
        # where partners do the work, or noise is not Gaussian, such a loss is not this code's
        off = (now - then) * found.heard.mean() / found.loss if found.loss > MEANT * now else 0.0
        yield (
            min(off, 1.0),
            f"Most to gain: directions with the least interference take about {100 * min(off, 1):.0f} % off it.",
        )


def _ratio_of(found):
    """The ratio of a rug that has as much noise as this code."""
    variance = float(found.population.variance[found.heard].mean())
    return 1 / (1 + found.sigma**2 / variance)


def _lines(found: Any) -> Iterator[tuple[str, str]]:
    """Name and text of each line of numbers."""
    if found.weights.told:
        yield "read as", "; ".join(found.weights.told)
    if found.weights.otherwise:
        yield "otherwise", _otherwise(found)
    yield "size", _size(found)
    count = {name: int((found.kind == name).sum()) for name in ("heard", "dropped", "dead")}
    rows, heard = found.rows, found.heard
    yield "features", ", ".join(f"{number} {name}" for name, number in count.items())
    yield "gain", f"{_range(rows.diagonal[heard])} (the rug's {found.theory.a:.4g})"
    yield "bias", f"{_range(rows.b_eff[heard])} with the mean interference (the rug's {found.theory.b:.4g})"
    least = f"{found.sigma / found.sigma_bound:.4g} of the least possible" if found.sigma_bound else "none is needed"
    yield "noise", f"sigma {found.sigma:.4g}, {least}"
    yield "rows", f"skewness {rows.off_skewness[heard].mean():.3g} on average, Lambda {rows.Lambda:.3g}"
    shape = "in a graph without triangles" if found.triangle_free else f"clustering {found.clustering:.3g}"
    mutual = f"{100 * found.mutual:.0f} % of them mutual"
    yield "partners", f"{found.partners:.1f} below -{ablations.STRONG} of the gain, {mutual}, {shape}"
    yield "capacity", f"{found.capacity:.4g} of {found.nd} dimensions; {found.effective:.3g} effective features in each"
    loud = found.loudness[heard]
    yield "loudness", "all equal" if loud.max() < 1.01 * loud.min() else _range(loud)
    exact = f"{found.exact:.4g} exact; " if found.exact is not None else ""
    yield "loss", f"{exact}{found.simulated.mean:.4g} ± {found.simulated.se:.2g} simulated"
    apart = "" if found.partner is None else f"; {found.partner:.4g} with the strongest rival apart"
    yield "formula", f"{found.gaussian:.4g} with Gaussian noise{apart}"
    yield "caution", _caution(found)


def _otherwise(found):
    """The loss in the other reading of a file that does not say which is right."""
    words, other = found.weights.otherwise
    x = found.population.draw(OTHERS, np.random.default_rng(0))
    loss = ((other.outputs(other.drive(x)) - x) ** 2).mean()
    return f"with {words}, as the file does not say, the loss is about {loss:.3g}"


def _size(found):
    law = found.law
    p = f"p = {found.p:.4g}" if found.p is not None else f"mean {law.mean:g}, variance {law.variance:g}"
    p += "" if found.population.equal else " in the mean"
    used = "" if found.rank == found.nd else f", of which {found.rank} are used"
    return f"{found.ns} features in {found.nd} dimensions{used}, r = {found.r:.4g}, {p}"


def _caution(found):
    """Under what the numbers hold."""
    if not found.weights.is_sae:
        return "features are taken to be independent, and " + (
            "as the law says" if found.p is None else "uniform while they are on"
        )
    return (
        "noise, partners, capacity are facts of the weights; losses take the latents for the true features, independent"
        + (" and uniform while on" if found.p is not None else "")
        + ", which those of a language model are not"
    )


def _range(values):
    """The median, and the ends where they differ."""
    low, middle, high = np.quantile(values, (0, 0.5, 1)) + 0.0
    return f"{middle:.4g}" + (f", {low:.4g} to {high:.4g}" if high - low > 1e-3 * abs(middle) else "")


def _units(found):
    yield "linear", found.linear
    yield "the rug", float(found.theory.loss)
    if found.best is not None:
        yield f"the best known ({found.best.phase})", found.best.loss


def _share(loss, unit):
    return f"{loss / unit:.4g}" if unit > 0 else "more than the 0"
