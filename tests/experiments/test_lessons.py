"""What the stored lessons say of their length."""

from superposition.runs import tables

USUAL = {"ns": 60, "group": 20, "lesson": 0.3, "lr": 0.01, "steps": 3000}


def test_lessons_that_are_too_short_are_long_enough_with_three_times_the_steps():
    further = tables.load("rug-lessons-further")
    for few, more in (
        ({"lesson": 0.1}, {"lesson": 0.1, "steps": 9000}),
        ({"lr": 0.003}, {"lr": 0.003, "steps": 10_000}),
    ):
        short, longer = (further.where(**USUAL | one).columns["over_rug"] for one in (few, more))
        alone = further.where(**USUAL | more | {"lesson": 0.0}).columns["over_rug"]
        assert len(short) == len(longer) == len(alone) == 5
        assert short.min() > 0.6 and alone.min() > 0.6 and longer.max() < 0.56
