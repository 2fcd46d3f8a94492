"""Scores of a learned dictionary against the truth, by the definitions of SAELens and by our own.

Source: SAELens, ``sae_lens/synthetic/evals.py`` of release 6.54.12; the matching by signed cosines is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, ranges
from superposition.checked import checked
from superposition.decoders.dictionaries import Dictionary
from superposition.decoders.ranges import finite, shaped

ROUNDING = 1e-9  # of the largest value: below it a latent is off
NOTHING = 1e-6  # length below which an activation is zero, as in SAELens
RECOVERED = 0.9  # cosine from which a direction counts as found: the custom of the field


def _scored(truth, x, codes, directions, sae, hidden, offset):
    """Refuse features, latents and directions that do not belong to the dictionary or to each other."""
    nd, ns = truth.directions.shape
    if (codes is None) == (sae is None) or (sae is not None and (directions is not None or offset is not None)):
        raise ValueError(
            "codes and sae are both there or both missing; allowed: codes with their directions, or sae alone"
        )
    shaped("x", x, "batch", ns)
    shaped("directions", directions, nd, "k")
    shaped("codes", codes, len(x), ns if directions is None else directions.shape[1])
    shaped("hidden", hidden, len(x), nd)
    shaped("offset", offset, nd)


def _autoencoder(name, value):
    """An autoencoder: an object with `encode` and W_dec, of this package or another."""
    if not all(hasattr(value, part) for part in ("encode", "W_dec")):
        raise ValueError(f"{name} = {checks.shown(value)}; allowed: an object with encode and W_dec")
    return value


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of a learned dictionary against the truth.

    By the definitions of SAELens (`sae_lens.synthetic.evals`), a latent being on where it is not zero: ``mcc``, the
    mean absolute cosine of the best one-to-one matching, over as many pairs as there are; ``uniqueness``, the number of
    features that are nearest to some latent, divided by the number of latents; ``precision``, ``recall`` and ``f1``,
    means over latents, each as a detector of the feature nearest to it by absolute cosine; ``l0`` and ``true_l0``, mean
    numbers of latents and of features that are on; ``dead``, the number of latents that never are; ``shrinkage``, the
    mean ratio of the lengths of reconstruction and activation; ``explained``, the share of the variance of the
    activations.

    Our own: features are matched one to one by the largest sum of signed cosines; ``latent`` (ns,) is the latent of
    each feature (-1 if none is left), ``cosine`` (ns,) the cosine of the two (0 without a latent), ``mean_cosine`` its
    mean over all features, and ``recovered`` the share of features whose cosine is 0.9 or more. ``matched_precision``
    is the share of the activity of matched latents during which the feature is on, ``matched_recall`` the share of the
    activity of features during which their latent is on, ``recalls`` (ns,) that share for each feature; ``slope`` is
    the value of a latent divided by the value of its feature while both are on (least squares), and ``loss`` the
    squared error per feature of matched latents.
    """

    mcc: float
    uniqueness: float
    precision: float
    recall: float
    f1: float
    l0: float
    true_l0: float
    dead: int
    shrinkage: float
    explained: float
    latent: NDArray[np.int64]
    cosine: NDArray[np.float64]
    mean_cosine: float
    recovered: float
    matched_precision: float
    matched_recall: float
    recalls: NDArray[np.float64]
    slope: float
    loss: float


