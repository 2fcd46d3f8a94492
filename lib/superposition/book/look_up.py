"""A Sphinx extension for looking things up in place: links show their targets, and words their meaning.

Their text is a title, which the page's script shows for the mouse and for the keyboard. The first occurrence of a
symbol or word on a page is a link, if ``_look_ups.toml`` beside the pages lists it for this page, where somebody has
read it; later symbols have the class of the first.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

GLOSSARY = "glossary"
LISTED = "_look_ups.toml"
CHAPTER = re.compile(r"ch(\d+)\b")  # where the words of the glossary are looked for
CHAPTERS = range(1, 12)
# A word, or its plural, but not a program's code, nor the package with its version.
WORD = r"(?<!library )(?<!public )(?<!other )(?<!The Persian )\b({})(?:e?s)?\b(?! \d)"
APART = set("title reference literal literal_block math_block raw table figure emphasis comment".split())


@dataclass(frozen=True)
class Entry:
    """A symbol (in TeX) or a word of the glossary: the chapters in which it holds, its place and its meaning."""

    name: str
    chapters: frozenset[int]
    id: str
    text: str


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx, which calls this, and tell it that pages may be read side by side."""
    # A page that others lead to is read once: to read it takes up to a second.
    app.connect("doctree-resolved", partial(_say_equations, cache(partial(_formulas, app))))
    app.connect("doctree-resolved", partial(_say_glossary, cache(partial(_entries, app))))
    return {"parallel_read_safe": True}


def symbols(glossary: Any) -> list[Entry]:
    """The symbols of the glossary's tables, row by row: symbol, chapters, name in code, meaning."""
    from docutils import nodes

    found = []
    for row in (row for body in glossary.findall(nodes.tbody) for row in body.children):
        names, chapters, _, meaning = row.children
        place = next(part["ids"][0] for part in _around(row) if part["ids"])
        found += [
            Entry(name.astext(), _numbers(chapters.astext()), place, f"\\({name.astext()}\\): {_said(meaning)}")
            for name in names.findall(nodes.math)
        ]
    return found


def words(glossary: Any) -> list[Entry]:
    """The words of the glossary, the longest first."""
    from docutils import nodes

    found = []
    for item in glossary.findall(nodes.definition_list_item):
        said = _said(item.children[-1])
        where = re.match(r"In chapters? ([\d, and]+): ", said)
        chapters = _numbers(where[1]) if where else frozenset(CHAPTERS)
        found += [
            Entry(term.astext(), chapters, term["ids"][0], f"{term.astext()}: {said}")
            for term in item.findall(nodes.term)
        ]
    return sorted(found, key=lambda entry: -len(entry.name))


def listed(found: list[Entry], chapter: int, names: list[str], means: Mapping[str, str] | None = None) -> list[Entry]:
    """The entries of a chapter that a page may look up, and the meaning of a letter on that page alone."""
    own = [
        Entry(name, frozenset([chapter]), "symbols", f"\\({name}\\): {said}") for name, said in (means or {}).items()
    ]
    return [entry for entry in found if chapter in entry.chapters and entry.name in names] + own


def link(doctree: Any, words_here: list[Entry], symbols_here: list[Entry], address: str) -> None:
    """Link the first occurrence of each word and symbol on a page to the glossary at an address."""
    _link_words(doctree, words_here, address)
    _link_symbols(doctree, {entry.name: entry for entry in symbols_here}, address)


def _numbers(text):
    return frozenset(map(int, re.findall(r"\d+", text)))


def _said(node: Any) -> str:
    """The text of a node with its formulas as MathJax reads them."""
    from docutils import nodes

    parts = node.findall(lambda part: isinstance(part, nodes.math) or _alone(part))
    return "".join(f"\\({part.astext()}\\)" if isinstance(part, nodes.math) else part.astext() for part in parts)


def _alone(part):
    from docutils import nodes

    return isinstance(part, nodes.Text) and not isinstance(part.parent, nodes.math)


def _around(node):
    while node is not None:
        yield node
        node = node.parent


def _formulas(app: Any, page: str) -> Mapping[str, str]:
    """The displayed formulas of a page by the names of their places."""
    from docutils import nodes

    blocks = list(app.env.get_doctree(page).findall(nodes.math_block))
    return {name: block.astext().strip() for block in reversed(blocks) for name in block.parent["ids"] + block["ids"]}


def _say_equations(formulas: Callable[[str], Mapping[str, str]], app: Any, doctree: Any, page: str) -> None:
    """Add its formula to a link to an equation on another page."""
    from docutils import nodes

    for link in doctree.findall(nodes.reference):
        address, _, name = link.get("refuri", "").partition("#")
        if name.startswith("equation-") and address:
            link["reftitle"] = formulas(address.rpartition("/")[2].removesuffix(".html")).get(name, "")


def _entries(app: Any) -> tuple[list[Entry], list[Entry]]:
    """The words and the symbols of the glossary."""
    glossary = app.env.get_doctree(GLOSSARY)
    return words(glossary), symbols(glossary)


def _say_glossary(entries: Callable[[], tuple[list[Entry], list[Entry]]], app: Any, doctree: Any, page: str) -> None:
    found = CHAPTER.match(page)
    if not found or GLOSSARY not in app.env.all_docs:
        return
    known_words, known_symbols = entries()
    address = app.builder.get_relative_uri(page, GLOSSARY)
    chapter, here = int(found[1]), tomllib.loads(Path(app.srcdir, LISTED).read_text(encoding="utf-8")).get(page, {})
    words_here = listed(known_words, chapter, here.get("words", []))
    symbols_here = listed(known_symbols, chapter, here.get("symbols", []), here.get("means"))
    link(doctree, words_here, symbols_here, address)


def _link_words(doctree: Any, entries: list[Entry], address: str) -> None:
    """Make the first occurrence of each word, or of its plural, a link."""
    from docutils import nodes

    left = {entry.name.lower(): entry for entry in entries}
    for text in list(doctree.findall(nodes.Text)):
        if _is_apart(text):
            continue
        parts, rest = [], text.astext()
        while left and (found := re.search(WORD.format("|".join(map(re.escape, left))), rest, re.IGNORECASE)):
            word = _link(left.pop(found[1].lower()), address, nodes.Text(found[0]))
            parts += [nodes.Text(rest[: found.start()]), word]
            rest = rest[found.end() :]
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(rest)])


def _link_symbols(doctree: Any, entries: dict[str, Entry], address: str) -> None:
    """Make the first occurrence of each symbol a link, and give its class to all of them."""
    from docutils import nodes

    seen: dict[str, int] = {}
    for formula in list(doctree.findall(nodes.math)):
        entry = entries.get(formula.astext().strip())
        if entry is None or _is_apart(formula):
            continue
        first = entry.name not in seen
        formula["classes"].append(f"symbol-{seen.setdefault(entry.name, len(seen))}")
        if first:
            formula.parent.replace(formula, _link(entry, address, formula.deepcopy()))


def _is_apart(node):
    return any(part.tagname in APART for part in _around(node.parent))


def _link(entry: Entry, address: str, shown: Any) -> Any:
    from docutils import nodes

    to = f"{address}#{entry.id}"
    return nodes.reference("", "", shown, internal=True, refuri=to, reftitle=entry.text, classes=["meaning"])
