"""Replays at their limits: costs and distances that lie exactly there, and what is said of each end."""

from dataclasses import replace
from types import SimpleNamespace as Found

import numpy as np
import pytest
from click.testing import CliRunner
from superposition import cli, runs
from superposition.cli import sweeps, terminal
from superposition.runs import agreement, certify, columns, cover, registry, store, tables
from superposition.runs.agreement import Agreement
from superposition.runs.certify import Report


def costing(*seconds):
    """A run, and its table as if its first points had cost these seconds and the others nothing."""
    run = runs.find("rug-recipe")
    table = tables.read(run)
    every = [*seconds, *[0.0] * len(table.provenance["seconds"])][: len(table.provenance["seconds"])]
    return run, replace(table, provenance={**table.provenance, "seconds": every})


@pytest.mark.parametrize(
    ("seconds", "rule"),
    [([60.0], "whole"), ([60.0, 0.01], "pairs"), ([60.1, 60.0], "whole"), ([60.0] * 999, "pairs"),
     ([60.1] * 999, "cheapest")],
)  # fmt: skip
def test_a_point_is_cheap_up_to_a_minute_and_a_table_is_whole_up_to_one(seconds, rule):
    chosen = cover.choose(*costing(*seconds))
    assert chosen.rule == rule
    assert len(chosen.needed) == 1 if rule == "cheapest" else chosen.needed
    assert (0 in chosen.needed) is (seconds[0] == 60.0 and rule == "whole") or rule != "whole"


@pytest.mark.parametrize(("room", "rows"), [(3.0, [0, 1]), (2.9, [0]), (1.0, [0]), (0.9, [])])
def test_rows_are_added_as_far_as_time_reaches(room, rows):
    assert cover._greedy([], {0: {"a"}, 1: {"b"}}, [1.0, 2.0], room) == rows
    assert cover._greedy([0], {0: {"a"}, 1: {"a", "b"}}, [1.0, 2.0], room)[:1] == [0]


def test_the_row_that_adds_most_for_its_time_is_first():
    assert cover._greedy([], {0: {"a", "b", "c"}, 1: {"a", "d"}, 2: {"e"}}, [2.0, 1.0, 3.0]) == [1, 0, 2]


@pytest.mark.parametrize(("cost", "count"), [(12.0, 2), (11.9, 1), (0.0, 1)])
def test_others_cost_a_quarter_of_what_is_needed(cost, count):
    run, table = costing(1.0, 2.0)
    table.provenance["certified"] = []
    found = cover._others(run, table, [0, 1], cost)
    assert len(found) == count and (cost or found == [0])


def of(stored, value, replay):
    return agreement.of({"x": np.array([stored, 1.0])}, 0, {"x": value}, replay)


def test_a_distance_of_the_bound_agrees_without_a_replay():
    at = of(0.0, agreement.BOUND, lambda side: pytest.fail("it is replayed"))
    assert at.distances == {"x": agreement.BOUND} and not at.differs and not at.bounds
    sides = []
    beyond = of(0.0, 1.01 * agreement.BOUND, lambda side: sides.append(side) or {"x": 1.01 * agreement.BOUND})
    assert beyond.differs.startswith("x: 0.0 is stored, 1.01") and beyond.differs.endswith("bound 1e-05")
    assert sides == [-1, 1, -2, 2, -3, 3]


def test_ten_times_the_moved_distance_is_enough():
    small, sides = 2.0**-13, []
    found = of(0.0, 10 * small, lambda side: sides.append(side) or {"x": (10 + (side > 0)) * small})
    assert not found.differs and sides == [-1, 1] and found.bounds == {"x": 10 * small}
    less = of(0.0, 10 * small, lambda side: {"x": (10 + 0.99 * (side > 0)) * small})
    assert less.differs and less.bounds == {"x": pytest.approx(9.9 * small)}


@pytest.mark.parametrize(
    ("column", "row", "unit"),
    [([1, 10], 0, 10), ([1, 10.1], 0, 1), ([0, 1, 20], 1, 1), ([0, 1, 20], 0, 20 * 2.0**-23), ([-1, 1, 20], 1, 20),
     ([-30, 1, 20], 1, 30), ([0, 0], 0, 0), ([1e-9, 2], 0, 2 * 2.0**-23)],
)  # fmt: skip
def test_values_that_span_more_than_a_decade_are_their_own_unit(column, row, unit):
    assert agreement._unit(np.array(column, float), row) == unit


