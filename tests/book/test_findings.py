"""The numbers on the front page are those of the library, of its stored tables, and of the executed chapters."""

import re
from pathlib import Path

import pytest
from superposition import codes, decoders, receptive, rug
from superposition.book import ledger
from superposition.decoders.shared_directions import digon_bayes_loss
from superposition.runs import tables
from superposition.toy import border

BOOK = Path(__file__).resolve().parents[2] / "book"
FOUND = " ".join((BOOK / "intro.md").read_text(encoding="utf-8").split("## The chapters")[0].replace("**", "").split())
THE_RUG = float(rug.optimum(0.05, 0.2).loss)


def measured(chapter, claim, label):
    """Return the first measured value of one check, and its tolerance."""
    row = check(chapter, claim, label)
    return row.measured[0], row.tolerance[0]


def check(chapter, claim, label):
    """Return one check of an executed chapter."""
    rows = ledger.records(BOOK / f"{chapter}.ipynb")
    return next(row for row in rows if row.id == claim and row.label == label)


def trained():
    loss = tables.load("rug-grid").where(ns=256, p=0.05, r=0.2).columns["loss"] / THE_RUG
    return loss.mean(), 4 * loss.std(ddof=1) / len(loss) ** 0.5


KURTOSIS = "n = 6, four:-1:28, shared, seed 0"
SUMS = ("ch2-loss", "rug.sums")
POLYSEMANTIC = ("ch4-collisions", "incidental.polysemantic")
NUMBERS = {
    "only for p between {:.3f}": lambda: border.tricritical()[0],
    "and {:.3f}, two numbers": lambda: border.tricritical()[1],
    "lose between {:.3f} ± {:.3f}": lambda: measured(*SUMS, "exact loss / theory, w = -1, 4096 features"),
    "and {:.3f} ± {:.3f} times": lambda: measured(*SUMS, "exact loss / theory, w = 1, 4096 features"),
    "The antipodal rug has {:.2f} of its loss": lambda: float(codes.antipodal_optimum(0.05, 0.2).loss) / THE_RUG,
    "trained networks with 256 features have {:.3f} ± {:.3f}": trained,
    "loud ones hiding quiet ones, have {:.2f}": lambda: float(codes.fan_loss(0.05, 10)) / THE_RUG,
    "{:.2f} ± {:.2f} for two": lambda: measured(*POLYSEMANTIC, "constant at n = 2, m = 32"),
    "{:.2f} ± {:.2f} for 24": lambda: measured(*POLYSEMANTIC, "constant at n = 24, m = 96"),
    "denser, from f = {:.2f}": lambda: check("ch5-cumulants", "incidental.sec3.kurtosis", KURTOSIS).predicted[0],
    "to {:.3f} ± {:.3f}. A formula": lambda: measured("ch5-cumulants", "incidental.sec3.kurtosis", KURTOSIS),
    "the best activation leaves {:.2f} of": lambda: float(decoders.state_evolution(0.05, 0.2, 1).loss[0]) / THE_RUG,
    "five iterations of it leave {:.3f},": lambda: float(decoders.state_evolution(0.05, 0.2, 5).loss[-1]) / THE_RUG,
    "above r = {:.3f} nothing is left": lambda: float(decoders.recovery_ratio(0.05)),
    "The antipodal rug keeps {:.3f}, whatever": lambda: float(digon_bayes_loss(0.05)) / THE_RUG,
    "{:.3f} on a ring of 40 pixels by our formula": lambda: float(receptive.critical_gain(40, 2, 1)),
    "{:.3f} ± {:.3f} measured": lambda: measured("ch6-gain", "gdln.critical", "critical gain, n=40, xi1=2"),
}


@pytest.mark.parametrize("sentence", NUMBERS)
def test_numbers_of_the_front_page(sentence):
    found = NUMBERS[sentence]()
    assert sentence.format(*(found if isinstance(found, tuple) else (found,))) in FOUND


def test_a_chapter_has_one_title_everywhere():
    titles = {
        page.stem: page.read_text(encoding="utf-8").split("\n# ", 1)[1].split("\n")[0]
        for page in BOOK.glob("ch*.md")
        if "-" not in page.stem
    }
    for place in (BOOK / "intro.md", BOOK.parent / "README.md"):
        text = place.read_text(encoding="utf-8").replace("book/", "").replace(".md)", ".ipynb)")
        linked = {name: words for words, name in re.findall(r"\[\d+ · (.*?)\]\((ch\d+)\.ipynb\)", text)}
        assert linked == titles, place.name
