"""Parts of reading a stranger's file, and of the table of finished trainings, at their limits."""

from types import SimpleNamespace as Found

import numpy as np
import pytest
from superposition import features
from superposition.diagnosis import (
    checkpoints,
    files,
    finished,
    forward_passes,
    layouts,
    objects,
    reading,
    record_verifier,
    strangers,
    survey,
    toy_or_sae,
)
from superposition.diagnosis.feature_laws import FeatureLaw, Population
from superposition.rug import meanfield

TENSOR = checkpoints._Tensor(("key", "FloatStorage", 4), 0, (2, 2), (2, 1))


def test_names_of_a_checkpoint_as_many_as_allowed(monkeypatch):
    monkeypatch.setattr(checkpoints, "MOST_NAMES", 2)
    assert checkpoints._weights({"w": TENSOR, "n": 3}) == ({"w": TENSOR}, {"n": 3}, None, "")
    with pytest.raises(ValueError, match="3 names; allowed: 2"):
        checkpoints._weights({"w": TENSOR, "n": 3, "m": 4})
    monkeypatch.setattr(files, "MOST_NAMES", 2)
    assert files._counted([1, 2]) == [1, 2]
    with pytest.raises(ValueError, match="3 arrays; allowed: 2"):
        files._counted([1, 2, 3])


def test_what_lies_beside_the_weights_of_a_checkpoint_is_a_setting():
    inner = checkpoints.INNER[0]
    tensors, settings, module, way = checkpoints._weights({inner: {"w": TENSOR}, "epoch": 3, "other": TENSOR})
    assert (tensors, module, way) == ({"w": TENSOR}, None, f"['{inner}']")
    assert settings == {"epoch": 3, "other": "a tensor (2, 2)"}


