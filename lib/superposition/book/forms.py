"""Numbers, relations and places as text."""

import re
import zlib
from collections.abc import Sequence

RELATIONS = {"equals": "=", "below": "<", "above": ">"}
MINUS = re.compile(r"(?<![\w.])-(?=\d)|(?<=\de)-(?=\d)")  # a hyphen is a place to break, a minus sign is not


def numbers(values: Sequence[float], digits: int = 6) -> str:
    """Several numbers in few words.

    Parameters
    ----------
    values : sequence of float
        Any number of them.
    digits : int
        Significant digits.

    Returns
    -------
    str

    Examples
    --------
    >>> numbers([1.0, 2.5]), numbers([1.0, 1.0]), numbers([]), numbers([0.123456], 3)
    ('1, 2.5', '1 (2 values)', '–', '0.123')
    """
    if not len(values):
        return "–"
    low, high = f"{min(values):.{digits}g}", f"{max(values):.{digits}g}"
    if len(values) > 1 and low == high:
        return f"{low} ({len(values)} values)"
    if len(values) > 6:
        return f"{len(values)} values from {low} to {high}"
    return ", ".join(f"{value:.{digits}g}" for value in values)


def anchor(claim_id: str, label: str = "") -> str:
    """Name the place on a page where a claim is checked.

    Parameters
    ----------
    claim_id, label : str
        What was given to `superposition.book.claims.check`.

    Returns
    -------
    str
        The ``id`` of the row in the HTML form of its table.

    Examples
    --------
    >>> anchor("rug.eq9"), anchor("rug.eq9", "p=0.05")
    ('claim-rug-eq9', 'claim-rug-eq9-a85cb1ce')
    """
    slug = re.sub("[^a-z0-9]+", "-", f"claim-{claim_id}".lower())
    return f"{slug}-{zlib.crc32(label.encode()):08x}" if label else slug


def percent(resolution: float | None) -> str:
    """A resolution as people read it.

    Parameters
    ----------
    resolution : float or None
        A ratio; None where it is not known.

    Returns
    -------
    str

    Examples
    --------
    >>> percent(0.0123), percent(0.0), percent(1e-12), percent(7.0), percent(None)
    ('1.2 %', 'exact', '< 0.001 %', '> 100 %', '–')
    """
    if resolution is None:
        return "–"
    if resolution == 0:
        return "exact"
    if resolution > 1:
        return "> 100 %"
    return f"{100 * resolution:.2g} %" if resolution >= 1e-5 else "< 0.001 %"
