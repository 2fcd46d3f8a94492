"""Cases that seldom come: small or large units, what overflows, what is empty, and what is left of a limit."""

import io
import json
import locale
import sys
from types import SimpleNamespace as Found

import numpy as np
import pytest
from superposition import codes
from superposition.diagnosis import (
    autoencoder,
    behaviour,
    checkpoints,
    company,
    dimensions,
    feature_laws,
    files,
    finished,
    forward_passes,
    gains,
    measures,
    names,
    objects,
    reading,
    record_verifier,
    survey,
    toy_or_sae,
)
from superposition.diagnosis.feature_laws import FeatureLaw, Population
from superposition.diagnosis.weights import Weights

B = np.array([0.1, 0.2, 0.3])
X = np.random.default_rng(0).random((20, 3))


@pytest.fixture
def ascii_alone():
    """A system whose own texts are in ASCII; Python's UTF-8 mode asks no system."""
    if sys.flags.utf8_mode:
        pytest.skip("Python is in UTF-8 mode")
    before = locale.setlocale(locale.LC_CTYPE)
    locale.setlocale(locale.LC_CTYPE, "C")
    yield
    locale.setlocale(locale.LC_CTYPE, before)


def relu(x):
    return np.maximum(x, 0)


@pytest.mark.parametrize("gain", [1.0, 100.0])
def test_loudness_does_not_depend_on_the_unit_of_the_outputs(gain):
    rows = Found(off_variance=np.array([8.0, 4.5, 1.0]), off_mean=np.zeros(3), diagonal=gain * np.ones(3))
    found = Found(rows=rows, columns=np.array([8.0, 72.0, 1.0]) / gain**2)
    loud = autoencoder._loudness(found, np.array([True, True, False]), None)
    assert loud[1] / loud[0] == pytest.approx(16**0.25)


@pytest.mark.parametrize(("activation", "stands"), [(relu, True), (lambda x: np.tanh(relu(x)), False)])
def test_a_model_by_its_responses_keeps_what_is_known_of_it(activation, stands):
    W = np.array([[1.0, -0.5, 0.2], [0.1, 0.9, 0], [0, -0.2, 0.8]])
    model = Found(ns=3, forward=lambda x: activation(x @ W.T - 20), eps=2.0**-52, told=("before",), is_sae=True)
    found, stood = behaviour._by_responses(model, 32 * X, 32.0, 0.001)
    assert stood is stands and found.is_sae and found.told[0] == "before" and len(found.told) == 2
    assert found.told[1].startswith("ReLU(W x + b) of" if stands else "ReLU(W_out W_in x + b) misses its forward pass")
    assert stands or " by 0.1 %, so all" in found.told[1]  # the least of all that were tried


def test_responses_to_pairs_give_small_gains_and_the_bias_of_what_is_on():
    W = np.diag([0.01, 0.01, -1.0, 1.0, -1.0]) + 0.001 * np.arange(25).reshape(5, 5) * (1 - np.eye(5))
    b = np.array([-0.05, 0.05, 0.0, -0.3, 0.2])  # the last is on where nothing is
    found = behaviour._pairs(Found(ns=5, forward=lambda x: relu(x @ W.T + b)), 16.0, 0.25)
    np.testing.assert_allclose(found.b, [-0.05, 0.05, -16, -0.3, 0.2], atol=1e-12)
    np.testing.assert_allclose(found.W, np.where(np.diag(W)[:, None] < 0, 0, W), atol=1e-12)


def test_weights_too_large_to_be_tried_miss_everything():
    huge = np.full((3, 3), 1e308) * [1, -1, 1]
    for more, missed in (({}, np.inf), ({"k": 1}, 1)):  # of three outputs that are infinite none is the largest
        found = Weights(B, W=np.abs(huge) if more else huge, **more)
        assert behaviour._misses(Found(forward=lambda x: x, eps=1e-16), found, 9 * np.ones((2, 3))) == missed


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_rows_are_fitted_in_the_unit_of_what_is_hidden(unit):
    D = np.array([[1.0, 0.5], [-1, 2], [0.3, -0.7]])
    rows = behaviour._fit(lambda h: relu(h @ D.T - unit), unit * np.ones((4, 2)), 2)
    np.testing.assert_allclose(rows, D, rtol=1e-9)


