"""Refusals in their own words, of the wings of the texts and of trainings: a row is a call."""

import re

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from superposition import optimise, receptive  # noqa: E402
from superposition.decoders import dictionary_training, priced_training  # noqa: E402
from superposition.experiments import noise_descent, noise_description, trained_fields  # noqa: E402
from superposition.incidental import (  # noqa: E402
    attractors,
    company,
    late_rate,
    many_features,
    noise_laws,
    noise_loss,
    noisy_training,
    sparsification_rate,
    step_noise,
    untied_weights,
)
from superposition.receptive import (  # noqa: E402
    crowds,
    gated_networks,
    gated_training,
    gates,
    relu_flow,
    ring,
    tilings,
    training,
    wave_growth,
)
from superposition.toy import linear  # noqa: E402

AE = dictionary_training.SparseAutoencoder
LABEL = tilings.Label(np.ones((3, 4), complex), np.ones((3, 4), complex), np.ones(4))
DATA = tilings.Waves(LABEL, LABEL, np.ones(4), 6)
TWINS = np.array([[[1.0, 0.0], [1.0, 0.0]]])
ROWS = np.array([[0.8, -0.3], [-0.2, 0.7]])


def autoencoder(ns):
    return AE(np.ones((ns, 2)), np.zeros(ns), np.ones((2, ns)), np.zeros(2))


