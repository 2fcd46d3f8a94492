"""The numbers on the front page are those of the library, of its stored tables, and of the executed chapters."""

from pathlib import Path

import pytest
from superposition import receptive, rug
from superposition.book import ledger
from superposition.rug.collisions import digon_bayes_loss
from superposition.runs import tables
from superposition.toy import border

BOOK = Path(__file__).resolve().parents[2] / "book"
FOUND = " ".join((BOOK / "intro.md").read_text(encoding="utf-8").split("## The chapters")[0].split())
THE_RUG = float(rug.optimum(0.05, 0.2).loss)


def measured(chapter, claim, label):
    """Return the first measured value of one check."""
    return check(chapter, claim, label).measured[0]


def check(chapter, claim, label):
    """Return one check of an executed chapter."""
    rows = ledger.records(BOOK / f"{chapter}.ipynb")
    return next(row for row in rows if row.id == claim and row.label == label)


def trained():
    return tables.load("rug-grid").where(ns=256, p=0.05, r=0.2).columns["loss"].mean() / THE_RUG


KURTOSIS = "n = 6, four:-1:28, shared, seed 0"
NUMBERS = {
    "only for p between {:.3f}": lambda: border.tricritical()[0],
    "and {:.3f}, two numbers": lambda: border.tricritical()[1],
    "the antipodal rug has {:.2f} of its loss": lambda: float(rug.antipodal_optimum(0.05, 0.2).loss) / THE_RUG,
    "trained networks with 256 features have {:.2f}": trained,
    "loud ones hiding quiet ones, has {:.2f}": lambda: float(rug.fan_loss(0.05, 10)) / THE_RUG,
    "the best activation leaves {:.2f} of": lambda: float(rug.state_evolution(0.05, 0.2, 1).loss[0]) / THE_RUG,
    "five iterations of it leave {:.3f},": lambda: float(rug.state_evolution(0.05, 0.2, 5).loss[-1]) / THE_RUG,
    "above r = {:.3f} nothing is left": lambda: float(rug.recovery_ratio(0.05)),
    "The antipodal rug keeps {:.3f}, whatever": lambda: float(digon_bayes_loss(0.05)) / THE_RUG,
    "{:.2f} for two": lambda: measured("ch4-collisions", "incidental.polysemantic", "constant at n = 2, m = 32"),
    "{:.2f} for 24": lambda: measured("ch4-collisions", "incidental.polysemantic", "constant at n = 24, m = 96"),
    "the weights get denser, from f = {:.2f}": lambda: check("ch5", "incidental.sec3.kurtosis", KURTOSIS).predicted[0],
    "to {:.2f}. A formula": lambda: measured("ch5", "incidental.sec3.kurtosis", KURTOSIS),
    "{:.3f} on a ring of 40 pixels by our formula": lambda: float(receptive.critical_gain(40, 2, 1)),
    "{:.3f} measured": lambda: measured("ch6", "gdln.critical", "critical gain, n=40, xi1=2"),
}


@pytest.mark.parametrize("sentence", NUMBERS)
def test_numbers_of_the_front_page(sentence):
    assert sentence.format(NUMBERS[sentence]()) in FOUND
