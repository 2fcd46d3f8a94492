"""Every file of the stored tables, damaged in every way: it is named first, and the other tables go on."""

import json
import os
import re
import shutil

import numpy as np
import pytest
from click.testing import CliRunner
from fast_runs import FAST, ROOT, swept
from superposition import cli, runs, weights
from superposition.runs import certify, table_files, tables

DATA = ROOT / "book" / "data"
NAMES = sorted(path.stem for path in DATA.glob("*.csv"))
FILES = [f"{name}{ending}" for name in NAMES for ending in (".csv", ".json")]


def says(text):
    return lambda path: path.write_bytes(text if isinstance(text, bytes) else text.encode())


def changed(change):
    """Damage that makes other bytes of those that are there."""
    return lambda path: path.write_bytes(change(path.read_bytes()))


def flipped(share, bit):
    """One bit of one byte, at a share of the file, is another; of the next byte at an e, as 1E-8 is the same number."""

    def change(text):
        place = int(share * (len(text) - 1))
        place += text[place : place + 1] == b"e"
        return text[:place] + bytes([text[place] ^ 1 << bit]) + text[place + 1 :]

    return changed(change)


def another_digit(text):
    """The last digit of the file, which is one of a value or of a time, is another."""
    place = [match.start() for match in re.finditer(rb"\d", text)][-1]
    return text[:place] + (b"4" if text[place : place + 1] != b"4" else b"5") + text[place + 1 :]


def instead(make):
    """Damage that puts something else in the place of a file."""

    def damage(path):
        path.unlink()
        make(path)

    return damage


def sparse(path):
    path.write_bytes(b"")
    os.truncate(path, 3 * 2**30)


def of_another_table(path):
    others = (other for other in sorted(DATA.rglob(f"*{path.suffix}")) if other.stem != path.stem)
    shutil.copy(next(others, DATA / "rug-rate.csv"), path)


def of_the_other_kind(path):
    shutil.copy(DATA / f"rug-rate{'.json' if path.suffix == '.csv' else '.csv'}", path)


KINDS = {
    **{f"bit {bit} at {share:.0%}": flipped(share, bit) for share, bit in ((0, 0), (0.2, 6), (0.5, 7), (0.9, 5))},
    "another digit": changed(another_digit),
    "empty": says(""),
    "half of it": changed(lambda text: text[: len(text) // 2]),
    "without its last line": changed(lambda text: b"".join(text.splitlines(keepends=True)[:-1])),
    "its first line alone": changed(lambda text: text.splitlines(keepends=True)[0]),
    "one line more": changed(lambda text: text + text.splitlines(keepends=True)[-1]),
    "one value less": changed(lambda text: text.replace(b",", b"", 1)),
    "braces": says("{}"),
    "brackets": says("[]"),
    "null": says("null"),
    "not a number": says("NaN"),
    "a text": says('"table"'),
    "too large a number": says("1e999"),
    "ten thousand digits": says("9" * 10_000),
    "deep lists": says("[" * 100_000),
    "deep lists that end": says("[" * 900 + "]" * 900),
    "deep dicts": says('{"run":' * 100_000),
    "half a surrogate": says('{"provenance_sha256": "\\ud800"}'),
    "a field too long": says("a" * 200_000 + ",b\n1,2\n"),
    "no text": says(b"\xff\x00" * 500),
    "a byte order mark": changed(lambda text: b"\xef\xbb\xbf" + text),
    "another table's": of_another_table,
    "the other kind's": of_the_other_kind,
    "nothing": instead(lambda path: None),
    "a folder": instead(lambda path: path.mkdir()),
    "a pipe": instead(os.mkfifo),
    "a link to nowhere": instead(lambda path: path.symlink_to("nowhere")),
    "a link to itself": instead(lambda path: path.symlink_to(path.name)),
    "a link to a folder": instead(lambda path: path.symlink_to("..")),
    "three gigabytes": sparse,
}


def put_back(path):
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    path.unlink(missing_ok=True)
    shutil.copy(DATA / path.name, path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return shutil.copytree(DATA, tmp_path_factory.mktemp("tables") / "data")


@pytest.mark.thorough
@pytest.mark.parametrize("damage", KINDS.values(), ids=KINDS)
def test_every_damaged_file_of_a_table_is_named_first(folder, damage):
    for file in FILES:
        damage(folder / file)
        with pytest.raises(table_files.TableError) as refusal:
            tables.load((folder / file).stem, where=folder)
        said = str(refusal.value)
        assert said.startswith((f"{folder / file} is damaged: ", f"{folder / file} is about ")), said
        assert "; to have it back: git checkout " in said and "\n" not in said and len(said) < 400
        put_back(folder / file)


def test_white_space_of_a_provenance_is_no_damage(folder):
    path = folder / "rug-rate.json"
    path.write_text(json.dumps(json.loads(path.read_text())))
    assert len(tables.load("rug-rate", where=folder).columns["p"]) == 36
    put_back(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda said: {"run": said["run"]}, "function: Field required"),
        (lambda said: {**said, "seconds": said["seconds"][1:]}, "it has 36 rows, rug-rate.json has seconds of 35"),
        (lambda said: {**said, "seconds": "9"}, "seconds: Input should be a valid list"),
        (lambda said: {**said, "seconds_total": "9"}, "seconds_total: Input should be a valid number"),
        (lambda said: {**said, "seconds": []}, "seconds: List should have at least 1 item"),
        (lambda said: {**said, "versions": []}, "versions: List should have at least 1 item"),
        (lambda said: {**said, "certified": [{}, "\x1b]0;"]}, r"certified.1: Input should be"),
        (lambda said: {**said, "run": "rug-\x1bgrid"}, r"it is about another run, 'rug-\x1bgrid'"),
    ],
)
def test_provenance_with_the_right_checksum_and_other_fields_is_named(folder, change, said):
    path = folder / "rug-rate.json"
    tables.write_provenance(path, change(json.loads(path.read_text())))
    with pytest.raises(table_files.TableError, match=re.escape(said)) as refusal:
        tables.load("rug-rate", where=folder)
    assert "\x1b" not in str(refusal.value)
    put_back(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text + "1,2\n",
        lambda text: text[:-1] + ",9\n",
        lambda text: "more," + text,
        lambda text: text.partition(",")[2],
    ],
)
def test_table_with_the_right_checksum_and_ragged_rows_is_named(folder, change):
    path, said = folder / "rug-rate.csv", folder / "rug-rate.json"
    path.write_text(change(path.read_text()))
    digest = table_files.sha256(path.read_text())
    tables.write_provenance(said, {**json.loads(said.read_text()), "table_sha256": digest})
    with pytest.raises(table_files.TableError, match="rug-rate.csv is damaged: it is no table with the same number"):
        tables.load("rug-rate", where=folder)
    for one in (path, said):
        put_back(one)


