"""The loss of any receptive fields on squashed data, to first order in the fourth cumulant.

For x = f(z) pixel by pixel, f odd, the lowest difference between x and Gaussian data is the third
Hermite coefficient c3 of f. Write drive = -6 c1^3 c3 (for erf it is q c1^4, c1^2 = q / arcsin q) and
m = r w with r the correlations of z. The joint cumulants of pre-activations are then sums over pixels,
of <w, x> alone -4 drive sum_i w_i m_i^3, and a loss that needs no more than E|u| and E|u||v| has a closed
form for every w. Covariances are exact; only cumulants are to first order.

Source: completes the notes on localization, section 2, which stop at Gaussian data; the formulas are ours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from superposition import checks, ranges
from superposition.checked import checked
from superposition.receptive.nlgp import saturation
from superposition.receptive.ranges import (
    field,
    field_lengths,
    kernel,
    length0,
    length1,
    one_gain,
    pixels,
    rows_of_fields,
    side_lengths,
    two_lengths,
)
from superposition.receptive.ring import gaussian_covariance

TWINS = 1e-10  # closer to 1, the square of a correlation is taken as this close


class Task(NamedTuple):
    """Moments of the data for the first order: for each label covariance and correlation of z, and the drive.

    ``C1``, ``C0``, ``r1``, ``r0`` have shape (n, n); ``drive`` is -6 c1^3 c3, the same for both labels.
    """

    C1: np.ndarray
    C0: np.ndarray
    r1: np.ndarray
    r0: np.ndarray
    drive: float


def data_task(name: str, value: Any) -> Task:
    """Moments of the data, from `nlgp_task` or `torus_task`, or a `Task` of other moments."""
    task = ranges.instance(Task)(name, value)
    first = checks.array(f"{name}.C1", task.C1, "n n")
    for part in Task._fields[1:4]:
        checks.array(f"{name}.{part}", getattr(task, part), first.shape)
    checks.number(f"{name}.drive", task.drive, -1e6, 1e6)
    return value


def _score_fits(w, task):
    checks.array("w", w, (len(task.C1),))
    refuse_no_variance("w", w[None], task.C1)


def _loss_fits(W, task):
    checks.array("W", W, ("K", len(task.C1)))
    for C in (task.C1, task.C0):
        refuse_no_variance("W", W, C)


def refuse_no_variance(name: str, W: np.ndarray, C: np.ndarray) -> None:
    """Refuse fields (K, n) whose pre-activation is constant."""
    checks.real(f"variance of {name}", np.sum((W @ C) * W, axis=1), 0, open_low=True)


@checked(two_lengths, n=pixels, xi1=length1, xi2=length0, gain=one_gain, kernel=kernel)
def nlgp_task(n: int, xi1: float, xi2: float, gain: float, kernel: str = "periodic") -> Task:
    """The NLGP on a ring of n pixels, in the moments that the first order needs.

    Source: ours. Use `torus_task` instead in two dimensions.

    Examples
    --------
    >>> print(f"{nlgp_task(40, 2, 1, 0.3).drive:.4f}")
    0.1514
    """
    r1, r0 = (gaussian_covariance(n, xi, kernel) for xi in (xi1, xi2))
    return _squashed(r1, r0, gain)


@checked(side_lengths, side=ranges.whole(2, 100), xi1=length1, xi2=length0, gain=one_gain, kernel=kernel)
def torus_task(side: int, xi1: float, xi2: float, gain: float, kernel: str = "periodic") -> Task:
    """The NLGP on a torus of side^2 pixels, row by row: correlations of z are products of two rings'.

    Source: ours.

    Examples
    --------
    >>> torus_task(3, 0.5, 0.3, 1.0).C1.shape
    (9, 9)
    """
    r1, r0 = (gaussian_covariance(side, xi, kernel) for xi in (xi1, xi2))
    return _squashed(np.kron(r1, r1), np.kron(r0, r0), gain)


@checked(field_lengths, w=field, xi1=length1, xi2=length0, gain=one_gain)
def one_neuron_score(w: ArrayLike, xi1: float, xi2: float, gain: float) -> tuple[float, np.ndarray]:
    """Score of one field on the NLGP, R = (E_1|<w, x>|)^2 / (w'(C0 + C1)w / 2), whose maximum is the best ReLU neuron.

    The least loss E(yhat - Y)^2 / 2 along the direction of w is 1/4 - R / 16.

    Source: completes the notes on localization, section 2, which stop at Gaussian data; the formula is ours. Use
    `field_score` instead for many fields on the same data.

    Returns
    -------
    score : float
    gradient : numpy.ndarray, shape (n,)

    Examples
    --------
    >>> flat, bump = np.ones(40), np.exp(-(np.arange(-20, 20.0) ** 2) / 80)
    >>> bool(one_neuron_score(bump, 2, 1, 0.3)[0] > one_neuron_score(flat, 2, 1, 0.3)[0])
    True
    >>> bool(one_neuron_score(bump, 2, 1, 0.1)[0] > one_neuron_score(flat, 2, 1, 0.1)[0])
    False
    """
    return field_score(w, nlgp_task(np.size(w), xi1, xi2, gain))


@checked(_score_fits, w=field, task=data_task)
def field_score(w: ArrayLike, task: Task) -> tuple[float, np.ndarray]:
    """Score of one field (n,), as `one_neuron_score` defines it, on any `Task`, and its gradient.

    Source: ours.

    Returns
    -------
    score : float
    gradient : numpy.ndarray, shape (n,)

    Examples
    --------
    >>> score, gradient = field_score(np.ones(40), nlgp_task(40, 2, 1, 0.3))
    >>> print(f"{score:.3f}")
    0.853
    """
    w = np.asarray(w, dtype=np.float64)
    Cw, Sw, m = task.C1 @ w, (task.C1 + task.C0) @ w, task.r1 @ w
    rho, both, quartic = w @ Cw, w @ Sw / 2, w @ m**3
    share = 1 + task.drive * quartic / (6 * rho**2)
    value = 2 / np.pi * rho * share**2 / both
    slope = task.drive / (6 * rho**2) * (m**3 + task.r1 @ (3 * w * m**2) - 4 * quartic / rho * Cw)
    return float(value), value * (2 * Cw / rho - Sw / both + 2 * slope / share)


@checked(_loss_fits, W=rows_of_fields, task=data_task)
def first_order_loss(W: ArrayLike, task: Task) -> tuple[float, np.ndarray]:
    """Loss E(yhat - Y)^2 / 2 of yhat = (1/K) sum_k ReLU(<w_k, x>), to first order in the fourth cumulant.

    Source: completes the notes on localization, section 2, which stop at Gaussian data; the formula is ours. Use
    `gaussian_loss` instead for Gaussian data, `tiled_network_loss` at large gain.

    Parameters
    ----------
    W : array_like, shape (K, n)
        Receptive fields, none zero.

    Returns
    -------
    loss : float
    gradient : numpy.ndarray, shape (K, n)

    Examples
    --------
    >>> W, task = np.eye(4, 40), nlgp_task(40, 2, 1, 1.0)
    >>> loss, gradient = first_order_loss(W, task)
    >>> bool(first_order_loss(W - 0.1 * gradient, task)[0] < loss)
    True
    """
    W = np.asarray(W, dtype=np.float64)
    value, gradient = 0.25, np.zeros_like(W)
    for C, r, label in ((task.C1, task.r1, 1), (task.C0, task.r0, 0)):
        part, slope = _class_loss(W, C, r, task.drive, label)
        value, gradient = value + part, gradient + slope
    return float(value), gradient


def _squashed(r1, r0, gain):
    """Task of erf pixels with these correlations of z."""
    q = float(saturation(gain))
    C1, C0 = (np.where(r == 1, 1.0, np.arcsin(q * r) / np.arcsin(q)) for r in (r1, r0))
    return Task(C1, C0, r1, r0, q**3 / np.arcsin(q) ** 2)


def _class_loss(W, C, r, drive, label):
    """Part of one label in the loss and its gradient: E yhat^2 / 4 - label E yhat / 2."""
    K, m, k = len(W), W @ r, -drive
    WC = W @ C
    rho = WC @ W.T
    d = np.diagonal(rho)
    k40 = 4 * k * np.sum(W * m**3, axis=1)
    value, by_d, by_rho, by_40, by_31, by_22 = _pairs(rho, k40, _k31(W, m, k), _k22(W, m, k))
    value, scale = (value + 2 * d.sum() + rho.sum() - d.sum()) / (16 * K**2), 1 / (16 * K**2)
    by_rho, by_d = scale * (by_rho + 1), scale * (by_d + 1)
    by_40, by_31, by_22 = scale * by_40, scale * by_31, scale * by_22
    if label:
        mean = np.sqrt(2 * d / np.pi) * (1 - k40 / (24 * d**2))
        value -= mean.sum() / (4 * K)
        by_d = by_d - np.sqrt(2 / np.pi) * (0.5 * d**-0.5 + k40 / 16 * d**-2.5) / (4 * K)
        by_40 = by_40 + np.sqrt(2 / np.pi) * d**-1.5 / (96 * K)
    gradient = (by_rho + by_rho.T) @ WC + 2 * by_d[:, None] * WC
    return value, gradient + _cumulant_gradient(W, m, r, k, by_40, by_31, by_22)


def _k31(W, m, k):
    return k * (3 * (W * m**2) @ m.T + m**3 @ W.T)


def _k22(W, m, k):
    half = (W * m) @ (m**2).T
    return 2 * k * (half + half.T)


def _cumulant_gradient(W, m, r, k, by_40, by_31, by_22):
    """Chain rule from the cumulants, sums over pixels of products of W and m = W r, to W."""
    a = by_40[:, None]
    B, D = by_31, by_22 + by_22.T
    square, mixed = D @ m**2, D @ (W * m)
    direct = 4 * a * m**3 + 3 * m**2 * (B @ m) + B.T @ m**3 + 2 * m * square
    through = 12 * a * W * m**2 + 6 * W * m * (B @ m) + 3 * m**2 * (B @ W) + 3 * B.T @ (W * m**2)
    through = through + 2 * W * square + 4 * m * mixed
    return k * (direct + through @ r)


def _pairs(rho, k40, k31, k22):
    """Sum over ordered pairs i != j of E|u_i||u_j| to first order, and its derivatives."""
    # Gaussian u and v of variances a, b and covariance rho, s^2 = ab - rho^2, G = E|u||v|. Two derivatives of |u||v| in
    # u are 2 dG/da, one in u and one in v dG/drho: P = d2G/da2, Q = d2G/da drho, T = d2G/drho2.
    d = np.diagonal(rho)
    a, b = d[:, None], d[None, :]
    off = 1.0 - np.eye(len(d))
    s = np.sqrt(np.maximum(a * b - rho**2, TWINS * a * b))
    G = 2 / np.pi * (s + rho * np.arcsin(np.clip(rho / np.sqrt(a * b), -1, 1)))
    P, Q, T = (b / (2 * s * a) - s / a**2) / np.pi, -rho / (np.pi * s * a), 2 / (np.pi * s)
    fours, threes, twos = k40[:, None] / 3, 2 * k31 / 3, k22 / 4
    value = np.sum(off * (G + fours * P + threes * Q + twos * T))
    Pa = (-b / (s * a**2) - b**2 / (4 * s**3 * a) + 2 * s / a**3) / np.pi
    Pb, Pr = -b / (4 * np.pi * s**3), (b * rho / (2 * s**3 * a) + rho / (s * a**2)) / np.pi
    Qb, Qr = rho / (2 * np.pi * s**3), -b / (np.pi * s**3)
    by_a = off * (s / (np.pi * a) + fours * Pa + threes * Pr + twos * Qr)
    by_b = off * (s / (np.pi * b) + fours * Pb + threes * Qb - twos * a / (np.pi * s**3))
    by_rho = off * (2 / np.pi * np.arcsin(np.clip(rho / np.sqrt(a * b), -1, 1)))
    by_rho += off * (fours * Pr + threes * Qr + twos * 2 * rho / (np.pi * s**3))
    by_d = by_a.sum(axis=1) + by_b.sum(axis=0)
    return value, by_d, by_rho, np.sum(off * P, axis=1) / 3, off * 2 * Q / 3, off * T / 4
