"""How a certificate is put together from its cells: from gain to gain, and into a concave function of the credit."""

import numpy as np
import pytest
from superposition.codes import frequency_programs as programs


@pytest.mark.parametrize(
    ("A", "points", "expected"),
    [
        ([0, 1, 2], [0, 3, 2], [0, 2, 2]),  # it does not fall
        ([0, 1, 2], [0, 1, 3], [0, 1, 2]),  # it is concave
        ([0, 1, 2.9], [1, 1.5, 2.5], [1, 1.5, 2.45]),  # a lower start would cost more than it gives,
        ([0, 1, 3.1], [1, 1.5, 2.6], [0.9762, 1.5, 2.6]),  # and here less
        ([1, 2, 5], [1, 1.5, 3.3], [0.9, 1.5, 3.3]),
        ([1, 2, 3.4], [1, 1.5, 2.8], [1, 1.5, 2.2]),
        ([1, 2, 3.6], [1, 1.5, 2.8], [0.6875, 1.5, 2.8]),
    ],
)
def test_the_concave_function_has_the_largest_integral_over_one_and_the_credit(A, points, expected):
    found = programs.concave_below(np.array(A, float), np.array(points, float))
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_between_two_steps_the_lower_end_counts_and_no_more_than_silence(monkeypatch):
    ends = iter([(0.05, 0.11), (0.12, 0.2), (0.19, 0.9)])
    asked = []

    def cover(p, A):
        asked.append((p, A.tolist()))
        return (f"cells {len(asked)}",), np.array(next(ends))

    monkeypatch.setattr(programs, "_cover", cover)
    monkeypatch.setattr(programs, "concave_below", lambda A, points: points)
    found = programs.certificate(0.2, [0, 1, 3, 7])
    assert asked == [(0.2, [0, 1]), (0.2, [1, 3]), (0.2, [3, 7])]
    silence = 0.999 * (1 / 3 - 0.05)
    lower = silence * 1e-9 / np.array([1, 2, 4, 8])
    np.testing.assert_allclose(found.phi, [0.05, 0.11, 0.19, silence] - lower, rtol=1e-13)
    assert found.cells == (("cells 1",), ("cells 2",), ("cells 3",)) and (found.p, found.A.tolist()) == (
        0.2,
        [0, 1, 3, 7],
    )


def test_gains_are_as_far_apart_as_the_last_gap_allows(monkeypatch):
    """Gaps grow by a fifth, up to five times the least one; where a bound falls by a two-hundredth they begin anew."""
    p, A, asked = 0.02, np.array([2.0, 3.0]), []

    def solved(p, gain, gap, A, scales):
        asked.append((gain, gap, scales))
        return (gain, gap), np.array([0.02, 0.03]) * (0.9 if gain > 1.15 else 1)

    monkeypatch.setattr(programs, "solve_cell", solved)
    cells, proved = programs._cover(p, A)
    scales = (1 - np.exp(-0.4 * p * A)) / 3
    assert all(np.allclose(one, scales) for _, _, one in asked) and asked[0][0] == 1
    np.testing.assert_allclose(proved, [0.018 - 0.001 * 0.027, 0.999 * 0.027])
    gains, given = np.array(cells).T
    least = np.sqrt(0.12 * scales[0])
    assert gains[-1] >= programs.end_gain_high(0.027) > gains[-2] and np.all(np.diff(gains) > 0)
    assert gains[0] <= programs.end_gain_low(p, 0.027) < gains[1]
    # at least as wide as the steps on both of its sides
    steps = np.diff(gains)
    assert np.all(steps <= np.minimum(given[1:], given[:-1]) * (1 + 1e-12)) and given[gains == 1] == 1.2 * least
    up, down = gains[gains >= 1], gains[gains <= 1][::-1]
    for way in (up, down):
        for at, before, step in zip(way[1:], way[:-1], np.abs(np.diff(way)), strict=True):
            assert given[gains == at] == pytest.approx(1.2 * step)
            assert step <= 5 * least * (1 + 1e-12) and step <= before / 3 * (1 + 1e-12)
    growth = np.diff(up)[1:] / np.diff(up)[:-1]
    fallen = np.flatnonzero(up[1:] > 1.15)[0]
    assert np.diff(up)[0] == pytest.approx(least) and np.diff(up)[fallen] == pytest.approx(least)
    steps = np.diff(up)[1:]
    widest, least_again = np.isclose(steps, 5 * least), np.isclose(steps, least)
    assert np.all(np.isclose(growth, 0.999 * 1.2) | widest | least_again) and widest.any()


def test_a_small_credit_counts_a_quarter_of_the_large_one(monkeypatch):
    seen = []

    def solved(p, gain, gap, A, scales):
        seen.append(scales)
        return gain, np.array([1e-9, 1e-9])

    monkeypatch.setattr(programs, "solve_cell", solved)
    monkeypatch.setattr(programs, "end_gain_high", lambda value: 1.0)
    monkeypatch.setattr(programs, "end_gain_low", lambda p, value: 1.0)
    cells, _ = programs._cover(0.1, np.array([0.0, 3.0]))
    large = (1 - np.exp(-0.12)) / 3
    assert cells == (1.0,) and seen[0] == pytest.approx([large / 4, large])
