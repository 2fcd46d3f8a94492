"""The search for codes of infinite ratio with few conflicts."""

import numpy as np
import pytest
from sampled import sampled
from superposition import codes
from superposition.codes import conflict_search


def test_the_fan_has_the_conflicts_of_its_hiders():
    fan = codes.priority_fan(7, 10)
    dots = np.sign(np.round(fan.W_out @ fan.W_in, 12))
    assert codes.fewest_conflicts(dots, range(7)) == 0 + 0 + 1 + 2 + 3 + 4 + 4
    assert codes.fewest_conflicts(dots, [6, 0, 1]) >= 0


def test_two_features_on_one_ray_have_no_reader():
    assert codes.fewest_conflicts([[1, 1]], [0, 1]) == conflict_search.IMPOSSIBLE


def test_annealing_finds_the_least_in_the_plane():
    # with entries -1, 0 and 1 the plane has four directions and four diagonals; the theorem says n (n - 3) / 2
    assert [codes.annealed_conflicts(2, n, steps=600, seed=3) for n in (4, 5)] == [2, 5]
    assert codes.annealed_conflicts(3, 6, steps=600) >= codes.fewest_conflicts_in_space(6)


def test_descent_reaches_the_lemma_and_a_digon():
    """Squares sum to n^2 / m at least; in one dimension two features find the tied digon, or the untied one."""
    found = codes.lowest_score(lambda W: ((W**2).sum(), 2 * W), 6, 2, seed=1)
    assert 18 - 1e-9 < found < 18 * 1.001
    digon = codes.lowest_score(codes.conflict_score, 2, 1, tries=6, seed=2)
    assert abs(digon - 25 / 162) < 1e-4
    fan = codes.swept_fan(5, 10)
    cost = codes.conflict_score
    assert codes.lowest_score(cost, 5, 2, tries=0, first=[fan]) < cost(fan.W)[0] < codes.lowest_score(cost, 5, 2)


def test_positive_entries_are_charged():
    W = np.array([[1.0, 0.2], [-0.5, 1.0]])
    alone = 0.5**2 * (1 / 3 - 0.5 / 6) / 2
    assert abs(codes.conflict_score(W)[0] - (alone + conflict_search.CHARGE * 0.04 / 4)) < 1e-12


def test_a_fan_beside_a_digon_reaches_theorem_c3():
    """Readers and arrows of a fan in a plane and of a digon across it, loudness in any order."""
    fan = codes.priority_fan(7, 10)
    code = codes.side_by_side([fan, codes.Code(np.array([[1.0, -1.0]]), np.array([[1.0], [-1.0]]), np.zeros(2))])
    dots = np.sign(np.round(code.W_out @ code.W_in, 12))
    for order in (range(9), [7, *range(7), 8], [0, 7, 1, 8, 2, 3, 4, 5, 6]):
        assert codes.fewest_conflicts(dots, order) == codes.fewest_conflicts_in_space(9) == 15


def test_the_cost_of_a_swept_fan_in_levels_is_that_of_its_weights():
    """In its own levels, and in those of a fan, where a pair costs a whole conflict."""
    whole = [(1, 0), (1, 1), (1, -1), (0, 1), (0, -1), (-1, 0)]
    dots = np.array(conflict_search._whole(2)) @ np.transpose(whole)
    found = conflict_search._level_cost(dots, [[0], [1, 2], [3, 4], [5]])
    assert found == pytest.approx(6 * codes.limit_cost(np.tril(codes.swept_fan(6, 1e9).W, 1)), rel=1e-6)
    assert conflict_search._level_cost(dots, [[k] for k in range(6)]) == pytest.approx(9 / 3)
    three = np.array(conflict_search._whole(2)) @ np.transpose([(1, 0), (-1, 1), (-1, -1)])
    assert conflict_search._level_cost(three, [[0], [1], [2]]) == pytest.approx(1 / 3)
    assert conflict_search._level_cost(three, [[0, 1, 2]]) == pytest.approx(25 / 81, abs=1e-6)  # the first far louder
    assert conflict_search._level_cost(dots, [[0], [0], [1]]) >= conflict_search.BLIND  # two on a ray


def test_a_triple_is_as_good_as_the_best_loudness_of_its_three():
    W = np.array([[0.0, 2.0, 0.5], [0.25, 0.0, 1.0], [4.0, 0.2, 0.0]])
    loud = np.random.default_rng(0).uniform(-3, 3, (20_000, 3))
    drawn = min(float(codes.conflict_cost(W * 3.0 ** (b - b[:, None])).sum()) for b in loud)
    found = conflict_search._within(tuple(tuple(np.delete(row, t).tolist()) for t, row in enumerate(W)))
    assert drawn <= found + 1e-3  # 20,000 draws come as near to the least
    assert found < drawn + (1 / 3 - 25 / 81) / 4  # and the grid is finer than what a pair saves


@pytest.mark.parametrize(("m", "n"), sampled([(2, 5), (2, 4), (3, 6), (3, 8)]))
def test_walks_find_swept_fans_and_digons_again_and_nothing_below(m, n):
    known, found = codes.annealed_levels(m, n, "random", steps=800, seed=7)
    assert known - 1e-9 < found < known + 0.1
    planes = {4: 4 * codes.DIGON_CONSTANT, 5: 5 / 3 - (1 / 3 - 25 / 81), 6: 9 / 3 - 2 * (1 / 3 - 25 / 81)}
    assert known == pytest.approx(planes[n - 2 * (m % 2)] + 2 * codes.DIGON_CONSTANT * (m % 2))
    assert codes.annealed_levels(m, n, "mixture", steps=50, seed=7)[1] == pytest.approx(known)


@pytest.mark.parametrize(("m", "n"), [(2, 5), (3, 7), (3, 8), (4, 8), (4, 11), (5, 13), (5, 14)])
def test_fans_and_digons_side_by_side_cost_what_they_cost_alone(m, n):
    levels, (small, large) = conflict_search._mixture(m, n), divmod(n - 2 * (m % 2), m // 2)
    vectors = np.array([w for level in levels for w in level])
    assert vectors.shape == (n, m) and len(np.unique(vectors, axis=0)) == n
    places = np.split(np.arange(n), np.cumsum([len(level) for level in levels])[:-1])
    found = conflict_search._level_cost(np.array(conflict_search._whole(m)) @ vectors.T, [list(one) for one in places])
    planes = {4: 4 * codes.DIGON_CONSTANT, 5: 5 / 3 - (1 / 3 - 25 / 81), 6: 9 / 3 - 2 * (1 / 3 - 25 / 81)}
    alone = (m // 2 - large) * planes[small] + large * planes.get(small + 1, 0) + 2 * codes.DIGON_CONSTANT * (m % 2)
    assert found == pytest.approx(alone)


def test_a_walk_has_its_sizes():
    with pytest.raises(ValueError, match="n = 9 features fill no swept fans in 3 dimensions; allowed: 2 m to 3 m"):
        codes.annealed_levels(3, 9, "mixture")
    with pytest.raises(ValueError, match="start = 'fan' is unknown"):
        codes.annealed_levels(2, 5, "fan")
