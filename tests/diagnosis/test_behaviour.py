"""Models by their own forward pass: toy models, sparse autoencoders shaped as the packages', and strangers."""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
import superposition
from sampled import sampled
from superposition.diagnosis import behaviour

torch = pytest.importorskip("torch")
nn = torch.nn
P, NS, ND = 0.06, 48, 12


class Toy(nn.Module):
    """A toy model of the first text, as public notebooks have it."""

    def __init__(self, ns=NS, nd=ND, activation=torch.relu):
        super().__init__()
        torch.manual_seed(0)
        self.W, self.b_final = nn.Parameter(torch.randn(nd, ns) / nd**0.5), nn.Parameter(torch.full((ns,), -0.2))
        self.activation = activation

    def encode(self, x):
        return x @ self.W.T

    def decode(self, h):
        return self.activation(h @ self.W + self.b_final)

    def forward(self, x):
        return self.decode(self.encode(x))


class Sparse(nn.Module):
    """A sparse autoencoder: arrays and encoder as in SAELens, the gates of all packages."""

    def __init__(self, gate="relu", kept=False, rescaled=False):
        super().__init__()
        torch.manual_seed(1)
        D = torch.randn(NS, ND)
        D = D / D.norm(dim=1, keepdim=True) * (1 + torch.rand(NS, 1) if rescaled else 1)
        self.W_enc, self.W_dec = nn.Parameter(D.T.clone()), nn.Parameter(D)
        self.b_enc, self.b_dec = nn.Parameter(torch.full((NS,), -0.1)), nn.Parameter(torch.full((ND,), 0.35))
        self.gate, self.kept, self.rescaled, self.k = gate, kept, rescaled, torch.tensor(4) if gate == "topk" else None
        self.threshold = nn.Parameter(torch.full((NS,), 0.3)) if gate == "jump" else None

    def encode(self, x):
        drive = (x if self.kept else x - self.b_dec) @ self.W_enc + self.b_enc
        drive = drive * self.W_dec.norm(dim=1) if self.rescaled else drive
        if self.gate == "jump":
            return drive * (drive > self.threshold)
        if self.gate == "topk":
            best, places = drive.topk(4, dim=-1)
            return torch.zeros_like(drive).scatter(-1, places, best.relu())
        return torch.sigmoid(4 * drive) * drive if self.gate == "smooth" else drive.relu()

    def decode(self, z):
        return (z / self.W_dec.norm(dim=1) if self.rescaled else z) @ self.W_dec + self.b_dec


class Encoded(NamedTuple):
    """What an encoder of sparsify gives."""

    top_acts: torch.Tensor
    top_indices: torch.Tensor


class Sparsify(nn.Module):
    """A sparse autoencoder whose encoder gives the largest latents and their places."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.encoder, self.num_latents = nn.Linear(ND, NS), NS
        self.W_dec, self.b_dec = nn.Parameter(self.encoder.weight.data.clone()), nn.Parameter(torch.zeros(ND))
        self.k = 4

    def encode(self, x):
        return Encoded(*self.encoder(x - self.b_dec).relu().topk(self.k, dim=-1))

    def decode(self, top_acts, top_indices):
        dense = torch.zeros(len(top_acts), NS).scatter(1, top_indices, top_acts)
        return dense @ self.W_dec + self.b_dec

    def forward(self, x):
        return self.decode(*self.encode(x))


class DictionaryLearning(Sparse):
    """One that names its sizes, as dictionary_learning does; its forward pass is of activations."""

    def __init__(self):
        super().__init__("relu")
        self.dict_size, self.activation_dim = NS, ND

    def forward(self, x):
        return self.decode(self.encode(x))


def own_loss(forward, samples=100_000):
    rng = np.random.default_rng(9)
    x = (rng.random((samples, NS)) < P) * rng.random((samples, NS))
    with torch.no_grad():
        out = forward(torch.tensor(x, dtype=torch.float32)).numpy()
    errors = np.mean((x - out) ** 2, axis=1)
    return errors.mean(), errors.std() / np.sqrt(samples)


def is_its_own_loss(found, forward):
    own, se = own_loss(forward)
    return abs(found.simulated.mean - own) < 4 * np.hypot(se, found.simulated.se) < 0.1 * own


@pytest.mark.parametrize("kept", sampled([False, True]))
@pytest.mark.parametrize("gate", ["relu", "topk", "jump", "smooth"])
def test_sparse_autoencoders_lose_what_their_own_forward_pass_loses(gate, kept):
    model = Sparse(gate, kept)
    found = superposition.diagnose(model, p=P, samples=20_000)
    assert is_its_own_loss(found, lambda z: model.encode(model.decode(z)))
    assert (found.ns, found.nd, found.weights.is_sae) == (NS, ND, True)
    assert found.stands is (gate != "smooth")
    said = "misses its forward pass" if gate == "smooth" else "reproduces it to"
    assert said in str(found)


class Changed(Sparse):
    """A sparse autoencoder whose encoder's answer is changed afterwards."""

    def __init__(self, change, gate="topk"):
        super().__init__(gate)
        self.change = change

    def encode(self, x):
        return self.change(super().encode(x))


