"""When does training stop? The text's protocol, and what its stopping rule leaves undone.

Source: The Persian Rug, section 2: "training continues as long as the average loss over the past
100 batches is lower than the average loss over the 100 batches prior to that one".
"""

import numpy as np

from superposition import autoencoder, checks, meanfield


def first_pause(history, window=autoencoder.WINDOW):
    """Step at which the text's rule, looked at after every batch, stops.

    Parameters
    ----------
    history : array_like, shape (steps,)
        One batch loss a step.
    window : int
        Batches in each of the two windows that are compared.

    Returns
    -------
    int
        Number of steps done, or ``len(history)`` if the rule never fires.

    Raises
    ------
    ValueError
        If `history` is no list of finite numbers or `window` is below 1.

    Notes
    -----
    Source: The Persian Rug, section 2. `superposition.autoencoder.train` looks every 100 batches.
    """
    means = _window_means(history, window)
    fired = np.flatnonzero(means[window:] >= means[:-window])
    return int(fired[0]) + 2 * window if len(fired) else len(history)


def first_below(history, level, window=autoencoder.WINDOW):
    """Step at which the mean of the last batches first lies at or below a level.

    Parameters
    ----------
    history : array_like, shape (steps,)
        One batch loss a step.
    level : float
        The level.
    window : int
        Batches in the mean.

    Returns
    -------
    int
        Number of steps done; 0 if it never happens.

    Raises
    ------
    ValueError
        If `history` is no list of finite numbers or `window` is below 1.
    """
    below = np.flatnonzero(_window_means(history, window) <= level)
    return int(below[0]) + window if len(below) else 0


def stopped_autoencoder(*, ns, p, r, steps, seed, device="auto"):
    """Train one autoencoder by the text's protocol and say where it stopped.

    Parameters
    ----------
    ns : int
        Number of features, 3 to 16384.
    p : float
        Probability that a feature is on, in (0, 1].
    r : float
        Compression ratio, in (0, 1); nd = max(1, round(r ns)).
    steps : int
        Upper limit of the training steps, at least 1.
    seed : int
        Seed of weights, data and evaluation.
    device : str
        See `superposition.autoencoder.resolve_device`.

    Returns
    -------
    dict of str to float, int or str
        ``nd``; ``done``, the steps it made before it stopped; ``stopped``, 1 if the rule did it
        and 0 if the limit; ``loss`` on fresh feature vectors, its standard error ``loss_se``,
        ``theory`` at nd / ns and ``ratio`` = loss / theory; ``pause``, where the rule looked at
        after every batch stops, and ``pause_ratio``, the mean of the 100 batch losses before it
        over the theory; ``crossing``, the step at which that mean is first within 1 % of the theory
        or below (0: never); mean and standard deviation over rows of ``diagonal``, ``bias``
        (raw) and ``bias_effective``; the mean row sum of the off-diagonal entries
        ``off_sum_mean``, mean ``off_skewness``, ``Lambda``, ``dead`` and ``device``.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    FloatingPointError
        If the training collapses.

    Notes
    -----
    Source: The Persian Rug, section 2, with the learning rate 3e-3 / sqrt(ns) of its public code.
    """
    ns = checks.whole("ns", ns, 3, autoencoder.LIMIT)
    nd = max(1, round(float(checks.real("r", r, 0, 1, open_low=True, open_high=True)) * ns))
    model = autoencoder.train(ns, nd, p, steps=steps, protocol="text", seed=seed, device=device)
    theory = float(meanfield.optimum(p, nd / ns).loss)
    pause = first_pause(model.loss_history)
    rows = model.rows
    return {
        "nd": nd,
        "done": len(model.loss_history),
        "stopped": int(model.stopped),
        "loss": model.loss,
        "loss_se": model.loss_se,
        "theory": theory,
        "ratio": model.loss / theory,
        "pause": pause,
        "pause_ratio": float(model.loss_history[max(0, pause - autoencoder.WINDOW) : pause].mean()) / theory,
        "crossing": first_below(model.loss_history, 1.01 * theory),
        **_mean_and_spread("diagonal", rows.diagonal),
        **_mean_and_spread("bias", rows.b),
        **_mean_and_spread("bias_effective", rows.b_eff),
        "off_sum_mean": float((ns - 1) * rows.off_mean.mean()),
        "off_skewness": float(rows.off_skewness.mean()),
        "Lambda": rows.Lambda,
        "dead": int(rows.dead.sum()),
        "device": model.settings.device,
    }


def _window_means(history, window):
    window = checks.whole("window", window, 1)
    total = np.cumsum(np.concatenate([[0.0], checks.real("history", history, open_low=True, open_high=True)]))
    return (total[window:] - total[:-window]) / window if len(total) > window else np.empty(0)


def _mean_and_spread(name, values):
    return {f"{name}_mean": float(values.mean()), f"{name}_spread": float(values.std())}
