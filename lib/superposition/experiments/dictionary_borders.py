"""The price at which true directions and rivals that know nothing of them lose the same, without training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from superposition.experiments.shared import Nd, Ns, Probability, Seed
from superposition.runs.point import Columns, Meaning, Run

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

NUMBERS = 2**21  # features drawn for one border
BETWEEN = (0.003, 0.3)  # prices between which a border is searched for


def borders(*, ns: Ns, nd: Nd, p: Probability, seed: Seed) -> dict[str, float]:
    """Prices at which the truth of one rug costs as much as pairs on independent lines, and on orthogonal ones.

    Each latent reads along its own direction. All share the gain and the bias that are best on the same activations.
    """
    import numpy as np
    from scipy.optimize import brentq
    from scipy.stats import ortho_group

    from superposition import decoders

    truth = decoders.dictionary(ns, nd, "rug", p=p, seed=seed)
    pairs_seed, lines_seed, data_seed = (int(s) for s in np.random.SeedSequence(seed).generate_state(3))
    h = truth.activations(-(-NUMBERS // ns), seed=data_seed)[1]
    h -= h.mean(axis=0)
    lines = ortho_group.rvs(nd, random_state=lines_seed)
    independent = decoders.dictionary(ns, nd, "antipodal", p=p, seed=pairs_seed).directions
    by_truth = saved(h, truth.directions, np.linspace(-0.06, 0.24, 31))
    rivals = {"pairs": independent, "orthogonal": np.hstack((lines, -lines))}
    found = {}
    for name, directions in rivals.items():
        by_pairs = saved(h, directions, np.linspace(-0.06, 0.14, 21))

        def ahead(log_price, by_pairs=by_pairs):
            return by_truth(np.exp(log_price)) - by_pairs(np.exp(log_price))

        found[name] = float(np.exp(brentq(ahead, *np.log(BETWEEN))))
    return found


def saved(h: np.ndarray, directions: np.ndarray, thresholds: np.ndarray) -> Callable[[float], float]:
    """How much latents a ReLU(d.h - t) save of the loss at a price, with the best a and t.

    With F the reconstruction and C the sum of the latents at a = 1, the loss is E|h|^2 / 2 - a E h.F + a^2 E|F|^2 / 2 +
    price a E C, so the best a saves (E h.F - price E C)^2 / (2 E|F|^2). Between thresholds the means are splines.
    """
    import numpy as np
    from scipy.interpolate import CubicSpline

    drive, rows = h @ directions, []
    for t in thresholds:
        latents = np.maximum(drive - t, 0)
        mean = latents.mean(axis=0)
        rebuilt = latents @ directions.T - directions @ mean  # the center of the decoder takes the mean
        rows.append((np.einsum("ij,ij", h, rebuilt), np.einsum("ij,ij", rebuilt, rebuilt), len(h) * mean.sum()))
    fine = np.linspace(thresholds[0], thresholds[-1], 1000)
    along, square, active = CubicSpline(thresholds, np.array(rows) / len(h))(fine).T
    return lambda price: float(np.max(np.maximum(along - price * active, 0) ** 2 / square) / 2)


def large_border(columns: Columns) -> Columns:
    """The border of a large rug, lambda_1, and how far above it the border of this rug lies."""
    import numpy as np

    from superposition.decoders import border_price

    places = list(zip(*(columns[name].tolist() for name in ("ns", "nd", "p")), strict=True))
    known = {place: border_price(place[2], place[1] / place[0]) for place in set(places)}
    limit = np.array([known[place] for place in places])
    return {"limit": limit, "excess": columns["pairs"] / limit - 1}


_PLACES = ((0.03, 5 / 16, 20), (0.05, 3 / 8, 20), (0.08, 7 / 16, 5))  # p, r and rugs

RUNS = (
    Run(
        name="dictionary-borders",
        feeds="the price above which the truth costs less than pairs, without training, up to 1024 features",
        computes=borders,
        columns={
            "pairs": Meaning("a price", "where the truth costs as much as pairs on lines that know nothing of it"),
            "orthogonal": Meaning("a price", "where it costs as much as pairs on orthogonal lines"),
            "limit": Meaning("a price", "where it costs as much as pairs on a large rug (`border_price`)"),
            "excess": Meaning("no unit", "pairs over limit, less 1"),
        },
        predicted=(large_border,),
        small=({"ns": (16,), "nd": (6,), "p": (0.05,), "seed": (0,)},),
        full=tuple(
            {"ns": (ns,), "nd": (round(r * ns),), "p": (p,), "seed": tuple(range(rugs))}
            for ns in (64, 128, 256, 512, 1024)
            for p, r, rugs in _PLACES
        ),
        hours={"small": 0.001, "full": 0.12},
    ),
)
