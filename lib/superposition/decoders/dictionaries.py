"""A ground truth for sparse autoencoders: activations whose features, frequencies and overlaps are known exactly.

Activations are h = D x: ns unit directions in nd dimensions, each feature x_i on with probability p_i and then uniform
on [0, 1].
Source: ours; the features are those of The Persian Rug, section 2, and the directions of its section 4.2.2.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from superposition import checks, features, ranges
from superposition.checked import checked
from superposition.codes import cone
from superposition.decoders import ladder
from superposition.rug.rugs import Rug
from superposition.rug.tight_frames import rug_directions, unit_vectors

SPLITS = ("train", "validation", "test")
KINDS = ("rug", "antipodal", "cone", "random")
MOST_DIRECTIONS = 8192  # whose overlaps fill half a gigabyte


def _frequencies(ns, nd, p, p_max):
    """Refuse more dimensions than features, and a largest probability below the mean."""
    checks.whole("nd", nd, 1, ns)
    checks.number("p_max", p_max, p, 1)


def _archive(name, value):
    """The path of a file of numpy's, .npz."""
    try:
        path = Path(value)
        if path.suffix == ".npz" and path.is_file():
            return path
    except (TypeError, OSError, ValueError):
        pass
    raise ValueError(f"{name} = {checks.shown(value)} is not such a file; allowed: a file of `Dictionary.save`, .npz")


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Directions (nd, ns), unit columns, and the probability ``p`` (ns,) of each feature; from `dictionary`.

    ``noise`` is the standard deviation of Gaussian noise on every coordinate of an activation, ``recipe`` the arguments
    of `dictionary`: they are the same on every machine, while the last digits of directions are not.
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
        """Sixteen hexadecimal digits of the recipe, equal for equal dictionaries on all machines."""
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
        """Features and activations of a fixed split: "train", "validation" or "test", the same in every process."""
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
        """Write it to a file of numpy's, .npz, which `superposition.decoders.load_dictionary` reads."""
        if os.fspath(path)[-4:] != ".npz":
            raise ValueError(f"path = {path} has another ending; allowed: .npz")
        parts = {name: getattr(self, name) for name in ("kind", "directions", "p", "noise", "recipe")}
        np.savez(path, **parts)

    def to_saelens(self, path: str | os.PathLike, *, strengths: str | None = None) -> None:
        """Write directions and probabilities as a folder that SAELens' ``SyntheticModel.load_from_disk`` reads.

        A strength there is Gaussian and cut off at 0, with the mean and the standard deviation of ours: another
        distribution, for which `ceilings` and `border_price` do not hold. ``strengths="gaussian"`` says that this is
        wanted; without it, or with noise, which SAELens does not know, nothing is written. To train SAELens on our own
        activations needs no folder: ``map(torch.from_numpy, truth.batches(512, seed=1))`` is what its trainer takes.

        Raises
        ------
        ValueError
            If ``strengths`` is left out, or there is noise.
        """
        if strengths != "gaussian":
            raise ValueError(
                f"strengths = {checks.shown(strengths)}, and SAELens cannot draw ours; allowed: 'gaussian'"
            )
        if self.noise:
            raise ValueError(f"path = {path} would lose the noise of {self.noise:g}; allowed: noise = 0")
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


@checked(path=_archive)
def load_dictionary(path: str | os.PathLike) -> Dictionary:
    """Read a file of `Dictionary.save`.

    Raises
    ------
    ValueError
        If there is no such file, or it is damaged.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     dictionary(8, 4).save(f"{folder}/truth.npz")
    ...     load_dictionary(f"{folder}/truth.npz").r
    0.5
    """
    try:
        with np.load(path, allow_pickle=False) as found:
            kind, noise, recipe = (found[name].item() for name in ("kind", "noise", "recipe"))
            return Dictionary(kind, found["directions"], found["p"], noise, recipe)
    except (KeyError, ValueError, BadZipFile):
        raise ValueError(f"path = {checks.shown(str(path))} is damaged; allowed: a file of `Dictionary.save`") from None


@checked(
    _frequencies, ns=ranges.whole(2, MOST_DIRECTIONS), nd=ranges.whole(1, MOST_DIRECTIONS), kind=ranges.one_of(*KINDS),
    p=ranges.one_probability, exponent=ranges.number(0, 10), p_max=ranges.one_probability, noise=ranges.number(0),
    seed=ranges.whole(0),
)  # fmt: skip
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
    """Directions whose overlaps are known, and frequencies of the features.

    Parameters
    ----------
    nd : int
        Dimensions, from 1 to ns.
    kind : {"rug", "antipodal", "cone", "random"}
        A tight frame whose overlaps have the least mean square; the same with an opposite feature for each feature; nd
        / 3 cones of 3 ns / nd features each, in orthogonal spaces; or independent directions.
    p : float
        Mean probability that a feature is on, in (0, 1].
    exponent : float
        p_i falls as i to the power of minus this, from 0 (equal features) to 10.
    p_max : float
        Largest p_i, from p to 1: larger ones are reduced to it, and the other features share the rest.
    noise : float
        Standard deviation of Gaussian noise on every coordinate of an activation, 0 or more.
    seed : int
        Seed of the index set of a rug and the basis of its space, or of random directions.

    Returns
    -------
    Dictionary
        With ``activations(batch, seed=...)``, features and their activations; ``batches(batch, seed=...)``, activations
        alone, in single precision, without end; ``split("test", batch)``, a fixed sample; ``fingerprint``,
        ``difficulty``, ``save``, and ``to_saelens(path)``, which writes a folder for SAELens.

    Raises
    ------
    ValueError
        If an argument is outside of its range, no such frame exists, or a p_i would be above 1.

    Notes
    -----
    Source: ours; the features are those of The Persian Rug, section 2, and the directions of its section 4.2.2. Use
    `dictionary_of_families` instead for features that are on only with others.

    Examples
    --------
    >>> truth = dictionary(64, 16, "antipodal", p=0.05, exponent=0.5)
    >>> truth.interference[:3].round(9)
    array([3., 3., 3.])
    >>> x, h = truth.activations(10, seed=0)
    >>> x.shape, h.shape
    ((10, 64), (10, 16))
    """
    each = _falling(ns, p, exponent, p_max)
    if each[0] > p_max:
        raise ValueError(
            f"p = {p:g} with exponent = {exponent:g} gives p_1 = {each[0]:g}; allowed: (0, 1] for each, or a p_max "
            "between p and 1, where frequencies are cut off"
        )
    recipe = f"{kind} {ns} {nd} p {p!r} exponent {exponent!r} p_max {p_max!r} noise {noise!r} seed {seed}"
    return Dictionary(kind, _directions(ns, nd, kind, seed), each, noise, recipe)


def _falling(ns, p, exponent, p_max):
    """Frequencies with mean p in proportion to i^-exponent, reduced to p_max where they exceed it."""
    falling = np.arange(1.0, ns + 1) ** -exponent
    each = p * falling / falling.mean()
    for cut in range(1, ns if p_max < 1 and each[0] > p_max else 0):
        each = np.full(ns, p_max)
        each[cut:] = (p * ns - cut * p_max) * falling[cut:] / falling[cut:].sum()
        if each[cut] <= p_max:
            break
    return each


def _directions(ns, nd, kind, seed):
    """Unit directions (nd, ns) of a kind."""
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
