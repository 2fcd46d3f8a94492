"""Refusals in their own words, of the wings beyond the texts and of what all wings share: a row is a call."""

import re

import numpy as np
import pytest
import superposition
from superposition import checked, inputs, ranges, relu_integrals, runs, weights
from superposition.codes import (
    as_networks,
    best_map,
    budgets,
    conflict_search,
    exact_losses,
    fans,
    graphs,
    swept,
)
from superposition.correlated import facet_codes
from superposition.decoders import (
    ands,
    ands_training,
    coupled,
    dictionaries,
    dictionary_scores,
    families,
    planar_decoders,
    priced_dictionaries,
    shared_directions,
)
from superposition.frequencies import sharing
from superposition.rug import Rug
from superposition.toy import thomson

FAN = fans.priority_fan(4, 10.0)
TWO_DIGONS = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]])
PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])  # its ends have one neighbour, its middle two
RING = sum(np.roll(np.eye(6, dtype=int), k, 1) for k in (1, -1))  # next but one meet once, opposite ones never

CALLS = [
    (lambda: superposition.nothing, AttributeError, "module 'superposition' has no attribute 'nothing'; its wings: "),
    (lambda: runs.nothing, AttributeError, "module 'superposition.runs' has no attribute 'nothing'"),
    (lambda: checked.checked(q=ranges.ratio)(lambda p: p), TypeError, "has no parameter q"),
    (lambda: inputs._refuse_others(True), ValueError, "true and false are not numbers"),
    (lambda: inputs._refuse_others("1_0"), ValueError, "numbers are written with the digits 0 to 9, without sep"),
    (lambda: ranges.batch_fits(10**9, 100), ValueError, "batch = 1000000000 of 100 features is too large; allowed"),
    (
        lambda: relu_integrals._offsets_and_slopes(0.5, 1.0),
        ValueError,
        "b and c have shapes () and (); allowed: (...) and (..., k)",
    ),
    (
        lambda: weights.fitting({"W_in": np.ones((2, 3)), "W_out": np.ones((2, 3)), "b": np.ones(3)}, "it"),
        ValueError,
        "W_out (2, 3), b (3,), which do not fit; allowed: W_in (nd, ns), W_out (ns, nd), b (ns,)",
    ),
    (
        lambda: weights.fitting({"W": np.eye(3), "b": np.ones(2)}, "it"),
        ValueError,
        "it has shapes W (3, 3), b (2,), which do not fit; allowed: W (ns, ns), b (ns,)",
    ),
    (lambda: as_networks._blocks("blocks", FAN), ValueError, "is not a list of codes; allowed: one or more"),
    (lambda: best_map._blocks("blocks", []), ValueError, "blocks = [] holds no code; allowed: one or more"),
    (lambda: budgets._candidates("codes", ()), ValueError, "codes = () holds no code; allowed: one or more"),
    (
        lambda: budgets._audible("code", fans.Code(np.eye(2)[:, :1] * [0], np.ones((1, 2)), np.zeros(1))),
        ValueError,
        "code has features without weights; allowed: weights for every feature",
    ),
    (
        lambda: conflict_search._start_somewhere(5, 2, 0, [FAN]),
        ValueError,
        "first has codes of shapes [(2, 4)]; allowed: (2, 5)",
    ),
    (
        lambda: conflict_search._start_somewhere(5, 2, 0, []),
        ValueError,
        "tries, first = 0, () leave no start; allowed: one or more",
    ),
    (
        lambda: exact_losses._enumerable(10**12, 3),
        ValueError,
        "W has so many features that meet, and p is so large, that sets of 3 matter: 1000000000000 cases; allowed: ",
    ),
    (
        lambda: fans.valid_code("code", fans.Code(np.ones((2, 3)), np.ones((2, 3)), np.ones(3))),
        ValueError,
        "code has weights of shapes (2, 3), (2, 3) and (3,); allowed: (m, B), (B, m) and (B,)",
    ),
    (
        lambda: graphs.strongly_regular_parameters(PATH),
        ValueError,
        "A of shape (3, 3) is no regular graph; allowed: symmetric, 0 and 1, equal row sums",
    ),
    (
        lambda: graphs.strongly_regular_parameters(RING),
        ValueError,
        "A is not strongly regular; allowed: one number of common neighbours for edges and one for others",
    ),
    (
        lambda: swept.spans(4000, 2.0, 3.0, 9.0),
        ValueError,
        "B, inner, growth = 4000, 3, 9.0 span more than 1e250; allowed: less of one",
    ),
    (
        lambda: facet_codes.exact_failures(FAN, PATH),
        ValueError,
        "H has shape (3, 3); allowed: (4, 4), as the code has features",
    ),
    (
        lambda: ands.missed_share(np.ones((2, 1)), np.eye(2), np.array([0.5, 0.5])),
        ValueError,
        "x has ANDs that are linear functions of the bits; allowed: all inputs, as of `all_inputs`",
    ),
    (lambda: ands._counts("k", [1.5]), ValueError, "is not whole; allowed: whole numbers from 0 to 1024"),
    (
        lambda: ands_training._weights_fit((), 3),
        ValueError,
        "weights = () are none; allowed: four arrays W_in, b, W_out, c",
    ),
    (
        lambda: coupled.CoupledRug(2**10, 4, blocks=1000, width=1000, seed=0),
        ValueError,
        "1000, 1000; allowed: a product up to ",
    ),
    (
        lambda: dictionaries._archive("path", 3),
        ValueError,
        "path = 3 is not such a file; allowed: a file of `Dictionary.save`, .npz",
    ),
    (
        lambda: dictionary_scores._autoencoder("sae", 3),
        ValueError,
        "sae = 3; allowed: an object with encode and W_dec",
    ),
    (
        lambda: families._in_pairs(5, 2),
        ValueError,
        "ns = 5 is odd; allowed: even numbers, half parents and half children",
    ),
    (
        lambda: planar_decoders.planar_bayes_loss(TWO_DIGONS, 0.01, samples=2, seed=0),
        ValueError,
        "samples = 2 leave 1 off the lines of W_in; allowed: more samples",
    ),
    (
        lambda: priced_dictionaries._border(0.9, 0.01),
        ValueError,
        "p, r = 0.9, 0.01 have no border; allowed: a border from",
    ),
    (
        lambda: shared_directions._antipodal(np.ones(8), Rug(8, 4)),
        ValueError,
        "is not antipodal; allowed: Rug(..., antipodal=True)",
    ),
    (
        lambda: sharing._rows_of_length(np.array([0.9, 0.9, 0.9]), 2, np.random.default_rng(0)),
        FloatingPointError,
        "rows of these lengths were not found in ",
    ),
    (lambda: thomson.direct_sum(), ValueError, "parts = () is empty; allowed: one part or more"),
]


@pytest.mark.parametrize(("call", "kind", "words"), CALLS, ids=[words[:40] for *_, words in CALLS])
def test_a_call_is_refused_in_these_words(call, kind, words):
    with pytest.raises(kind, match=re.escape(words)):
        call()
