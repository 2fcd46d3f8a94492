"""Solvers that give up are reported: what a call says when a search of scipy's, or a package, fails."""

import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize.elementwise
from superposition.codes import frequency_programs, verified_bounds
from superposition.correlated import finite_rugs
from superposition.decoders import ands
from superposition.incidental import cut_path, late_rate
from superposition.receptive import flat_field
from superposition.rug import scaling
from superposition.runs import executors
from superposition.toy import linear

ROWS = np.array([[0.8, -0.3], [-0.2, 0.7]])
FAILED = SimpleNamespace(success=False, x=None, message="it gave up", t=np.zeros(0))
SOLVERS = [
    (
        (scipy.optimize, "minimize"),
        lambda: finite_rugs.rug_loss(8, 0.1, 0.5, 2, 0.5),
        "the best gain and bias were not found: it gave up",
    ),
    (
        (ands, "minimize_scalar"),
        lambda: ands.best_and_reader(ands.early_cases(8, 20, 0.05)),
        "the best threshold was not found: it gave up",
    ),
    (
        (frequency_programs, "linprog"),
        lambda: frequency_programs.solve_cell(0.05, 1.05, 0.03, np.array([2.0, 3.0]), np.array([0.013, 0.019])),
        "no certificate found for gain = 1.05 at p = 0.05: it gave up",
    ),
    (
        (scipy.integrate, "solve_ivp"),
        lambda: late_rate.mean_field_overlaps(1.0),
        "the mean field of g = 1 was not solved: it gave up",
    ),
    (
        (scipy.integrate, "solve_ivp"),
        lambda: linear.linear_flow(ROWS, [1.0, 1.0], 0.5, [0.0, 1.0]),
        "the flow stopped at time 0: it gave up",
    ),
    (
        (scipy.optimize.elementwise, "find_root"),
        lambda: scaling.half_ratio(0.05),
        "no ratio of half the variance was found for p = array(0.05)",
    ),
]


@pytest.mark.parametrize(("solver", "call", "words"), SOLVERS, ids=[words[:30] for *_, words in SOLVERS])
def test_a_solver_that_gives_up_is_reported(monkeypatch, solver, call, words):
    monkeypatch.setattr(*solver, lambda *_, **__: FAILED)
    with pytest.raises((ValueError, RuntimeError, ArithmeticError), match=re.escape(words)):
        call()


def test_a_path_without_rounds_did_not_settle(monkeypatch):
    monkeypatch.setattr(cut_path, "ROUNDS", 0)
    with pytest.raises(RuntimeError, match=r"the path of an encoding did not settle in 0 steps \(lambda_ = 0.1\)"):
        cut_path.solve(lambda d: np.ones_like(d), 0.1, (1.0, 1.0), np.array([0.5]))


def test_a_wave_that_grows_at_every_gain_has_no_critical_one(monkeypatch):
    monkeypatch.setattr(flat_field, "flat_growth", lambda *_, **__: (1.0, 0.1))
    with pytest.raises(ValueError, match="xi1 = 2 is too small: the wave grows at every gain; allowed: xi1 above xi2"):
        flat_field.measured_critical_gain(12, 2.0, 1.0, samples=100)


def test_an_interval_without_a_middle_is_refused():
    with pytest.raises(ArithmeticError, match="the middle of an interval is not a number"):
        verified_bounds._moments(0.1, verified_bounds._arb()("nan"))


def test_dask_asks_for_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match="dask needs another package; to install it: pip install"):
        with executors.dask_pool("tcp://nowhere"):
            pass
