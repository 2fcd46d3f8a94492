"""Mean field with company: the loss of each output when interference depends on whether its own feature is on.

Output i is ReLU(g_i x_i + b_i + e_i) with the interference e_i = sum_(j != i) W_ij x_j. The Persian Rug, eq. 5, gives
e_i one mean and one spread. Here e_i has one mean and spread while feature i is off and another while it is on, and on
average it grows by c_i for each unit of x_i. Apart from this growth it is Gaussian. With independent features c_i = 0
and both states agree, and the formula is eq. 5. Source: ours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import ranges
from superposition.checked import checked
from superposition.correlated.ranges import measured_code, one_each
from superposition.moments import moment

BLOCK = 2**23  # numbers of interference that are held at once
FEW = 3  # vectors with a feature on below which its state is not described


class CompanyLosses(NamedTuple):
    """Loss of each output, shape (ns,), by four theories of its interference, from the simplest to the most complete.

    ``independent``, the features' own means and variances alone; ``means``, one mean in each state; ``company``, mean
    and spread in each state, and the slope; ``skewed``, the same with the third cumulant of the rest in each state.
    """

    independent: NDArray[np.float64]
    means: NDArray[np.float64]
    company: NDArray[np.float64]
    skewed: NDArray[np.float64]


@checked(
    measured_code, x=ranges.array("samples ns"), W_in=ranges.array("nd ns"), W_out=ranges.array("ns nd"),
    b=ranges.array("ns"),
)  # fmt: skip
def company_losses(x: ArrayLike, W_in: ArrayLike, W_out: ArrayLike, b: ArrayLike) -> CompanyLosses:
    """Loss of ReLU(W_out W_in x + b) on given features, from a few moments of each output's interference.

    Parameters
    ----------
    x : array_like, shape (samples, ns)
        Feature vectors, two at least; 0 is off. The moments are computed from them, so test the losses on others.

    Notes
    -----
    Source: ours, after The Persian Rug, eq. 5. Exact for outputs that are never cut off, and where the interference is
    Gaussian in each state; the error of any other interference is in theorem-ch12-field. Means and slope follow from
    pairs of features, spreads from triples. Use `superposition.rug.loss` instead for independent features.

    Examples
    --------
    >>> x = np.array([[0.0, 0.0], [0.5, 0.5], [1.0, 1.0], [0.0, 0.0]])
    >>> found = company_losses(x, np.eye(2), [[1.0, 0.2], [0.2, 1.0]], [0.0, 0.0])
    >>> found.company.round(4), ((x * 0.2) ** 2).mean(axis=0).round(4)
    (array([0.0125, 0.0125]), array([0.0125, 0.0125]))
    """
    x, W_in, W_out, b = (np.asarray(one, float) for one in (x, W_in, W_out, b))
    gain = np.einsum("ij,ji->i", W_out, W_in)
    state = _states(x, W_in, W_out, gain)
    plain = {"off": b + (W_out @ (W_in @ x.mean(axis=0)) - gain * x.mean(axis=0)), "slope": gain}
    noise = _independent_noise(x.var(axis=0), W_in, W_out, gain)
    on = plain["off"] + gain * state["strength"]
    means = {"off": b + state["off"], "on": b + gain * state["strength"] + state["on"], "slope": gain}
    spread = {"off_noise": state["off_noise"], "on_noise": state["on_noise"], "slope": gain + state["slope"]}
    skew = {name: state[name] for name in ("off_skew", "on_skew")}
    return CompanyLosses(
        _losses(x, state["strength"], plain | {"on": on, "off_noise": noise, "on_noise": noise}),
        _losses(x, state["strength"], means | {"off_noise": noise, "on_noise": noise}),
        _losses(x, state["strength"], means | spread),
        _losses(x, state["strength"], means | spread | skew),
    )


def _independent_noise(variance, W_in, W_out, gain):
    """Standard deviation of the interference of independent features with these variances."""
    total = np.einsum("ij,jk,ik->i", W_out, (W_in * variance) @ W_in.T, W_out, optimize=True)
    return np.sqrt(np.maximum(total - gain**2 * variance, 0))


def _interference(x, W_in, W_out, gain):
    """Blocks of feature vectors, which of them are on, and the interference of each output."""
    size = max(1, BLOCK // x.shape[1])
    for start in range(0, len(x), size):
        part = x[start : start + size]
        yield part, part != 0, (part @ W_in.T) @ W_out.T - gain * part


def _states(x, W_in, W_out, gain):
    """Mean strength while on, and mean, spread, skewness and slope of the interference in each state."""
    count, sums = 0, np.zeros((5, x.shape[1]))
    for part, on, e in _interference(x, W_in, W_out, gain):
        count = count + on.sum(axis=0)
        sums += [part.sum(axis=0), (part**2).sum(axis=0), e.sum(axis=0), (e * on).sum(axis=0), (e * part).sum(axis=0)]
    ons, offs = np.maximum(count, 1), np.maximum(len(x) - count, 1)
    strength, on_mean, off_mean = sums[0] / ons, sums[3] / ons, (sums[2] - sums[3]) / offs
    scatter = sums[1] - ons * strength**2
    told = (count >= FEW) & (scatter > 1e-12 * sums[1])
    slope = np.where(told, (sums[4] - ons * strength * on_mean) / np.where(told, scatter, 1), 0)
    powers = np.zeros((4, x.shape[1]))
    for part, on, e in _interference(x, W_in, W_out, gain):
        left = np.where(on, e - on_mean - slope * (part - strength), e - off_mean)
        square = left**2
        powers += [(square * on).sum(axis=0), (square * ~on).sum(axis=0)] + [
            (square * left * one).sum(axis=0) for one in (on, ~on)
        ]
    on_square, off_square = powers[0] / ons, powers[1] / offs
    return {
        "strength": strength, "on": on_mean, "off": off_mean, "slope": slope,
        "on_noise": np.sqrt(on_square), "off_noise": np.sqrt(off_square),
        "on_skew": powers[2] / ons / np.maximum(on_square, 1e-200) ** 1.5,
        "off_skew": powers[3] / offs / np.maximum(off_square, 1e-200) ** 1.5,
    }  # fmt: skip


def _losses(x, strength, field):
    """Mean loss of each output: over its own strengths while it is on, and while it is off."""
    rows, columns = np.nonzero(x)
    values = x[rows, columns]
    mean = field["on"][columns] + field["slope"][columns] * (values - strength[columns])
    first, second = _rectified(mean, field["on_noise"][columns], field.get("on_skew", np.zeros(x.shape[1]))[columns])
    on = np.bincount(columns, values**2 - 2 * values * first + second, x.shape[1])
    _, false = _rectified(field["off"], field["off_noise"], field.get("off_skew", 0.0))
    return (on + (len(x) - np.bincount(columns, minlength=x.shape[1])) * false) / len(x)


def _rectified(mean, noise, skew):
    """E ReLU(z) and E ReLU(z)^2 for z of this mean, spread and skewness: Gaussian, plus the third cumulant's part."""
    density = noise**2 * moment.unchecked(-1, mean, noise)  # noise times phi(mean / noise)
    first, second = moment.unchecked(1, mean, noise), moment.unchecked(2, mean, noise)
    share = skew / 6 * density
    return first - share * mean / np.maximum(noise, 1e-300), second + 2 * share * noise


