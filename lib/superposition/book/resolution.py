"""How sharp a check is: the smallest relative change of the prediction that it would notice.

With ``relation="equals"`` a prediction may change unnoticed by its tolerance plus its present distance from the
measurement. The unit is the prediction: a tolerance of 0.02 around 0.5, with 0.51 measured, is a resolution of 6 %. A
check of several values is as sharp as its weakest, so that none of them is a number that could not fail. A one-sided
check does not notice a change smaller than the distance between its bound and the nearest measurement. That distance,
like the tolerance around a prediction of 0, has no unit of its own: the check names a scale, or an alternative, whose
distance is the unit. The text's own form is such an alternative. If its distance is larger than the prediction itself,
the prediction is the unit, as the resolution would look too fine otherwise. For a 0 among other predictions, the unit
is the largest of them.
"""

import numpy as np
from numpy.typing import ArrayLike

DECIDES_NOTHING = 0.5  # a convention of this book, not a result


def of(
    relation: str, predicted: ArrayLike, measured: ArrayLike, tolerance: ArrayLike, unit: ArrayLike | None = None
) -> float | None:
    """Resolution of a check, in this unit or the prediction's: 0 where it is exact, None without a unit."""
    predicted, measured, tolerance = (np.asarray(v, dtype=np.float64) for v in (predicted, measured, tolerance))
    reach = np.abs(predicted - measured)
    if relation == "equals":
        reach = reach + tolerance
        unit = np.where(predicted == 0, np.abs(predicted).max(), np.abs(predicted)) if unit is None else unit
    if unit is None:
        return None
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shares = np.where(reach == 0, 0.0, reach / np.asarray(unit, dtype=np.float64))
    share = float(shares.max() if relation == "equals" else shares.min())
    return share if np.isfinite(share) else None


def unit(
    relation: str, predicted: ArrayLike, measured: ArrayLike, printed: ArrayLike | None = None, *,
    rival: tuple[str, ArrayLike] | None = None, scale: tuple[str, ArrayLike] | None = None,
) -> tuple[np.ndarray | None, str]:  # fmt: skip
    """The unit of a check's resolution, None where it is the prediction or where there is none, and its name."""
    predicted = np.asarray(predicted, dtype=np.float64)
    origin = predicted if relation == "equals" else measured
    if rival is not None:
        return _of_rival(relation, predicted, np.abs(np.subtract(rival[1], origin)), rival[0])
    if scale is not None:
        return np.broadcast_to(scale[1], np.shape(origin)), scale[0]
    if printed is None:
        return None, "prediction" if relation == "equals" else ""
    distance = np.abs(np.subtract(printed, origin))
    if relation == "equals" and predicted.all():
        return None, "prediction"
    instead = distance if relation != "equals" else np.where(predicted == 0, distance, np.abs(predicted))
    return instead, "the text's own form"


def _of_rival(relation, predicted, distance, name):
    if relation != "equals":
        return distance, name
    nearer = np.where(predicted == 0, distance, np.minimum(distance, np.abs(predicted)))
    return nearer, name if (nearer == distance).any() else "prediction"
