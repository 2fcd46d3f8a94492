"""Looking things up in place: what the glossary says, and which words and symbols of a page lead there."""

import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from docutils.utils import new_document
from superposition.book import look_up

BOOK = Path(__file__).resolve().parents[2] / "book"
GLOSSARY = (BOOK / "glossary.md").read_text(encoding="utf-8")
CELLS = [line.strip("| ").split(" | ") for line in GLOSSARY.splitlines() if line.startswith("| $")]
ROWS = [(re.findall(r"\$([^$]+)\$", cells[0]), set(map(int, re.findall(r"\d+", cells[1])))) for cells in CELLS]

PAGE = r"""
Symbols
=======

.. list-table::
   :header-rows: 1

   * - symbol
     - chapters
     - in code
     - meaning
   * - :math:`n`, :math:`m`
     - 1, 4
     -
     - numbers of :math:`x`
   * - :math:`n`
     - 6
     -
     - pixels

fan
  In chapters 3 and 7: arrows of length :math:`a`.
swept fan
  Both sides.
"""


@pytest.fixture
def glossary():
    """A small one; as Sphinx does, its words have places."""
    tree = publish_doctree(PAGE)
    for term in tree.findall(nodes.term):
        term["ids"] = [f"term-{nodes.make_id(term.astext())}"]
    return tree


def linked(source, glossary, chapter, names=("fan", "swept fan", "n", "m")):
    """A page, and what of it became a link, with its title."""
    page = publish_doctree(source)
    here = [look_up.listed(of(glossary), chapter, names) for of in (look_up.words, look_up.symbols)]
    look_up.link(page, *here, "glossary.html")
    links = [link for link in page.findall(nodes.reference) if "meaning" in link["classes"]]
    return page, [(link.astext(), link["refuri"], link["reftitle"]) for link in links]


def test_symbols_hold_in_their_chapters_and_say_their_row(glossary):
    found = [(one.name, sorted(one.chapters), one.id) for one in look_up.symbols(glossary)]
    assert found == [("n", [1, 4], "symbols"), ("m", [1, 4], "symbols"), ("n", [6], "symbols")]
    assert look_up.symbols(glossary)[1].text == r"\(m\): numbers of \(x\)"


def test_words_that_share_a_meaning_are_entries_of_their_own(glossary):
    said = nodes.definition("", nodes.paragraph("", "Both."))
    item = nodes.definition_list_item("", nodes.term("", "arrow", ids=["a"]), nodes.term("", "dart", ids=["b"]), said)
    glossary += nodes.definition_list("", item)
    found = [(one.name, one.id, one.text) for one in look_up.words(glossary)]
    assert [one for one in found if one[1] in "ab"] == [("arrow", "a", "arrow: Both."), ("dart", "b", "dart: Both.")]
    assert [name for name, *_ in found] == ["swept fan", "arrow", "dart", "fan"]


def test_the_first_of_a_word_is_a_link_and_the_longest_word_wins(glossary):
    page, links = linked("A swept fan, and two fans; one more fan.", glossary, 7)
    said = "fan: In chapters 3 and 7: arrows of length \\(a\\)."
    both = "swept fan: Both sides."
    assert links == [("swept fan", "glossary.html#term-swept-fan", both), ("fans", "glossary.html#term-fan", said)]
    assert page.astext() == "A swept fan, and two fans; one more fan."
    assert linked("Two fans.", glossary, 4)[1] == []  # it has no meaning there


@pytest.mark.parametrize(
    "source", ["*fan*", "``fan``", "fanatic", "the `fan <x>`__", "fan 0.1.0", "library fan", "The Persian fan"]
)
def test_what_is_no_word_of_the_glossary_is_left_alone(glossary, source):
    assert linked(source, glossary, 7)[1] == []


def test_every_symbol_has_the_class_of_its_link(glossary):
    page, links = linked("Of :math:`n`, :math:`m` and :math:`n + m`, :math:`n` is first.", glossary, 4)
    assert [(shown, title[:5]) for shown, _, title in links] == [("n", r"\(n\)"), ("m", r"\(m\)")]
    assert [formula["classes"] for formula in page.findall(nodes.math)] == [
        ["symbol-0"],
        ["symbol-1"],
        [],
        ["symbol-0"],
    ]


