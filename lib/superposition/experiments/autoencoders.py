"""What a named run computes at one point: plain functions of numbers, which return plain numbers.

They take the fields of the point and ``device`` as keywords, and know nothing of sweeps, files
or tables.
"""

from __future__ import annotations

from typing import Any

from superposition import checks, devices
from superposition.codes import partners
from superposition.rug import meanfield, protocols, training
from superposition.rug.gaussian_training import continue_training, train_on_samples
from superposition.rug.stopping import first_below, first_pause
from superposition.rug.walsh_descent import descend


def descended_rug(
    *, ns: int, p: float, r: float, steps: int, seed: int, device: str = "auto"
) -> dict[str, float | int | str]:
    """Run one descent and describe where it ended.

    Parameters
    ----------
    ns : int
        A power of two, from 4.
    p : float
        Probability that a feature is on, in (0, 1].
    r : float
        Compression ratio, in (0, 1); nd = max(1, round(r ns)).
    steps : int
        Steps, at least 1.
    seed : int
        Seed of the first eigenvalues and of the feature vectors.
    device : str
        See `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float, int or str
        ``nd``; ``loss``, ``loss_se``, ``theory`` at nd / ns and ``ratio`` = loss / theory;
        ``antipodal``, the closed-form loss of the antipodal rug over the theory (0 for r > 1/2);
        ``partner_share`` of the final index set; ``unevenness``, standard deviation over mean of
        its eigenvalues; and the ``device``.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    nd = max(1, round(checks.number("r", r, 0, 1, open_low=True, open_high=True) * ns))
    found = descend(ns, nd, p, steps=steps, seed=seed, device=device)
    theory = float(meanfield.optimum(p, nd / ns).loss)
    kept = found.eigenvalues[found.eigenvalues != 0]
    return {
        "nd": nd,
        "loss": found.loss,
        "loss_se": found.loss_se,
        "theory": theory,
        "ratio": found.loss / theory,
        "antipodal": float(partners.antipodal_optimum(p, nd / ns).loss) / theory if 2 * nd <= ns else 0.0,
        "partner_share": float(found.partners[-1]),
        "unevenness": float(kept.std() / kept.mean()),
        "device": str(devices.resolve_device(device)),
    }


def gaussian_autoencoder(
    *, ns: int, p: float, r: float, steps: int, seed: int, device: str = "auto"
) -> dict[str, float | int | str]:
    """Train one autoencoder by the earlier protocol with Gaussian interference by decree.

    Parameters
    ----------
    ns : int
        Number of features, 3 to 16384.
    p : float
        Probability that a feature is on, in (0, 1].
    r : float
        Compression ratio, in (0, 1); nd = max(1, round(r ns)).
    steps : int
        Training steps, at least 1.
    seed : int
        Seed of weights and data.
    device : str
        See `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float, int or str
        ``nd``; ``closed``, the closed-form loss of the final weights; ``theory`` at nd / ns and
        ``ratio`` = closed / theory; ``real_ratio``, their loss on true feature vectors over the
        theory, with its standard error ``real_ratio_se``; mean ``off_skewness``; ``Lambda``;
        ``dropped``, the rows whose diagonal is below 0.1; and the ``device``.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    FloatingPointError
        If the loss is no longer finite.

    Notes
    -----
    Source: The Persian Rug, section 4.1, taken at its word.
    """
    ns = checks.whole("ns", ns, 3, training.LIMIT)
    nd = max(1, round(checks.number("r", r, 0, 1, open_low=True, open_high=True) * ns))
    settings = training.checked_settings(ns, nd, p, steps, 1024, None, None, "earlier", seed, device)
    model = train_on_samples(settings)
    real = continue_training(model, steps=0, lr=1.0, seed=seed)
    theory = float(meanfield.optimum(p, nd / ns).loss)
    return {
        "nd": nd,
        "closed": model.loss,
        "theory": theory,
        "ratio": model.loss / theory,
        "real_ratio": real.loss / theory,
        "real_ratio_se": real.loss_se / theory,
        "off_skewness": float(model.rows.off_skewness.mean()),
        "Lambda": model.rows.Lambda,
        "dropped": int((model.rows.diagonal < 0.1).sum()),
        "device": model.settings.device,
    }


def stopped_autoencoder(
    *, ns: int, p: float, r: float, steps: int, seed: int, device: str = "auto"
) -> dict[str, float | int | str]:
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
        See `superposition.devices.resolve_device`.

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
    ns = checks.whole("ns", ns, 3, training.LIMIT)
    nd = max(1, round(checks.number("r", r, 0, 1, open_low=True, open_high=True) * ns))
    model = training.train(ns, nd, p, steps=steps, protocol="text", seed=seed, device=device)
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
        "pause_ratio": float(model.loss_history[max(0, pause - training.WINDOW) : pause].mean()) / theory,
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


def _mean_and_spread(name, values):
    return {f"{name}_mean": float(values.mean()), f"{name}_spread": float(values.std())}


def trained_autoencoder(
    *, ns: int, p: float, r: float, steps: int, full_rate_from: float, seed: int, device: str = "auto"
) -> dict[str, float | int | str]:
    """Train one autoencoder by the earlier protocol, slower for rare features, and describe it beside the theory.

    Parameters
    ----------
    ns : int
        Number of features, 3 to 16384.
    p : float
        Probability that a feature is on, in (0, 1].
    r : float
        Compression ratio, in (0, 1); nd = max(1, round(r ns)).
    steps : int
        Training steps, at least 1.
    full_rate_from : float
        Smallest p at which the protocol's learning rate is right, in (0, 1]. Below it the rate
        falls in proportion to p: each feature is then seen in few vectors of a batch, and the
        full rate kills features.
    seed : int
        Seed of weights, data and evaluation.
    device : str
        See `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float, int or str
        ``nd``; ``loss`` per feature on fresh feature vectors, with its standard error
        ``loss_se``; ``theory``, the mean-field optimum at nd / ns, and ``ratio`` = loss /
        theory; mean and standard deviation over the rows of W = W_out W_in of ``diagonal``,
        ``bias`` (raw), ``bias_effective`` and ``off_variance``; mean ``off_skewness``;
        ``Lambda``, the largest Lyapunov ratio; ``dead``, the number of dead features; and the
        ``device`` it ran on.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    FloatingPointError
        If the training collapses.

    Notes
    -----
    Source: The Persian Rug, Figures 2 to 7.
    """
    ns = checks.whole("ns", ns, 3, training.LIMIT)
    r = checks.number("r", r, 0, 1, open_low=True, open_high=True)
    nd = max(1, round(r * ns))
    rarity = checks.number("full_rate_from", full_rate_from, 0, 1, open_low=True)
    lr = protocols.protocol("earlier", ns, nd, p).lr * min(1.0, p / rarity)
    how: dict[str, Any] = {"protocol": "earlier", "lr": lr}
    model = training.train(ns, nd, p, steps=steps, gradients="automatic", seed=seed, device=device, **how)
    theory = float(meanfield.optimum(p, nd / ns).loss)
    rows = model.rows
    return {
        "nd": nd,
        "loss": model.loss,
        "loss_se": model.loss_se,
        "theory": theory,
        "ratio": model.loss / theory,
        **_mean_and_spread("diagonal", rows.diagonal),
        **_mean_and_spread("bias", rows.b),
        **_mean_and_spread("bias_effective", rows.b_eff),
        **_mean_and_spread("off_variance", rows.off_variance),
        "off_skewness": float(rows.off_skewness.mean()),
        "Lambda": rows.Lambda,
        "dead": int(rows.dead.sum()),
        "device": model.settings.device,
    }


def trained_by(
    *, ns: int, p: float, r: float, protocol: str, steps: int, seed: int, device: str = "auto"
) -> dict[str, float | int | str]:
    """Train one autoencoder by one of three protocols and describe it beside the theory.

    Parameters
    ----------
    ns : int
        Number of features, 3 to 16384.
    p : float
        Probability that a feature is on, in (0, 1].
    r : float
        Compression ratio, in (0, 1); nd = max(1, round(r ns)).
    protocol : {"recipe", "text", "unstopped"}
        Under "recipe" the tables of this function have what `superposition.rug.protocols.protocol` calls "earlier";
        "text" is the text's, and "unstopped" its learning rate and start for all `steps`, without its stopping rule.
    steps : int
        Training steps, at least 1; under the text's protocol an upper limit.
    seed : int
        Seed of weights, data and evaluation.
    device : str
        See `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float, int or str
        ``nd``; ``done``, the steps it made; ``loss`` on fresh feature vectors, its standard error
        ``loss_se``, ``theory`` at nd / ns and ``ratio`` = loss / theory; mean and standard deviation
        over rows of ``diagonal``, ``bias`` (raw) and ``bias_effective``; the mean row sum of the
        off-diagonal entries ``off_sum_mean``, mean ``off_skewness``, ``Lambda``, ``dead`` and ``device``.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    FloatingPointError
        If the training collapses.

    Notes
    -----
    Source: The Persian Rug, Figures 2 and 3 and section 2.
    """
    ns = checks.whole("ns", ns, 3, training.LIMIT)
    nd = max(1, round(checks.number("r", r, 0, 1, open_low=True, open_high=True) * ns))
    checks.one_of("protocol", protocol, ("recipe", "text", "unstopped"))
    how: dict[str, Any] = {"protocol": "text" if protocol == "text" else "earlier"}
    if protocol == "unstopped":
        how |= {"lr": protocols.protocol("text", ns, nd, p).lr, "schedule": "constant"}
    model = training.train(ns, nd, p, steps=steps, seed=seed, device=device, **how)
    theory = float(meanfield.optimum(p, nd / ns).loss)
    rows = model.rows
    return {
        "nd": nd,
        "done": len(model.loss_history),
        "loss": model.loss,
        "loss_se": model.loss_se,
        "theory": theory,
        "ratio": model.loss / theory,
        **_mean_and_spread("diagonal", rows.diagonal),
        **_mean_and_spread("bias", rows.b),
        **_mean_and_spread("bias_effective", rows.b_eff),
        "off_sum_mean": float((ns - 1) * rows.off_mean.mean()),
        "off_skewness": float(rows.off_skewness.mean()),
        "Lambda": rows.Lambda,
        "dead": int(rows.dead.sum()),
        "device": model.settings.device,
    }
