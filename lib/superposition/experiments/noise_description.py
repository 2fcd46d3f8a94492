"""Description of a batch of autoencoders trained under noise: how sparse they became, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks
from superposition.runs.point import Meaning

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from superposition.incidental import NoisyTrajectory

RECORDS, KEPT_EVERY = 200, 5  # 200 looks at the weights after the start; every fifth goes into the table

COLUMNS = {
    "f_start": Meaning("no unit", "fourth norm f = sum_k W_ik^4 at the start, mean over rows and networks"),
    "f_start_se": Meaning("no unit", "standard error of f_start over networks"),
    "f": Meaning("no unit", "f at the end, mean over rows and networks"),
    "f_se": Meaning("no unit", "standard error of f over networks"),
    "direction": Meaning(
        "1/m to 1",
        "fourth norm f / S^2 of the row's direction at the end, mean over rows and networks; S = sum_k W_ik^2",
    ),
    "direction_se": Meaning("1/m to 1", "standard error of direction over networks"),
    "S": Meaning("no unit", "squared length S of a row at the end, mean over rows and networks"),
    "t30": Meaning(
        "steps", "step at which the mean of f crosses 0.3, by straight lines between 200 records; 0 if never"
    ),
    "t30_se": Meaning(
        "steps", "standard error of t30, leaving out one network at a time; 0 if one of these curves never crosses"
    ),
    "t50": Meaning("steps", "step at which the mean of f crosses 0.5; 0 if never"),
    "t50_se": Meaning("steps", "standard error of t50, in the same way"),
    "stuck": Meaning("rows", "rows whose direction ends below 0.2, mean per network"),
    "stuck_se": Meaning("rows", "standard error of stuck over networks"),
    "stuck_direction": Meaning("1/m to 0.2", "mean direction of these rows; 0 if there is none"),
    "shared": Meaning(
        "neurons", "neurons in which two rows or more have a weight of size 0.8 or more, mean per network"
    ),
    "shared_se": Meaning("neurons", "standard error of shared over networks"),
    "dead": Meaning("rows", "rows with S below 0.01 at the end, mean per network"),
    "overlap": Meaning("no unit", "W_i . W_j at the end, mean over pairs and networks"),
    "overlap_max": Meaning("no unit", "largest W_i . W_j of all pairs and networks"),
    "open": Meaning(
        "0 to 1",
        "share of ordered pairs with W_i . W_j > -sigma sum_k |W_jk|, through which noise of size sigma can "
        "pass the ReLU",
    ),
    "curve": Meaning(
        "41 numbers in a text",
        "f, mean over rows and networks, at every fifth of the 201 records, evenly spaced from start to end",
    ),
    "curve_rows": Meaning(
        "41 n numbers in a text", "f of each row of the network in example at the same records, row after row"
    ),
    "example": Meaning(
        "n m numbers in a text",
        "final weights of one network, row after row: the first with exactly one stuck row, or the first of all",
    ),
    "diverged": Meaning("networks", "networks whose weights are not finite at the end; they are left out of all else"),
}


def description(found: NoisyTrajectory, sigma: float) -> dict[str, float | int | str]:
    """Numbers and texts for one row of a table, from the trajectory of a batch."""
    from superposition import incidental

    alive = np.isfinite(found.W[-1]).all(axis=(1, 2))
    found = incidental.NoisyTrajectory(found.steps, found.W[:, alive])
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


def example(found: NoisyTrajectory) -> int:
    """The instance to show: the first with exactly one row whose f / S^2 ends below 0.2, or the first of all."""
    return int(np.argmax((found.direction[-1] < 0.2).sum(axis=1) == 1))


def crossing(steps: ArrayLike, curve: ArrayLike, level: float) -> float:
    """First step at which a recorded curve crosses a level upwards, by straight lines between records."""
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