CALLS = [
    (lambda: optimise._leaves("weights", [3]), ValueError, "weights holds something else than leaves; allowed: a list"),
    (
        lambda: dictionary_training._schedule("schedule", (2.0, 0.0)),
        ValueError,
        "schedule = (2.0, 0.0); allowed: a factor from 0 to 1000 and a share in (0, 1]",
    ),
    (lambda: priced_training._starts("starts", []), ValueError, "starts = []; allowed: a list of SparseAutoencoder"),
    (
        lambda: priced_training._starts("starts", [autoencoder(3), autoencoder(4)]),
        ValueError,
        "starts have 2 shapes; allowed: one shape for all",
    ),
    (
        lambda: noise_descent.compared(np.arange(3.0), np.ones((3, 1)), np.ones((3, 1)), 0.5),
        ValueError,
        "quiet has 1 instance; allowed: at least 2",
    ),
    (
        lambda: noise_description.crossing(np.arange(3.0), np.ones(4), 0.5),
        ValueError,
        "steps and curve have shapes (3,) and (4,); allowed: the same",
    ),
    (
        lambda: trained_fields.preactivation_kurtosis(np.ones((1, 2)), np.ones((3, 2)), np.ones((3, 4))),
        ValueError,
        "W, x1 and x0 have shapes (1, 2), (3, 2) and (3, 4); allowed: one n",
    ),
    (
        lambda: attractors.simplex_exists(4, 2),
        ValueError,
        "m = 2 is too small for a simplex of n = 4 rows; allowed: from 3 on",
    ),
    (
        lambda: company.company_settles(1e3 * TWINS, 1.0, 1.0),
        ValueError,
        "W has weights that move at rates up to 4e+06; allowed: up to ",
    ),
    (lambda: company.company_ends(1e-9, None), ValueError, "lambda_ = 1e-09 is too small for a time of 8 / lambda; al"),
    (
        lambda: late_rate.overlaps_settle(1e3 * TWINS),
        ValueError,
        "W has positive overlaps with a sum of 2e+06 in a row; allowed: up to ",
    ),
    (
        lambda: late_rate.overlap_flow(TWINS, [1.0]),
        ValueError,
        "W has rows that depend on each other; allowed: independent rows",
    ),
    (
        lambda: many_features.descend_encodings(ROWS, 0.1, method="sgd", steps=40, lr=1e3, device="cpu"),
        FloatingPointError,
        "training diverged (method=sgd, lr=1000); use a smaller rate",
    ),
    (
        lambda: noise_loss.sums_fit(np.ones((1, 2, 60)), noise_laws.bipolar(0.1)),
        ValueError,
        "W of shape (1, 2, 60) needs 4611686018427387904 numbers; allowed: up to ",
    ),
    (
        lambda: noisy_training.instances_fit(np.ones((2, 3, 4)), 0.1, 0.1, 10**12),
        ValueError,
        "draws = 1000000000000 for W of shape (2, 3, 4) are too many; allowed: ",
    ),
    (
        lambda: sparsification_rate.shapes_fit([1.0, 2.0], [1.0, 2.0, 3.0]),
        ValueError,
        "relative_variance has shape (3,); allowed: (2,), that of l1_norm",
    ),
    (
        lambda: step_noise.share_exists(4, 2),
        ValueError,
        "m = 2 is too small for a simplex of n = 4 rows; allowed: from 3 on",
    ),
    (
        lambda: step_noise.scatter_fits(np.ones((3, 4)), 10**12),
        ValueError,
        "draws = 1000000000000 of W of shape (3, 4) are too many; allowed: ",
    ),
    (
        lambda: untied_weights.shapes_fit(np.ones((3, 4)), np.ones((3, 5)), None),
        ValueError,
        "D has shape (3, 5); allowed: (..., n, m) with the networks and neurons of E, (3, 4)",
    ),
    (
        lambda: untied_weights.shapes_fit(np.ones((3, 4)), np.ones((2, 4)), None),
        ValueError,
        "E has shape (3, 4); allowed: (..., k, m), one row for each entry of an input",
    ),
    (
        lambda: untied_weights.shapes_fit(np.ones((3, 4)), np.ones((2, 4)), np.ones((5, 3))),
        ValueError,
        "inputs has shape (5, 3); allowed: (2, k), one for each row of D",
    ),
    (
        lambda: untied_weights.rows_match(np.ones((3, 4)), np.ones((2, 4))),
        ValueError,
        "D has shape (2, 4); allowed: (3, 4), that of E",
    ),
    (
        lambda: untied_weights.train_untied(ROWS, ROWS, steps=60, lr=1e3),
        FloatingPointError,
        "training diverged (lr=1000); use a smaller rate",
    ),
    (lambda: crowds._joining_fits(np.ones(6), (1, 2, 3), DATA), ValueError, "errors has 3 parts; allowed: two, as of"),
    (
        lambda: gated_networks._sample_is_gated(np.ones((2, 1)), np.ones((3, 2)), np.ones(3)),
        ValueError,
        "gates, x and y have shapes (2, 1), (3, 2) and (3,); allowed: (N, K), (N, n) and (N,)",
    ),
    (
        lambda: gated_networks._limit(np.array([1.0, 0.0]), 0.0, np.array([1.0, 1.0]), 1),
        ValueError,
        "b lies outside the range of A: the weights grow for ever; allowed: moments of one law",
    ),
    (
        lambda: gated_training._classes_fit(np.ones(2), np.ones(3)),
        ValueError,
        "one and zero have shapes (2,) and (3,); allowed: one shape",
    ),
    (
        lambda: gates._family_fits("opposite pairs", 8, 3),
        ValueError,
        "K = 3 is odd; allowed: even numbers of opposite pairs",
    ),
    (
        lambda: gates._pixels_fit([1, 1], np.ones((4, 2))),
        ValueError,
        "pixels = [1, 1] has one twice; allowed: different pixels",
    ),
    (
        lambda: relu_flow._one_network(np.ones((2, 3)), np.ones((2, 4))),
        ValueError,
        "W and later have shapes (2, 3) and (2, 4); allowed: one shape",
    ),
    (
        lambda: ring._nonnegative(np.array([1.0, -0.5]), 1.0),
        receptive.NotACovariance,
        "covariance has the eigenvalue -0.5; allowed: none below 0",
    ),
    (
        lambda: tilings.label_data("data", tilings.Label(np.ones((3, 4)), np.ones((3, 4)), np.ones(4))),
        ValueError,
        "data has parts of shapes (3, 4), (3, 4) and (4,); allowed: coefficients",
    ),
    (
        lambda: tilings._start_fits(np.ones(6), 100.0, DATA),
        ValueError,
        "ratio = 100: no neuron is ever off; allowed: a bias below some pre-activation",
    ),
    (
        lambda: tilings._label_fits(np.zeros(9), LABEL, 9),
        ValueError,
        "n = 9 is not the ring of this label; allowed: 6 or one more",
    ),
    (
        lambda: training.train_fields(
            np.ones((1, 1, 4)), receptive.fixed_batches(*np.full((2, 2, 4), 1e25)), steps=1, lr=1e20
        ),
        FloatingPointError,
        "the loss is not finite after 1 steps with lr = 1e+20; try lr = 2.5e+19",
    ),
    (
        lambda: training.train_gaussian_fields(
            np.ones((1, 4)), np.eye(4), np.eye(4), 4, steps=60, lr=1e20, keep_every=60
        ),
        FloatingPointError,
        "the weights are not finite after 60 steps with lr = 1e+20; try lr = 2.5e+19",
    ),
    (
        lambda: wave_growth._refuse_few(np.r_[1e9, np.ones(999)]),
        receptive.FewVectors,
        "samples = 1000 count as 1: few vectors carry the average; allowed: a smaller gain, or a larger ring",
    ),
    (
        lambda: linear.descend_linear(ROWS, [1.0, 1.0], 0.5, rate=1e3, steps=60, batch=2, seed=0),
        FloatingPointError,
        "the weights grew without bound at rate = 1000; use a smaller one",
    ),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("call", "kind", "words"), CALLS, ids=[words[:40] for *_, words in CALLS])
def test_a_call_is_refused_in_these_words(call, kind, words):
    with pytest.raises(kind, match=re.escape(words)):
        call()
