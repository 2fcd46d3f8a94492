"""The parts of the command by themselves: what they ask of the library, and what they say beside its results."""

import dataclasses
import os
import signal
import threading
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace as Found

import pytest
from click.testing import CliRunner
from defprint import fingerprint
from fast_runs import BROKEN, FAST
from superposition import cli, devices, runs
from superposition.cli import models, sweeps, terminal
from superposition.diagnosis import autoencoder, files, picture, survey
from superposition.runs import account, certify, executors, registry, store, sweep, tables

RUN = dataclasses.replace(BROKEN, small=({"x": (0.5,), "seed": (0, 1)},), hours={"small": 0.5, "full": 2.345})


@pytest.fixture
def call(monkeypatch):
    """Call the command with one run in the registry."""
    monkeypatch.setattr(registry, "_declared", lambda: {"broken": RUN})
    return lambda *arguments: CliRunner().invoke(cli.main, [*map(str, arguments)])


def ended(done):
    return done.exit_code, done.stdout, done.stderr


def test_runs_are_listed_and_shown_with_their_grids_and_costs(call):
    hours, minutes = "about 2.3 hours on any machine", "about 30 minutes on any machine"
    said = f"broken\n    the tests\n    full grid: 6 points, {hours}; small: 2 points\n"
    assert ended(call("runs", "list")) == (0, said, "")
    code = f"function: {RUN.function}\nlibrary code: {fingerprint.of(RUN.function)}\n"
    grids = (
        f"small grid: 2 points, {minutes}\n    x = 0.5; seed = 0, 1\n"
        f"full grid: 6 points, {hours}\n    x = 0.5, 1.0, 2.0; seed = 0, 1\n"
    )
    assert ended(call("runs", "show", "broken")) == (0, f"broken: the tests\n{code}{grids}", "")
    assert sweeps._cost(dataclasses.replace(RUN, hours={"full": 1}), "full") == "about 1 hours on any machine"


@pytest.mark.parametrize(
    ("device", "found", "said"),
    [("auto", "xpu:0", "device: auto is xpu:0 here\n"), ("auto", "cpu", ""), ("xpu", "xpu:0", "")],
)
def test_a_device_that_is_taken_unasked_is_named(call, monkeypatch, tmp_path, device, found, said):
    asked, less = [], "The same command computes what is missing.\n"
    monkeypatch.setattr(devices, "accelerator", lambda name: devices.torch.device(found))
    monkeypatch.setattr(sweeps, "_swept", lambda *about: asked.append(about) or sweep.Outcome(0, {}, False))
    done = call("runs", "start", "broken", "--device", device, "--results", tmp_path)
    assert ended(done) == (1, "broken, full grid: 0 of 6 points finished, 0 of them now\n", said + less)
    assert asked == [(RUN, "full", tmp_path / "broken", device, None, None)]
    monkeypatch.setattr(devices, "accelerator", lambda name: pytest.fail("a scheduler's workers have their own"))
    assert call("runs", "start", "broken", "--dask", "address", "--results", tmp_path).stderr == less


def test_a_start_refuses_what_does_not_go_together_and_names_what_is_damaged(call, monkeypatch):
    monkeypatch.setattr(registry, "_declared", lambda: {"fast": FAST})
    monkeypatch.setattr(sweeps, "_swept", lambda *about: sweep.Outcome(0, {}, False))
    monkeypatch.setattr(runs, "status", lambda *about: Found(done=[1], missing=[], damaged={"x=1": "no text"}))
    damaged = "damaged, computed again: x=1: no text\n"
    for options in ([], ["--device", "cpu"], ["--workers", 2], ["--dask", "address"]):
        done = call("runs", "start", "fast", *options)
        assert done.exit_code == 1 and done.stderr == f"{damaged}The same command computes what is missing.\n"
        assert done.stdout == "fast, full grid: 1 of 2 points finished, 0 of them now\n"
    said = "Error: device = 'xpu' does not serve run fast, which computes in numpy; allowed: cpu\n"
    assert ended(call("runs", "start", "fast", "--device", "xpu")) == (2, "", damaged + said)
    said = "Error: --workers and --dask exclude each other: a scheduler has its own workers\n"
    assert ended(call("runs", "start", "fast", "--workers", 2, "--dask", "address")) == (2, "", said)


