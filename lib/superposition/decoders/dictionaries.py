"""A ground truth for sparse autoencoders: activations whose features, frequencies and overlaps are known exactly.

Activations are h = D x: ns unit directions in nd dimensions, each feature x_i on with probability p_i and then uniform
on [0, 1]. What a dictionary learned from h alone is worth is told under the field's names by `scores`.
Source: ours; the features are those of The Persian Rug, section 2, and the directions of its section 4.2.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, features
from superposition.codes.fans import cone
from superposition.rug.rugs import Rug
from superposition.rug.tight_frames import rug_directions, unit_vectors

KINDS = ("rug", "antipodal", "cone", "random")
RECOVERED = 0.9  # cosine from which a direction counts as found: the custom of the field


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Directions (nd, ns), unit columns, and the probability ``p`` (ns,) of each feature; from `dictionary`."""

    kind: str
    directions: NDArray[np.float64]
    p: NDArray[np.float64]

    @property
    def r(self) -> float:
        """Compression ratio nd / ns."""
        return len(self.directions) / len(self.p)

    @property
    def interference(self) -> NDArray[np.float64]:
        """Sum of the squared overlaps of each direction with all others; 1/r - 1, exactly, for both rugs."""
        return ((self.directions.T @ self.directions) ** 2).sum(axis=1) - 1

    def activations(
        self, batch: int, *, seed: int | np.random.Generator
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Draw features (batch, ns) and the activations (batch, nd) that they make.

        Parameters
        ----------
        batch : int
            How many, at least 1.
        seed : int or numpy.random.Generator
            A seed, or a generator to draw from.

        Returns
        -------
        x, h : numpy.ndarray

        Raises
        ------
        ValueError
            If `batch` is below 1.
        """
        x = features.sample_each(self.p, batch, seed=seed)
        return x, x @ self.directions.T


@dataclass(frozen=True, eq=False)
class Scores:
    """What a learned dictionary is worth against the truth.

    ``latent`` (ns,) is the latent matched to each feature (-1 if none is left) and ``cosine`` (ns,) that of their
    directions; ``mcc`` their mean (mean cosine of the best matching) and ``recovered`` the share from 0.9 on.
    ``precision`` is the share of the activity of matched latents during which the feature is on, ``recall`` the share
    of the activity of features during which their latent is on, and ``recalls`` (ns,) that of each. ``l0`` is the mean
    number of active latents and ``true_l0`` that of features; ``dead`` the share of latents that are never active;
    ``shrinkage`` the value of a latent over that of its feature while both are on (least squares; 1: none). ``loss`` is
    the squared error per feature of matched latents, and ``explained`` the share of the variance of h that the
    reconstruction explains.
    """

    latent: NDArray[np.int64]
    cosine: NDArray[np.float64]
    mcc: float
    recovered: float
    precision: float
    recall: float
    recalls: NDArray[np.float64]
    l0: float
    true_l0: float
    dead: float
    shrinkage: float
    loss: float
    explained: float

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def dictionary(
    ns: int, nd: int, kind: str = "rug", *, p: float = 0.05, exponent: float = 0.0, seed: int = 0
) -> Dictionary:
    """Directions with an exact law of overlaps, and frequencies of the features.

    Parameters
    ----------
    ns : int
        Number of features, at least 2.
    nd : int
        Dimensions, from 1 to ns.
    kind : {"rug", "antipodal", "cone", "random"}
        A tight frame whose overlaps have the least mean square; the same with a feature of opposite direction for each;
        nd / 3 cones of 3 ns / nd features each, in orthogonal spaces; or independent directions.
    p : float
        Mean probability that a feature is on, in (0, 1].
    exponent : float
        p_i falls as i to the power of minus this, from 0 (equal features) to 10.
    seed : int
        Of the index set of a rug and the basis of its space, or of random directions.

    Returns
    -------
    Dictionary

    Raises
    ------
    ValueError
        If an argument is outside its range, no such frame exists, or a p_i would be above 1.

    Examples
    --------
    >>> truth = dictionary(64, 16, "antipodal", p=0.05, exponent=0.5)
    >>> truth.interference[:3].round(9)
    array([3., 3., 3.])
    >>> round(float(truth.directions[:, 0] @ truth.directions[:, 32]), 9)
    -1.0
    >>> x, h = truth.activations(10, seed=0)
    >>> x.shape, h.shape
    ((10, 64), (10, 16))
    """
    ns = checks.whole("ns", ns, 2)
    nd, p = checks.whole("nd", nd, 1, ns), features.one_probability(p)
    checks.one_of("kind", kind, KINDS)
    falling = np.arange(1.0, ns + 1) ** -checks.number("exponent", exponent, 0, 10)
    each = p * falling / falling.mean()
    if each[0] > 1:
        raise ValueError(f"p = {p:g} with exponent = {exponent:g} gives p_1 = {each[0]:g}; allowed: (0, 1] for each")
    return Dictionary(kind, _directions(ns, nd, kind, checks.whole("seed", seed, 0)), each)


def scores(
    truth: Dictionary,
    x: ArrayLike,
    codes: ArrayLike,
    directions: ArrayLike | None = None,
    *,
    offset: ArrayLike | None = None,
    threshold: float = 0.0,
) -> Scores:
    """Score codes, and the directions they belong to, against the truth.

    Parameters
    ----------
    truth : Dictionary
        What made the activations.
    x : array_like, shape (batch, ns)
        The features.
    codes : array_like, shape (batch, k)
        Latents, one activation a row.
    directions : array_like, shape (nd, k), optional
        Decoder directions of any length; those of the truth if left out (then k is ns, in its order).
    offset : array_like, shape (nd,), optional
        What the decoder adds, if anything.
    threshold : float
        A latent is active above it, 0 or more, in units of unit directions. For posterior means, which are never 0.

    Returns
    -------
    Scores

    Raises
    ------
    ValueError
        If the shapes do not fit or a value is out of range.

    Notes
    -----
    Source: ours. Latents are matched to features one to one, by the largest sum of cosines
    (`scipy.optimize.linear_sum_assignment`); what is not matched counts in l0 and dead alone.

    Examples
    --------
    >>> truth = dictionary(8, 4, seed=0, p=0.2)
    >>> x, h = truth.activations(500, seed=1)
    >>> found = scores(truth, x, 0.5 * x[:, ::-1], truth.directions[:, ::-1])
    >>> found.mcc, found.recall, round(found.shrinkage, 6), found.latent[:3]
    (1.0, 1.0, 0.5, array([7, 6, 5]))
    """
    nd, ns = truth.directions.shape
    x = checks.of_shape("x", x, ("batch", ns))
    given = truth.directions if directions is None else checks.of_shape("directions", directions, (nd, "k"))
    codes = checks.of_shape("codes", codes, (len(x), given.shape[1]))
    threshold = checks.number("threshold", threshold, 0)
    offset = checks.of_shape("offset", np.zeros(nd) if offset is None else offset, (nd,))
    h, rebuilt = x @ truth.directions.T, codes @ given.T + offset
    length = np.ones(ns) if directions is None else np.linalg.norm(given, axis=0)
    codes = codes * length
    latent, cosine = _matched(truth.directions, given / np.where(length > 0, length, 1), directions is None)
    estimate = np.where(latent >= 0, codes[:, latent], 0)
    on, active = x > 0, estimate > threshold
    both = on & active
    return Scores(
        latent, cosine, float(cosine.mean().round(12)), float(np.mean(cosine >= RECOVERED)),
        precision=_share(both.sum(), active.sum()), recall=_share(both.sum(), on.sum()),
        recalls=both.sum(axis=0) / np.maximum(on.sum(axis=0), 1),
        l0=float((codes > threshold).sum(axis=1).mean()), true_l0=float(on.sum(axis=1).mean()),
        dead=float(np.mean(~(codes > threshold).any(axis=0))),
        shrinkage=_share((estimate * x)[both].sum(), (x**2)[both].sum()),
        loss=float(np.mean((estimate - x) ** 2)),
        explained=1 - _share(np.sum((h - rebuilt) ** 2), np.sum((h - h.mean(axis=0)) ** 2)),
    )  # fmt: skip


def nonnegative_lasso(
    hidden: ArrayLike, directions: ArrayLike, lambda_: float, *, iterations: int = 200
) -> NDArray[np.float64]:
    """Sparse codes of activations by FISTA: the least |h - D c|^2 / 2 + lambda sum c over c of 0 or more.

    Parameters
    ----------
    hidden : array_like, shape (batch, nd)
        Activations.
    directions : array_like, shape (nd, k)
        A dictionary D.
    lambda_ : float
        Price of a unit of a code, 0 or more.
    iterations : int
        At least 1.

    Returns
    -------
    numpy.ndarray, shape (batch, k)

    Raises
    ------
    ValueError
        If the shapes do not fit or a value is out of range.

    Notes
    -----
    Source: Beck and Teboulle (2009), with a constant step of one over the largest eigenvalue of D^T D.

    Examples
    --------
    >>> nonnegative_lasso([[1.0, -2.0]], [[1, 0], [0, 1]], 0.25).round(6)
    array([[0.75, 0.  ]])
    """
    D = checks.array("directions", directions, "nd k")
    h = checks.of_shape("hidden", hidden, ("batch", len(D)))
    lambda_ = checks.number("lambda_", lambda_, 0, open_high=True)
    step = 1 / max(float(np.linalg.norm(D, 2) ** 2), 1e-300)
    G, drive = step * (D.T @ D), step * (h @ D - lambda_)
    c = ahead = np.zeros_like(drive)
    t = 1.0
    for _ in range(checks.whole("iterations", iterations, 1)):
        last, c = c, np.maximum(ahead - ahead @ G + drive, 0)
        t, before = (1 + np.sqrt(1 + 4 * t**2)) / 2, t
        ahead = c + (before - 1) / t * (c - last)
    return c


def _directions(ns, nd, kind, seed):
    if kind == "random":
        return unit_vectors(ns, nd, seed=seed).T
    if kind == "cone":
        return _cones(ns, nd)
    return rug_directions(Rug(ns, nd, seed=seed, antipodal=kind == "antipodal"), seed=seed)


def _cones(ns, nd):
    """Cones side by side, each in three dimensions."""
    size, left = divmod(3 * ns, nd)
    if nd % 3 or left or size < 4:
        raise ValueError(f"nd = {nd} dimensions hold no equal cones of {ns} features; allowed: 3 for each 4 or more")
    one = cone(size).W_in
    return np.kron(np.eye(nd // 3), one / np.linalg.norm(one, axis=0))


def _matched(true, learned, same):
    """The latent of each feature, and the cosine of their directions."""
    from scipy.optimize import linear_sum_assignment

    ns = true.shape[1]
    if same:
        return np.arange(ns), np.ones(ns)
    cosines = true.T @ learned
    rows, columns = linear_sum_assignment(-cosines)
    latent, cosine = np.full(ns, -1), np.zeros(ns)
    latent[rows], cosine[rows] = columns, cosines[rows, columns]
    return latent, cosine


def _share(part, whole):
    return float(part / whole) if whole else 0.0
