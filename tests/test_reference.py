"""The reference: pages as the modules are, an example for each name on a face, shapes as annotated, links that lead."""

import doctest
import importlib
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import superposition
import yaml
from superposition.book import reference
from together import together

ROOT = Path(__file__).resolve().parent.parent
PAGES = runpy.run_path(str(ROOT / "scripts" / "reference.py"))["pages"]()
FACES = {wing: importlib.import_module(f"superposition.{wing}") for wing in superposition.WINGS}
NAMES = [
    (wing, name)
    for wing, face in FACES.items()
    for name in face.__all__
    if getattr(getattr(face, name), "unchecked", None)
]
# Calls of the doctests, with every annotation checked at run time. The hook is for valid calls: what it raises on
# others is no ValueError. So it is used here, and nowhere in the library.
HOOKED = """
import doctest, importlib, pkgutil, sys, types, warnings
import numpy as np
from beartype import BeartypeConf, BeartypeHintOverrides, beartype
from jaxtyping import install_import_hook
warnings.simplefilter("ignore")  # of beartype, on annotations that it will not check
sys.modules["checker"] = types.ModuleType("checker")
# A numpy number is an array without axes, and, like an int, a float.
rules = {np.ndarray: np.ndarray | np.generic, int: int | np.integer}
conf = BeartypeConf(is_pep484_tower=True, hint_overrides=BeartypeHintOverrides(rules))
sys.modules["checker"].check = beartype(conf=conf)
with install_import_hook("superposition", "checker.check"):
    import superposition
    for wing in superposition.WINGS:
        face = importlib.import_module(f"superposition.{wing}")
        for module in pkgutil.iter_modules(face.__path__, f"{face.__name__}."):
            done = doctest.testmod(importlib.import_module(module.name))
            print("==", module.name, done.attempted, done.failed)
"""


def test_pages_are_as_the_modules_are():
    stored = {path: path.read_text(encoding="utf-8") for path in (ROOT / "book" / "reference").glob("*.md")}
    stored.pop(ROOT / "book" / "reference" / "index.md")
    assert stored == PAGES, "run `make reference`"


def test_every_page_is_in_the_table_of_contents():
    toc = yaml.safe_load((ROOT / "book" / "_toc.yml").read_text())
    chapters = [chapter for part in toc["parts"] for chapter in part["chapters"]]
    listed = {file["file"] for chapter in chapters for file in chapter.get("sections", [])}
    assert {f"reference/{path.name}" for path in PAGES} <= listed


@together(("wing", "name"), NAMES)
def test_every_public_function_has_an_example(wing, name):
    assert doctest.DocTestFinder().find(getattr(FACES[wing], name), name)[0].examples, (
        f"superposition.{wing}.{name} has no doctest"
    )


def test_marks_of_docutils_are_escaped_outside_of_literals_and_examples():
    assert reference.plain(["|x| of lambda_, in code ``|x|``"]) == [r"\|x\| of lambda\_, in code ``|x|``"]
    assert reference.plain([">>> 1 | 2", "3 |x|", "", "|y|"]) == [">>> 1 | 2", "3 |x|", "", r"\|y\|"]


def test_names_on_faces_lead_to_their_definitions():
    assert reference.definition("superposition.rug.Optimum") == "superposition.rug.meanfield.Optimum"
    assert reference.definition("superposition.rug.loss") == "superposition.rug.meanfield.loss"
    assert reference.definition("optimum", "superposition.rug.meanfield") == "superposition.rug.meanfield.optimum"
    assert reference.definition("superposition.rug.nothing") is None


def test_a_definition_is_found_in_a_module_that_nobody_has_loaded(monkeypatch, tmp_path):
    (tmp_path / "unread" / "room").mkdir(parents=True)
    (tmp_path / "unread" / "room" / "shelf.py").write_text("def book(): pass\n")
    (tmp_path / "unread" / "desk.py").write_text("def letter(): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert reference.definition("unread.desk.letter") == "unread.desk.letter"
    assert reference.definition("shelf.book", "unread.room") == "unread.room.shelf.book"
    assert reference.definition("unread.room.shelf.page") is None


@pytest.mark.parametrize(
    ("domain", "target", "link"),
    [
        ("py", "superposition.rug.Optimum", "to superposition.rug.meanfield.Optimum"),
        ("py", "superposition.checks.shown", "as it stands"),  # is there, and has no page
        ("py", "numpy.ndarray", None),  # is not ours
        ("py", "superposition.rug.nothing", None),
        ("py", "", None),
        ("std", "superposition.rug.Optimum", None),
    ],
)
def test_a_name_becomes_a_link_where_there_is_a_page(domain, target, link):
    hooks, pages = {}, {"superposition.rug.meanfield.Optimum": "to superposition.rug.meanfield.Optimum"}
    python = SimpleNamespace(resolve_xref=lambda env, page, builder, kind, path, node, shown: pages.get(path))
    environment = SimpleNamespace(get_domain={"py": python}.get)
    reference.setup(SimpleNamespace(connect=hooks.__setitem__))
    node = {"refdomain": domain, "reftarget": target, "refdoc": "a page"}
    found = hooks["missing-reference"](SimpleNamespace(builder=None), environment, node, "as it stands")
    assert found == link


@pytest.mark.thorough
def test_valid_calls_have_the_shapes_of_the_annotations():
    done = subprocess.run([sys.executable, "-c", HOOKED], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    counts = [line.split()[2:] for line in done.stdout.splitlines() if line.startswith("==")]
    assert sum(int(failed) for _, failed in counts) == 0, done.stdout[-5000:]
    assert sum(int(tried) for tried, _ in counts) > len(NAMES)
