"""Replays whose start is moved by one rounding, to measure the effect of rounding on the values of a run.

Every number that a run draws, its first weights among them, becomes the one above or below it in single precision,
by the toss of a coin. A run that draws nothing is not moved.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

ROUNDING = float(np.finfo(np.float32).eps)
BELOW_ONE = 1 - ROUNDING / 2  # the largest number below one in single precision
NORMAL, BELOW = (
    ("standard_normal", "normal", "randn"),
    ("random", "rand"),
)  # draws of numpy and torch, and those in [0, 1)


class _Moved(np.random.Generator):
    """A generator of numpy whose draws are moved."""

    side = 0

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        return partial(_drawn, found, name, type(self).side) if name in NORMAL + BELOW else found


@contextmanager
def draws(side: int) -> Iterator[None]:
    """Move all draws of numpy and torch within; side 1 moves up what -1 moves down, and 2 and -2 use other coins."""
    kind, made = type("_MovedTo", (_Moved,), {"side": side}), np.random.default_rng

    def generator(seed: Any = None) -> np.random.Generator:
        return seed if isinstance(seed, _Moved) else kind(made(seed).bit_generator)

    with ExitStack() as patches:
        patches.enter_context(patch.object(np.random, "default_rng", generator))
        if torch := sys.modules.get("torch"):
            for name in ("randn", "rand"):
                patches.enter_context(patch.object(torch, name, partial(_drawn, getattr(torch, name), name, side)))
        yield


def _drawn(draw: Callable, name: str, side: int, *arguments: Any, **options: Any) -> Any:
    """A draw, as array, tensor or number, with each entry moved up or down at random."""
    drawn = draw(*arguments, **options)
    coins = np.random.Generator(np.random.PCG64(abs(side) - 1)).integers(0, 2, tuple(np.shape(drawn)))
    factors = 1 + np.sign(side) * ROUNDING * (2.0 * coins - 1)
    if isinstance(drawn, (np.ndarray, float)):
        moved = np.asarray(drawn * factors, dtype=np.asarray(drawn).dtype)
        return (np.minimum(moved, BELOW_ONE) if name in BELOW else moved)[()]
    moved = drawn * sys.modules["torch"].from_numpy(np.asarray(factors)).to(drawn)
    return moved.clamp(max=BELOW_ONE) if name in BELOW else moved
