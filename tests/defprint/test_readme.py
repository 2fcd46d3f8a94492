"""The example of the README does what its text says."""

import re
from pathlib import Path

import defprint
import pytest
from little_package import forget

README = (Path(defprint.__file__).parent / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.S)
FILES = {re.match("# (.*)", text)[1]: text for text in BLOCKS if text.startswith("# ")}
NAME = "recipes.cake:bake"


@pytest.fixture
def taken(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))

    def written(*changes, name=NAME, files=FILES):
        for path, text in files.items():
            for old, new in changes:
                text = text.replace(old, new)
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        (tmp_path / "recipes" / "__init__.py").touch()
        forget()
        return defprint.of(name)

    yield written
    forget()


def test_the_example_is_followed(taken):
    first = taken()
    assert re.fullmatch("[0-9a-f]{16}", first) and [path.name for path in defprint.sources(NAME)] == [
        "cake.py",
        "oven.py",
    ]
    assert taken(("180", "200")) != first
    assert taken(('"clean"', '"dirty"'), ("heat", "warm"), ("Bake a cake", "Make a cake")) == first
    moved = {path.replace("oven", "kitchen/oven"): text.replace("recipes.oven", "recipes.kitchen.oven")
             for path, text in FILES.items()}  # fmt: skip
    assert taken(files={**moved, "recipes/kitchen/__init__.py": "", "recipes/oven.py": ""}) == first


def test_it_stays_on_one_page_and_is_about_any_package():
    assert len(README.splitlines()) < 80
    sources = [README, *(path.read_text() for path in Path(defprint.__file__).parent.glob("*.py"))]
    assert not any("superposition" in text for text in sources)
