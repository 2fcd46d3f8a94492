"""The trained autoencoder: what it learns, what it refuses, what its statistics mean."""

import numpy as np
import pytest
import torch
from sampled import sampled
from superposition import features
from superposition.rug import evaluation, meanfield, model, rugs, training


@pytest.fixture(scope="module")
def trained():
    return training.train_autoencoder(64, 16, 0.05, steps=600, seed=3)


def test_training_goes_below_the_linear_model_at_every_seed():
    linear = meanfield.linear_loss(0.05, 0.25)
    for seed in range(3):
        model = training.train_autoencoder(64, 16, 0.05, steps=600, seed=seed)
        assert model.loss + 4 * model.loss_se < linear
        assert len(model.loss_history) == 600 and not model.stopped


@pytest.mark.thorough
def test_a_seed_is_a_run(trained):
    again = training.train_autoencoder(64, 16, 0.05, steps=600, seed=3)
    np.testing.assert_array_equal(again.W_in, trained.W_in)
    assert again.loss == trained.loss
    assert training.train_autoencoder(64, 16, 0.05, steps=600, seed=4).loss != trained.loss


def test_evaluated_loss_is_that_of_the_weights(trained):
    x = features.sample(64, 0.05, 200_000, seed=99)
    output = np.maximum(x @ (trained.W_out @ trained.W_in).T + trained.bias, 0)
    errors = np.mean((x - output) ** 2, axis=1)
    se = np.hypot(errors.std() / len(x) ** 0.5, trained.loss_se)
    assert abs(errors.mean() - trained.loss) < 4 * se
    assert trained.loss_se == pytest.approx(errors.std() / np.sqrt(2**24 // 64), rel=0.02)  # 1 % is its own error


def test_training_data_follow_the_law_of_the_features():
    settings = training.training_settings(50, 5, 0.2, 1, 4000, None, None, "recipe", 0, "cpu")
    x = evaluation.draw(settings, np.random.default_rng(7), torch.device("cpu")).numpy()
    np.testing.assert_allclose(x, features.sample(50, 0.2, 4000, seed=np.random.default_rng(7)), rtol=1e-7)


@pytest.mark.parametrize("ns", sampled([2, 256, 1024, 16, 512, 2048, 4096], kept=3))
def test_the_default_rate_does_not_collapse(ns):
    nd = max(1, ns // 20)
    how = {"steps": 300 if ns <= 512 else 100 if ns <= 1024 else 40, "batch": 256, "schedule": "constant"}
    model = training.train_autoencoder(ns, nd, 0.05, seed=0, eval_samples=256, **how)
    assert model.loss < features.second_moment(0.05)  # all-zero output costs exactly this
    assert model.loss_history[-10:].mean() < model.loss_history[:10].mean()


def test_a_tied_start_keeps_rare_features():
    """At p = .002 half of the outputs of an independent start die; from a tied one none does."""
    lost = {}
    for start in ("tied", "independent"):
        model = training.train_autoencoder(64, 13, 0.002, steps=400, start=start, seed=0, eval_samples=2)
        lost[start] = int((model.rows.diagonal < 0.1).sum())
    assert lost["tied"] == 0 and lost["independent"] > 16  # a quarter of them


def test_starts_have_one_law():
    """Each start fills its weights' ranges evenly; a tied one has positive W_ii, an independent one both signs."""
    for start, negative in (("tied", 0), ("independent", 200)):
        settings = training.training_settings(400, 80, 0.05, 1, 8, None, None, "recipe", 0, "cpu", start=start)
        rng = np.random.default_rng(1)
        W_in, W_out, bias = (w.detach().numpy() for w in evaluation.initial_weights(settings, rng, torch.device("cpu")))
        for W, fan_in in ((W_in, 400), (W_out, 80)):
            assert np.abs(W).max() <= fan_in**-0.5
            assert np.std(W) == pytest.approx((3 * fan_in) ** -0.5, rel=4 * 0.45 / W.size**0.5)  # uniform: sd of its sd
        assert abs(int(((W_out @ W_in).diagonal() < 0).sum()) - negative) <= (40 if negative else 0)
        assert not bias.any()


def test_a_collapse_is_an_error_that_says_what_to_try():
    with pytest.raises(
        FloatingPointError,
        match=r"the output has collapsed to zero at step \d+ with lr = 1 .*try a smaller learning rate: lr = 0\.25",
    ):
        training.train_autoencoder(32, 4, 0.05, steps=300, lr=1.0, schedule="constant", seed=0)
    large = {"steps": 100, "batch": 256, "lr": 1e-2, "schedule": "constant", "start": "independent", "eval_samples": 2}
    with pytest.raises(FloatingPointError, match="has collapsed"):  # the rate of small models
        training.train_autoencoder(2048, 100, 0.05, seed=0, **large)
    with pytest.raises(FloatingPointError, match="the loss is not finite at step 100 with lr = 1e\\+30"):
        training.train_autoencoder(32, 4, 0.05, steps=300, lr=1e30, schedule="constant", seed=0)


@pytest.mark.thorough
def test_the_texts_stopping_rule():
    model = training.train_autoencoder(32, 8, 0.05, protocol="text", seed=0, eval_samples=1000)
    assert model.stopped and len(model.loss_history) % 100 == 0
    means = model.loss_history.reshape(-1, 100).mean(axis=1)
    assert means[-1] >= means[-2] and np.all(np.diff(means[:-1]) < 0)
    assert model.settings.lr == pytest.approx(3e-3 / 32**0.5) and model.settings.schedule == "constant"
    level, lower = torch.ones(200), torch.cat([torch.ones(100), torch.full((100,), 0.99)])
    found = [training._no_longer_falls(history) for history in (level, level[1:], lower, torch.cat([lower, level]))]
    assert found == [True, False, False, True]  # two windows are enough, and the last two count


def test_cosine_ends_at_zero(trained):
    early, late = (np.abs(np.diff(trained.loss_history[part])).mean() for part in (slice(0, 50), slice(-50, None)))
    assert late < early


def test_row_statistics_by_loops():
    rng = np.random.default_rng(0)
    W, b, p = rng.standard_normal((6, 6)), np.linspace(-6, 1, 6), 0.3
    rows = model.row_statistics(W, b, p)
    for i in range(6):
        off = np.delete(W[i], i)
        assert rows.diagonal[i] == W[i, i] and rows.b[i] == b[i]
        assert rows.b_eff[i] == pytest.approx(b[i] + p / 2 * off.sum())
        assert rows.off_mean[i] == pytest.approx(off.mean())
        assert rows.off_variance[i] == pytest.approx(off.var())
        assert rows.off_skewness[i] == pytest.approx(np.mean((off - off.mean()) ** 3) / off.std() ** 3)
        assert rows.lyapunov[i] == pytest.approx(np.sum(np.abs(off) ** 3) / np.sum(off**2) ** 1.5)
        assert rows.dead[i] == (
            max(W[i, i], 0) + rows.b_eff[i] + 4 * np.sqrt(features.variance(p) * np.sum(off**2)) <= 0
        )
    assert rows.Lambda == rows.lyapunov.max()
    kept_by_others = ~rows.dead & (np.maximum(rows.diagonal, 0) + rows.b_eff <= 0)
    assert rows.dead.any() and kept_by_others.any(), "the case has outputs of both kinds"


def test_the_effective_bias_is_the_theorys():
    """A rug with a shifted row sum and the raw bias that undoes it has the loss of the plain one."""
    rug, best = rugs.Rug(64, 16, seed=1), meanfield.optimum(0.1, 0.25)
    W = best.a * rug.dense()
    raw = best.b - features.mean(0.1) * (W.sum(axis=1) - np.diag(W))
    np.testing.assert_allclose(model.row_statistics(W, raw, 0.1).b_eff, best.b, atol=1e-12)


def test_a_digon_has_lambda_1_and_zero_rows_are_allowed():
    W = np.zeros((4, 4))
    W[:2, :2] = [[1, -1], [-1, 1]]
    rows = model.row_statistics(W, np.zeros(4), 0.05)
    np.testing.assert_array_equal(rows.lyapunov, [1, 1, 0, 0])
    np.testing.assert_array_equal(rows.dead, [False, False, True, True])


def test_dead_means_that_the_output_hardly_ever_fires(trained):
    W, b = trained.W_out @ trained.W_in, trained.bias.copy()
    assert not model.row_statistics(W, b, 0.05).dead.any()
    reach = np.diag(W) + 4 * np.sqrt(features.variance(0.05) * ((W**2).sum(axis=1) - np.diag(W) ** 2))
    b[:20] = -1.01 * reach[:20] - features.mean(0.05) * (W.sum(axis=1) - np.diag(W))[:20]
    b[20:40] = -0.3 * np.diag(W)[20:40]
    dead = model.row_statistics(W, b, 0.05).dead
    np.testing.assert_array_equal(dead, np.arange(64) < 20)
    fires = (features.sample(64, 0.05, 20_000, seed=1) @ W.T + b > 0).mean(axis=0)
    # a living output fires at least when its own feature (on in 5 % of the samples) is strong
    assert fires[dead].max() < 1e-3 < 0.01 < fires[~dead].min()


def test_a_budget_buys_steps():
    few, seconds = training.affordable_steps(64, [8, 16], seconds=0.05, steps=10**6)
    assert 1 <= few < 10**6 and (0 < seconds <= 0.05 or few == 1)
    assert training.affordable_steps(64, [8], seconds=1e5, steps=50)[0] == 50


def test_progress_is_called_once_a_step():
    seen = []
    training.train_autoencoder(
        8, 2, 0.5, steps=5, seed=0, eval_samples=2, progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(i, 5) for i in range(1, 6)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ns": 1}, "ns = 1 is out of range; allowed: whole numbers from 2 to 16384"),
        ({"nd": 9}, "nd = 9 is out of range; allowed: whole numbers from 1 to 8"),
        ({"p": 0}, "p = 0 is out of range"),
        ({"steps": 0}, "steps = 0 is out of range"),
        ({"lr": -1}, "lr = -1 is out of range"),
        ({"schedule": "step"}, "schedule = 'step' is unknown; allowed: cosine, constant"),
        ({"protocol": "paper"}, "protocol = 'paper' is unknown; allowed: recipe, earlier, text"),
        ({"start": "cold"}, "start = 'cold' is unknown; allowed: tied, independent"),
        ({"protocol": "text", "schedule": "cosine"}, "schedule = 'cosine' does not go with protocol 'text'"),
        ({"seed": -1}, "seed = -1 is out of range"),
        ({"device": "tpu"}, "device = 'tpu' is not on this machine; allowed: auto, cpu"),
        ({"device": "cuda:9"}, "device = 'cuda:9' is not on this machine"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        training.train_autoencoder(**({"ns": 8, "nd": 2, "p": 0.5, "steps": 1, "seed": 0} | arguments))


def test_bad_weights_are_named():
    with pytest.raises(ValueError, match=r"W has shape \(2, 3\); allowed: \(ns, ns\)"):
        model.row_statistics(np.ones((2, 3)), np.ones(2), 0.5)
    with pytest.raises(ValueError, match=r"b has shape \(3,\); allowed: \(4,\)"):
        model.row_statistics(np.ones((4, 4)), np.ones(3), 0.5)
    with pytest.raises(ValueError, match="W = nan is out of range"):
        model.row_statistics(np.full((4, 4), np.nan), np.ones(4), 0.5)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")
def test_cuda_gives_the_run_of_the_cpu():
    here = training.train_autoencoder(128, 26, 0.05, steps=200, seed=0, device="cpu")
    there = training.train_autoencoder(128, 26, 0.05, steps=200, seed=0, device="cuda")
    assert there.settings.device == "cuda:0"
    assert abs(here.loss - there.loss) < 4 * np.hypot(here.loss_se, there.loss_se)


def test_seconds_of_a_step_by_a_clock_that_ticks_once_a_step(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(training.time, "perf_counter", lambda: next(clock))
    assert training.affordable_steps(8, [2, 3], seconds=10) == (5, 10)
