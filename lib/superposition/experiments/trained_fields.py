"""What the named runs of chapter 6 compute at one point: plain functions of numbers, which return plain numbers.

Source: the notes on localization, sections 1 to 3. Networks are trained as in
`superposition.receptive.training`, several initial weights at a time. ``law`` is "nlgp", or "clone" for
Gaussian data with the covariances of the NLGP: the control that knows nothing of higher moments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import kurtosis

from superposition import checks
from superposition.receptive import flat_field, measures, relu_flow, training
from superposition.receptive.nlgp import nlgp_covariance
from superposition.receptive.ring import lengths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from superposition.devices import torch


LAWS = ("nlgp", "clone")


def batches(
    law: str, n: int, xi1: float, xi2: float, gain: float, batch: int, *, seed: int, device: str = "cpu"
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Endless batches of NLGP data or of its Gaussian clone.

    Parameters
    ----------
    law : {"nlgp", "clone"}
        Which of the two.
    n : int
        Pixels of the ring, at least 2.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0.
    gain : float
        Gain, from 1e-6 to 1e6.
    batch : int
        Vectors in a batch, at least 2.
    seed, device : int, str
        Seed of the stream; see `superposition.devices.resolve_device`.

    Returns
    -------
    iterator
        As `superposition.receptive.training.nlgp_batches`.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    if checks.one_of("law", law, LAWS) == "nlgp":
        return training.nlgp_batches(n, xi1, xi2, gain, batch, seed=seed, device=device)
    clone = [nlgp_covariance(n, xi, gain) for xi in lengths(n, xi1, xi2)]
    return training.gaussian_batches(*clone, batch, seed=seed, device=device)  # pyrefly: ignore[bad-argument-type, bad-argument-count]: two


def localization(
    *, n: int, xi1: float, xi2: float, gain: float, law: str, K: int, initials: int, steps: int, lr: float, batch: int,
    seed: int, device: str = "auto",
) -> dict[str, float | str]:  # fmt: skip
    """Train ReLU networks and measure how localized every receptive field is.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 2.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0.
    gain : float
        Gain, from 1e-6 to 1e6.
    law : {"nlgp", "clone"}
        Data.
    K : int
        Neurons, at least 1.
    initials : int
        Initial weights, at least 1.
    steps, lr, batch : int, float, int
        Training.
    seed, device : int, str
        Seed of weights and data; see `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float or str
        ``median``, ``lowest`` and ``highest`` of n IPR over all neurons; median ``width`` (half
        energy) and ``frequency``; mean ``loss``; and ``values``, every n IPR in one text.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    W = training.initial_weights(initials, K, n, seed=seed)
    data = batches(law, n, xi1, xi2, gain, batch, seed=seed, device=device)
    found = training.train(W, data, steps=steps, lr=lr)
    return {**_describe(found.W), "loss": float(found.loss.mean())}


def location(
    *, n: int, xi1: float, xi2: float, gain: float, scale: float, initials: int, steps: int, lr: float, batch: int,
    seed: int, device: str = "auto",
) -> dict[str, float]:  # fmt: skip
    """Train single neurons and compare where they peak with what the initial weights foretell.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 3.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0.
    gain : float
        Gain, from 1e-6 to 1e6.
    scale : float
        Scale of the initial weights, above 0.
    initials : int
        Initial weights, at least 1.
    steps, lr, batch : int, float, int
        Training.
    seed, device : int, str
        Seed of weights and data; see `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float
        For each predictor the share of networks whose peak it names, ``NAME_exact``, and to
        within one pixel, ``NAME_near``. "raw" is the peak of |w0|; "smooth" that of |C1 w0|, the
        first step of the flow from small weights; "twice" that of |C1 C1 w0|; "flow" that of the
        Gaussian flow after a time of 1; "again" that of a second training from the same weights on other data, the
        ceiling. Further the median ``n_ipr``, the share ``positive`` of positive peaks and the
        share ``same_sign`` of peaks with the sign of (C1 w0) there.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    W = training.initial_weights(initials, 1, n, scale=scale, seed=seed)
    first, second = (
        training.train(W, batches("nlgp", n, xi1, xi2, gain, batch, seed=s, device=device), steps=steps, lr=lr).W[:, 0]
        for s in (2 * seed, 2 * seed + 1)
    )
    w0 = W[:, 0]
    C1, C0 = (nlgp_covariance(n, xi, gain) for xi in (xi1, xi2))
    after_flow = np.concatenate([relu_flow.single_neuron(w, C0, C1, [1.0]) for w in w0])
    predictors = {"raw": w0, "smooth": w0 @ C1, "twice": w0 @ C1 @ C1, "flow": after_flow, "again": second}
    at = measures.peak(first)
    top = first[np.arange(len(first)), at]
    return {
        **{
            f"{name}_{how}": float(measures.same_place(forecast, first, within).mean())
            for name, forecast in predictors.items()
            for how, within in (("exact", 0), ("near", 1))
        },
        "n_ipr": float(np.median(n * measures.ipr(first))),
        "positive": float((top > 0).mean()),
        "same_sign": float((top * (w0 @ C1)[np.arange(len(first)), at] > 0).mean()),
    }


