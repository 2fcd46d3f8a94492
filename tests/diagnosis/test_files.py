"""Files as other packages wrote them, each with the loss that its own forward pass has; and what is refused."""

import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import superposition
from safetensors.numpy import save_file
from superposition.diagnosis import autoencoder, files, reading, strangers

FILES = Path(__file__).parent / "files"
ORIGIN = json.loads((FILES / "origin.json").read_text())
OPENED = {name: origin for name, origin in ORIGIN.items() if "loss" in origin}


@pytest.mark.parametrize("name", OPENED)
def test_a_file_has_the_loss_of_its_own_model(name):
    origin = OPENED[name]
    said = {option: origin[option] for option in ("instance", "reading") if option in origin}
    found = superposition.diagnose(FILES / name, p=origin["p"], samples=60_000, **said)
    se = np.hypot(found.simulated.se, origin["se"])
    assert abs(found.simulated.mean - origin["loss"]) < 4 * se < 0.06 * origin["loss"]


def batch(n, p=0.06):
    """The feature vectors on which make.py took the loss of each forward pass."""
    rng = np.random.default_rng(0)
    return rng.random((500, n)) * (rng.random((500, n)) < p)


def loss_of(path, **options):
    """The loss of a file, as it is read, on that batch."""
    weights = reading.read(path, **options)
    x = batch(weights.ns)
    return np.mean((weights.outputs(weights.drive(x)) - x) ** 2)


EXACT = {name: origin["own"] for name, origin in ORIGIN.items() if "own" in origin}


@pytest.mark.parametrize("name", EXACT)
def test_a_layout_has_exactly_the_loss_of_its_own_package(name):
    assert loss_of(FILES / name) == pytest.approx(EXACT[name], rel=1e-5)


@pytest.mark.parametrize("name", ["sae_lens-topk-kept", "sae_lens-narrow", "dictionary_learning-AutoEncoderTopK"])
def test_the_file_of_a_folder_is_read_with_the_settings_beside_it(name):
    [inner] = [path for path in (FILES / name).iterdir() if path.suffix != ".json"]
    assert loss_of(inner) == pytest.approx(EXACT[name], rel=1e-5)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sae_lens-transcoder", "architecture = 'transcoder', which is another model"),
        ("sparsify-transcoder", "W_skip is of a skip transcoder"),
        ("dictionary_learning-GatedAutoEncoder", "is of a gated autoencoder"),
    ],
)
def test_other_models_are_refused_by_what_they_are(name, said):
    with pytest.raises(ValueError, match=said):
        reading.read(FILES / name)


def test_every_file_here_has_an_origin():
    kept = {path.name for path in FILES.iterdir()} - {"make.py", "origin.json", "whole-model.pt", "__pycache__"}
    assert kept == set(ORIGIN)
    assert sum(path.stat().st_size for path in FILES.rglob("*") if path.is_file()) < 400_000


def test_latents_that_no_batch_has_met_open_too():
    found = superposition.diagnose(FILES / "sae_lens-batchtopk", l0=3, samples=200)
    assert found.weights.is_sae and (found.ns, found.nd) == (64, 16) and "64 latents are the features" in str(found)


def test_topk_says_itself_how_many_are_on():
    found = superposition.diagnose(FILES / "sae_lens-topk", samples=200)
    assert found.p == 3 / 64 and np.all(
        (found.weights.outputs(np.random.default_rng(0).random((5, 64))) > 0).sum(axis=1) == 3
    )


def test_what_is_no_relu_of_a_product_is_refused_by_name():
    with pytest.raises(ValueError, match="b_gate is of a gated autoencoder; allowed: a latent that is a ReLU"):
        superposition.diagnose(FILES / "sae_lens-gated", p=0.05)


def test_a_whole_model_is_refused_with_the_lines_that_convert(tmp_path):
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="is a whole model; allowed: its weights. Three lines") as refused:
        superposition.diagnose(FILES / "whole-model.pt", p=0.05)
    *lines, itself = [line.strip() for line in str(refused.value).splitlines()[1:]]
    assert itself.endswith("superposition.diagnose(model, p=0.05)")
    assert len(lines) == 3 and lines[0] == "import torch" and "state_dict()" in lines[2]
    model = torch.nn.Sequential(torch.nn.Linear(4, 2, bias=False), torch.nn.Linear(2, 4))
    torch.save(model, tmp_path / "model.pt")
    program = "\n".join(lines).replace(str(FILES / "whole-model.pt"), str(tmp_path / "model.pt"))
    exec(program.replace("weights.pt", str(tmp_path / "weights.pt")), {})
    assert set(files.arrays(tmp_path / "weights.pt")) == {"0.weight", "1.weight", "1.bias"}


