"""Coupled rugs: one link is a rug, a chain decodes below the threshold of a rug, and the recursion predicts when."""

import numpy as np
import pytest
from superposition import decoders, features
from superposition.decoders import coupled
from superposition.rug.bayes import bayes_decoder, bayes_loss


def last_of(code, x, p, iterations):
    *_, last = decoders.decode_coupled(code.readout(x), code, p, iterations=iterations)
    return last


def test_one_block_is_a_rug_with_signs():
    code, p = decoders.CoupledRug(512, 154, blocks=1, width=1, seed=3), 0.05
    x = features.sample(512, p, 3, seed=0)
    (rug,), (signs,) = code.rugs, code.signs
    assert np.allclose(code.readout(x), signs * rug.apply(signs * x), atol=1e-14)
    mine = [found.copy() for found in decoders.decode_coupled(code.readout(x), code, p, iterations=4)]
    W_in = np.linalg.eigh(rug.dense())[1][:, -rug.nd :].T * signs
    assert np.allclose(mine[-1], decoders.decode(x @ W_in.T, W_in, p, iterations=4), atol=1e-6)


def test_evolution_of_one_block_is_that_of_a_rug():
    for density in (0.1, 0.2):
        one = decoders.coupled_evolution(0.05, density, blocks=1, width=1, iterations=8)
        rug = decoders.state_evolution(0.05, density, 8)
        assert np.allclose(one.loss[0], rug.loss, rtol=1e-6) and np.allclose(one.sigma[0], rug.sigma, rtol=1e-6)


def test_every_small_rug_has_orthogonal_rows_and_a_unit_diagonal():
    code = decoders.CoupledRug(64, 20, blocks=5, width=3, seed=1)
    assert (code.ns, code.nd, len(code.rugs)) == (320, 140, 7)
    assert code.windows == [(0, 1), (0, 2), (0, 3), (1, 4), (2, 5), (3, 5), (4, 5)]
    for a, rug in enumerate(code.rugs):
        R = code.apply(a, np.eye(rug.ns))
        assert np.allclose(R, R.T) and np.allclose(np.diag(R), 1) and np.allclose(R @ R * rug.nd / rug.ns, R)
    assert len({tuple(signs[:64]) for signs in code.signs}) == 7


def test_table_of_one_step_is_its_loss():
    sigma = np.geomspace(1e-8, 50, 301)
    for p in (1e-4, 0.05, 1.0):
        assert np.allclose(coupled._one_step(p)(sigma), bayes_loss(p, sigma), rtol=1e-5)


def test_a_chain_decodes_where_one_rug_cannot_and_an_endless_one_neither():
    p, density = 0.05, 0.09
    assert decoders.recovery_ratio(p) > density * 35 / 32
    found = decoders.coupled_evolution(p, density, blocks=32, width=4, iterations=250).loss
    assert found[:, -1].max() < 1e-15 and np.allclose(found, found[::-1], rtol=1e-6)
    stuck = decoders.coupled_evolution(p, density, blocks=32, width=1, iterations=250).loss
    assert stuck[:, -1].min() == pytest.approx(decoders.final_loss(p, density), rel=1e-6)
    low = decoders.coupled_evolution(p, 0.06, blocks=32, width=4, iterations=500).loss  # above p, and not enough
    assert low[:, -1].max() == pytest.approx(decoders.final_loss(p, 0.06), rel=0.1)


@pytest.mark.thorough
def test_a_simulated_chain_follows_its_evolution_and_ends_decoded():
    p = 0.05
    code = decoders.CoupledRug(2048, 205, blocks=8, width=4, seed=5)
    x = features.sample(code.ns, p, 8, seed=6)
    errors = np.array(
        [
            np.mean((found - x) ** 2, axis=1)
            for found in decoders.decode_coupled(code.readout(x), code, p, iterations=60)
        ]
    )
    theory = decoders.coupled_evolution(p, code.dims / code.size, blocks=8, width=4, iterations=5).loss.mean(axis=0)
    se = errors[:5].std(axis=1, ddof=1) / np.sqrt(len(x))
    assert np.all(np.abs(errors[:5].mean(axis=1) - theory) < 4 * se + 0.04 * theory)
    assert np.all(errors[-1] < 1e-9)


def test_the_step_without_its_correction_is_worse():
    # the posterior mean is fed back unchanged, as with a wrong slope
    p, code = 0.05, decoders.CoupledRug(1024, 110, blocks=8, width=4, seed=2)
    x = features.sample(code.ns, p, 2, seed=3)
    guess = np.full_like(x, p / 2)
    for _ in range(60):
        pull, count = np.zeros_like(x), np.zeros_like(x)
        for a in range(len(code.rugs)):
            part = code.part(a)
            pull[:, part] += guess[:, part] + code.apply(a, x[:, part]) - code.apply(a, guess[:, part])
            count[:, part] += 1
        y = pull / count
        guess = bayes_decoder(y, np.std(y - x), p)[0]
    assert np.mean((guess - x) ** 2) > 100 * np.mean((last_of(code, x, p, 60) - x) ** 2)


def test_refusals_name_the_argument():
    for arguments, message in (
        ({"size": 8, "dims": 9}, r"dims = 9 is out of range; allowed: whole numbers from 1 to 8"),
        ({"size": 8, "dims": 2, "blocks": 3, "width": 4}, r"width = 4 .* allowed: whole numbers from 1 to 3"),
    ):
        with pytest.raises(ValueError, match=message):
            decoders.CoupledRug(**arguments)
    code = decoders.CoupledRug(8, 3, blocks=3, width=2)
    with pytest.raises(ValueError, match=r"readout has shape \(2, 24\); allowed: \(batch, 48\), of all small rugs"):
        decoders.decode_coupled(np.ones((2, 24)), code, 0.05)