def of_batch(found):
    """The 4 largest latents in the mean over a batch, as in the training of BatchTopK."""
    return torch.where(found >= found.flatten().topk(4 * len(found)).values[-1], found, 0)


@pytest.mark.parametrize("change", [lambda found: found.to_sparse(), lambda found: (found, {})])
def test_latents_in_another_form_are_the_same(change):
    found, plain = (superposition.diagnose(one, p=P, samples=500) for one in (Changed(change), Sparse("topk")))
    assert found.loss == plain.loss and found.stands


@pytest.mark.parametrize(
    ("change", "gate", "said"),
    [
        (of_batch, "relu", "depend on the other vectors of their batch"),
        (nn.functional.dropout, "relu", "or on chance"),
        (lambda found: (found - 1, found), "topk", r"a step gives 2 results, more than one of shape \(2, 48\)"),
    ],
)
def test_outputs_that_are_not_those_of_a_vector_are_refused(change, gate, said):
    with pytest.raises(ValueError, match=said):
        superposition.diagnose(Changed(change, gate), p=P)


def test_a_transcoder_and_a_forward_pass_of_activations_are_refused():
    class SkipTranscoder(Sparse):
        pass

    class Forward(nn.Module):
        def __init__(self):
            super().__init__()
            self.sae = Sparse()

        def forward(self, h):
            return self.sae.decode(self.sae.encode(h)), {"latents": 0}

    with pytest.raises(ValueError, match="an object of SkipTranscoder, a transcoder"):
        superposition.diagnose(SkipTranscoder(), p=P)
    with pytest.raises(ValueError, match="W takes 12 numbers and has arrays of 48"):
        superposition.diagnose(Forward(), p=P)
    with pytest.raises(ValueError, match="an object of Forward without both encode and decode"):
        superposition.diagnose(Forward(), p=P, reading="sae")
    assert superposition.diagnose(Forward(), p=P, reading="toy", samples=500).ns == ND


@pytest.mark.parametrize(
    ("gate", "dtype"), [("jump", torch.float32), ("topk", torch.bfloat16), ("jump", torch.float16)]
)
def test_a_gate_is_found_though_rounding_decides_some_of_its_outputs(gate, dtype):
    model = Sparse(gate)
    with torch.no_grad():  # the bar is where drives are dense
        model.b_enc.fill_(0.3)
    drawn = np.random.default_rng(0).random((400, NS)) * (np.random.default_rng(1).random((400, NS)) < P)
    found = superposition.diagnose(model.to(dtype), features=drawn)
    assert found.stands and (found.weights.k or 0) == (4 if gate == "topk" else 0)


def test_latents_scaled_by_decoder_norms_are_found_by_their_responses():
    model = Sparse("topk", rescaled=True)
    found = superposition.diagnose(model, p=P, samples=20_000)
    assert found.stands and is_its_own_loss(found, lambda z: model.encode(model.decode(z)))


@pytest.mark.parametrize("model", [Sparsify(), DictionaryLearning()])
def test_objects_shaped_as_those_of_packages_are_read_by_their_latents(model):
    found = superposition.diagnose(model, p=P, samples=20_000)

    def forward(z):
        if isinstance(model, Sparsify):
            best = model.encode(z @ model.W_dec + model.b_dec)
            return torch.zeros_like(z).scatter(1, best.top_indices, best.top_acts)
        return model.encode(model.decode(z))

    assert (found.ns, found.nd, found.stands) == (NS, ND, True) and is_its_own_loss(found, forward)


