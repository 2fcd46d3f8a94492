"""Anybody's autoencoder measured against the theory: gains, noise, partners, loudness, loss, and how far from the best.

Source: The Persian Rug, sections 2 to 4, for what is measured; partners, graphs and loudness are ours.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, features, weights
from superposition.codes import partners
from superposition.codes.best_map import Best, best_known
from superposition.codes.exact_losses import code_loss
from superposition.diagnosis import ablations, record_verifier
from superposition.diagnosis.feature_laws import FeatureLaw, gaussian_loss, rug_optimum, uniform_law, uniform_nodes
from superposition.features import Estimate
from superposition.rug import meanfield
from superposition.rug.meanfield import Optimum
from superposition.rug.model import RowStatistics, row_statistics
from superposition.rug.ranges import LARGEST
from superposition.rug.rugs import row_loss

HEARD = 0.1  # of the largest gain: with less of its own feature, an output counts as dropped. Our choice.
WORK = 4e9  # products that a simulation may take if nothing is said: a few seconds
MOST, FEWEST = 400_000, 2000  # feature vectors of such a simulation
ROWS = 12  # rows whose own law is worked out, where they differ: a second or two


@dataclass(frozen=True)
class Diagnosis:
    """What `diagnose` found; `print` it for a report.

    ``ns``, ``nd``, ``p`` (None under another ``law``); ``W`` and ``b``; ``rows``, the row statistics; ``kind`` of each
    feature ("heard", "dropped", "dead"); ``loudness`` of each (geometric mean 1, nan unless heard); ``graph``, the
    structure of the heard features as in `superposition.diagnosis.ablations.structure`. Losses a feature: ``gaussian``
    (eq. 5 with each row's own gain, bias and noise), ``partner`` (the same with the strongest rival kept out of the
    noise), ``by_law`` (from the exact law of each row, or of ``rows_by_law`` of them, evenly chosen; None where it
    cannot be resolved), ``exact`` (over all sets of active features, for up to twelve), ``simulated`` with its error,
    ``by_feature`` (of the same simulation). To compare with: ``theory`` (the rug), ``linear``, ``best`` known. Under
    another law partner, by_law, exact and best are None.

    Examples
    --------
    >>> found = diagnose([[1, -1], [-1, 1]], [0, 0], 0.05, samples=100)
    >>> found.kind.tolist(), round(found.sigma / found.sigma_bound, 6)
    (['heard', 'heard'], 1.0)
    """

    ns: int
    nd: int
    p: float | None
    law: FeatureLaw
    W: NDArray[np.float64]
    b: NDArray[np.float64]
    rows: RowStatistics
    kind: np.ndarray
    loudness: NDArray[np.float64]
    graph: Mapping[str, float]
    gaussian: float
    partner: float | None
    by_law: float | None
    rows_by_law: int
    exact: float | None
    simulated: Estimate
    by_feature: NDArray[np.float64]
    theory: Optimum
    linear: float
    best: Best | None

    @property
    def r(self) -> float:
        """Compression ratio nd / ns."""
        return self.nd / self.ns

    @property
    def heard(self) -> NDArray[np.bool_]:
        """Which features are heard."""
        return self.kind == "heard"

    @property
    def sigma(self) -> float:
        """Root mean square over the heard features of the standard deviation of their interference, at gain one."""
        gain, total = self.rows.diagonal[self.heard], _squares(self.rows)[self.heard]
        return float(np.sqrt(self.law.variance * np.mean(total / gain**2)))

    @property
    def sigma_bound(self) -> float:
        """The smallest that so many heard features allow in so many dimensions (The Persian Rug, eq. 6)."""
        return float(np.sqrt(self.law.variance * max(self.heard.sum() / self.nd - 1, 0)))

    @property
    def loss(self) -> float:
        """The loss, exact where it is known, else simulated."""
        return self.simulated.mean if self.exact is None else self.exact

    @property
    def triangle_free(self) -> bool:
        """Whether heard features silence one another both ways, but no three of them, as in a graph tile."""
        return self.graph["mutual"] > 0 and self.graph["clustering"] == 0

    def __str__(self) -> str:
        """A report of a dozen lines."""
        return "\n".join(f"{name:<10}{text}" for name, text in _report(self))


def diagnose(
    W: ArrayLike | str | os.PathLike,
    b: ArrayLike | None = None,
    p: float | None = None,
    *,
    W_out: ArrayLike | None = None,
    nd: int | None = None,
    law: FeatureLaw | None = None,
    samples: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Diagnosis:
    """Measure the autoencoder ReLU(W x + b) and compare it with the theory and with the best known code.

    Parameters
    ----------
    W : array_like, str or os.PathLike
        The product W_out W_in, shape (ns, ns); or a tied encoder W, shape (nd, ns) with nd < ns, for ReLU(W^T W x + b);
        or, with `W_out`, the encoder W_in; or a safetensors file of `superposition.weights`, which has `b` as well.
    b : array_like, shape (ns,), optional
        Bias; left out for a file only.
    p : float, optional
        Probability that a feature is on, in (0, 1), for features of the text's law.
    W_out : array_like, shape (ns, nd), optional
        The decoder.
    nd : int, optional
        Dimensions, from 1 to ns; those of the factors, or the rank of the product, if left out. (A product that was
        rounded to single precision has a higher rank than it should: then say what it is.)
    law : FeatureLaw, optional
        Another law of the features, in place of `p`.
    samples : int, optional
        Feature vectors of the simulation, at least 2; as many as take a few seconds if left out.
    seed : int
        Seed of the feature vectors.
    progress : callable, optional
        Called as ``progress(done, total)`` while feature vectors are simulated.

    Returns
    -------
    Diagnosis

    Raises
    ------
    ValueError
        If the weights do not fit, a value is not finite, no feature is heard, or `p` is outside (0, 1).

    Notes
    -----
    Source: The Persian Rug, eq. 1 to 6. An output is dead as in `superposition.rug.model.RowStatistics`, and dropped
    where its gain is below a tenth of the largest. Loudness is what has to be taken off encoder and put on the decoder
    of each feature to make |W| as symmetric as it gets.

    Examples
    --------
    >>> found = diagnose([[1, -1], [-1, 1]], [0, 0], 0.05, samples=100000)
    >>> found.nd, round(found.exact / 0.05**2, 4), found.triangle_free
    (1, 0.1667, True)
    >>> print(found)
    size      2 features in 1 dimensions, r = 0.5, p = 0.05
    features  2 heard, 0 dropped, 0 dead
    gain      1 (the rug's 1.275)
    bias      -0.025 with the mean interference (the rug's -0.2678)
    noise     sigma 0.1267, 1 of the least possible
    rows      skewness 0 on average, Lambda 1
    partners  1.0 below -0.25 of the gain, 100 % of them mutual, in a graph without triangles
    loudness  all equal
    loss      0.0004167 exact; 0.0004376 ± 4.2e-05 simulated
    formula   0.006257 with Gaussian noise; 0.0004167 with the strongest rival apart; 0.0004167 by the law of the rows
    distance  0.2189 of the rug; 1.082 of the best known (digon); 0.05195 of linear
    """
    found = _given(W, b, W_out)
    product, bias = found["W"], found["b"]
    for name, value in (("W", product), ("b", bias)):
        checks.real(name, value, -LARGEST, LARGEST)
    ns = len(bias)
    if ns < 2:
        raise ValueError(f"W has shape {product.shape}; allowed: (ns, ns) with ns of 2 or more")
    nd = _dimensions(found) if nd is None else checks.whole("nd", nd, 1, ns)
    law, p = _law(p, law)
    rows = _rows(product, bias, law, p)
    kind = _kinds(rows)
    if not np.any(kind == "heard"):
        raise ValueError(f"W of shape {product.shape} has no positive diagonal that is heard; allowed: at least one")
    samples = int(np.clip(WORK / ns**2, FEWEST, MOST)) if samples is None else checks.whole("samples", samples, 2)
    by_feature, simulated = _simulated(product, bias, law, samples, checks.whole("seed", seed, 0), progress)
    by_law, rows_by_law = _by_law(product, rows, p)
    heard = kind == "heard"
    relative = product[np.ix_(heard, heard)] / rows.diagonal[heard, None]
    return Diagnosis(
        ns=ns, nd=nd, p=p, law=law, W=product, b=bias, rows=rows, kind=kind,
        loudness=_spread_out(heard, ablations.loudness(relative)),
        graph=ablations.structure(relative),
        gaussian=_gaussian(rows, law, p),
        partner=None if p is None else _with_partner(product, rows, p),
        by_law=by_law, rows_by_law=rows_by_law,
        exact=code_loss(product, bias, p, rtol=1e-7) if p is not None and ns <= record_verifier.EXACT else None,
        simulated=simulated, by_feature=by_feature,
        theory=rug_optimum(law, nd / ns) if p is None else meanfield.optimum(p, nd / ns),
        linear=law.variance * (1 - nd / ns),
        best=None if p is None else best_known(p, nd / ns),
    )  # fmt: skip


def _given(W, b, W_out):
    """Weights from a file, a product, a tied encoder, or an encoder and a decoder."""
    if isinstance(W, (str, os.PathLike)):
        if b is not None or W_out is not None:
            raise ValueError(f"b = {checks.shown(b)} beside a file; allowed: the file alone, which has the bias")
        return weights.load(W)  # pyrefly: ignore[bad-argument-type]: a path
    if b is None:
        raise ValueError("b = None; allowed: a bias, shape (ns,), unless W is a file")
    W = checks.array("W", W, "rows ns")
    if W_out is None and len(W) < W.shape[1]:
        W_out = W.T  # tied
    return weights.fitting({"W": W, "b": b} if W_out is None else {"W_in": W, "W_out": W_out, "b": b}, "W")


def _dimensions(found):
    return min(len(found["W_in"]), len(found["b"])) if "W_in" in found else record_verifier.rank_of(found["W"])


def _law(p, law):
    """The law of the features, and p where it is the text's."""
    if (p is None) == (law is None):
        raise ValueError(f"p = {checks.shown(p)} and law = {checks.shown(law)}; allowed: one of the two")
    if law is None:
        p = checks.number("p", p, 0, 1, open_low=True, open_high=True)
        return uniform_law(p), p
    if not isinstance(law, FeatureLaw):
        raise ValueError(f"law = {checks.shown(law)} is no law; allowed: a superposition.diagnosis.FeatureLaw")
    return law, None


def _rows(W, b, law, p):
    rows = row_statistics(W, b, 0.5 if p is None else p)
    if p is not None:
        return rows
    b_eff = b + law.mean * rows.off_mean * (len(b) - 1)
    top = np.maximum(rows.diagonal, 0) * law.nodes().x.max()
    return replace(rows, b_eff=b_eff, dead=top + b_eff + 4 * np.sqrt(law.variance * _squares(rows)) <= 0)


def _squares(rows):
    """Sum of the squares of the off-diagonal weights of each row."""
    return (rows.off_variance + rows.off_mean**2) * (len(rows.b) - 1)


def _kinds(rows):
    heard = rows.diagonal > HEARD * max(rows.diagonal.max(), 0)
    return np.where(rows.dead, "dead", np.where(heard, "heard", "dropped"))


def _spread_out(heard, values):
    full = np.full(len(heard), np.nan)
    full[heard] = values
    return full


def _gaussian(rows, law, p):
    """Mean over the rows of eq. 5 with their own numbers."""
    s, a = np.sqrt(law.variance * _squares(rows)), rows.diagonal
    losses = gaussian_loss(a, rows.b_eff, s, law.nodes() if p is None else uniform_nodes(p))
    if p is not None:  # the closed form, where the gain has the sign it should
        on = a >= 1 / LARGEST
        losses[on] = meanfield.loss(a[on], rows.b_eff[on], s[on] / a[on], p)
    return float(losses.mean())


def _with_partner(W, rows, p):
    """The same with the most negative weight of each row kept out of the Gaussian."""
    s, a = np.sqrt(features.variance(p) * _squares(rows)), rows.diagonal
    strongest = -(W - np.diag(np.diag(W))).min(axis=1)
    has = (a >= 1 / LARGEST) & (strongest > a / partners.WEIGHTS) & (strongest < a * partners.WEIGHTS)
    losses = gaussian_loss(a, rows.b_eff, s, uniform_nodes(p))
    a, c, b = a[has], strongest[has] / a[has], rows.b_eff[has]
    losses[has] = partners.loss(a, b + a * c * float(features.mean(p)), s[has] / a, c, p)
    return float(losses.mean())


def _by_law(W, rows, p):
    """The same with no Gaussian at all, and of how many rows; rows that differ in order only count as one."""
    if p is None:
        return None, 0
    a = np.where(rows.diagonal >= 1 / LARGEST, rows.diagonal, 1)
    others = np.sort((W - np.diag(np.diag(W))) / a[:, None], axis=1)
    kinds, first, count = np.unique(others.round(9), axis=0, return_index=True, return_counts=True)
    if len(kinds) > ROWS:
        first = np.unique(np.linspace(0, len(W) - 1, ROWS).astype(int))
        count = np.ones(len(first))
    try:
        losses = [_law_of(others[i], rows.diagonal[i], rows.b_eff[i], p) for i in first]
    except ValueError:  # the law of such weights at such p cannot be resolved
        return None, 0
    return float(np.average(losses, weights=count)), int(count.sum())


def _law_of(others, a, b, p):
    """Loss of one row; with Gaussian noise where it has no gain."""
    if a >= 1 / LARGEST:
        return row_loss(others, a, b, p)
    s = np.sqrt(features.variance(p) * np.sum(others**2))
    return float(gaussian_loss(a, b, s, uniform_nodes(p)))


def _simulated(W, b, law, samples, seed, progress):
    rng, chunk = np.random.default_rng(seed), max(1, 2**20 // len(b))
    errors, total = [], np.zeros(len(b))
    for start in range(0, samples, chunk):
        x = law.draw(min(chunk, samples - start), len(b), rng)
        squares = (x - np.maximum(x @ W.T + b, 0)) ** 2
        errors.append(squares.mean(axis=1))
        total += squares.sum(axis=0)
        if progress is not None:
            progress(start + len(x), samples)
    return total / samples, Estimate.of(np.concatenate(errors))


def _report(found):
    """Name and text of each line."""
    p = f", p = {found.p:g}" if found.p is not None else f", mean {found.law.mean:g}, variance {found.law.variance:g}"
    count = {name: int((found.kind == name).sum()) for name in ("heard", "dropped", "dead")}
    rows, heard, graph = found.rows, found.heard, found.graph
    yield "size", f"{found.ns} features in {found.nd} dimensions, r = {found.r:.4g}{p}"
    yield "features", ", ".join(f"{number} {name}" for name, number in count.items())
    yield "gain", f"{_range(rows.diagonal[heard])} (the rug's {found.theory.a:.4g})"
    yield "bias", f"{_range(rows.b_eff[heard])} with the mean interference (the rug's {found.theory.b:.4g})"
    least = f"{found.sigma / found.sigma_bound:.4g} of the least possible" if found.sigma_bound else "none is needed"
    yield "noise", f"sigma {found.sigma:.4g}, {least}"
    yield "rows", f"skewness {rows.off_skewness[heard].mean():.3g} on average, Lambda {rows.Lambda:.3g}"
    mutual = f"{100 * graph['mutual']:.0f} % of them mutual"
    shape = "in a graph without triangles" if found.triangle_free else f"clustering {graph['clustering']:.3g}"
    yield "partners", f"{graph['partners']:.1f} below -{ablations.STRONG} of the gain, {mutual}, {shape}"
    loud = found.loudness[heard]
    yield "loudness", "all equal" if loud.max() < 1.01 * loud.min() else _range(loud)
    exact = f"{found.exact:.4g} exact; " if found.exact is not None else ""
    yield "loss", f"{exact}{found.simulated.mean:.4g} ± {found.simulated.se:.2g} simulated"
    yield "formula", "; ".join(_formulas(found))
    yield "distance", "; ".join(f"{_share(found.loss, unit)} of {name}" for name, unit in _units(found))


def _formulas(found):
    yield f"{found.gaussian:.4g} with Gaussian noise"
    if found.partner is not None:
        yield f"{found.partner:.4g} with the strongest rival apart"
    if found.by_law is not None:
        part = "" if found.rows_by_law == found.ns else f" ({found.rows_by_law} rows)"
        yield f"{found.by_law:.4g} by the law of the rows{part}"


def _range(values):
    """The median, and the ends where they differ."""
    low, middle, high = np.quantile(values, (0, 0.5, 1)) + 0.0
    return f"{middle:.4g}" + (f", {low:.4g} to {high:.4g}" if high - low > 1e-3 * abs(middle) else "")


def _units(found):
    yield "the rug", float(found.theory.loss)
    if found.best is not None:
        yield f"the best known ({found.best.phase})", found.best.loss
    yield "linear", found.linear


def _share(loss, unit):
    return f"{loss / unit:.4g}" if unit > 0 else "far"
