"""Numbers, relations and places as text."""

import math
import re
import zlib
from collections.abc import Sequence

RELATIONS = {"equals": "=", "below": "<", "above": ">"}
SMALL = 1e-4  # of a number: an error that is left out beside it
MINUS = re.compile(r"(?<![\w.])-(?=\d)|(?<=\de)-(?=\d)")  # a hyphen is a place to break, a minus sign is not


def numbers(values: Sequence[float], digits: int = 6) -> str:
    """Several numbers in few words, each with so many significant digits."""
    if not len(values):
        return "–"
    low, high = f"{min(values):.{digits}g}", f"{max(values):.{digits}g}"
    if len(values) > 1 and low == high:
        return f"{low} ({len(values)} values)"
    if len(values) > 6:
        return f"{len(values)} values from {low} to {high}"
    return ", ".join(f"{value:.{digits}g}" for value in values)


def with_error(value: float, error: float = 0.0, digits: int = 3) -> str:
    """A number with as many digits as its error allows, one more where the error begins with 1 or 2."""
    if error <= SMALL * abs(value):
        return f"{value:.{digits}g}"
    power = math.floor(math.log10(max(abs(value), error)))
    if not -4 < power < 6:
        return f"({with_error(value / 10.0**power, error / 10.0**power)})e{power}"
    first = math.floor(math.log10(error))
    places = max(0, (error < 2.95 * 10.0**first) - first)
    return f"{value:.{places}f} ± {error:.{places}f}"


def apart(one: float, other: float, least: int = 3) -> int:
    """How many significant digits tell two numbers apart; at least ``least``, at most the 15 that float64 holds."""
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
