"""What further runs of chapter 6 compute at one point: wide networks, pulses, frozen gates, the torus.

Source: the notes on localization, sections 1, 3.2 and 4.2. Plain functions of numbers, which return plain numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize

from superposition.devices import resolve_device, torch
from superposition.receptive import (
    gated_networks,
    gated_training,
    landscape,
    landscape_descent,
    least_squares,
    measures,
    ring,
    single_pulses,
    training,
)
from superposition.receptive.nlgp import nlgp_covariance, normalization

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike


FORECASTS = ("raw", "short", "long", "twice")


def hundred(
    *,
    n: int,
    xi1: float,
    xi2: float,
    gain: float,
    activation: str,
    bias: float,
    scale: float,
    K: int,
    initials: int,
    steps: int,
    lr: float,
    batch: int,
    seed: int,
    device: str = "auto",
) -> dict[str, float]:
    """Train wide networks, and compare where their neurons peak with what the initial weights foretell.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 3.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0.
    gain : float
        Gain, from 1e-6 to 1e6.
    activation : {"relu", "erf", "sigmoid", "tanh"}
        Of the hidden neurons.
    bias : float
        Where hidden biases start; a ReLU network has none.
    scale : float
        Scale of the initial weights, above 0.
    K, initials : int
        Neurons and networks, at least 1.
    steps, lr, batch : int, float, int
        Training, at the rate lr K, and lr for the output bias.
    seed : int
        Seed of weights and data.
    device : str
        See `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float
        Medians over networks of the median over neurons: ``ipr`` (n IPR), with ``ipr_low`` and ``ipr_high`` the extreme
        networks, ``frequency``, ``kernel`` and ``ols`` (cosines with the correlations of label 1 and with the field
        of a single-pixel gate); mean ``loss`` and ``bias_mean``. Shares of neurons that peak within a pixel of
        the peak of |w0| (``raw``), |C0 w0| (``short``), |C1 w0| (``long``) and |C1 C1 w0| (``twice``), and
        ``same_sign``, the share with the sign of C1 w0 there. ``power_early``, ``power_late``: slope of the logarithm
        of the linear filter from initial weights to weights, against that of the eigenvalues of C1, after a
        thirtieth and after a tenth of the steps.
    """
    W0 = training.initial_weights(initials, K, n, scale=scale, seed=seed)
    data = training.nlgp_batches(n, xi1, xi2, gain, batch, seed=seed, device=device)
    learned = None if activation == "relu" else bias
    found = training.train(
        W0, data, steps=steps, lr=lr * K, lr_out=lr, activation=activation, bias=learned, keep_every=max(1, steps // 30)
    )
    C1, C0 = (nlgp_covariance(n, xi, gain) for xi in (xi1, xi2))
    at, long = measures.peak(found.W), W0 @ C1
    guesses = dict(zip(FORECASTS, (W0, W0 @ C0, long, long @ C1), strict=True))
    hits = {name: measures.ring_distance(measures.peak(guess), at, n) <= 1 for name, guess in guesses.items()}
    ipr = np.median(n * measures.ipr(found.W), axis=1)
    top, there = (np.take_along_axis(w, at[..., None], axis=2) for w in (found.W, long))
    return {
        "ipr": float(np.median(ipr)),
        "ipr_low": float(ipr.min()),
        "ipr_high": float(ipr.max()),
        "frequency": float(np.median(measures.mean_frequency(found.W))),
        "kernel": float(np.median(least_squares.best_shift_cosine(found.W, ring.kernel_row(n, xi1)))),
        "ols": float(
            np.median(least_squares.best_shift_cosine(found.W, least_squares.small_bump_field(n, xi1, xi2, gain, 0)))
        ),
        "loss": float(found.loss.mean()),
        "bias_mean": float(found.bias.mean()),
        **{name: float(hit.mean()) for name, hit in hits.items()},
        "same_sign": float((top * there > 0).mean()),
        "power_early": filter_power(W0, found.kept[1], C1),
        "power_late": filter_power(W0, found.kept[3], C1),
    }


def filter_power(W0: ArrayLike, W: ArrayLike, C1: ArrayLike) -> float:
    """How many powers of C1 the linear filter from initial weights to weights is worth.

    Parameters
    ----------
    W0, W : array_like, shape (S, K, n)
        Initial weights, and later ones.
    C1 : array_like, shape (n, n)
        Circulant covariance.

    Returns
    -------
    float
        Slope of log |filter| against the logarithm of the eigenvalues, over those above a third of the largest.
    """
    before, after = (np.fft.rfft(w, axis=-1) for w in (W0, W))
    filtered = np.abs(np.sum(after * np.conj(before), axis=(0, 1)).real) / np.sum(np.abs(before) ** 2, axis=(0, 1))
    lam = ring.eigenvalues(C1)
    here = lam > lam.max() / 3
    return float(np.polyfit(np.log(lam[here]), np.log(filtered[here]), 1)[0])


def pulse_fields(
    *,
    n: int,
    version: str,
    long_low: int,
    long_high: int,
    short_low: int,
    short_high: int,
    K: int,
    initials: int,
    steps: int,
    lr: float,
    seed: int,
    device: str = "auto",
) -> dict[str, float]:
    """Train on all pulses at once: long ones against short ones.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 2.
    version : {"raw", "complemented", "signed"}
        See `superposition.single_pulses.pulse_support`.
    long_low, long_high, short_low, short_high : int
        Shortest and longest pulse with label 1, and with label 0.
    K, initials : int
        Neurons and networks, at least 1.
    steps, lr : int, float
        Training, at the rate lr K.
    seed : int
        Seed of the weights.
    device : str
        See `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float
        Over all neurons: median, least and largest half-energy ``width``, median ``ipr`` (n IPR), median ``flat``, the
        share of energy in the flat mode; mean ``loss``.
    """
    spans = range(long_low, long_high + 1), range(short_low, short_high + 1)
    data = training.fixed_batches(
        *(single_pulses.pulse_support(n, list(span), version) for span in spans), device=device
    )
    found = training.train(training.initial_weights(initials, K, n, seed=seed), data, steps=steps, lr=lr * K)
    width = measures.half_energy_width(found.W)
    return {
        "width": float(np.median(width)),
        "width_low": float(width.min()),
        "width_high": float(width.max()),
        "ipr": float(np.median(n * measures.ipr(found.W))),
        "flat": float(np.median(measures.power(found.W)[..., 0])),
        "loss": float(found.loss.mean()),
    }


def frozen_gates(
    *,
    n: int,
    xi1: float,
    xi2: float,
    gain: float,
    K: int,
    samples: int,
    iterations: int,
    seed: int,
    device: str = "cpu",
) -> dict[str, float]:
    """Minimize the loss on a whole sample, and compare the network with least squares behind its own gates.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 3.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0.
    gain : float
        Gain, from 1e-6 to 1e6.
    K : int
        Neurons, at least 1.
    samples : int
        Vectors of each label, each with its mirror image.
    iterations : int
        Of L-BFGS, at least 1.
    seed : int
        Seed of weights and data.
    device : str
        Not used: this is a computation in numpy.

    Returns
    -------
    dict of str to float
        ``gradient``, its norm; ``cos_own``, the cosine of W and K A^-1 b; ``distance`` of both over the norm of
        W and its ``bound``, K^2 times the norm of the gradient over the least eigenvalue of A and the norm of W;
        ``condition``, of A; and the ``loss``.
    """
    x, y = gated_training.task(n, xi1, xi2, gain, samples, seed=seed)

    def objective(flat):
        gates = (h := x @ flat.reshape(K, n).T) > 0
        error = np.mean(h * gates, axis=1) - y
        return np.mean(error**2) / 2, ((gates * error[:, None]).T @ x / len(x) / K).ravel()

    start = training.initial_weights(1, K, n, seed=seed)[0].ravel()
    options = {"maxiter": iterations, "maxfun": 2 * iterations, "gtol": 1e-12, "ftol": 0, "maxcor": 30}
    w = minimize(objective, start, jac=True, method="L-BFGS-B", options=options).x
    A, b = gated_networks.moments(x @ w.reshape(K, n).T > 0, x, y)
    eigenvalues, own = np.linalg.eigvalsh(A), K * np.linalg.solve(A, b.ravel())
    loss, slope = objective(w)
    gradient, size = np.linalg.norm(slope), np.linalg.norm(w)
    return {
        "gradient": float(gradient),
        "cos_own": float(own @ w / np.linalg.norm(own) / size),
        "distance": float(np.linalg.norm(w - own) / size),
        "bound": float(K**2 * gradient / eigenvalues[0] / size),
        "condition": float(eigenvalues[-1] / eigenvalues[0]),
        "loss": float(loss),
    }


def torus_field(
    *,
    side: int,
    xi1: float,
    xi2: float,
    gain: float,
    initials: int,
    steps: int,
    lr: float,
    batch: int,
    seed: int,
    device: str = "auto",
) -> dict[str, float | str]:
    """Train single neurons on a torus of pixels, beside the first-order prediction.

    Parameters
    ----------
    side : int
        Pixels along each direction, at least 3.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0.
    gain : float
        Gain, from 1e-6 to 1e6.
    initials, steps, lr, batch : int, int, float, int
        Training.
    seed : int
        Seed of weights and data.
    device : str
        See `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float or str
        Median over neurons of ``ipr`` (pixels times IPR) and of the pixels that take part along the direction with
        fewer, ``narrow``, and with more, ``wide`` (1 over the sum of squares of the shares of energy);
        ``first_narrow`` and ``first_wide`` of the best field to first order; ``field``, one trained field in one text,
        row by row.
    """
    n = side**2
    W = training.initial_weights(initials, 1, n, seed=seed)
    data = torus_batches(side, xi1, xi2, gain, batch, seed=seed, device=device)
    found = training.train(W, data, steps=steps, lr=lr).W[:, 0]
    row = ring.kernel_row(side, 2 * xi1)
    starts = [np.outer(row, row), np.outer(row, np.ones(side)), np.ones((side, side)) + np.outer(row, row) / 5]
    starts = np.reshape(starts, (3, n)) + 1e-3 * np.random.default_rng(seed).standard_normal((3, n))
    first = landscape_descent.best_field(starts, landscape.torus_task(side, xi1, xi2, gain))
    narrow, wide = extents(found, side)
    return {
        "ipr": float(np.median(n * measures.ipr(found))),
        "narrow": float(np.median(narrow)),
        "wide": float(np.median(wide)),
        **dict(zip(("first_narrow", "first_wide"), (float(e[0]) for e in extents(first[None], side)), strict=True)),
        "field": " ".join(f"{value:.3g}" for value in found[0]),
    }


def torus_batches(
    side: int, xi1: float, xi2: float, gain: float, batch: int, *, seed: int, device: str = "auto"
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Endless batches of NLGP data on a torus: z is A Z A with A the square root of a ring's correlations.

    Parameters
    ----------
    side : int
        Pixels along each direction.
    xi1, xi2, gain : float
        The task.
    batch, seed : int
        Vectors in a batch, half of each label, and the seed of the stream.
    device : str
        See `superposition.devices.resolve_device`.

    Yields
    ------
    (torch.Tensor, torch.Tensor)
        The vectors with label 1 and those with label 0, each (half, side^2) in float32.
    """
    on, scale, gain = resolve_device(device), float(normalization(gain)), float(gain)
    roots = [
        torch.tensor(ring.square_root(ring.gaussian_covariance(side, xi)), dtype=torch.float32, device=on)
        for xi in (xi1, xi2)
    ]
    generator = torch.Generator().manual_seed(seed)
    while True:
        drawn = (torch.randn(batch // 2, side, side, generator=generator).to(on) for _ in roots)
        one, zero = (
            torch.erf(gain * (A @ Z @ A)).reshape(-1, side**2) / scale for A, Z in zip(roots, drawn, strict=True)
        )
        yield one, zero


def extents(w: ArrayLike, side: int) -> tuple[np.ndarray, np.ndarray]:
    """Pixels that take part along either direction of a torus.

    Parameters
    ----------
    w : array_like, shape (m, side^2)
        Fields.
    side : int
        Pixels along each direction.

    Returns
    -------
    tuple of numpy.ndarray
        Shape (m,): the smaller and the larger of both, from 1 to side.
    """
    energy = np.reshape(w, (-1, side, side)) ** 2
    shares = (energy.sum(axis=axis) / energy.sum(axis=(1, 2))[:, None] for axis in (1, 2))
    both = np.sort([1 / np.sum(share**2, axis=1) for share in shares], axis=0)
    return both[0], both[1]
