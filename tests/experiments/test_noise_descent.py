"""Descent on the expected loss against training: the comparison of two batches of curves, and one point of the run."""

import numpy as np
import pytest
from superposition import incidental
from superposition.experiments import noise_descent
from superposition.incidental import bipolar

TIMES = np.linspace(0, 100, 101)
POINT = dict(law_name="bipolar", sigma=0.3, n=3, m=4, eta=0.05, descent_eta=0.2, until=50.0, level=0.9, instances=2,
             seed=1, device="cpu")  # fmt: skip


def test_starts_of_different_speed_leave_no_error_in_the_ratio():
    slopes = 0.01 * np.array([0.8, 1.0, 1.5])
    quiet = TIMES[:, None] * slopes
    found = noise_descent.compared(TIMES, quiet, quiet / 1.25, 0.3)
    assert found["log_ratio"] == pytest.approx(np.log(1.25), rel=1e-12)
    assert found["log_ratio_se"] < 1e-12 and found["descent"] == pytest.approx(0.3 / slopes.mean())


def test_the_error_of_the_ratio_is_its_spread():
    rng, ratios, errors = np.random.default_rng(0), [], []
    for _ in range(200):
        slopes = 0.01 * (1 + 0.2 * rng.standard_normal(16))
        noise = 1 + 0.05 * rng.standard_normal(16)
        found = noise_descent.compared(TIMES, TIMES[:, None] * slopes, TIMES[:, None] * slopes * noise, 0.3)
        ratios, errors = [*ratios, found["log_ratio"]], [*errors, found["log_ratio_se"]]
    assert np.mean(errors) == pytest.approx(np.std(ratios, ddof=1), rel=0.2)  # 200 draws: 5 %, four times


def test_a_level_that_is_not_reached_gives_no_ratio():
    flat = np.full((101, 2), 0.1)
    found = noise_descent.compared(TIMES, flat, flat, 0.3)
    assert set(found.values()) == {0.0}


def test_a_point_descends_the_weights_that_training_starts_from():
    found = noise_descent.descended_and_trained(**POINT)
    assert found == noise_descent.descended_and_trained(**POINT)
    W = incidental.initial_instances(3, 4, 2, seed=1)[0]
    path = noise_descent._descent(W, bipolar(0.3), 0.2, np.array([10.0, 11.0]))
    ends = incidental.descend_expected_loss(W, bipolar(0.3), eta=0.05, steps=200, record=[0, 200])
    assert path[:2] == pytest.approx(np.mean(np.sum(ends**4, axis=2), axis=1))


def test_a_time_within_the_settling_is_refused():
    with pytest.raises(ValueError, match="until = 49.* is out of range"):
        noise_descent.descended_and_trained(**{**POINT, "until": 49.0})


@pytest.mark.thorough
def test_a_border_is_the_slope_over_the_drift_and_has_the_error_of_its_networks():
    point = dict(law_name="bipolar", sigma=0.25, n=4, m=8, eta=0.1, level=0.32, draws=50, instances=3, seed=1)
    found = noise_descent.step_border(**point)
    assert found["border"] == pytest.approx(found["slope"] / found["drift"], rel=1e-12)
    start = incidental.initial_instances(4, 8, 3, seed=1)
    risen = [incidental.descend_to_level(W, bipolar(0.25), 0.32, eta=0.1) for W in start]
    parts = np.array([incidental.slope_and_drift(W, bipolar(0.25), draws=50, seed=2 + i) for i, W in enumerate(risen)])
    assert [found["slope"], found["drift"]] == pytest.approx(parts.mean(axis=0))
    without = [slope / drift for slope, drift in (np.delete(parts, i, axis=0).sum(axis=0) for i in range(3))]
    assert found["border_se"] == pytest.approx(np.sqrt(2 * np.var(without)))


@pytest.mark.thorough
def test_half_is_lost_between_the_rates_on_both_sides_of_it():
    point = dict(law_name="bipolar", sigma=0.35, n=5, m=6, eta=0.1, draws=30, instances=4, seed=3, least=600)
    found, ratios = noise_descent.half_lost(**point), np.array(noise_descent.RATIOS)
    simplex = np.mean(np.sum(incidental.simplex(5, 6) ** 4, axis=1))
    random = 3 / 8
    del point["least"]
    assert found["border"] == noise_descent.step_border(**point, level=random + (simplex - random) / 8)["border"]
    lost = np.array([found[f"lost_{r:g}"] for r in ratios])
    i = int(np.argmax(lost >= 0.5))
    assert found["half"] == pytest.approx(np.interp(0.5, lost[i - 1 : i + 1], ratios[i - 1 : i + 1]))
    rate, start = ratios[0] * found["border"], incidental.initial_instances(5, 6, 4, seed=3)
    steps = round(600 / rate)
    alone = incidental.train_with_noise(start, bipolar(0.35), eta=rate, steps=steps, record=[steps], seed=7).direction
    assert lost[0] == pytest.approx((simplex - alone.mean()) / (simplex - random), abs=0.2)  # other draws of the noise


@pytest.mark.thorough
def test_networks_that_diverge_are_left_out_of_the_share_that_is_lost():
    point = dict(law_name="bipolar", sigma=0.35, n=5, m=6, eta=0.1, draws=30, instances=4, seed=2, least=1500)
    found = noise_descent.half_lost(**point)
    assert found["diverged"] > 0 and np.isfinite(list(found.values())).all()
