"""The report of a `Diagnosis`: the answer in words first, then the numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from superposition.diagnosis import ablations, gains

OTHERS = 1000  # feature vectors on which another reading is tried


def text(found: Any) -> str:
    """The report: an answer, and a line for each measured quantity."""
    return "\n".join([answer(found), *(f"{name:<10}{line}" for name, line in _lines(found))])


def answer(found: Any) -> str:
    """One line: the kind of code, its loss compared with others, the assumption, and the repair that gains most."""
    name = found.name[:1].upper() + found.name[1:]
    weighted = "" if found.importance is None else " weighted by importance"
    loss, unit = found.loss, ""
    if found.loss_as is not None:
        loss, unit = found.in_your_units(found.loss_as), f" ({found.loss_as} over features, in your units)"
    beside = ", ".join(f"{_share(found.loss, unit)} of {code}" for code, unit in _units(found))
    return f"{name}: loss {loss:.4g}{unit}{weighted}, {beside}; {_assumed(found)}. {_advice(found)}"


def _assumed(found):
    """The distribution of features that the losses assume."""
    return "features taken to be independent" if found.company is None else f"on {found.company.vectors} given vectors"


def _advice(found):
    """The repair that gains most; for a sparse autoencoder without its latents this is unknown."""
    if found.weights.is_sae and found.company is None:
        return "What is silent and what would gain depends on the company of the latents: give them as features, or x."
    first = next(iter(gains.of(found)), None)
    if first is None:
        best = found.best is not None and found.loss > (1 + gains.WORTH) * found.best.loss
        return "No mend gains 5 %" + (": only another code loses less." if best else ".")
    return f"Most to gain: {first.words}, {100 * first.gain:.0f} % of the loss."


def _lines(found: Any) -> Iterator[tuple[str, str]]:
    """Name and text of each line of numbers."""
    if found.weights.told:
        yield "read as", "; ".join(found.weights.told)
    if found.weights.otherwise:
        yield "otherwise", _otherwise(found)
    yield "size", _size(found)
    rows, heard = found.rows, found.heard
    yield "features", ", ".join(_counts(found))
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
    if found.company is not None:
        yield "company", str(found.company)
    if not (found.weights.is_sae and found.company is None):
        mends = [f"{one.words} {100 * one.gain:.0f} %" for one in gains.of(found)]
        yield "to gain", "; ".join(mends) or "no mend gains 5 % of the loss"
        yield "worst", "; ".join(gains.worst(found))
    if found.finished is not None:
        yield "trained", _trained(found)
    if found.best is not None and found.best.equal is not None:
        yield "best", _best(found)
    yield "units", _own_units(found)
    yield "caution", _caution(found)


def _otherwise(found):
    """The loss in the other reading of a file that does not say which is right."""
    words, other = found.weights.otherwise
    x = found.population.draw(OTHERS, np.random.default_rng(0))
    loss = ((other.outputs(other.drive(x)) - x) ** 2).mean()
    return f"with {words}, as the file does not say, the loss is about {loss:.3g}"


def _counts(found):
    """Number of features of each kind that occurs, with the meaning of the kind."""
    meaning = {
        "heard": "", "dropped": " (a gain below a tenth of the largest)",
        "dead": " (an output that does not answer its feature)", "absent": " (on in none of the vectors)",
    }  # fmt: skip
    for kind, words in meaning.items():
        number = int((found.kind == kind).sum())
        if number or kind != "absent":
            yield f"{number} {kind}{words if number else ''}"


def _trained(found):
    """The distance of its loss from the final loss of trainings."""
    end, ratio = found.finished, found.loss / found.finished.loss
    said = f"networks of this p, r and size end at {end.loss:.4g} ± {100 * end.error:.2g} %: this is {ratio:.3g} of it"
    return said + (": train longer" if gains.unfinished(found) else "")


def _best(found):
    """The best known code, the loudness that it needs, and the best code without loudness."""
    best = found.best
    phase = best.phase.replace("swept", "swept (a fan that turns to both sides in turn)")
    if best.equal <= best.loss * (1 + 1e-9):
        return f"{best.loss:.4g}, {phase}, equally loud features"
    loud = f"its loudest feature {best.loudness:.2g} times as loud as its quietest"
    return f"{best.loss:.4g}, {phase}, {loud}; of equal loudness {best.equal:.4g}"


def _own_units(found):
    """The loss in the units of the features, and summed over them."""
    mean, total = found.in_your_units("mean"), found.in_your_units("sum")
    return f"in those of your features {mean:.4g} as a mean over features, {total:.4g} as their sum"


def _size(found):
    law = found.law
    p = f"p = {found.p:.4g}" if found.p is not None else f"mean {law.mean:g}, variance {law.variance:g}"
    p += "" if found.population.equal else " in the mean"
    used = "" if found.rank == found.nd else f", of which {found.rank} are used"
    return f"{found.ns} features in {found.nd} dimensions{used}, r = {found.r:.4g}, {p}"


def _caution(found):
    """The conditions under which the numbers hold."""
    if found.company is not None:
        return "losses and noise are those of your vectors; the rug is that of independent features of all their values"
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
    """The median, and the range where it is not a point."""
    low, middle, high = np.quantile(values, (0, 0.5, 1)) + 0.0
    return f"{middle:.4g}" + (f", {low:.4g} to {high:.4g}" if high - low > 1e-3 * abs(middle) else "")


def _units(found):
    yield "linear", found.linear
    yield "the rug", float(found.theory.loss) * (1.0 if found.importance is None else found.importance.mean())
    if found.finished is not None:
        yield "a finished training", found.finished.loss
    if found.best is not None:
        yield f"the best known ({found.best.phase})", found.best.loss


def _share(loss, unit):
    return f"{loss / unit:.4g}" if unit > 0 else "more than the 0"
