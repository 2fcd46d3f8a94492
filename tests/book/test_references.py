"""The bibliography: every work can be found, every key that is cited is there, every entry is cited."""

import re
from pathlib import Path

from together import together

BOOK = Path(__file__).resolve().parents[2] / "book"
ENTRY = re.compile(r"^@\w+\{([\w-]+),\n(.*?)^\}$", re.MULTILINE | re.DOTALL)
ENTRIES = dict(ENTRY.findall((BOOK / "references.bib").read_text(encoding="utf-8")))
IDENTIFIED = re.compile(r'doi\s*=\s*[{"]10\.\d{4,9}/|(arXiv:|eprint\s*=\s*[{"])([a-z-]+/\d{7}|\d{4}\.\d{4,5})')
CITED = {
    key.strip()
    for page in BOOK.rglob("*.md")
    for keys in re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", page.read_text(encoding="utf-8"))
    for key in keys.split(",")
}
# What has neither a DOI nor an arXiv number, or none that could be looked up: an address instead, where there is one.
WITHOUT = {
    "alon2003problems": "its DOI could not be looked up",
    "beckerkahn2022notes": "a post in a forum",
    "bricken2023emergence": "proceedings without a DOI",
    "bricken2023monosemanticity": "published by its authors on a page of their own",
    "bushnaq2024circuits": "a post in a forum",
    "caples2024adam": "a post in a forum",
    "cho2009kernel": "proceedings without a DOI",
    "davis1954theory": "an old journal",
    "guo2002asymptotic": "its DOI could not be looked up",
    "henighan2023superposition": "published by its authors on a page of their own",
    "ke2017lightgbm": "proceedings without a DOI",
    "ngugi2025taming": "published by its author on a page of his own",
    "niknejad2015homotopy": "its DOI could not be looked up",
    "nvidia2023h100": "a data sheet",
    "nvidia2024h200": "a data sheet",
    "olah2025interference": "published by its authors on a page of their own",
    "rankin1955closest": "an old journal",
    "sharkey2022taking": "a post in a forum",
    "turan1941extremal": "an old journal",
    "lovasz1966decomposition": "of 1966; it has no DOI",
    "waldron2018introduction": "a book; its DOI could not be looked up",
    "xia2005achieving": "its DOI could not be looked up",
}


def test_every_entry_is_read():
    text = (BOOK / "references.bib").read_text(encoding="utf-8")
    # neither twice, nor swallowed by an open brace
    assert len(ENTRIES) == text.count("\n@") + text.startswith("@") > 30


@together("key", ENTRIES)
def test_every_work_can_be_found(key):
    if key in WITHOUT:
        assert not IDENTIFIED.search(ENTRIES[key]), "it has a number now: strike it from the list"
        assert re.search(r"(url|note)\s*=\s*\{", ENTRIES[key])
    else:
        assert IDENTIFIED.search(ENTRIES[key])


def test_every_key_that_is_cited_exists_and_every_entry_is_cited():
    assert CITED - {*ENTRIES} == set()
    assert {*ENTRIES} - CITED == set()
