"""What a page says of itself where it runs: its captions, and at whose parameters an output was made."""

import json
import sys
from importlib import resources
from pathlib import Path
from types import SimpleNamespace

import jupytext
import pytest
from superposition.book import parameters, running

BOOK = Path(__file__).resolve().parents[2] / "book"
PAGES = [path for path in sorted(BOOK.glob("*.md")) if "\njupytext:" in path.read_text(encoding="utf-8")[:200]]


@pytest.fixture(scope="module")
def stored():
    return json.loads(resources.files("superposition.book").joinpath(running.CAPTIONS).read_text(encoding="utf-8"))


def test_every_figure_finds_its_caption(stored):
    cells = [cell for page in PAGES for cell in jupytext.read(page).cells if cell.cell_type == "code"]
    figures = {
        running.name_of(cell.source): cell.metadata["mystnb"]["figure"]["caption"]
        for cell in cells
        if "figure" in cell.metadata.get("mystnb", {})
    }
    assert stored == figures, "run make refresh"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_stored_captions_are_those_of_their_figures(page):
    notebook = jupytext.read(page.with_suffix(".ipynb"))
    for cell in (cell for cell in notebook.cells if "figure" in cell.metadata.get("mystnb", {})):
        below = [
            output.data["text/plain"] for output in cell.outputs if output.get("metadata") == {running.KIND: "caption"}
        ]
        assert below == [cell.metadata["mystnb"]["figure"]["caption"]], "run make refresh"


def test_a_caption_follows_its_figure_wherever_a_kernel_runs_it(stored, monkeypatch):
    from IPython.testing.globalipapp import get_ipython

    shell = get_ipython()
    shown = []
    monkeypatch.setattr(running, "_print", lambda text, kind: shown.append((text, kind)))
    monkeypatch.setattr(running, "_stored", lambda file: {running.name_of("1 + 1"): "Two."})
    monkeypatch.setattr(running, "_shell", lambda: shell)
    running.show_captions()
    for cell in ("1 + 1", "1 + 2"):
        shell.run_cell(cell)
    shell.events.unregister("post_run_cell", running._below)
    assert shown == [("Two.", "caption")]


CELLS = [  # what follows from p, if the seed is the book's
    ("samples, few = par.samples, par.fewer(5, 3)", False),
    ("rng = np.random.default_rng(par.seed)\nx = rng.normal()", False),
    ("def draw():\n    return par.p", True),
    ("y = draw()\ny", True),
    ("rug = 2\nrug", False),
    ("rows = []\nrows.append(claims.check(y))", True),
    ("claims.table(*rows)", True),
    ("simulate(par)", True),
    ("not python", False),
]


@pytest.mark.parametrize("quick", [False, True])
def test_a_cell_follows_from_what_a_reader_changed_and_from_nothing_else(quick):
    marks = running.Marks(parameters.BestCodes(p=0.02, quick=quick))
    for source, follows in CELLS:
        assert marks.follow(source) == (follows or (quick and "fewer" in source)), source
    seeds = running.Marks(parameters.BestCodes(seed=3))
    assert [seeds.follow(source) for source, _ in CELLS[:4]] == [False, True, False, False]


@pytest.mark.parametrize(("p", "quick"), [(0.02, False), (0.05, True), (0.02, True)])
def test_what_is_said_of_an_output_follows_from_what_it_shows(p, quick):
    marks = running.Marks(parameters.BestCodes(p=p, quick=quick))
    marks.follows = True
    mine = ([running.YOURS] if p != 0.05 else []) + ([running.QUICK] if quick else [])
    assert [marks.said("a", "b"), marks.said("a", "a"), marks.said("", "")] == [" ".join(mine), running.SAME, ""]
    marks.follows = False
    assert marks.said("a", "b") == (running.NOT_USED if p != 0.05 else "")


