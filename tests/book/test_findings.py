"""The numbers on the front page are those of the library, of its stored tables, and of the executed chapters."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from superposition import codes, correlated, decoders, incidental, receptive, rug, toy
from superposition.book import ledger
from superposition.runs import tables

BOOK = Path(__file__).resolve().parents[2] / "book"
CARDS = runpy.run_path(str(BOOK.parent / "scripts" / "cards.py"))
FOUND = " ".join((BOOK / "intro.md").read_text(encoding="utf-8").split("## The chapters")[0].replace("**", "").split())
THE_RUG = float(rug.optimum(0.05, 0.2).loss)


def measured(chapter, claim, label):
    """Return the first measured value of one check."""
    return check(chapter, claim, label).measured[0]


def check(chapter, claim, label):
    """Return one check of an executed chapter."""
    rows = ledger.records(BOOK / f"{chapter}.ipynb")
    return next(row for row in rows if row.id == claim and row.label == label)


def trained(table="rug-grid", ns=256, **where):
    loss = CARDS["over_theory"](table, ns=ns, **where)
    return loss.mean(), loss.std(ddof=1) / len(loss) ** 0.5


def tuned():
    """The loss over the rug's of the code that was tuned with no weight above 10, also in half precision."""
    found = tables.load("rug-tempered").where(B=8, budget="bound", strength=10, seed=0).columns
    over = np.array([found["loss"][0], found["bfloat16_loss"][0]]) / rug.optimum(0.05, 0.25).loss
    assert over[1] < 1.02 * over[0]
    return float(over[0])


def led(lesson):
    """The mean loss over the rug's of 60 features in 15 dimensions, with or without exclusive features first."""
    found = tables.load("rug-lessons").where(ns=60, nd=15, lesson=lesson, p=0.05, steps=3000)
    return found.columns["over_rug"].mean()


def magnified(G):
    """How many times exclusive features in three dimensions magnify noise."""
    code = correlated.exclusive_code(G, 3)
    return correlated.noise_gain(code.W_in, code.W_out).max()


def least(kept, W, p):
    """Return the loss of a form of the toy model, five equal features, at its best gain and bias; others dropped."""

    def loss(both):
        return float(toy.population_loss(both[0] * W, np.where(kept, both[1], p / 2), np.ones(5), p))

    return minimize(loss, (0.9, -0.1), method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-9}).fun


def border_of_the_pentagon():
    """Return where two pairs of opposites begin to lose less than a pentagon, from losses on both sides."""
    digons = np.array([[1.0, -1, 0, 0, 0], [0, 0, 1, -1, 0]])
    ends = np.array([0.2245, 0.2253])
    gaps = [least(np.ones(5, bool), toy.polygon(5), p) - least(np.arange(5) < 4, digons, p) for p in ends]
    return ends[0] - gaps[0] * (ends[1] - ends[0]) / (gaps[1] - gaps[0])


def slow_constant():
    """Return the number of weights left times the square of the time, at the time 100."""
    law = incidental.continuum(np.linspace(0, 6, 121))
    at = np.searchsorted(law.T, 100)
    return float(law.survivors[at] * law.T[at] ** 2)


