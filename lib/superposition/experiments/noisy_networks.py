"""What the named runs of chapter 5 compute at one point: a batch of autoencoders trained under one noise.

Plain functions of numbers, which return plain numbers and texts. They know nothing of sweeps,
files or tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, devices
from superposition.incidental import noise_laws, noisy_training

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from superposition.incidental.noise_laws import Law
    from superposition.incidental.noisy_training import Trajectory


LAWS = ("bipolar", "uniform", "normal", "laplace", "discrete:K with excess kurtosis K of -2 or more",
        "four:K:C with excess kurtosis K and sixth cumulant C")  # fmt: skip
RECORDS, KEPT_EVERY = 200, 5  # 200 looks at the weights after the start; every fifth goes into the table


def law(name: str, sigma: float) -> Law:
    """A noise law by its name in a table.

    Parameters
    ----------
    name : str
        "bipolar", "uniform", "normal", "laplace", "discrete:K" with excess kurtosis K, or
        "four:K:C" with excess kurtosis K and sixth cumulant C.
    sigma : float
        Standard deviation, 0 or more.

    Returns
    -------
    superposition.incidental.noise_laws.Law

    Raises
    ------
    ValueError
        If the name is unknown or a number is out of range.
    """
    if not isinstance(name, str):
        raise ValueError(f"law = {checks.shown(name)} is unknown; allowed: {', '.join(LAWS)}")
    kind, *numbers = name.split(":")
    if (kind, len(numbers)) == ("discrete", 1) and numbers[0]:
        return noise_laws.discrete(sigma, float(*numbers))
    if (kind, len(numbers)) == ("four", 2) and all(numbers):
        return noise_laws.four_point(*map(float, numbers), sigma)  # pyrefly: ignore  # two, as asked above
    makers = {
        "bipolar": noise_laws.bipolar,
        "uniform": noise_laws.uniform,
        "normal": noise_laws.normal,
        "laplace": noise_laws.laplace,
    }
    if name not in makers:
        raise ValueError(f"law = {checks.shown(name)} is unknown; allowed: {', '.join(LAWS)}")
    return makers[name](sigma)


def trained_under_noise(
    *, law_name: str, sigma: float, n: int, m: int, eta: float, steps: int, lambda_: float, noise: str, draws: int,
    relu: bool, instances: int, seed: int, device: str = "auto", progress: Callable[[int, int], object] | None = None,
) -> dict[str, float | int | str]:  # fmt: skip
    """Train some instances and describe how sparse they became.

    Parameters
    ----------
    law_name : str
        See `law`.
    sigma : float
        Standard deviation of the noise, 0 or more.
    n, m : int
        Features, 2 or more, and neurons.
    eta : float
        Learning rate.
    steps : int
        Training steps, at least 200.
    lambda_ : float
        Coefficient of the l1 norm, 0 or more.
    noise : {"shared", "independent"}
        See `superposition.incidental.noisy_training.train`.
    draws : int
        Noise draws averaged in a step.
    relu : bool
        Whether the output has its ReLU.
    instances : int
        How many, at least 2: the standard errors are over them.
    seed : int
        Seed of weights and noise.
    device : str
        See `superposition.devices.resolve_device`.
    progress : callable, optional
        Called as ``progress(done, total)`` now and then.

    Returns
    -------
    dict of str to float, int or str
        See `description`, and the ``device``.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: Incidental Polysemanticity, Figures 4 to 6.
    """
    steps = checks.whole("steps", steps, RECORDS)
    start = noisy_training.initial(checks.whole("n", n, 2), m, checks.whole("instances", instances, 2), seed=seed)
    record = [round(i * steps / RECORDS) for i in range(RECORDS + 1)]
    found = noisy_training.train(
        start, law(law_name, sigma), eta=eta, steps=steps, record=record, lambda_=lambda_, noise=noise, draws=draws,
        relu=relu, seed=seed + 1, device=device, progress=progress,
    )  # fmt: skip
    return {**description(found, sigma), "device": str(devices.resolve_device(device))}


def description(found: Trajectory, sigma: float) -> dict[str, float | int | str]:
    """Numbers and texts for one row of a table, from the trajectory of a batch.

    Parameters
    ----------
    found : superposition.incidental.noisy_training.Trajectory
        Start first, end last; at least two instances and two rows.
    sigma : float
        Standard deviation of the noise.

    Returns
    -------
    dict of str to float, int or str
        Means over rows and instances with standard errors over instances (``_se``):
        ``f_start`` and ``f``, the fourth norm at start and end; ``direction``, f / S^2;
        ``S``, the squared length; ``t30`` and ``t50``, the step at which the mean f crosses
        0.3 and 0.5 (0: never). Per instance: ``stuck``, rows whose f / S^2 ends below 0.2,
        and ``stuck_direction``, the mean f / S^2 of these; ``shared``, neurons in which two
        rows have at least 0.8; ``dead``, rows with S below 0.01. ``overlap`` and
        ``overlap_max``: mean and largest W_i . W_j over pairs. ``open``: share of ordered
        pairs with W_i . W_j > -sigma ||W_j||_1, through which bounded noise +-sigma can pass
        the ReLU. ``diverged``: instances, which are left out of all else. Texts: ``curve``
        and ``curve_rows``, f of the mean and of each row of the `example` instance, at every
        fifth of the 200 records; ``example``, its final weights.
    """
    alive = np.isfinite(found.W[-1]).all(axis=(1, 2))
    found = noisy_training.Trajectory(found.steps, found.W[:, alive])
    if alive.sum() < 2:
        return {name: 0.0 for name in _NUMBERS} | {name: "" for name in _TEXTS} | {"diverged": int((~alive).sum())}
    W, f, S, direction = found.W[-1], found.f, found.S[-1], found.direction[-1]
    curves = f.mean(axis=2)
    overlaps = W @ W.transpose(0, 2, 1)
    off = ~np.eye(W.shape[1], dtype=bool)
    reach = overlaps + sigma * np.abs(W).sum(axis=2)[:, None, :]
    chosen = example(found)
    return {
        **_mean_se("f_start", curves[0]),
        **_mean_se("f", curves[-1]),
        **_mean_se("direction", direction.mean(axis=1)),
        "S": float(S.mean()),
        **_mean_se("t30", _jackknife(found.steps, curves, 0.3), jackknife=True),
        **_mean_se("t50", _jackknife(found.steps, curves, 0.5), jackknife=True),
        **_mean_se("stuck", (direction < 0.2).sum(axis=1)),
        "stuck_direction": float(stuck.mean()) if (stuck := direction[direction < 0.2]).size else 0.0,
        **_mean_se("shared", ((np.abs(W) >= 0.8).sum(axis=1) >= 2).sum(axis=1)),
        "dead": float((S < 0.01).sum(axis=1).mean()),
        "overlap": float(overlaps[:, off].mean()),
        "overlap_max": float(overlaps[:, off].max()),
        "open": float((reach[:, off] > 0).mean()),
        "curve": _text(curves.mean(axis=1)[::KEPT_EVERY]),
        "curve_rows": _text(f[::KEPT_EVERY, chosen].T),
        "example": _text(W[chosen]),
        "diverged": int((~alive).sum()),
    }


def example(found: Trajectory) -> int:
    """The instance to show: the first with exactly one row whose f / S^2 ends below 0.2, or the first of all.

    Parameters
    ----------
    found : superposition.incidental.noisy_training.Trajectory
        What training recorded.

    Returns
    -------
    int
    """
    return int(np.argmax((found.direction[-1] < 0.2).sum(axis=1) == 1))


def crossing(steps: ArrayLike, curve: ArrayLike, level: float) -> float:
    """First step at which a recorded curve crosses a level upwards, by straight lines between records.

    Parameters
    ----------
    steps, curve : array_like, shape (records,)
        The curve; the first record below the level.
    level : float
        The level.

    Returns
    -------
    float
        0 if it never does or starts above.

    Raises
    ------
    ValueError
        If an argument is not finite or the shapes differ.
    """
    steps, curve = checks.array("steps", steps, "records"), checks.array("curve", curve, "records")
    if steps.shape != curve.shape:
        raise ValueError(f"steps and curve have shapes {steps.shape} and {curve.shape}; allowed: the same")
    above = curve >= checks.number("level", level, open_low=True, open_high=True)
    i = int(np.argmax(above))
    if not above[i] or i == 0:
        return 0.0
    return float(np.interp(level, curve[i - 1 : i + 1], steps[i - 1 : i + 1]))


_NUMBERS = (
    "f_start", "f_start_se", "f", "f_se", "direction", "direction_se", "S", "t30", "t30_se", "t50", "t50_se",
    "stuck", "stuck_se", "stuck_direction", "shared", "shared_se", "dead", "overlap", "overlap_max", "open",
)  # fmt: skip
_TEXTS = ("curve", "curve_rows", "example")


def _jackknife(steps, curves, level):
    """The crossing of the mean curve, and of the means that leave one instance out."""
    total, count = curves.sum(axis=1), curves.shape[1]
    means = [total / count, *((total - curves[:, i]) / (count - 1) for i in range(count))]
    return np.array([crossing(steps, mean, level) for mean in means])


def _mean_se(name, values, *, jackknife=False):
    if not jackknife:
        return {name: float(values.mean()), f"{name}_se": float(values.std(ddof=1) / np.sqrt(len(values)))}
    whole, parts = values[0], values[1:]
    spread = np.sqrt((len(parts) - 1) * np.mean((parts - parts.mean()) ** 2)) if (values > 0).all() else 0.0
    return {name: float(whole), f"{name}_se": float(spread)}


def _text(values):
    """Four digits a number, rows after each other."""
    return " ".join(f"{value:.4g}" for value in np.ravel(values))
