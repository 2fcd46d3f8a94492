"""The frame of a page: what its first screen holds, how folds are named, and that nothing of a notebook is lost."""

import json
import re
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from superposition.book import declarations, frame, rows

BOOK = Path(__file__).resolve().parents[2] / "book"
PAGES = sorted(BOOK.glob("*.ipynb"))
CHAPTERS = [path for path in PAGES if path.stem.startswith("ch")]

ORIGIN = "Table `noise-rate`: 7 points, 0.1 hours of work, on cpu. It matches the current configuration of its run."
AGREES = rows.Row("rug.eq5", "p = 0.1", "completed", "equals", (1.0,), (1.02,), (0.1,), (), "confirmed", 0.1)


def words(source):
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def code(source="1", *tags, says="", figure="", checks=(), prompt=""):
    shown = {"code_prompt_show": prompt} if prompt else {}
    shown |= {"figure": {"name": figure, "caption": "A caption."}, "image": {"alt": "lines"}} if figure else {}
    data = {"text/plain": "1"} | ({"text/markdown": says} if says else {})
    data |= {rows.RECORD_TYPE: {"rows": [asdict(row) for row in checks]}} if checks else {}
    outputs = [{"output_type": "display_data", "data": data, "metadata": {}}] if says or figure or checks else []
    return {
        "cell_type": "code",
        "metadata": {"tags": list(tags), "mystnb": shown},
        "source": source,
        "outputs": outputs,
    }


PAGE = [
    words("# Title\n\n## In one minute\n\n**Question.** Why?\n\n**Answer.** So."),
    code("p = 1", "parameters"),
    code("check", "hide-cell"),
    code("draw", "hide-input", figure="fig-one"),
    code("say", "hide-input", says="**The number.** 2"),
    words("Then."),
]


def order(cells):
    return [cell["source"] if cell["cell_type"] == "code" else cell["source"].split("\n")[0] for cell in cells]


def test_number_and_picture_come_before_one_bar_of_parameters_and_code():
    shown = frame.framed(PAGE)
    bar = '<details class="plumbing"><summary>Parameters and code</summary>'
    assert order(shown) == ["# Title", "say", "draw", bar, "p = 1", "check", "</details>", "Then."]
    assert [cell["metadata"]["tags"] for cell in shown if cell["source"] in ("p = 1", "check")] == [["parameters"], []]
    assert '<p class="minutes">1 minute</p>' in shown[0]["source"]


def test_all_that_stands_before_the_code_stays_before_it_with_the_minutes_below_the_title():
    long = words("And " * 500)
    shown = frame.framed([PAGE[0], words("More."), long, *PAGE[1:]])
    assert [cell["source"] for cell in shown[1:4]] == ["More.", long["source"], "say"]
    title, _, text = PAGE[0]["source"].partition("\n")
    assert shown[0]["source"] == f'{title}\n\n<p class="minutes">2 minutes</p>\n{text}'


def test_a_minute_is_of_220_words_that_a_reader_sees():
    hidden = " no" * 400
    program, formula, table = f"```\n{hidden}\n```", f"$${hidden}$$", f"| {hidden} |\n<p {hidden}\n"
    figure = code("draw", figure="fig-one", says=f"{table}{'said ' * 20}\n| {hidden} |")
    unread = [code("check", "hide-cell", says=hidden, figure="fig-two"), code(hidden)]
    for seen, minutes in ((305, 2), (304, 1)):  # with $a + b$, [this], a caption of two words and 20 that are said: 330
        text = f"{program}\n\n{formula} {'word ' * seen}$a + b$ [this]({hidden}) <i {hidden}>it</i>"
        assert frame.minutes([words(text), figure, *unread]) == minutes
    assert frame.minutes([]) == 1


