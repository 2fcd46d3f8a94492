"""Work that is cut into blocks: how large a block is, that nothing is left out, and that the result is the same."""

from types import SimpleNamespace

import numpy as np
import pytest
from superposition import codes, features, incidental, rug, toy
from superposition.codes import as_networks
from superposition.correlated import company_field
from superposition.diagnosis import measures
from superposition.incidental import many_networks
from superposition.rug import rugs


def sizes_of(patch, module, name, length):
    """A list to which each call of a function adds its size."""
    sizes, function = [], getattr(module, name)

    def noting(*places, **names):
        found = function(*places, **names)
        sizes.append(length(found, *places, **names))
        return found

    patch.setattr(module, name, noting)
    return sizes


def test_feature_vectors_of_a_rug_are_drawn_two_million_numbers_at_a_time():
    ends = []
    rug.simulated_loss(
        rug.Rug(2**19, 1), a=1.0, b=-0.1, p=0.05, samples=6, seed=0, progress=lambda *done: ends.append(done)
    )
    assert ends == [(4, 6), (6, 6)]


def test_feature_vectors_of_a_toy_model_are_drawn_two_million_numbers_at_a_time(monkeypatch):
    sizes = sizes_of(monkeypatch, features, "sample", lambda x, *_, **__: x.shape)
    toy.simulated_loss(np.full((1, 2**10), 0.01), 0.0, 1.0, 0.1, samples=2**11 + 5, seed=0)
    assert sizes == [(2**11, 2**10), (5, 2**10)]


def test_characteristic_functions_of_a_row_are_held_four_million_numbers_at_a_time(monkeypatch):
    sizes = []
    monkeypatch.setattr(rugs, "_feature_cf", lambda s, p: sizes.append(s.size) or np.ones((len(s), 1)))
    weights = np.random.default_rng(0).uniform(-1e-3, 1e-3, 1200)
    rug.row_loss(weights, a=1.1, b=-0.01, p=0.3)
    assert len(sizes) == sum(sizes) // 2**22 and max(sizes) < 2 * 2**22


def test_a_diagnosis_reads_two_million_numbers_at_a_time(monkeypatch):
    assert measures._blocks(2**20) == [(start, start + 2) for start in range(0, 2**20, 2)]
    monkeypatch.setattr(measures, "BLOCK", 100)
    assert measures._blocks(30) == [(start, start + 3) for start in range(0, 30, 3)]
    assert measures._blocks(31)[-1] == (30, 31)
    assert measures._blocks(200) == [(one, one + 1) for one in range(200)]


def test_interference_of_company_is_held_in_blocks(monkeypatch):
    x = features.sample(5, 0.5, 23, seed=0)
    W_in, W_out = np.random.default_rng(1).standard_normal((2, 3, 5))
    parts = [*company_field._interference(x, W_in, W_out.T, 0.7)]
    assert len(parts) == 1
    monkeypatch.setattr(company_field, "BLOCK", 20)
    cut = [*company_field._interference(x, W_in, W_out.T, 0.7)]
    assert [len(part) for part, *_ in cut] == [4] * 5 + [3]
    for whole, pieces in zip(parts[0], zip(*cut, strict=True), strict=True):
        np.testing.assert_allclose(np.concatenate(pieces), whole, rtol=1e-12)


def test_networks_are_moved_a_million_weights_at_a_time(monkeypatch):
    w0 = np.random.default_rng(2).uniform(-0.6, 0.6, (7, 3, 4))
    whole = incidental.gradient_flow_each(w0, 0.01, 3.0)
    monkeypatch.setattr(many_networks, "CHUNK", 25)
    ends = []
    cut = incidental.gradient_flow_each(w0, 0.01, 3.0, progress=lambda *done: ends.append(done))
    assert ends == [(2, 7), (4, 7), (6, 7), (7, 7)]
    np.testing.assert_allclose(cut, whole, rtol=1e-12)


@pytest.mark.parametrize(("samples", "wanted"), [(10, [10]), (11, [5, 6]), (41, [8, 8, 8, 8, 9])])
def test_vectors_of_a_network_are_drawn_a_million_strengths_at_a_time(monkeypatch, samples, wanted):
    sizes = sizes_of(monkeypatch, as_networks, "drawn", lambda _, B, p, count, rng: count)
    monkeypatch.setattr(as_networks, "CHUNK", 50)
    as_networks.network_loss(codes.swept_fan(5, 100), 0.05, samples=samples, seed=0)
    assert sizes == wanted


def test_vectors_of_a_tile_are_drawn_twenty_thousand_at_a_time(monkeypatch):
    pytest.importorskip("torch")
    from superposition.codes import tile_search

    sizes = sizes_of(monkeypatch, tile_search, "draw", lambda _, B, p, size, generator: size)
    monkeypatch.setattr(tile_search, "CHUNK", 20)
    codes.measured_code_loss(*codes.priority_fan(5, 1), 0.1, samples=50, seed=0)
    assert sizes == [20, 20, 10]


def test_a_forward_pass_is_given_four_million_numbers_at_a_time(monkeypatch):
    torch = pytest.importorskip("torch")
    from superposition.diagnosis import objects

    sizes, x = [], np.arange(33.0).reshape(11, 3)

    def step(part):
        sizes.append(len(part))
        return torch.as_tensor(2 * part)

    monkeypatch.setattr(objects, "BLOCK", 13)
    np.testing.assert_array_equal(objects._batched(step)(x), 2 * x)
    assert sizes == [4, 4, 3]


@pytest.mark.parametrize(("ns", "wanted"), [(2**11, 2**13), (2**14, 4096)])
def test_a_trained_autoencoder_is_judged_on_sixteen_million_numbers_and_four_thousand_vectors(monkeypatch, ns, wanted):
    torch = pytest.importorskip("torch")
    from superposition.rug import device_training, evaluation

    settings = SimpleNamespace(ns=ns, batch=64, p=0.1)
    draws = []
    monkeypatch.setattr(evaluation, "draw", lambda *_: draws.append(64) or torch.rand(64, 1))
    monkeypatch.setattr(evaluation, "autoencoder_output", lambda weights, x: 0 * x)
    loss, se = evaluation.evaluate([], settings, np.random.default_rng(0), torch.device("cpu"), None)
    assert sum(draws) == wanted
    np.testing.assert_allclose([loss, se], [1 / 3, (4 / 45 / wanted) ** 0.5], rtol=0.1)
    there = []
    monkeypatch.setattr(device_training, "draw_there", lambda x, *_: there.append(len(x)) or x.fill_(0.5))
    weights = torch.zeros(ns, 1), torch.zeros(ns, 1), torch.zeros(ns)
    assert device_training._fresh_loss(weights, settings, None, None) == (0.25, 0.0)
    assert sum(there) == wanted
