"""What a training step on a device takes on paper: sums of products, bytes, and the least time that these allow."""

from __future__ import annotations

from dataclasses import dataclass

from superposition import ranges
from superposition.checked import checked
from superposition.rug.ranges import rank

NUMBER = 4  # bytes


@dataclass(frozen=True)
class StepCost:
    """Work of one step of `train_on_device`.

    ``operations`` of its five products, two for each multiplication that is added; ``product_bytes`` that these
    products read and write at least once; ``other_bytes`` of all else, mostly Adam and passes over the batch; ``held``,
    bytes that lie on the device throughout.
    """

    operations: int
    product_bytes: int
    other_bytes: int
    held: int

    def least_seconds(self, rate: float, bandwidth: float) -> float:
        """Time of a step at so many operations and bytes a second, if nothing stays in a cache and nothing waits."""
        return max(self.operations / rate, self.product_bytes / bandwidth) + self.other_bytes / bandwidth


@checked(rank, ns=ranges.whole(2, 2**24), nd=ranges.whole(1, 2**24), batch=ranges.whole(1, 2**24))
def step_cost(ns: int, nd: int, batch: int = 1024) -> StepCost:
    """Count what a step of `train_on_device` computes, reads and writes, in float32, for a batch in one part.

    Notes
    -----
    Source: ours; a test compares the counts with those of every operation that a step launches.

    Examples
    --------
    >>> cost = step_cost(8192, 4096)
    >>> cost.operations == 10 * 1024 * 8192 * 4096
    True
    >>> round(1e3 * cost.least_seconds(rate=495e12, bandwidth=4.8e12), 1)  # milliseconds
    1.2
    """
    from superposition.rug.device_training import LANES

    wide = nd + -nd % LANES
    across, within, side = batch * ns, batch * wide, ns * wide
    return StepCost(
        operations=10 * batch * side,
        product_bytes=NUMBER * (5 * (across + within + side) + ns),
        other_bytes=NUMBER * (13 * across + 7 * (2 * side + ns) + 6 * ns),  # Adam reads four numbers and writes three
        held=NUMBER * (4 * (2 * side + ns) + 3 * across),
    )
