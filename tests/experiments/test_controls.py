"""The controls of rugs: what the antipodal rug reaches beside them."""

import numpy as np
from superposition import codes
from superposition.experiments import controls


def test_the_antipodal_rug_is_there_up_to_half_as_many_dimensions_as_features():
    columns = {"ns": [8, 8, 8], "nd": [3, 4, 5], "p": [0.1, 0.1, 0.1], "theory": [0.5, 0.25, 0.2]}
    found = controls.beside_antipodal({name: np.array(column) for name, column in columns.items()})["antipodal"]
    wanted = codes.antipodal_optimum(np.array([0.1, 0.1]), np.array([0.375, 0.5])).loss / [0.5, 0.25]
    np.testing.assert_allclose(found, [*wanted, 0], rtol=1e-12)