def onset(
    *, n: int, xi1: float, xi2: float, fraction: float, law: str, initials: int, steps: int, lr: float, batch: int,
    seed: int, device: str = "auto",
) -> dict[str, float | str]:  # fmt: skip
    """Train single neurons at a multiple of the predicted critical gain.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 3.
    xi1, xi2 : float
        Correlation lengths, with a finite `superposition.receptive.flat_field.critical_gain`.
    fraction : float
        Gain in units of the predicted critical gain, above 0.
    law : {"nlgp", "clone"}
        Data.
    initials : int
        Initial weights, at least 1.
    steps, lr, batch : int, float, int
        Training.
    seed, device : int, str
        Seed of weights and data; see `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float or str
        As `localization`, and the ``gain`` and the median ``wave``, the share of energy that is
        not in the flat mode.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    gain = checks.number("fraction", fraction, 0, 1e6, open_low=True) * flat_field.critical_gain(n, xi1, xi2)
    W = training.initial_weights(initials, 1, n, seed=seed)
    data = batches(law, n, xi1, xi2, gain, batch, seed=seed, device=device)
    found = training.train(W, data, steps=steps, lr=lr).W
    return {"gain": gain, "wave": float(np.median(1 - measures.power(found)[..., 0])), **_describe(found)}


def critical_point(
    *, n: int, xi1: float, xi2: float, samples: int, seed: int, device: str = "auto"
) -> dict[str, float]:
    """Critical gain by formula and by Monte Carlo.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 3.
    xi1, xi2 : float
        Correlation lengths, xi1 > xi2 > 0.
    samples : int
        Vectors, at least 100.
    seed : int
        Seed of the vectors.
    device : str
        Not used: this is a computation in numpy.

    Returns
    -------
    dict of str to float
        ``predicted``, ``measured`` and its standard error ``se``.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    measured, se = flat_field.measured_critical_gain(n, xi1, xi2, samples=samples, seed=seed)
    return {"predicted": flat_field.critical_gain(n, xi1, xi2), "measured": measured, "se": se}


