"""The refusals themselves: what is let through at each end, in which form, and the sentence for what is not."""

import numpy as np
import pytest
from superposition import checks, codes, frequencies

INF = float("inf")


@pytest.mark.parametrize(
    ("ends", "inside", "outside", "allowed"),
    [
        ({}, [0.0, 1.0], [-1e-300, np.nextafter(1, 2), INF], r"\[0, 1\]"),
        ({"open_low": True}, [1e-300, 1.0], [0.0, np.nextafter(1, 2)], r"\(0, 1\]"),
        ({"open_high": True}, [0.0, np.nextafter(1, 0)], [-1e-300, 1.0], r"\[0, 1\)"),
        ({"open_low": True, "open_high": True}, [1e-300, 0.5], [0.0, 1.0], r"\(0, 1\)"),
    ],
)
def test_an_interval_has_the_ends_that_its_sentence_names(ends, inside, outside, allowed):
    assert checks.real("p", inside, 0, 1, **ends).tolist() == inside
    assert [checks.number("p", value, 0, 1, **ends) for value in inside] == inside
    for value in [*outside, np.nan]:
        for wrong, check in ((value, checks.number), ([0.5, value], checks.real)):
            with pytest.raises(ValueError, match=rf"^p = {value:g} is out of range; allowed: {allowed}$"):
                check("p", wrong, 0, 1, **ends)


def test_without_ends_infinity_is_a_number_and_with_open_ones_it_is_not():
    assert checks.number("x", INF) == INF and checks.number("x", INF, 0) == INF
    assert checks.number("x", 1e308, 0, open_high=True) == 1e308
    for value, ends in ((INF, (0,)), (-INF, ()), (np.nan, ())):
        with pytest.raises(ValueError, match=f"x = {value:g} is out of range"):
            checks.real("x", value, *ends, open_low=True, open_high=True)


@pytest.mark.parametrize("value", ["0.5", None, 1j, True, np.True_, {}, [[1], [1, 2]], [None], np.array("a"), 10**400])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(ValueError, match=r"^x = .{1,61} is not a number; allowed: \[-inf, inf\]$"):
        checks.real("x", value)


def test_numbers_come_in_many_clothes():
    for value in (2, 2.0, np.float32(2), np.int8(2), np.array(2), np.array(2, dtype=object)):
        assert type(checks.number("x", value)) is float and checks.number("x", value) == 2
    found = checks.real("x", [True, False])  # a mask
    assert found.dtype == np.float64 and found.tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"^x = \[1\] has shape \(1,\); allowed: one number$"):
        checks.number("x", [1])


def test_numbers_under_a_mask_are_refused_and_others_in_a_masked_array_are_not():
    assert checks.real("x", np.ma.masked_array([1.0, 2.0], [False, False])).tolist() == [1, 2]
    for value in (np.ma.masked_array([1.0, 2.0], [False, True]), np.ma.masked):
        with pytest.raises(ValueError, match=r"^x = masked.* is not a number; allowed: \[-inf, inf\]$"):
            checks.real("x", value)


@pytest.mark.parametrize("call", [lambda W: codes.code_loss(W, W[0], 0.2), lambda p: frequencies.allocate(p[0], [1])])
def test_a_mask_is_not_lost(call):
    whole = np.array([[0.5, 0.1], [0.1, 0.5]])
    assert call(np.ma.masked_array(whole)) is not None
    with pytest.raises(ValueError, match="^(W|p) = masked_array.* is not a number"):
        call(np.ma.masked_array(whole, whole < 0.3))


def test_shapes_by_length_and_by_word():
    W = np.zeros((3, 3))
    assert checks.array("W", W, "n n") is W and checks.array("W", W, (3, "n")) is W
    for value, shape, allowed in (
        (np.zeros((2, 3)), ("n", "n"), r"\(n, n\)"),
        (W, ("n",), r"\(n,\)"),
        (W, (3, 2), r"\(3, 2\)"),
        (np.zeros((0, 3)), ("k", 3), r"\(k, 3\)"),
    ):
        with pytest.raises(ValueError, match=rf"^W has shape \({len(value)}, 3\); allowed: {allowed}, no axis empty$"):
            checks.array("W", value, shape)
    with pytest.raises(ValueError, match=r"W = inf is out of range; allowed: \(-inf, inf\)"):
        checks.array("W", [INF], ("n",))


