"""What a named run computes at one point: plain functions of numbers, which return plain numbers.

They take the fields of the point and ``device`` as keywords, and know nothing of sweeps, files
or tables.
"""

from superposition import autoencoder, checks, meanfield


def trained_autoencoder(*, ns, p, r, steps, full_rate_from, seed, device="auto"):
    """Train one autoencoder by the recipe, slower for rare features, and describe it beside the theory.

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
        Smallest p at which the recipe's learning rate is right, in (0, 1]. Below it the rate
        falls in proportion to p: each feature is then seen in few vectors of a batch, and the
        full rate kills features.
    seed : int
        Seed of weights, data and evaluation.
    device : str
        See `superposition.autoencoder.resolve_device`.

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
    ns = checks.whole("ns", ns, 3, autoencoder.LIMIT)
    r = float(checks.real("r", r, 0, 1, open_low=True, open_high=True))
    nd = max(1, round(r * ns))
    rarity = float(checks.real("full_rate_from", full_rate_from, 0, 1, open_low=True))
    lr = autoencoder.default_lr(ns) * min(1.0, p / rarity)
    model = autoencoder.train(ns, nd, p, steps=steps, lr=lr, seed=seed, device=device)
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


def _mean_and_spread(name, values):
    return {f"{name}_mean": float(values.mean()), f"{name}_spread": float(values.std())}
