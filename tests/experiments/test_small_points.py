"""Small points of the named runs, one of every kind: what they give is what was stored.

That says nothing of what is right, which the other tests do. It says that nothing in a training, a search or a
measure has changed unasked: most points of the stored tables cost minutes, and are not computed by any test. How far
rounding may carry them is stored too, since a fault may make more of it. After a change that was meant:
``python tests/experiments/test_small_points.py`` stores anew, and names what is other.
"""

import json
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from superposition import runs
from superposition.runs import agreement, moved, tables
from superposition.runs.point import computed

pytest.importorskip("torch")
STORED = Path(__file__).with_name("small_points.json")
MEND = "run `python tests/experiments/test_small_points.py` if that was meant, or if a run is new"
SEED = 3  # a default is 0


def each(field, *values, **others):
    """One change for each value of a field."""
    return [{field: value, **others} for value in values]


# What is computed by no point here, as a point of it takes seconds.
LEFT_OUT = (
    "best_codes:searched_tile", "compared_codes:recorded_code", "crowds:ended", "crowds:spread", "tuned_codes:tuned",
)  # fmt: skip
# What is other than in the first point of a run's small grid: numbers that no default has, and every word that a run
# of the book uses. Small where a point would cost more than a few tenths of a second.
POINTS = {
    "rug-grid": [{"steps": 60, "rate": 0.5}],
    "rug-stopped-large": [{"steps": 60, "rate": 0.5}],
    "rug-stopped": [{"steps": 200}],
    "rug-tile-sizes": [{"steps": 20, "copies": 2}],
    "rug-price": [
        *each("kind", "rug", "antipodal", budget="decay"),
        *each("kind", "searched", "antipodal", "graph", budget="range"),
    ],
    "rug-gaussian": [{"ns": 24, "steps": 40}],
    "rug-descent": [{"ns": 32, "steps": 40}],
    "together-loss": [{"s": 0.4, "lr": 0.02, "steps": 30}, {"groups": 3, "G": 2, "s": 0.0, "steps": 30}],
    "together-company": [{"before": 0.2, "after": 0.4, "kick": 0.05}],
    "together-two": [{"n": 8, "m": 6, "q": 0.05}],
    "polysemantic-flow": [{"n": 12, "m": 12, "lambda_": 0.01}],
    "polysemantic-descent": each("method", "adamw", "sgd", n=6, m=8, lambda_=0.02, lr=0.01, steps=300),
    "constant-size": [{"networks": 40}],
    "rug-ladder": [{}],
    "rug-ladder-antipodal": [{}],
    "decoder-layers": [
        *each("start", "random", "rug", "antipodal", layers=1, steps=8),
        *each("start", "random", "antipodal", code="kept", later=2, steps=8),
    ],
    "dictionary-baselines": each("kind", "relu", "topk", "jumprelu"),
    "dictionary-overlaps": each("directions", "antipodal", "random", "cone", nd=6, exponent=1.0),
    "ands-converged": [{"layer": "linear", "start": "random"}, {"layer": "relu", "start": "groups"}],
    "rug-escape": [{"steps": 40, "batch": 64}],
    "dictionary-families": each("truth", "families", "unrelated"),
    "rug-ablations": [{"steps": 40}],
    "rug-crystal": each(
        "method", "blocks", "plain", "softplus", "sparse encoder", "unequal", "fans", ratio=2.0, steps=6
    ),
    "rug-crystal-ways": each("method", "cones", "growing", "tiles", "pruned", ratio=2.0, steps=6),
    "rug-levels": each("start", "mixture", "random", steps=20),
    "noise-descent": [{"n": 3, "m": 4, "eta": 0.05, "descent_eta": 0.2, "until": 60.0}],
    "noise-border": [{"n": 3, "m": 4, "draws": 30}],
    "noise-half": [{"n": 5, "m": 6, "sigma": 0.35, "draws": 30}],
    "noise-sixth": each("law_name", "four:-1:4", "four:0.3:-8.6", noise="independent", draws=2, steps=400),
    "noise-laws": [
        *each("law_name", "uniform", "normal", "laplace", "discrete:-0.5", steps=400, lambda_=0.01, instances=2),
        {"relu": False, "noise": "independent", "steps": 400},
    ],
    "field-others": each("kind", "biases", "cross-entropy", "readout", slower=2.0, lr=0.5),
    "field-biased": each("kind", "neither", "output", "held", "hidden", "both", "pixel", samples=100, n=20),
    "rug-sizes": each("protocol", "recipe", "text", steps=60),
    "rug-crystal-plain": each("start", "swept", "fans", steps=6),
    "rug-crystal-dense": each("start", "plain", "levels", "sparse", "rare first", "shaken", steps=6),
    "field-one": [{"n": 20, "steps": 30, "batch": 50, "samples": 100}],
    "field-many": [{"n": 20, "steps": 30, "batch": 50, "samples": 100}],
    "field-branches": [{"n": 16, "K": 2, "steps": 30, "batch": 50, "samples": 100}],
    "dictionary-prices": [{}],
    "dictionary-schedules": each("kind", "relu", "topk", "jumprelu", first=0.5),
    "dictionary-company": each("ingredient", "copula", "groups", "frequencies", degree=0.3),
    "dictionary-batch": [{"first": 0.5, "price": 1.2}],
    "dictionary-together": [{"degree": 0.3}],
    "rug-recipe": each("protocol", "recipe", "earlier"),
    "rug-edge": [{}],
    "field-where": [{"batch": 50, "scale": 0.5}],
    "field-onset": each("law", "nlgp", "clone", batch=50, fraction=1.5),
    "field-critical": [{"samples": 200, "n": 20}],
    "field-torus": [{"initials": 2}],
    "field-added": [{"samples": 100, "n": 20}],
    "field-border": [{"samples": 100, "n": 20}],
    "field-joined": [{"n": 20, "steps": 30, "batch": 50, "samples": 100}],
    "field-swapped": [{"n": 20, "steps": 30, "batch": 50, "samples": 100}],
    "toy-phase": [{"relative": 0.7, "steps": 60, "instances": 2}],
    "toy-geometry": [{"steps": 60, "n": 12, "m": 3}],
    "toy-finite": [{"steps": 60}],
    "field-gain": each("law", "nlgp", "clone", gain=2.0, batch=50, K=2),
    "field-bias": each("activation", "erf", "sigmoid", K=2, batch=50, lr=0.7),
    "field-flips": [{"K": 3, "batch": 50, "lr": 0.05}],
    "gated-fields": [{"n": 20, "K": 2, "steps": 20}],
    "gated-marginals": each("law", "tanh", "sine", "cubic", strength=0.5, n=20, steps=20)
    + each("law", "sinh", "power", "shrink", "elliptical", strength=0.8, n=20, steps=20),
    "gated-basin": [{"n": 20, "steps": 20, "noise": 0.5}],
    "rug-frequencies-seeds": each("decoder", "tied", "free", steps=60),
    "frequencies-causes": each("pull", 0.0, 0.5, bias_spread=0.5, largest=2.0, steps=60),
    "frequencies-alive": each("way", "floor", "revived", steps=60),
    "field-hundred": each("activation", "relu", "sigmoid", "tanh", bias=0.2, scale=0.7),
    "field-pulses": each("version", "raw", "signed", K=2),
    "field-frozen": [{}],
    "rug-device": each("draws", "device", "host", steps=60),
    "real-windows": each("vectors", "dealt", "random", window=8),
    "real-latents": [{"steps": 40}],
    "real-reread": [{"steps": 40}],
    "real-vectors": each("vectors", "own", "random", window=8),
    "real-kinds": [*each("kind", "relu", "jumprelu", steps=6), {"kind": "topk", "price": 3.0, "steps": 6}],
    "real-truths": each("company", "drawn", steps=6),
    "rug-lessons": [{"steps": 4}],
    "rug-unled": each("method", "growing", "waking", "sorted", steps=4),
    "rug-tied": [{"steps": 4}],
    "crowd-clones": [{"steps": 4, "K": 2, "batch": 10, "n": 16}],
    "real-words": [
        *each("decoder", "free", "tied", steps=6, tokens=60),
        *each("decoder", "free", "tied", learned="alone", steps=6, tokens=60),
    ],
    "together-groups": [{"steps": 10, "s": 0.5}],
    "dictionary-borders": [{"ns": 12, "nd": 4}],
    "dictionary-path-ends": [{"steps": 6}],
    "rug-public": [{"epochs": 1, "ns": 16, "nd": 4}],
    "rug-public-maps": [{"epochs": 1, "ns": 16, "nd": 4}],
    "rug-public-device": [{"epochs": 1, "ns": 16, "nd": 4}],
    "rug-frequencies-signs": [{"steps": 20, "ns": 12, "nd": 3}],
    "rug-lessons-further": [{"steps": 4}],
}  # fmt: skip
CASES = [(name, change) for name in POINTS for change in POINTS[name]]
DEAR = ("dictionary-borders", "rug-escape", "rug-price")  # up to two seconds each: `make test-more`


