"""What is called proved has a theorem; what a claim names as its code is reached by its page; parts stand alone."""

import ast
import csv
import re
from functools import cache
from importlib import resources
from pathlib import Path

import pytest
import yaml
from defprint import fingerprint
from superposition import runs
from superposition.book import declarations
from together import together

CELL = r"^```{code-cell}[^\n]*\n(?:---\n.*?^---\n|(?::[^\n]*\n)*)(.*?)^```$"
BOOK = Path(__file__).resolve().parent.parent.parent / "book"

PROVED = [claim for claim in declarations.declared().values() if claim.status == "proved"]


@cache
def theorems():
    """The page and the section of each labelled theorem, lemma and proposition, and its statement."""
    found = {}
    for page in sorted(BOOK.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        for block in re.finditer(
            r"^```{prf:(?:theorem|lemma|proposition)}.*?\n:label: (\S+)\n(.*?)^```$", text, re.M | re.S
        ):
            start = text.rfind("\n## ", 0, block.start())
            end = text.find("\n## ", block.end())
            assert block[1] not in found, f"{block[1]} is there twice"
            found[block[1]] = page.stem, block[2], text[start : end if end > 0 else len(text)]
    return found


@together("claim", PROVED, ids=lambda claim: claim.id)
def test_what_is_proved_has_a_theorem_and_a_proof_on_its_page(claim):
    page, statement, section = theorems()[claim.proof]
    assert page == claim.chapter
    assert len(statement.split()) > 10 and re.search(r"\bproofs?\b", section, re.IGNORECASE)
    assert claim.kind in declarations.NO_CHECK_NEEDED or f'claims.check("{claim.id}"' in (
        BOOK / f"{page}.md"
    ).read_text(encoding="utf-8")


def test_every_proof_was_read_by_a_second_reader():
    """Who derived the claim from its statement alone; a proof by another theorem has to be read again."""
    with resources.files("superposition.book").joinpath("second_readings.csv").open(encoding="utf-8") as file:
        readings = list(csv.DictReader(file))
    assert [(one["claim"], one["proof"]) for one in readings] == [(claim.id, claim.proof) for claim in PROVED]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", one["date"]) and one["found"] for one in readings)


@cache
def reached(page):
    """The definitions that the code of a page leads to, by its own names and by those of the runs that it loads."""
    text = (BOOK / f"{page}.md").read_text(encoding="utf-8")
    trees = [ast.parse(cell[1]) for cell in re.finditer(CELL, text, re.M | re.S)]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    paths = {name: path for node in nodes for name, path in imported(node)}
    words = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    begun = {str(getattr(node.values[0], "value", "")) for node in nodes if isinstance(node, ast.JoinedStr)}
    words |= {begin + word for begin in begun for word in words}  # tables.load(f"noise-{name}")
    starts = {fingerprint._start(runs.RUNS[word].function) for word in words & runs.RUNS.keys()}
    for node in nodes:
        dotted = ast.unparse(node) if isinstance(node, (ast.Attribute, ast.Name)) else ""
        name, _, rest = dotted.partition(".")
        if re.fullmatch(r"[\w.]+", dotted) and paths.get(name, "").startswith("superposition"):
            starts.add(fingerprint._found(f"{paths[name]}.{rest}".rstrip("."), "superposition")[0])
    found, todo = set(), list(starts)
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo += others(node)
    return found


@cache
def others(node):
    """What a definition leads to; none where it reads files or settings, which the fingerprint refuses."""
    try:
        return fingerprint._definition(*node)[1] if node[0] and node[1] != "*" else []
    except ValueError:
        return []


def imported(node):
    """Names and what they are imported as."""
    if isinstance(node, ast.ImportFrom):
        return [(alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names]
    return [(a.asname or a.name, a.name) for a in node.names] if isinstance(node, ast.Import) else []


CHECKED = [c for c in declarations.declared().values() if c.code and c.kind not in declarations.NO_CHECK_NEEDED]


@together("claim", CHECKED, ids=lambda claim: claim.id)
def test_the_code_of_a_claim_is_reached_by_its_page(claim):
    assert fingerprint._start(claim.code) in reached(claim.chapter), f"{claim.chapter} does not lead to {claim.code}"


FIRST, *_ = yaml.safe_load((BOOK / "_toc.yml").read_text())["parts"]
OF_TEXTS = [Path(at["file"]).stem for one in FIRST["chapters"] for at in (one, *one.get("sections", ()))]
COMPARED = {  # modules of Part II with codes and readers that pages of chapter 3 compare the rug with
    **dict.fromkeys(("ch3-training", "ch3-recipe", "ch3-figures"), {"codes", "codes.partners", "codes.mixtures"}),
    "ch3-activations": {"decoders.ladder", "decoders.relu_layers"},
}
BEYOND = ("codes", "decoders", "frequencies", "correlated", "receptive.crowds", "experiments.crowds",
          "experiments.tiled_fields")  # fmt: skip
MANY = {("superposition.experiments.predicted_fields", name) for name in ("many_width", "branches")}


@pytest.mark.parametrize("page", OF_TEXTS)
def test_part_one_stands_without_part_two(page):
    """No page on a text runs code, reads a table or cites an equation, figure or theorem of a page beyond the texts."""
    compared = {f"superposition.{name}" for name in COMPARED.get(page, ())}
    needed, apart = reached(page), tuple(f"superposition.{name}." for name in BEYOND)
    beyond = {node for node in needed if f"{node[0]}.".startswith(apart) and node[0] not in compared} | needed & MANY
    assert not beyond, f"{page} needs {sorted(beyond)[:5]}"
    text = (BOOK / f"{page}.md").read_text(encoding="utf-8")
    cited = set(re.findall(r"{(?:eq|numref|ref|prf:ref)}`(?:[^`<]*<)?([\w-]+)>?`", text))
    others = {at for other in OF_TEXTS for at in labels(other)}
    assert cited <= others, f"{page} cites {sorted(cited - others)}"


@cache
def labels(page):
    """What a page gives a label to: equations, figures, theorems, exercises and headings."""
    label = r"^(?:\$\$ \(([\w-]+)\)|:label: ([\w-]+)|\s+name: ([\w-]+)|\(([\w-]+)\)=)"
    text = (BOOK / f"{page}.md").read_text(encoding="utf-8")
    return {name for found in re.findall(label, text, re.M) for name in found if name}
