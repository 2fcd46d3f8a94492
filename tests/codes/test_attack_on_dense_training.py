"""The attack on dense training, in its smallest case."""

import pytest

torch = pytest.importorskip("torch")
attack_on_dense_training = pytest.importorskip("attack_on_dense_training")
Way = attack_on_dense_training.Way
WAYS = {
    "task alone": {},
    "probability and waking": {"first_p": 0.3, "wake": 50},
    "few on first": {"few_first": "limit"},
    "groups": {"groups": 2},
    "own loudness": {"own_loudness": 3.0},
    "fading dimensions": {"more": 2},
    "small weights": {"shrink": 1e-4},
    "few interferences": {"count": 1e-5},
}


@pytest.mark.thorough
@pytest.mark.parametrize("settings", WAYS.values(), ids=WAYS)
def test_every_way_ends_below_the_rug_with_six_features_in_three_dimensions(settings):
    way = Way(steps=300, **settings)
    assert attack_on_dense_training.over_rug(way, 6, 3, 0.1, seed=1, fresh=20_000) < 1


def test_vectors_with_few_features_on_come_first():
    generator = torch.Generator().manual_seed(0)
    first = attack_on_dense_training.batch(Way(few_first="limit"), 0.0, 60, 0.05, generator, 500)
    assert ((first > 0).sum(1) == 1).all()
    first = attack_on_dense_training.batch(Way(few_first="most"), 0.0, 60, 0.05, generator, 500)
    assert set((first > 0).sum(1).tolist()) == {0, 1}
    emptier = attack_on_dense_training.batch(Way(few_first="half"), 0.0, 60, 0.05, generator, 500)
    assert (emptier > 0).sum(1).max() <= 3
