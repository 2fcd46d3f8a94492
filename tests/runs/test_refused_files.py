"""Refusals of files, of grids and of texts in their own words: a row is a call."""

import json
import re
from types import SimpleNamespace

import click.testing
import pytest
from superposition import cli, runs
from superposition.book import chapter, declarations, frame
from superposition.runs import certify, registry, store, table_files, tables

CLAIM = SimpleNamespace(id="a.b", whose="printed", verdict="holds", quote="", status="", proof="")
SAID = {"run": "toy-phase", "table_sha256": "0"}


def file_with(text, name="it.json"):
    def made(folder):
        path = folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return made


def command(*words):
    def call(_):
        found = click.testing.CliRunner().invoke(cli.main, words)
        raise ValueError(found.output)

    return call


def result(text):
    def call(folder):
        (folder / "it.json").write_text(text)
        store.read(folder, "it")

    return call


def claim(**other):
    return lambda _: declarations._check_whose(SimpleNamespace(**{**vars(CLAIM), **other}))


def table(text):
    def call(folder):
        path = file_with(text, "it.csv")(folder)
        table_files.columns_at(path, {"table_sha256": table_files.sha256(text), "seconds": [1]})

    return call


def large(folder):
    with (folder / "it").open("wb") as file:
        file.truncate(store.LARGEST + 1)
    return store.text_of(folder / "it")


def page(text):
    app = SimpleNamespace(env=SimpleNamespace(doc2path=lambda page: "book/ch1.md"))
    return lambda _: frame._frame(app, "ch1", [text])


def answered(folder):
    process = SimpleNamespace(
        stdin=SimpleNamespace(write=lambda _: None, flush=lambda: None),
        stdout=SimpleNamespace(readline=lambda: json.dumps({"from": "/elsewhere/it.py"})),
    )
    certify._answer(process, folder, "it", None, 0)


def in_another_commit(_):
    with certify._library_at("no-such-commit"):
        pass


def removed(folder):
    run = runs.find("toy-phase")
    tables._record(run, registry.points(run, "small")[0], folder)


CALLS = [
    (lambda _: chapter._numbers([True]), "not a list of numbers"),
    (lambda _: chapter._numbers("1_0"), "numbers are written with the digits 0 to 9, without separators"),
    (lambda _: chapter._numbers([10**400]), "not a list of numbers that float64 holds"),
    (claim(quote=""), "quote of a.b = ''; allowed: one if printed or asked, else none"),
    (claim(quote="q", proof="t"), "proof of a.b = 't'; allowed: the label of a theorem if proved, else none"),
    (page("---\njupytext:\n"), "is the text of a page, without its outputs and pictures; build book/ch1.ipynb"),
    (
        command("diagnose", "it.npz", "--p", "0.1", "--firing", __file__),
        "--p and --firing exclude each other: either says how often features are on",
    ),
    (
        command("runs", "start", "toy-phase", "--workers", "1", "--dask", "tcp://it"),
        "--workers and --dask exclude each other: a scheduler has its own workers",
    ),
    (in_another_commit, "commit = no-such-commit is not in this checkout: "),
    (answered, "was not used, but /elsewhere/it.py"),
    (result("{"), "it.json is damaged: truncated, or no result at all"),
    (
        result('{"record": {"key": "it"}, "checksum": "0"}'),
        "it.json is damaged: its content does not match its checksum",
    ),
    (lambda folder: store.text_of(folder), "it is no file"),
    (large, "bytes, more than the "),
    (lambda folder: store.text_of(file_with(b"\xff\xff")(folder)), "it is no text"),
    (
        lambda folder: table_files.provenance_at(file_with("{")(folder), "it"),
        f"it is no JSON that has {table_files.SEAL}",
    ),
    (
        lambda folder: table_files.columns_at(file_with("a\n1\n", "it.csv")(folder), SAID),
        "it was changed after it was collected, it.json has another table_sha256",
    ),
    (table("a,b\n1\n"), "it is no table with the same number of values in each row"),
    (table("a\n1\n2\n"), "it has 2 rows, it.json has seconds of 1"),
    (removed, "toy-phase: the result of "),
]


@pytest.mark.parametrize(("call", "words"), CALLS, ids=[words[:40] for _, words in CALLS])
def test_a_file_is_refused_in_these_words(tmp_path, call, words):
    with pytest.raises((ValueError, RuntimeError), match=re.escape(words)):
        call(tmp_path)


def test_what_provenance_says_is_sealed(tmp_path):
    stored = next(path for path in sorted(tables.folder().glob("*.json")))
    said = json.loads(stored.read_text())
    path = file_with(json.dumps(said | {table_files.SEAL: "0" * 64}))(tmp_path)
    with pytest.raises(table_files.TableError, match=f"what it says does not match its {table_files.SEAL}"):
        table_files.provenance_at(path, said["run"])
    least = "have at least 1 item"
    for name, value, words in (("seconds", "many", "be"), ("seconds", [], least), ("versions", [], least)):
        path = file_with(json.dumps(table_files.sealed(said | {name: value})))(tmp_path)
        with pytest.raises(table_files.TableError, match=f"{name}.*: (Input|List) should {words}"):
            table_files.provenance_at(path, said["run"])


def test_an_installation_without_tables_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(tables.resources, "files", lambda _: tmp_path)
    with pytest.raises(
        FileNotFoundError, match="data is no folder: this installation came without the tables of book/data; "
    ):
        tables.folder()
