"""Features as they come, in company, against independence; and importance, as a notebook of the first text has it."""

from pathlib import Path

import numpy as np
import pytest
import superposition
from safetensors.numpy import save_file
from superposition.diagnosis import company, gains

P, NS, ND = 0.05, 64, 16


def grouped(count, seed, size=4, together=0.9):
    """Features of which four are on together, nearly always."""
    rng = np.random.default_rng(seed)
    on = np.repeat(rng.random((count, NS // size)) < P, size, axis=1) & (rng.random((count, NS)) < together)
    return on * (0.5 + rng.random((count, NS)) / 2)


def carried():
    """A model whose outputs are on in company alone: the four of a group share a direction and a high bias."""
    D = np.repeat(np.linalg.qr(np.random.default_rng(0).standard_normal((ND, ND)))[0], 4, axis=1)
    return {"W_in": D, "W_out": D.T / 4.5, "b": np.full(NS, -0.5)}


def test_latents_that_fire_in_company_are_not_called_silent():
    x = grouped(20_000, 1)
    out = np.maximum(x @ carried()["W_in"].T @ carried()["W_out"].T + carried()["b"], 0)
    assert np.all(np.mean(out > 0, axis=0) > 0.02)  # every one fires
    seen = superposition.diagnose(carried(), features=x)
    assert np.all(seen.kind == "heard") and not gains.of(seen)[:0] and "silent" not in str(seen).splitlines()[0]
    # the rival, the same latents each in an order of its own, as independence takes them to be, are all silent
    apart = np.random.default_rng(2).permuted(x, axis=0)
    with pytest.raises(ValueError, match="outputs are all silent or unheard"):
        superposition.diagnose(carried(), features=apart)
    errors = np.mean((x - out) ** 2, axis=1)
    assert seen.in_your_units("mean") == pytest.approx(errors.mean(), rel=1e-9)
    shuffled = np.maximum(apart @ carried()["W_in"].T @ carried()["W_out"].T + carried()["b"], 0)
    lost = np.mean((apart - shuffled) ** 2, axis=1)
    se = lost.std() / len(x) ** 0.5
    assert abs(seen.company.apart.mean * seen.unit**2 - lost.mean()) < 6 * se  # both are shuffled: two errors


def test_company_is_measured_and_said_in_words():
    together = superposition.diagnose(carried(), features=grouped(20_000, 3))
    rng = np.random.default_rng(4)
    alone = superposition.diagnose(rug(), features=(rng.random((20_000, NS)) < P) * rng.random((20_000, NS)))
    # four of a group along one direction: three others with weight 1 that are on together, variances nearly add as sums
    assert together.company.overlap == pytest.approx(1, abs=1e-6) and together.company.interference > 1.5
    assert together.company.carried > 1 and abs(alone.company.carried) < 0.1
    assert alone.company.interference == pytest.approx(1, abs=0.02)
    # the mean field with company knows it, independence does not; the limits are its error on another seed, times five
    assert together.company.field == pytest.approx(together.loss, rel=0.05)
    assert together.company.apart.mean > 1.3 * together.loss
    assert alone.company.field == pytest.approx(alone.loss, rel=0.06)
    text = str(together)
    assert f"{together.company.field:.4g}" in text
    assert f"{together.company.interference:.3g} times the interference of independent features" in text
    assert "features that fire together overlap by +1" in text and "on 20000 given vectors" in text.splitlines()[0]
    assert "features taken to be independent" in str(superposition.diagnose(rug(), p=P, samples=500)).splitlines()[0]


def rug():
    from superposition import codes

    code = codes.rug_code(NS, ND / NS, P)
    return {"W_in": code.W_in, "W_out": code.W_out, "b": code.b}


def test_independent_vectors_give_what_their_law_gives():
    rng = np.random.default_rng(5)
    x = (rng.random((60_000, NS)) < P) * rng.random((60_000, NS))
    given, law = superposition.diagnose(rug(), features=x), superposition.diagnose(rug(), p=P, samples=60_000)
    scale = given.unit**2
    assert abs(given.loss * scale - law.loss) < 4 * np.hypot(given.simulated.se * scale, law.simulated.se)
    assert given.sigma * given.unit == pytest.approx(law.sigma, rel=0.01)
    assert given.theory.loss * scale == pytest.approx(law.theory.loss, rel=0.03)
    assert given.linear * scale == pytest.approx(law.linear, rel=0.05)


def test_features_that_are_never_on_are_said_to_be_absent():
    x = grouped(2000, 6)
    x[:, 3] = 0
    found = superposition.diagnose(rug(), features=x)
    assert (found.kind == "absent").tolist() == [i == 3 for i in range(NS)]
    assert "1 absent (on in none of the vectors)" in str(found)


@pytest.mark.parametrize("form", ["npy", "npz", "safetensors", "batches", "float32", "bfloat16"])
def test_vectors_come_in_any_form(tmp_path, form):
    x = grouped(600, 7)
    np.save(tmp_path / "x.npy", x)
    save_file({"latents": x}, tmp_path / "x.safetensors")
    np.savez(tmp_path / "x.npz", x)
    given = {
        "npy": tmp_path / "x.npy", "npz": tmp_path / "x.npz", "safetensors": tmp_path / "x.safetensors",
        "batches": iter(np.split(x, 6)), "float32": x.astype(np.float32),
    }  # fmt: skip
    if form == "bfloat16":
        torch = pytest.importorskip("torch")
        from safetensors.torch import save_file as save

        half = torch.from_numpy(x).bfloat16()
        save({"latents": half}, tmp_path / "half.safetensors")
        x, given[form] = half.double().numpy(), tmp_path / "half.safetensors"
    by_array, found = (superposition.diagnose(rug(), features=one) for one in (x, given[form]))
    assert found.loss == pytest.approx(by_array.loss, rel=1e-6 if form in ("float32", "bfloat16") else 1e-12)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"features": np.zeros((50, NS))}, r"features has shape \(50, 64\); allowed: numbers \(vectors, width\)"),
        ({"features": np.zeros((200, 3))}, r"features has shape \(200, 3\); allowed: \(vectors, 64\)"),
        ({"features": np.full((200, NS), np.nan)}, "features = nan is out of range"),
        ({"features": "nowhere.npy"}, "features = 'nowhere.npy' is no file"),
        ({"features": Path(__file__)}, r"features = '.*test_company.py' is no safetensors file"),
        ({"features": Path(__file__).parent / "files" / "right-names.npz"}, "holds 3 arrays; allowed: one"),
        ({"features": [[np.ones(NS)] * 200]}, r"features has shape \(1, 200, 64\)"),
        ({"x": iter([np.ones((60, NS)), np.ones((60, 3))])}, r"x has batches of shape \(60, 3\)"),
        ({"features": iter([])}, "features is empty"),
        ({"features": np.ones((200, NS)), "p": P}, "allowed: one of them"),
        ({"features": [["a"]]}, "features = .* is not a number"),
        ({"p": P, "importance": np.ones(3)}, r"importance has shape \(3,\)"),
        ({"p": P, "importance": "0.9i"}, "importance = '0.9i' is no file"),
        ({"p": P, "importance": -np.ones(NS)}, "importance = -1 is out of range"),
        ({"p": P, "loss_as": "median"}, "loss_as = 'median'"),
    ],
)
def test_refusals(given, said):
    with pytest.raises(ValueError, match=said):
        superposition.diagnose(rug(), samples=10, **given)


