"""The other end of a replay: it answers line by line, moves a start where that is asked, and knows older libraries."""

import io
import json
import sys
from contextlib import nullcontext
from types import SimpleNamespace as Made

import superposition
from defprint import fingerprint
from fast_runs import FAST
from superposition.runs import moved, registry, replay


def test_a_replay_answers_line_by_line_and_keeps_prints_apart(monkeypatch, capsys):
    class Answers(io.StringIO):
        flushed = 0

        def flush(self):
            self.flushed += 1

    def answer(name, *about):
        print("a print of the run")
        return {"values": [*about]} if name == "fast" else {}[name]

    answers = Answers()
    asked = [{"run": name, "point": {"x": 1}, "side": 2} for name in ("fast", "none", "fast")]
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(json.dumps(one) + "\n" for one in asked)))
    monkeypatch.setattr(sys, "stdout", answers)
    monkeypatch.setattr(replay, "_answer", answer)
    replay.serve(3)
    found = {"values": [{"x": 1}, 3, 2]}
    assert [json.loads(line) for line in answers.getvalue().splitlines()] == [
        found,
        {"error": "KeyError: 'none'"},
        found,
    ]
    assert answers.flushed == 3 and capsys.readouterr().err == 3 * "a print of the run\n"


def test_a_replay_moves_its_start_where_that_is_asked_and_finds_older_fingerprints(monkeypatch):
    moves = []
    monkeypatch.setattr(moved, "draws", lambda side: moves.append(side) or nullcontext())
    monkeypatch.setattr(replay, "threadpoolctl", Made(threadpool_limits=str))
    monkeypatch.setattr(registry, "_declared", lambda: {"fast": FAST})
    monkeypatch.setitem(sys.modules, "torch", Made(set_num_threads=str))
    for arguments in ((1,), (1, 0), (1, -2)):
        assert replay._answer("fast", {"x": 0.0, "seed": 7}, *arguments)["values"] == {"value": 1.0}
    assert moves == [-2]
    assert replay._answer("fast", None, 1)["from"] == superposition.__file__
    assert replay._fingerprint(FAST.function) == fingerprint.of(FAST.function)
    for place in ("superposition.digest", "superposition.runs.fingerprint"):
        monkeypatch.setitem(sys.modules, place, Made(of=lambda function, place=place: f"{function} by {place}"))
        assert replay._fingerprint("a:b") == f"a:b by {place}"
