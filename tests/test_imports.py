"""Taking a formula away is cheap: theory loads no torch, and no slow part of scipy before it is needed."""

import subprocess
import sys

import pytest

SLOW = (
    "torch", "matplotlib", "pydantic", "IPython",
    "scipy.optimize", "scipy.stats", "scipy.sparse", "scipy.integrate",
)  # fmt: skip


ROOMS = (
    "features", "meanfield", "frames", "bounds", "interference", "scaling", "lossbounds", "toy", "toy_linear",
    "book.claims", "toy_optima", "cubes", "thomson",
)  # fmt: skip


@pytest.mark.parametrize("room", ROOMS)
def test_theory_loads_nothing_slow(room):
    program = f"import sys, superposition.{room}; print([name for name in {SLOW} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
