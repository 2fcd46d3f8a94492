"""What the named runs of the chapter on gates compute at one point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks
from superposition.receptive import gated_networks, gated_training, gates, least_squares, marginals
from superposition.receptive import gates as receptive_gates
from superposition.receptive.gates import centres, directions
from superposition.receptive.measures import ipr, peak
from superposition.receptive.nlgp import nlgp_covariance
from superposition.receptive.ring import gaussian_covariance, kernel_row, lengths
from superposition.receptive.training import initial_weights

if TYPE_CHECKING:
    from jaxtyping import Float


RELU = gated_training.leaky(0)
LARGE_BATCH = 6000  # near the critical gain waves decay at 0.01 / tau: small batches would keep them alive


def trained_fields(
    *, n: int, xi1: float, xi2: float, gain: float, K: int, samples: int, steps: int, seed: int, device: str = "cpu"
) -> dict[str, float | str]:
    """Train a ReLU network and compare its fields with those that fixed gates would give.

    Parameters
    ----------
    n : int
        Number of pixels.
    xi1, xi2 : float
        Correlation lengths of the classes Y = 1 and Y = 0.
    gain : float
        Gain of the data, from 1e-6 to 100.
    K : int
        Number of neurons, 1 to n.
    samples : int
        Independent inputs of each class; the mirror images double them.
    steps : int
        Training steps.
    seed : int
        Seed of the weights, the data and the batches.
    device : str
        Ignored: the training is done by numpy on the CPU.

    Returns
    -------
    dict of str to float or str
        ``n_ipr``, the median of n IPR over neurons. Medians over neurons of the best-shift cosine
        with four templates: ``cos_ols`` (the closed-form field of a single-pixel gate),
        ``cos_pixel``, ``cos_kernel`` (the correlation of class Y = 1) and ``cos_flat``. ``cos_own``
        with the least-squares fields of the network's own gates, all neurons together, and
        ``same_outputs``, the cosine of what both predict on fresh inputs. Losses
        E(yhat - Y)^2 on fresh inputs: ``loss_relu``, ``loss_own`` (own gates), ``loss_random``
        (random gates), and exact ``loss_tiling`` (evenly spaced single-pixel gates).
        ``agree_tiling``: how often a field of the tiling agrees in sign with its own gate.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    streams = np.random.SeedSequence(checks.whole("seed", seed, 0)).generate_state(4)
    n = checks.whole("n", n, 3)
    x, y = gated_training.task(n, xi1, xi2, gain, samples, seed=streams[0])
    fresh = gated_training.task(n, xi1, xi2, gain, samples, seed=streams[1])
    w0 = initial_weights(1, K, n, seed=int(streams[2]))
    w = gated_training.train(w0, x, y, RELU, steps=steps, lr=K / 3, turn=True, seed=streams[3])[0]
    own, out_own = _least_squares(w, x, y, fresh[0])
    _, out_random = _least_squares(directions("random", n, K, seed=streams[3]), x, y, fresh[0])
    out = gated_training.outputs(w[None], fresh[0], RELU)[:, 0]
    tiling, loss_tiling = tiled(n, xi1, xi2, gain, K)
    gates = fresh[0][:, centres(n, K)] > 0
    templates = {
        "cos_ols": least_squares.small_bump_field(n, xi1, xi2, gain, 0),
        "cos_pixel": np.eye(1, n)[0],
        "cos_kernel": kernel_row(n, xi1),
        "cos_flat": np.ones(n),
    }
    return {
        "n_ipr": float(np.median(n * ipr(w))),
        **{name: float(np.median(least_squares.best_shift_cosine(w, row))) for name, row in templates.items()},
        "cos_own": float(np.sum(w * own) / np.linalg.norm(w) / np.linalg.norm(own)),
        "same_outputs": float(np.sum(out * out_own) / np.linalg.norm(out) / np.linalg.norm(out_own)),
        **{
            f"loss_{name}": float(np.mean((values - fresh[1]) ** 2))
            for name, values in (("relu", out), ("own", out_own), ("random", out_random))
        },
        "loss_tiling": loss_tiling,
        "agree_tiling": float(np.mean(receptive_gates.opened(tiling, fresh[0]) == gates)),
        "device": "cpu",
    }


