"""Agreement: bits, or a distance within a bound that replays with a moved start tell, not the distance."""

import numpy as np
import pytest
from superposition import weights
from superposition.runs import agreement, moved

COLUMNS = {"x": np.array([0.5, 1.0]), "loss": np.array([-4.0, 2.0]), "n": np.array([3, 4]), "how": np.array(["a", "b"])}
STORED = {"loss": 2.0, "n": 4, "how": "b"}


def never(side):
    raise AssertionError("nothing has to be moved")


@pytest.mark.parametrize(("loss", "distances"), [(2.0, {}), (2.00002, {"loss": 5e-6})])
def test_bits_or_a_small_distance_agree_and_nothing_is_moved(loss, distances):
    found = agreement.of(COLUMNS, 1, {**STORED, "loss": loss}, never)
    assert found.differs == "" and found.bounds == {} and found.distances == pytest.approx(distances, rel=1e-6)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"n": 5}, "n: 4 is stored, 5 is computed, distance inf, bound 0"),
        ({"loss": "2"}, "loss: 2.0 is stored, '2' is computed, distance inf"),
        ({"loss": np.nan}, "loss: 2.0 is stored, nan is computed, distance inf"),
        ({"fresh": 1.0}, "fresh is no column of the table"),
    ],
)
def test_what_must_be_equal_is_refused_and_nothing_is_moved(change, said):
    assert said in agreement.of(COLUMNS, 1, {**STORED, **change}, never).differs


def test_without_any_column_nothing_agrees():
    assert agreement.of(COLUMNS, 1, {}, never).differs == "no column of the table is computed any more"


@pytest.mark.parametrize(("spread", "agrees"), [(0.0, False), (3e-6, False), (5e-5, True)])
def test_a_wider_bound_comes_from_moving_the_start_alone(spread, agrees):
    now = {**STORED, "loss": 2.0004}  # a distance of 1e-4
    found = agreement.of(COLUMNS, 1, now, lambda side: {**now, "loss": 2.0004 + 4 * spread * (side > 0)})
    assert found.distances == pytest.approx({"loss": 1e-4}, rel=1e-6)
    assert (found.differs == "") == agrees
    assert found.bounds == pytest.approx({"loss": 10 * spread} if spread > 1e-6 else {}, rel=1e-6)
    if not agrees:
        bound = max(10 * spread, 1e-5)
        said = f"loss: 2.0 is stored, 2.0004 is computed, distance 0.0001, bound {bound:.2g}"
        assert found.differs == said


def test_chaos_does_not_carry_a_value_farther_than_numbers_of_its_column_lie_apart():
    for loss, agrees in ((-2.0, True), (10.5, False)):  # distances of 1 and of 2.1; the column's largest is 4
        now = {**STORED, "loss": loss}
        found = agreement.of(COLUMNS, 1, now, lambda side: {**STORED, "loss": 1000.0 * side})
        assert (found.differs == "") == agrees and found.bounds == {"loss": 2.0}


@pytest.mark.parametrize(("moves_to", "agrees"), [("a", False), ("b", True), ("c", False)])
def test_a_word_may_be_another_where_moving_the_start_gives_the_stored_one(moves_to, agrees):
    now = {**STORED, "how": "a"}
    found = agreement.of(COLUMNS, 1, now, lambda side: {**now, "how": moves_to if side == 3 else "a"})
    assert found.distances == {"how": agreement.FARTHEST} and (found.differs == "") == agrees
    if not agrees:
        assert found.differs.startswith("how: 'b' is stored, 'a' is computed, distance 2, bound")


def test_a_column_that_goes_is_not_compared():
    assert agreement.of(COLUMNS, 1, {"loss": 2.0}, never) == agreement.Agreement({}, {}, "")


@pytest.mark.parametrize("name", ["random", "standard_normal"])
def test_moved_draws_lie_one_rounding_to_either_side(name):
    def draw():
        return getattr(np.random.default_rng(3).spawn(1)[0], name)(1000)

    plain, moves = draw(), []
    for side in (1, -1):
        with moved.draws(side):
            moves.append(draw() / plain - 1)
    np.testing.assert_allclose(np.abs(moves), 2.0**-23, rtol=1e-6)
    np.testing.assert_array_equal(np.sign(moves[0]), -np.sign(moves[1]))
    assert abs(np.sign(moves[0]).mean()) < 4 / 1000**0.5
    np.testing.assert_array_equal(draw(), plain)


