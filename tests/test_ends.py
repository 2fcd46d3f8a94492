"""Pages that say "always" or "never", run at the ends of their parameters, where the sentence should show its limits.

``python tests/test_ends.py PAGE`` runs a page at all of its ends and names what contradicts it. A page is listed below
once it held at all of them; of these ends the tests run two, drawn by the text of the pages.
"""

import re
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from superposition.book import ledger, parameters
from superposition.inputs import UpTo

BOOK = Path(__file__).resolve().parent.parent / "book"
HELD = (
    "ch4",
    "ch4-collisions",
    "ch5",
    "ch5-cumulants",
    "ch6",
    "ch6-experiments",
    "ch6-flow",
    "ch6-gain",
    "ch6-gates",
    "ch11",
)
EFFORT = {"steps", "samples", "instances", "noises", "seed", "device", "quick"}  # how much is computed, not of what
LARGEST = 10**6  # above, an end is a matter of memory
INSIDE = [
    ("ch5-cumulants", {"n": 2, "m": 8, "sigma": 0.4}),  # the open output decides: every law does the reverse
    ("ch5-cumulants", {"n": 3, "m": 8, "sigma": 0.5}),  # shut and open outputs nearly cancel
    ("ch5-cumulants", {"n": 8, "m": 16, "sigma": 0.02}),  # frozen under the coin
]


def model_of(page):
    """The parameters of a page, which its second cell names."""
    text = (BOOK / f"{page}.md").read_text(encoding="utf-8")
    return getattr(parameters, re.search(r"parameters\.check\(globals\(\), parameters\.(\w+)\)", text)[1])


def ends(model):
    """Both ends of every parameter of a page; parameters whose range depends on it move into their range."""
    for name, field in model.model_fields.items():
        for sign in ("ge", "le") if name not in EFFORT else ():
            end = next((getattr(one, sign) for one in field.metadata if hasattr(one, sign)), None)
            if end is None and sign == "le":
                end = highest(field, model().model_dump())
            if end is not None and end != getattr(model(), name) and end <= LARGEST:
                yield within(model, {name: end})


def highest(field, given):
    """The upper end that another parameter sets, if there is one."""
    limits = [one.func for one in field.metadata if isinstance(getattr(one, "func", None), UpTo)]
    return min((float(one.factor * given[one.other]) for one in limits), default=None)


def within(model, given):
    """Lower the parameters, in their order, that would be too large for the given ones."""
    for name, field in model.model_fields.items():
        book = model().model_dump() | given
        end = highest(field, book)
        if end is not None and book[name] > end:
            given = given | {name: end}
    return model(**given).model_dump(include=set(given))


def wrong_way(row):
    """Whether the numbers of an undecided check lie beyond its tolerance on the other side of its sentence."""
    predicted, measured, tolerance = (np.array(part) for part in (row.predicted, row.measured, row.tolerance))
    sides = {"above": predicted - measured, "below": measured - predicted, "equals": np.abs(measured - predicted)}
    return row.outcome == "undecided" and bool(np.any(sides[row.relation] > tolerance))


def run(page, given, folder):
    """Run a page; the checks that decided nothing although their numbers contradict them.

    A check whose measurement contradicts its verdict and that need not be undecided raises in its cell.
    """
    import papermill

    there = Path(folder) / "run.ipynb"
    papermill.execute_notebook(
        BOOK / f"{page}.ipynb", there, given, cwd=BOOK, kernel_name="python3", progress_bar=False
    )
    return [row for row in ledger.records(there) if wrong_way(row)]


ALL = [(page, given) for page in HELD for given in ends(model_of(page))]
TEXT = "".join((BOOK / f"{page}.md").read_text(encoding="utf-8") for page in HELD)
LOT = np.random.default_rng(zlib.crc32(TEXT.encode())).choice(len(ALL), 2, replace=False)


def named(part):
    return part if isinstance(part, str) else "-".join(f"{name}={value:g}" for name, value in part.items())


@pytest.mark.thorough
@pytest.mark.parametrize(("page", "given"), INSIDE, ids=named)
def test_a_page_runs_where_its_sentences_turn(page, given, tmp_path):
    run(page, {**given, "quick": True, "steps": 20_000}, tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize(("page", "given"), [ALL[i] for i in LOT], ids=named)
def test_a_page_holds_at_the_ends_of_its_parameters(page, given, tmp_path):
    assert not run(page, given, tmp_path)


def test_what_contradicts_a_check():
    def row(relation, measured, outcome="undecided"):
        return ledger.Row("", "", "", relation, (0.0,), (measured,), (1.0,), (), outcome)

    assert [wrong_way(row("above", value)) for value in (-2.0, -0.5, 2.0)] == [True, False, False]
    assert [wrong_way(row("below", value)) for value in (-2.0, 0.5, 2.0)] == [False, False, True]
    assert [wrong_way(row("equals", value)) for value in (-2.0, 0.5, 2.0)] == [True, False, True]
    assert not wrong_way(row("above", -2.0, "confirmed"))


def test_ends_are_what_a_page_allows():
    found = list(ends(parameters.ReluFlow))
    assert found[0] == pytest.approx({"n": 12, "xi1": 12 / 11, "xi2": 0.9 * 12 / 11})
    assert {"gain": 100} in found
    assert not any(EFFORT & set(given) for given in found)


if __name__ == "__main__":
    for page in sys.argv[1:]:
        for given in ends(model_of(page)):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    found = [f"{row.id} [{row.label}]" for row in run(page, given, folder)]
                except Exception as error:
                    found = [str(error)[-600:]]
            print(page, named(given), "; ".join(found) or "holds", flush=True)
