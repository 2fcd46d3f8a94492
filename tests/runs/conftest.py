"""What the tests of the named runs share."""

import pytest
from fast_runs import FAST, collected, swept
from superposition.runs import sweep


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """The table of a sweep in which nothing happens."""
    folder = tmp_path_factory.mktemp("undisturbed")
    assert swept(FAST, folder / "results") == sweep.Outcome(100, {}, False)
    return collected(folder / "results", folder)
