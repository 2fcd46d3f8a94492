"""The page that says where the book's world ends names tests that there are, and functions that there are."""

import re
from pathlib import Path

import superposition

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "book" / "ends.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| door")]


def test_each_door_says_what_happens_beyond_and_which_test_holds_it():
    for row in ROWS:
        door, granted, checked, beyond, held = (cell.strip() for cell in row.strip("| ").split(" | "))
        assert door and granted and checked, row
        assert re.search(r"\*(measured|refused|unknown)\*|provenance", beyond, re.IGNORECASE), row
        files = re.findall(r"`(tests/[\w/]+\.py)`", held)
        assert files and all((ROOT / file).exists() for file in files), row


def test_functions_that_the_page_names_are_public():
    for wing, name in re.findall(r"`(rug|codes|decoders|correlated)\.(\w+)", PAGE):
        assert callable(getattr(getattr(superposition, wing), name)), f"{wing}.{name}"
