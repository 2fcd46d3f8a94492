"""Dimensions that weights span."""

from types import SimpleNamespace

import numpy as np
import pytest
from superposition.diagnosis import dimensions


@pytest.mark.parametrize("rank", [1, 2, 3, 5])
def test_rank_of_columns_at_the_precision_of_their_entries(rank):
    rng = np.random.default_rng(rank)
    columns = rng.standard_normal((20, rank)) @ rng.standard_normal((rank, 5))
    assert dimensions._rank(columns * 10.0 ** rng.uniform(-6, 6, (20, 1))) == rank
    assert dimensions._rank(np.zeros((4, 3))) == 1


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("rank", [1, 2, 4])
def test_rank_of_a_product_in_single_precision(rank, sign):
    rng = np.random.default_rng(rank)
    one = rng.uniform(0.5, 1, (9, rank)) @ np.diag(rng.uniform(0.5, 1, rank))
    W = (sign * one @ one.T).astype(np.float32)
    assert dimensions._rank_of_product(SimpleNamespace(W=W, single=True)) == rank


@pytest.mark.parametrize(("least", "rank"), [(4, 8), (20, 9)])
def test_single_precision_resolves_as_many_units_as_there_are_rows(least, rank):
    W = np.diag([*[1.0] * 8, least * dimensions.SINGLE]).astype(np.float32)
    assert dimensions._rank_of_product(SimpleNamespace(W=W, single=True)) == rank


def test_rank_of_a_loud_product_in_single_precision():
    one, loud = np.random.default_rng(0).standard_normal((9, 6)), 10.0 ** np.linspace(-6, 6, 9)
    W = (one @ one.T * loud / loud[:, None]).astype(np.float32)
    assert dimensions._rank_of_product(SimpleNamespace(W=W, single=True)) == 6
    assert np.linalg.matrix_rank(W, rtol=9 * dimensions.SINGLE) < 6  # as it is, without its loudness balanced
