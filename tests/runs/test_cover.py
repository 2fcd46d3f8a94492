"""The choice of points covers each pair of values that a cheap point has: faults that are tied to a pair are found."""

import itertools
import random
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sampled import sampled
from superposition import runs
from superposition.runs import certify, cover, tables
from together import together

FIVE = ("rug-recipe", "polysemantic-descent", "gated-marginals", "rug-price", "noise-figures")
FAULTS = 12
THOROUGH = [pytest.param(name, marks=pytest.mark.thorough) for name in ("gated-marginals", "rug-price")]


def table(name, **change):
    found = tables.read(runs.find(name))
    return replace(found, provenance={**found.provenance, **change})


def faults(name):
    """Twelve masks of a third of a table's points, tied to a value, a range or a text."""
    stored, run, found = table(name), runs.find(name), {}
    for field in run.point.model_fields:
        column = stored.columns[field]
        for value in np.unique(column):
            ways = {"is": column == value, "is not": column != value}
            if column.dtype.kind in "if":
                ways |= {"below": column < value, "from": column >= value}
                ways |= {f"up to {top} from": (column >= value) & (column <= top) for top in np.unique(column)}
            found |= {f"{field} {way} {value}": mask for way, mask in ways.items() if 0.2 <= mask.mean() <= 0.45}
    different = {mask.tobytes(): (said, mask) for said, mask in found.items()}
    return random.Random(1).sample(sorted(different.values(), key=lambda pair: pair[0]), min(FAULTS, len(different)))


def with_answers(monkeypatch, name, mask, wrong):
    """Let today's code give what a table holds, but something else in some of the rows; the table is stale."""
    run, stored = runs.find(name), table(name, library_digest="0" * 16)
    rows = {point: row for row, point in enumerate(cover.points(run, stored))}
    names = [column for column in stored.stored if column not in run.point.model_fields]

    def ask(commit, _, fields, side=0):
        if fields is None:
            return {"digest": "0" * 16}
        row = rows[run.point(**fields)]
        values = {column: stored.columns[column][row].item() for column in names}
        if mask[row] and commit is None:
            values = {column: wrong(value) for column, value in values.items()}
        return {"values": values}

    @contextmanager
    def codes():
        yield ask

    monkeypatch.setattr(tables, "read", lambda *_: stored)
    monkeypatch.setattr(certify, "_codes", codes)
    return run


def off(value):
    return value if isinstance(value, str) else 1.2 * value + 0.1


@pytest.mark.thorough
@pytest.mark.parametrize("name", [*sampled(["rug-recipe", "polysemantic-descent", "noise-figures"]), *THOROUGH])
def test_faults_in_a_third_of_the_points_are_refused(name, monkeypatch):
    monkeypatch.setattr(tables, "sign", lambda *_: pytest.fail("a fault was signed"))
    tried = faults(name)
    assert len(tried) == FAULTS
    for said, mask in tried:
        run = with_answers(monkeypatch, name, mask, off)
        (report,) = certify.certify([run], minutes=1e6)
        assert (report.differing or report.refused) and not report.signed, said  # refused: no theory has such sizes
        monkeypatch.undo()
        monkeypatch.setattr(tables, "sign", lambda *_: pytest.fail("a fault was signed"))


PAIRED = ("rug-ladder", "rug-ladder-antipodal", "toy-phase", "rug-seeds")


def pairs(name):
    """Masks of the points with two values together, three drawn by lot; each value alone has other points as well."""
    stored, run, found = table(name), runs.find(name), {}
    for one, other in itertools.combinations(run.point.model_fields, 2):
        first, second = stored.columns[one], stored.columns[other]
        for value, another in itertools.product(np.unique(first), np.unique(second)):
            mask = (first == value) & (second == another)
            if 0 < mask.sum() < min((first == value).sum(), (second == another).sum()):
                found[f"{one}={value} and {other}={another}"] = mask
    return [(words, found[words]) for words in random.Random(2).sample(sorted(found), 3)]


