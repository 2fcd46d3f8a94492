"""Results that are damaged in any way: each is reported by its file and computed again, and nothing stops."""

import json
import os
import shutil

import pytest
from click.testing import CliRunner
from fast_runs import BROKEN, FAST, collected, swept
from superposition import cli, runs
from superposition.runs import account, store

POINT, NEIGHBOUR = runs.points(FAST, "full")[:2]
NAME = f"{runs.key(FAST, POINT)}.json"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A folder with all results of a sweep."""
    folder = tmp_path_factory.mktemp("whole") / "fast"
    swept(FAST, folder)
    return folder


@pytest.fixture
def results(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "fast")


def stored(record):
    """A file that says something else, with the right checksum."""
    return json.dumps({"checksum": store.checksum(record), "record": record})


def damaged_by_a_byte(path, values):
    """Replace each byte of a file by each of some values, in place, and put it back."""
    text = path.read_bytes()
    with path.open("r+b", buffering=0) as file:
        for place in range(len(text)):
            for value in values:
                os.pwrite(file.fileno(), bytes([value]), place)
                yield text[:place] + bytes([value]) + text[place + 1 :]
            os.pwrite(file.fileno(), text[place : place + 1], place)


@pytest.mark.thorough
def test_every_byte_replaced_by_every_other_is_reported_or_says_the_same(tmp_path):
    folder = store.prepare(tmp_path)
    record = {"values": {"a": -1.5e3, "b": True}, "text": "é"}
    store.write(folder, "k", record)
    whole, same = (folder / "k.json").read_bytes(), set()
    for text in damaged_by_a_byte(folder / "k.json", range(256)):
        try:
            assert store.read(folder, "k") == record
            same.add(text)
        except store.ResultError as error:
            assert str(error).startswith("k.json is damaged: ")
    assert all(json.loads(text) == json.loads(whole) for text in same)
    assert whole in same and len(same) < len(whole), "only white space, the case of an escape, -1500.0 as -1500e0"


@pytest.mark.parametrize("bytes_", [b'"9', b"e[", b"\x00\xff"])
def test_every_byte_of_a_result_replaced_is_reported_or_says_the_same(results, bytes_):
    before = runs.registry.read(FAST, POINT, results)
    for _ in damaged_by_a_byte(results / NAME, bytes_):
        try:
            assert runs.registry.read(FAST, POINT, results) == before
        except store.ResultError as error:
            assert str(error).startswith(f"{NAME} is damaged: ")


def dangling(path):
    path.symlink_to("nowhere")


def circle(path):
    path.symlink_to(path.name)


def link_to_a_folder(path):
    path.symlink_to(path.parent)


def folder_with_something_in_it(path):
    path.mkdir()
    (path / "thesis.tex").write_text("precious")


def neighbour(path):
    return json.loads((path.parent / f"{runs.key(FAST, NEIGHBOUR)}.json").read_text())["record"]


def other_values(**values):
    """A result of the point, with the right checksum, that says other values."""
    return lambda path: stored(neighbour(path) | {"key": path.stem, "point": POINT.model_dump(), "values": values})


def says(text):
    def write(path):
        path.write_text(text(path) if callable(text) else text)

    return write


DAMAGE = {
    "empty": says(""),
    "deep lists": says("[" * 100_000),
    "deep record": says('{"checksum": "0", "record": ' + "[" * 900 + "]" * 900 + "}"),
    "deep dicts": says('{"record":' * 100_000),
    "a list": says("[]"),
    "a list as record": says(stored([])),
    "a text as record": says(stored("record")),
    "no record": says(stored(None)),
    "a number": says("1e999"),
    "not a number": says('{"checksum": "0", "record": NaN}'),
    "too large a number": says('{"checksum": "0", "record": {"a": 1e999}}'),
    "ten thousand digits": says("9" * 10_000),
    "half a surrogate": says('{"checksum": "0", "record": "\\ud800"}'),
    "rubbish": lambda path: path.write_bytes(os.urandom(1000)),
    "a folder": lambda path: path.mkdir(),
    "a folder with something in it": folder_with_something_in_it,
    "dangling link": dangling,
    "link to itself": circle,
    "link to a folder": link_to_a_folder,
    "record of another point": says(lambda path: stored(neighbour(path))),
    "record of another point under this key": says(lambda path: stored(neighbour(path) | {"key": path.stem})),
    "record without values": says(lambda path: stored({"key": path.stem, "point": POINT.model_dump()})),
    "a pipe": os.mkfifo,
    "three gigabytes": lambda path: (path.touch(), os.truncate(path, 3 * 2**30)),
    "no values": says(other_values()),
    "a value of another name": says(other_values(worth=1.0)),
    "a value more": says(other_values(value=1.0, worth=1.0)),
    "a text for a number": says(other_values(value="1.0")),
    "a truth value for a number": says(other_values(value=True)),
    "a value that no table has": says(other_values(value=[1.0])),
    "values that are a list": says(lambda path: stored(neighbour(path) | {"key": path.stem, "values": [1]})),
}


# A third of them in `make test`
DAMAGES = [
    pytest.param(damage, id=name, marks=pytest.mark.thorough if number % 3 else ())
    for number, (name, damage) in enumerate(DAMAGE.items())
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_reported_by_file_and_redone(results, undisturbed, damage):
    (results / NAME).unlink()
    damage(results / NAME)
    found = runs.status(FAST, "full", results)
    assert len(found.done) == 99 and list(found.damaged) == [POINT]
    assert found.damaged[POINT].startswith(f"{NAME} is damaged: ") and "\n" not in found.damaged[POINT]
    with pytest.raises(ValueError, match="fast is not finished: 0 of 100 points are missing, 1 damaged"):
        collected(results, results.parent)
    assert swept(FAST, results).computed == 1
    assert collected(results, results.parent) == undisturbed
    assert not list(results.parent.rglob("*.tex")) or list(results.glob("*.aside/thesis.tex")), "a file is lost"


def test_what_a_result_of_other_columns_lacks_and_has_is_told(results):
    (results / NAME).write_text(other_values(**{"worth\x1b]0;": "1"})(results / NAME))
    said = runs.status(FAST, "full", results).damaged[POINT]
    assert said == f"{NAME} is damaged: unlike most results it lacks the number value, has the text worth\\x1b]0;"


@pytest.mark.parametrize("ending", [".lock", ".x.tmp", ".json"])
@pytest.mark.parametrize("make", [folder_with_something_in_it, dangling, circle, link_to_a_folder, os.mkfifo])
def test_odd_things_beside_a_result_stop_no_sweep(results, undisturbed, make, ending):
    (results / NAME).unlink()
    (results / NAME).with_suffix(".lock").unlink(missing_ok=True)
    make((results / NAME).with_suffix(ending))
    assert swept(FAST, results).computed == 1
    assert collected(results, results.parent) == undisturbed
    assert make is not folder_with_something_in_it or list(results.rglob("thesis.tex")), "a file is lost"


def test_a_lock_that_links_to_a_file_leaves_that_file_alone(results):
    (results / "thesis.tex").write_text("precious")
    lock = (results / NAME).with_suffix(".lock")
    lock.unlink(missing_ok=True)
    lock.symlink_to("thesis.tex")
    with store.claim(results, lock.stem) as ours:
        assert ours and not lock.is_symlink()
    assert (results / "thesis.tex").read_text() == "precious"


def test_a_folder_whose_results_were_removed_is_used_again(results, undisturbed):
    for path in results.glob("*.json"):
        path.unlink()
    (results / "left.aside").touch()
    assert list(results.glob("*.lock")), "nothing is left to be met"
    assert swept(FAST, results).computed == 100
    assert collected(results, results.parent) == undisturbed


def test_a_result_that_could_not_be_read_again_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "LARGEST", 1000)
    folder = store.prepare(tmp_path)
    with pytest.raises(ValueError, match=r"^k.json would have \d+ bytes; allowed: up to 1000$"):
        store.write(folder, "k", {"text": "x" * 1000})
    assert store.read(folder, "k") is None


def test_commands_go_on_after_damage_of_every_kind(results, monkeypatch):
    for run in (FAST, BROKEN):
        monkeypatch.setitem(runs.RUNS, run.name, run)
    names = [f"{runs.key(FAST, point)}.json" for point in runs.points(FAST, "full")[2:]]
    for name, damage in zip(names, DAMAGE.values(), strict=False):
        (results / name).unlink()
        damage(results / name)

    def call(*arguments):
        return CliRunner().invoke(cli.main, ["runs", *arguments, "--results", str(results.parent)])

    said = call("status", "fast").output
    assert f"results of {100 - len(DAMAGE)} of 100 points" in said and f"{len(DAMAGE)} damaged" in said
    assert all(f": {name} is damaged: " in said for name in names[: len(DAMAGE)])
    refused = call("collect", "fast")
    assert refused.exit_code == 2 and f"{len(DAMAGE)} damaged; to finish: " in refused.stderr
    done = call("start", "fast", "--workers", "1")
    assert done.exit_code == 0 and done.stderr.count("damaged, computed again: ") == len(DAMAGE)
    assert f"100 of 100 points finished, {len(DAMAGE)} of them now" in done.stdout


@pytest.mark.parametrize("text", ["", "[]", "7", "null", "[" * 100_000, "\ud800".encode("utf-8", "surrogatepass")])
def test_damaged_mark_of_a_folder_is_refused_by_file(tmp_path, text):
    (tmp_path / "format.json").write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(store.ResultError, match=r"format.json is damaged; allowed: \{"):
        store.check(tmp_path)


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), dangling, circle, link_to_a_folder, os.mkfifo])
def test_mark_that_is_no_file_is_refused_by_name(tmp_path, make):
    make(tmp_path / "format.json")
    with pytest.raises(store.ResultError, match=r"format.json is damaged; allowed: \{"):
        store.check(tmp_path)


def test_what_is_done_missing_and_damaged_make_up_the_grid(results):
    (results / NAME).write_text("cut")
    (results / f"{runs.key(FAST, NEIGHBOUR)}.json").unlink()
    total = len(runs.points(FAST, "full"))
    said, damaged = account.of_results(FAST, "full", results)
    assert f"results of {total - 2} of {total} points" in said and said.endswith("1 damaged")
    assert damaged.startswith("damaged: ") and NAME in damaged
