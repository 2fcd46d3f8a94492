"""Any autoencoder measured against the theory: the kind of its code, its loss, and its distance from the best code.

Source: The Persian Rug, sections 2 to 4, for the measured quantities; partners, graphs and loudness are ours. Capacity
is defined by Scherlis and others (2022), effective features by Bereska and others (2025).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from superposition import checks
from superposition.codes import LARGEST_PARTNER, code_loss, partner_loss
from superposition.diagnosis import (
    ablations,
    behaviour,
    company,
    dimensions,
    measures,
    names,
    objects,
    record_verifier,
    yardsticks,
)
from superposition.diagnosis.diagnosed import Diagnosis
from superposition.diagnosis.feature_laws import FeatureLaw, Population, gaussian_loss, rug_optimum
from superposition.diagnosis.measures import HEARD
from superposition.diagnosis.reading import read
from superposition.ranges import LARGEST
from superposition.rug import meanfield

WORK = 4e9  # products that a simulation may take if nothing is said: a few seconds
MOST, FEWEST = 400_000, 2000  # feature vectors of such a simulation
JUDGED = 100  # feature vectors from which on behaviour tells what is dead
TRIED = 256  # feature vectors on which weights are checked against the forward pass
SILENT = 0.01  # an output that answers its feature less often, and is not on without it, is dead


def diagnose(
    W: Any = None, b: ArrayLike | None = None, p: ArrayLike | None = None, *, W_out: ArrayLike | None = None,
    encode: Callable | None = None, decode: Callable | None = None, ns: int | None = None, nd: int | None = None,
    law: FeatureLaw | None = None, l0: float | None = None, x: Any = None, features: Any = None,
    strength: float | None = None, importance: ArrayLike | str | None = None, loss_as: str | None = None,
    instance: int | None = None, reading: str | None = None, b_dec: str | None = None, activation: str | None = None,
    k: int | None = None, ignore: Sequence[str] = (), samples: int | None = None, seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Diagnosis:  # fmt: skip
    """Measure a model by its own forward pass and compare it with the theory and with the best known code.

    Parameters
    ----------
    W : array_like, str, os.PathLike, mapping or model
        The product W_out W_in, shape (ns, ns); or a tied encoder, (nd, ns) or (ns, nd), for ReLU(W^T W x + b); or, with
        `W_out`, the encoder W_in, (nd, ns). Or a file or folder, or arrays by name, such as ``model.state_dict()``,
        which include the bias. Files are safetensors, npz, or files of `torch.save` that hold weights, not whole
        models; a folder belongs to a sparse autoencoder. Arrays are identified by their names and shapes, and
        ``weights.told`` says how. Or a model itself, with ``encode`` and ``decode``, or ``forward``: of torch, on its
        device, or of numpy.
    b : array_like, shape (ns,), optional
        Bias; left out where W is a file, has names or is a model.
    p : array_like, optional
        Probability that a feature is on, in (0, 1), one number or one for each feature, (ns,); features are uniform
        while they are on. Zeros in a list are taken to mean features that did not occur, and count as 1e-9.
    W_out : array_like, shape (ns, nd), optional
        The decoder.
    encode, decode : callable, optional
        In place of W: functions of batches, arrays of numpy (batch, width), or tensors where a function refuses arrays
        with a `TypeError`. For a toy model the features are inputs and outputs, decode(encode(x)); for a sparse
        autoencoder the latents are the features, encode(decode(z)).
    ns : int, optional
        Number of features of a model, where its arrays do not show it.
    nd : int, optional
        Number of dimensions, from 1 to ns; if left out, the width of the factors, or the rank of the product.
    law : FeatureLaw, optional
        Another distribution of the features, in place of `p`.
    l0 : float, optional
        Mean number of features that are on, in place of `p`, which is then l0 / ns. If left out for TopK and
        BatchTopK, the k of their settings.
    x : array_like, iterable, str or os.PathLike, optional
        In place of `p`: inputs of the model, (n, width), 100 or more, as an array, batches, .npy or .safetensors of one
        array. Everything is measured on them, and independence is not assumed. For a sparse autoencoder they are
        activations.
    features : array_like, iterable, str or os.PathLike, optional
        In place of `p`: vectors of features or of latents, (n, ns), in the same forms.
    strength : float, optional
        Mean of a feature while it is on, above 0; features are then uniform from 0 to twice this mean. Twice the mean
        is the unit of biases, and the square of this unit is the unit of losses. If left out, the mean of the given
        vectors, or 0.5.
    importance : array_like, shape (ns,), or str, optional
        Weight of the squared error of each feature, not negative; or "0.9^i" for a power of its number, from 0; or a
        file of weights, in the formats of `features`. All losses and the best code use these weights.
    loss_as : {"mean", "sum"}, optional
        The first line's loss is in units of the features themselves, as a mean over features or as their sum.
    instance : int, optional
        Number of the model to take, where the weights have a leading axis of models; the first if left out.
    reading : {"product", "tied", "toy", "sae"}, optional
        How to read a square W, by default as the product; or how to read linear layers or a model, by default from
        their shapes, where these are sufficient.
    b_dec : {"taken", "kept"}, optional
        For a sparse autoencoder whose file does not say: whether b_dec is subtracted before the encoder.
    activation : {"relu", "topk", "jumprelu"}, optional
        For a sparse autoencoder: which latents pass.
    k : int, optional
        For a sparse autoencoder of the kind TopK: how many latents pass.
    ignore : sequence of str
        Arrays and settings of a file that no layout explains and that have no part in the forward pass.
    samples : int, optional
        Number of feature vectors in the simulation, at least 2; if left out, as many as take a few seconds, or all that
        were given.
    seed : int
        Seed of the feature vectors.
    progress : callable, optional
        Called as ``progress(done, total)`` while rows are measured, feature vectors simulated and dimensions counted.

    Raises
    ------
    ValueError
        If a file cannot be read or holds other weights, the weights do not fit, a value is not finite or larger than
        1e30, no feature is heard, or `p` is outside (0, 1).

    Notes
    -----
    Source: The Persian Rug, eq. 1 to 6. An output is dead where it answers its own feature in less than 1 % of the
    simulated vectors (of given ones: of those in which the feature is on) and without it in less than 1 % of p, and
    dropped where its gain is below a tenth of the largest; absent is a feature that is on in none of the given vectors.
    W and b of a model are found from its responses and its arrays and checked against its forward pass; where they do
    not reproduce it, W and b are its responses to single features and to pairs, and the report says so.
    Loudness is the factor that, moved from the encoder to the decoder of each feature, makes |W| as symmetric as
    possible. For more than 512 heard features, loudness follows from the lengths of rows and columns alone, the name
    from eigenvalues alone, and clustering from 512 of the features. The rank of a product in single precision is the
    rank that single precision can resolve. For unequal probabilities the rug and the best code have the mean one.

    Examples
    --------
    >>> found = diagnose([[1, -1], [-1, 1]], [0, 0], 0.05, samples=100000)
    >>> found.nd, round(found.exact / 0.05**2, 4), found.triangle_free
    (1, 0.1667, True)
    >>> D = np.array([[1.0, -1.0]])
    >>> found = diagnose(encode=lambda x: x @ D.T, decode=lambda h: np.maximum(h @ D, 0), ns=2, p=0.05)
    >>> found.name, round(found.sigma / found.sigma_bound, 6)
    ('a digon', 1.0)
    """
    seed, unit = checks.whole("seed", seed, 0), _unit(strength)
    if p is not None:  # before a file is asked about
        checks.real("p", p, 0, 1, open_high=True)
    model = _model(W, b, W_out, encode, decode, ns, reading, instance)
    said: dict[str, Any] = {"b_dec": b_dec, "activation": activation, "k": k, "ignore": ignore}
    lacking = all(one is None for one in (p, law, l0, x, features))
    weights = read(W, b, W_out, instance=instance, reading=reading, lacking=lacking, **said) if model is None else None
    if model is not None and any(said.values()):
        raise ValueError("b_dec, activation, k or ignore beside a model, which has its own; allowed: with a file alone")
    given = _given(model or weights, x, features, (p, law, l0))
    ns = _features(model, weights)
    if ns < 2:
        raise ValueError(f"b has shape ({ns},); allowed: (ns,) with ns of 2 or more")
    if given is not None and unit is None:
        unit = 2 * float(given[given != 0].mean()) if np.any(given) else 1.0
        if not unit > 0:
            raise ValueError(f"features have mean {unit / 2:.4g} while they are on; allowed: above 0, or a strength")
    unit = 1.0 if unit is None else unit
    k = weights.l0 if weights is not None else model.k  # pyrefly: ignore[missing-attribute]: one of them is there
    population = Population.of_vectors(given / unit) if given is not None else _population(p, law, l0, ns, k)
    stands, forward = True, None
    if model is not None:
        some = next(population.batches(min(TRIED, _most(population)), TRIED, np.random.default_rng([seed, 3])))
        weights, stands = behaviour.weights(model, some, unit)
        forward = model.scaled(unit).forward
        nd = model.nd if nd is None and model.nd is not None and model.nd <= ns else nd
    weights = dimensions.scaled(weights, 1 / unit)  # pyrefly: ignore[bad-argument-type]: there
    checks.real("b", weights.b, -LARGEST, LARGEST)
    worth = yardsticks.importance(importance, ns)
    samples = _samples(weights, population) if samples is None else checks.whole("samples", samples, 2)
    samples = min(samples, _most(population))
    ending = weights.nd or ns  # rank, capacity and spread are told as so many rows each
    told = _Told(progress, ns + samples + 3 * ending)
    found = measures.measured(weights, population.mean, population.variance, told)
    nd, rank = dimensions.of(weights, nd)
    told(ending)

    def again(population, told=lambda more: None):
        return measures.simulated(weights, population, found, samples, seed, told, forward=forward, stands=stands,
                                  importance=worth)  # fmt: skip

    seen = again(population, told)
    kind = _kinds(found, seen, population, samples)
    heard = kind == "heard"
    if not np.any(heard):
        raise ValueError(
            f"weights of {ns} features whose outputs are all silent or unheard; allowed: at least one that is heard"
        )
    relative = dimensions.among(weights, heard) if heard.sum() <= names.NAMED else None
    loudness = _loudness(found, heard, relative)
    mutual, clustering = measures.clustering(found.partners[heard][:, heard])
    mean_p, capacity = population.p, dimensions.capacity(weights)
    told(ending)
    spread = dimensions.spread(weights, heard, relative, loudness[heard])
    told(ending)
    return Diagnosis(
        ns=ns, nd=nd, rank=rank, p=mean_p, population=population, weights=weights, unit=unit, importance=worth,
        measured=found, behaviour=seen, kind=kind, loudness=loudness, mutual=mutual, clustering=clustering,
        capacity=capacity, gaussian=_gaussian(found, population, worth),
        partner=None if mean_p is None or worth is not None else _with_partner(found, population),
        exact=_exact(weights, population, worth, stands),
        theory=rug_optimum(population.law, nd / ns) if mean_p is None else meanfield.optimum(mean_p, nd / ns),
        linear=yardsticks.linear(population, worth, nd), best=yardsticks.best(population, worth, nd),
        spread=spread, relative=relative, stands=stands,
        company=None if given is None
        else company.measured(weights, population, found, seen, again, heard, seed, worth),
        loss_as=None if loss_as is None else checks.one_of("loss_as", loss_as, ("mean", "sum")),
    )  # fmt: skip


def _model(W, b, W_out, encode, decode, ns, reading, instance):
    """The model of an object or of two functions; None for arrays and files."""
    functions = encode is not None or decode is not None
    if not functions and not objects.is_model(W):
        if ns is not None:
            raise ValueError(f"ns = {checks.shown(ns)} of weights, which have their own; allowed: with a model alone")
        return None
    for name, value in (("b", b), ("W_out", W_out)):
        if value is not None:
            raise ValueError(f"{name} = {checks.shown(value)} beside a model; allowed: the model alone")
    return objects.of(W, encode, decode, None if ns is None else checks.whole("ns", ns, 2), reading, instance)


def _features(model, weights) -> int:
    """Number of features."""
    return (weights if model is None else model).ns


def _unit(strength):
    """Twice the mean of a feature while it is on, if it was given."""
    return None if strength is None else 2 * checks.number("strength", strength, 0, open_low=True, open_high=True)


def _given(model, x, features, laws):
    """The given vectors of features (n, ns), or None where a distribution is given."""
    if x is None and features is None:
        return None
    if sum(one is not None for one in (x, features, *laws)) > 1:
        raise ValueError("x or features beside another of x, features, p, law and l0; allowed: one of them")
    found = company.vectors("features" if x is None else "x", features if x is None else x)
    if x is not None and model.is_sae:
        if model.nd is not None and found.shape[1] != model.nd:
            raise ValueError(f"x has shape {found.shape}; allowed: activations, (vectors, {model.nd})")
        found = model.encode(found)
    if found.shape[1] != model.ns:
        raise ValueError(f"{'features' if x is None else 'x'} has shape {found.shape}; allowed: (vectors, {model.ns})")
    return found


def _population(p, law, l0, ns, k):
    """Features by a distribution; for TopK, by default, as many are on as latents pass."""
    return Population.of(p, law, k if p is None and law is None and l0 is None and k else l0, ns)


def _most(population):
    """How many feature vectors there are."""
    return 2**53 if population.vectors is None else len(population.vectors)


class _Told:
    """Progress over rows, feature vectors and the end together."""

    def __init__(self, progress, total):
        self.progress, self.total, self.done = progress, total, 0

    def __call__(self, more):
        self.done += more
        if self.progress is not None:
            self.progress(self.done, self.total)


def _samples(weights, population):
    """Number of feature vectors that take a few seconds."""
    each = weights.ns * (200 + (weights.ns if weights.W_in is None else 2 * len(weights.W_in)))
    return int(np.clip(WORK / each, FEWEST, MOST)) if population.vectors is None else len(population.vectors)


def _kinds(found, seen, population, samples):
    rows = found.rows
    top = np.maximum(rows.diagonal, 0) * population.largest + rows.b_eff + 4 * np.sqrt(found.noise)
    dead = top <= 0
    if samples >= JUDGED:
        dead = (seen.answers < SILENT) & (seen.restless < SILENT * population.chance)
    heard = rows.diagonal > HEARD * max(rows.diagonal.max(), 0)
    kinds = np.where(dead, "dead", np.where(heard, "heard", "dropped"))
    return kinds if population.vectors is None else np.where(population.chance == 0, "absent", kinds)


def _loudness(found, heard, relative):
    full = np.full(len(heard), np.nan)
    if relative is not None:
        full[heard] = ablations.loudness(relative)
        return full
    row = (found.rows.off_variance + found.rows.off_mean**2) * (len(heard) - 1) / found.rows.diagonal**2
    row, column = row[heard], found.columns[heard]
    logs = np.log(np.where((row > 0) & (column > 0), column / np.where(row > 0, row, 1), 1)) / 4
    full[heard] = np.exp(logs - logs.mean())
    return full


def _exact(weights, population, worth, stands):
    """The exact loss of a few equal features; None otherwise."""
    gated = weights.k is not None or weights.threshold is not None or worth is not None or not stands
    if population.p is None or not population.equal or gated or weights.ns > record_verifier.EXACT:
        return None
    return code_loss(weights.rows(0, weights.ns), weights.b, population.p, rtol=1e-7)


def _gaussian(found, population, worth):
    """Mean over the rows of eq. 5, each with its own gain, bias and noise."""
    s, rows, p, worth = np.sqrt(found.noise), found.rows, population.each, 1.0 if worth is None else worth
    if p is None:
        return float((worth * gaussian_loss(rows.diagonal, rows.b_eff, s, population.nodes())).mean())
    on, losses = rows.diagonal >= 1 / LARGEST, np.zeros(len(s))
    a = rows.diagonal[on]
    losses[on] = meanfield.loss(a, rows.b_eff[on], s[on] / a, p[on])  # the closed form, where the gain has its sign
    losses[~on] = gaussian_loss(rows.diagonal[~on], rows.b_eff[~on], s[~on], population.nodes())
    return float((worth * losses).mean())


def _with_partner(found, population):
    """The same with the most negative weight of each row kept out of the Gaussian, for equal features."""
    if not population.equal:
        return None
    rows, p, strongest = found.rows, population.p, found.strongest
    s, a = np.sqrt(found.noise), rows.diagonal
    has = (a >= 1 / LARGEST) & (strongest > a / LARGEST_PARTNER) & (strongest < a * LARGEST_PARTNER)
    losses = gaussian_loss(a, rows.b_eff, s, population.nodes())
    a, c, b = a[has], strongest[has] / a[has], rows.b_eff[has]
    losses[has] = partner_loss.unchecked(a, b + a * c * p / 2, s[has] / a, c, p)
    return float(losses.mean())