@pytest.mark.thorough
@pytest.mark.parametrize("name", sampled(PAIRED, kept=2))
def test_faults_that_are_tied_to_a_pair_are_refused(name, monkeypatch):
    monkeypatch.setattr(tables, "sign", lambda *_: pytest.fail("a fault was signed"))
    for words, mask in pairs(name):
        run = with_answers(monkeypatch, name, mask, lambda value: value if isinstance(value, str) else 1.1 * value)
        (report,) = certify.certify([run], minutes=1e6)
        assert report.differing and not report.signed and report.exit_code == 3, words


def test_the_pair_that_a_cover_of_values_missed_is_refused(monkeypatch):
    monkeypatch.setattr(tables, "sign", lambda *_: pytest.fail("a fault was signed"))
    columns = table("rug-ladder").columns
    mask = (columns["p"] == 0.05) & (columns["seed"] == 0)
    run = with_answers(monkeypatch, "rug-ladder", mask, lambda value: 1.1 * value)
    (report,) = certify.certify([run], minutes=1e6)
    assert len(report.differing) == mask.sum() == 4 and "NOT signed" in str(report)


def test_the_three_cheapest_points_would_miss_a_third_of_these_faults():
    missed = 0
    for name in FIVE:
        cheapest = np.argsort(table(name).provenance["seconds"])[:3]
        missed += sum(not mask[cheapest].any() for _, mask in faults(name))
    assert missed > 20


@pytest.mark.parametrize("name", FIVE)
def test_without_a_fault_the_same_points_are_signed(name, monkeypatch):
    signed = []
    monkeypatch.setattr(tables, "sign", lambda said, dropped: signed.append(said["certified"][-1]))
    run = with_answers(monkeypatch, name, np.zeros(len(table(name).provenance["seconds"]), bool), off)
    (report,) = certify.certify([run], minutes=1e6)
    assert report.signed and report.as_stored == len(report.replayed) == len(signed[0]["rows"]) > 2
    assert (
        signed[0]["rule"] == ("whole" if name == "rug-price" else "pairs")
        and signed[0]["distances"] == {}
        and report.commit == ""
    )


@together("name", sorted(name for name in runs.RUNS if tables.is_stored(name)))
def test_needed_points_cover_all_pairs_of_cheap_points(name):
    run, stored = runs.find(name), table(name)
    on_cpu = stored.columns.get("device", np.full(len(stored.provenance["seconds"]), "cpu")) == "cpu"
    seconds, points = np.where(on_cpu, stored.provenance["seconds"], np.inf), cover.points(run, stored)
    chosen = cover.choose(run, stored)
    if min(seconds) > cover.LONG:
        least = min(seconds if on_cpu.any() else stored.provenance["seconds"])
        assert chosen.rule == "cheapest" and [stored.provenance["seconds"][row] for row in chosen.needed] == [least]
        assert chosen.more == ()
        return
    cheap = [dict(point) for point, cost in zip(points, seconds, strict=True) if cost <= cover.LONG]
    met = [dict(points[row]) for row in chosen.needed]
    assert all(seconds[row] <= cover.LONG for row in chosen.needed + chosen.more)
    assert chosen.rule == ("whole" if sum(seconds[seconds <= cover.LONG]) <= cover.WHOLE else "pairs")
    assert chosen.rule == "pairs" or len(met) == len(cheap)
    for one, other in itertools.combinations(run.point.model_fields, 2):
        assert {(point[one], point[other]) for point in met} == {(point[one], point[other]) for point in cheap}
    assert sum(seconds[row] for row in chosen.needed) <= cover.PAIRS
    for field in run.point.model_fields:
        assert {point[field] for point in met} == {point[field] for point in cheap}
    for block in run.full:
        inside = [[all(p[f] in values for f, values in block.items()) for p in some] for some in (met, cheap)]
        assert any(inside[0]) == any(inside[1])
    assert len(chosen.needed) > 1 or len(cheap) == 1
    assert not set(chosen.more) & set(chosen.needed)
    assert len(chosen.needed + chosen.more) > 2 or len(cheap) <= 2