def test_a_toy_model_its_arrays_and_its_functions_get_one_report():
    model = Toy()
    forms = [((model,), {}), ((model.state_dict(),), {}), ((), {"encode": model.encode, "decode": model.decode})]
    found = [superposition.diagnose(*given, p=P, samples=2000, **named) for given, named in forms]
    assert len({(one.name, one.nd, one.partners, one.mutual) for one in found}) == 1
    for measure in ("loss", "sigma", "gaussian", "capacity", "clustering"):  # to single precision
        np.testing.assert_allclose(*([getattr(one, measure) for one in found[:2]]), rtol=1e-4)
        np.testing.assert_allclose(*([getattr(one, measure) for one in found[1:]]), rtol=1e-4)


def test_a_model_of_one_forward_pass_has_the_rank_of_its_responses():
    class Forward(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = [Toy()]  # in a list torch does not see its arrays

        def forward(self, x):
            return self.inner[0](x)

    found = superposition.diagnose(Forward(), ns=NS, p=P, samples=2000)
    whole = superposition.diagnose(Toy(), p=P, samples=2000)
    assert found.nd == whole.nd == ND and found.simulated.mean == pytest.approx(whole.simulated.mean, rel=1e-4)
    np.testing.assert_allclose(found.W, whole.W, atol=1e-3)


@pytest.mark.parametrize("ns", [NS, 1200])
def test_a_model_of_one_forward_pass_gets_the_report_of_its_file(ns):
    torch.manual_seed(4)  # not trained: half of the outputs have a gain below 0, and responses cannot show their rows
    layers = nn.Sequential(nn.Linear(ns, ND), nn.Dropout(), nn.Linear(ND, ns), nn.ReLU()).eval()
    arrays = dict(zip(("0.weight", "0.bias", "1.weight", "1.bias"), layers.state_dict().values(), strict=True))
    found, file = (superposition.diagnose(one, p=P, samples=500) for one in (layers, arrays))
    assert found.stands and (found.name, found.nd, found.rank) == (file.name, ND, ND)
    for measure in ("loss", "sigma", "gaussian", "capacity"):
        assert getattr(found, measure) == pytest.approx(getattr(file, measure), rel=1e-4)


def test_a_forward_pass_of_another_kind_is_kept_to_its_behaviour():
    model = Toy(activation=nn.functional.gelu)
    found = superposition.diagnose(model, p=P, samples=20_000)
    assert not found.stands and is_its_own_loss(found, model.forward) and found.exact is None
    assert found.name == "none of the codes of this book"
    by_weights = superposition.diagnose(model.state_dict(), p=P, samples=20_000)
    assert abs(by_weights.simulated.mean - found.simulated.mean) > 7 * by_weights.simulated.se  # a ReLU in its place


def test_a_hidden_relu_is_not_taken_for_a_linear_encoder():
    class Hidden(Toy):
        def encode(self, x):
            return torch.relu(super().encode(x))

    model = Hidden()
    with pytest.raises(ValueError, match="reading = None of a model .* whose encode is not linear"):
        superposition.diagnose(model, p=P)
    found = superposition.diagnose(model, p=P, reading="toy", samples=20_000)
    assert not found.stands and "misses its forward pass" in str(found) and is_its_own_loss(found, model.forward)


def test_instances_of_a_notebook_get_one_report_each():
    class Instances(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(3)
            self.W, self.b_final = nn.Parameter(torch.randn(3, NS, ND) / ND**0.5), nn.Parameter(-torch.rand(3, NS) / 5)

        def forward(self, x):
            hidden = torch.einsum("bif,ifh->bih", x, self.W)
            return torch.relu(torch.einsum("bih,ifh->bif", hidden, self.W) + self.b_final)

    model = Instances()
    found = superposition.diagnose(model, p=P, instance=2, samples=2000)
    arrays = superposition.diagnose(model.state_dict(), p=P, instance=2, samples=2000)
    assert found.simulated.mean == pytest.approx(arrays.simulated.mean, rel=1e-4)


def test_half_precision_is_allowed_its_own_rounding():
    found = superposition.diagnose(Sparse().to(torch.bfloat16), p=P, samples=2000)
    assert found.stands


def test_functions_of_numpy_need_no_torch_and_say_how_many_features():
    D = np.random.default_rng(0).standard_normal((4, 10)) / 2
    steps = {"encode": lambda x: x @ D.T, "decode": lambda h: np.maximum(h @ D - 0.1, 0)}
    found = superposition.diagnose(**steps, ns=10, p=P, samples=500)
    assert found.nd == 4 and found.stands
    np.testing.assert_allclose(found.W, D.T @ D, atol=1e-6)
    with pytest.raises(ValueError, match="ns = None fits neither"):
        superposition.diagnose(**steps, p=P)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"W": Toy(), "b": np.zeros(NS), "p": P}, "beside a model; allowed: the model alone"),
        ({"W": nn.Linear(3, 4), "p": P}, "does not go through the forward pass"),
        ({"encode": lambda x: x, "p": P}, "decode = None; allowed: a module or object"),
        ({"W": Toy(), "p": P, "reading": "tied"}, "reading = 'tied'"),
        ({"W": np.eye(3), "b": np.zeros(3), "p": P, "ns": 3}, "ns = 3 of weights, which have their own"),
        ({"W": Toy(10, 10), "p": P}, "as wide inside as outside; allowed: 'toy', 'sae'"),
        ({"W": Toy, "p": P}, "a class; allowed: an object of it"),
        ({"encode": lambda x: x[:, :4] * 1j, "decode": lambda z: z, "ns": 4, "p": P}, "not real and finite"),
    ],
)
def test_refusals(given, said):
    with pytest.raises(ValueError, match=said):
        superposition.diagnose(**given)