def test_moved_draws_of_torch_lie_about_a_rounding_off_and_below_one():
    torch = pytest.importorskip("torch")
    plain = torch.rand(10**5, generator=torch.Generator().manual_seed(0))
    with moved.draws(1):
        up = torch.rand(10**5, generator=torch.Generator().manual_seed(0))
        tall = torch.randn(10**4, generator=torch.Generator().manual_seed(0))
    assert up.dtype == plain.dtype and 0 < float((up / plain - 1).abs().max()) < 2e-7
    assert float(up.max()) < 1 < 3 < float(tall.max())
    assert torch.equal(torch.rand(10**5, generator=torch.Generator().manual_seed(0)), plain)


@pytest.mark.parametrize(
    ("off", "agrees", "sides"), [(1e-4, True, [-1, 1, -2, 2]), (1e-2, False, [-1, 1, -2, 2, -3, 3])]
)
def test_a_quiet_pair_of_moved_starts_is_followed_by_others(off, agrees, sides):
    asked = []

    def replay(side):
        asked.append(side)
        return {"loss": 1.0 + off + (3e-5 if abs(side) == 2 else 1e-7)}

    found = agreement.of({"loss": np.array([1.0, 0.5])}, 0, {"loss": 1.0 + off}, replay)
    assert asked == sides and (found.differs == "") == agrees


@pytest.mark.parametrize(
    ("value", "distance"),
    [
        ("0.51 2.00 1e-03", 0.0),  # one unit of the last digit is the printer's
        ("0.54 2.00 1e-03", 0.01),
        ("0.50 2.00", np.inf),
        ("half 2.00 1e-03", agreement.FARTHEST),
    ],
)
def test_numbers_in_a_text_are_compared_as_numbers(value, distance):
    column = {"curve": np.array(["0.51 2.00 1e-03", "3.00 0.00 1e-03"])}
    column["curve"][0] = "0.50 2.00 1e-03"
    assert agreement.distances(column, 0, {"curve": value})["curve"] == pytest.approx(distance)


def test_words_among_numbers_have_no_size():
    column = {"curve": np.array(["0.50 0.20", "none"])}
    assert agreement.distances(column, 0, {"curve": "0.50 0.26"})["curve"] == pytest.approx(0.1)
    column["curve"] = np.array(["none", "5.0", "0.1"])
    found = agreement.of(column, 0, {"curve": "some"}, lambda side: {"curve": "none"})
    assert found == agreement.Agreement({"curve": 2.0}, {"curve": 20.0}, "")  # as if chaos had moved it so far


def test_packed_weights_are_compared_as_weights():
    texts = [weights.packed([[1.0, x]], [[1.0], [x]], [0.0, 0.0]) for x in (-1.0, -1.0 - 1e-6, -1.01)]
    found = [agreement.distances({"weights": np.array(texts)}, 0, {"weights": t})["weights"] for t in texts]
    assert found == pytest.approx([0, 2e-6 / 1.01**2, 1 - 1 / 1.01**2], rel=0.1)  # of the product, a square


DECADES = {"loss": np.array([4.0, 0.4, 4e-6, 1e-9, 0.0])}


@pytest.mark.parametrize(
    ("row", "distance"),
    [(0, 1e-3), (1, 1e-3), (2, 1e-3), (3, 1e-12 / 4 / agreement.FLOOR), (4, 0.0)],
    ids=["largest", "a tenth", "a millionth", "below the floor", "zero"],
)
def test_where_values_span_decades_each_is_judged_by_its_own_size(row, distance):
    value = DECADES["loss"][row] * 1.001
    found = agreement.of(DECADES, row, {"loss": value}, lambda side: {"loss": value})
    assert found.distances.get("loss", 0.0) == pytest.approx(distance, rel=1e-6)
    assert bool(found.differs) == (distance > agreement.BOUND)


@pytest.mark.parametrize("others", [[4.0, 0.5], [4.0, -4e-4], [-4.0, -4e-4]])
def test_within_a_decade_or_through_zero_the_largest_is_the_unit(others):
    column = np.array([0.5, *others])
    assert agreement.distances({"x": column}, 0, {"x": 0.504})["x"] == pytest.approx(0.001)


def test_chaos_explains_as_much_of_a_small_value_as_of_a_large_one():
    column = {"loss": np.array([1.0, 0.001])}
    for loss, agrees in ((1.5, True), (2.5, False)):  # 2 of the largest is the farthest
        found = agreement.of(column, 1, {"loss": loss}, lambda side: {"loss": 1000.0 * side})
        assert (found.differs == "") == agrees and found.bounds == pytest.approx({"loss": 2000.0})


def test_texts_whose_numbers_span_decades_are_judged_by_their_own_largest():
    column = {"curve": np.array(["4.000e+00 1.000e+00", "4.000e-04 1.000e-04"])}
    assert agreement.distances(column, 1, {"curve": "4.000e-04 1.401e-04"})["curve"] == pytest.approx(0.1)
    assert agreement.distances(column, 0, {"curve": "4.000e+00 1.401e+00"})["curve"] == pytest.approx(0.1)