@pytest.mark.parametrize(
    ("word", "unit"), [("1.25", 0.01), ("3", 1), ("2.5e-3", 1e-4), ("1e4", 1e4), ("-0.125e2", 0.1)]
)
def test_the_last_digit_of_a_word(word, unit):
    assert agreement._last_digit(word) == pytest.approx(unit, rel=1e-12)


FAR = Agreement({"x": 2e-6, "y": 1e-7}, {}, "")
SAME = Agreement({}, {}, "")
OFF = Agreement({"x": 0.5}, {"x": 1e-4}, "x: 1 is stored")


@pytest.mark.parametrize(
    ("report", "code", "said"),
    [
        (Report("r", True, "whole", replayed={"a": SAME, "b": FAR}, ever=3, total=9), 0,
         "r: replayed 2 now, 3 ever of 9 points; 1 have the bits of the table, relative distance at most 2e-06 (x); "
         "confirmed"),
        (Report("r", False, "pairs", "0123456789", {"a": SAME}, ever=1, total=2, dropped=("old",)), 0,
         "r: replayed 1 now, 1 ever of 2 points; 1 have the bits of the table, and 0123456 gives the bits of today's "
         "code where it was replayed; signed\n    no longer computed, taken out when signed: old"),
        (Report("r", False, "pairs", "0123456789", {"a": SAME}, ["b"], total=2), 1,
         "r: replayed 1 now, 0 ever of 2 points; 1 have the bits of the table; NOT signed\n    no time for: b"),
        (Report("r", True, "cheapest", replayed={"a": SAME}, left=["b"], total=2), 1,
         "r: replayed 1 now, 0 ever of 2 points; 1 have the bits of the table; confirmed in part\n    each point costs "
         "more than a minute: the cheapest, once a release\n    no time for: b"),
        (Report("r", True, replayed={"a": OFF, "b": FAR}, left=["c"], total=3), 3,
         "r: replayed 2 now, 0 ever of 3 points; 0 have the bits of the table, relative distance at most 0.5 (x); NOT "
         "confirmed\n    differs: a: x: 1 is stored\n    no time for: c"),
        (Report("r", True, total=3), 0,
         "r: replayed 0 now, 0 ever of 3 points; 0 have the bits of the table; NOT confirmed"),
        (Report("r", refused="no table"), 2, "Error: no table"),
    ],
)  # fmt: skip
def test_a_report_says_what_was_replayed(report, code, said):
    assert (str(report), report.exit_code) == (said, code)
    assert report.signed is (" signed" in said and "NOT" not in said or "; confirmed" in said)


def test_old_code_is_compared_by_bits_and_predictions_by_their_rounding():
    def off(before, now, predicted=()):
        return certify._difference({"values": before}, now, dict(predicted))

    assert off({"x": 1.0, "y": 2.0}, {"x": 1.0, "z": 3.0}) == ""
    assert off({"x": 1.0}, {"x": 1.0 + 2**-52}) == "x: 1.0 is 1.0000000000000002"
    assert off({"x": 1.0}, {"z": 2.0}) == "the old code returned nothing of what there is today"
    assert off({"q": 1.0}, {"x": 2.0}, {"q": 1 + 5e-14}) == "" and off({"q": 1.0}, {}, {"q": 1 + 3e-13}).startswith(
        "q: 1.0"
    )
    assert off({"q": "a"}, {}, {"q": "b"}) == "q: a is b" and off({"q": 1}, {}, {"q": 1 + 1e-15}).startswith("q: 1 is")
    assert certify._difference({"error": "gone"}, {}, {}) == "old code: gone"
    assert certify._largest([{"x": 1.0, "y": 3.0}, {"x": 2.0}, {"y": 1.0}]) == {"x": 2.0, "y": 3.0}


def test_columns_are_listed_by_runs_that_say_the_same(monkeypatch):
    text = columns._section(["a", "b"], [("p", runs.find("rug-recipe").columns["loss"])])
    assert text.startswith('\n["a b"]\np = ["') and text.endswith('"]\n')


def signed(*entries):
    """A table that was signed so, with what it says of its replays."""
    _, table = costing()
    code = table.provenance["library_digest"]
    made = [{"rule": rule, "rows": rows, "to": {"library_digest": code}} for rule, rows in entries]
    older = {"rule": "whole", "rows": [7], "to": {"library_digest": "older"}}
    return replace(table, provenance={**table.provenance, "certified": [older, *made]})