def test_an_output_without_a_drive_has_its_shift_alone():
    scale, shift = behaviour._scaled_and_shifted(
        np.zeros((2, 1)), np.ones((1, 2)), np.zeros(1), 1.0, lambda h: np.full((len(h), 2), 0.7), np.ones((3, 1))
    )
    assert scale.tolist() == [1, 1] and shift.tolist() == pytest.approx([0.7, 0.7])


@pytest.mark.parametrize("unit", [1.0, 2.0**-40])
def test_scale_and_shift_do_not_depend_on_the_unit(unit):
    A, F = np.array([[1.0, 0], [0, 1], [1, 0], [-1, 0], [0, 1]]), np.array([[1.0, 0, 0, 0, 0], [0, 1, 1, 1, 1]])
    scale, shift = np.array([2.0, 3.0, 0.5, 2.5, 1.0]), unit * np.array([-5.0, 0.2, -0.05, -0.5, -20.0])
    nothing, low = np.array([0.5, 0.25]), -2.5 * 32.25 - 1  # the last is on at twice the strength alone
    for second, expected in (
        (lambda h: relu(scale * (h @ A.T) + shift), ([2, 3, 0.5, 2.5, 2.5], [-5, 0.2, -0.05, -1, low])),
        (lambda h: 0 * h @ A.T, ([1] * 5, [-33.5, -33.25, -1.5, -1, -33.25])),  # below what the own feature gives
    ):
        found = behaviour._scaled_and_shifted(A, F, unit * nothing, unit, second, unit * X[:, :2])
        np.testing.assert_allclose(found[0], expected[0])
        np.testing.assert_allclose(found[1], unit * np.array(expected[1]), atol=1e-12 * unit)


def test_blocks_have_a_row_at_least(monkeypatch):
    sizes = []
    for module in (behaviour, objects, measures):
        monkeypatch.setattr(module, "BLOCK", 2)
    behaviour._columns(lambda x: sizes.append(len(x)) or x, 3, 1.0, np.zeros(3))
    behaviour._diagonal(lambda x: sizes.append(len(x)) or x, np.eye(3))
    out = objects._batched(lambda x: sizes.append(len(x)) or x + 1)(X[:3])
    assert sizes == [1] * 9 and np.array_equal(out, X[:3] + 1)
    monkeypatch.setattr(objects, "BLOCK", 6)
    assert np.array_equal(objects._batched(lambda x: sizes.append(len(x)) or x[:, :1])(X[:5]), X[:5, :1])
    assert sizes[9:] == [2, 2, 1] and measures._blocks(3) == [(0, 1), (1, 2), (2, 3)]


def test_texts_of_python_2_are_read_whatever_their_encoding():
    for content, text in ((b"U\x02\xc3\xa9", "é"), (b"U\x01\xff", "\ufffd")):
        assert checkpoints._Reader(io.BytesIO(b"\x80\x02" + content + b"."), set()).load() == text