def title(case):
    """What a point is called."""
    name, change = case
    return " ".join([name, *map(str, change.values())])


def point(name, change):
    """The fields of a point."""
    run = runs.find(name)
    first = runs.points(run, "small")[0].model_dump()
    seed = {"seed": SEED} if "seed" in first else {}
    return run.point(**{**first, **seed, **change}).model_dump(mode="json")


def values(name, fields, side=0):
    """What a point gives today, with what theory predicts for it; a side moves its start by one rounding."""
    run = runs.find(name)
    module, function = run.function.split(":")
    with moved.draws(side) if side else nullcontext():
        found = computed(getattr(import_module(module), function), fields, "cpu")
    columns = tables.with_predictions(run, {key: np.array([value]) for key, value in {**fields, **found}.items()})
    return {key: column[0].item() for key, column in columns.items() if key not in fields}


def marks(case):
    """`make test` computes the first point of each run that is not dear."""
    name, change = case
    return pytest.mark.thorough if name in DEAR or change is not POINTS[name][0] else ()


@pytest.mark.parametrize("case", [pytest.param(one, marks=marks(one)) for one in CASES], ids=title)
def test_values_are_those_that_are_stored(case):
    name, change = case
    stored, fields = json.loads(STORED.read_text()).get(title(case), {}), point(name, change)
    assert stored.get("point") == fields, MEND
    found = values(name, fields)
    assert stored["values"].keys() == found.keys(), MEND
    assert not farther(stored, found), MEND


