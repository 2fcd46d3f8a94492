"""The ends of the ranges of rows that a step has to settle: squared lengths, and not lengths."""

import numpy as np
import pytest
from superposition.incidental import ranges


@pytest.mark.parametrize(("settles", "size"), [(ranges.step_settles, 2.0), (ranges.descent_settles, 0.5)])
@pytest.mark.parametrize("longest", [25.0, 1.21])
def test_a_row_is_refused_by_its_squared_length(settles, size, longest):
    W = np.sqrt(longest) * np.array([[[0.1, 0.0], [0.6, 0.8]], [[0.0, -0.2], [0.3, 0.3]]])
    rate = size / (longest - 1)  # at which this length is the longest that is allowed
    settles(W, 0.999 * rate)
    with pytest.raises(ValueError, match=rf"a row of squared length {longest:g}; allowed: up to "):
        settles(W, 1.001 * rate)