@pytest.fixture
def all_damaged(folder, monkeypatch):
    """Each kind of damage, done to a table of its own, in turn to the one file and to the other."""
    hurt = [folder / f"{name}{'.csv' if i % 2 else '.json'}" for i, name in enumerate(NAMES[: len(KINDS)])]
    for path, damage in zip(hurt, KINDS.values(), strict=True):
        damage(path)
    monkeypatch.setattr(tables, "folder", lambda: folder)
    yield hurt
    for path in hurt:
        put_back(path)


def call(*arguments):
    return CliRunner().invoke(cli.main, ["runs", *map(str, arguments)])


def named(stderr):
    """The files that refusals begin with."""
    return {line.removeprefix("Error: ").split(" is ")[0] for line in stderr.splitlines()}


def test_status_of_all_runs_names_the_damaged_ones_and_tells_the_others(all_damaged, tmp_path):
    done = call("status", "--results", tmp_path)
    assert done.exit_code == 2
    assert named(done.stderr) == {str(path) for path in all_damaged}
    told = re.findall(r"The stored table of (\S+) has \d+ points", done.stdout)
    assert sorted(told) == NAMES[len(KINDS) :]
    assert done.stdout.count(", full grid: results of 0 of ") == len(runs.RUNS)


def test_status_of_a_damaged_table_goes_on_to_the_results(all_damaged, tmp_path):
    for path in all_damaged:
        done = call("status", path.stem, "--results", tmp_path)
        assert done.exit_code == 2 and done.stderr.startswith(f"Error: {path} is ")
        assert done.stdout.startswith(f"{path.stem}, full grid: results of 0 of ")


def test_certify_of_all_tables_names_the_damaged_ones_and_goes_on(all_damaged, monkeypatch):
    monkeypatch.setattr(certify.cover, "choose", lambda *_, **__: certify.cover.Choice("cover", (), (), ()))
    monkeypatch.setattr(certify, "_done", lambda work, *_: certify.Report(work.run.name))  # without its replays
    done = call("certify", "--all")
    assert done.exit_code == 2
    assert named(done.stderr) == {str(path) for path in all_damaged}
    assert sorted(line.split(": replayed")[0] for line in done.stdout.splitlines()) == NAMES[len(KINDS) :]


def test_certify_of_a_damaged_table_names_it(all_damaged):
    for path in all_damaged:
        done = call("certify", path.stem)
        assert done.exit_code == 2 and done.stderr.startswith(f"Error: {path} is "), "valid by its fingerprint"


# A fifth of them in `make test`
TRIED = [
    pytest.param(damage, id=name, marks=pytest.mark.thorough if number % 5 else ())
    for number, (name, damage) in enumerate(KINDS.items())
]


@pytest.mark.parametrize("ending", [".csv", ".json"])
@pytest.mark.parametrize("damage", TRIED)
def test_collect_puts_a_whole_table_in_the_place_of_a_damaged_one(results, tmp_path, damage, ending):
    path = tables.collect(FAST, "full", results, tmp_path)
    whole = path.read_bytes()
    damage(path.with_suffix(ending))
    assert tables.collect(FAST, "full", results, tmp_path).read_bytes() == whole
    assert tables.load("fast", run=FAST, where=tmp_path).note == ""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results") / "fast"
    swept(FAST, folder)
    return folder


RECORDS = sorted((DATA / "records").iterdir())


@pytest.mark.thorough
@pytest.mark.parametrize("damage", KINDS.values(), ids=KINDS)
def test_damaged_records_are_refused_by_name_or_say_something_else(tmp_path, damage):
    for record in RECORDS[:1] if damage is sparse else RECORDS:  # a file is read whole
        path = tmp_path / record.name
        shutil.copy(record, path)
        damage(path)
        try:
            found, whole = weights.load(path), weights.load(record)
            same = all(np.array_equal(found[name], whole[name]) for name in whole)
            assert same == (path.read_bytes() == record.read_bytes())
        except ValueError as refusal:
            assert str(refusal).startswith(f"path = {path} ") or "out of range" in str(refusal)
