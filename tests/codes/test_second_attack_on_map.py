"""The second attack on the map of best codes, in its smallest case."""

import pytest
from sampled import sampled
from superposition import codes

torch = pytest.importorskip("torch")
second_attack_on_map = pytest.importorskip("second_attack_on_map")


@pytest.mark.thorough
@pytest.mark.parametrize(("m", "B", "p", "steps"), sampled([(2, 3, 0.25, 400), (2, 5, 0.1, 600)]))
def test_descent_from_random_starts_reaches_the_map_and_passes_less_than_a_third_of_a_per_cent_below_it(m, B, p, steps):
    known = codes.best_known(p, m / B).loss * B
    _, code, _, _ = next(second_attack_on_map.attack(m, B, p, starts=10, steps=steps, per_set=8))
    loss, error = second_attack_on_map.judged(code, p, 4, seed=9)
    assert error < 1e-3 * known
    # 0.3 per cent is what the map promises; the upper end, set after looking, says that the descent has arrived.
    assert 0.997 < loss / known < 1.003


def test_losses_of_a_batch_are_those_of_the_hidden_vector():
    generator = torch.Generator().manual_seed(0)
    code = [torch.randn(1, *shape, dtype=torch.float64, generator=generator) for shape in ((4,), (4, 2), (4, 2), (4,))]
    loss, error = second_attack_on_map.judged(code, 0.3, 8, seed=1)
    W = torch.exp(code[0][0] - code[0][0][:, None]) * (code[2][0] @ code[1][0].T)
    x = torch.rand(400_000, 4, dtype=torch.float64, generator=generator)
    x *= torch.rand(x.shape, dtype=torch.float64, generator=generator) < 0.3
    each = (torch.relu(x @ W.T + code[3][0]) - x).square().sum(1)
    assert abs(loss - float(each.mean())) < 4 * (error**2 + float(each.var()) / len(each)) ** 0.5
