"""Sphinx may read pages side by side with each of our extensions: one that does not say so makes it read one by one."""

import importlib
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from superposition import book

FOLDER = Path(book.__file__).parent
EXTENSIONS = sorted(path.stem for path in FOLDER.glob("*.py") if "def setup(app" in path.read_text())


@pytest.mark.parametrize("name", EXTENSIONS)
def test_an_extension_lets_pages_be_read_side_by_side(name):
    assert importlib.import_module(f"superposition.book.{name}").setup(MagicMock())["parallel_read_safe"] is True


def test_there_are_extensions():
    assert len(EXTENSIONS) > 4
