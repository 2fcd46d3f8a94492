"""The decorator `checked` on small functions: what it takes, gives back, refuses and writes into the docstring."""

import numpy as np
import pytest
from superposition import ranges
from superposition.checked import checked


def in_order(low: float, high: float) -> None:
    """Refuse ends in the wrong order."""
    if low > high:
        raise ValueError(f"low = {low} is above high")


@checked(in_order, low=ranges.probability, high=ranges.probability, n=ranges.whole(1))
def between(low, high, n=None, *others, weight=1.0):
    """Give the arguments back.

    Parameters
    ----------
    n : int, optional
        How many.

    Returns
    -------
    tuple
        All of them.

    Notes
    -----
    A note.
    """
    return low, high, n, others, weight


def test_arguments_come_as_they_are_computed_with():
    assert between(0.25, 0.5) == (0.25, 0.5, None, (), 1.0)
    low, high, n, others, weight = between(np.float32(0.25), np.array(0.5), 3, "a", "b", weight=2)
    assert type(low) is float and isinstance(high, np.ndarray) and (n, others, weight) == (3, ("a", "b"), 2)
    assert between.unchecked(7, 5, 0) == (7, 5, 0, (), 1.0)


@pytest.mark.parametrize(
    ("call", "said"),
    [({"low": 0.6, "high": 0.5}, "low = 0.6 is above high"), ({"low": 0.0, "high": 1}, "low = 0 is out of range"),
     ({"low": 0.1, "high": 1.5}, "high = 1.5 is out of range"), ({"low": 0.1, "high": 1, "n": 0}, "n = 0")],
)  # fmt: skip
def test_arguments_out_of_range_or_order_are_refused(call, said):
    with pytest.raises(ValueError, match=said):
        between(**call)


def test_a_missing_argument_is_named_by_python():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'high'"):
        between(0.5)


def test_a_range_of_an_unknown_parameter_is_refused():
    with pytest.raises(TypeError, match="has no parameter m$"):
        checked(p=ranges.probability, z=ranges.probability, m=ranges.probability)(lambda p: p)


def test_a_class_checks_what_it_is_made_of():
    @checked(p=ranges.probability)
    class Made:
        def __init__(self, p):
            self.p = p

    assert Made(0.5).p == 0.5
    with pytest.raises(ValueError, match="p = 2"):
        Made(2)


def test_ranges_are_parameters_of_the_docstring_where_it_has_none():
    words = ranges.probability.__doc__
    assert between.__doc__ == (
        "Give the arguments back.\n\nParameters\n----------\nn : int, optional\n    How many.\n"
        f"low\n    {words}\nhigh\n    {words}\n\nReturns\n-------\ntuple\n    All of them.\n\n"
        "Raises\n------\nValueError\n    If an argument is outside of its range.\n\nNotes\n-----\nA note.\n"
    )
    assert (
        checked()(lambda p: p).__doc__
        == "\n\nRaises\n------\nValueError\n    If an argument is outside of its range.\n"
    )
    assert (between.__name__, between.__module__) == ("between", __name__)