@pytest.mark.parametrize("relu", [True, False])
def test_a_narrow_autoencoder_is_not_taken_for_a_toy_model(relu):
    """Eight latents of twelve activations, or eight dimensions of twelve features: only a linear encoder says which."""
    rng = np.random.default_rng(3)
    D, x = rng.standard_normal((12, 8)) / 3, rng.random((4000, 8)) * (rng.random((4000, 8)) < P)
    gate = (lambda h: np.maximum(h, 0)) if relu else (lambda h: h)
    steps = {"encode": lambda h: gate(h @ D - 0.1), "decode": lambda z: z @ D.T}
    if relu:
        with pytest.raises(ValueError, match="whose encode is not linear, as in a narrow sparse autoencoder"):
            superposition.diagnose(**steps, p=P, ns=12)
        found = superposition.diagnose(**steps, p=P, ns=8, reading="sae")
        own = np.mean((steps["encode"](steps["decode"](x)) - x) ** 2)
        assert found.loss == pytest.approx(own, rel=0.1)
    else:
        assert "a toy model" in str(superposition.diagnose(**steps, p=P, ns=12))


def test_large_models_of_another_kind_are_refused(monkeypatch):
    monkeypatch.setattr(behaviour, "PAIRS", 20)
    with pytest.raises(ValueError, match="ns = 48 of a forward pass that no ReLU"):
        superposition.diagnose(Toy(activation=nn.functional.gelu), p=P)


def test_functions_of_torch_receive_tensors():
    """Of arrays of numpy they would make a `TypeError`; a function of numpy beside them still receives arrays."""
    toy, settings = Toy(), {"ns": NS, "p": P, "samples": 500}
    own = superposition.diagnose(toy, **settings)
    W = toy.W.detach().numpy()
    for encode in (lambda x: torch.matmul(x, toy.W.T), lambda x: x.float() @ toy.W.T, lambda x: x @ W.T):
        found = superposition.diagnose(encode=encode, decode=lambda h: torch.relu(h @ toy.W + toy.b_final), **settings)
        assert found.loss == pytest.approx(own.loss, rel=1e-5)
    with pytest.raises(ValueError, match="its own words: .*mat1 and mat2"):
        superposition.diagnose(encode=lambda x: torch.matmul(x, toy.W.T), decode=toy.decode, ns=NS + 1, p=P)


def test_responses_are_compared_on_vectors_in_the_unit_of_the_model(monkeypatch):
    monkeypatch.setattr(behaviour, "_refuse_batches", lambda *_: None)
    monkeypatch.setattr(behaviour, "_of_arrays", lambda model: [])
    monkeypatch.setattr(behaviour, "_by_responses", lambda *given: given)
    model, x = SimpleNamespace(steps=None), np.ones((2, 3))
    _, of_the_model, unit, worst = behaviour.weights(model, x, 0.25)
    np.testing.assert_array_equal(of_the_model, 0.25 * x)
    assert unit == 0.25 and worst == np.inf
