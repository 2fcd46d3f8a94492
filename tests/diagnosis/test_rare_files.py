"""Cases of files that seldom come: what is empty, old, long, or in no system's own encoding."""

import io
import json
import locale
import subprocess
import sys
from types import SimpleNamespace as Found

import numpy as np
import pytest
from superposition import codes
from superposition.diagnosis import (
    autoencoder,
    checkpoints,
    company,
    feature_laws,
    files,
    finished,
    forward_passes,
    layouts,
    reading,
    record_verifier,
    survey,
    toy_or_sae,
)
from superposition.diagnosis.feature_laws import Population
from superposition.diagnosis.weights import Weights

B = np.array([0.1, 0.2, 0.3])


@pytest.fixture
def ascii_alone():
    """A system whose own texts are in ASCII; Python's UTF-8 mode asks no system."""
    if sys.flags.utf8_mode:
        pytest.skip("Python is in UTF-8 mode")
    before = locale.setlocale(locale.LC_CTYPE)
    locale.setlocale(locale.LC_CTYPE, "C")
    yield
    locale.setlocale(locale.LC_CTYPE, before)


def test_texts_of_python_2_are_read_whatever_their_encoding():
    for content, text in ((b"U\x02\xc3\xa9", "é"), (b"U\x01\xff", "\ufffd")):
        assert checkpoints._Reader(io.BytesIO(b"\x80\x02" + content + b"."), set()).load() == text


def test_numbers_of_one_byte_have_their_places_in_the_old_format(tmp_path):
    torch = pytest.importorskip("torch")
    saved = {f"{k}": torch.full((3,), k, dtype=torch.uint8) for k in range(5)}
    torch.save(saved, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    opened = files.opened(tmp_path / "old.pt").arrays
    assert {name: one.numbers().tolist() for name, one in opened.items()} == {f"{k}": [k] * 3 for k in range(5)}


def test_twenty_names_of_classes_and_of_arrays_are_said(tmp_path):
    (tmp_path / "it.pt").write_bytes(b"\x80\x02" + b"".join(b"cm%d\nA\n0" % k for k in range(30)) + b"}.")
    assert checkpoints._answer(tmp_path / "it.pt")["foreign"] == sorted(f"m{k}.A" for k in range(30))[:20]
    with pytest.raises(ValueError, match="it holds ") as refused:
        reading._named(files.Opened({f"{k}": np.ones(2) for k in range(30)}, {}, "it"), Found(ignore=()))
    assert str(refused.value).count("(2,)") == 20


def test_the_program_that_lists_has_a_limit_of_time(monkeypatch):
    def run(command, **how):
        asked.append((command, how))
        raise subprocess.TimeoutExpired(command, how["timeout"])

    asked = []
    monkeypatch.setattr(checkpoints.subprocess, "run", run)
    with pytest.raises(ValueError, match="^more than 20 seconds$"):
        checkpoints.listing("it.pt")
    how = {"capture_output": True, "timeout": 20, "check": False}
    assert asked == [([sys.executable, "-I", "-S", checkpoints.__file__, "it.pt"], how)]


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


def test_all_values_of_given_vectors_are_counted_in_double():
    x = np.random.default_rng(1).random((500, 3), dtype=np.float32)
    law = Population.of_vectors(x).law
    assert law.variance == pytest.approx(x.astype(float).var(), rel=1e-12)
    assert law.mean == pytest.approx(x.astype(float).mean(), rel=1e-12)


def test_batches_of_tensors_are_joined_whatever_their_format():
    torch = pytest.importorskip("torch")
    x = torch.arange(300.0).reshape(150, 2).bfloat16()
    found = company.vectors("x", iter([x[:70].requires_grad_(), x[70:]]))
    assert found.dtype == np.float32 and np.array_equal(found, x.float().numpy())
    assert np.array_equal(company.vectors("x", iter(x.tolist())), found)


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
    assert all(finished.finished(0.02, nd, 64) is not None for nd in (16, 32))


def test_the_first_autoencoder_of_dictionary_learning_comes_with_settings_and_without():
    [row] = [row for row in layouts.LAYOUTS if row.name == "dictionary_learning, AutoEncoder"]
    parts = {"bias": B}
    for settings in ({}, {"trainer": {"dict_class": "AutoEncoder"}}):
        assert row.rule(settings, parts) == forward_passes.Pass(True, "relu")
    with pytest.raises(ValueError, match="dict_class = 'AutoEncoderNew'"):
        row.rule({"trainer": {"dict_class": "AutoEncoderNew"}}, parts)


def test_a_transcoder_of_gemma_scope_is_told_of():
    found = forward_passes.gemma_scope({}, {"threshold": B})
    assert found == (False, "jumprelu", None, B, False, ("a transcoder of Gemma Scope has the same arrays",))


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


def test_a_record_of_a_file_has_the_dimensions_of_its_factors(monkeypatch, tmp_path):
    monkeypatch.setattr(record_verifier, "check_record", lambda W, b, p, nd: nd)
    np.savez(tmp_path / "factors.npz", W_in=np.ones((2, 3)), W_out=np.ones((3, 2)), b=B)
    np.savez(tmp_path / "product.npz", W=np.eye(3), b=B)
    assert record_verifier.of_file(tmp_path / "factors.npz", 0.1) == 2
    assert record_verifier.of_file(tmp_path / "product.npz", 0.1) is None


@pytest.mark.parametrize("measure", [record_verifier.check_record, record_verifier.measured_record])
def test_a_record_is_measured_on_a_thousand_million_vectors_at_most(measure):
    for samples in (1, 10**9 + 1):
        with pytest.raises(ValueError, match=f"samples = {samples} .* allowed: whole numbers from 2 to 1000000000$"):
            measure(np.eye(2), B[:2], 0.05, samples=samples)
    measure(np.eye(2), B[:2], 0.05, samples=10**9, seed=0)  # of so few features none is drawn


def test_a_record_is_better_by_more_than_rounding():
    def record(loss, se=0.0):
        return record_verifier.Record(10, 2, 0.2, 0.05, loss, se, 1.0, 2.0)

    assert record(1 - 2e-6).is_record and not record(1 - 5e-7).is_record
    assert "loss 0.5 (exact), " in str(record(0.5)) and "loss 0.5 ± 0.01, " in str(record(0.5, 0.01))


def test_exact_losses_are_asked_for_to_a_ten_millionth(monkeypatch):
    for module in (autoencoder, record_verifier):
        monkeypatch.setattr(module, "code_loss", lambda W, b, p, rtol: rtol)
    W, population = np.eye(3), Population.of(0.05, None, None, 3)
    assert autoencoder._exact(Weights(B, W=W), population, None, True) == 1e-7
    assert record_verifier.measured_record(W, B, 0.05) == (3, 3, 1e-7, 0)


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


@pytest.mark.parametrize(("b_dec", "d", "other"), [(None, 1, None), ("kept", 0, None), ("kept", 1, "b_dec taken")])
def test_the_other_reading_is_told_where_the_reader_has_chosen_one(b_dec, d, other):
    said = toy_or_sae.Answers(None, None, b_dec, None, None, (), False)
    roles = {"E": np.ones((3, 2)), "D": np.ones((2, 3)), "d": d * np.ones(2)}
    taken = forward_passes.Pass(None if b_dec else True, "relu")
    found = toy_or_sae._sae(layouts.LAYOUTS[0], roles, taken, said, "it", [])
    assert (found.otherwise and found.otherwise[0]) == other
