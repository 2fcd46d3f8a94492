"""What the texts claim, what was predicted, what was measured.

Claims are declared once, in ``claims.toml``. `check` compares a prediction with a measurement
and returns a row that displays itself: HTML for people, a plain text for machines that never
holds a measured digit (it is the same on every machine), and a JSON record, so that every
executed notebook can be read back with `superposition.book.ledger.records`.
"""

import difflib

import numpy as np
from numpy.typing import ArrayLike

from superposition import checks
from superposition.book import forms, resolution
from superposition.book.declarations import AGAINST_THE_TEXT, declared
from superposition.book.rows import Row, Table

MOST_NUMBERS = 1000  # every number of a check is stored in the notebook


class ClaimError(AssertionError):
    """A check whose outcome differs from the declared verdict."""


def check(
    claim_id: str, predicted: ArrayLike, measured: ArrayLike, *, se: ArrayLike = 0.0, rtol: ArrayLike = 0.0,
    atol: ArrayLike = 0.0, z: float = 4.0, relation: str = "equals", printed: ArrayLike | None = None,
    printed_agrees: tuple[ArrayLike, str] | None = None, rival: tuple[str, ArrayLike] | None = None,
    scale: tuple[str, ArrayLike] | None = None, label: str = "", may_be_undecided: bool = False,
) -> Row:  # fmt: skip
    """Compare a prediction with a measurement and give the row for the ledger.

    Every measured value lies within ``atol + rtol |predicted| + z se`` of its prediction, or with another relation
    beyond it on that side.

    Parameters
    ----------
    claim_id : str
        A claim declared in ``claims.toml``.
    predicted, measured : array_like
        Finite real numbers, of one shape or one of them to be repeated to the other's.
    se, rtol, atol : array_like
        Standard error of the difference; tolerance relative to the prediction, and absolute. All 0 or more.
    z : float
        Standard errors allowed. 4 makes a false alarm once in 16000 checks.
    relation : {"equals", "below", "above"}
        Where the measurement is to lie.
    printed : array_like, optional
        What the text's own form predicts, which must be excluded: every measured value lies beyond the tolerance from
        it. Needed where the verdict goes against the text, unless the relation itself does.
    printed_agrees : tuple, optional
        ``(where, reason)``: a mask or indices of values where the two forms cannot be told apart, and why.
    rival, scale : tuple, optional
        ``(name, value)``: what would be measured if something else were true, which must be excluded; a size. See
        `superposition.book.resolution`. Where all predictions are 0 one of them is needed, or a printed form.
    label : str
        The case, when a claim is checked more than once.
    may_be_undecided : bool
        Whether the run may be too short for this: then a failure is a row that says "undecided".

    Returns
    -------
    Row
        "undecided" also where half the prediction would go unnoticed, and always if the claim is so: what
        machines compare must not hang on how far off a measurement is.

    Raises
    ------
    ClaimError
        If the outcome differs from the declared verdict and it may not be undecided.
    ValueError
        If the claim is unknown, an argument is out of range or has the wrong shape, or a control is missing.

    Examples
    --------
    >>> row = check("rug.eq5", 1.0, 1.125, atol=0.125)
    >>> row.outcome, row.resolution
    ('confirmed', 0.25)
    """
    claim = _lookup(claim_id)
    checks.one_of("relation", relation, tuple(forms.RELATIONS))
    if claim.verdict in AGAINST_THE_TEXT and printed is None and relation == "equals":
        raise ValueError(f"printed = None is not enough for {claim_id} ({claim.verdict}); allowed: the text's value")
    predicted, measured = _pair(claim_id, predicted, measured)
    if not predicted.any() and printed is rival is scale is None:
        raise ValueError(f"predicted = 0 has no size for {claim_id}; allowed: with a rival, a scale or a printed form")
    shape = measured.shape
    printed = None if printed is None else _fitting("printed", printed, shape)
    tolerance = _tolerance(predicted, *(_fitting(n, v, shape, 0) for n, v in _named(se=se, rtol=rtol, atol=atol, z=z)))
    spared, because = _spared(printed, predicted, tolerance, printed_agrees)
    rival = None if rival is None else (rival[0], _fitting("rival", rival[1], shape))
    scale = None if scale is None else (scale[0], _fitting("scale", scale[1], shape, 0, open_low=True))
    failures = _failures(relation, predicted, measured, tolerance, printed, spared, rival)
    unit, unit_name = resolution.unit(relation, predicted, measured, printed, rival=rival, scale=scale)
    sharp = resolution.of(relation, predicted, measured, tolerance, unit)
    row = Row(
        claim_id,
        label,
        claim.verdict,
        relation,
        _tuple(predicted),
        _tuple(measured),
        _tuple(tolerance),
        () if printed is None else _tuple(printed),
        "undecided" if failures or claim.undecided or _decides_nothing(sharp) else "confirmed",
        sharp,
        unit_name,
        spared,
        because,
    )
    if failures and not may_be_undecided:
        raise ClaimError(_sentence(row, failures))
    return row