def test_a_sweep_is_given_workers_or_a_scheduler(monkeypatch):
    @contextmanager
    def pool(address):
        yield address, 7, "works"

    asked = []
    monkeypatch.setattr(executors, "cores", lambda: 3)
    monkeypatch.setattr(executors, "dask_pool", pool)
    for name in ("locally", "on_executor"):
        monkeypatch.setattr(sweep, name, lambda *about, progress, **more: asked.append((about, more)))
    for workers, dask in ((None, None), (2, None), (None, "address")):
        sweeps._swept(RUN, "small", "folder", "cpu", workers, dask)
    about = (RUN, "small", "folder")
    assert asked[:2] == [(about, {"workers": count, "device": "cpu"}) for count in (3, 2)]
    assert asked[2:] == [((*about, "address"), {"in_flight": 7, "works": "works", "device": "cpu"})]


def test_a_finished_sweep_ends_well_and_says_what_failed(monkeypatch, capsys):
    monkeypatch.setattr(runs, "status", lambda *about: Found(done=[1, 2], missing=[], damaged=[]))
    sweeps._report(RUN, "full", "folder", Found(computed=1, failed={"x=1": "it fell"}))
    said = "broken, full grid: 2 of 2 points finished, 1 of them now\n"
    assert capsys.readouterr() == (said, "failed: x=1: it fell\n")


@pytest.mark.parametrize("error", [ValueError("it is damaged"), OSError("it is damaged")])
def test_a_damaged_table_does_not_hide_the_results(call, monkeypatch, tmp_path, error):
    def damaged(run):
        raise error

    monkeypatch.setattr(store, "default_folder", lambda: tmp_path)
    results = f"broken, full grid: results of 0 of 6 points in {tmp_path / 'broken'}, 0 damaged\n"
    assert ended(call("runs", "status", "broken")) == (0, f"broken has no stored table\n{results}", "")
    monkeypatch.setattr(account, "of_table", damaged)
    for name in ([], ["broken"]):
        assert ended(call("runs", "status", *name)) == (2, results, "Error: it is damaged\n")


def test_a_certificate_says_what_was_refused_and_what_no_replay_reaches(call, monkeypatch):
    good, part = certify.Report("good", True), certify.Report("part", True, unreached=("block 2 of 3", "x=1"))
    bad, asked = certify.Report("bad", refused="no table"), []

    def certified(found, *, minutes, blocks_only, progress):
        progress(1, 1)
        asked.append(([run.name for run in found], minutes, blocks_only))
        yield from reports

    monkeypatch.setattr(certify, "certify", certified)
    monkeypatch.setattr(tables, "is_stored", lambda name: name == "broken")
    for reports, arguments, code in (
        ([good], ["--all"], 0),
        ([part, bad, good], ["broken", "--minutes", 2, "--blocks-only"], 2),
    ):
        done = call("runs", "certify", *arguments)
        never = "No replay reaches these, which have no point of at most a minute or cost more than an hour:\n"
        left = f"{never}    part: block 2 of 3, x=1\n" if part in reports else ""
        said = "".join(f"{report}\n" for report in reports if report is not bad)
        assert done.exit_code == code and done.stdout == said + left
        assert ("Error: no table\n" in done.stderr) is (bad in reports)  # beside the bar
    assert asked == [(["broken"], 60, False), (["broken"], 2, True)]


@pytest.fixture
def shown(monkeypatch):
    """What the bars of models are made with, and what is asked of the pictures."""
    seen = []

    @contextmanager
    def bar(*about, **more):
        seen.append((about, more))
        yield "progress"

    monkeypatch.setattr(models, "bar", bar)
    drawn = Found(savefig=lambda path, **how: seen.append((path, how)))
    monkeypatch.setattr(picture, "draw", lambda found, title: seen.append((found, title)) or drawn)
    monkeypatch.setattr(survey, "draw", lambda rows: drawn)
    return seen


def test_a_diagnosis_hands_its_options_on_and_draws_under_the_name_of_the_file(call, shown, monkeypatch, tmp_path):
    asked, path = [], str(tmp_path / "it.svg")
    monkeypatch.setattr(autoencoder, "diagnose", lambda file, **options: asked.append((file, options)) or "a report")
    done = call("diagnose", "models/mine/", "--p", 0.1, "--figure", path, "--ignore", "a", "--ignore", "b")
    assert ended(done) == (0, f"a report\ndrew {path}\n", "")
    unsaid = ("l0", "features", "x", "strength", "importance", "loss_as", "instance", "reading", "b_dec", "activation")
    options = dict.fromkeys((*unsaid, "k", "samples")) | {"p": 0.1, "ignore": ("a", "b"), "seed": 0}
    assert asked == [("models/mine/", options | {"progress": "progress"})]
    assert shown == [(("diagnosis", "step"), {"delay": 2}), ("a report", "mine"), (path, {"dpi": 150})]
    assert ended(call("diagnose", "mine")) == (0, "a report\n", "") and len(shown) == 4
    monkeypatch.setattr(files, "firing", lambda path: f"densities in {path}")
    assert ended(call("diagnose", "mine", "--firing", "a.npy")) == (0, "a report\n", "")
    assert asked[2][1]["p"] == "densities in a.npy"
    said = "Error: --p and --firing exclude each other: either says how often features are on\n"
    assert ended(call("diagnose", "mine", "--firing", "a.npy", "--p", 0.0)) == (2, "", said)


