"""What the named run on the slope of the expected loss computes at one point.

The same networks twice: trained under noise, and descended on the expected loss, without noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks
from superposition.experiments import noisy_networks
from superposition.incidental import noise_loss, noisy_training

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from superposition.incidental.noise_laws import Law

RECORDS = 200  # looks at the weights, evenly spaced over the time
SETTLING, CAREFUL = 10.0, 4  # until this eta t lengths settle, and descent takes steps so many times smaller


def descended_and_trained(
    *, law_name: str, sigma: float, n: int, m: int, eta: float, descent_eta: float, until: float, level: float,
    instances: int, seed: int, device: str = "auto", progress: Callable[[int, int], object] | None = None,
) -> dict[str, float]:  # fmt: skip
    """Time to a mean fourth norm, by descent on the expected loss and by training from the same weights.

    Parameters
    ----------
    law_name : str
        See `superposition.experiments.noisy_networks.law`.
    sigma : float
        Standard deviation of the noise, 0 or more.
    n, m : int
        Features and neurons.
    eta, descent_eta : float
        Learning rates of training and of descent, above 0.
    until : float
        Where both end, in units of eta t: 10, the time in which lengths settle, and at least 200
        steps of the larger rate.
    level : float
        The mean of f over rows and instances to be reached, 0 to 1.
    instances : int
        Networks, at least 2: the standard error is over them.
    seed : int
        Seed of weights and noise.
    device : str
        Where training runs, see `superposition.devices.resolve_device`; descent is on the CPU.
    progress : callable, optional
        Called as ``progress(done, total)`` after each network.

    Returns
    -------
    dict of str to float
        ``descent`` and ``training``, the times eta t at which the mean f crosses the level (0:
        never), ``log_ratio``, the logarithm of training over descent, and ``log_ratio_se``, its
        standard error by leaving out one network at a time *of both*: how fast a start is does
        not enter. Both are 0 if a time is.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: Incidental Polysemanticity, section 4 and Figure 5; the comparison is ours.
    """
    start = noisy_training.initial(n, m, checks.whole("instances", instances, 2), seed=seed)
    noise = noisy_networks.law(law_name, sigma)
    until = checks.number("until", until, SETTLING + RECORDS * max(eta, descent_eta), open_high=True)
    times = np.linspace(SETTLING, until, RECORDS)
    quiet = []
    for done, W in enumerate(start, 1):
        quiet.append(_descent(W, noise, descent_eta, times))
        if progress is not None:
            progress(done, len(start))
    record = [0, *(round(t / eta) for t in times)]
    settings = dict(eta=eta, steps=record[-1], record=record, seed=seed + 1, device=device)
    noisy = noisy_training.train(start, noise, **settings).f.mean(axis=2)
    return compared(np.array([0, *times]), np.transpose(quiet), noisy, level)


def compared(times: ArrayLike, quiet: ArrayLike, noisy: ArrayLike, level: float) -> dict[str, float]:
    """Times at which two batches of curves reach a level in the mean, and their ratio.

    Parameters
    ----------
    times : array_like, shape (records,)
        When.
    quiet, noisy : array_like, shape (records, instances)
        Curves of descent and of training; instance by instance from the same weights, at least 2.
    level : float
        The level.

    Returns
    -------
    dict of str to float
        See `descended_and_trained`.

    Raises
    ------
    ValueError
        If an argument is not finite or the shapes do not fit.
    """
    times = checks.array("times", times, "records")
    quiet = checks.of_shape("quiet", quiet, (times.size, "instances"))
    noisy = checks.of_shape("noisy", noisy, quiet.shape)
    if quiet.shape[1] < 2:
        raise ValueError("quiet has 1 instance; allowed: at least 2")
    reached = np.array([[noisy_networks.crossing(times, c, level) for c in _means(part)] for part in (quiet, noisy)])
    names = {"descent": float(reached[0, 0]), "training": float(reached[1, 0])}
    if not reached.all():
        return names | {"log_ratio": 0.0, "log_ratio_se": 0.0}
    ratio = np.log(reached[1] / reached[0])
    parts = ratio[1:]
    spread = np.sqrt((len(parts) - 1) * np.mean((parts - parts.mean()) ** 2))
    return names | {"log_ratio": float(ratio[0]), "log_ratio_se": float(spread)}


def _means(curves):
    """The mean curve, and those that leave one instance out."""
    return [curves.mean(axis=1), *(np.delete(curves, i, axis=1).mean(axis=1) for i in range(curves.shape[1]))]


def _descent(W: np.ndarray, noise: Law, rate: float, times: np.ndarray) -> np.ndarray:
    """Mean f at the start and at the times, along descent on the expected loss."""
    settled = round(CAREFUL * SETTLING / rate)
    first = noise_loss.descend(W, noise, eta=rate / CAREFUL, steps=settled, record=[settled])[0]
    later = [round((t - SETTLING) / rate) for t in times[1:]]
    path = noise_loss.descend(first, noise, eta=rate, steps=later[-1], record=later)
    return np.mean(np.sum(np.concatenate([[W, first], path]) ** 4, axis=2), axis=1)
