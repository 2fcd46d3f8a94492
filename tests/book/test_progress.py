"""The bar over a loop: it hands on what it is given."""

import sys
from types import SimpleNamespace

import IPython
import pytest
from superposition.book import progress


def test_each_hands_on_every_item_in_order():
    assert list(progress.each([3, 1, 2], "three")) == [3, 1, 2]
    assert list(progress.each([], "none")) == []


def test_a_bar_that_is_done_is_gone(monkeypatch):
    asked, made = {}, progress.tqdm
    monkeypatch.setattr(progress, "tqdm", lambda **how: asked.update(how) or made(**how))
    assert list(progress.each([1], "one")) == [1]
    assert asked["leave"] is False and asked["desc"] == "one"
    assert asked["mininterval"] == 0.5 and asked["dynamic_ncols"] is True


def test_a_loop_may_stop_early_or_fail():
    assert next(iter(progress.each(range(5), "five"))) == 0
    with pytest.raises(ZeroDivisionError):
        [1 / n for n in progress.each([1, 0], "two")]


@pytest.mark.parametrize(("metadata", "looks"), [({"cellId": "a cell"}, True), ({}, False)])
def test_only_who_names_the_cell_looks_at_it(monkeypatch, metadata, looks):
    kernel = SimpleNamespace(get_parent=lambda: {"metadata": metadata})
    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(kernel=kernel))
    assert progress._someone_looks_at_the_cell() == looks
    monkeypatch.delitem(sys.modules, "IPython")  # nobody can look
    assert not progress._someone_looks_at_the_cell()


def test_a_bar_under_a_cell_is_one_line_that_changes_and_goes(monkeypatch):
    said = []
    handle = SimpleNamespace(update=lambda data, raw: said.append((data, raw)))

    def display(data, raw, display_id):
        said.append((data, raw, display_id))
        return handle

    monkeypatch.setattr(IPython.display, "display", display)
    monkeypatch.setattr(IPython.display, "clear_output", lambda: said.append("gone"))
    bar = progress._cell_output()
    for text in ("\r 50 %\n", " \n"):
        bar.write(text)
    bar.flush()
    bar.close()
    assert said == [({"text/plain": ""}, True, True), ({"text/plain": " 50 %"}, True), "gone"]