@pytest.mark.parametrize(
    ("entries", "begun", "said"),
    [
        ([], set(), ""), ([("part", [0]), ("part", [1])], {0, 1}, ", not all that it needs"),
        ([("pairs", [0, 1]), ("part", [2])], {2}, ""), ([("part", [2]), ("whole", [0])], set(), ""),
        ([("cheapest", [0])], set(), ", once a release, as each costs more than a minute"),
        ([("blocks", [0, 1]), ("part", [3])], {3}, ", one a block"),
    ],
)  # fmt: skip
def test_replays_that_ran_out_of_time_go_on(entries, begun, said):
    table = signed(*entries)
    rows = {row for _, some in entries for row in some}
    assert table.begun == begun and table.replayed == len(rows)
    assert table._coverage == f"replayed {len(rows)} of {len(table.provenance['seconds'])}{said}"


def test_pairs_may_cost_exactly_an_hour(monkeypatch):
    run, table = costing()
    present, cheap = cover.points(run, table), [0, 1, 2]
    monkeypatch.setattr(cover, "_greedy", lambda rows, shown, seconds, room=np.inf: [0, 1] if room == np.inf else [2])
    assert cover._covering(run, present, cheap, [1800.0, 1800.0, 0.0]) == [0, 1]
    assert cover._covering(run, present, cheap, [1800.0, 1800.1, 0.0]) == [2]


@pytest.mark.parametrize("change", [{"seconds": "1.5"}, {"threads": 1.0}, {"commit": 3}, {"cpu": None}])
def test_a_result_holds_numbers_and_not_their_texts(change, tmp_path):
    run = runs.find("rug-recipe")
    point = runs.points(run, "small")[0]
    record = {"point": point.model_dump(mode="json"), "values": {"loss": 1.0}, "seconds": 1.5, "commit": None,
              "versions": {"numpy": "2"}, "cpu": "c", "threads": 1}  # fmt: skip
    store.write(tmp_path, registry.key(run, point), record)
    assert registry.read(run, point, tmp_path)["seconds"] == 1.5
    store.write(tmp_path, registry.key(run, point), record | change)
    with pytest.raises(store.ResultError, match=f"is damaged: {next(iter(change))}: "):
        registry.read(run, point, tmp_path)


def test_where_no_table_is_stored_all_are_confirmed(monkeypatch):
    monkeypatch.setattr(tables, "is_stored", lambda name: False)
    done = CliRunner().invoke(cli.main, ["runs", "certify", "--all"])
    assert (done.exit_code, done.output) == (0, "")


@pytest.mark.parametrize(("stop", "code"), [(KeyboardInterrupt(15), 143), (KeyboardInterrupt(), 130)])
def test_an_interrupted_command_ends_with_the_number_of_its_signal(stop, code, capsys):
    with pytest.raises(SystemExit) as ended, terminal.refusals():
        raise stop
    assert ended.value.code == code
    assert capsys.readouterr().err == "\nStopped. What was finished is kept; the same command goes on from there.\n"


def test_what_is_damaged_counts_among_the_points(monkeypatch, capsys):
    found = Found(done=[1], missing=[1, 2], damaged=[1, 2, 3])
    monkeypatch.setattr(runs, "status", lambda *about: found)
    with pytest.raises(SystemExit) as ended:
        sweeps._report(runs.find("rug-recipe"), "full", "folder", Found(computed=1, failed={}))
    said = capsys.readouterr()
    assert said.out == "rug-recipe, full grid: 1 of 6 points finished, 1 of them now\n" and ended.value.code == 1
    assert said.err == "The same command computes what is missing.\n"


def test_a_bar_shows_how_much_is_done_in_all(monkeypatch):
    bars = []
    monkeypatch.setattr("tqdm.tqdm", lambda **about: bars.append(Bar(about)) or bars[-1])
    with terminal.bar("a run", unit="feature", delay=2) as progress:
        assert not bars
        for done in (2, 3):
            progress(done, 5)
            assert (bars[0].n, bars[0].total, bars[0].open) == (done, 5, True)
    [bar] = bars
    assert not bar.open
    settings = {"smoothing": 0, "mininterval": 1, "dynamic_ncols": True}
    assert bar.about == {"desc": "a run", "unit": "feature", "delay": 2} | settings


class Bar:
    """As much of a progress bar as is asked of it."""

    def __init__(self, about):
        self.about, self.n, self.total, self.open = about, 0, None, True

    def update(self, more):
        self.n += more

    def close(self):
        self.open = False
