"""The bar over a loop: it hands on what it is given."""

import pytest
from superposition.book import progress


def test_each_hands_on_every_item_in_order():
    assert list(progress.each([3, 1, 2], "three")) == [3, 1, 2]
    assert list(progress.each([], "none")) == []


def test_a_loop_may_stop_early_or_fail():
    assert next(iter(progress.each(range(5), "five"))) == 0
    with pytest.raises(ZeroDivisionError):
        [1 / n for n in progress.each([1, 0], "two")]
