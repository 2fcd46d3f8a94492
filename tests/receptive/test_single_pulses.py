"""Single pulses: closed moments against the list of all vectors."""

import itertools

import numpy as np
import pytest
from superposition import receptive
from superposition.receptive import single_pulses


@pytest.mark.parametrize("lengths", [[3], [1, 12], [5, 9, 11]])
@pytest.mark.parametrize("version", single_pulses.VERSIONS)
def test_pulse_moments_by_enumeration(lengths, version):
    x = receptive.pulse_support(12, lengths, version)
    assert len(x) == 12 * len(lengths) * (1 if version == "raw" else 2)
    raw = receptive.pulse_support(12, lengths)
    for pixels in itertools.product(range(0, 12, 2), range(0, 12, 3), (0, 5)):
        assert receptive.pulse_moment(12, lengths, pixels) == pytest.approx(raw[:, list(pixels)].prod(axis=1).mean())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: receptive.pulse_support(10, [11]),
            "lengths = 11 is out of range; allowed: whole numbers from 1 to 10",
        ),
        (lambda: receptive.pulse_support(10, []), r"lengths = \(\) is empty"),
        (lambda: receptive.pulse_support(10, [3], "white"), "version = 'white' is unknown"),
        (lambda: receptive.pulse_moment(10, [3], []), r"pixels = \(\) is empty"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_law_of_a_pulse_by_hand():
    assert receptive.pulse_support(2, [1]).tolist() == [[1, 0], [0, 1]]
    pulses = np.array([np.roll([1.0] * k + [0.0] * (5 - k), s) for k in (2, 3) for s in range(5)])
    pairs = [[receptive.pulse_moment(5, [2, 3], (i, j)) for j in range(5)] for i in range(5)]
    np.testing.assert_allclose(pairs, pulses.T @ pulses / len(pulses), rtol=1e-14)
