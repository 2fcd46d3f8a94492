"""Time two ways to do one thing, in turn, in one run on one machine."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of the table: ``ours`` against ``other``, and how large the ratio of their times may be.

    ``same`` compares results before times are taken, and raises AssertionError where they differ;
    ``skip`` is the reason why the row cannot be measured here, ``clock`` what is read before and after a call:
    the CPU time of the process, or for what uses several cores the time that passes; ``pairs`` is how often both are
    timed.
    """

    what: str
    alternative: str
    limit: float
    ours: Callable[[], object]
    other: Callable[[], object]
    same: Callable[[], None] = lambda: None
    skip: str = ""
    clock: Callable[[], float] = time.process_time
    pairs: int = 15


def measured(row):
    """The row as a dictionary: median milliseconds of each, median ratio of the pairs."""
    result = {"what": row.what, "alternative": row.alternative, "limit": row.limit, "skipped": row.skip}
    if row.skip:
        return {**result, "ours_ms": None, "alternative_ms": None, "ratio": None}
    row.same()
    taken = [(seconds(row.ours, row.clock), seconds(row.other, row.clock)) for _ in range(row.pairs + 1)][
        1:
    ]  # the first pair warms up
    own, other = (statistics.median(times) * 1e3 for times in zip(*taken, strict=True))
    ratio = statistics.median(one / two for one, two in taken)
    return {**result, "ours_ms": own, "alternative_ms": other, "ratio": ratio}


def seconds(function, clock):
    """Seconds that one call takes."""
    start = clock()
    function()
    return clock() - start
