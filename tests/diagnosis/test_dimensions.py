"""Dimensions that weights span."""

import numpy as np
import pytest
from superposition.diagnosis import dimensions


@pytest.mark.parametrize("rank", [1, 2, 3, 5])
def test_rank_of_columns_at_the_precision_of_their_entries(rank):
    rng = np.random.default_rng(rank)
    columns = rng.standard_normal((20, rank)) @ rng.standard_normal((rank, 5))
    assert dimensions._rank(columns * 10.0 ** rng.uniform(-6, 6, (20, 1))) == rank
    assert dimensions._rank(np.zeros((4, 3))) == 1