def tiled(n: int, xi1: float, xi2: float, gain: float, K: int) -> tuple[Float[np.ndarray, "K n"], float]:
    """Fields and limiting loss of K evenly spaced single-pixel gates, exact.

    Parameters
    ----------
    n : int
        Number of pixels, at least 3.
    xi1, xi2 : float
        Correlation lengths of the classes Y = 1 and Y = 0.
    gain : float
        Gain of the data, from 1e-6 to 100.
    K : int
        Number of gates, 1 to n.

    Returns
    -------
    fields : numpy.ndarray, shape (K, n)
    loss : float

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    pixels = gates.centres(n, K)
    A = sum(gates.small_bump_second_moment(pixels, gaussian_covariance(n, xi), gain) / 2 for xi in lengths(n, xi1, xi2))  # pyrefly: ignore[bad-argument-type]: whole numbers
    b = np.stack([least_squares.small_bump_covariance(n, xi1, gain, i) for i in pixels])
    return gated_networks.limiting_weights(A, b), gated_networks.limiting_loss(A, b)


def other_marginal(
    *, n: int, xi1: float, xi2: float, law: str, strength: float, samples: int, steps: int, starts: int, seed: int,
    device: str = "cpu",
) -> dict[str, float | str]:  # fmt: skip
    """Train single ReLU neurons on inputs with another marginal.

    Parameters
    ----------
    n : int
        Number of pixels.
    xi1, xi2 : float
        Correlation lengths of the classes Y = 1 and Y = 0.
    law : str
        See `superposition.receptive.marginals.draw`.
    strength : float
        See `superposition.receptive.marginals.draw`.
    samples : int
        Independent inputs of each class; the mirror images double them.
    steps : int
        Training steps.
    starts : int
        Number of neurons, each from its own random weights.
    seed : int
        Seed of the weights, the data and the batches.
    device : str
        Ignored: the training is done by numpy on the CPU.

    Returns
    -------
    dict of str to float or str
        ``n_ipr`` (median), ``n_ipr_low`` and ``n_ipr_high`` over the neurons; excess
        ``kurtosis`` of class Y = 1; ``c3_over_c1`` of the marginal.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    streams = np.random.SeedSequence(checks.whole("seed", seed, 0)).generate_state(4)
    xi1, xi2 = lengths(n, xi1, xi2)
    one = marginals.draw(law, strength, n, xi1, samples, seed=streams[0])
    zero = marginals.draw(law, strength, n, xi2, samples, seed=streams[1])
    x, y = gated_training.labelled(one, zero, seed=streams[2])
    w0 = initial_weights(starts, 1, n, seed=int(streams[2]))
    batch = min(LARGE_BATCH, len(x))
    w = gated_training.train(w0, x, y, RELU, steps=steps, lr=1.0, batch=batch, turn=True, seed=streams[3])[:, 0]
    found = n * ipr(w)
    return {
        "n_ipr": float(np.median(found)),
        "n_ipr_low": float(found.min()),
        "n_ipr_high": float(found.max()),
        "kurtosis": float(np.mean(one**4) / np.mean(one**2) ** 2 - 3),
        "c3_over_c1": marginals.hermite_ratio(law, strength),
        "device": "cpu",
    }


def basin(
    *, n: int, xi1: float, xi2: float, gain: float, noise: float, samples: int, steps: int, trials: int, seed: int,
    device: str = "cpu",
) -> dict[str, float | str]:  # fmt: skip
    """Push a localised field off with noise, train on, and see where it ends.

    Parameters
    ----------
    n : int
        Number of pixels.
    xi1, xi2 : float
        Correlation lengths of the classes Y = 1 and Y = 0.
    gain : float
        Gain of the data, from 1e-6 to 1e6.
    noise : float
        Norm of the noise in units of the norm of the field, 0 or more.
    samples : int
        Independent inputs of each class; the mirror images double them.
    steps : int
        Training steps, before and after the push.
    trials : int
        Number of pushes.
    seed : int
        Seed of everything random.
    device : str
        Ignored: the training is done by numpy on the CPU.

    Returns
    -------
    dict of str to float or str
        ``stays``, the share of fields that end at the pixel they were pushed from;
        ``predicted``, the share for which that pixel is the largest of ``|C1 w|`` right after the
        push; ``agrees``, how often these two say the same of one field; ``silent``, how often the
        field's own largest pixel says the same. ``n_ipr`` before the push.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    n, trials = checks.whole("n", n, 3), checks.whole("trials", trials, 1)
    noise = checks.number("noise", noise, 0, open_high=True)
    streams = np.random.SeedSequence(checks.whole("seed", seed, 0)).generate_state(5)
    x, y = gated_training.task(n, xi1, xi2, gain, samples, seed=streams[0])
    start = initial_weights(1, 1, n, seed=int(streams[1]))
    options = {"steps": steps, "lr": 0.5, "turn": True}
    field = gated_training.train(start, x, y, RELU, **options, seed=streams[2])[0, 0]
    z = np.random.default_rng(streams[3]).standard_normal((trials, n))
    pushed = field + noise * np.linalg.norm(field) * z / np.linalg.norm(z, axis=1, keepdims=True)
    end = peak(gated_training.train(pushed[:, None], x, y, RELU, **options, seed=streams[4])[:, 0])
    home = peak(field)
    guess = peak(pushed @ nlgp_covariance(n, xi1, gain))
    return {
        "stays": float(np.mean(end == home)),
        "predicted": float(np.mean(guess == home)),
        "agrees": float(np.mean((end == home) == (guess == home))),
        "silent": float(np.mean((end == home) == (peak(pushed) == home))),
        "n_ipr": float(n * ipr(field)),
        "device": "cpu",
    }


def _least_squares(directions, x, y, fresh):
    """Least-squares fields of half-space gates on one sample, and what they predict on another."""
    fields = gated_networks.limiting_weights(*gated_networks.moments(gates.opened(directions, x), x, y))
    return fields, np.mean(gates.opened(directions, fresh) * (fresh @ fields.T), axis=1)
