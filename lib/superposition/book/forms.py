"""Numbers, relations and places as text."""

import re
import zlib
from collections.abc import Sequence

RELATIONS = {"equals": "=", "below": "<", "above": ">"}
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