@checked(
    _scored, truth=ranges.instance(Dictionary), x=finite("batch ns"), codes=finite("batch k"),
    directions=finite("nd k"), sae=_autoencoder, hidden=finite("batch nd"), offset=finite("nd"),
    threshold=ranges.number(0),
)  # fmt: skip
def scores(
    truth: Dictionary,
    x: ArrayLike,
    codes: ArrayLike | None = None,
    directions: ArrayLike | None = None,
    *,
    sae: Any = None,
    hidden: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    threshold: float | None = None,
) -> Scores:
    """Score codes, and their directions, against the truth.

    Parameters
    ----------
    truth : Dictionary
        The dictionary that made the activations.
    x : array_like, shape (batch, ns)
        The features.
    codes : array_like, shape (batch, k), optional
        Latents, one activation a row; needed unless there is a ``sae``.
    directions : array_like, shape (nd, k), optional
        Decoder directions of any length; the true directions if left out (then k is ns, in their order).
    sae : SparseAutoencoder or object, optional
        In place of codes, directions and offset: an autoencoder, whose own ``encode`` and ``decode`` are used, so that
        any rescaling is included. SAELens' autoencoders work.
    hidden : array_like, shape (batch, nd), optional
        The activations, where they have noise; if left out, the activations that follow from the features.
    offset : array_like, shape (nd,), optional
        Bias of the decoder, if any.
    threshold : float, optional
        A latent is on where its size is above this, 0 or more, in units of unit directions; above 1e-9 of the largest,
        a rounding error, if left out. For posterior means, which are never 0.

    Returns
    -------
    Scores
        SAELens' scores and our own; its docstring defines them.

    Notes
    -----
    Source: SAELens, ``sae_lens/synthetic/evals.py`` of release 6.54.12, for the scores under its names; the matching by
    signed cosines, and the scores by it, are ours. Both match by `scipy.optimize.linear_sum_assignment`. Use `leaning`
    instead for parents and children.

    Examples
    --------
    >>> from superposition.decoders import dictionary
    >>> truth = dictionary(8, 4, seed=0, p=0.2)
    >>> x, h = truth.activations(500, seed=1)
    >>> found = scores(truth, x, 0.5 * x[:, ::-1], truth.directions[:, ::-1])
    >>> found.mcc, found.recall, round(found.shrinkage, 6), round(found.slope, 6), found.latent[:3]
    (1.0, 1.0, 0.5, 0.5, array([7, 6, 5]))
    """
    x, ns = np.asarray(x, float), len(truth.p)
    h = x @ truth.directions.T if hidden is None else np.asarray(hidden, float)
    if sae is not None:
        codes, directions, offset = _by_itself(sae, h)
    codes = np.asarray(codes, float)
    given = truth.directions if directions is None else np.asarray(directions, float)
    rebuilt = codes @ given.T + (0.0 if offset is None else np.asarray(offset, float))
    length = np.ones(ns) if directions is None else np.linalg.norm(given, axis=0)
    codes = codes * length
    bar = ROUNDING * np.abs(codes).max() if threshold is None else threshold
    firing, on = np.abs(codes) > bar, x > 0
    cosines = truth.directions.T @ (given / np.where(length > 0, length, 1))
    latent, cosine = _matched(cosines, directions is None)
    estimate, active = (np.where(latent >= 0, part[:, latent], 0) for part in (codes, firing))
    both = on & active.astype(bool)
    return Scores(
        **_as_sae_lens(cosines, firing, on),
        l0=float(firing.sum(axis=1).mean()), true_l0=float(on.sum(axis=1).mean()),
        dead=int(np.sum(~firing.any(axis=0))),
        shrinkage=_length_kept(h, rebuilt),
        explained=1 - _share(np.sum((h - rebuilt) ** 2), np.sum((h - h.mean(axis=0)) ** 2)),
        latent=latent, cosine=cosine, mean_cosine=float(cosine.mean().round(12)),
        recovered=float(np.mean(cosine >= RECOVERED)),
        matched_precision=_share(both.sum(), active.sum()), matched_recall=_share(both.sum(), on.sum()),
        recalls=both.sum(axis=0) / np.maximum(on.sum(axis=0), 1),
        slope=_share((estimate * x)[both].sum(), (x**2)[both].sum()), loss=float(np.mean((estimate - x) ** 2)),
    )  # fmt: skip


def _by_itself(sae, h):
    """Latents of activations from an autoencoder's own encoder; directions and offset from its own decoder."""
    if not hasattr(sae, "decode"):
        return sae.encode(h), sae.W_dec, sae.b_dec
    from superposition.devices import torch

    like = sae.W_dec  # (k, nd), as SAELens has it; a decoder is affine, so it is known from one latent at a time
    with torch.no_grad():
        codes, zero = sae.encode(torch.as_tensor(h).to(like)), sae.decode(torch.zeros(1, len(like)).to(like))
        each = sae.decode(torch.eye(len(like)).to(like)) - zero
    return codes.cpu().double().numpy(), each.T.cpu().double().numpy(), zero[0].cpu().double().numpy()


def _as_sae_lens(cosines, firing, on):
    """Scores of latents by the feature that is nearest to each, and the best matching by absolute cosine."""
    from scipy.optimize import linear_sum_assignment

    size = np.abs(cosines)
    nearest = size.argmax(axis=0)
    there = on[:, nearest]
    right, said, due = ((part).sum(axis=0) for part in (firing & there, firing, there))
    precision, recall = right / np.maximum(said, 1), right / np.maximum(due, 1)
    both = precision + recall
    return {
        "mcc": float(size[linear_sum_assignment(-size)].mean().round(12)),
        "uniqueness": len(np.unique(nearest)) / len(nearest),
        "precision": float(precision.mean()),
        "recall": float(recall.mean()),
        "f1": float((2 * precision * recall / np.where(both > 0, both, 1)).mean()),
    }


def _length_kept(h, rebuilt):
    """Mean of |reconstruction| / |activation|, of activations that are not zero."""
    length = np.linalg.norm(h, axis=1)
    on = length > NOTHING
    return float(np.mean(np.linalg.norm(rebuilt, axis=1)[on] / length[on])) if on.any() else 0.0


def _matched(cosines, same):
    """The latent of each feature, and the cosine of their directions."""
    from scipy.optimize import linear_sum_assignment

    ns = len(cosines)
    if same:
        return np.arange(ns), np.ones(ns)
    rows, columns = linear_sum_assignment(-cosines)
    latent, cosine = np.full(ns, -1), np.zeros(ns)
    latent[rows], cosine[rows] = columns, cosines[rows, columns]
    return latent, cosine


def _share(part, whole):
    """A ratio, 0 where the denominator is 0."""
    return float(part / whole) if whole else 0.0
