"""Chapter 12 on a stand-in for the real material: which array is asked for, and which of its rows are drawn."""

import numpy as np
import pytest

pytest.importorskip("torch")
from superposition.experiments import real_kinds, real_truths  # noqa: E402

KEPT, ROWS = 70, 80  # seven eighths of the rows are for training


@pytest.fixture
def asked(monkeypatch):
    """The names of the arrays that are asked for; each has rows of its own, far from the mean, in five dimensions."""
    names = []

    def material(name):
        names.append(name)
        a = np.random.default_rng(len(name)).standard_normal((ROWS, 5)) * [1.0, 2, 4, 8, 16] + 30
        a[KEPT:] += 100
        return a.astype(np.float32)

    monkeypatch.setattr(real_kinds, "material", material)
    return names


@pytest.mark.parametrize(("data", "name"), [("layer", "layer-3"), ("shuffled", "shuffled-3"), ("gaussian", "layer-3")])
def test_rows_are_centred_scaled_and_reduced_as_the_rows_for_training_are(asked, data, name):
    draw, nd, named = real_kinds.activations_of.__wrapped__(data, 3, 2)
    assert asked == [name] and nd == 2 and named == real_kinds.digest(real_kinds.material(name))
    if data == "gaussian":
        spread = draw(np.random.default_rng(0), 4000, False).std(axis=0)
        assert 0.8 < np.sum(spread**2) < 1.2 and 1.5 < spread.max() / spread.min() < 2.5
        return
    for test, other in ((False, True), (True, False)):
        again = draw(np.random.default_rng(0), 500, test)
        assert again.shape == (500, 2) and again.dtype == float
        mine, theirs = np.unique(again, axis=0), np.unique(draw(np.random.default_rng(1), 500, other), axis=0)
        assert len(mine) == (ROWS - KEPT if test else KEPT)
        assert not {*map(tuple, mine)} & {*map(tuple, theirs)}
        if not test:
            assert np.abs(mine.mean(axis=0)).max() < 1e-6 and (mine**2).sum(axis=1).mean() == pytest.approx(1)
            assert mine.std(axis=0).max() / mine.std(axis=0).min() == pytest.approx(2, rel=0.3)  # 16 and 8


@pytest.mark.parametrize("company", ["kept", "taken"])
def test_known_directions_are_added_as_they_came_or_each_from_a_token_of_its_own(monkeypatch, company):
    x = np.arange(240.0).reshape(ROWS, 3) + 1
    asked = []

    class Autoencoder:
        b_dec, W_dec = np.array([0.5, 0, 0, 0]), np.eye(4)[:, :3]

        def encode(self, h):
            return x

    def trained(*settings):
        asked.append(settings)
        return [Autoencoder()]

    def source(rng, count, test):
        asked.append((rng.integers(1 << 40), count, test))

    monkeypatch.setattr(real_truths, "activations_of", lambda *place: asked.append(place) or (source, 4, "named"))
    monkeypatch.setattr(real_truths, "trained_starts", trained)
    draw, D, _ = real_truths._truth.__wrapped__(company, 3, 4, 7)
    seed = np.random.default_rng(1000).integers(1 << 40)
    training = (source, 4, 1, "relu", 7, 0.028, (1.0, 1.0), 3000, 1000)
    assert asked == [("layer", 3, 4), training, (seed, 80_000, False)] and np.array_equal(D, Autoencoder.W_dec)
    for test, rows in ((False, x[:KEPT]), (True, x[KEPT:])):
        drawn = draw(np.random.default_rng(0), 600, test)
        assert (
            set(drawn[:, 3]) == {0}
            and set(drawn[:, 0] - 0.5) == set(rows[:, 0])
            and set(drawn[:, 1]) == set(rows[:, 1])
        )
        together = np.isclose(drawn[:, 1] - drawn[:, 0] + 0.5, 1)
        assert together.all() if company == "kept" else 0 < together.mean() < 0.3