def test_a_slider_is_the_picture_and_leaves_a_link():
    slider = '<div class="slider" data-slider="fan">\n\n![A fan](fan.svg)\n\n</div>'
    shown = frame.framed([*PAGE, words(f"Turn it.\n\n{slider}\n\nAnd so on.")])
    assert order(shown)[:3] == ["# Title", "say", '<div class="slider hero" data-slider="fan">']
    assert shown[-1]["source"] == f"Turn it.\n\n{frame.MOVED}\n\nAnd so on."


def test_a_folded_check_says_what_it_found():
    shown = frame.framed([code("go", "hide-cell", checks=[AGREES, AGREES], prompt="Check: the loss")])
    assert order(shown)[1:] == ["go", "</details>"] and shown[1]["metadata"]["tags"] == ["hide-input"]
    title = re.sub("<[^>]*>", "|", shown[0]["source"]).replace("\u00a0", " ")
    assert "The loss" in title and "measured 1.02, predicted 1 (p = 0.1) · |completed| · 2 checks" in title


def test_where_tables_come_from_is_a_footnote_of_the_nearest_figure():
    page = [code("draw", figure="fig-one"), code("say", "hide-input", says=f"So.\n\n{ORIGIN}"), words("Then.")]
    shown = frame.framed(page)
    note = '<details class="origin"><summary>Data: noise-rate (7 points)</summary>'
    assert order(shown) == ["draw", note, ORIGIN, "</details>", "say", "Then."]
    assert shown[4]["outputs"][0]["data"]["text/markdown"] == "So."
    two = code("say", says=ORIGIN)
    two["outputs"] += code("more", says="A table.")["outputs"]
    assert [one["data"]["text/markdown"] for one in frame.framed([page[0], two])[-1]["outputs"]] == ["A table."]
    old = frame.framed([page[0], code("say", says=ORIGIN + " **Not current:** older.")])
    assert "(7 points), not current</summary>" in old[1]["source"] and old[-1]["outputs"] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_nothing_is_lost_but_the_order(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    shown = frame.framed(cells)
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert sorted(cell["source"] for cell in shown if cell["cell_type"] == "code") == sorted(sources)
    every = "".join(cell["source"] for cell in shown if cell["cell_type"] == "markdown")
    assert every.count("<details") == every.count("</details>")
    before = [row for cell in cells for output in cell.get("outputs", []) for row in rows.restored(output)]
    after = [row for cell in shown for output in cell.get("outputs", []) for row in rows.restored(output)]
    assert sorted(map(repr, before)) == sorted(map(repr, after))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_chapter_has_a_first_screen(path):
    shown = frame.framed(json.loads(path.read_text(encoding="utf-8"))["cells"])
    first = [cell for cell in shown if cell["cell_type"] == "code"][:2]
    assert "the-number" in first[0]["metadata"]["tags"]
    assert "hero" in first[1]["metadata"]["tags"] or any("slider hero" in cell["source"] for cell in shown[:4])
    assert "Show code" not in json.dumps(shown) and shown[-1]["source"] != ""


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_fold_says_what_is_in_it(path):
    shown = frame.framed(json.loads(path.read_text(encoding="utf-8"))["cells"])
    titles = [found for cell in shown for found in re.findall(r"<summary>(.*?)</summary>", cell["source"])]
    plain = [re.sub("<[^>]*>", " ", title).strip() for title in titles if "class" in title]
    assert all(len(title.split()) > 1 and title != "Code" for title in plain)


@pytest.mark.parametrize(
    ("holds", "kind"),
    [
        ({"figure": "fig-two"}, "figure: lines"),
        ({"checks": [AGREES], "says": "| a |\n| - |"}, "check"),
        ({"says": "| a |\n| - |"}, "table"),
        ({"says": "A sentence."}, "paragraph"),
        ({}, "page"),
    ],
)
def test_folded_code_has_the_name_of_what_it_shows(holds, kind):
    cell = code("folded", "hide-input", **holds)
    [found] = [one for one in frame.framed([*PAGE, cell]) if one["source"] == "folded"]
    assert found["metadata"]["mystnb"]["code_prompt_show"] == f"Code of the {kind}"


def test_powers_of_ten_are_set_in_words_and_not_in_programs():
    said = "At 1e-06 by `f(1e-06)` and $1e-06$, [one](a-1e-06)."
    shown = frame.framed([code("say", says=said)])[0]["outputs"][0]["data"]["text/markdown"]
    assert shown == "At 10⁻⁶ by `f(1e-06)` and $1e-06$, [one](a-1e-06)."


def test_the_place_of_a_claim_without_a_finding_is_named_where_a_check_has_several(monkeypatch):
    checks = [replace(AGREES, id=name, label="") for name in ("rug.eq5", "rug.eq6")]
    for row in checks:
        known = replace(declarations.declared()[row.id], finding="", place=f"at {row.id}")
        monkeypatch.setitem(declarations.declared(), row.id, known)
    for given, places in ((checks[:1], [""]), (checks, ["at rug.eq5", "at rug.eq6"])):
        findings = [rows.headline([row], place) for row, place in zip(given, places, strict=True)]
        shown = "".join(f'<span class="finding">{finding}</span>' for finding in findings)
        assert frame._title(code("go", "hide-cell", checks=given)) == shown
        assert all(finding.startswith(place) for finding, place in zip(findings, places, strict=True))


def test_a_check_without_claims_has_its_subject_with_a_capital():
    assert frame._title(code("go", "hide-cell")) == '<span class="about">A computation</span>'
    assert frame._title(code("go", "hide-cell", prompt="Check: x < 1")) == '<span class="about">X &lt; 1</span>'


def test_sphinx_is_told_what_to_call_and_how_code_is_marked():
    from myst_nb.sphinx_ import HideCodeCellNode

    app, said = MagicMock(srcdir="book"), []
    frame.setup(app)
    app.add_node.assert_called_once_with(HideCodeCellNode, override=True, html=(frame._open_mark, frame._close_mark))
    assert [call.args[0] for call in app.connect.call_args_list] == [
        "config-inited",
        "source-read",
        "html-page-context",
    ]
    page = SimpleNamespace(body=said)
    frame._open_mark(page, {"prompt_show": 'Code of "it"'})
    frame._close_mark(page, {})
    assert "".join(said) == (
        '<details class="code-mark"><summary title="Code of &quot;it&quot;"><span aria-hidden="true">&lt;/&gt;</span>'
        '<span class="visually-hidden">Code of &quot;it&quot;</span></summary>\n</details>\n'
    )
    config = SimpleNamespace()
    frame._order_search(app, config)
    assert config.html_search_scorer == str(Path("book", "search.js"))


def test_a_notebook_is_shown_in_its_frame_and_every_cell_has_an_id():
    app = SimpleNamespace(env=SimpleNamespace(doc2path=lambda page: f"book/{page}.ipynb"))
    source = [json.dumps({"cells": [*PAGE[:-1], PAGE[-1] | {"id": "own"}], "nbformat": 4})]
    frame._frame(app, "ch4", source)
    *cells, last = ({"id": f"frame-{i}"} | cell for i, cell in enumerate(frame.framed(PAGE)))
    assert [json.loads(one) for one in source] == [{"cells": [*cells, last | {"id": "own"}], "nbformat": 4}]


def test_the_text_of_a_page_alone_is_refused():
    app = SimpleNamespace(env=SimpleNamespace(doc2path=lambda page: f"book/{page}.md"))
    with pytest.raises(ValueError, match=r"book/ch4.md is the text of a page.*; build book/ch4.ipynb"):
        frame._frame(app, "ch4", [(BOOK / "ch4.md").read_text(encoding="utf-8")])
    frame._frame(app, "glossary", [(BOOK / "glossary.md").read_text(encoding="utf-8")])
