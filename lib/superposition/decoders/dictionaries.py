"""A ground truth for sparse autoencoders: activations whose features, frequencies and overlaps are known exactly.

Activations are h = D x: ns unit directions in nd dimensions, each feature x_i on with probability p_i and then uniform
on [0, 1]. What a dictionary learned from h alone is worth is told by `scores`, under SAELens' names by its definitions.
Source: ours; the features are those of The Persian Rug, section 2, and the directions of its section 4.2.2.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, features
from superposition.codes import cone
from superposition.decoders import ladder
from superposition.rug.rugs import Rug
from superposition.rug.tight_frames import rug_directions, unit_vectors

SPLITS = ("train", "validation", "test")
KINDS = ("rug", "antipodal", "cone", "random")
ROUNDING = 1e-9  # of the largest value: what is below is no activity
NOTHING = 1e-6  # length of an activation that has none, as in SAELens
RECOVERED = 0.9  # cosine from which a direction counts as found: the custom of the field


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Directions (nd, ns), unit columns, and the probability ``p`` (ns,) of each feature; from `dictionary`.

    ``noise`` is the standard deviation of what is added to every coordinate of an activation, ``recipe`` the arguments
    it was made by: they are the same on every machine, while the last digits of directions are not.
    """

    kind: str
    directions: NDArray[np.float64]
    p: NDArray[np.float64]
    noise: float = 0.0
    recipe: str = ""

    @property
    def r(self) -> float:
        """Compression ratio nd / ns."""
        return len(self.directions) / len(self.p)

    @property
    def interference(self) -> NDArray[np.float64]:
        """Sum of the squared overlaps of each direction with all others; 1/r - 1, exactly, for both rugs."""
        return ((self.directions.T @ self.directions) ** 2).sum(axis=1) - 1

    @property
    def difficulty(self) -> float:
        """Ratio of `recovery_ratio` at the mean p to r: below 1, iterating with known directions finds all features."""
        # of equal features on a rug, as ns grows; a yardstick for all others
        return float(ladder.recovery_ratio(float(self.p.mean()))) / self.r

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits of the recipe, by which two people know that they have the same truth."""
        return hashlib.sha256(f"{self.recipe or self.directions.round(6).tolist()}".encode()).hexdigest()[:16]

    def activations(
        self, batch: int, *, seed: int | np.random.Generator
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Draw features (batch, ns) and the activations (batch, nd) that they make."""
        rng = checks.generator("seed", seed)
        x = features.sample_each(self.p, checks.whole("batch", batch, 1), seed=rng)
        h = x @ self.directions.T
        return x, h + self.noise * rng.standard_normal(h.shape) if self.noise else h

    def split(self, name: str, batch: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Features and activations of a fixed split: "train", "validation" or "test", the same for everybody."""
        checks.one_of("name", name, SPLITS)
        return self.activations(batch, seed=np.random.default_rng([int(self.fingerprint, 16), SPLITS.index(name)]))

    def batches(self, batch: int, *, seed: int | np.random.Generator) -> Iterator[NDArray[np.float32]]:
        """Activations alone, in single precision, (batch, nd) at a time and without end; features stay sparse."""
        from scipy.sparse import csr_array

        batch, rng = checks.whole("batch", batch, 1), checks.generator("seed", seed)
        directions, ns = self.directions.T.astype(np.float32), len(self.p)
        while True:
            flat, values = features.nonzeros_each(self.p, batch, seed=rng)
            starts = np.searchsorted(flat, np.arange(batch + 1) * ns)
            h = csr_array((values.astype(np.float32), flat % ns, starts), shape=(batch, ns)) @ directions
            if self.noise:
                h += np.float32(self.noise) * rng.standard_normal(h.shape, dtype=np.float32)
            yield h

    def save(self, path: str | os.PathLike) -> None:
        """Write it to a file of numpy's, .npz, which `load` in this module reads."""
        if os.fspath(path)[-4:] != ".npz":
            raise ValueError(f"path = {path} has another ending; allowed: .npz")
        parts = {name: getattr(self, name) for name in ("kind", "directions", "p", "noise", "recipe")}
        np.savez(path, **parts)

    def to_saelens(self, path: str | os.PathLike) -> None:
        """Write it as a folder that SAELens' ``SyntheticModel.load_from_disk`` reads, directions and probabilities."""
        # a strength there is Gaussian, cut off at 0: with the mean and standard deviation of ours it is another law;
        # and it knows no noise
        from safetensors.numpy import save_file

        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        nd, ns = self.directions.shape
        settings = {
            "num_features": ns, "hidden_dim": nd, "bias": False, "dtype": "float32", "seed": None,
            "firing_probability": {"generator_name": "constant", "probability": float(self.p.mean())},
            "hierarchy": None, "orthogonalization": None, "correlation": None,
            "mean_firing_magnitudes": 0.5, "std_firing_magnitudes": float(np.sqrt(1 / 12)),
        }  # fmt: skip
        (folder / "synthetic_model_config.json").write_text(json.dumps(settings, indent=2), encoding="utf-8")
        weights = {"feature_vectors": self.directions.T, "bias": np.zeros(nd), "firing_probabilities": self.p}
        single = {name: np.ascontiguousarray(part, dtype=np.float32) for name, part in weights.items()}
        save_file(single, folder / "synthetic_model.safetensors")


def load(path: str | os.PathLike) -> Dictionary:
    """Read what `Dictionary.save` wrote."""
    with np.load(path, allow_pickle=False) as found:
        kind, noise, recipe = (found[name].item() for name in ("kind", "noise", "recipe"))
        return Dictionary(kind, found["directions"], found["p"], noise, recipe)


@dataclass(frozen=True, eq=False)
class Scores:
    """What a learned dictionary is worth against the truth.

    By the definitions of SAELens (`sae_lens.synthetic.evals`), a latent being on where it is not zero: ``mcc``, the
    mean absolute cosine of the best one-to-one matching, over as many pairs as there are; ``uniqueness``, the number of
    features that are nearest to some latent over that of latents; ``precision``, ``recall`` and ``f1``, means over
    latents, each as a detector of the feature nearest to it by absolute cosine; ``l0`` and ``true_l0``, mean numbers of
    latents and of features that are on; ``dead``, the number of latents that never are; ``shrinkage``, the mean ratio
    of the lengths of reconstruction and activation; ``explained``, the share of the variance of the activations.

    Our own: features are matched one to one by the largest sum of signed cosines; ``latent`` (ns,) is each one's (-1 if
    none is left) and ``cosine`` (ns,) theirs, 0 without one, ``mean_cosine`` its mean over all features, ``recovered``
    the share from 0.9 on. ``matched_precision`` is the share of the activity of matched latents during which the
    feature is on, ``matched_recall`` the share of the activity of features during which their latent is on, ``recalls``
    (ns,) that of each; ``slope`` is the value of a latent over that of its feature while both are on (least squares),
    and ``loss`` the squared error per feature of matched latents.
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


def dictionary(
    ns: int,
    nd: int,
    kind: str = "rug",
    *,
    p: float = 0.05,
    exponent: float = 0.0,
    p_max: float = 1.0,
    noise: float = 0.0,
    seed: int = 0,
) -> Dictionary:
    """Directions with an exact law of overlaps, and frequencies of the features, falling as i^-exponent."""
    each = _falling(ns, p, exponent, p_max)
    if each[0] > p_max:
        raise ValueError(
            f"p = {p:g} with exponent = {exponent:g} gives p_1 = {each[0]:g}; allowed: (0, 1] for each, or a p_max "
            "between p and 1, where frequencies are cut off"
        )
    recipe = f"{kind} {ns} {nd} p {p!r} exponent {exponent!r} p_max {p_max!r} noise {noise!r} seed {seed}"
    return Dictionary(kind, _directions(ns, nd, kind, seed), each, noise, recipe)


def _falling(ns, p, exponent, p_max):
    """Frequencies with mean p in proportion to i^-exponent, those above p_max cut off; with p_max 1 none is."""
    falling = np.arange(1.0, ns + 1) ** -exponent
    each = p * falling / falling.mean()
    for cut in range(1, ns if p_max < 1 and each[0] > p_max else 0):
        each = np.full(ns, p_max)
        each[cut:] = (p * ns - cut * p_max) * falling[cut:] / falling[cut:].sum()
        if each[cut] <= p_max:
            break
    return each


def scores(
    truth: Dictionary,
    x: ArrayLike,
    codes: ArrayLike,
    directions: ArrayLike | None = None,
    *,
    hidden: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    threshold: float | None = None,
) -> Scores:
    """Score codes (batch, k), and the directions (nd, k) they belong to, against the truth."""
    x, codes, ns = np.asarray(x, float), np.asarray(codes, float), len(truth.p)
    given = truth.directions if directions is None else np.asarray(directions, float)
    h = x @ truth.directions.T if hidden is None else np.asarray(hidden, float)
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


def nonnegative_lasso(
    hidden: ArrayLike, directions: ArrayLike, lambda_: float, *, iterations: int = 200
) -> NDArray[np.float64]:
    """Sparse codes of activations by FISTA, after Beck and Teboulle (2009), with a constant step."""
    D, h = np.asarray(directions, float), np.asarray(hidden, float)
    step = 1 / max(float(np.linalg.norm(D, 2) ** 2), 1e-300)
    rest, drive = np.eye(D.shape[1]) - step * (D.T @ D), step * (h @ D - lambda_)
    c = ahead = np.zeros_like(drive)
    t = 1.0
    for _ in range(iterations):
        last, c = c, np.maximum(ahead @ rest + drive, 0)
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
    return float(part / whole) if whole else 0.0
