"""No caption repeats the value of a parameter that its figure follows: at a reader's value the two would disagree."""

import ast
import re
from pathlib import Path

import jupytext
import pytest
from superposition.book import parameters

BOOK = Path(__file__).resolve().parents[2] / "book"
PAGES = [path for path in sorted(BOOK.glob("ch*.md")) if "parameters.check(" in path.read_text(encoding="utf-8")]
WORDS = dict(
    zip(("two", "three", "four", "five", "six", "eight", "ten", "twelve"), (2, 3, 4, 5, 6, 8, 10, 12), strict=True)
)
TYPED = re.compile(r"\d+\s?/\s?\d+|\d+\.\d+|\d+|[A-Za-z]+")
NO_SUCH_VALUE = {"seed", "device", "quick", "minutes"}  # counts of seeds and the like are no values of these
ANOTHER_NUMBER = {  # what the caption counts, where a parameter happens to have the same value
    ("fig-ch6-basis", "xi1"): "two covariances, and Figure 2 of the notes",
    ("fig-ch6-fig1", "xi2"): "Figure 1 of the notes, at the settings of its own caption",
    ("fig-ch6-flips", "xi1"): "two looks, and two variances",
    ("fig-ch6-gates-fields", "xi2"): "the height, which is 1, and label 1",
    ("fig-ch6-gates-fig5", "xi1"): "the first two columns of the figure",
    ("fig-ch8-compute", "m"): "2016 ANDs of 64 features: a value of the book's, not yet taken out of the caption",
}


def numbers(caption):
    """Numbers in a caption, in digits, as fractions or in words."""
    for typed in TYPED.findall(caption):
        if "/" in typed:
            above, below = typed.split("/")
            yield int(above) / int(below)
        elif typed[0].isdigit():
            yield float(typed)
        elif typed.lower() in WORDS:
            yield WORDS[typed.lower()]


def figures_that_follow(sources, field):
    """Which cells follow a parameter, through the names that are set from it until they are set from something else."""
    names = set()
    for place, source in enumerate(sources):
        found = False
        for statement in ast.parse(source).body:
            asked = {node.attr for node in ast.walk(statement) if isinstance(node, ast.Attribute) and _is_par(node)}
            kept, loaded = _names(statement)
            follows = bool(loaded & names) or field in asked
            names = names | kept if follows else names - kept
            found |= follows
        if found:
            yield place


def _is_par(node):
    return isinstance(node.value, ast.Name) and node.value.id == "par"


def _names(statement):
    """Names that a statement sets, and those that it uses and has not set itself."""
    nodes = list(ast.walk(statement))
    targets = [node.target for node in nodes if isinstance(node, ast.comprehension)]
    inner = {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    inner |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    loaded = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    if isinstance(statement, ast.FunctionDef):
        return {statement.name}, loaded - inner - stored
    if isinstance(statement, (ast.For, ast.With)):
        return stored - inner, loaded - inner - stored
    return stored - inner, loaded - inner


def repeated(source):
    """Pairs of figure and parameter in which the caption has the parameter's value."""
    cells = [cell for cell in jupytext.reads(source, "md:myst").cells if cell.cell_type == "code"]
    kind = re.search(r"parameters\.check\(globals\(\), parameters\.(\w+)\)", source)[1]
    book, sources = getattr(parameters, kind)(), [cell.source for cell in cells]
    for field in set(type(book).model_fields) - NO_SUCH_VALUE:
        value = getattr(book, field)
        values = [v for v in (value if isinstance(value, tuple) else (value,)) if isinstance(v, (int, float))]
        for place in figures_that_follow(sources, field):
            figure = cells[place].metadata.get("mystnb", {}).get("figure", {})
            if any(abs(n - v) < 1e-12 for n in numbers(figure.get("caption", "")) for v in values):
                yield figure["name"], field


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_caption_leaves_the_values_of_parameters_to_its_figure(page):
    assert set(repeated(page.read_text(encoding="utf-8"))) - set(ANOTHER_NUMBER) == set()


@pytest.mark.parametrize(
    ("code", "follows"), [("x = par.p", True), ("x = par.p\nx = 2", False), ("[p for p in (1, 2)]\nx = p", False)]
)
def test_a_name_follows_a_parameter_until_it_is_set_again(code, follows):
    assert (1 in figures_that_follow([code, "x"], "p")) == follows


def test_a_repeated_value_is_found():
    page = (BOOK / "ch10.md").read_text(encoding="utf-8")
    assert not set(repeated(page))
    assert ("fig-ch10-hero", "p") in set(
        repeated(page.replace("caption: Loss of codes", "caption: At $p = 0.05$, loss of codes"))
    )