def bias_sign(
    *, n: int, xi1: float, xi2: float, gain: float, activation: str, bias: float, K: int, initials: int, steps: int,
    lr: float, batch: int, seed: int, device: str = "auto",
) -> dict[str, float | str]:  # fmt: skip
    """Train networks with erf or sigmoid neurons whose hidden biases start on one side.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 2.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0.
    gain : float
        Gain, from 1e-6 to 1e6.
    activation : {"relu", "erf", "sigmoid"}
        Of the hidden neurons.
    bias : float
        Where the hidden biases start.
    K : int
        Neurons, at least 1.
    initials : int
        Initial weights, at least 1.
    steps, lr, batch : int, float, int
        Training.
    seed, device : int, str
        Seed of weights and data; see `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float or str
        As `localization`, and mean and extremes of the final hidden biases: ``bias_mean``,
        ``bias_lowest`` and ``bias_highest``.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    W = training.initial_weights(initials, K, n, seed=seed)
    data = batches("nlgp", n, xi1, xi2, gain, batch, seed=seed, device=device)
    found = training.train(W, data, steps=steps, lr=lr, activation=activation, bias=bias)
    return {
        **_describe(found.W),
        "loss": float(found.loss.mean()),
        "bias_mean": float(found.bias.mean()),
        "bias_lowest": float(found.bias.min()),
        "bias_highest": float(found.bias.max()),
    }


def sign_flips(
    *, n: int, xi1: float, xi2: float, gain: float, K: int, initials: int, steps: int, lr: float, batch: int,
    keep_every: int, seed: int, device: str = "auto",
) -> dict[str, float | str]:  # fmt: skip
    """Train ReLU networks and count how often their gates change.

    Parameters
    ----------
    n : int
        Pixels of the ring, at least 2.
    xi1, xi2 : float
        Correlation lengths of the data with label 1 and 0.
    gain : float
        Gain, from 1e-6 to 1e6.
    K : int
        Neurons, at least 1.
    initials : int
        Initial weights, at least 1.
    steps, lr, batch : int, float, int
        Training.
    keep_every : int
        Steps between looks.
    seed, device : int, str
        Seed of weights and data; see `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float or str
        As `localization`; flips between looks in the first and the last tenth of the training,
        ``early`` and ``late``, per neuron and vector; ``total``, the share of gates that differ
        between start and end; ``cosine``, the mean cosine between a neuron's weights at start
        and end; mean excess kurtosis of the pre-activations at the end over both labels,
        ``kurtosis_pooled``, and over label 1 alone, ``kurtosis_1``; and the mean
        ``kurtosis_mixture`` that Gaussian pre-activations of the same two variances would have.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    W = training.initial_weights(initials, K, n, seed=seed)
    data = batches("nlgp", n, xi1, xi2, gain, batch, seed=seed, device=device)
    found = training.train(W, data, steps=steps, lr=lr, keep_every=checks.whole("keep_every", keep_every, 1))
    fresh = batches("nlgp", n, xi1, xi2, gain, 10_000, seed=seed + 1_000_000)
    x1, x0 = (x.numpy().astype(np.float64) for x in next(fresh))
    step, final = training.flips(found.kept, np.concatenate([x1, x0]))
    tenth = max(1, len(step) // 10)
    cosine = np.sum(W * found.W, axis=-1) / np.linalg.norm(W, axis=-1) / np.linalg.norm(found.W, axis=-1)
    return {
        **_describe(found.W),
        "early": float(step[:tenth].mean()),
        "late": float(step[-tenth:].mean()),
        "total": float(final[0].mean()),
        "cosine": float(cosine.mean()),
        **preactivation_kurtosis(found.W.reshape(-1, x1.shape[1]), x1, x0),
    }


def preactivation_kurtosis(W: ArrayLike, x1: ArrayLike, x0: ArrayLike) -> dict[str, float]:
    """Excess kurtosis of pre-activations, over both labels and over one.

    Parameters
    ----------
    W : array_like, shape (m, n)
        Weights.
    x1, x0 : array_like, shape (B, n)
        As many vectors with label 1 as with label 0.

    Returns
    -------
    dict of str to float
        Means over the m neurons: ``kurtosis_pooled``, ``kurtosis_1``, and ``kurtosis_mixture`` =
        3 ((v1 - v0) / (v1 + v0))^2, that of an even mixture of Gaussians of the same variances.

    Raises
    ------
    ValueError
        If the shapes do not fit.
    """
    W, x1, x0 = (checks.array(name, v, "m n") for name, v in (("W", W), ("x1", x1), ("x0", x0)))
    if not W.shape[1] == x1.shape[1] == x0.shape[1]:
        raise ValueError(f"W, x1 and x0 have shapes {W.shape}, {x1.shape} and {x0.shape}; allowed: one n")
    h1, h0 = x1 @ W.T, x0 @ W.T
    v1, v0 = h1.var(axis=0), h0.var(axis=0)
    return {
        "kurtosis_pooled": float(kurtosis(np.concatenate([h1, h0])).mean()),
        "kurtosis_1": float(kurtosis(h1).mean()),
        "kurtosis_mixture": float(np.mean(3 * ((v1 - v0) / (v1 + v0)) ** 2)),
    }


def _describe(W):
    n = W.shape[-1]
    values = n * measures.ipr(W).ravel()
    return {
        "median": float(np.median(values)),
        "lowest": float(values.min()),
        "highest": float(values.max()),
        "width": float(np.median(measures.half_energy_width(W))),
        "frequency": float(np.median(measures.mean_frequency(W))),
        "values": " ".join(f"{value:.2f}" for value in values),
    }
