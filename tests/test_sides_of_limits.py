"""Refusals of several arguments, or of more than a range: the last that is taken, and the first that is not."""

import ast
import functools
import importlib
import re
from pathlib import Path

import numpy as np
import pytest
import superposition
from superposition import ranges
from superposition.decoders import dictionary
from together import together

TESTS, LIBRARY = Path(__file__).parent, Path(superposition.__file__).parent
RANGES = {wing: importlib.import_module(f"superposition.{wing}.ranges") for wing in superposition.WINGS
          if (LIBRARY / wing / "ranges.py").exists()}  # fmt: skip
codes, correlated, decoders, frequencies, incidental, receptive, rug, toy = (
    RANGES[wing] for wing in ("codes", "correlated", "decoders", "frequencies", "incidental", "receptive", "rug", "toy")
)
P, ROW, W = np.full(3, 0.1), np.ones((1, 3)), np.ones((2, 4))
FIELDS, XS = np.ones((2, 3, 7)), np.ones((5, 7))
HIGH, WIDE = np.zeros((2**14 + 1, 1)), np.zeros((1, 2**14))
LEAST = correlated.least_dimensions(5)


def star(rays):
    """A feature that meets others, each of which meets it alone."""
    H = np.zeros((rays + 1, rays + 1))
    H[0, 1:] = H[1:, 0] = 1
    return H


def skewed(by):
    """A covariance of which one side differs from the other."""
    return np.array([[1, 0.5, 0.3], [0.5, 1, 0.5], [0.3 + by, 0.5, 1]])


