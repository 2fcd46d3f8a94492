"""What every function of the wing gives back while some models are diagnosed: a snapshot, by `given_back`.

Numbers of these models are often those at which a limit lies (a quarter of the gain, a tenth of the largest gain).
After a change that was meant, ``PYTHONPATH=tests python tests/diagnosis/test_given_back.py`` stores anew, and names
what is other.
"""

import json
import re
import warnings
from contextlib import chdir
from pathlib import Path

import numpy as np
import pytest
import superposition
from given_back import given_back
from superposition import codes, diagnosis, features
from superposition.diagnosis import finished, picture, record_verifier, survey, yardsticks
from superposition.runs import moved

torch = pytest.importorskip("torch")
from diagnosis.test_behaviour import Sparse, Sparsify, Toy  # noqa: E402

FILES, STORED = Path(__file__).with_name("files"), Path(__file__).with_name("given_back.json")
WING = Path(diagnosis.__file__).parent
MEND = "run `PYTHONPATH=tests python tests/diagnosis/test_given_back.py` if that was meant"
P, CLOSE, SHORT = 0.05, 1e-6, (",", ":")
CACHED = re.compile(r"yardsticks\._step|finished\._grid")
RNG = np.random.default_rng(7)
QUARTERS = np.eye(6) + 0.25 * RNG.integers(-2, 2, (6, 6)) * (1 - np.eye(6))
TENTHS = np.diag([1, 1, 0.1, 0.5, 0, -0.2]) - 0.1 * (np.arange(36).reshape(6, 6) % 5 == 2)
BESIDE = codes.side_by_side([codes.priority_fan(5, 20), codes.priority_fan(5, 20)])
VECTORS = features.sample(6, 0.3, 150, seed=3)
TOGETHER = np.repeat(VECTORS[:, :3], 2, axis=1)
SMALL = RNG.standard_normal((3, 6)) / 1.7
LATENTS = {"W_enc": SMALL, "W_dec": SMALL.T, "b_enc": np.linspace(-0.2, 0, 6), "b_dec": np.array([0.1, -0.1, 0.2])}


def arrays(W, b=None, **more):
    return {"W": W, "b": -0.05 * np.arange(len(W[0])) if b is None else b, **more}


def of_code(code, **more):
    return {"W": code.W_in, "W_out": code.W_out, "b": code.b, **more}


MODELS = {
    "quarters": arrays(QUARTERS),
    "tenths": arrays(TENTHS),
    "of probability a half": arrays(QUARTERS, np.zeros(6), p=0.5),
    "mean number": arrays(QUARTERS, p=None, l0=1),
    "unequal": arrays(SMALL, p=np.array([0.5, 0.25, 0.1, 0.05, 0.01, 0.0])),
    "importance": arrays(SMALL, importance="0.5^i", loss_as="mean"),
    "importances": arrays(QUARTERS, importance=[1, 0, 2, 0.5, 1, 1], loss_as="sum", nd=3),
    "strength": arrays(SMALL, strength=2, loss_as="sum"),
    "law": arrays(SMALL, p=None, law=diagnosis.feature_laws.uniform_law(0.25)),
    "vectors": arrays(QUARTERS, p=None, features=VECTORS),
    "together": arrays(SMALL, p=None, features=TOGETHER, importance=[1, 2, 1, 1, 0, 1]),
    "batches": arrays(SMALL, p=None, x=[VECTORS[:70], VECTORS[70:]], strength=0.25),
    "single": arrays(QUARTERS.astype(np.float32)),
    "fans": of_code(BESIDE),
    "cone": of_code(codes.cone(6, 3)),
    "rug": of_code(codes.rug_code(24, 0.25, P)),
    "antipodal": of_code(codes.rug_code(24, 0.25, P, antipodal=True)),
    "alone": of_code(codes.Code(np.eye(3), np.eye(3), np.zeros(3))),
    "graph": arrays(codes.graph_code(codes.graph_tile("Clebsch", P, 0.0), P).W),
    "large": of_code(codes.rug_code(520, 0.2, P)),
    "latents": {"W": LATENTS, "b_dec": "kept", "activation": "relu"},
    "largest latents": {"W": LATENTS, "b_dec": "taken", "activation": "topk", "k": 2, "p": None},
    "thresholds": {"W": {**LATENTS, "threshold": 0.1 * np.arange(6)}, "b_dec": "taken", "activation": "jumprelu"},
    "activations": {"W": LATENTS, "b_dec": "kept", "activation": "relu", "p": None, "x": VECTORS[:, :3]},
    "module": {"W": Toy(12, 4)},
    "without a formula": {"W": Toy(8, 3, torch.tanh)},
    "functions": {"encode": lambda x: x @ SMALL.T, "decode": lambda h: np.maximum(h @ SMALL - 0.1, 0), "ns": 6},
    **{f"object {gate}": {"W": Sparse(gate)} for gate in ("relu", "topk", "jump", "smooth")},
    "kept and rescaled": {"W": Sparse("relu", kept=True, rescaled=True)},
    "places": {"W": Sparsify()},
}  # fmt: skip
PACKAGES = sorted(
    one
    for one in FILES.iterdir()
    if (one.is_dir() and one.name != "__pycache__") or one.suffix in (".npz", ".safetensors", ".pt")
)
FORMS = {"tied-wide.npz": {"reading": "tied"}, "linear-layers.safetensors": {"reading": "toy"}}


