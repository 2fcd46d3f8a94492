"""What is said of a run's stored table: whether it is current, and what it was made with."""

from types import SimpleNamespace

import pytest
from superposition.runs import account, provenance, tables

RUN = SimpleNamespace(name="a run")


@pytest.mark.parametrize(
    ("note", "state"),
    [("", "is what the run would give now"), ("its code is older", "is not current: its code is older")],
)
def test_a_table_is_current_unless_something_is_noted_of_it(monkeypatch, note, state):
    today = provenance.versions()
    made = {"seconds": [1.0, 2.0], "versions": [today | {"numpy": "0.1"}, today | {"numpy": "0.2"}]}
    monkeypatch.setattr(tables, "read", lambda run: SimpleNamespace(note=note, provenance=made))
    assert account.of_table(RUN) == [
        f"The stored table of a run has 2 points and {state}",
        f"It was made with numpy 0.1, 0.2, here is {today['numpy']}",
    ]


def test_a_run_without_a_table_has_none(monkeypatch):
    def missing(run):
        raise FileNotFoundError

    monkeypatch.setattr(tables, "read", missing)
    assert account.of_table(RUN) == ["a run has no stored table"]
