"""Decoders of one, two and more layers of ReLUs, trained on a code that is given or together with it. Needs torch.

Layer k makes u_k = ReLU(A_k h + sum_{j<k} M_kj u_j + b_k) of the hidden vector h and of all layers before, so every
layer has the linear path of `superposition.decoders.relu_layers`; the last one is the output.
Source: ours, beyond The Persian Rug, section 5.2.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from superposition import features, optimise
from superposition.decoders.ladder import FLATTEST
from superposition.devices import torch
from superposition.features import Estimate
from superposition.rug.rugs import Rug

if TYPE_CHECKING:
    from numpy.typing import NDArray

LITTLE = 1e-3  # of a column: what is added to a code with symmetries, which descent would keep
QUIET = 0.1  # of the mean diagonal: features below start as loud as this, so that no weight starts too large


class Trained(NamedTuple):
    """A code (nd, ns), and the loss of its decoder on fresh feature vectors."""

    W_in: NDArray[np.float64]
    loss: Estimate


def first_code(start: str, ns: int, nd: int, seed: int) -> NDArray[np.float64]:
    """A code (nd, ns) that training starts from, Gaussian ("random"), a "rug", or an "antipodal" one."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((nd, ns)) / np.sqrt(nd)
    if start == "random":
        return noise
    directions = np.linalg.eigh(Rug(ns, nd, seed=seed, antipodal=start == "antipodal").dense())[1]
    return directions[:, -nd:].T * np.sqrt(ns / nd) + LITTLE * noise


def train(
    W_in: NDArray[np.float64],
    p: float,
    layers: int,
    *,
    frozen: bool,
    steps: int,
    lr: float,
    seed: int,
    batch: int = 256,
    fresh: int = 40_000,
) -> Trained:
    """Train a decoder of some layers, and the code W_in (nd, ns) with it unless ``frozen``, always on fresh vectors."""
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


def readout(W_in: NDArray[np.float64]) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """The projector P (ns, ns) on what a code (nd, ns) keeps, and the matrix (ns, nd) that makes P x of W_in x."""
    inverse = np.linalg.pinv(W_in)
    return inverse @ W_in, inverse


def shape(W_in: NDArray[np.float64]) -> dict[str, float]:
    """How far a code is from a rug and from digons: what any decoder that may mix the hidden vector could see."""
    # ``spread`` of the diagonal of P; ``met``, how many others make up the interference of a feature, median of
    # (sum c^2)^2 / sum c^4 over the correlations c of P: ns / 3 for a large rug, 1 for digons; ``opposite``, the share
    # of features with a correlation below -0.9; ``skewness`` that of all correlations, 0 if they are as often
    # positive as negative, negative where some features silence others and none support them.
    P, _ = readout(W_in)
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
    """Every layer reads the code with gain one and knows nothing of the others; loudness is a parameter of its own."""
    P, inverse = readout(W_in)
    ns, loud = W_in.shape[1], np.linalg.norm(W_in, axis=0)
    read = inverse * (loud / np.maximum(np.diag(P), QUIET * np.diag(P).mean()))[:, None]
    values = {"code": W_in / loud, "loud": np.log(loud)}
    for k in range(layers):
        values |= {f"A{k}": read, f"b{k}": np.zeros(ns), **{f"M{k}{j}": np.zeros((ns, ns)) for j in range(k)}}
    return {name: torch.tensor(value, dtype=torch.float32) for name, value in values.items()}


def _output(weights, x, layers):
    """What the last layer says of feature vectors (batch, ns)."""
    size, found = weights["loud"].exp(), []
    h = (x * size) @ weights["code"].T
    for k in range(layers):
        drive = h @ (weights[f"A{k}"] / size[:, None]).T + weights[f"b{k}"]
        found.append(torch.relu(drive + sum(u @ weights[f"M{k}{j}"].T for j, u in enumerate(found))))
    return found[-1]
