"""The valley search against one that refines every dip, over all p and r that the theory is tested for."""

import numpy as np
import pytest
from sampled import sampled
from scipy.optimize.elementwise import find_minimum, find_root
from superposition import features, minima
from superposition.rug import jumprelu, meanfield

P = 10.0 ** np.linspace(-12, 0, 7)
R = np.array([1e-12, 1e-6, 1e-3, 0.03, 0.2, 0.5, 0.8, 0.99, 0.9999])


def every_dip(line, grid):
    """Indices of all local minima of one line over the grid, those of rounding included."""
    inner = line[1:-1]
    return 1 + np.flatnonzero((inner <= line[:-2]) & (inner <= line[2:]))


def exhaustive(p, sigma):
    """Lowest loss over all dips of the grid: a root of the gradient in each; also how much refining lowers a dip."""

    def slope(z):
        a = meanfield.best_gain(z, sigma, p)[0]
        return meanfield.loss_grad(a, a * z * sigma, sigma, p).b

    grid = meanfield.THRESHOLDS
    line = meanfield.best_gain(grid, sigma, p)[1]
    dips = every_dip(line, grid)
    if not len(dips):
        return line.min(), 1.0
    root = find_root(slope, (grid[dips - 1], grid[dips + 1]))
    found = meanfield.best_gain(np.where(root.success, root.x, grid[dips]), sigma, p)[1]
    return found.min(), np.max(line[dips] / found)


@pytest.fixture(scope="module")
def oracle():
    found = [[exhaustive(p, float(meanfield.noise_std(p, r))) for r in R] for p in P]
    return np.moveaxis(np.array(found), -1, 0)


@pytest.mark.thorough
def test_optimum_is_that_of_every_dip(oracle):
    np.testing.assert_allclose(meanfield.optimum(P[:, None], R).loss, oracle[0], rtol=1e-12)


@pytest.mark.thorough
def test_no_valley_that_may_win_is_left_out(oracle):
    """A dip left out is higher than the lowest by more than refining can lower it, by a factor of five."""
    assert 1 < oracle[1].max() < 1 + (minima.NEAR - 1) / 5


@pytest.mark.parametrize("p", sampled([0.05, 1e-9, 1e-3, 0.5], kept=2))
def test_jump_is_that_of_every_dip(p):
    for r in (1e-3, 0.2, 0.9):
        sigma = float(meanfield.noise_std(p, r))

        def value(z, sigma=sigma):
            return jumprelu._jump_profile(z, sigma, p)[2]

        grid = jumprelu._JUMPS
        line = value(grid)
        dips = every_dip(line, grid)
        found = find_minimum(value, (grid[dips - 1], grid[dips], grid[dips + 1])).f_x if len(dips) else line
        if len(dips):
            assert np.max(line[dips] / found) < 1 + (minima.NEAR - 1) / 5
        lowest = min(line.min(), found.min(), meanfield.optimum(p, r).loss)
        assert jumprelu.jumprelu_optimum(p, r).loss == pytest.approx(lowest, rel=1e-12, abs=0)


def test_a_minimum_beyond_the_grid_is_refused():
    with pytest.raises(
        RuntimeError, match="^the search ended at 0.082085, but 0.0639279 is reached between -3 and -2$"
    ):
        minima.lowest(lambda z, c: np.exp(z) + 0 * c, np.linspace(-3, 3, 13), [np.zeros(2)])


def test_a_minimum_above_the_grid_is_refused_too():
    with pytest.raises(RuntimeError, match="^the search ended at 0.082085, but 0.0639279 is reached between 2 and 3$"):
        minima.lowest(lambda z, c: np.exp(-z) + 0 * c, np.linspace(-3, 3, 13), [np.zeros(2)])


@pytest.mark.parametrize(("excess", "refused"), [(0.995e-4, False), (1.005e-4, True)])
def test_a_minimum_counts_as_missed_from_a_ten_thousandth_on(excess, refused):
    def low_beside_0(z, excess):
        return 1 + excess * (z / 0.015 - 1) ** 2

    given = low_beside_0, np.linspace(-3, 3, 13), [np.array([excess])], lambda z, excess: 1 + 0 * z * excess
    if refused:
        with pytest.raises(RuntimeError, match="^the search ended at 1.0001, but 1 is reached between -0.5 and 0.5$"):
            minima.lowest(*given)
    else:
        assert minima.lowest(*given)[0] == 0


def test_a_refinement_that_fails_is_refused_unless_its_middle_is_the_minimum():
    grid, wrong = np.linspace(-3, 3, 13), lambda z, c: 1 + 0 * z * c
    with pytest.raises(RuntimeError, match="^the search ended at 1.01, but 1.00063 is reached between -0.5 and 0.5$"):
        minima.lowest(lambda z, c: 1 + (z - c) ** 2, grid, [np.array([0.1])], slope=wrong)
    z, found = minima.lowest(lambda z, c: 1 + (z - c) ** 2, grid, [np.zeros(1)], slope=wrong)
    assert (z, found) == (0, 1)


def test_flat_lines_keep_their_value():
    grid = np.linspace(-3, 3, 13)
    np.testing.assert_array_equal(minima.lowest(lambda z, c: 1 + 0 * z * c, grid, [np.zeros(2)])[1], 1)


def test_lower_of_two_valleys_and_shapes():
    def two(z, depth):
        return 2 - np.exp(-((z + 2) ** 2)) - depth * np.exp(-((z - 2) ** 2))

    z, lowest = minima.lowest(two, np.linspace(-4, 4, 17), [np.array([[0.9], [0.999], [1.1]])])
    assert z.shape == lowest.shape == (3, 1)
    np.testing.assert_allclose(z[:, 0], [-2, -2, 2], atol=1e-5)


@pytest.mark.parametrize("by_root", [False, True])
def test_a_valley_between_the_points_of_the_grid_may_be_the_lowest(by_root):
    def two(z, depth, scale):
        return scale * (2 - depth * np.exp(-((z + 2.05) ** 2)) - np.exp(-((z - 2.2) ** 2)))

    def slope(z, depth, scale):
        return (z + 2.05) * depth * np.exp(-((z + 2.05) ** 2)) + (z - 2.2) * np.exp(-((z - 2.2) ** 2))

    depth = np.array([0.98, 1.05, 0.98, 1.05])  # the points of the grid are lower on the left in all cases
    scale = np.array([1e-3, 1e-3, 1e3, 1e3])
    z, lowest = minima.lowest(two, np.linspace(-4, 4, 17), [depth, scale], slope=slope if by_root else None)
    np.testing.assert_allclose(z, [2.2, -2.05, 2.2, -2.05], atol=1e-5)
    np.testing.assert_allclose(lowest, [1, 0.95, 1, 0.95] * scale, rtol=1e-5)


def test_variance_where_nothing_gets_through():
    assert meanfield.optimum(1e-3, 1e-12).loss == pytest.approx(features.variance(1e-3), rel=1e-9)