def test_a_digest_sees_words_and_three_digits():
    def shown(text, **metadata):
        return {"output_type": "display_data", "data": {"text/markdown": text, "text/plain": "x"}, "metadata": metadata}

    assert running.digest([shown("a 0.12345")]) == running.digest([shown("a 0.12349")])
    assert len({running.digest([shown(text)]) for text in ("a 0.123", "a 0.124", "b 0.123")}) == 3
    assert running.digest([shown("mark", **{running.KIND: "mark"})]) == running.digest([]) == ""
    printed = {"output_type": "stream", "name": "stdout", "text": "2 of 3"}
    assert running.digest([printed]) not in ("", running.digest([printed | {"text": "3 of 3"}]))


@pytest.fixture
def watched(monkeypatch):
    """A shell that knows what the book shows in a cell, and what is printed beside its outputs."""
    from IPython.testing.globalipapp import get_ipython

    shell, lines = get_ipython(), []

    monkeypatch.setattr(running, "_print", lambda text, kind: lines.append(text))
    monkeypatch.setattr(running, "_shell", lambda: shell)
    yield shell, lines
    running.say_whose(parameters.BestCodes())
    assert not running._watching


def test_a_kernel_says_below_each_output_whose_it_is(watched, monkeypatch):
    shell, lines = watched
    book = running.digest([{"name": "stdout", "text": "5\n"}])
    stored = {running.OUTPUTS: dict.fromkeys(map(running.name_of, SOURCES), book)}
    monkeypatch.setattr(running, "_stored", lambda file: stored.get(file, {}))
    for _ in range(2):  # a reader may run a page again in the same kernel
        stdout = sys.stdout
        shell.push({"par": parameters.BestCodes(p=0.02), "running": running})
        for source in ("running.say_whose(par)", *SOURCES):
            shell.run_cell(source)
        assert sys.stdout is stdout
    assert lines == 2 * [running.SAME, running.YOURS, running.NOT_USED]


SOURCES = ("print(round(100 * par.p) + 3)", "print(par.p)", "print(6)", "par", "x = par.p")


@pytest.mark.parametrize("path", sorted(BOOK.glob("ch*.ipynb")), ids=lambda path: path.stem)
def test_every_number_of_the_book_is_found_by_the_code_that_made_it(path):
    stored = json.loads(resources.files("superposition.book").joinpath(running.NUMBERS).read_text(encoding="utf-8"))
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    said = [
        (running.name_of("".join(cell["source"])), "".join(output.get("data", {}).get("text/markdown", "")))
        for cell in cells
        for output in cell["outputs"]
    ]
    numbers = [(name, text) for name, text in said if text.startswith(running.NUMBER)]
    assert len(numbers) == 1
    assert [(name, stored.get(name)) for name, _ in numbers] == numbers, "run make refresh"


@pytest.mark.parametrize(
    ("source", "told"),
    [("print(par.p)", True), ("par.p", True), ("print(2)", False), ("2", False), ("par.p / 0", False)],
)
def test_the_number_of_the_book_stands_below_that_of_a_reader(watched, monkeypatch, source, told):
    shell, lines = watched
    stored = {running.NUMBERS: {running.name_of(source): "**The number.** Two of five."}}
    monkeypatch.setattr(running, "_stored", lambda file: stored.get(file, {}))
    running.say_whose(parameters.BestCodes(p=0.02))
    shell.push({"par": parameters.BestCodes(p=0.02)})
    shell.run_cell(source)
    assert ("**In the book,** at its parameters: Two of five." in lines) == told


def test_the_value_of_a_cell_is_an_output_of_it(monkeypatch):
    lines, value = [], {"text/plain": "5"}
    book = {running.OUTPUTS: {running.name_of("par.p"): running.digest([{"data": value}])}}
    monkeypatch.setattr(running, "_stored", lambda file: book.get(file, {}))
    monkeypatch.setattr(running, "_print", lambda text, kind: lines.append((text, kind)))
    cell = SimpleNamespace(raw_cell="par.p")
    for shown in (value, {"text/plain": "6"}):
        formatter = SimpleNamespace(format=lambda result, shown=shown: (shown, {"text/plain": "about it"}))
        marks = running.Marks(parameters.BestCodes(p=0.02), SimpleNamespace(display_formatter=formatter))
        marks.before(cell)
        marks.after(SimpleNamespace(result=5, info=cell, success=True))
    assert lines == [(running.SAME, "mark"), (running.YOURS, "mark")]
    printed = {"name": "stderr", "text": "a warning"}
    assert running.digest([{"data": value}, printed]) == running.digest([{"data": value}])