def with_importance(ns=80, nd=20, p=0.1, base=0.9, steps=2000):
    """A model trained as a public notebook does: importance 0.9^i, mean over features, Adam."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    W = torch.nn.Parameter(torch.nn.init.xavier_normal_(torch.empty(nd, ns)))
    b = torch.nn.Parameter(torch.zeros(ns))
    worth, optimiser = base ** torch.arange(ns), torch.optim.Adam([W, b], 1e-2)
    rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(steps):
        x = (torch.rand(1024, ns) < p) * torch.rand(1024, ns)
        loss = (worth * (x - torch.relu(x @ W.T @ W + b)) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        rate.step()
    return {"W": W.detach().numpy(), "b": b.detach().numpy()}


def test_importance_gives_the_owner_s_loss_and_blames_nothing_that_is_right():
    model, p = with_importance(), 0.1
    worth = 0.9 ** np.arange(80)
    found = superposition.diagnose(model, p=p, importance="0.9^i", samples=40_000)
    rng = np.random.default_rng(1)
    x = (rng.random((100_000, 80)) < p) * rng.random((100_000, 80))
    own = (worth * (x - np.maximum(x @ model["W"].T @ model["W"] + model["b"], 0)) ** 2).mean(axis=1)
    se = np.hypot(found.simulated.se, own.std() / len(x) ** 0.5)
    assert abs(found.loss - own.mean()) < 4 * se < 0.1 * own.mean()
    assert found.in_your_units("sum") == pytest.approx(80 * found.loss)
    blind = superposition.diagnose(model, p=p, samples=40_000)
    assert blind.loss > 20 * found.loss  # what its owner never trained for: the review has 83 times
    lost = ~found.heard
    assert lost.sum() > 20 and found.by_feature[lost].sum() < 0.7 * found.by_feature.sum()
    assert blind.by_feature[lost].sum() > 0.85 * blind.by_feature.sum()
    assert not [one for one in gains.of(found) if "unheard" in one.words]  # to leave them out is right
    assert found.best.loss < found.loss < 3 * found.best.loss
    assert "weighted by importance" in str(found).splitlines()[0] and "dropped" in found.best.phase


def test_importance_comes_as_a_vector_a_power_or_a_file(tmp_path):
    worth = 0.9 ** np.arange(NS)
    np.save(tmp_path / "worth.npy", worth)
    forms = (worth, "0.9^i", "0.9**i", tmp_path / "worth.npy")
    losses = [superposition.diagnose(rug(), p=P, importance=form, samples=500).loss for form in forms]
    np.testing.assert_allclose(losses, losses[0], rtol=1e-12)


def test_equal_importance_changes_nothing_but_the_best_code():
    plain = superposition.diagnose(rug(), p=P, samples=2000)
    equal = superposition.diagnose(rug(), p=P, samples=2000, importance=np.ones(NS))
    assert equal.simulated == plain.simulated and equal.gaussian == pytest.approx(plain.gaussian)
    assert equal.linear == pytest.approx(plain.linear) and equal.refitted == pytest.approx(plain.refitted)


def test_importance_in_another_unit_changes_losses_by_it_and_no_gain():
    code = rug()
    b = np.where(np.arange(NS) < NS // 4, -20, code["b"])
    worth = 0.9 ** np.arange(NS)
    first, second = (superposition.diagnose(code | {"b": b}, p=P, importance=c * worth, samples=2000) for c in (1, 64))
    assert second.loss == pytest.approx(64 * first.loss, rel=1e-9)
    mends = [dict((one.words, one.gain) for one in gains.of(found)) for found in (first, second)]
    assert any("silent" in words for words in mends[0]) and mends[1] == pytest.approx(mends[0], rel=1e-9)
    assert gains.worst(second) == gains.worst(first)


def test_mended_outputs_gain_less_than_they_cost():
    # thirty biases of 160 knocked out: they cost 45 % of the loss, and put right they take a third off it
    from superposition import codes

    code = codes.rug_code(160, 0.25, 0.06)
    b = code.b.copy()
    b[:30] = -20
    found = superposition.diagnose(code.W_in, b, 0.06, W_out=code.W_out, samples=40_000)
    right = superposition.diagnose(code.W_in, code.b, 0.06, W_out=code.W_out, samples=40_000)
    first = next(one for one in gains.of(found) if one.words == "biases for 30 silent outputs")
    assert first.gain == pytest.approx(1 - right.loss / found.loss, abs=0.02)  # 40,000 vectors: 0.5 % each
    assert found.by_feature[:30].sum() / found.by_feature.sum() > first.gain + 0.08
    assert all("its output is silent" in line for line in gains.worst(found)) and len(gains.worst(found)) == 10


def test_batches_that_differ_in_width_are_refused():
    with pytest.raises(ValueError, match="x has batches of shape"):
        company.vectors("x", iter([np.ones((60, 3)), np.ones((60, 4))]))