def farther(stored, found):
    """How far values are from the stored ones, where that is farther than rounding carries those, and that bound."""
    columns = {key: np.array([value]) for key, value in stored["values"].items()}
    sides = [agreement.distances(columns, 0, side) for side in stored["moved"]]
    carried = {key: min(agreement.FACTOR * max(side[key] for side in sides), agreement.FARTHEST) for key in columns}
    bounds = {key: max(agreement.BOUND, carried[key]) for key in columns}
    apart = agreement.distances(columns, 0, found)
    return {key: (apart[key], bounds[key]) for key in apart if apart[key] > bounds[key]}


def test_what_a_fault_moves_gives_it_no_wider_bound():
    stored = {"values": {"loss": 0.2}, "moved": [{"loss": 0.2 + 4e-7}, {"loss": 0.2}]}
    assert farther(stored, {"loss": 0.2 + 3e-6}) == {} and farther(stored, {"loss": 0.2 + 5e-6})


def test_every_stored_point_is_computed():
    assert {title(case) for case in CASES} == json.loads(STORED.read_text()).keys(), MEND


def test_every_kind_of_point_is_computed():
    kinds, computed_here = ({runs.find(name).function for name in names} for names in (runs.RUNS, POINTS))
    assert kinds - computed_here == {f"superposition.experiments.{one}" for one in LEFT_OUT}


def main():
    """Store what all points give today, and name those that gave something else."""
    before = json.loads(STORED.read_text()) if STORED.exists() else {}
    today = {title(case): (case[0], point(*case)) for case in CASES}
    found = {
        key: {
            "point": fields,
            "values": values(name, fields),
            "moved": [values(name, fields, side) for side in (-1, 1)],
        }
        for key, (name, fields) in today.items()
    }
    STORED.write_text(json.dumps(found, indent=0) + "\n")
    print("\n".join(key for key in found if found[key] != before.get(key)))


if __name__ == "__main__":
    main()