KURTOSIS = "n = 6, four:-1:28, shared, seed 0"
SUMS = ("ch2-loss", "rug.sums")
POLYSEMANTIC = ("ch4-collisions", "incidental.polysemantic")
NUMBERS = {
    "only for p between {:.3f}": lambda: toy.tricritical_points()[0],
    "and {:.3f}, two numbers": lambda: toy.tricritical_points()[1],
    "have between {:.2f} and": lambda: measured(*SUMS, "exact loss / theory, w = -1, 4096 features"),
    "and {:.2f} times the loss that": lambda: measured(*SUMS, "exact loss / theory, w = 1, 4096 features"),
    "the antipodal rug has {:.2f} times the rug's loss": lambda: (
        float(codes.antipodal_optimum(0.05, 0.2).loss) / THE_RUG
    ),
    "networks with 256 features, trained on the task alone, have {:.3f} ± {:.3f}": trained,
    "networks with 8192 features have {:.3f} ± {:.3f} times the rug's loss": lambda: trained("rug-stopped-large", 8192),
    "with 4096 features they have {:.2f} times the rug's loss after 2000": lambda: trained("rug-sizes-recipe", 4096)[0],
    "and {:.2f} times that loss after 8000": lambda: trained("rug-sizes-longer", 4096, steps=8000)[0],
    "60 features at r = 1/4 end at {:.2f} times the rug's loss if trained on the task alone": lambda: led(0.0),
    "and at {:.2f} times that loss if features that exclude each other come first": lambda: led(0.3),
    "with twelve features a disturbance of the hidden vector is magnified {:.1f} times": lambda: magnified(12),
    "with sixty, {:.0f} times": lambda: magnified(60),
    "loud ones hiding quiet ones, have {:.2f}": lambda: float(codes.fan_loss(0.05, 10)) / THE_RUG,
    "the best code known there, has {:.3f}": lambda: codes.best_known(0.05, 0.2).loss / THE_RUG,
    "no weight above 10 have {:.2f} times the rug": tuned,
    "with a probability below {:.4f}": border_of_the_pentagon,
    "a sparsity above {:.3f}": lambda: 1 - border_of_the_pentagon(),
    "the constant is still {:.2f}": slow_constant,
    "from {:.2f} for two": lambda: measured(*POLYSEMANTIC, "constant at n = 2, m = 32"),
    "to {:.2f} for 24": lambda: measured(*POLYSEMANTIC, "constant at n = 24, m = 96"),
    "a row on a single neuron, falls from {:.2f}": lambda: check(
        "ch5-cumulants", "incidental.sec3.kurtosis", KURTOSIS
    ).predicted[0],
    "to {:.2f}. An exact formula": lambda: measured("ch5-cumulants", "incidental.sec3.kurtosis", KURTOSIS),
    "the best activation leaves {:.2f} of": lambda: float(decoders.state_evolution(0.05, 0.2, 1).loss[0]) / THE_RUG,
    "five iterations with this activation leave {:.3f},": lambda: (
        float(decoders.state_evolution(0.05, 0.2, 5).loss[-1]) / THE_RUG
    ),
    "above r = {:.3f} enough iterations leave no loss": lambda: float(decoders.recovery_ratio(0.05)),
    "The antipodal rug keeps at least {:.3f} times the rug's loss under one ReLU, whatever": lambda: (
        float(decoders.digon_bayes_loss(0.05)) / THE_RUG
    ),
    "On a ring of 40 pixels our formula puts this gain at {:.3f}": lambda: float(receptive.critical_gain(40, 2, 1)),
    "their interference is {:.3f} times": lambda: CARDS["window_losses"]("minilm", "kjv", 64, "random", "noise")[0],
    "vectors lose {:.2f} of": lambda: CARDS["window_losses"]("minilm", "kjv", 64, "own", "relu")[0],
    "a theory with Gaussian interference predicts {:.2f}, and": lambda: CARDS["window_losses"](
        "minilm", "kjv", 64, "own", "gaussian"
    )[0],
    "and with two corrections {:.2f}.": lambda: CARDS["window_losses"]("minilm", "kjv", 64, "own", "both")[0],
    "and training at {:.2f}.": lambda: measured("ch6-gain", "gdln.critical", "critical gain, n=40, xi1=2"),
}


@pytest.mark.parametrize("sentence", NUMBERS)
def test_numbers_of_the_front_page(sentence):
    found = NUMBERS[sentence]()
    assert sentence.format(*(found if isinstance(found, tuple) else (found,))) in FOUND


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        (
            "networks of 8192 features have {:.3f} ± {:.3f} times the rug's loss",
            lambda: trained("rug-stopped-large", 8192),
        ),
        (
            "times the rug's loss at p = 0.05 and r = 1/5 ({:.2f} with 1024 features)",
            lambda: trained("rug-stopped-large", 1024)[:1],
        ),
        ("4096 features down to {:.2f} times", lambda: trained("rug-sizes-longer", 4096, steps=8000)[:1]),
        ("have {:.2f} times the rug's loss", lambda: (float(codes.fan_loss(0.05, 10)) / THE_RUG,)),
    ],
)
def test_numbers_of_the_readme(sentence, found):
    assert sentence.format(*found()) in (BOOK.parent / "README.md").read_text(encoding="utf-8")


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


@pytest.mark.thorough
@pytest.mark.parametrize("draw", CARDS["DRAWN"], ids=lambda draw: draw.__name__)
def test_pictures_of_the_front_page_are_as_the_library_draws_them(draw):
    stored = (CARDS["CARDS"] / f"{draw.__name__}.svg").read_text(encoding="utf-8")
    assert f"figures/cards/{draw.__name__}.svg" in (BOOK / "intro.md").read_text(encoding="utf-8")

    def rounded(svg):  # the last digits are the machine's, and so is the name of an outline, which is made of them
        svg = re.sub(r"\bp[0-9a-f]{10}\b", "outline", svg)
        return re.sub(r"-?\d+\.\d+", lambda found: f"{float(found[0]):.1f}", svg)

    assert rounded(CARDS["picture"](draw)) == rounded(stored), "run python scripts/cards.py"


@pytest.mark.parametrize(
    "said",
    [
        "0.35 times the loss of the rug at p = 0.05 and r = 1/5",  # the fan
        "as a pentagon when each is on with a probability below 0.2249, a sparsity above 0.775",
        "errata.html?verdict=refuted",
        "± gives one standard error, here and on every page",
        "about 2 / (λt)² are left at time t",
        "Does noise of negative kurtosis make encodings sparse? Not always, and negative kurtosis is not necessary.",
    ],
)
def test_what_people_ask_first_stands_on_the_front_page(said):
    assert said in FOUND
