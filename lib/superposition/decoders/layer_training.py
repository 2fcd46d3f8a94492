"""Decoders of one, two and more layers of ReLUs, trained on a given code or together with it; training needs torch.

Layer k makes u_k = ReLU(A_k h + sum_{j<k} M_kj u_j + b_k) of the hidden vector h and of all layers before, so every
layer has the linear path of `superposition.decoders.relu_layers`; the last one is the output.
Source: ours, beyond The Persian Rug, section 5.2.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from superposition import checks, features, ranges
from superposition.checked import checked
from superposition.decoders.ladder import FLATTEST
from superposition.features import Estimate
from superposition.placing import placed
from superposition.rug.rugs import Rug

if TYPE_CHECKING:
    from numpy.typing import NDArray

LITTLE = 1e-3  # of a column: noise on a code with symmetries, which descent would keep
QUIET = 0.1  # of the mean diagonal: quieter features start as loud as this, so that no weight starts too large


def _dimensions(ns, nd):
    """Refuse more dimensions than features."""
    checks.whole("nd", nd, 1, ns)


def _code(name, value):
    """A code of shape (nd, ns), finite numbers, no column zero, ns from 2."""
    found = ranges.array("nd ns", -ranges.LARGEST, ranges.LARGEST)(name, value)
    if found.shape[1] < 2 or not found.any(axis=0).all():
        raise ValueError(f"{name} has shape {found.shape}; allowed: (nd, ns) with ns of 2 or more, and no column zero")
    return found


def _some_code(name, value):
    """A code of shape (nd, ns), finite numbers that are not all zero, ns from 2."""
    found = ranges.array("nd ns", -ranges.LARGEST, ranges.LARGEST)(name, value)
    if found.shape[1] < 2 or not found.any():
        raise ValueError(f"{name} has shape {found.shape}; allowed: (nd, ns) with ns of 2 or more, and not all zero")
    return found


class Trained(NamedTuple):
    """A code (nd, ns), and the loss of its decoder on fresh feature vectors."""

    W_in: NDArray[np.float64]
    loss: Estimate


@checked(
    _dimensions, start=ranges.one_of("random", "rug", "antipodal"), ns=ranges.whole(2, 4096), nd=ranges.whole(1, 4096),
    seed=ranges.whole(0),
)  # fmt: skip
def first_code(start: str, ns: int, nd: int, seed: int) -> NDArray[np.float64]:
    """A code from which training starts: Gaussian ("random"), a "rug", or an "antipodal" rug, both with a little noise.

    Notes
    -----
    Source: ours. Use `dictionary` instead for directions of length one.

    Examples
    --------
    >>> first_code("rug", 8, 4, seed=0).shape
    (4, 8)
    """
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((nd, ns)) / np.sqrt(nd)
    if start == "random":
        return noise
    directions = np.linalg.eigh(Rug(ns, nd, seed=seed, antipodal=start == "antipodal").dense())[1]
    return directions[:, -nd:].T * np.sqrt(ns / nd) + LITTLE * noise


@placed
@checked(
    W_in=_code, p=ranges.one_probability, layers=ranges.whole(1, 16), frozen=ranges.flag, steps=ranges.steps,
    lr=ranges.rate, seed=ranges.whole(0), batch=ranges.whole(1, 10**6), fresh=ranges.whole(2000, 10**9),
)  # fmt: skip
def train_layers(
    W_in: NDArray[np.float64], p: float, layers: int, *, frozen: bool, steps: int, lr: float, seed: int,
    batch: int = 256, fresh: int = 40_000,
) -> Trained:  # fmt: skip
    """Train a decoder of some layers of ReLUs, and with it the code unless ``frozen``, always on fresh vectors.

    Parameters
    ----------
    W_in : array_like, shape (nd, ns)
        The code; no column zero.
    fresh : int
        Feature vectors that measure the loss, at least 2000, in multiples of 2000.

    Returns
    -------
    Trained
        ``W_in`` (nd, ns), and ``loss``, a `superposition.features.Estimate` per feature.

    Notes
    -----
    Source: ours; Adam in single precision, needs torch. Use `relu_evolution` instead for the limit of large rugs.

    Examples
    --------
    >>> code = first_code("rug", 8, 4, seed=0)
    >>> train_layers(code, 0.1, 2, frozen=True, steps=1, lr=0.01, seed=0, fresh=2000).W_in.shape
    (4, 8)
    """
    from superposition import optimise
    from superposition.devices import torch

    data, judge = (np.random.default_rng([seed, part]) for part in (1, 2))
    weights = _first_weights(W_in, layers)
    free = [value.requires_grad_() for name, value in weights.items() if not (frozen and name in ("code", "loud"))]
    ns, unit = W_in.shape[1], float(features.variance(p))

    def error(weights, vectors, rng):
        x = torch.from_numpy(features.sample(ns, p, vectors, seed=rng)).to(weights["code"])
        return (x - _output(weights, x, layers)).square().mean(dim=1)

    gradient = optimise.by_autograd(free, lambda: error(weights, batch, data).mean() / unit)
    for _ in optimise.adam(free, gradient, steps=steps, lr=lr):
        pass
    found = {name: value.detach().double() for name, value in weights.items()}
    parts = [error(found, 2000, judge).numpy() for _ in range(fresh // 2000)]
    return Trained((found["code"] * found["loud"].exp()).numpy(), Estimate.of(np.concatenate(parts)))


def _readout(W_in: NDArray[np.float64]) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """The projector P (ns, ns) on the rows of a code (nd, ns), and the matrix (ns, nd) that makes P x of W_in x."""
    inverse = np.linalg.pinv(W_in)
    return inverse @ W_in, inverse


@checked(W_in=_some_code)
def code_shape(W_in: NDArray[np.float64]) -> dict[str, float]:
    """Measures of how far a code is from a rug and from digons, equal for all codes with the same row space.

    Returns
    -------
    dict of str to float
        ``spread`` of the diagonal of P, the projector on the row space; ``met``, the number of others in the
        interference of a feature; ``opposite``, the share of features with a correlation below -0.9; ``skewness`` of
        all correlations, nan where all of them are 0.

    Notes
    -----
    Source: ours.

    Examples
    --------
    >>> code_shape([[1.0, -1.0, 0.5, -0.5]])["opposite"]
    1.0
    """
    # ``spread`` of the diagonal of P; ``met``, how many others make up the interference of a feature, median of
    # (sum c^2)^2 / sum c^4 over the correlations c of P: ns / 3 for a large rug, 1 for digons; ``opposite``, the share
    # of features with a correlation below -0.9; ``skewness`` that of all correlations, 0 if they are as often
    # positive as negative, negative where some features silence others and none support them.
    P, _ = _readout(W_in)
    diagonal = np.maximum(np.diag(P), FLATTEST)
    c = P / np.sqrt(diagonal[:, None] * diagonal)
    np.fill_diagonal(c, 0)
    fourth = np.sum(c**4, axis=1)
    met = np.divide(np.sum(c**2, axis=1) ** 2, fourth, out=np.zeros(len(c)), where=fourth > 0)
    others = c[~np.eye(len(c), dtype=bool)]
    return {
        "spread": float(np.diag(P).std()),
        "met": float(np.median(met)),
        "opposite": float(np.mean(c.min(axis=1) < -0.9)),
        "skewness": float(np.mean(others**3) / np.mean(others**2) ** 1.5),
    }


def _first_weights(W_in, layers):
    """Every layer reads the code with gain one and ignores the others; loudness is a parameter of its own."""
    from superposition.devices import torch

    P, inverse = _readout(W_in)
    ns, loud = W_in.shape[1], np.linalg.norm(W_in, axis=0)
    read = inverse * (loud / np.maximum(np.diag(P), QUIET * np.diag(P).mean()))[:, None]
    values = {"code": W_in / loud, "loud": np.log(loud)}
    for k in range(layers):
        values |= {f"A{k}": read, f"b{k}": np.zeros(ns), **{f"M{k}{j}": np.zeros((ns, ns)) for j in range(k)}}
    return {name: torch.tensor(value, dtype=torch.float32) for name, value in values.items()}


def _output(weights, x, layers):
    """Output of the last layer for feature vectors (batch, ns)."""
    from superposition.devices import torch

    size, found = weights["loud"].exp(), []
    h = (x * size) @ weights["code"].T
    for k in range(layers):
        drive = h @ (weights[f"A{k}"] / size[:, None]).T + weights[f"b{k}"]
        found.append(torch.relu(drive + sum(u @ weights[f"M{k}{j}"].T for j, u in enumerate(found))))
    return found[-1]
