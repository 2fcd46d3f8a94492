"""The whole reports of some models, word for word: a snapshot, which detects change and not correctness.

After a change that was meant: ``python tests/diagnosis/test_reports.py`` stores anew, and names what is other.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from superposition import codes, diagnosis, features, rug

STORED = Path(__file__).with_name("reports.json")
MEND = "run `python tests/diagnosis/test_reports.py` if that was meant"
DRAWS = {"samples": 400, "seed": 0}
RNG = np.random.default_rng(2)
RANDOM = {"W": RNG.standard_normal((4, 12)) / 2, "b": -0.1 * np.ones(12)}
DIGONS = {"W": np.kron(np.eye(4), [[1.0, -1.0]]), "b": np.zeros(8)}
LINEAR = {"W": np.pad(np.eye(3), ((0, 0), (0, 4))), "b": np.r_[np.zeros(3), 0.05 * np.ones(4)]}
ANGLES = np.arange(5) * 0.8 * np.pi
PENTAGON = {"W": np.array([np.cos(ANGLES), np.sin(ANGLES)]), "b": -0.2 * np.ones(5)}
QUICK = ("importance", "pentagon", "vectors")  # each takes a second, for the best known code


def of_code(code):
    """The matrices of a code, as `diagnose` takes them."""
    return {"W": code[0], "W_out": code[1], "b": code[2]}


def of_rug(gain=1.1, bias=-0.12, **options):
    """A rug as a matrix with one gain and one bias."""
    one = rug.Rug(16, 6, seed=1, **options)
    return {"W": gain * one.apply(np.eye(16)), "b": bias * np.ones(16), "nd": 6}


MODELS = {
    "random": RANDOM | {"p": 0.05},
    "random and rare": RANDOM | {"p": 0.002},
    "random and dense": RANDOM | {"p": 0.6},
    "a number on": RANDOM | {"l0": 0.9},
    "unequal": RANDOM | {"p": np.geomspace(0.3, 0.01, 12)},
    "importance": RANDOM | {"p": 0.05, "importance": 0.8 ** np.arange(12), "loss_as": "mean"},
    "digons": DIGONS | {"p": 0.05},
    "unfinished digons": DIGONS | {"W": 0.6 * DIGONS["W"], "b": 0.1 + DIGONS["b"], "p": 0.05},
    "dropped": LINEAR | {"p": 0.1},
    "pentagon": PENTAGON | {"p": 0.02},
    "fan": of_code(codes.swept_fan(5, 10.0)) | {"p": 0.02},
    "rug": of_rug() | {"p": 0.05},
    "antipodal rug": of_rug(antipodal=True) | {"p": 0.1},
    "vectors": RANDOM | {"features": features.sample(12, 0.1, 300, seed=3)},
}  # fmt: skip


def report(name):
    """What is printed for a model, or its refusal."""
    with warnings.catch_warnings(action="ignore"):
        try:
            return str(diagnosis.diagnose(**MODELS[name] | DRAWS))
        except (ValueError, TypeError) as refusal:
            return f"{type(refusal).__name__}: {refusal}"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.thorough) for name in MODELS]
)
def test_reports_are_those_that_are_stored(name):
    assert report(name) == json.loads(STORED.read_text())[name], MEND


def main():
    """Store the reports of today, and name those that are other."""
    before = json.loads(STORED.read_text()) if STORED.exists() else {}
    found = {name: report(name) for name in MODELS}
    STORED.write_text(json.dumps(found, indent=0, ensure_ascii=False) + "\n")
    print("\n".join(name for name in found if found[name] != before.get(name)))


if __name__ == "__main__":
    main()
