"""Single pulses: closed moments against the list of all vectors."""

import itertools

import numpy as np
import pytest
from superposition import receptive
from superposition.receptive import single_pulses


@pytest.mark.parametrize("lengths", [[3], [1, 12], [5, 9, 11]])
@pytest.mark.parametrize("version", single_pulses.VERSIONS)
def test_pulse_moments_by_enumeration(lengths, version):
    x = single_pulses.pulse_support(12, lengths, version)
    np.testing.assert_allclose(single_pulses.pulse_second_moment(12, lengths, version), x.T @ x / len(x), atol=1e-14)
    raw = single_pulses.pulse_support(12, lengths)
    for pixels in itertools.product(range(0, 12, 2), range(0, 12, 3), (0, 5)):
        assert single_pulses.pulse_moment(12, lengths, pixels) == pytest.approx(
            raw[:, list(pixels)].prod(axis=1).mean()
        )


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


def test_the_smallest_ring_and_the_law_of_a_pulse_by_enumeration():
    assert single_pulses.pulse_second_moment(2, [1], version="raw").tolist() == [[0.5, 0], [0, 0.5]]
    pulses = np.array([np.roll([1.0] * k + [0.0] * (5 - k), s) for k in (2, 3) for s in range(5)])
    by_hand = pulses.T @ pulses / len(pulses)
    np.testing.assert_allclose(single_pulses.pulse_second_moment(5, [2, 3], version="raw"), by_hand, rtol=1e-14)
