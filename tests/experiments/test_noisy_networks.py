"""What the named runs of chapter 5 report: laws by name, crossings, and a description that says what it should."""

import numpy as np
import pytest
from superposition import incidental, runs
from superposition.experiments import noise_description, noisy_networks
from superposition.incidental import NoisyTrajectory

SMALL = {
    "law_name": "bipolar", "sigma": 0.15, "n": 4, "m": 8, "eta": 0.02, "steps": 400, "lambda_": 0.0,
    "noise": "shared", "draws": 1, "relu": True, "instances": 3, "seed": 0,
}  # fmt: skip


def test_laws_by_name():
    assert noisy_networks.law("uniform", 0.2) == incidental.uniform(0.2)
    assert noisy_networks.law("discrete:-0.5", 0.2) == incidental.discrete(0.2, -0.5)
    for name in ("cauchy", "discrete", "discrete:"):
        with pytest.raises(ValueError, match="is unknown; allowed: bipolar, uniform, normal, laplace, discrete:K"):
            noisy_networks.law(name, 0.1)


def test_crossing_interpolates_and_says_never():
    steps = [0, 10, 20, 30]
    assert noise_description.crossing(steps, [0.1, 0.2, 0.4, 0.3], 0.3) == pytest.approx(15)
    assert noise_description.crossing(steps, [0.1, 0.2, 0.3, 0.3], 0.5) == 0
    assert noise_description.crossing(steps, [0.6, 0.2, 0.4, 0.7], 0.5) == 0  # starts above
    for level in (np.inf, -np.inf, np.nan):
        with pytest.raises(ValueError, match=rf"level = {level} is out of range; allowed: \(-inf, inf\)"):
            noise_description.crossing(steps, [0.1, 0.2, 0.4, 0.3], level)


def test_description_of_known_weights():
    end = np.stack([incidental.simplex(8, 16), 0.9 * incidental.simplex(8, 16)])
    dense = np.full_like(end, 0.25)
    steps = np.arange(0, 201)
    W = dense + (steps[:, None, None, None] / 200) * (end - dense)
    found = noise_description.description(NoisyTrajectory(steps, W), 0.05)
    assert found["direction"] == pytest.approx(0.7940, abs=1e-4)
    assert found["direction_se"] == pytest.approx(0, abs=1e-12)
    assert found["stuck"] == 1 and found["stuck_direction"] == pytest.approx(1 / 7)
    assert found["S"] == pytest.approx((1 + 0.81) / 2)
    assert found["overlap"] == pytest.approx(-(1 + 0.81) / 14) and found["overlap_max"] == pytest.approx(-0.81 / 7)
    # out of reach at 0.04; at 0.05 the stuck row (l1 norm sqrt(7)) of the shorter simplex is within reach of 7 rows
    assert found["open"] == pytest.approx(7 / 112)
    assert noise_description.description(NoisyTrajectory(steps, W), 0.04)["open"] == 0
    assert noise_description.description(NoisyTrajectory(steps, W), 0.1)["open"] == 1
    assert found["dead"] == 0 and found["shared"] == 0 and found["diverged"] == 0
    assert len(found["curve"].split()) == 41 and len(found["curve_rows"].split()) == 8 * 41
    np.testing.assert_allclose(np.array(found["example"].split(), float).reshape(8, 16), end[0], atol=1e-4)


def test_shared_neurons_and_dead_rows_are_counted():
    W = np.zeros((201, 2, 3, 4))
    W[:, :, 0, 0], W[:, :, 1, 0] = 0.9, -0.9  # two features in one neuron, and a third that is dead
    found = noise_description.description(NoisyTrajectory(np.arange(201), W + 1e-9), 0.0)
    assert found["shared"] == 1 and found["dead"] == 1


def test_the_instance_to_show_is_the_first_with_one_stuck_row():
    sparse, dense = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.3] * 8
    W = np.array([[[dense, dense, sparse], [sparse, sparse, sparse], [dense, sparse, sparse], [dense, sparse, sparse]]])
    assert noise_description.example(NoisyTrajectory(np.array([0]), W)) == 2
    assert noise_description.example(NoisyTrajectory(np.array([0]), W[:, :2])) == 0


def test_without_noise_orthogonal_rows_are_closed_to_each_other():
    W = np.tile(np.eye(3), (201, 2, 1, 1))
    assert noise_description.description(NoisyTrajectory(np.arange(201), W), 0.0)["open"] == 0


def test_standard_error_of_a_crossing_is_that_of_the_mean_curve():
    rng = np.random.default_rng(0)
    steps = np.arange(0, 101)
    times = []
    for _ in range(200):  # straight lines with random slopes: the mean curve crosses 0.3 at 0.3 / mean slope
        slopes = 0.01 * (1 + 0.2 * rng.standard_normal(16))
        times.append(noise_description._jackknife(steps, steps[:, None] * slopes, 0.3))
    reported = [noise_description._mean_se("t", t, jackknife=True)["t_se"] for t in times]
    spread = np.std([t[0] for t in times], ddof=1)
    assert np.mean(reported) == pytest.approx(spread, rel=0.2)  # 200 runs: 5 % each, four times


def test_a_point_runs_and_a_diverged_one_has_the_same_columns():
    found = noisy_networks.trained_under_noise(**SMALL)
    wild = noisy_networks.trained_under_noise(**{**SMALL, "sigma": 3.0, "eta": 0.1})
    assert wild["diverged"] == 3 and found["diverged"] == 0
    assert set(found) == set(wild)
    assert found == noisy_networks.trained_under_noise(**SMALL)
    assert found["f"] != noisy_networks.trained_under_noise(**{**SMALL, "seed": 1})["f"]
    with pytest.raises(ValueError, match="steps = 100 is out of range"):
        noisy_networks.trained_under_noise(**{**SMALL, "steps": 100})


@pytest.mark.parametrize("name", ["noise-million", "noise-figures", "noise-eta", "noise-laws"])
def test_points_of_the_grids_are_accepted_by_the_function(name):
    for grid in runs.GRIDS:
        for point in runs.points(runs.find(name), grid):
            assert noisy_networks.law(point.law_name, point.sigma).sigma == point.sigma
            assert set(point.model_dump()) == set(SMALL)
