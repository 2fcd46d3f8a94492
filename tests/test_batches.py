"""Batches of feature vectors that just fit into memory, and those that do not."""

import numpy as np
import pytest
from superposition import checks, ranges

MOST = int(ranges.MOST_NUMBERS)


@pytest.mark.parametrize(
    "batch", [{"batch": MOST}, {"batch": 2, "ns": MOST // 2}, {"batch": 4, "ns": MOST // 2, "p": 0.5, "layout": "csr"},
              {"batch": MOST // 4, "p": np.full(4, 0.1)}],
)  # fmt: skip
def test_a_batch_of_the_largest_size_fits(batch):
    ranges.batch_fits(**batch)
    with pytest.raises(ValueError, match="features is too large; allowed: "):
        ranges.batch_fits(**batch | {"batch": batch["batch"] + 1})


def test_as_many_entries_as_can_be_numbered():
    ranges.places_fit(checks.LARGEST_WHOLE // 4, 4, 1e-9)
    with pytest.raises(ValueError, match="of 4 features is too large"):
        ranges.places_fit(checks.LARGEST_WHOLE // 4 + 1, 4, 1e-9)


def test_a_seed_is_a_whole_number_or_a_generator():
    rng = np.random.default_rng(0)
    assert ranges.seed("seed", rng) is rng and ranges.seed("seed", 3) == 3
    for value in (-1, 0.5, "a"):
        with pytest.raises(ValueError, match="seed = "):
            ranges.seed("seed", value)