@pytest.mark.parametrize(
    ("size", "packed", "refused"),
    [(2**24, 1, False), (2**24 + 50, (2**24 + 50) // 50 + 1, False), (2**24 + 34, (2**24 + 34) / 50, False),
     (2**24 + 1, 2**24 // 50, True), (2**30, 2**20, True), (2**30, 2**29, False)],
)  # fmt: skip
def test_a_part_is_packed_fifty_times_at_most(size, packed, refused):
    part = Found(file_size=size, compress_size=packed, filename="W.npy")
    if refused:
        with pytest.raises(ValueError, match=f"W.npy is packed {size // packed} times"):
            files._bounded(part)
    else:
        files._bounded(part)


def test_a_finished_training_has_the_error_of_its_seeds_and_of_each_axis(monkeypatch):
    axes = np.log([32.0, 64, 128]), np.log([0.01, 0.02, 0.04]), np.array([0.1, 0.2, 0.3])
    a, b, c = np.array([0.0, 1, 1.5]), np.array([0.0, -1, -3]), np.array([0.3, 0.2, 0.5])
    values = a[:, None, None] + b[:, None] + c
    monkeypatch.setattr(finished, "_grid", lambda: (axes, values, 0.05))
    p, ns, nd = 0.01 * 2**0.5, 40, 7  # r = .175; half of the first step of p
    w = np.log(40 / 32) / np.log(2)
    value = w * 1 - 0.5 + 0.3 - 0.1 * 0.75
    bends = 0.25 * w * (1 - w), 0.5 * 0.25, 0.2 * 0.75 * 0.25
    found = finished.finished(p, nd, ns)
    assert found.loss == pytest.approx(np.exp(value) * float(meanfield.optimum(p, 0.175).loss))
    assert found.error == pytest.approx(np.sqrt(0.05**2 + np.sum(np.square(bends))))
    later = finished.finished(0.02 * 2**0.5, 20, 80)  # in the second step of each axis
    w = np.log(80 / 64) / np.log(2)
    expected = np.exp(1 + 0.5 * w - 2 + 0.35) * float(meanfield.optimum(0.02 * 2**0.5, 0.25).loss)
    assert later.loss == pytest.approx(expected)
    known = [(0.01, 8, 80), (0.04, 8, 40), (0.02, 19.8, 64), (0.02, 5.8, 64)]
    assert all(finished.finished(*at) is not None for at in known)
    assert all(
        finished.finished(*at) is None for at in [(0.0099, 8, 40), (0.0401, 8, 40), (0.02, 21, 64), (0.02, 5, 64)]
    )
    beyond = finished.BEYOND
    assert finished.finished(0.02, 0.2 * 128 * beyond, 128 * beyond) and finished.finished(
        0.02, 6.4 / beyond, 32 / beyond
    )
    assert finished.finished(0.02, 0.2 * 129 * beyond, 129 * beyond) is None
    assert finished.finished(0.02, 0.2 * 31 / beyond, 31 / beyond) is None


def scope(length=1.0, **settings):
    parts = {"decoder.weight": np.full((4, 3), length / 2)}
    return forward_passes.llama_scope({"jump_relu_threshold": 0.5, **settings}, parts)


def test_lengths_of_directions_matter_to_gates_alone():
    assert scope(2.0, act_fn="relu").threshold is None and scope(1.0005).threshold == 0.5
    with pytest.raises(ValueError, match="true or false in hyperparams.json"):
        scope(1.01)
    np.testing.assert_allclose(scope(2.0, sparsity_include_decoder_norm=True).threshold, 0.25)
    np.testing.assert_allclose(scope(2.0, sparsity_include_decoder_norm=False).threshold, 0.5)
    with pytest.raises(ValueError, match="false, as it selects by another number"):
        scope(2.0, act_fn="topk", sparsity_include_decoder_norm=True, top_k=2)
    assert scope(1.0, act_fn="topk", sparsity_include_decoder_norm=True, top_k=2).k == 2


def test_a_decoder_without_a_signature_takes_no_places():
    assert objects._takes_places(object()) is False
    assert objects._takes_places(lambda top_acts, top_indices: 0) and not objects._takes_places(lambda z: 0)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_lists_of_numbers_are_finite(value):
    assert reading._shape("W", [[1.0, 2.0]]) == (1, 2)
    with pytest.raises(ValueError, match="W = .* allowed: "):
        reading._shape("W", [[1.0, value]])


def test_a_text_is_cut_where_it_is_longer_than_allowed():
    assert strangers.cut("a" * 200) == "a" * 200 and strangers.cut("a" * 201) == "a" * 200 + "…"
    assert strangers.cut("a  b\n c", 5) == "a b c" and strangers.cut("abcdef", 5) == "abcde…"
    assert strangers.cut(" " * 3 + "ab" + " " * 900 + "c") == "ab"


def test_six_lines_of_an_error_are_kept():
    lines = ["allowed: " + "a" * 1191, *"bcdefgh"]
    for first in (lines[0], lines[0] + "a"):
        with pytest.raises(ValueError) as refusal, strangers.untrusted("path = it"):
            raise ValueError("\n".join([first, *lines[1:]]))
        assert str(refusal.value) == "path = it: " + "\n".join(lines[:6])


def test_thresholds_are_in_units_of_the_lengths_of_directions():
    parts = {"decoder.weight": np.array([[0.5, 0, 4.0]]), "log_jumprelu_threshold": np.zeros(3)}
    for scaled, bars in ((True, [2, 1, 0.25]), (False, [1, 1, 1])):
        found = forward_passes.llama_scope({"sparsity_include_decoder_norm": scaled}, parts)
        assert found.threshold.tolist() == bars and found.gate == "jumprelu"


@pytest.mark.parametrize(("activation", "gate", "k"), [(None, None, None), ("ReLU", "relu", None), ("TopK", "topk", 3)])
def test_openai_s_inputs_are_without_the_bias(activation, gate, k):
    found = forward_passes.openai({"activation": activation, "activation_state_dict": {"k": 3}}, {})
    assert (found.taken, found.gate, found.k, found.rescaled) == (True, gate, k, False)


def test_a_header_ends_within_its_file(tmp_path):
    path = tmp_path / "W.safetensors"
    for length, said in ((3, "is no safetensors file"), (2, "cannot be read")):  # two bytes, which are no JSON
        path.write_bytes(length.to_bytes(8, "little") + b"{ ")
        with pytest.raises(ValueError, match=said):
            files.opened(path)


@pytest.mark.parametrize(
    ("shape", "stride", "said"), [([2], [0], "overlap"), ([2, 2], [1, 1], "overlap"), ([2], [1], "")]
)
def test_numbers_of_a_tensor_do_not_overlap(shape, stride, said, tmp_path):
    (tmp_path / "file").write_bytes(np.arange(-1, 3, dtype="<f4").tobytes())
    one = {"shape": shape, "stride": stride, "kind": "F32", "offset": 1, "at": 4}
    found = files._stored(tmp_path / "file", one, {}, None)
    if said:
        with pytest.raises(ValueError, match=said):
            found.numbers()
    else:
        assert found.numbers().tolist() == [1, 2]
        with pytest.raises(ValueError, match="a tensor outside of the file"):
            files._stored(tmp_path / "file", one | {"at": 5}, {}, None).numbers()


def test_toy_models_have_the_settings_of_toy_models_and_others_have_not():
    for row in layouts.LAYOUTS:
        toy = bool({"W", "W_in", "W_in'"} & {role.rstrip("?") for role in row.roles.values()})
        assert (row.settings == layouts.TOY) is toy, row


def test_an_object_that_only_encodes_is_refused():
    class Half:
        def encode(self, x):
            return x

    with pytest.raises(ValueError, match="encode = .*, decode = None; allowed: a module or object"):
        objects.of(Half(), None, None, 3, None)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_arrays_are_finite(value):
    with pytest.raises(ValueError, match="allowed: "):
        reading.read({"W": np.array([[1.0, value], [0, 1]]), "b": np.zeros(2)})


def test_tensors_lie_in_so_many_dictionaries_at_most():
    deep = TENSOR
    for _ in range(checkpoints.DEEPEST):
        deep = {"a": deep}
    assert list(checkpoints._tensors(deep)) == [TENSOR] and not list(checkpoints._tensors({"a": {"a": deep}}))


def test_an_instance_of_a_file_is_asked_for(monkeypatch):
    asked = []
    monkeypatch.setattr(record_verifier.reading, "read", lambda path, **how: asked.append(how))
    with pytest.raises(AttributeError):
        record_verifier.of_file("file", 0.1, 2)
    assert asked == [{"instance": 2, "reading": "toy"}]


def test_arrays_of_an_instance_have_its_axis():
    arrays = [np.ones((2, 3)), np.ones(2), np.ones((3, 2))]
    mine, _ = objects._one_instance(arrays, 2, 1, None)
    assert [one.shape for one in mine] == [(3,), (2,), (3, 2)]


def test_twins_in_different_blocks(monkeypatch):
    monkeypatch.setattr(survey, "BLOCK", 2)
    assert survey.twins(np.hstack([np.eye(5), 3 * np.eye(5)[:, :2]])) == 4 and survey.twins(np.eye(5)) == 0


def test_what_a_pass_assumes_is_told():
    assert scope(norm_activation="dataset-wise").told == ("inputs are in the units to which it normalises them",)
    assert scope().told == scope(norm_activation="none").told == ()


def test_tensors_of_half_precision_become_single_and_others_stay():
    torch = pytest.importorskip("torch")
    kinds = {"bfloat16": "float32", "float16": "float32", "float64": "float64", "int8": "int8", "int64": "int64"}
    assert {name: str(files.plain(torch.ones(2, dtype=getattr(torch, name))).dtype) for name in kinds} == kinds


def test_unequal_features_are_drawn_from_the_generator():
    population = Population.of([0.1, 0.5, 0.9], None, None, 3)
    one, two = (population.draw(5, np.random.default_rng(seed)) for seed in (3, 4))
    assert np.array_equal(one, features.sample_each(population.each, 5, seed=np.random.default_rng(3)))
    assert not np.array_equal(one, two)


@pytest.mark.parametrize("mean", [np.inf, -np.inf])
def test_a_law_has_a_finite_mean(mean):
    with pytest.raises(ValueError, match="mean = -?inf is (out of range|not finite)"):
        FeatureLaw(mean, 1.0, lambda rng, shape: rng.standard_normal(shape))


NORMALISES = "inputs are in the units to which it normalises them"
INSTEAD = "its threshold takes the place of the batch, as SAELens saves it for inference"


@pytest.mark.parametrize(
    ("settings", "told", "gate"),
    [
        ({"architecture": "batchtopk"}, (INSTEAD,), "jumprelu"), ({"architecture": "jumprelu"}, (), "jumprelu"),
        ({"architecture": "matryoshka_batchtopk", "normalize_activations": True}, (NORMALISES, INSTEAD), "jumprelu"),
        ({}, (), "relu"), ({"normalize_activations": "expected_average_only_in"}, (NORMALISES,), "relu"),
        ({"normalize_activations": "none"}, (), "relu"), ({"activation_fn": "topk", "k": 3}, (), "topk"),
    ],
)  # fmt: skip
def test_what_a_pass_of_saelens_assumes_is_told(settings, told, gate):
    parts = {"threshold": np.full(3, 0.2)} if gate == "jumprelu" else {}
    found = forward_passes.saelens(settings, parts)
    assert (found.told, found.gate, found.taken, found.rescaled) == (told, gate, True, False)


@pytest.mark.parametrize(
    ("kinds", "precision"),
    [
        ((), 2**-23), (("float64",), 2**-52), (("float32", "float64"), 2**-23), (("torch.float16", "float32"), 2**-10),
        (("torch.bfloat16", "torch.float16"), 2**-7), (("int64",), 2**-52),
    ],
)  # fmt: skip
def test_a_model_is_as_precise_as_its_coarsest_array(kinds, precision):
    assert objects._precision([Found(dtype=kind) for kind in kinds] + [Found()]) == precision


def test_a_prefix_of_names_ends_at_a_dot():
    row = Found(needed=("w_enc", "b_enc"))
    names = dict.fromkeys(["w_enc", "b_enc", "a.w_enc", "a.b_enc", "xw_enc", "xb_enc", "c.b_enc"])
    assert set(reading._prefixes(names, row)) == {"", "a."}


@pytest.mark.parametrize(("b_dec", "taken"), [("taken", True), ("kept", False)])
def test_answers_of_a_reader_stand_in_where_the_file_has_none(b_dec, taken):
    said = toy_or_sae.Answers(None, None, b_dec, "topk", 3, (), False)
    found = toy_or_sae._answered(forward_passes.Pass(None, None), said, True, "it")
    assert (found.taken, found.gate, found.k) == (taken, "topk", 3)
    own = toy_or_sae._answered(
        forward_passes.Pass(True, "topk", 4), said._replace(b_dec=None, activation=None, k=None), True, "it"
    )
    assert (own.taken, own.gate, own.k) == (True, "topk", 4)


E = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


@pytest.mark.parametrize(("given", "turned"), [(E, False), (E.T, True), (E[:2], False)])
def test_matrices_are_turned_where_the_biases_fit_only_so(given, turned):
    told, said = [], toy_or_sae.Answers(None, None, None, None, None, (), False)
    roles = {"E": given, "D": given.T, "c": np.arange(len(given.T if turned else given)) + 1.0}
    found = toy_or_sae._sae(layouts.LAYOUTS[0], roles, forward_passes.Pass(True, "relu"), said, "it", told)
    assert told.count("matrices are turned to fit the biases") == turned
    assert found.ns == len(roles["c"]) and np.array_equal(found.W_out, given.T if turned else given)