def table(*rows: Row) -> Table:
    """Show several rows of `check` as one table."""
    return Table(rows)


def _lookup(claim_id):
    if claim_id not in declared():
        near = difflib.get_close_matches(claim_id, declared(), n=1, cutoff=0)
        raise ValueError(f"claim_id = {checks.shown(claim_id)} is not declared; nearest: {near[0]}")
    return declared()[claim_id]


def _named(**values):
    return values.items()


def _finite(name, value):
    try:
        array = np.asarray(value)
        real = array.dtype.kind in "biuf" and np.asarray(array, dtype=np.float64)
    except ValueError:  # rows of different lengths
        real = False
    if real is False:
        raise ValueError(f"{name} = {checks.shown(value)} is not made of real numbers; allowed: finite real numbers")
    if not np.isfinite(real).all():
        raise ValueError(f"{name} = {checks.shown(real.tolist())} is not finite; allowed: finite real numbers")
    return real


def _pair(claim_id, predicted, measured):
    """Prediction and measurement in the shape of the larger."""
    pair = _finite("predicted", predicted), _finite("measured", measured)
    largest = max(pair, key=lambda array: (array.ndim, array.size))
    if 0 in (pair[0].size, pair[1].size):
        empty = "measured" if pair[1].size == 0 else "predicted"
        raise ValueError(f"{empty} = [] is empty for {claim_id}; allowed: at least one number")
    if largest.size > MOST_NUMBERS:
        raise ValueError(f"measured has {largest.size} numbers for {claim_id}; allowed: up to {MOST_NUMBERS}")
    return tuple(
        _fitting(name, array, largest.shape) for name, array in zip(("predicted", "measured"), pair, strict=True)
    )


def _fitting(name, value, shape, low=-np.inf, **ends):
    array = checks.real(name, _finite(name, value), low, **ends)
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise ValueError(f"{name} has shape {array.shape}; allowed: a number, or what fits {shape}") from None


def _tolerance(predicted, se, rtol, atol, z):
    with np.errstate(over="ignore"):
        return _finite("tolerance", atol + rtol * np.abs(predicted) + z * se)


def _spared(printed, predicted, tolerance, printed_agrees):
    """Indices at which the text's own form need not be excluded, and the reason given."""
    if printed_agrees is None:
        return (), ""
    if printed is None:
        raise ValueError("printed_agrees is given without printed; allowed: None")
    where, reason = np.asarray(printed_agrees[0]), printed_agrees[1]
    indices = np.flatnonzero(_fitting("printed_agrees", where, printed.shape)) if where.dtype == bool else where
    chosen = sorted({checks.whole("printed_agrees", i, 0, printed.size - 1) for i in np.ravel(indices).tolist()})
    if len(chosen) == printed.size or not reason:
        raise ValueError("printed_agrees leaves no control or gives no reason; allowed: some of the values, and why")
    apart = np.abs(printed - predicted).ravel()[chosen] > 2 * tolerance.ravel()[chosen]
    if apart.any():
        raise ValueError(
            f"printed_agrees names value {chosen[int(apart.argmax())]}, where the two forms can be told apart"
        )
    return tuple(chosen), str(reason) if chosen else ""


def _agrees(relation, predicted, measured, tolerance):
    return {
        "equals": np.abs(measured - predicted) <= tolerance,
        "below": measured < predicted - tolerance,
        "above": measured > predicted + tolerance,
    }[relation]


def _failures(relation, predicted, measured, tolerance, printed, spared, rival):
    """The objections to the declared verdict, in words."""
    found = [] if _agrees(relation, predicted, measured, tolerance).all() else ["the measurement does not agree"]
    if printed is not None:
        left = sorted(set(np.flatnonzero(np.abs(measured - printed) <= tolerance).tolist()) - set(spared))
        found += [f"the printed form is not excluded at value {checks.shown(left).strip('[]')}"] if left else []
    if rival is not None:
        name, value = rival
        passes = _agrees(relation, measured if relation == "equals" else predicted, value, tolerance)
        found += [f"the rival ({name}) is not excluded"] if passes.any() else []
    return found


def _decides_nothing(sharp):
    return sharp is not None and sharp > resolution.DECIDES_NOTHING


def _sentence(row, failures):
    return (
        f"{row.id} {row.label}: declared '{row.verdict}', but {' and '.join(failures)}: predicted "
        f"{forms.RELATIONS[row.relation]} {forms.numbers(row.predicted)}, measured {forms.numbers(row.measured)}, "
        f"tolerance {forms.numbers(row.tolerance)}" + (f", printed {forms.numbers(row.printed)}" if row.printed else "")
    )


def _tuple(array):
    return tuple(float(value) for value in np.ravel(array))