def test_a_file_of_torch_opens_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "superposition.devices", raising=False)
    assert reading.read(FILES / "instances.pt", instance=2).W_in.shape == (5, 20)


def test_the_folder_inside_a_file_of_torch_has_any_name_and_files_beside_it(tmp_path):
    with zipfile.ZipFile(FILES / "instances.pt") as old, zipfile.ZipFile(tmp_path / "model.pt", "w") as new:
        new.writestr("note", "packed again")
        for one in old.infolist():
            new.writestr(f"some/where/{one.filename.partition('/')[2]}", old.read(one))
    first, second = (
        reading.read(folder / name, instance=2) for folder, name in ((FILES, "instances.pt"), (tmp_path, "model.pt"))
    )
    np.testing.assert_array_equal(first.W_in, second.W_in)


def test_a_text_that_is_cut_says_so():
    assert (
        strangers.cut("a" * 30, 30) == "a" * 30
        and strangers.cut("a" * 31, 30) == strangers.cut("a" * 900, 30) == "a" * 30 + "…"
    )
    assert strangers.cut("a  \n b" * 9, 9) == "a ba ba b…"


def test_tensors_with_gradients_and_state_dictionaries():
    torch = pytest.importorskip("torch")
    W = torch.nn.Parameter(torch.randn(3, 8, generator=torch.Generator().manual_seed(0)))
    b = torch.nn.Parameter(torch.zeros(8))
    by_array = autoencoder.diagnose(W.detach().numpy(), b.detach().numpy(), 0.1, samples=200)
    assert str(autoencoder.diagnose(W, b, 0.1, samples=200)) == str(by_array)
    assert str(autoencoder.diagnose({"model.W": W, "model.b": b}, p=0.1, samples=200)) == str(by_array)
    layers = {"encoder.weight": W, "decoder.weight": W.T, "decoder.bias": b}
    assert autoencoder.diagnose(layers, p=0.1, reading="toy", samples=200).simulated.mean == pytest.approx(
        by_array.simulated.mean
    )


@pytest.mark.parametrize("turned", [False, True])
def test_tied_weights_in_either_orientation(turned):
    W, b = np.random.default_rng(0).standard_normal((3, 8)), np.zeros(8)
    found = reading.read(W.T if turned else W, b)
    np.testing.assert_array_equal(found.rows(0, 8), W.T @ W)
    assert "is a tied encoder of 8 features in 3 dimensions" in "; ".join(found.told)


def test_shards_are_one_model_and_none_may_be_missing(tmp_path):
    rng = np.random.default_rng(2)
    given = {"W_in": rng.standard_normal((3, 8)), "W_out": rng.standard_normal((8, 3)), "b": rng.standard_normal(8)}
    one, other = (tmp_path / f"model-0000{i}-of-00002.safetensors" for i in (1, 2))
    save_file({"W_in": given["W_in"], "b": given["b"]}, one)
    save_file({"W_out": given["W_out"]}, other)
    (tmp_path / "model.safetensors.index.json").write_text("{}")
    for path in (tmp_path, one, other):
        found = reading.read(path)
        np.testing.assert_array_equal(found.rows(0, 8), given["W_out"] @ given["W_in"])
        np.testing.assert_array_equal(found.b, given["b"])
    save_file({"W_out": given["W_out"], "b": given["b"]}, other)
    with pytest.raises(ValueError, match="an array in two shards; allowed: each array once"):
        reading.read(tmp_path)
    other.unlink()
    for path in (tmp_path, one):
        with pytest.raises(ValueError, match="model-00002-of-00002.safetensors, one of its 2 shards, is missing"):
            reading.read(path)


def test_of_two_readings_one_is_taken_and_the_other_told():
    W, b = np.array([[1.0, 0.5], [0.0, 1.0]]), np.zeros(2)
    product, tied = reading.read(W, b), reading.read(W, b, reading="tied")
    np.testing.assert_array_equal(product.rows(0, 2), W)
    np.testing.assert_array_equal(tied.rows(0, 2), W.T @ W)
    assert "--reading tied" in "; ".join(product.told)
    many = np.random.default_rng(0).standard_normal((3, 2, 5))
    taken = reading.read({"W": many, "b_final": np.zeros((3, 5))})
    np.testing.assert_array_equal(taken.rows(0, 5), many[0].T @ many[0])
    assert "instance 0 of 3 (another: --instance 1" in "; ".join(taken.told)