def test_axes_by_name():
    for value, axes in (([1.0], "n"), ([[1.0]], "n m"), ([1.0], "... n"), ([[[1.0]]], "... n"), ([[1.0]], "... n m")):
        assert checks.array("w", value, axes).shape == np.shape(value)
    for value, axes, allowed in (
        ([[1.0]], "n", r"\(n,\)"),
        ([1.0], "n m", r"\(n, m\)"),
        (1.0, "... n m", r"\(..., n, m\)"),
        ([[]], "n m", r"\(n, m\)"),
    ):
        with pytest.raises(ValueError, match=rf"^w has shape .*; allowed: {allowed}, no axis empty$"):
            checks.array("w", value, axes)
    with pytest.raises(ValueError, match="w = nan is out of range"):
        checks.array("w", [np.nan], "n")


@pytest.mark.filterwarnings("ignore:In future, it will be an error for 'np.bool':DeprecationWarning")  # numpy < 2.3
def test_whole_numbers():
    for value in (3, 3.0, np.int64(3), np.uint8(3), np.float16(3), np.array(3), np.array(3.0)):
        assert type(checks.whole("n", value, 3, 3)) is int and checks.whole("n", value, 3, 3) == 3
    assert checks.whole("n", 2**53, 0) == 2**53 and checks.wholes("n", (1, 2.0), 1, 2) == [1, 2]
    odd = (np.array(3.5), np.array(True), np.array([3.0]), np.array("3"), np.ma.masked, np.datetime64(3, "s"))
    for value in (3.5, True, np.True_, "3", None, [3], 2**53 + 1, -1, np.nan, INF, *odd):
        with pytest.raises(ValueError, match=r"^n = .* is out of range; allowed: whole numbers from 0$"):
            checks.whole("n", value, 0)
    for value in (0, 5):
        with pytest.raises(ValueError, match=f"^n = {value} is out of range; allowed: whole numbers from 1 to 4$"):
            checks.wholes("n", [2, value], 1, 4)
    with pytest.raises(ValueError, match="^n = 3 is no sequence; allowed: whole numbers in a list$"):
        checks.wholes("n", 3, 0)


def test_choices_flags_and_seeds():
    assert checks.one_of("kind", "b", ("a", "b")) == "b"
    assert checks.one_of("bits", np.array(32.0), (16, 32)) == 32
    for value in ("c", None, ["a"]):
        with pytest.raises(ValueError, match=r"^kind = .* is unknown; allowed: a, b$"):
            checks.one_of("kind", value, ("a", "b"))
    assert checks.flag("on", np.True_) is True and checks.flag("on", False) is False
    for value in (1, "true", None):
        with pytest.raises(ValueError, match="^on = .* is neither; allowed: True, False$"):
            checks.flag("on", value)
    rng = np.random.default_rng(4)
    assert checks.generator("seed", rng) is rng
    assert checks.generator("seed", 4).random() == np.random.default_rng(4).random()
    for value in (-1, 0.5, None):
        with pytest.raises(ValueError, match="^seed = .* is out of range; allowed: whole numbers from 0$"):
            checks.generator("seed", value)
    assert checks.generator("seed", 0).random() == np.random.default_rng(0).random()


def test_what_is_shown_is_one_line_of_sixty_characters():
    assert checks.shown("x" * 58) == repr("x" * 58) and checks.shown("x" * 59) == "'" + "x" * 59 + "…"
    assert checks.shown(np.eye(2)) == "array([[1., 0.], [0., 1.]])"


def test_the_largest_model_has_weights_of_a_gigabyte():
    assert 4 * checks.MOST_FEATURES**2 == 2**30  # W alone, in float32


def test_a_seed_has_32_bits_and_a_million_steps_are_the_most():
    assert f"{checks.LARGEST_SEED:b}" == 32 * "1" and f"{checks.MOST_STEPS:,}" == "1,000,000"
