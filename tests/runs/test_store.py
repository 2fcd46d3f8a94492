"""One file per point: complete, or not there at all."""

import errno
import hashlib
import re
import subprocess
import sys

import pytest
from fast_runs import FAST, swept
from superposition import runs
from superposition.runs import store


def test_result_comes_back_as_written(tmp_path):
    folder = store.prepare(tmp_path / "new")
    assert store.read(folder, "k") is None
    record = {"values": {"a": 0.1, "b": 3, "c": "text"}, "seconds": 1.5}
    store.write(folder, "k", record)
    assert store.read(folder, "k") == record
    assert sorted(path.name for path in folder.iterdir()) == ["format.json", "k.json"]
    (folder / "plain").touch()
    assert (folder / "k.json").stat().st_mode == (folder / "plain").stat().st_mode, "others cannot read it"


def test_results_are_in_a_folder_of_the_data_of_a_user(tmp_path, monkeypatch):
    monkeypatch.setattr(store.platformdirs, "user_data_path", lambda name: tmp_path / name)
    assert store.default_folder() == tmp_path / "superposition" / "results"


def test_a_folder_knows_its_results_and_clears_what_was_left_of_one(tmp_path):
    folder = tmp_path / "deep" / "results"
    assert store.keys(folder) == set() and not store.check(folder)
    assert store.prepare(folder) == store.prepare(folder) == folder and store.check(folder)
    for name in ("k.1.tmp", "other.1.tmp"):
        (folder / name).touch()
    (folder / "k.2.tmp").symlink_to(tmp_path)
    (folder / "k.3.tmp").mkdir()
    assert store.keys(folder) == set()
    store.write(folder, "k", {"values": {}})
    assert store.keys(folder) == {"k"} and tmp_path.is_dir()
    assert {path.name for path in folder.iterdir()} == {"format.json", "k.json", "k.3.tmp", "other.1.tmp"}


def test_what_is_in_the_place_of_a_result_is_put_aside(tmp_path):
    folder, kept = store.prepare(tmp_path / "results"), tmp_path / "kept.json"
    kept.write_text("precious")
    (folder / "k.json").mkdir()
    (folder / "l.json").symlink_to(kept)
    for key in "kl":
        store.write(folder, key, {"values": {}})
        assert store.read(folder, key) == {"values": {}} and not (folder / f"{key}.json").is_symlink()
    assert len(list(folder.glob("?.*.aside"))) == 2 and kept.read_text() == "precious"


def test_every_truncation_and_every_changed_digit_is_detected(tmp_path):
    folder = store.prepare(tmp_path)
    store.write(folder, "k", {"values": {"a": 0.12345, "b": 3}})
    path = folder / "k.json"
    whole = path.read_bytes()
    for length in range(len(whole) - 1):  # the last byte closes the object
        path.write_bytes(whole[:length])
        with pytest.raises(store.ResultError, match="k.json is damaged"):
            store.read(folder, "k")
    for place in [match.start() for match in re.finditer(rb"\d", whole)]:
        path.write_bytes(whole[:place] + str((int(whole[place : place + 1]) + 1) % 10).encode() + whole[place + 1 :])
        with pytest.raises(store.ResultError, match="k.json is damaged"):
            store.read(folder, "k")


def test_a_file_may_be_as_large_as_the_limit(tmp_path, monkeypatch):
    folder = store.prepare(tmp_path)
    assert store.LARGEST == 67_108_864
    store.write(folder, "k", {"values": {"a": 1}})
    size = (folder / "k.json").stat().st_size
    monkeypatch.setattr(store, "LARGEST", size)
    store.write(folder, "k", {"values": {"a": 2}})
    assert store.read(folder, "k") == {"values": {"a": 2}}
    monkeypatch.setattr(store, "LARGEST", size - 1)
    with pytest.raises(ValueError, match=f"^k.json would have {size} bytes; allowed: up to {size - 1}$"):
        store.write(folder, "k", {"values": {"a": 3}})
    with pytest.raises(store.ResultError, match=f"it has {size} bytes, more than the {size - 1} that one of ours"):
        store.read(folder, "k")


