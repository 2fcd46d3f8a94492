"""The bounds are those that their reasons give."""

from superposition import ranges


def test_the_largest_model_has_weights_of_a_gigabyte():
    assert 4 * ranges.MOST_FEATURES**2 == 2**30  # W alone, in float32


def test_a_seed_has_32_bits_and_a_million_steps_are_the_most():
    assert f"{ranges.LARGEST_SEED:b}" == 32 * "1" and f"{ranges.MOST_STEPS:,}" == "1,000,000"
