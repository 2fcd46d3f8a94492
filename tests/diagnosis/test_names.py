"""Codes are called by their names, at seeds and sizes on which no limit was set, and strangers are called none."""

import numpy as np
import pytest
from sampled import sampled
from superposition import codes
from superposition.diagnosis import autoencoder, names

P = 0.05


def named(code):
    return autoencoder.diagnose({"W_in": code.W_in, "W_out": code.W_out, "b": code.b}, p=P, samples=200).name


@pytest.mark.parametrize("size", [64, 100, 300])
def test_rugs(size):
    assert named(codes.rug_code(size, 0.3, P)) == "a Persian rug"
    assert named(codes.rug_code(size, 0.3, P, antipodal=True)) == "an antipodal rug"


@pytest.mark.parametrize("product", [False, True])
def test_large_rugs_are_told_by_their_eigenvalues(product):
    code = codes.rug_code(600, 0.2, P)
    given = {"W": code.W, "b": code.b} if product else {"W_in": code.W_in, "W_out": code.W_out, "b": code.b}
    found = autoencoder.diagnose(given, p=P, samples=200)
    assert found.name == "a Persian rug, by its eigenvalues" and found.nd == found.rank == 120
    np.testing.assert_allclose(found.loudness, 1, rtol=1e-6)


@pytest.mark.parametrize(("B", "ratio"), [(5, 100), (10, 8), (12, 3)])
def test_fans(B, ratio):
    assert named(codes.priority_fan(B, ratio)) == f"a fan of {B} features"


@pytest.mark.parametrize(("B", "ratio"), [(6, 1), (9, 3)])
def test_cones(B, ratio):
    assert named(codes.cone(B, ratio)) == f"a cone of {B} features"


