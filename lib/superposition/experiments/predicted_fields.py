"""What the named runs on predicted fields compute at one point: plain functions of numbers, which return plain numbers.

Source: the notes on localization, sections 1 to 3. The predictions are those of
`superposition.receptive.landscape` (first order in the fourth cumulant) and `superposition.receptive.tilings` (any
gain).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition.receptive import landscape, landscape_descent, least_squares, measures, ring, tilings, training
from superposition.receptive.nlgp import nlgp_sample

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike

    from superposition.receptive.landscape import Task


def one_width(
    *,
    n: int,
    xi1: float,
    xi2: float,
    gain: float,
    initials: int,
    steps: int,
    lr: float,
    batch: int,
    samples: int,
    seed: int,
    device: str = "auto",
) -> dict[str, float]:
    """Width of the field of one neuron: to first order, by the law of any gain, and trained.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 3.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0.
    gain : float
        Gain, from 1e-6 to 1e6.
    initials, steps, lr, batch : int, int, float, int
        Training: number of initial weights and so on; then half as many steps at an eighth of the rate.
    samples : int
        Vectors of each label for the law of any gain.
    seed : int
        Seed of weights and data.
    device : str
        See `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float
        n IPR: ``first`` order, ``law`` of any gain, and of the trained neurons ``median``, ``lowest`` and
        ``highest``; the median ``cosine`` of trained fields with the law's.
    """
    bumps = [ring.kernel_row(n, width) + 0.02 for width in (1.5, 5, 15)]
    first = landscape_descent.best_field(bumps, landscape.nlgp_task(n, xi1, xi2, gain))
    law = tilings.best_tile(tilings.sample_waves(n, xi1, xi2, gain, samples, seed=seed), tiled=False).field
    W = training.initial_weights(initials, 1, n, seed=seed)
    found = settle(W, n, xi1, xi2, gain, steps=steps, lr=lr, batch=batch, seed=seed, device=device)
    return {
        "first": float(n * measures.ipr(first)),
        "law": float(n * measures.ipr(law)),
        **_spread("", n * measures.ipr(found)),
        "cosine": float(np.median(least_squares.best_shift_cosine(found, law))),
    }


def many_width(
    *,
    n: int,
    xi1: float,
    xi2: float,
    gain: float,
    K: int,
    steps: int,
    lr: float,
    batch: int,
    samples: int,
    seed: int,
    device: str = "auto",
) -> dict[str, float]:
    """Fields of a network of many neurons: trained, of the best tiling, and to first order.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 3.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0.
    gain : float
        Gain, from 1e-6 to 1e6.
    K : int
        Neurons, at least 2.
    steps, lr, batch : int, float, int
        Training: steps at lr K, then half as many at an eighth of it.
    samples : int
        Vectors of each label for the tiling, and for the losses.
    seed : int
        Seed of weights and data.
    device : str
        See `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float
        For the ``trained`` network, the best ``tile``, and the minimum to ``first`` order next to tiled bumps:
        NAME_ipr (median n IPR), NAME_width (half energy), NAME_kernel and NAME_ols (median cosine with the
        correlations of label 1 and with the field of a single-pixel gate) and NAME_loss on the same fresh
        vectors. ``early``: median cosine, neuron by neuron, of trained fields with those of
        the first-order flow from the same weights, after a fifteenth of the steps.
    """
    W = training.initial_weights(1, K, n, seed=seed)
    task, how = landscape.nlgp_task(n, xi1, xi2, gain), {"batch": batch, "seed": seed, "device": device}
    tile = tilings.best_tile(tilings.sample_waves(n, xi1, xi2, gain, samples, seed=seed), tiled=True)
    soon = settle(W, n, xi1, xi2, gain, steps=steps // 15, lr=lr * K, rest=0, **how)[0]
    found = settle(W, n, xi1, xi2, gain, steps=steps, lr=lr * K, **how)[0]
    flowed = flow(W[0], task, steps // 15, lr * K)
    first = landscape_descent.predicted_fields(n, xi1, xi2, gain, K, start="tiled", seed=seed)
    shapes = {"trained": found, "first": first}
    losses = {f"{name}_loss": sampled_loss(w, xi1, xi2, gain, samples, seed + 10**6) for name, w in shapes.items()}
    return {
        **{key: value for name, w in shapes.items() for key, value in describe(name, w, xi1, xi2, gain).items()},
        **describe("tile", tile.field[None], xi1, xi2, gain),
        **losses,
        "tile_loss": sampled_loss(copies(tile.field), xi1, xi2, gain, samples, seed + 10**6),
        "early": _alike(soon, flowed),
    }


def branches(
    *,
    n: int,
    xi1: float,
    xi2: float,
    gain: float,
    K: int,
    steps: int,
    lr: float,
    batch: int,
    samples: int,
    seed: int,
    device: str = "auto",
) -> dict[str, float]:
    """Ask whether the tiling by bumps is the best network, and where training goes from either branch.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 3.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0.
    gain : float
        Gain, from 1e-6 to 1e6.
    K : int
        Neurons, at least 2.
    steps, lr, batch : int, float, int
        Training: steps at lr K, then half as many at an eighth of it.
    samples : int
        Vectors of each label.
    seed : int
        Seed of weights and data.
    device : str
        See `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float
        ``tile_ipr`` and ``tile_loss`` of the best tiling; ``least``, the least slope of its loss as another field is
        added, and ``least_ipr``, that field's n IPR; for the starts ``small`` (Xavier normal weights of scale
        0.001), ``spread`` (the first-order minimum reached from random weights) and ``tiled`` (bumps):
        NAME_ipr, median n IPR after training, and NAME_loss on the same fresh vectors.
    """
    data = tilings.sample_waves(n, xi1, xi2, gain, samples, seed=seed)
    tile = tilings.best_tile(data, tiled=True)
    added, least = tilings.least_variation(tile, data, seed=seed)
    starts = {
        "small": training.initial_weights(1, K, n, scale=1e-3, seed=seed)[0],
        "spread": landscape_descent.predicted_fields(n, xi1, xi2, gain, K, seed=seed),
        "tiled": landscape_descent.starting_fields(n, K, "tiled", seed),
    }
    found = {"tile_ipr": float(n * measures.ipr(tile.field)), "least": least}
    found["tile_loss"] = sampled_loss(copies(tile.field), xi1, xi2, gain, samples, seed + 10**6)
    found["least_ipr"] = float(n * measures.ipr(added))
    for name, W in starts.items():
        end = settle(W[None], n, xi1, xi2, gain, steps=steps, lr=lr * K, batch=batch, seed=seed, device=device)[0]
        found[f"{name}_ipr"] = float(np.median(n * measures.ipr(end)))
        found[f"{name}_loss"] = sampled_loss(end, xi1, xi2, gain, samples, seed + 10**6)
    return found


def settle(
    W: ArrayLike,
    n: int,
    xi1: float,
    xi2: float,
    gain: float,
    *,
    steps: int,
    lr: float,
    batch: int,
    seed: int,
    rest: int | None = None,
    device: str = "auto",
) -> Float[np.ndarray, "S K n"]:
    """Train networks on NLGP data, then half as many steps (or ``rest``) at an eighth of the rate.

    Parameters
    ----------
    W : array_like, shape (S, K, n)
        Initial weights.
    n : int
        Pixels.
    xi1, xi2, gain : float
        The task.
    steps, lr, batch, seed : int, float, int, int
        Training.
    rest : int, optional
        Steps at the small rate.
    device : str
        See `superposition.devices.resolve_device`.

    Returns
    -------
    numpy.ndarray, shape (S, K, n)
    """
    data = training.nlgp_batches(n, xi1, xi2, gain, batch, seed=seed, device=device)
    W = training.train(W, data, steps=steps, lr=lr).W
    rest = steps // 2 if rest is None else rest
    return training.train(W, data, steps=rest, lr=lr / 8).W if rest else W


def flow(W: ArrayLike, task: Task, steps: int, lr: float) -> Float[np.ndarray, "K n"]:
    """Gradient descent on the first-order loss, for comparison with training step by step.

    Parameters
    ----------
    W : array_like, shape (K, n)
        Initial weights.
    task : superposition.receptive.landscape.Task
        The data.
    steps, lr : int, float
        As in the training.

    Returns
    -------
    numpy.ndarray, shape (K, n)
    """
    W = np.array(W, dtype=np.float64)
    for _ in range(steps):
        W -= lr * landscape.network_loss(W, task)[1]
    return W


def copies(w: np.ndarray) -> Float[np.ndarray, "twice_n n"]:
    """Return a field at all places of the ring, with either sign.

    Parameters
    ----------
    w : array_like, shape (n,)
        Field.

    Returns
    -------
    numpy.ndarray, shape (2n, n)
    """
    turned = np.stack([np.roll(w, s) for s in range(len(w))])
    return np.concatenate([turned, -turned])


def sampled_loss(W: np.ndarray, xi1: float, xi2: float, gain: float, samples: int, seed: int) -> float:
    """Loss E(yhat - Y)^2 / 2 of a ReLU network on fresh vectors.

    Parameters
    ----------
    W : array_like, shape (K, n)
        Weights.
    xi1, xi2, gain : float
        The task.
    samples, seed : int
        Vectors of each label, and their seed.

    Returns
    -------
    float
    """
    rng = np.random.default_rng(seed)
    x1, x0 = (nlgp_sample(W.shape[1], xi, gain, samples, seed=rng) for xi in (xi1, xi2))
    parts = [np.mean((np.maximum(x @ W.T, 0).mean(axis=1) - y) ** 2) / 4 for x, y in ((x1, 1), (x0, 0))]
    return float(sum(parts))


def describe(name: str, W: np.ndarray, xi1: float, xi2: float, gain: float) -> dict[str, float]:
    """Width and shape of fields, as medians.

    Parameters
    ----------
    name : str
        What the keys begin with.
    W : array_like, shape (K, n)
        Fields.
    xi1, xi2, gain : float
        The task.

    Returns
    -------
    dict of str to float
        See `many_width`.
    """
    shape = {
        "ipr": float(np.median(W.shape[-1] * measures.ipr(W))),
        "width": float(np.median(measures.half_energy_width(W))),
        **template_cosines(W, xi1, xi2, gain),
    }
    return {f"{name}_{key}": value for key, value in shape.items()}


def template_cosines(W: np.ndarray, xi1: float, xi2: float, gain: float) -> dict[str, float]:
    """How much fields look like two templates, at the best shift.

    Parameters
    ----------
    W : array_like, shape (..., n)
        Fields.
    xi1, xi2, gain : float
        The task.

    Returns
    -------
    dict of str to float
        Median cosine with the correlations of label 1, ``kernel``, and with the field of a single-pixel gate, ``ols``.
    """
    n = W.shape[-1]
    templates = {"kernel": ring.kernel_row(n, xi1), "ols": least_squares.small_bump_field(n, xi1, xi2, gain, 0)}
    return {
        name: float(np.median(least_squares.best_shift_cosine(W, template))) for name, template in templates.items()
    }


def _alike(W, V):
    return float(np.median(np.sum(W * V, axis=1) / np.linalg.norm(W, axis=1) / np.linalg.norm(V, axis=1)))


def _spread(prefix, values):
    return {
        f"{prefix}median": float(np.median(values)),
        f"{prefix}lowest": float(values.min()),
        f"{prefix}highest": float(values.max()),
    }