def one_more(check, name, each, *, first=(), last=(), most, words="is too many of"):
    """A number of things in an array, up to memory's end."""
    return check, (*first, most // each, *last), (*first, most // each + 1, *last), f"^{name} = .* {words} "


def by_keyword(check):
    """A check of arguments that have to be named."""
    return functools.wraps(check)(lambda x, y: check(x=x, y=y))


def own_weight(share):
    """A code with a small own weight in one row, about 1e-75 of the largest there."""
    return [[share * 1e-50, 1e25], [0, 1]]


CASES = [
    (codes.factor, ("W", [[1e150]]), ("W", np.array([[np.nan]])), "is not finite, as after a training that diverged"),
    (codes.sorted_points, ("c", 2 * [("a", 0.5, 1)]), ("c", [("a", 0.5, 1), ("b", 0.4, 1)]), "goes back in the ratio"),
    (codes.factors_fit, (W, W.T, np.zeros(4)), (W, W, np.zeros(4)), "W_in, W_out, b have shapes"),
    (codes.factors_fit, (W, W.T, np.zeros(4)), (W, W.T, np.zeros(2)), "W_in, W_out, b have shapes"),
    (codes.factors_fit, (W, 4e74 * W.T, np.zeros(4)), (W, 6e74 * W.T, np.zeros(4)), "W_in, W_out have a product above"),
    (correlated.widths, ("dims", [1]), ("dims", []), "is empty; allowed: one number of dimensions or more"),
    (correlated.whole_groups, (6, 3), (7, 3), "n = 7 is no multiple of G = 3"),
    (correlated.some_dimensions, (10, 0.06), (10, 0.05), "leaves 0 dimensions to 10 features; allowed: 1 to 9"),
    (correlated.some_dimensions, (10, 0.94), (10, 0.96), "leaves 10 dimensions to 10 features; allowed: 1 to 9"),
    one_more(correlated.drawn, "samples", 1000, first=(1000,), most=correlated.MOST),
    one_more(correlated.drawn_groups, "samples", 700, first=(7, 100), most=correlated.MOST),
    one_more(correlated.drawn, "samples", 1024, first=(1024,), most=correlated.MOST),
    one_more(correlated.drawn_groups, "samples", 1024, first=(8, 128), most=correlated.MOST),
    one_more(correlated.batches, "batch", 50, first=(10, 3, 50), most=correlated.MOST),
    one_more(correlated.batches, "batch", 30, first=(10, 3, 5), most=correlated.MOST),
    one_more(correlated.starting_points, "starts", 2 * 40 * 40, first=(40, [2, 3]), most=correlated.MOST),
    (decoders.truth, ("truth", dictionary(4, 2)), ("truth", W), "is not a dictionary"),
    (decoders.shaped, ("x", np.zeros((5, 2)), "n", 2), ("x", np.zeros((5, 2)), "n", 3), r"x has shape \(5, 2\)"),
    (decoders.shaped, ("x", None, 4), ("x", np.zeros((5, 2)), 5), r"x has shape \(5, 2\); allowed: \(5,\)"),
    (decoders.shaped, ("x", np.zeros((5, 2)), 5, 2), ("x", np.zeros(5), 5, 2), r"x has shape \(5,\)"),
    one_more(frequencies.drawn, "samples", 3, first=(P,), most=frequencies.MOST),
    one_more(frequencies.drawn, "samples", 4, first=(np.full(4, 0.1),), most=frequencies.MOST),
    one_more(frequencies.fits_in_memory, "batch", 4, first=(np.full(4, 0.1), 1), most=frequencies.MOST),
    one_more(frequencies.fits_in_memory, "batch", 3, first=(P, 1), most=frequencies.MOST),
    one_more(
        frequencies.fits_in_memory, "nd", 3, first=(P,), last=(1,), most=frequencies.MOST, words="is too many for"
    ),
    (frequencies.gentle, (0.5, 2.0), (0.5, 2.1), "pull"),
    (incidental.times, ("times", [0, 1, 1]), ("times", [0, 1, 0.9]), "fall; allowed: increasing times"),
    *[
        (incidental.fits, (*ones, incidental.MOST, 1), (*ones, incidental.MOST, 2), "n, m = .* and the rest make")
        for ones in ((1,) * k for k in range(5))
    ],
    (incidental.fits, (incidental.MOST, 1), (incidental.MOST, 1, 2), "n, m = .* and the rest make"),
    (incidental.step_settles, ([[2, 1]], 0.5), ([[2.01, 1]], 0.5), "w0 has a row of squared length 5.04"),
    (incidental.descent_settles, (ROW, 0.25), (1.01 * ROW, 0.25), "W has a row of squared length"),
    (incidental.recorded, ([2, 5], 5), ([2, 6], 5), "goes beyond the steps; allowed: up to 5"),
    (receptive.covariance, ("C", skewed(1e-10)), ("C", skewed(1e-8)), "C is not a covariance"),
    (receptive.covariance, ("C", 1e6 * skewed(1e-10)), ("C", 1e6 * skewed(1e-8)), "C is not a covariance"),
    (receptive.covariance, ("C", np.zeros((2, 2))), ("C", np.diag([1, -1e-12])), "C is not a covariance"),
    (receptive.hermite_ratios(2.0), ("c", {3: 2, 15: -2}), ("c", {3: 2, 4: 1}), "c has the order 4; allowed: odd"),
    (receptive.data_fit, (FIELDS, XS, np.ones(5), 5), (FIELDS, XS, np.ones(4), 5), "w0, x and y have shapes"),
    (receptive.data_fit, (FIELDS, XS, np.ones((5, 2)), 5), (FIELDS, XS, np.ones((5, 3)), 5), "w0, x and y have shapes"),
    (receptive.data_fit, (FIELDS, XS, np.ones(5), 5), (FIELDS, XS[:, 1:], np.ones(5), 5), "w0, x and y have shapes"),
    (receptive.data_fit, (FIELDS, XS, np.ones(5), 5), (FIELDS, XS, np.ones(5), 6), "batch = 6 is out of range"),
    (receptive.batches, ("pairs", iter([])), ("pairs", []), "is no iterator; allowed: one over pairs of batches"),
    (rug.loud_enough, (1e-30, 0.5), (0.9e-30, 0.5), "p = 9e-31 is out of range at r = 0.5; allowed: from 1e-30 on"),
    (rug.loud_enough, (1e-40, [1e-25, 1]), (1e-40, [1e-25, 1e-20]), "p = 1e-40 is out of range at r = 1e-20"),
    (rug.ranks, ("ranks", [1]), ("ranks", []), "is empty; allowed: at least one rank"),
    (rug.power_of_two, ("ns", 64), ("ns", 65), "ns = 65 is not a power of two"),
    (toy.columns, ("W", [[1e-150, 1]]), ("W", [[0, 1]]), "W has a column of length 0"),
    (toy.rising_times, ("times", [0, 1, 2]), ("times", [0, 1, 1]), "times does not rise"),
    (toy.short_path, ([1, 2], np.array([1, 5e4])), ([1, 2], np.array([1, 5.1e4])), "times = 51000 is too late"),
    (toy.trained, (4, [0.5, 0.1], np.ones((2, 4)), 1, 8), (4, [[0.5]], 1.0, 1, 8), "sparsity has shape"),
    (toy.trained, (4, P[:2], np.ones((1, 4)), 1, 8), (4, P[:2], np.ones((3, 4)), 1, 8), "importance has shape"),
    (toy.energy_exists, (2, 1, "coulomb"), (3, 1, "coulomb"), "m = 1 is too few for n = 3 charges"),
    one_more(toy.drawn, "batch", 4, first=(W,), most=toy.MOST, words="is too many vectors of"),
    one_more(
        toy.trained, "batch", 12, first=(4, 0.5, np.ones((3, 4)), 1), most=toy.MOST, words="is too many vectors of"
    ),
    (toy.weights, ("W", np.ones((1, 8192))), ("W", np.ones((1, 8193))), "W has shape .*, with 67125249 overlaps"),
    one_more(toy.trained, "batch", 24, first=(4, [0.5, 0.1], 1.0, 3), most=toy.MOST, words="is too many vectors of"),
    (codes.probabilities, ("p", [0.1]), ("p", [[0.1]]), "p has shape"),
    (codes.with_diagonal, ("W", [[1e-30]]), ("W", [[0.9e-30]]), "on its diagonal; allowed: from 1e-30 on"),
    (codes.same_length, ([[-1e75]], ROW[0, :1]), ([[-1.1e75]], ROW[0, :1]), "on its diagonal; allowed: from -1e.75 on"),
    (codes.a_range_from_1, ("range", 1.0), ("range", 0.99), "allowed: 1 or more, loudest over softest"),
    (correlated.law, (0.5, 2, 0.4), (0.51, 2, 0.4), "s = 0.4 is too small for 2 features"),
    (correlated.pair, (0.75, 2 / 3), (0.75, 0.66), "s = 0.66 is too small for two features"),
    (correlated.code_exists, (5, LEAST), (5, LEAST - 1), "is too few for G = 5"),
    (correlated.one_at_a_time, (np.eye(4), 0.25), (np.eye(4), 0.26), "p = 0.26 is too large for 4 features"),
    *[
        (correlated.cells_of, (P, np.ones((2, 3)), part, part), (P, np.ones((2, 3)), more, more), "weights add up to 1")
        for part, more in [(np.array([0.5, 0.5 + by]), np.array([0.5, 0.5 + 3 * by])) for by in (5e-10, -5e-10)]
    ],
    (decoders.finite_interference, (1.0, 1.1e-60), (1.0, 0.9e-60), "is out of range; allowed: from p / 1e.60 on"),
    (by_keyword(decoders.same_shape), (HIGH[1:], WIDE), (HIGH, WIDE), "x, y have shapes"),
    (decoders.bits, ("x", np.zeros((1, 2))), ("x", np.zeros((1, 1))), "allowed: .* m from 2 to 4096"),
    (decoders.bits, ("x", np.zeros((1, 4096))), ("x", np.zeros((1, 4097))), "allowed: .* m from 2 to 4096"),
    (frequencies.square_code, ("W", own_weight(1.1)), ("W", own_weight(0.9)), "W has an own weight of 9e-51"),
    (frequencies.probabilities, ("p", np.ones(10**6)), ("p", np.ones(10**6 + 1)), "allowed: up to 10.6 features"),
    (incidental.rows("n m"), ("W", [[1e-100, 0]]), ("W", [[0.9e-100, 0]]), "W has a row of zeros"),
    (incidental.networks_of_several, ("W", np.ones((1, 2, 2))), ("W", np.ones((1, 1, 2))), "at least two features"),
    (incidental.networks_of_several, ("W", np.ones((1, 2, 2))), ("W", np.ones((1, 2, 1))), "and two neurons"),
    (incidental.unit_row, ("w", [1 + 9e-7]), ("w", [1 + 1.1e-6]), "w has the length 1"),
    (incidental.unit_row, ("w", [1 - 9e-7]), ("w", [1 - 1.1e-6]), "w has the length 0.999999"),
    (incidental.overlaps, ("G", np.eye(1024)), ("G", np.eye(1025)), "symmetric, up to"),
    (incidental.overlaps, ("G", [[9, 8e-9], [0, 1]]), ("G", [[9, 1e-8], [0, 1]]), "symmetric, up to"),
    (receptive.circulant_matrix, ("C", np.eye(2)), ("C", np.eye(1)), "with n of 2 or more"),
    (receptive.two_vectors, ("x", np.ones((2, 3))), ("x", np.ones((1, 3))), "two vectors or more"),
    (rug.with_diagonal, ("W", np.diag([1, -1e-30])), ("W", np.diag([1, -0.9e-30])), "W has a zero on its diagonal"),
    (rug.seen, (-2.9, 0.1), (-3.1, 0.1), "up to 30 sigma outside"),
    (rug.seen, (3.9, 0.1), (4.1, 0.1), "up to 30 sigma outside"),
    (rug.partner_fits, (2.0, 0.2), (2.01, 0.2), "allowed: up to 2 at r = 0.2"),
    (rug.separate, (0.99, 0.5), (1.0, 0.5), "allowed: 2 t sigma below 1"),
    (rug.some_weights, ("w", [0, -1e-30]), ("w", [0, -0.9e-30]), "w = 0 everywhere"),
    (ranges.draws, ("x", [1, 2]), ("x", [1]), "at least two numbers"),
    (ranges.batch_fits, (ranges.MOST_NUMBERS // 4, 4), (ranges.MOST_NUMBERS // 4 + 1, 4), "of 4 features is too large"),
    (ranges.batch_fits, (2**30, 2**23, 0, "csr"), (2**30 + 1, 2**23, 0, "csr"), "of 8388608 features is too large"),
    (ranges.group_exists, (1, 2, 0.5, 0, 1), (1, 2, 0.51, 0, 1), "exclusive features are never on together"),
    (ranges.group_exists, (2, 4, 0.1, 0.1, 2**28), (2, 4, 0.1, 0.1, 2**28 + 1), "of 8 features is too large"),
    (ranges.probability, ("p", ranges.SMALLEST), ("p", 0.9 * ranges.SMALLEST), "p = .* is out of range; allowed: from"),
]  # fmt: skip


@together(
    ("check", "taken", "refused", "words"),
    CASES,
    ids=[f"{check.__module__.split('.')[-2]} {words[:30]}" for check, *_, words in CASES],
)
def test_the_last_is_taken_and_the_first_is_not(check, taken, refused, words):
    check(*taken)
    with pytest.raises(ValueError, match=words):
        check(*refused)


def limited(module):
    """The functions of a module that refuse what is more or less than something, and where each is called there."""
    functions = [
        node for node in ast.parse(Path(module.__file__).read_text()).body if isinstance(node, ast.FunctionDef)
    ]
    for function in functions:
        tests = [
            node.test
            for node in ast.walk(function)
            if isinstance(node, ast.If) and any(isinstance(one, ast.Raise) for one in node.body)
        ]
        signs = {
            type(sign) for test in tests for one in ast.walk(test) if isinstance(one, ast.Compare) for sign in one.ops
        }
        if signs & {ast.Lt, ast.LtE, ast.Gt, ast.GtE}:
            yield function.name, {one.name for one in functions if f"{function.name}(" in ast.unparse(one)}


@pytest.mark.parametrize("module", [ranges, *RANGES.values()], ids=lambda module: module.__name__)
def test_every_limit_of_a_relation_is_met_from_both_sides(module):
    met = {check.__qualname__.split(".")[0] for check, *_ in CASES if check.__module__ == module.__name__}
    assert [name for name, users in limited(module) if not users & met] == []


def refusals(path):
    """Each refusal of a module by the words of its sentence."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Raise):
            texts = [
                one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)
            ]
            parts = [part.strip(" ,.()[]") for text in texts for part in re.split("[;=]|allowed:", text)]
            if words := [part for part in parts if len(part) > 8]:
                yield node.lineno, words


@functools.cache
def asked():
    """What tests and stored answers contain; a text that goes on in the next line is one."""
    answers = [path.read_text() for path in TESTS.rglob("*") if path.suffix in (".py", ".json")]
    return re.sub(r'"\n\s*[rf]*"', "", "\n".join(answers)).replace("\\", "")


@pytest.mark.parametrize("folder", ["", *sorted(path.parent.name for path in LIBRARY.glob("*/__init__.py"))])
def test_every_refusal_is_asked_for_somewhere(folder):
    """By its words, in a test or in a stored answer."""
    modules = (LIBRARY / folder).glob("**/*.py" if folder else "*.py")
    found = {(path.name, line): words for path in modules for line, words in refusals(path)}
    assert [where for where, words in found.items() if not any(word in asked() for word in words)] == []
