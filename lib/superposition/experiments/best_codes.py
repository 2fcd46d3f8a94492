"""What the named runs on the best codes compute at one point: plain functions of numbers, which return plain numbers.

They take the fields of the point and ``device`` as keywords, and know nothing of sweeps, files or tables. All run on
the CPU: the networks are small.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import numpy as np

from superposition import checks, weights
from superposition.codes import dense_training, tile_search
from superposition.codes.budgets import candidates, under_budget
from superposition.devices import torch
from superposition.diagnosis import record_verifier
from superposition.diagnosis.ablations import ablations, structure
from superposition.rug import meanfield, training


def searched_tile(
    *, m: int, B: int, p: float, starts: int, kept: int, steps: int, seed: int, device: str = "cpu"
) -> dict[str, float | str]:
    """Search for the best code of B features in m dimensions.

    Parameters
    ----------
    m : int
        Dimensions, at least 2.
    B : int
        Features, at least 2 m.
    p : float
        Probability that a feature is on, in (0, 1].
    starts, kept : int
        Copies screened, at least 4, and copies refined.
    steps : int
        Steps of the long descent, at least 1.
    seed : int
        Seed of everything.
    device : str
        Not used.

    Returns
    -------
    dict of str to float or str
        ``loss`` and ``loss_se`` of the best copy on two million feature vectors that chose nothing; ``over_rug``, the
        loss over the rug's at the ratio m / B; ``start``, what the best copy came from; the best loss after screening
        of each kind of start, over the rug's: ``fan_screened``, ``unequal_screened`` and ``random_screened``; and the
        ``weights`` as `superposition.weights.packed` has them.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    found = tile_search.search(m, B, p, starts=starts, kept=kept, steps=steps, seed=seed)
    rug = float(meanfield.optimum(p, m / B).loss)
    screened, quarter = found["screened"], starts // 4
    kinds = {"fan": screened[:quarter], "unequal": screened[quarter : starts // 2], "random": screened[starts // 2 :]}
    return {
        "loss": found["loss"],
        "loss_se": found["loss_se"],
        "over_rug": found["loss"] / rug,
        "start": found["start"],
        **{f"{kind}_screened": min(losses) / rug for kind, losses in kinds.items()},
        "weights": weights.packed(found["W_in"], found["W_out"], found["b"]),
    }


def ablated_autoencoder(
    *, ns: int, p: float, r: float, steps: int, samples: int, seed: int, device: str = "cpu"
) -> dict[str, float | int]:
    """Train one autoencoder by the earlier protocol, describe W, and take its structure away piece by piece.

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
    samples : int
        Feature vectors that measure each ablation.
    seed : int
        Seed of everything.
    device : str
        See `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float or int
        ``nd``; ``trained``, the loss of the network over the rug's; what
        `superposition.diagnosis.ablations.structure` says of W; and, over the rug's loss, that of each of
        `superposition.diagnosis.ablations.ablations`, with the standard error of the first, ``refitted_se``.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    nd = max(1, round(checks.number("r", r, 0, 1, open_low=True, open_high=True) * ns))
    model = training.train(ns, nd, p, steps=steps, protocol="earlier", seed=seed, device=device)
    W = (model.W_out @ model.W_in).astype(float)
    rug = float(meanfield.optimum(p, nd / ns).loss)
    losses = ablations(W, p, samples=samples, seed=seed)
    return {
        "nd": nd,
        "trained": model.loss / rug,
        **structure(W),
        **{name: found.mean / rug for name, found in losses.items()},
        "refitted_se": losses["refitted"].se / rug,
    }


def priced_code(
    *, kind: str, budget: str, strength: float, p: float, samples: int, seed: int, device: str = "cpu"
) -> dict[str, float]:
    """Loss of one kind of code under one budget, at the ratio of loudness that suits it.

    Parameters
    ----------
    kind, budget : str
        As `superposition.codes.budgets.under_budget` takes them.
    strength : float
        How much of the budget, above 0.
    p : float
        Probability that a feature is on, in (0, 1].
    samples : int
        Feature vectors that measure.
    seed : int
        Seed of the feature vectors.
    device : str
        Not used.

    Returns
    -------
    dict of str to float
        The ``loudness`` ratio of the code; ``over_rug``, its loss, and ``total_over_rug``, its loss with what weight
        decay adds, over the mean-field rug's loss at the code's own compression ratio ``r``.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    found = under_budget(budget, strength, kind, p, samples=samples, seed=seed)
    nd, ns = candidates(kind, p)[0].code.W_in.shape
    rug = float(meanfield.optimum(p, nd / ns).loss)
    return {
        "r": nd / ns,
        "loudness": found.ratio,
        "over_rug": found.loss / rug,
        "total_over_rug": (found.loss + found.costs) / rug,
    }


def sized_tile(
    *, m: int, B: int, p: float, steps: int, copies: int, seed: int, device: str = "cpu"
) -> dict[str, float]:
    """Train some networks of one size from random weights, side by side on the same feature vectors.

    Parameters
    ----------
    m : int
        Dimensions, at least 2.
    B : int
        Features, at least 2 m.
    p : float
        Probability that a feature is on, in (0, 1].
    steps : int
        Steps of 256 feature vectors, at least 1.
    copies : int
        Networks, at least 2, each from random weights of its own.
    seed : int
        Seed of everything.
    device : str
        Not used.

    Returns
    -------
    dict of str to float
        ``best``, ``mean`` and ``spread`` (standard deviation) of the losses of the copies over the rug's, each measured
        on 2000000 / B fresh feature vectors; and the largest standard error of one of them, ``se``.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    generator = torch.Generator().manual_seed(checks.whole("seed", seed, 0))
    codes = dense_training.random_tiles(m, B, p, checks.whole("copies", copies, 2), steps=steps, generator=generator)
    found = [tile_search.measured_loss(*code, p, samples=2_000_000 // B, seed=seed + 1) for code in codes]
    losses, errors = np.transpose(found) / float(meanfield.optimum(p, m / B).loss)
    return {
        "best": float(losses.min()),
        "mean": float(losses.mean()),
        "spread": float(losses.std(ddof=1)),
        "se": float(errors.max()),
    }


def led_network(
    *, method: str, ratio: float, ns: int, nd: int, p: float, steps: int, seed: int, device: str = "cpu"
) -> dict[str, float]:
    """Try to lead the training of a whole network to a loud and quiet code.

    Parameters
    ----------
    method : str
        One of `superposition.codes.dense_training.METHODS`, or "blocks": ten blocks imposed, the best of sixteen random
        starts in all that are of one size.
    ratio : float
        Loudness of a feature over the next one's where the method is "fans" or "cones"; not used otherwise.
    ns, nd : int
        Features and dimensions.
    p : float
        Probability that a feature is on, in (0, 1].
    steps : int
        Steps of 256 feature vectors, at least 1.
    seed : int
        Seed of everything.
    device : str
        Not used.

    Returns
    -------
    dict of str to float
        As `superposition.codes.dense_training.train_dense`.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    if method == "blocks":
        return dense_training.train_blocks(ns, nd, p, steps=steps, seed=seed)
    lr = 3e-4 if method in ("fans", "cones") else 3e-3
    return dense_training.train_dense(ns, nd, p, method, steps=steps, lr=lr, ratio=ratio, seed=seed)


def recorded_code(*, name: str, p: float, device: str = "cpu") -> dict[str, float | int]:
    """Measure a code of the table of records as ``superposition record check`` does.

    Parameters
    ----------
    name : str
        Name of its file in ``book/data/records``, without ".safetensors".
    p : float
        Probability that a feature is on, in (0, 1).
    device : str
        Not used.

    Returns
    -------
    dict of str to float or int
        ``ns`` and ``nd``; ``loss`` with its standard error ``loss_se`` (0: exact); its ratio to the best known of
        `superposition.codes.best_map`, ``over_best``, and to the rug, ``over_rug``; and ``record``, 1 if it is one
        and 0 if not.

    Raises
    ------
    ValueError
        If there is no such file, or an argument is outside its range.
    """
    found = weights.load(Path(str(resources.files("superposition") / "data" / "records")) / f"{name}.safetensors")
    record = record_verifier.check_record(found["W"], found["b"], p, nd=len(found["W_in"]) if "W_in" in found else None)
    return {
        "ns": record.ns,
        "nd": record.nd,
        "loss": record.loss,
        "loss_se": record.se,
        "over_best": record.loss / record.best,
        "over_rug": record.loss / record.rug,
        "record": int(record.is_record),
    }
