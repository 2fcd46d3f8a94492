"""Theory is joined when a table is read: sharper theory makes few tables stale, and those for a reason."""

from defprint import fingerprint
from superposition import runs
from superposition.runs import tables
from together import together

STORED = sorted(path.stem for path in tables.folder().glob("*.csv"))
PART_OF_THE_MEASUREMENT = {
    "rug-ladder": "the gains and biases of theory are the decoders that are measured",
    "rug-ladder-antipodal": "the same",
    "rug-price": "codes with the gains and biases of theory are put under budgets",
    "rug-escape": "steps are counted between 1.2 and half of the loss of the rug",
    "rug-times": "the same, and 0.95 of it",
    "rug-stopped": "a step is counted at which the loss comes within 1 % of theory",
}


def files(name):
    return {path.name for path in fingerprint.sources(runs.find(name).function)}


def test_a_tolerance_in_the_search_for_minima_makes_few_tables_stale():
    reached = {name for name in STORED if "minima.py" in files(name)}
    assert reached == set(PART_OF_THE_MEASUREMENT)


@together("name", [name for name in STORED if runs.find(name).predicted])
def test_what_a_run_predicts_is_no_part_of_its_fingerprint(name):
    """A prediction is a function of the same module: no name must lead to it from what computes a point."""
    run = runs.find(name)
    reached = {node[1] for node in fingerprint._reached(fingerprint._start(run.function))}
    assert reached.isdisjoint({predicted.__name__ for predicted in run.predicted} | {"rug_loss", "over_rug", "theory"})