def test_a_hidden_bias_is_part_of_the_output_s():
    rng = np.random.default_rng(1)
    E, D, c, b = (
        rng.standard_normal((2, 5)),
        rng.standard_normal((5, 2)),
        rng.standard_normal(2),
        rng.standard_normal(5),
    )
    layers = {"encoder.weight": E, "encoder.bias": c, "decoder.weight": D, "decoder.bias": b}
    np.testing.assert_allclose(reading.read(layers, reading="toy").b, D @ c + b)
    with pytest.raises(ValueError, match="does not say whether a ReLU is on the hidden values.*--reading sae, toy"):
        reading.read(layers)


def test_all_that_a_file_leaves_open_is_asked_in_one_sentence():
    rng = np.random.default_rng(2)
    layers = {"encoder.weight": rng.standard_normal((5, 2)), "encoder.bias": rng.standard_normal(5)}
    layers |= {"decoder.weight": rng.standard_normal((2, 5)), "decoder.bias": rng.standard_normal(2)}
    rest = "--b-dec taken, kept; --activation relu, topk (topk with --k NUMBER)"
    often = "; and, unless k latents pass, one of --p, --l0, --firing, --features, --x"
    for given, asked in (
        ({}, f"; allowed: --reading sae, toy; for sae also {rest}{often}"),
        ({"l0": 2}, f"; allowed: --reading sae, toy; for sae also {rest}"),
        ({"reading": "sae"}, f"; allowed: {rest}{often}"),
        ({"reading": "sae", "b_dec": "kept", "activation": "topk"}, f"; allowed: --k NUMBER{often}"),
        ({"reading": "sae", "activation": "jumprelu"}, "file without thresholds; allowed: --activation relu, topk"),
        ({"p": 5}, "p = 5 is out of range; allowed: [0, 1)"),
    ):
        with pytest.raises(ValueError) as refused:
            superposition.diagnose(layers, **given)
        assert str(refused.value).endswith(asked)
    superposition.diagnose(layers, reading="sae", b_dec="kept", activation="topk", k=2, samples=100)


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"layer.0": np.eye(3)}, r"holds layer.0 \(3, 3\); allowed: W_in, W_out and b; .*\n    import numpy as np\n"),
        ({"W": np.eye(3)}, r"holds W \(3, 3\); allowed"),
        ({"W": np.eye(3), "b": np.zeros(2)}, "which do not fit; allowed: W"),
        ({"W_in": np.ones((2, 5)), "W_out": np.ones((5, 3)), "b": np.zeros(5)}, "which do not fit"),
        ({"W_in": np.ones((2, 5)), "W_out": np.ones((5, 2))}, "allowed: W_in, W_out and b"),
        ({"W": np.full((2, 2), np.nan), "b": np.zeros(2)}, "W = nan"),
    ],
)
def test_refused_arrays(arrays, said, tmp_path):
    save_file(arrays, tmp_path / "file")
    for given in (arrays, tmp_path / "file"):
        with pytest.raises(ValueError, match=f"(?s){said}"):
            reading.read(given)


def test_refused_files(tmp_path):
    (tmp_path / "text").write_text("no")
    (tmp_path / "text.npz").write_text("no")
    np.save(tmp_path / "pickle.npy", np.array([{}], dtype=object), allow_pickle=True)
    (tmp_path / "two").mkdir()
    for name in ("a", "b"):
        save_file({"W": np.eye(2)}, tmp_path / "two" / f"{name}.safetensors")
    for name, said in (
        ("nowhere", "is no file"), ("text", "is no safetensors file"), ("text.npz", "is no safetensors file"),
        ("pickle.npy", "numbers of the format object; allowed"),
        ("two", "holds 2 files of weights: a.safetensors, b.safetensors"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=said):
            reading.read(tmp_path / name)


def test_how_often_latents_fire(tmp_path):
    save_file({"sparsity": np.log10([0.1, 0.01])}, tmp_path / "logs")
    np.save(tmp_path / "shares.npy", np.array([0.1, 0.01]))
    for name in ("logs", "shares.npy"):
        np.testing.assert_allclose(files.firing(tmp_path / name), [0.1, 0.01])
    for endless in (-np.inf, np.inf):  # of a latent that never fires a logarithm is none
        np.save(tmp_path / "endless.npy", np.array([endless, -1.0]))
        with pytest.raises(ValueError, match=r"firing = .*inf is out of range; allowed: \(-inf, inf\)"):
            files.firing(tmp_path / "endless.npy")
    np.savez(tmp_path / "two.npz", a=np.ones(2), b=np.ones(2))
    with pytest.raises(ValueError, match="holds 2 vectors; allowed: one"):
        files.firing(tmp_path / "two.npz")
