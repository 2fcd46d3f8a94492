"""What the function of a run asks of the library, at points where no number is a usual one.

The small points of the runs have few features and few steps, and there one latent is kept whatever the price, a half
and a third are the same whole number, and a seed is 0. Here every number of such a point is another one, and what the
function gives to the library is compared with what is stored, up to its first training or search. Where these are
quick, what follows is compared too: whole numbers, words and generators, seeds among them, as rounding moves the
others. After a change that was meant: ``python tests/test_requests.py`` stores anew, and names what is other.
"""

import copy
import itertools
import json
import signal
import sys
import time
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from changed_calls import leaves  # noqa: E402
from experiments import test_small_points as points  # noqa: E402
from pydantic import ValidationError  # noqa: E402
from recorded_calls import received, size  # noqa: E402
from superposition import runs  # noqa: E402
from superposition.runs.point import computed  # noqa: E402
from test_inner_values import look, other  # noqa: E402

STORED = Path(__file__).with_name("requests.json")
MEND = "run `python tests/test_requests.py` if that was meant, or if a run is new"
LAST = ("train", "continue", "descend", "refine", "minimise", "stages", "best_tile", "tuned", "until")  # trainings
MOST, LARGEST, LONGEST = 80, 100_000, 0.25  # requests and numbers that are looked at; seconds of a point
SIZES = {"usual": (0.7, 1.5), "large": (1.5, 3), "small": (0.02, 0.1)}  # factors of numbers that are no whole ones
KINDS = [*((kind, False) for kind in SIZES), ("usual", True)]  # and whether a training is gone beyond
SHARES = (*[0.8] * 12, *[0.3] * 12)  # of numbers that are other ones, in each attempt
OWN, BETWEEN = "experiments/", ("checked.py", "placing.py", "runs/")


class Enough(BaseException):
    """There were as many requests as are looked at, or a training begins."""


def home(frame):
    """The file of the library in which a function is, or nothing."""
    return frame.f_code.co_filename.partition("/lib/superposition/")[2] if frame else ""


def asker(frame):
    """The file of the library that calls, without what checks arguments in between."""
    frame = frame.f_back
    while home(frame).startswith(BETWEEN):
        frame = frame.f_back
    return home(frame)


class Drawn(np.ndarray):
    """What a generator would draw next."""


def drawn_from(value):
    """An argument, or for a generator what it would draw."""
    if isinstance(value, np.random.Generator):
        return copy.deepcopy(value).random(2).view(Drawn)
    return value.initial_seed() % 10**9 if isinstance(value, torch.Generator) else value


def requests(name, fields, beyond=False):
    """What a run's function gives to functions of the library: their names, and the look of what they get.

    The last one is a refusal, if there is one.
    """
    found, trained = [], []

    def note(frame, event, _):
        file, title = home(frame), frame.f_code.co_qualname
        if not file or file.startswith((OWN, *BETWEEN)) or "<" in title or not asker(frame).startswith(OWN):
            return
        sys.settrace(None)
        try:
            places, names, _ = received(frame)
            given = [*map(drawn_from, places), *map(drawn_from, names.values())]
            if trained:
                given = [one for _, one in leaves(given) if isinstance(one, (int, str, np.integer, Drawn))]
            found.append([f"{file}: {title}", *(look(given) if size(given) <= LARGEST else [])])
        finally:
            sys.settrace(note)
        if title.startswith(LAST):
            trained.append(title)
        if len(found) == MOST or (trained and not beyond):
            raise Enough

    module, function = runs.find(name).function.split(":")
    torch.manual_seed(0)
    before = sys.gettrace()
    sys.settrace(note)
    try:
        with warnings.catch_warnings(action="ignore"):
            computed(getattr(import_module(module), function), fields, "cpu")
    except Enough:
        pass
    except ValueError as refusal:
        found.append([str(refusal)])
    finally:
        sys.settrace(before)
    return found


def unusual(name, change, kind, beyond):
    """A small point in which most numbers are other ones and that the library takes, with what it asks for."""
    run, fields = runs.find(name), points.point(name, change)
    for share, rng in zip(SHARES, np.random.default_rng(1).spawn(len(SHARES)), strict=True):
        drawn = {key: another(value, rng, kind) if rng.random() < share else value for key, value in fields.items()}
        try:
            point = run.point(**drawn).model_dump(mode="json")
        except ValidationError:
            continue
        found = in_time(name, point, beyond)
        if found is None or (found and len(found[-1]) > 1):
            return point, found
    return {}, None


def in_time(name, fields, beyond):
    """The requests of a point, if that does not take too long."""

    def late(*_):
        raise TimeoutError

    signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, 3 * LONGEST)
    try:
        return requests(name, fields, beyond)
    except TimeoutError:
        return None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def another(value, rng, kind):
    """A whole number that is 1 to 5 larger, or as much more than twice as large; another number by a factor."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value * (1 + (kind == "large")) + int(rng.integers(1, 6))
    return float(f"{value * rng.uniform(*SIZES[kind]):.3g}") if isinstance(value, float) else value


def unlike(found, stored):
    """Whether other functions are asked, or for something else beyond rounding."""
    if [one[0] for one in found] != [one[0] for one in stored]:
        return True
    return any(other(now[1:], was[1:]) for now, was in zip(found, stored, strict=True))


KNOWN = json.loads(STORED.read_text()) if STORED.exists() else []


@pytest.mark.parametrize("stored", [pytest.param(one, id=f"{one['run']} {number}") for number, one in enumerate(KNOWN)])
def test_a_run_asks_for_what_is_stored(stored, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = requests(stored["run"], stored["point"], stored["beyond"])
    assert not unlike(found, stored["requests"]), f"{found} was {stored['requests']}; {MEND}"


def main():
    """Store what is asked for today, and name the points where that is other."""
    before, lines = {json.dumps([one["run"], one["point"], one["beyond"]]): one["requests"] for one in KNOWN}, []
    for (name, change), (kind, beyond) in itertools.product(points.CASES, KINDS):
        point, found = unusual(name, change, kind, beyond)
        key, begun = json.dumps([name, point, beyond]), time.process_time()
        if found is None or unlike(requests(name, point, beyond), found) or time.process_time() - begun > LONGEST:
            continue
        if key in before and not unlike(found, before[key]):
            found = before[key]
        else:
            print(name, point, f"{len(found)} requests, the last: {found[-1][0]}", flush=True)
        lines.append(json.dumps({"run": name, "point": point, "beyond": beyond, "requests": found}))
    STORED.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
