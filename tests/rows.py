"""What the tests of experiments share: one point as the reader of its table sees it."""

import numpy as np
from superposition import runs
from superposition.runs import tables


def as_read(name, point, found):
    """What a run's function found at a point, with the predictions that its table would have beside it."""
    row = {column: np.array([value]) for column, value in {**point, **found}.items()}
    return {column: value[0] for column, value in tables.with_predictions(runs.find(name), row).items()}
