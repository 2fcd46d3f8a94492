"""The search for codes of infinite ratio with few conflicts."""

import numpy as np
from superposition.rug import codes, conflict_search


def test_the_fan_has_the_conflicts_of_its_hiders():
    fan = codes.priority_fan(7, 10)
    dots = np.sign(np.round(fan.W_out @ fan.W_in, 12))
    assert conflict_search.fewest_conflicts(dots, range(7)) == sum(codes.hiders(7)) == 14
    assert conflict_search.fewest_conflicts(dots, [6, 0, 1]) >= 0


def test_two_features_on_one_ray_have_no_reader():
    assert conflict_search.fewest_conflicts([[1, 1]], [0, 1]) == conflict_search.IMPOSSIBLE


def test_annealing_finds_the_least_in_the_plane():
    # with entries -1, 0 and 1 the plane has four directions and four diagonals; the theorem says n (n - 3) / 2
    assert [conflict_search.annealed_conflicts(2, n, steps=600, seed=3) for n in (4, 5)] == [2, 5]
    assert conflict_search.annealed_conflicts(3, 6, steps=600) >= 6 / 2 * (12 / 3 - 3)
