"""The search for codes of infinite ratio with few conflicts."""

import numpy as np
from superposition.codes import best_map, conflict_search, fans, lower_bound


def test_the_fan_has_the_conflicts_of_its_hiders():
    fan = fans.priority_fan(7, 10)
    dots = np.sign(np.round(fan.W_out @ fan.W_in, 12))
    assert conflict_search.fewest_conflicts(dots, range(7)) == sum(fans.hiders(7)) == 14
    assert conflict_search.fewest_conflicts(dots, [6, 0, 1]) >= 0


def test_two_features_on_one_ray_have_no_reader():
    assert conflict_search.fewest_conflicts([[1, 1]], [0, 1]) == conflict_search.IMPOSSIBLE


def test_annealing_finds_the_least_in_the_plane():
    # with entries -1, 0 and 1 the plane has four directions and four diagonals; the theorem says n (n - 3) / 2
    assert [conflict_search.annealed_conflicts(2, n, steps=600, seed=3) for n in (4, 5)] == [2, 5]
    assert conflict_search.annealed_conflicts(3, 6, steps=600) >= lower_bound.fewest_in_space(6)


def test_descent_reaches_the_lemma_and_a_digon():
    """Squares sum to n^2 / m at least; in one dimension two features find the tied digon, or the untied one."""
    found = conflict_search.lowest(lambda W: (W**2).sum(), 6, 2, seed=1)
    assert 18 - 1e-9 < found < 18 * 1.001
    digon = conflict_search.lowest(conflict_search.charged_cost, 2, 1, tries=6, seed=2)
    assert abs(digon - 25 / 162) < 1e-4


def test_positive_entries_are_charged():
    W = np.array([[1.0, 0.2], [-0.5, 1.0]])
    alone = 0.5**2 * (1 / 3 - 0.5 / 6) / 2
    assert abs(conflict_search.charged_cost(W) - (alone + conflict_search.CHARGE * 0.04 / 4)) < 1e-12


def test_a_fan_beside_a_digon_reaches_theorem_c3():
    """Readers and arrows of a fan in a plane and of a digon across it, loudness in any order."""
    fan = fans.priority_fan(7, 10)
    code = best_map.side_by_side([fan, fans.Code(np.array([[1.0, -1.0]]), np.array([[1.0], [-1.0]]), np.zeros(2))])
    dots = np.sign(np.round(code.W_out @ code.W_in, 12))
    for order in (range(9), [7, *range(7), 8], [0, 7, 1, 8, 2, 3, 4, 5, 6]):
        assert conflict_search.fewest_conflicts(dots, order) == lower_bound.fewest_in_space(9) == 15