def swept(B, between, within):
    """W of a fan that grows to the left and right in turn: each is read orthogonally to the last on its side."""
    angle, level, before = [0.0], [1.0], []
    for j in range(1, (B - 2) // 2 + 1):
        for side in (1, -1):
            before.append(0 if j == 1 else len(angle) - 2)
            angle.append(side * j * np.pi / (B - 2))
            level.append(level[-1] / (between if side == 1 else within))
    angle, level = np.array([*angle, np.pi]), np.array([*level, level[-1] / between])
    rows = [np.cos(angle), *(np.sin(angle - angle[last]) for last in before), np.cos(angle - np.pi)]
    W = np.array([np.where(np.abs(row) < 1e-12, 0, row) / row[t] for t, row in enumerate(rows)])
    return W * level / level[:, None]


@pytest.mark.parametrize("B", [6, 8])
def test_swept_fans(B):
    W = swept(B, 50, 3)
    assert autoencoder.diagnose(W, np.zeros(B), P, samples=200).name == f"a swept fan of {B} features"


@pytest.mark.parametrize("lost", [3, 4])
def test_a_swept_fan_may_have_one_feature_alone_on_a_side(lost):
    W = np.delete(np.delete(swept(6, 50, 3), lost, axis=0), lost, axis=1)
    assert autoencoder.diagnose(W, np.zeros(5), P, samples=200).name == "a swept fan of 5 features"


def test_digons_and_fans_side_by_side():
    block = codes.Code(np.array([[1.0, -1.0]]), np.array([[1.0], [-1.0]]), np.zeros(2))
    assert named(codes.side_by_side([block] * 5)) == "5 digons"
    assert named(codes.side_by_side([codes.priority_fan(8, 20)] * 3 + [block])) == "3 fans of 8 features and a digon"
    assert named(codes.side_by_side([codes.Code(np.eye(1), np.eye(1), np.zeros(1))] * 3)) == "3 dimensions of its own"


@pytest.mark.parametrize("graph", ["Clebsch", "Hoffman-Singleton"])
def test_graph_tiles(graph):
    code = codes.graph_code(codes.graph_tile(graph, P, 0.0), P)
    assert autoencoder.diagnose(code.W, code.b, P, samples=200).name.startswith("a graph tile")


@pytest.mark.parametrize("seed", range(100, 105))
@pytest.mark.parametrize(("nd", "ns"), [(16, 128), (64, 160), (40, 500)])
def test_random_frames(seed, nd, ns):
    W = np.random.default_rng(seed).standard_normal((nd, ns))
    W /= np.linalg.norm(W, axis=0)
    assert autoencoder.diagnose(W, np.full(ns, -0.1), P, samples=200).name == "a random frame"


@pytest.mark.parametrize("seed", range(5))
def test_a_stranger_has_no_name(seed):
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((60, 60)) * 0.1 + np.eye(60)
    assert autoencoder.diagnose(W, np.zeros(60), P, samples=200).name == "none of the codes of this book"


def trained(kind, seed, ns=96, nd=32, p=0.06):
    """A small model of a kind, trained for seconds."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(seed)
    if kind in ("biases on a rug", "biases on a random frame"):
        D = torch.tensor(codes.rug_code(ns, nd / ns, p).W_in) if "rug" in kind else torch.randn(nd, ns).double()
        D, scale = D / D.norm(dim=0), torch.ones(ns, 1, dtype=torch.float64, requires_grad=True)
        parts, b = (lambda: (D, D.T * scale)), torch.zeros(ns, dtype=torch.float64)
        free = [scale]
    else:
        free = [(torch.randn(nd, ns) / nd**0.5).double().requires_grad_()]
        mask = torch.kron(torch.eye(nd), torch.ones(1, 2)) if kind == "pairs" else 1
        if kind == "pairs":
            ns, free = 2 * nd, [torch.tensor([[1.0, -1]]).repeat(nd, nd).double().requires_grad_()]
        b = torch.full((ns,), -0.1, dtype=torch.float64)
        if kind not in ("tied", "pairs"):
            free.append(free[0].detach().T.clone().requires_grad_())
        parts = lambda: (free[0] * mask, (free[-1] if len(free) > 1 else (free[0] * mask).T))  # noqa: E731
    b.requires_grad_()
    optimiser = torch.optim.Adam([*free, b], 0.01)
    rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, 1200)
    for _ in range(150 if kind == "stopped" else 1200):
        on = torch.rand(256, ns) < p
        if kind == "groups":
            on = (torch.rand(256, ns // 4) < p / 0.7).repeat_interleave(4, dim=1) & (torch.rand(256, ns) < 0.7)
        x, (E, D_out) = on * torch.rand(256, ns).double(), parts()
        loss = ((x - torch.relu(x @ E.T @ D_out.T + b)) ** 2).mean()
        loss = loss + (0.003 * (x @ E.T).abs().mean() if kind == "price on what is hidden" else 0)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        rate.step()
    E, D_out = parts()
    return {"W_in": E.detach().numpy(), "W_out": D_out.detach().numpy(), "b": b.detach().numpy()}


KINDS = {
    "free": "a trained code", "tied": "a trained code", "stopped": "a trained code", "groups": "a trained code",
    "price on what is hidden": "a trained code", "biases on a rug": "a Persian rug",
    "biases on a random frame": "a random frame", "pairs": "32 digons",
}  # fmt: skip


def agrees(kind, seed):
    """Whether the name is that of the kind, and the loss that of the name."""
    found = autoencoder.diagnose(trained(kind, seed), p=0.06, samples=20_000)
    assert found.name.startswith(KINDS[kind]), (kind, seed, found.name)
    over_rug, over_gaussian = found.loss / found.theory.loss, found.loss / found.gaussian
    if found.name == "a Persian rug":
        return 0.9 < over_rug < 1.15 and 0.9 < over_gaussian < 1.15
    if found.name.startswith("a trained code"):
        return over_rug < 0.85 and over_gaussian < 0.8
    return over_rug > 1.3 if found.name == "a random frame" else over_rug < 0.3


@pytest.mark.parametrize("kind", sampled(["tied", "biases on a rug", "pairs"]))
def test_names_agree_with_the_losses(kind):
    assert agrees(kind, 900)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(901, 906))
@pytest.mark.parametrize("kind", list(KINDS))
def test_names_agree_with_the_losses_of_forty_models(kind, seed):
    assert agrees(kind, seed)


@pytest.mark.parametrize("change", ["biases", "gains"])
def test_a_rug_with_other_biases_or_gains_has_another_name(change):
    code = codes.rug_code(96, 1 / 3, P)
    W_out, b = code.W_out.copy(), code.b.copy()
    if change == "biases":
        b -= 0.3
    else:
        W_out *= 0.5
    found = autoencoder.diagnose(code.W_in, b, P, W_out=W_out, samples=20_000)
    assert found.name == "directions of a Persian rug with other biases and gains"


def test_directions_that_are_as_many_as_the_dimensions_are_no_random_frame():
    """At r = 1 the law of Marchenko and Pastur has a spread of one, which says nothing of frames."""
    assert names._by_spread(1.0, 0.99) == "a random frame"
    assert names._by_spread(1.0, 1.0) == "none of the codes of this book"