def test_a_checksum_is_that_of_the_content_in_any_order(tmp_path):
    one = store.checksum({"a": 1, "b": [2.5, "x"]})
    assert one == store.checksum({"b": [2.5, "x"], "a": 1}) != store.checksum({"b": ["x", 2.5], "a": 1})
    assert one == hashlib.sha256(b'{"a": 1, "b": [2.5, "x"]}').hexdigest()
    with pytest.raises(ValueError, match="Out of range float"):
        store.checksum({"a": float("nan")})
    store.write(store.prepare(tmp_path), "k", {"b": 1})
    said = store.checksum({"key": "k", "b": 1})
    text = f'{{\n "checksum": "{said}",\n "record": {{\n  "key": "k",\n  "b": 1\n }}\n}}'
    assert (tmp_path / "k.json").read_text() == text


@pytest.mark.parametrize(
    ("error", "said"),
    [(OSError("odd"), "odd"), (OSError(errno.EROFS, "?"), "the disk is read-only"), (OSError(5, "broken"), "broken")],
)
def test_a_disk_that_takes_nothing_says_why(tmp_path, error, said):
    with pytest.raises(store.StorageError, match=f"^cannot write to {tmp_path}: {said}; what was finished is kept"):
        with store._clear_errors(tmp_path):
            raise error


def test_binary_rubbish_and_the_result_of_another_point_are_detected(tmp_path):
    folder = store.prepare(tmp_path)
    store.write(folder, "k", {"values": {"a": 1}})
    (folder / "other.json").write_bytes((folder / "k.json").read_bytes())
    with pytest.raises(store.ResultError, match="other.json is damaged: it holds the result of another point"):
        store.read(folder, "other")
    (folder / "k.json").write_bytes(b"\xff\x00")
    with pytest.raises(store.ResultError, match="no text"):
        store.read(folder, "k")


def test_folder_of_another_version_is_refused(tmp_path):
    (tmp_path / "format.json").write_text('{"format": 7}')
    for call in (store.prepare, lambda folder: runs.status(FAST, "full", folder), lambda folder: swept(FAST, folder)):
        with pytest.raises(store.ResultError, match="has format 7, this version reads and writes 1; allowed: "):
            call(tmp_path)


def test_folder_that_holds_something_else_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(store.ResultError, match="holds other files"):
        store.prepare(tmp_path)
    with pytest.raises(store.ResultError, match="is a file; allowed: a folder"):
        store.prepare(tmp_path / "thesis.tex")
    (tmp_path / "format.json").write_text("{")
    with pytest.raises(store.ResultError, match="format.json is damaged"):
        store.prepare(tmp_path)


def test_lock_is_held_by_one_process_only(tmp_path):
    folder = store.prepare(tmp_path)
    script = (
        "import sys; from pathlib import Path; from superposition.runs import store\n"
        "with store.claim(Path(sys.argv[1]), 'k') as ours: print(ours)"
    )
    other = [sys.executable, "-c", script, str(folder)]
    with store.claim(folder, "k") as ours:
        assert ours
        assert subprocess.run(other, capture_output=True, text=True, check=True).stdout == "False\n"
    assert subprocess.run(other, capture_output=True, text=True, check=True).stdout == "True\n"


def test_a_result_under_the_name_of_another_is_refused(tmp_path):
    folder = store.prepare(tmp_path)
    store.write(folder, "one", {"values": {"x": 1.0}})
    (folder / "one.json").rename(folder / "other.json")
    with pytest.raises(store.ResultError, match="other.json is damaged: it holds the result of another point"):
        store.read(folder, "other")


def test_what_another_process_has_cleared_away_meanwhile_is_no_failure(tmp_path, monkeypatch):
    folder = store.prepare(tmp_path)
    monkeypatch.setattr(type(folder), "glob", lambda self, pattern: [self / "k.gone.tmp"])
    store.write(folder, "k", {"values": {"a": 1}})
    assert store.read(folder, "k") == {"values": {"a": 1}}


def test_a_file_that_cannot_be_made_is_the_reason_that_is_told(tmp_path, monkeypatch):
    def full(name, mode, *, encoding):
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(store, "open", full, raising=False)
    with pytest.raises(store.StorageError, match=f"cannot write to {tmp_path}: the disk is full; "):
        store.replace(tmp_path / "it.json", "{}")
