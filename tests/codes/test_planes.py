"""Planes of fans for a number format: its digits carry them."""

from types import SimpleNamespace

import numpy as np
import pytest
from superposition import codes
from superposition.codes import planes


@pytest.mark.parametrize("p", [0.02, 0.2])
def test_a_digon_as_a_network_has_the_loss_of_the_best_digon(p):
    """Two features on a line, in units of which neither output can do without its own gain."""
    block = planes._digon_block(p)
    W = block.W_out @ block.W_in
    assert codes.code_loss(W, block.b, p) == pytest.approx(planes.cached_digon(p)[1], rel=1e-6)


@pytest.mark.parametrize("size", [8, 15, 16, 24, 33, planes.LARGEST["float32"]])
def test_a_plane_for_float32_loses_nothing_to_its_digits(size):
    block = planes._fan_block(size, 0.02, "float32")
    exact, rounded = (
        codes.network_loss(block, 0.02, samples=5000, seed=0, dtype=dtype) for dtype in ("float64", "float32")
    )
    assert abs(rounded.mean - exact.mean) < exact.se and exact.mean < 1.2 * codes.swept_loss(0.02, size)


def test_in_16_bits_fans_are_tried_and_chains_of_their_one_size(monkeypatch):
    made = []
    monkeypatch.setattr(planes.swept, "swept_fan", lambda size, ratio: made.append((size, ratio)))
    monkeypatch.setattr(
        planes, "chain_code", type("Chain", (), {"unchecked": lambda p, ratio: made.append((p, ratio))})
    )
    monkeypatch.setattr(planes.swept, "largest_ratio", lambda size, *rest: {(3.0, 1.0, 900.0): 7.0}[rest])
    for size in (planes.CHAIN, planes.CHAIN + 1):
        makers = list(planes._makers(size, 0.1, 900.0))
        for maker in makers:
            maker(5.0), maker(20.0), maker(0.5)
    tries = [(planes.CHAIN, 5.0), (planes.CHAIN, 7.0), (planes.CHAIN, 1.0), (0.1, 5.0), (0.1, 20.0), (0.1, 0.5)]
    assert made == tries + [(planes.CHAIN + 1, ratio) for ratio in (5.0, 7.0, 1.0)]


def test_a_format_that_overflows_loses_everything(monkeypatch):
    asked = []

    def loss(code, p, **form):
        asked.append((code, p, form))
        if form["dtype"] == "float16":
            raise ValueError
        return SimpleNamespace(mean=0.25)

    monkeypatch.setattr(planes, "network_loss", loss)
    assert [planes._loss_in("code", 0.1, dtype) for dtype in ("bfloat16", "float16")] == [0.25, np.inf]
    assert asked[0] == ("code", 0.1, {"samples": 20_000, "seed": 0, "dtype": "bfloat16"})