def test_what_a_cell_displays_is_kept_until_it_is_cleared(monkeypatch):
    events, hooks, lines = {}, [], []
    keeping = SimpleNamespace(register=events.__setitem__, unregister=lambda name, hook: events.pop(name))
    display_pub = SimpleNamespace(register_hook=hooks.append, unregister_hook=hooks.remove)
    marks = running.Marks(parameters.BestCodes(p=0.02), SimpleNamespace(events=keeping, display_pub=display_pub))
    marks.start()
    assert events == {"pre_run_cell": marks.before} and hooks == [marks.note]
    first, second = ({"header": {"msg_type": "display_data"}, "content": {"data": {"text/plain": n}}} for n in "12")
    status, clear = ({"header": {"msg_type": kind}, "content": {}} for kind in ("status", "clear_output"))
    monkeypatch.setattr(
        running, "_stored", lambda file: {running.name_of("par.p"): running.digest([second["content"]])}
    )
    monkeypatch.setattr(running, "_print", lambda text, kind: lines.append(text))
    cell = SimpleNamespace(raw_cell="par.p")
    for messages in ([first, clear, second, status], [second, first]):
        marks.before(cell)
        assert [marks.note(message) for message in messages] == messages
        marks.after(SimpleNamespace(result=None, info=cell, success=False))
    assert lines == [running.SAME, running.YOURS]
    stdout = sys.stdout
    marks.before(cell)
    marks.stop()
    assert sys.stdout is stdout and not events and not hooks


@pytest.mark.parametrize(
    ("last", "said"), [("", "It."), (running.SAME, "It."), (running.YOURS, f"{running.THE_BOOKS} It.")]
)
def test_a_caption_says_that_it_is_the_book_s_below_another_figure(monkeypatch, last, said):
    lines = []
    monkeypatch.setattr(running, "_watching", [SimpleNamespace(after=lambda result: None, last=last)])
    monkeypatch.setattr(running, "_stored", lambda file: {running.name_of("draw()"): "It."})
    monkeypatch.setattr(running, "_print", lambda text, kind: lines.append((text, kind)))
    for source, success in (("draw()", True), ("draw()", False), ("x", True), (None, True)):
        running._below(SimpleNamespace(info=SimpleNamespace(raw_cell=source), success=success))
    assert lines == [(said, "caption")]


def test_a_line_is_marked_as_one_of_the_page(monkeypatch):
    import IPython.display

    shown = []
    monkeypatch.setattr(IPython.display, "display", lambda *a, **how: shown.append((a, how)))
    running._print("*So.*", "mark")
    data = {"text/markdown": "*So.*", "text/plain": "*So.*"}
    assert shown == [((data,), {"raw": True, "metadata": {running.KIND: "mark"}})]


def test_digests_are_those_of_the_stored_pages():
    stored = json.loads(resources.files("superposition.book").joinpath(running.OUTPUTS).read_text(encoding="utf-8"))
    cells = [cell for page in PAGES for cell in json.loads(page.with_suffix(".ipynb").read_text())["cells"]]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    shown = {running.name_of("".join(cell["source"])): running.digest(cell["outputs"]) for cell in code}
    assert stored == {name: digest for name, digest in shown.items() if digest}, "run make refresh"


def test_at_the_defaults_nothing_is_said(monkeypatch):
    shell = type("Shell", (), {"events": None})()
    monkeypatch.setattr(running, "_shell", lambda: shell)
    running.say_whose(parameters.Bounds())  # would fail without events