class StateLosses(NamedTuple):
    """Loss of each output, shape (ns,), by the mean field with company, from its two states; they add up to it.

    ``on``, the part that comes from vectors with the own feature; ``off``, false alarms in the others.
    """

    on: NDArray[np.float64]
    off: NDArray[np.float64]


@checked(
    measured_code,
    one_each,
    x=ranges.array("samples ns"),
    W_in=ranges.array("nd ns"),
    W_out=ranges.array("ns nd"),
    b=ranges.array("ns"),
    threshold=ranges.array("ns", 0),
)
def state_losses(x: ArrayLike, W_in: ArrayLike, W_out: ArrayLike, b: ArrayLike, *, threshold: ArrayLike) -> StateLosses:
    """Loss of outputs z = W_out W_in x + b that pass above a threshold, by the mean field with company, in two parts.

    Parameters
    ----------
    x : array_like, shape (samples, ns)
        Feature vectors, two at least; 0 is off. The moments are computed from them, so test the losses on others.
    threshold : array_like, shape (ns,)
        An output is z where z is above it, else 0; with 0 outputs are those of a ReLU.

    Notes
    -----
    Source: ours. For latents that an encoder found in a vector, and that are decoded and encoded again, use ``on``
    alone: a latent is off because this very sum was below its threshold, and it stays there as far as the vector was
    reconstructed. Use `company_losses` instead for features that were drawn.

    Examples
    --------
    >>> x = np.array([[0.0, 0.0], [0.5, 0.5], [1.0, 1.0], [0.0, 0.0]])
    >>> code = np.eye(2), [[1.0, 0.2], [0.2, 1.0]], [0.0, 0.0]
    >>> found = state_losses(x, *code, threshold=[0.0, 0.0])
    >>> bool(np.allclose(found.on + found.off, company_losses(x, *code).company))
    True
    """
    x, W_in, W_out, b, threshold = (np.asarray(one, float) for one in (x, W_in, W_out, b, threshold))
    gain = np.einsum("ij,ji->i", W_out, W_in)
    state = _states(x, W_in, W_out, gain)
    rows, columns = np.nonzero(x)
    values = x[rows, columns]
    mean = b + gain * state["strength"] + state["on"]
    mean = mean[columns] + (gain + state["slope"])[columns] * (values - state["strength"][columns])
    first, second = _passed(mean, state["on_noise"][columns], threshold[columns])
    on = np.bincount(columns, values**2 - 2 * values * first + second, x.shape[1])
    _, false = _passed(b + state["off"], state["off_noise"], threshold)
    silent = len(x) - np.bincount(columns, minlength=x.shape[1])
    return StateLosses(on / len(x), silent * false / len(x))


def _passed(mean, noise, threshold):
    """E[z; z > threshold] and E[z^2; z > threshold] for Gaussian z."""
    share, first, second = (moment.unchecked(k, mean - threshold, noise) for k in (0, 1, 2))
    return first + threshold * share, second + 2 * threshold * first + threshold**2 * share