def test_a_survey_counts_what_was_refused(call, shown, monkeypatch, tmp_path):
    asked, table, path = [], str(tmp_path / "it.csv"), str(tmp_path / "it.svg")
    rows = [{"refused": why} for why in ("", "no weights", "")]
    monkeypatch.setattr(survey, "survey_files", lambda *about, **more: asked.append((about, more)) or rows)
    monkeypatch.setattr(survey, "write", lambda *about: asked.append(about))
    said = f"wrote {table}: 2 files, and 1 that were refused\n"
    assert ended(call("survey", "a", "b", "--table", table)) == (0, said, "")
    assert asked == [((["a", "b"], None), {"progress": "progress"}), (rows, table)]
    assert ended(call("survey", "a", "--l0", 3, "--table", table, "--figure", path)) == (0, f"{said}drew {path}\n", "")
    assert asked[2] == ((["a"], 3), {"progress": "progress"}) and shown[1:] == [shown[0], (path, {"dpi": 150})]
    assert shown[0] == (("survey", "file"), {"delay": 2})


def test_a_file_is_written_where_its_folder_lets_us(monkeypatch, tmp_path):
    asked, answers = [], iter((True, True, False))
    monkeypatch.setattr(terminal.os, "access", lambda *about: asked.append(about) or next(answers))
    assert terminal.writable("table", "a.csv") == "a.csv" and terminal.drawable("b/c.d.svg") == "b/c.d.svg"
    assert asked == [(folder, os.W_OK | os.X_OK) for folder in (".", "b")]
    for path in ("a.csv", str(tmp_path)):
        with pytest.raises(ValueError, match=f"^table = {path} cannot be written; allowed: a file in a folder that"):
            terminal.writable("table", path)


def test_a_bar_counts_points_and_is_shown_at_once(monkeypatch):
    asked = []
    monkeypatch.setattr("tqdm.tqdm", lambda **about: asked.append(about) or Found(n=0, update=float, close=float))
    with terminal.bar("a run") as progress:
        progress(1, 2)
    assert [(about["desc"], about["unit"], about["delay"]) for about in asked] == [("a run", "point", 0)]


def test_a_terminal_is_told_nothing_that_it_obeys(capsys):
    for err in (False, True):
        terminal.say("a\x1b[1m\nb", err=err)
        assert capsys.readouterr()[err] == "a\\x1b[1m\nb\n"


@pytest.mark.parametrize("error", [ValueError("it is wrong"), OSError("it is wrong")])
def test_a_refusal_is_one_sentence_and_a_reader_that_is_gone_is_none(capsys, monkeypatch, error):
    with pytest.raises(SystemExit) as end, terminal.refusals():
        raise error
    assert end.value.code == 2 and capsys.readouterr() == ("", "Error: it is wrong\n")
    with pytest.raises(BrokenPipeError), terminal.refusals():
        raise BrokenPipeError

    def closed(text, err):
        raise OSError("the terminal was closed")

    monkeypatch.setattr(terminal, "say", closed)
    with pytest.raises(SystemExit) as end, terminal.refusals():
        raise KeyboardInterrupt
    assert end.value.code == 130


def test_an_end_from_outside_interrupts_unless_it_is_ignored():
    before = signal.getsignal(signal.SIGTERM), signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with terminal._terminated_as_interrupted():
            inside = signal.getsignal(signal.SIGTERM)
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
            with pytest.raises(KeyboardInterrupt) as stop:
                inside(signal.SIGTERM, None)
            assert stop.value.args == (signal.SIGTERM,) and inside != before[0]
        assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)) == (before[0], signal.SIG_IGN)
    finally:
        signal.signal(signal.SIGHUP, before[1])


def test_only_the_main_thread_minds_signals():
    seen = []

    def aside():
        with terminal._terminated_as_interrupted():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=aside)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGTERM)]


def test_results_are_in_the_folder_of_their_run(monkeypatch, tmp_path):
    monkeypatch.setattr(registry, "_declared", lambda: {"fast": FAST})
    monkeypatch.setattr(store, "default_folder", lambda: tmp_path)
    assert sweeps._run_and_folder("fast", None) == (FAST, tmp_path / "fast")
    assert sweeps._run_and_folder("fast", "there") == (FAST, Path("there") / "fast")