def test_where_pairs_cost_too_much_values_come_first_and_what_is_left_is_named(monkeypatch):
    run, stored = runs.find("rug-grid"), table("rug-grid")
    monkeypatch.setattr(cover, "PAIRS", 300.0)
    chosen, seconds = cover.choose(run, stored), stored.provenance["seconds"]
    assert 250 < sum(seconds[row] for row in chosen.needed) <= 300
    points = [dict(cover.points(run, stored)[row]) for row in chosen.needed]
    values = {field: {point[field] for point in points} for field in run.point.model_fields}
    assert all(values[field] == set(stored.columns[field].tolist()) for field in ("p", "r"))
    lacking = [one for one in chosen.unreached if "pairs of" in one]
    met = {(point["p"], point["r"]) for point in points}
    asked = {(point.p, point.r) for point in runs.points(run, "full")}
    assert f"{len(asked - met)} of {len(asked)} pairs of p and r" in lacking


def test_what_has_no_cheap_point_is_named():
    chosen = cover.choose(runs.find("rug-sizes-recipe"), table("rug-sizes-recipe"))
    sizes = {f"ns={size}" for size in (512, 1024, 2048, 4096, 8192)}  # an accelerator's
    assert set(chosen.unreached) == {"block 2 of 3", "block 3 of 3", *sizes}


@pytest.mark.parametrize(("name", "count"), [("rug-price", 10), ("rug-rate", 2), ("noise-million", 1)])
def test_one_point_a_block_but_never_one_of_several_alone(name, count):
    chosen = cover.choose(runs.find(name), table(name), blocks_only=True)
    assert len(chosen.needed) == count and chosen.more == ()
    assert chosen.rule == ("cheapest" if name == "noise-million" else "blocks")
    assert all(one.startswith("block ") for one in chosen.unreached) or name == "noise-million"


@pytest.mark.thorough
def test_others_are_new_at_each_signing_until_all_points_were_replayed():
    run, entries, seen = runs.find("rug-grid"), [], Counter()
    total = sum(cost <= cover.LONG for cost in cover._seconds_here(table("rug-grid")))
    for _ in range(100):
        chosen = cover.choose(run, table("rug-grid", certified=entries))
        entries = [*entries, {"rows": [*chosen.needed, *chosen.more]}]
        seen.update(chosen.more)
        if len(seen) == total - len(chosen.needed):
            break
    assert set(seen.values()) == {1} and len(entries) > 5  # none twice before each was there once


@pytest.mark.parametrize("dropped", [(), ("first_wins", "dead")])
def test_a_signed_table_loses_what_is_no_longer_computed(dropped, monkeypatch, tmp_path):
    source = tables.folder()
    for ending in (".csv", ".json"):
        (tmp_path / f"polysemantic-flow{ending}").write_bytes((source / f"polysemantic-flow{ending}").read_bytes())
    monkeypatch.setattr(tables, "folder", lambda: tmp_path)
    before, read = tables.read(runs.find("polysemantic-flow")), Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda path, encoding: read(path, encoding))  # never that of the system
    tables.sign({**before.provenance, "certified": []}, dropped)
    after = tables.read(runs.find("polysemantic-flow"))
    assert b"\r" not in (tmp_path / "polysemantic-flow.csv").read_bytes()
    assert list(after.columns) == [name for name in before.columns if name not in dropped]
    assert after.note == "" and all((after.columns[name] == before.columns[name]).all() for name in after.columns)
    assert ((tmp_path / "polysemantic-flow.csv").read_bytes() == (source / "polysemantic-flow.csv").read_bytes()) == (
        not dropped
    )


def test_a_column_that_is_dropped_is_told_and_the_others_must_agree(monkeypatch):
    signed = []
    monkeypatch.setattr(tables, "sign", lambda said, dropped: signed.append((said["certified"][-1], dropped)))
    run = with_answers(monkeypatch, "rug-records", np.zeros(9, bool), off)
    with certify._codes() as ask:
        kept = ask

    def ask(commit, name, fields, side=0):
        answer = kept(commit, name, fields, side)
        answer.get("values", {}).pop("loss_se", None)
        return answer

    @contextmanager
    def codes():
        yield ask

    monkeypatch.setattr(certify, "_codes", codes)
    (report,) = certify.certify([run], minutes=1e6)
    assert report.signed and report.dropped == ("loss_se",) == signed[0][1] == signed[0][0]["dropped"]
    assert "no longer computed, taken out when signed: loss_se" in str(report)