def diagnosed(model):
    """What is found, said, and drawn on a map of one row, of a model."""
    try:
        found = superposition.diagnose(**{"p": P, "samples": 100} | model)
        return found, str(found), found.refitted, found.triangle_free
    except ValueError as refusal:
        return str(refusal)


def drawn():
    import matplotlib.pyplot as plt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(picture, "ROWS", 1)
        plt.close(picture.draw(superposition.diagnose(**arrays(TENTHS, p=P, samples=100)), title="$m$"))


def surveyed():
    rows = survey.survey_files(["sae_lens-topk", "sae_lens-gated", "tied-wide.npz"], l0=2.0)
    survey.draw(rows)


def of_package(path):
    return lambda: diagnosed({"W": path.name, "p": 0.06, **FORMS.get(path.name, {})})


DRIVERS = {
    **{name: lambda model=model: diagnosed(model) for name, model in MODELS.items()},
    **{path.name: of_package(path) for path in PACKAGES},
    "drawn": drawn,
    "surveyed": surveyed,
    "record": lambda: str(record_verifier.check_record(QUARTERS, np.zeros(6), P, samples=100)),
    "record of a file": lambda: str(record_verifier.of_file("tied-wide.npz", P)),
    "structure": lambda: diagnosis.code_structure(QUARTERS),
    "ablated": lambda: diagnosis.ablated_losses(QUARTERS, 0.5, samples=50, seed=0),
}
QUICK = ("vectors", "together", "batches", "law", "activations")  # the best known code of the others takes seconds


def found(name):
    """What is given back; what a cache keeps is there before, whichever drivers ran, and files have no folder."""
    if name not in QUICK:
        yardsticks._step(P)
        finished.finished(P, 32, 128)
    with chdir(FILES), warnings.catch_warnings(action="ignore"):
        ends = given_back(DRIVERS[name], WING)
    return {one.removeprefix(f"{diagnosis.__name__}."): sums for one, sums in ends.items() if not CACHED.search(one)}


def other(found, stored):
    """Names of the functions that give something else than they gave; those that depend on rounding are left out."""
    asked = {name for name in found.keys() | stored.keys() if stored.get(name, ()) is not None}
    return sorted(name for name in asked if not close(found.get(name), stored.get(name)))


def close(one, two):
    return one is not None and two is not None and np.allclose(one, two, rtol=CLOSE, atol=CLOSE)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.thorough) for name in DRIVERS]
)
def test_functions_give_back_what_is_stored(name):
    assert not other(found(name), json.loads(STORED.read_text())[name]), MEND


def main():
    """Store what is given back today, without what depends on rounding, and name what is other."""
    before, stored = json.loads(STORED.read_text()) if STORED.exists() else {}, {}
    for name in DRIVERS:
        seen, rounded = found(name), set()
        for side in (1, -1):
            with moved.draws(side):
                rounded.update(other(found(name), seen))
        print(name, other(seen, before.get(name, {})), "by rounding:", sorted(rounded))
        stored[name] = seen | dict.fromkeys(rounded)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(ones, separators=SHORT)}" for name, ones in stored.items())
    STORED.write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main()