def test_only_what_a_page_lists_is_looked_up_and_its_own_letters_mean_what_it_says(glossary):
    source = "A fan of :math:`n`, a swept fan of :math:`m`."
    assert [shown for shown, _, _ in linked(source, glossary, 4, ["m"])[1]] == ["m"]
    own = look_up.listed(look_up.symbols(glossary), 4, ["n", "m"], {"n": "those that are on"})
    page = publish_doctree(source)
    look_up.link(page, [], own, "glossary.html")
    titles = [link["reftitle"] for link in page.findall(nodes.reference)]
    assert titles == [r"\(n\): those that are on", r"\(m\): numbers of \(x\)"]


def test_a_link_to_an_equation_of_another_page_shows_it():
    formulas = {"ch3": {"equation-loss": "L = 1"}}.__getitem__
    links = {
        "../a/ch3.html#equation-loss": "L = 1",
        "ch3.html#equation-loss": "L = 1",
        "ch3#equation-gain": "",
        "#equation-loss": None,
        "ch9.html#section": None,
        "ch9.html": None,
    }
    page = new_document("page")
    page += [nodes.reference("", "", refuri=address) for address in links] + [nodes.reference("", "")]
    look_up._say_equations(formulas, None, page, "ch4")
    assert [link.get("reftitle") for link in page.children] == [*links.values(), None]


URIS = SimpleNamespace(get_relative_uri=lambda page, other: f"to/{other}")
LISTED = tomllib.loads((BOOK / look_up.LISTED).read_text(encoding="utf-8"))


def test_a_word_without_chapters_has_its_meaning_in_all_that_list_words(glossary):
    chapters = {int(re.match(r"ch(\d+)", page)[1]) for page in LISTED}
    assert {one.name: one.chapters for one in look_up.words(glossary)} == {"swept fan": chapters, "fan": {3, 7}}


@pytest.mark.parametrize(
    ("page", "links"),
    [
        (
            "ch4-two",
            ["swept fan: Both sides.", r"\(n\): numbers of \(x\)", r"\(m\): those that are on"],
        ),
        ("ch6", [r"\(n\): pixels"]),
        ("ch4", []),
    ],
)
def test_a_page_is_linked_by_its_own_list(glossary, tmp_path, page, links):
    lists = '[ch4-two]\nwords = ["swept fan"]\nsymbols = ["n"]\nmeans.m = "those that are on"\n[ch6]\nsymbols = ["n"]\n'
    (tmp_path / look_up.LISTED).write_text(lists, encoding="utf-8")
    env = SimpleNamespace(all_docs={look_up.GLOSSARY}, get_doctree={look_up.GLOSSARY: glossary}.get)
    app = SimpleNamespace(
        env=env, srcdir=tmp_path, connect=lambda event, hook: hooks.append((event, hook)), builder=URIS
    )
    hooks, tree = [], publish_doctree("A swept fan, of :math:`n` and :math:`m`.")
    look_up.setup(app)
    assert [event for event, _ in hooks] == ["doctree-resolved"] * 2
    for _, hook in hooks:
        hook(app, tree, page)
    found = [(one["reftitle"], one["refuri"]) for one in tree.findall(nodes.reference)]
    places = {"swept fan: Both sides.": "to/glossary#term-swept-fan"}
    assert found == [(said, places.get(said, "to/glossary#symbols")) for said in links]


@pytest.mark.parametrize("page", LISTED)
def test_what_a_page_lists_is_in_the_glossary_for_its_chapter(page):
    chapter, here = int(re.match(r"ch(\d+)", page)[1]), LISTED[page]
    assert (BOOK / f"{page}.md").exists() and set(here) <= {"words", "symbols", "means"}
    terms = {line for line in GLOSSARY.split("```{glossary}")[1].splitlines() if line and line[0] not in " `"}
    assert set(here["words"]) <= terms
    assert set(here["symbols"]) <= {name for names, chapters in ROWS if chapter in chapters for name in names}
    assert not set(here.get("means", {})) & set(here["symbols"])


def test_no_letter_of_the_glossary_has_two_meanings_in_a_chapter():
    assert len(ROWS) > 50 and all(chapters for _, chapters in ROWS)
    meanings = [(name, chapter) for names, chapters in ROWS for name in names for chapter in chapters]
    assert sorted(meanings) == sorted(set(meanings))


def test_every_word_that_pages_need_is_there():
    words = set(re.findall(r"^([a-zA-Z][\w -]*)\n(?:[a-z]+\n)?  ", GLOSSARY, re.MULTILINE))
    needed = {"tops", "fast stage", "race", "isotropic", "fan", "swept fan", "loudness", "digon", "tile", "cone", "IPR"}
    assert needed | {"grouped rug", "hider", "reader", "mixture", "flat field", "latent"} <= words
