"""The gradients that every optimiser of torch is given in its first two steps, and how it is set.

Adam divides a gradient by its size, so that no trained weight says whether a loss had the right factor. Here every call
of the contract and every small point of a named run that trains with torch is stopped after some steps, and what each
optimiser got is compared with what is stored. After a change that was meant:
``python tests/test_first_gradients.py`` stores anew, and names what is other.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from experiments import test_small_points as points  # noqa: E402
from superposition.runs.agreement import BOUND  # noqa: E402
from test_call_values import CALLS, copied, look  # noqa: E402
from torch.optim import optimizer  # noqa: E402

STORED = Path(__file__).with_name("first_gradients.json")
MEND = "run `python tests/test_first_gradients.py` if that was meant"
KEPT, STEPS = 2, 24  # steps of each optimiser that are stored, and of all together after which a training is stopped
SETTINGS = ("lr", "betas", "eps", "weight_decay", "momentum")


class Stopped(Exception):
    """A training that has said enough."""


def given(driver):
    """What each optimiser of a call gets in its first steps: its settings, and the look of each gradient."""
    found, steps = {}, []

    def note(one, *_):
        known = found.setdefault(id(one), [])
        steps.append(one)  # and so no other optimiser gets the same id
        if len(known) < KEPT:
            settings = [np.ravel(group[name]) for group in one.param_groups for name in SETTINGS if name in group]
            gradients = [weight.grad for group in one.param_groups for weight in group["params"]]
            kept = [look(one.detach().cpu().numpy().astype(float)) for one in gradients if one is not None]
            known.append([[float(number) for number in np.concatenate(settings)], *kept])
        if len(steps) == STEPS:
            raise Stopped

    hook = optimizer.register_optimizer_step_pre_hook(note)
    try:
        with warnings.catch_warnings(action="ignore"):
            make(driver)
    except (Stopped, ValueError, FloatingPointError):
        pass
    finally:
        hook.remove()
    return list(found.values())


def make(driver):
    """Make a call of the contract, or compute a small point."""
    torch.manual_seed(0)
    if driver in CALLS:
        function, call = CALLS[driver]
        function(**copied(call))
    else:
        name, change = next(case for case in points.CASES if points.title(case) == driver)
        points.values(name, points.point(name, change))


def other(found, stored):
    """Whether gradients or settings are other than they were, beyond what rounding does."""
    if len(found) != len(stored) or list(map(len, found)) != list(map(len, stored)):
        return True
    pairs = [pair for now, was in zip(found, stored, strict=True) for pair in zip(now, was, strict=True)]
    return any(len(now) != len(was) or apart(now, was) for now, was in pairs)


def apart(now, was):
    """Whether one step has other settings or another gradient."""
    if not np.allclose(now[0], was[0], rtol=1e-9, atol=0):
        return True
    return any(
        one[0] != two[0] or not np.allclose(one[1:], two[1:], rtol=0, atol=BOUND * two[1])
        for one, two in zip(now[1:], was[1:], strict=True)
    )


# Points of these runs draw or read more before they train
DEAR = ("real-", "toy-phase", "decoder-layers", "dictionary-pa", "dictionary-pr", "rug-tile", "rug-crystal", "rug-grid")
KNOWN = json.loads(STORED.read_text()) if STORED.exists() else {}


def marks(driver):
    return pytest.mark.thorough if driver.startswith(DEAR) else ()


@pytest.mark.parametrize("driver", [pytest.param(driver, marks=marks(driver)) for driver in KNOWN])
def test_optimisers_are_given_what_is_stored(driver):
    found, was = given(driver), KNOWN[driver]
    assert not other(found, was), f"{found} was {was}; {MEND}"


def main():
    """Store what optimisers are given today, and name the calls where it is other."""
    before = json.loads(STORED.read_text()) if STORED.exists() else {}
    drivers = [name for name in CALLS if len(name.split()) == 2] + [points.title(case) for case in points.CASES]
    found = {name: value for name in drivers if (value := given(name))}
    found = {
        name: before[name] if name in before and not other(value, before[name]) else value
        for name, value in found.items()
    }
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items()]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print("\n".join(name for name in found if found[name] != before.get(name)))


if __name__ == "__main__":
    main()
