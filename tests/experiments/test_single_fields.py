"""Single neurons beside their initial weights: what is compared, and on which data."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("torch")
from superposition import receptive  # noqa: E402
from superposition.experiments import single_fields  # noqa: E402


def test_peaks_and_signs_are_those_of_the_initial_weights_smoothed(monkeypatch):
    rng, n, initials = np.random.default_rng(1), 12, 40
    w0, first, second = (rng.standard_normal((initials, 1, n)) for _ in range(3))
    asked, fields = [], iter([first, second])
    monkeypatch.setattr(receptive, "initial_weights", lambda *size, **how: asked.append((size, how)) or w0)
    monkeypatch.setattr(single_fields, "batches", lambda *task, **how: (task, how))

    def trained(W, data, **how):
        asked.append((W is w0, data, how))
        return SimpleNamespace(W=next(fields))

    monkeypatch.setattr(receptive, "train_fields", trained)
    task = {"n": n, "xi1": 1.5, "xi2": 0.7, "gain": 2.0, "scale": 0.8, "batch": 5, "seed": 4, "device": "cpu"}
    found = single_fields.location(**task, initials=initials, steps=3, lr=0.1)
    data = [(("nlgp", n, 1.5, 0.7, 2.0, 5), {"seed": seed, "device": "cpu"}) for seed in (8, 9)]
    assert asked[0] == ((initials, 1, n), {"scale": 0.8, "seed": 4})
    assert asked[1:] == [(True, one, {"steps": 3, "lr": 0.1}) for one in data]
    w, u = w0[:, 0], first[:, 0]
    at = np.abs(u).argmax(axis=1)
    C1, C0 = (receptive.nlgp_covariance(n, xi, 2.0) for xi in (1.5, 0.7))
    flow = np.array([receptive.single_neuron_flow(one, C0, C1, [1.0])[0] for one in w])
    forecasts = {"raw": w, "smooth": w @ C1, "twice": w @ C1 @ C1, "flow": flow, "again": second[:, 0]}
    for name, forecast in forecasts.items():
        apart = np.abs(np.abs(forecast).argmax(axis=1) - at)
        apart = np.minimum(apart, n - apart)
        assert found[f"{name}_exact"] == np.mean(apart == 0) and found[f"{name}_near"] == np.mean(apart <= 1)
    top = u[range(initials), at]
    assert found["positive"] == np.mean(top > 0)
    assert found["same_sign"] == np.mean(top * (w @ C1)[range(initials), at] > 0) not in (found["positive"], 0, 1)
    assert found["n_ipr"] == pytest.approx(np.median(n * (u**4).sum(axis=1) / (u**2).sum(axis=1) ** 2))
