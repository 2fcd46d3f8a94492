"""Numbers, relations and places as text."""

import math
import re
import zlib
from collections.abc import Sequence

POWER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([-+]?\d+)(?![\w.]*\w)")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
RELATIONS = {"equals": "=", "below": "<", "above": ">"}
SMALL = 1e-4  # of a number: an error that is left out beside it
MINUS = re.compile(r"(?<![\w.])-(?=\d)|(?<=\de)-(?=\d)")  # a hyphen is a place to break, a minus sign is not


def numbers(values: Sequence[float], digits: int = 6) -> str:
    """Several numbers in few words, each with a given number of significant digits."""
    if not len(values):
        return "–"
    low, high = f"{min(values):.{digits}g}", f"{max(values):.{digits}g}"
    if len(values) > 1 and low == high:
        return f"{low} ({len(values)} values)"
    if len(values) > 6:
        return f"{len(values)} values from {low} to {high}"
    return ", ".join(f"{value:.{digits}g}" for value in values)


def as_sure(value: float, error: float = 0.0, digits: int = 3) -> str:
    """A number with as many digits as its error allows, one more where the error begins with 1 or 2.

    >>> as_sure(0.0670321, 0.0005), as_sure(0.0670321), as_sure(2.345e-7, 1e-8)
    ('0.0670', '0.067', '2.34e-07')
    """
    if error <= SMALL * abs(value):
        return f"{value:.{digits}g}"
    first = math.floor(math.log10(error))
    places = max(0, (error < 2.95 * 10.0**first) - first)
    power = math.floor(math.log10(max(abs(value), error)))
    return f"{value:.{places}f}" if -4 < power < 6 else f"{value:.{max(0, places + power)}e}"


def powers(text: str) -> str:
    """Powers of ten as people write them.

    >>> powers("1e-06 of 2.5e3, not 0x1e4")
    '10⁻⁶ of 2.5·10³, not 0x1e4'
    """
    return POWER.sub(_power, text)


def _power(found):
    exponent = str(int(found[2])).translate(RAISED)
    return f"10{exponent}" if found[1] in ("1", "1.0") else f"{found[1]}·10{exponent}"


def apart(one: float, other: float, least: int = 3) -> int:
    """Significant digits at which two numbers differ: at least ``least``, at most the 15 that float64 holds."""
    return next((d for d in range(least, 15) if f"{one:.{d}g}" != f"{other:.{d}g}"), 15)


def anchor(claim_id: str, label: str = "") -> str:
    """The ``id``, in a page's HTML, of the row that `superposition.book.claims.check` gives this claim and label."""
    slug = re.sub("[^a-z0-9]+", "-", f"claim-{claim_id}".lower())
    return f"{slug}-{zlib.crc32(label.encode()):08x}" if label else slug


def percent(resolution: float | None) -> str:
    """A resolution as people read it; None where it is not known."""
    if resolution is None:
        return "–"
    if resolution == 0:
        return "exact"
    if resolution > 1:
        return "> 100 %"
    return f"{100 * resolution:.2g} %" if resolution >= 1e-5 else "< 0.001 %"