def test_numbers_of_one_byte_have_their_places_in_the_old_format(tmp_path):
    torch = pytest.importorskip("torch")
    saved = {f"{k}": torch.full((3,), k, dtype=torch.uint8) for k in range(5)}
    torch.save(saved, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    opened = files.opened(tmp_path / "old.pt").arrays
    assert {name: one.numbers().tolist() for name, one in opened.items()} == {f"{k}": [k] * 3 for k in range(5)}


def test_settings_by_name_are_cut_where_they_are_many():
    many = {str(k): 0 for k in range(checkpoints.LONGEST)}
    assert checkpoints._plain(many) == many and checkpoints._plain(many | {"more": 0}) == "of dict"


def test_what_is_neither_a_dictionary_nor_a_module_holds_no_weights():
    tensor = checkpoints._Tensor(("Float", "0", 4), 0, [2, 2], [2, 1])
    inside = {"epoch": 3}
    inside["model"] = inside
    assert checkpoints._weights(tensor) == checkpoints._weights([tensor]) == ({}, {}, None, "")
    assert checkpoints._weights(inside) == ({}, {"epoch": 3}, None, "['model']")
    module = checkpoints._Inert()
    module.state = {"_modules": {}, "_parameters": {}}
    assert checkpoints._is_module(module) and checkpoints._weights(module)[2] is module
    module.state = {"_modules": {}}
    assert not checkpoints._is_module(module)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_given_vectors_are_finite(value):
    for kind in (float, np.float32):
        x = np.ones((100, 2), dtype=kind)
        x[3, 1] = value
        with pytest.raises(ValueError, match=f"x = {value} is out of range"):
            company.vectors("x", x)


def test_a_product_of_many_features_has_a_rank_of_one_at_least(monkeypatch):
    monkeypatch.setattr(names, "NAMED", 2)
    for W in (np.ones((3, 3)), np.zeros((3, 3))):
        assert dimensions.of(Weights(B, W=W), None) == (1, 1)


def test_the_spread_of_a_product_is_that_of_its_symmetric_part():
    W = np.array([[1.0, 0.5, -0.2], [0.1, 2.0, 0.3], [0.7, 0, 0.5]])
    relative = W / np.diag(W)[:, None]
    values = np.linalg.eigvalsh((relative + relative.T) / 2)
    assert values.min() > 0
    found = dimensions.spread(Weights(B, W=W), np.ones(3, dtype=bool), None, np.ones(3))
    assert found == pytest.approx(values.std() / values.mean())


def test_probabilities_are_between_zero_and_one():
    assert Population.of([0.0, 0.5], None, None, 2).each.tolist() == [1e-9, 0.5]
    found = Population.of(None, None, 0.5, 2)
    assert (found.p, found.chance, found.largest) == (0.25, 0.25, 1)
    for given, said in (
        (([0.1, 1.0], None, None, 2), r"p = 1 is out of range; allowed: \[0, 1\)"),
        ((0.0, None, None, 2), r"p = 0 is out of range; allowed: \(0, 1\)"),
        ((None, None, 2, 2), r"l0 = 2 is out of range; allowed: \(0, 2\)"),
        ((None, None, 0, 2), r"l0 = 0 is out of range; allowed: \(0, 2\)"),
    ):
        with pytest.raises(ValueError, match=said):
            Population.of(*given)


@pytest.mark.parametrize("variance", [np.inf, 0.0])
def test_a_law_has_a_finite_variance_above_zero(variance):
    with pytest.raises(ValueError, match=f"variance = {variance:g} is out of range"):
        FeatureLaw(0.0, variance, lambda rng, shape: rng.standard_normal(shape))


def test_a_law_of_rare_features_is_drawn_a_few_times_more(monkeypatch):
    asked = []

    def sampler(rng, shape):
        asked.append((shape, rng.random()))
        return np.eye(shape[0], 1)

    for name, value in (("DRAWN", 10), ("ENOUGH", 1000), ("MOST_DRAWS", 3)):
        monkeypatch.setattr(feature_laws, name, value)
    nodes = feature_laws._law(0.1, 0.09, sampler).nodes()
    assert asked == [((10, 1), np.random.default_rng(seed).random()) for seed in range(3)]
    np.testing.assert_allclose(nodes.x, [0, 1, 1, 1])
    np.testing.assert_allclose(nodes.weight, [0.9, *[0.1 / 3] * 3])


def test_the_best_gain_and_bias_where_nothing_is_shared_or_nothing_can_be_gained():
    found = feature_laws.rug_optimum(feature_laws.uniform_law(0.1), 1)
    assert [float(one) for one in (found.a, found.b, found.sigma, found.loss)] == [1, 0, 0, 0]
    below = feature_laws._law(-0.5, 1 / 12, lambda rng, shape: -rng.random(shape))
    found, nodes = feature_laws.rug_optimum(below, 0.5), below.nodes()
    assert float(found.a) == 0 and float(found.loss) == pytest.approx(nodes.weight @ nodes.x**2)


def test_all_values_of_given_vectors_are_counted_in_double():
    x = np.random.default_rng(1).random((500, 3), dtype=np.float32)
    law = Population.of_vectors(x).law
    assert law.variance == pytest.approx(x.astype(float).var(), rel=1e-12)
    assert law.mean == pytest.approx(x.astype(float).mean(), rel=1e-12)


def test_the_largest_settings_and_headers(tmp_path):
    path = tmp_path / "cfg.json"
    for size, said in ((2**20, None), (2**20 + 1, "has 1048577 bytes; allowed: settings of up to 1048576")):
        path.write_bytes(b"{}" + b" " * (size - 2))
        if said is None:
            assert files._json(path) == {}
        else:
            with pytest.raises(ValueError, match=said):
                files._json(path)
    for length, said in ((2**22, "cannot be read"), (2**22 + 1, "is no safetensors file")):
        (tmp_path / "W.safetensors").write_bytes(length.to_bytes(8, "little") + b" " * (length + 9))
        with pytest.raises(ValueError, match=said):
            files.arrays(tmp_path / "W.safetensors")


def test_an_empty_array_has_its_shape(tmp_path):
    np.save(tmp_path / "it.npy", np.zeros((0, 3)))
    assert files.arrays(tmp_path / "it.npy")["array"].shape == (0, 3)
    one = {"dtype": "F32", "shape": [0, 3], "data_offsets": [0, 0]}
    content = json.dumps({"it": one}).encode()
    (tmp_path / "it").write_bytes(len(content).to_bytes(8, "little") + content)
    assert files.arrays(tmp_path / "it")["it"].shape == (0, 3)
    assert repr(files.opened(tmp_path / "it").arrays["it"]) == "Array(shape=(0, 3))"


def test_texts_are_in_utf_8_on_every_system(ascii_alone, tmp_path):
    (tmp_path / "cfg.json").write_bytes('{"name": "é"}'.encode())
    assert files._json(tmp_path / "cfg.json") == {"name": "é"}
    survey.write([{"release": "é", "layer": "3"}], tmp_path / "all.csv")
    assert (tmp_path / "all.csv").read_bytes().decode().splitlines()[1].startswith("é,3,")


def test_the_release_is_the_last_two_folders(tmp_path):
    path = tmp_path / "a" / "b" / "checkpoints" / "sae.safetensors"
    assert survey._place(path) == ("a/b", "") and survey._place(path.relative_to(tmp_path / "a")) == ("b", "")
    assert survey._place(path.relative_to(tmp_path / "a" / "b" / "checkpoints")) == ("sae", "")


def test_corners_of_the_table_are_those_of_the_size_below():
    path = finished.resources.files("superposition") / "data" / finished.TABLE
    rows = [line.split(",") for line in path.read_text(encoding="ascii").splitlines()]
    at = [rows[0].index(name) for name in ("ns", "p", "r", "loss")]
    known, losses = set(), {}
    for row in rows[1:]:
        ns, p, r, loss = (float(row[k]) for k in at)
        known.add((ns, p, r))
        losses.setdefault((ns, p, r), []).append(np.log(loss))
    (ns, p, r), values, spread = finished._grid()
    sizes = np.exp(ns).round()
    lacking = [(i, j) for i, one in enumerate(sorted({one[1] for one in known})) for j, ratio in enumerate(r)
               if (sizes[2], one, ratio) not in known]  # fmt: skip
    assert len(lacking) == 2 and np.isfinite(values).all()
    for i, j in lacking:
        assert values[2, i, j] == values[1, i, j] != values[0, i, j]
    expected = np.median([np.std(several, ddof=1) for several in losses.values() if len(several) > 1])
    assert spread == pytest.approx(expected, rel=1e-9)


def test_the_table_reaches_a_little_beyond_its_ratios(monkeypatch):
    axes = np.log([32.0, 64, 128]), np.log([0.01, 0.02, 0.04]), np.array([0.26, 0.3, 0.49])
    monkeypatch.setattr(finished, "_grid", lambda: (axes, np.zeros((3, 3, 3)), 0.0))
    assert 0.26 - 0.01 == 0.25 and 0.49 + 0.01 == 0.5
    assert all(finished.finished(0.02, nd, 64) is not None for nd in (16, 32))


def test_a_transcoder_of_gemma_scope_is_told_of():
    found = forward_passes.gemma_scope({}, {"threshold": B})
    assert found == (False, "jumprelu", None, B, False, ("a transcoder of Gemma Scope has the same arrays",))


def test_a_repair_that_gains_a_twentieth_is_named(monkeypatch):
    ends = {"_answered": 0.05, "_represented": np.nextafter(0.05, 0), "_refitted": None, "_turned": 0.3}
    for name, gain in (ends | {"_trained_on": 0.1}).items():
        monkeypatch.setattr(gains, name, lambda found, gain=gain: None if gain is None else gains.Mend(gain, ""))
    assert [one.gain for one in gains.of(None)] == [0.3, 0.1, 0.05]


def test_more_dimensions_than_features_that_are_heard_lose_nothing():
    kinds = np.array(["heard", "heard", "dropped", "dropped"])
    found = Found(ns=4, nd=3, p=0.05, kind=kinds, heard=kinds == "heard", by_feature=np.ones(4), importance=None)
    assert gains._represented(found) is None


def test_no_repair_gains_more_than_the_loss():
    variance = float(feature_laws.uniform_law(0.05).variance)
    found = Found(p=0.05, sigma=variance**0.5, sigma_bound=1e-9, stands=True, nd=2, heard=np.ones(2, dtype=bool),
                  importance=None, population=Found(variance=np.full(2, variance)))  # fmt: skip
    found.loss = 0.9 * float(gains.meanfield.optimum(0.05, 0.5).loss)
    assert gains.ratio_of(found) == pytest.approx(0.5) and gains._turned(found).gain == 1


def test_gains_too_large_for_their_squares_are_refused_in_words():
    huge = Weights(np.zeros(2), W_in=np.diag([1e200, 1.0]), W_out=np.eye(2))
    with pytest.raises(ValueError, match=r"W_out W_in = 1e\+200 is out of range"):
        measures.measured(huge, np.zeros(2), np.ones(2), lambda more: None)


def test_biases_are_moved_on_as_many_outputs_as_are_enough(monkeypatch):
    weights, population = Weights(-B, W=np.eye(3) - 0.1), Population.of(0.5, None, None, 3)
    rows = measures.measured(weights, population.mean, population.variance, lambda more: None)
    shares = []
    for samples, enough in ((2, 6), (8, 6), (8, 7)):
        monkeypatch.setattr(measures, "BLOCK", 6)
        monkeypatch.setattr(measures, "REFITTED", enough)
        seen = measures.simulated(weights, population, rows, samples, 0, lambda more: None)
        shares.append(seen.refitted / seen.loss.mean)
    assert shares[0] == pytest.approx(shares[1], rel=1e-12) != pytest.approx(shares[2], rel=1e-3)


def test_a_plane_code_hides_nineteen_of_twenty_pairs(monkeypatch):
    fan = codes.priority_fan(6, 20)
    relative, loud = fan.W / np.diag(fan.W)[:, None], 20.0 ** -np.arange(6.0)
    for hidden, name in ((0.95, "a fan of 6 features"), (0.949, "a loud and quiet code of 6 features in 2 dimensions")):
        monkeypatch.setattr(names, "_hidden", lambda relative, loud, hidden=hidden: hidden)
        assert names._in_the_plane(relative, loud) == name


@pytest.mark.parametrize(("n", "is_graph"), [(8, True), (10, False)])
def test_weights_of_a_graph_have_four_sizes_at_most(n, is_graph):
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    apart = np.minimum(apart, n - apart)
    W = np.where(apart == 0, 1, np.where(apart == 1, -0.5, 0.1 * apart))
    assert len(np.unique(W[0])) - 1 == n // 2 and names._is_graph(W) is is_graph


def test_a_model_in_another_unit():
    model = objects.Model(lambda x: relu(x - 1), 3, None, None, (), None, None, False, 1e-16, ())
    np.testing.assert_allclose(model.scaled(4.0).forward(X), relu(4 * X - 1) / 4)


@pytest.mark.parametrize(("bent", "eps", "affine"), [(0, 2.0**-52, True), (0.01, 2.0**-52, False), (0.01, 0.1, True)])
def test_an_affine_step_maps_sums_to_sums(bent, eps, affine):
    assert objects._is_affine(lambda x: 2 * x + 1 + bent * x**2, 3, eps) == affine


def test_arrays_of_a_module_are_those_of_an_instance_in_numbers_with_fractions():
    torch = pytest.importorskip("torch")
    module = torch.nn.Module()
    module.register_buffer("steps", torch.arange(24).reshape(4, 3, 2))
    module.register_buffer("W", torch.arange(30.0).reshape(3, 2, 5))
    for instance, chosen in ((None, 0), (2, 2)):
        [W], _ = objects._tools(module, instance)
        assert torch.equal(W, module.W[chosen])
    for instance in (-1, 3):
        with pytest.raises(ValueError, match=f"instance = {instance} is out of range"):
            objects._tools(module, instance)
    assert objects._sizes([np.zeros((2, 1)), np.zeros(5)]) == [5, 2]
    there = objects._tensor(np.ones(2), torch.zeros(1, device="meta", dtype=torch.float16))
    assert (there.device.type, there.dtype) == ("meta", torch.float16)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_an_encoder_that_is_not_finite_is_refused_under_its_name(value):
    with pytest.raises(ValueError, match=f"^W = {value} is out of range"):
        reading.read(np.array([[1.0, value]]), np.zeros(2), np.ones((2, 1)))


def test_weights_are_single_where_their_matrices_were():
    third, one = np.full((2, 2), 1 / 3), np.eye(2)
    rounded = third.astype(np.float32)
    cases = [(rounded, True), (one.astype(np.float32), True), (one, False), (rounded.astype(float), True)]
    for W, single in [*cases, (third, False), (1e300 * third, False)]:
        assert reading._parts({"W": W, "b": np.array([0.1, 0.2])}, {"w": "W", "b": "b"})[1] is single


def test_a_record_is_better_by_more_than_rounding():
    def record(loss):
        return record_verifier.Record(10, 2, 0.2, 0.05, loss, 0.0, 1.0, 2.0).is_record

    assert record(1 - 2e-6) and not record(1 - 5e-7)


def test_two_feature_vectors_are_enough_for_a_record():
    W, b = 0.9 * np.eye(13), np.zeros(13)
    same = codes.simulated_code_loss(W, b, 0.5, samples=2, seed=3)
    assert record_verifier.measured_record(W, b, 0.5, samples=2, seed=3) == (13, 13, same.mean, same.se)
    assert autoencoder.diagnose(W, b, law=feature_laws.uniform_law(0.5), samples=2).ns == 13


@pytest.mark.parametrize("sign", [1, -1])
def test_a_product_too_large_for_a_record_is_refused_in_words(sign, tmp_path):
    np.savez(tmp_path / "it.npz", W_in=[[1e200, 1.0]], W_out=[[sign * 1e200], [1.0]], b=np.zeros(2))
    with pytest.raises(ValueError, match=f"^W_out W_in = {sign * np.inf}"):
        record_verifier.of_file(tmp_path / "it.npz", 0.1)


@pytest.mark.parametrize(("bars", "known"), [([0.0, 0, 0], False), ([-1.0, 0, 0], False), ([0.0, 0.1, 0], True)])
def test_thresholds_of_nothing_are_none(bars, known):
    told, found = [], forward_passes.Pass(True, "jumprelu", None, np.array(bars))
    weights = toy_or_sae._gated(np.ones((3, 2)), np.ones((2, 3)), B, np.zeros(2), found, told)
    assert (weights.threshold is not None) is known and len(told) == known


@pytest.mark.parametrize(
    ("k", "aim"),
    [(1, 1), (3.0, 3), (np.array([4]), 4), (0, None), (-1, None), (2.5, None), (None, None), ("3", None),
     (np.array([1, 2]), None)],
)  # fmt: skip
def test_settings_aim_at_a_whole_number(k, aim):
    assert toy_or_sae._aim(k) == aim
