"""Cases of a dear test of which `make test` tries the first, and `make test-more` the others."""

import pytest


def sampled(cases, kept=1):
    """All cases; those after the first ones are marked `thorough`."""
    cases = list(cases)
    rest = (case if isinstance(case, tuple) else (case,) for case in cases[kept:])
    return [*cases[:kept], *(pytest.param(*case, marks=pytest.mark.thorough) for case in rest)]
