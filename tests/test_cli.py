"""The command line: what it says, how it ends, and how fast it starts."""

import dataclasses
import shlex
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner
from fast_runs import BROKEN, COMMAND, FAST
from safetensors.numpy import save_file
from superposition import cli, codes, runs
from superposition.diagnosis import autoencoder, record_verifier
from superposition.runs import executors, provenance, tables

HEAVY = {"torch", "numpy", "scipy", "pandas", "matplotlib", "pydantic", "distributed", "dask", "concurrent.futures"}


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    for run in (FAST, BROKEN):
        monkeypatch.setitem(runs.RUNS, run.name, run)


@pytest.fixture
def call(tmp_path):
    """Call ``superposition runs …`` with results in a folder of the test."""

    def called(command, *arguments):
        where = [] if command in ("list", "show") else ["--results", str(tmp_path / "results")]
        return CliRunner().invoke(cli.main, ["runs", command, *map(str, arguments), *where])

    return called


def test_help_loads_nothing_slow():
    # half a second for an answer: what takes time at start-up is imports
    script = (
        "import sys; from superposition.cli import main\ntry: main(['--help'])\nexcept SystemExit: print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: ") and "runs" in done.stdout
    loaded = set(done.stdout.split("\n")[-2].split())
    assert {"superposition.cli.models", "superposition.cli.sweeps", "superposition.cli.terminal"} <= loaded
    assert loaded & HEAVY == set()


def test_command_is_installed():
    script = Path(sys.executable).with_name("superposition")
    done = subprocess.run([script, "runs", "--help"], capture_output=True, text=True, check=True)
    for command in ("list", "show", "start", "status", "collect", "certify"):
        assert f"\n  {command} " in done.stdout


def test_list_names_every_run_with_its_cost(call, monkeypatch):
    for run in (FAST, BROKEN):
        monkeypatch.delitem(runs.RUNS, run.name)
    done = call("list")
    assert done.exit_code == 0
    for run in runs.RUNS.values():
        assert f"{run.name}\n    {run.feeds}\n" in done.output
    assert "full grid: 342 points, about " in done.output and "on 16 CPU cores" in done.output


def test_show_tells_grid_and_function(call):
    done = call("show", "rug-grid")
    assert done.exit_code == 0
    assert "function: superposition.experiments.autoencoders:trained_autoencoder" in done.output
    assert "ns = 512; p = 0.5; r = 0.05, 0.1, 0.2, 0.3, 0.4, 0.5; protocol = recipe; rate = 1.0; " in done.output


TRAINING = "'.[train]' in the book's folder"


@pytest.mark.parametrize(
    ("missing", "wanted"), [("tqdm", TRAINING), ("pydantic", TRAINING), ("matplotlib", "matplotlib"), (None, TRAINING)]
)
def test_a_package_that_is_missing_is_named_with_what_brings_it(call, monkeypatch, missing, wanted):
    monkeypatch.setattr(runs, "find", lambda name: raised(ModuleNotFoundError("No module", name=missing)))
    done = call("show", "fast")
    assert done.exit_code == 2
    assert done.stderr == f"Error: this needs {missing}; pip install {wanted} brings it\n"


def test_a_part_of_the_library_that_is_missing_is_a_fault_of_ours(call, monkeypatch):
    lost = ModuleNotFoundError("No module", name="superposition.rug.lost")
    monkeypatch.setattr(runs, "find", lambda name: raised(lost))
    assert call("show", "fast").exception is lost


def raised(error):
    raise error


@pytest.mark.parametrize("command", ["show", "start", "status", "collect"])
def test_unknown_run_names_the_nearest(call, command):
    done = call(command, "rug-gird")
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: run = 'rug-gird' is unknown; nearest: rug-grid;")
    assert done.stderr.count("\n") == 1


def test_start_status_collect(call, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "folder", lambda: tmp_path)
    assert "fast, full grid: results of 0 of 100 points in " in call("status", "fast").output
    refused = call("collect", "fast")
    assert refused.exit_code == 2 and "to finish: superposition runs start fast --grid full" in refused.stderr
    done = call("start", "fast", "--grid", "full", "--workers", min(2, executors.cores()))
    assert done.exit_code == 0
    assert "fast, full grid: 100 of 100 points finished, 100 of them now" in done.stdout
    assert "100/100" in done.stderr, "no progress"
    assert "fast, full grid: results of 100 of 100 points in " in call("status", "fast").output
    assert call("collect", "fast").exit_code == 0
    assert len((tmp_path / "fast.csv").read_text().splitlines()) == 101 and (tmp_path / "fast.json").exists()


def test_failed_points_are_listed_and_the_exit_code_tells(call):
    done = call("start", "broken", "--grid", "full", "--workers", 1)
    assert done.exit_code == 1
    assert "broken, full grid: 4 of 6 points finished, 4 of them now" in done.stdout
    assert "failed: x=2.0, seed=0: ArithmeticError: no value at two" in done.stderr
    assert "failed: x=2.0, seed=1" in done.stderr
    assert done.stderr.endswith("\nThe same command computes what is missing.\n")
    assert call("start", "broken", "--grid", "full", "--workers", 1).exit_code == 1, "a failed point is tried again"


def test_damaged_file_is_reported_and_computed_again(call, tmp_path):
    call("start", "broken", "--grid", "full", "--workers", 1)
    folder = tmp_path / "results" / "broken"
    next(path for path in sorted(folder.glob("*.json")) if path.name != "format.json").write_text("{")
    assert "1 damaged" in call("status", "broken").output
    done = call("start", "broken", "--grid", "full", "--workers", 1)
    assert "damaged, computed again: x=" in done.stderr and "4 of 6 points finished, 1 of them now" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fast", "--grid", "small"], "grid = 'small' of run fast is empty; allowed: at least one point"),
        (["fast", "--grid", "full", "--workers", 10_000], "workers = 10000 is out of range; allowed: whole numbers"),
        (["fast", "--grid", "full", "--workers", 0], "workers = 0 is out of range"),
        (["rug-grid", "--device", "cuda:77"], "device = 'cuda:77' is not on this machine; allowed: auto, cpu"),
        (
            ["field-frozen", "--device", "cuda"],
            "device = 'cuda' does not serve run field-frozen, which computes in numpy",
        ),
        (["rug-grid", "--workers", 1, "--dask", "tcp://127.0.0.1:1"], "--workers and --dask exclude each other"),
        (["rug-grid", "--dask", "nonsense"], "dask = 'nonsense' does not answer: missing port number"),
        (
            ["rug-grid", "--dask", "tls://127.0.0.1:9"],
            "dask = 'tls://127.0.0.1:9' does not answer: TLS expects a `ssl_",
        ),
        (
            ["rug-grid", "--device", "cuda:77", "--dask", "nonsense"],
            "dask = 'nonsense' does not",
        ),  # a worker may have it
    ],
)
def test_bad_input_ends_with_one_sentence(call, arguments, said):
    done = call("start", *arguments)
    assert done.exit_code == 2
    assert said in done.stderr and done.stderr.count("\n") == 1 and done.stdout == ""


def test_results_of_another_version_are_refused(call, tmp_path):
    folder = tmp_path / "results" / "fast"
    folder.mkdir(parents=True)
    (folder / "format.json").write_text('{"format": 0}')
    for command in ("start", "status", "collect"):
        done = call(command, "fast", "--grid", "full")
        assert done.exit_code == 2 and "has format 0, this version reads and writes 1" in done.stderr


def test_installation_without_tables_says_so(call, monkeypatch, tmp_path):
    monkeypatch.setattr(tables.resources, "files", lambda package: tmp_path)
    done = call("collect", "fast")
    assert done.exit_code == 2 and "came without the tables of book/data" in done.stderr


def record(*arguments):
    return CliRunner().invoke(cli.main, ["record", "check", *map(str, arguments)])


def test_a_fan_is_no_record(tmp_path):
    fan = codes.priority_fan(10, 30)
    save_file({"W_in": fan.W_in, "W_out": fan.W_out, "b": fan.b}, tmp_path / "fan")
    done = record(tmp_path / "fan", "--p", 0.05)
    assert done.exit_code == 0
    assert done.stdout.startswith("10 features in 2 dimensions, p = 0.05: loss 0.0026") and "(exact)" in done.stdout
    assert done.stdout.endswith(": no record\n")


def test_a_better_code_is_a_record(tmp_path, monkeypatch):
    worse = codes.best_known(0.05, 0.5)
    monkeypatch.setattr(record_verifier, "best_known", lambda p, r: dataclasses.replace(worse, loss=1.01 * 0.05**2 / 6))
    save_file({"W": np.array([[1.0, -1], [-1, 1]]), "b": np.zeros(2)}, tmp_path / "digon")
    done = record(tmp_path / "digon", "--p", 0.05)
    assert done.exit_code == 0 and "0.9901 of the best known" in done.stdout and ": a record\n" in done.stdout


@pytest.mark.parametrize(
    ("content", "p", "said"),
    [
        (None, 0.1, "is no file; allowed: a file or folder with weights"),
        ({"W": np.eye(3), "b": np.zeros(3), "c": np.ones(3)}, 0.1, "does not explain c; allowed: --ignore NAME"),
        ({"W": np.eye(3), "b": np.zeros(2)}, 0.1, "do not fit; allowed: W (ns, ns), or tied"),
        ({"W": np.full((2, 2), np.inf), "b": np.zeros(2)}, 0.1, "W = inf"),
        ({"W": np.eye(3), "b": np.zeros(3)}, 0, "p = 0 is out of range"),
        ({"W": np.eye(3), "b": np.zeros(3)}, 1, "p = 1 is out of range"),
        ({"W": np.eye(3), "b": np.zeros(3)}, "nan", "p = nan"),
    ],
)
def test_a_bad_record_ends_with_one_sentence(tmp_path, content, p, said):
    if content is not None:
        save_file(content, tmp_path / "file")
    done = record(tmp_path / "file", "--p", p)
    assert done.exit_code == 2 and done.stdout == ""
    assert said in done.stderr and done.stderr.startswith("Error: ") and done.stderr.count("\n") == 1


def test_status_knows_the_stored_table(call, monkeypatch):
    said = call("status", "rug-grid").output
    assert said.startswith("The stored table of rug-grid has 342 points and is what the run would give now\n")
    assert "missing" not in said and "rug-grid, full grid: results of 0 of 342 points in " in said
    monkeypatch.setattr(provenance, "versions", lambda: {"numpy": "99.1", "torch": "99.2"})
    said = call("status", "rug-grid").output
    assert "It was made with numpy 2." in said and ", here is 99.1\n" in said and ", here is 99.2\n" in said
    assert call("status", "rug-sizes-longest").output.startswith("rug-sizes-longest has no stored table\n")


def test_status_without_a_name_tells_of_every_run(call):
    done = call("status")
    assert done.exit_code == 0 and done.stderr == ""
    for run in runs.RUNS.values():
        assert f"{run.name}, full grid: results of 0 of {len(runs.points(run, 'full'))} points in " in done.stdout
        assert f" of {run.name} has " in done.stdout or f"{run.name} has no stored table\n" in done.stdout


def test_a_reader_that_has_enough_ends_the_command_without_a_word():
    script = "import time; from superposition import cli; time.sleep(0.5); cli.main(['runs', 'show', 'rug-grid'])"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_all_commands_take_the_full_grid_by_default(call):
    for command in ("start", "status", "collect"):
        assert "[default: full]" in " ".join(CliRunner().invoke(cli.main, ["runs", command, "--help"]).output.split())


@pytest.mark.parametrize("command", ["start", "status", "collect"])
def test_empty_results_folder_is_refused(command):
    done = CliRunner().invoke(cli.main, ["runs", command, "fast", "--results", ""])
    assert done.exit_code == 2 and "results = '' names no folder; allowed: a folder" in done.stderr


def diagnosed(*arguments):
    return CliRunner().invoke(cli.main, ["diagnose", *map(str, arguments)])


@pytest.mark.parametrize("command", [record, diagnosed])
def test_names_in_a_file_of_a_stranger_do_not_reach_the_terminal(tmp_path, command):
    save_file({"W\x1b]0;gone\x07": np.eye(3), "b": np.zeros(3)}, tmp_path / "file")
    done = command(tmp_path / "file", "--p", 0.1)
    assert done.exit_code == 2 and "W\\x1b]0;gone\\x07" in done.stderr and "; allowed: " in done.stderr
    assert done.stderr.replace("\n", "").isprintable()


@pytest.mark.parametrize(("command", "allowed"), [(record, "(-inf, inf)"), (diagnosed, "[-1e+30, 1e+30]")])
def test_weights_whose_product_is_too_large_are_refused_without_a_warning(tmp_path, command, allowed, recwarn):
    large = {"W_in": np.full((1, 2), 1e200), "W_out": np.full((2, 1), 1e200), "b": np.zeros(2)}
    save_file(large, tmp_path / "file")
    done = command(tmp_path / "file", "--p", 0.1)
    assert done.exit_code == 2 and done.stderr == f"Error: W_out W_in = inf is out of range; allowed: {allowed}\n"
    assert not recwarn.list


@pytest.mark.parametrize("place", ["nowhere/x.svg", "a.file/x.svg", "a.folder.svg"])
def test_a_figure_that_cannot_be_drawn_is_refused_before_the_simulation(tmp_path, monkeypatch, place):
    (tmp_path / "a.file").touch()
    (tmp_path / "a.folder.svg").mkdir()
    monkeypatch.setattr(autoencoder, "diagnose", lambda *_, **__: raised(AssertionError("it was simulated")))
    done = diagnosed("file", "--p", 0.1, "--figure", tmp_path / place)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"Error: figure = {tmp_path / place} cannot be written; allowed: a file in a folder")


def test_a_diagnosis_is_a_report_and_a_picture(tmp_path, monkeypatch):
    monkeypatch.setattr("tqdm.std.time", lambda: 0.0)  # a machine with much to do is not slow
    save_file({"W": np.array([[1.0, -1], [-1, 1]]), "b": np.zeros(2)}, tmp_path / "digon")
    done = diagnosed(tmp_path / "digon", "--p", 0.3, "--samples", 1000, "--figure", tmp_path / "digon.svg")
    assert done.exit_code == 0
    assert done.stdout.startswith("A digon: loss 0.015, 0.3871 of linear, ")
    assert "\nloss      0.015 exact; " in done.stdout and f"drew {tmp_path / 'digon.svg'}\n" in done.stdout
    assert done.stderr == "", "a bar for what takes less than two seconds"
    assert (tmp_path / "digon.svg").read_text().startswith("<?xml")


def test_densities_of_latents_come_from_a_file_or_from_their_mean_number(tmp_path):
    folder = Path(__file__).parent / "diagnosis" / "files" / "sae_lens-standard"
    save_file({"sparsity": np.full(64, -2.0)}, tmp_path / "sparsity.safetensors")
    by_file = diagnosed(folder, "--firing", tmp_path / "sparsity.safetensors", "--samples", 200)
    by_number = diagnosed(folder, "--l0", 0.64, "--samples", 200)
    assert by_file.exit_code == by_number.exit_code == 0 and "r = 0.25, p = 0.01" in by_file.stdout
    assert by_file.stdout == by_number.stdout
    both = diagnosed(folder, "--p", 0.1, "--firing", tmp_path / "sparsity.safetensors")
    assert both.exit_code == 2 and "--p and --firing exclude each other" in both.stderr


def test_importance_vectors_and_units_reach_the_report(tmp_path):
    save_file({"W": np.array([[1.0, -1], [-1, 1]]), "b": np.zeros(2)}, tmp_path / "digon")
    done = diagnosed(tmp_path / "digon", "--p", 0.3, "--samples", 1000, "--importance", "0.5^i", "--loss", "sum")
    first = done.stdout.splitlines()[0]
    assert done.exit_code == 0 and "(sum over features, in your units) weighted by importance" in first
    x = (np.random.default_rng(0).random((400, 2)) < 0.3) * 2.0
    np.save(tmp_path / "x.npy", x)
    done = diagnosed(tmp_path / "digon", "--features", tmp_path / "x.npy", "--loss", "mean")
    own = np.mean((x - np.maximum(x - x[:, ::-1], 0)) ** 2)
    assert done.exit_code == 0 and f"loss {own:.4g} (mean over features, in your units)" in done.stdout
    assert "on 400 given vectors" in done.stdout.splitlines()[0]
    assert diagnosed(tmp_path / "digon", "--x", tmp_path / "x.npy", "--loss", "mean").stdout == done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere", "--p", 0.1], "path = nowhere is no file"),
        (["nowhere", "--p", 2], "p = 2 is out of range; allowed: [0, 1)"),
        (["nowhere", "--p", 0.1, "--figure", "a.xyz"], "figure = a.xyz has an unknown ending; allowed: "),
    ],
)
def test_a_bad_diagnosis_ends_with_one_sentence(arguments, said):
    done = diagnosed(*arguments)
    assert done.exit_code == 2 and done.stdout == ""
    assert said in done.stderr and done.stderr.startswith("Error: ") and done.stderr.count("\n") == 1


def test_factors_say_in_how_many_dimensions_a_record_is(tmp_path, monkeypatch):
    fan, seen = codes.priority_fan(10, 30), []
    monkeypatch.setattr(record_verifier, "check_record", lambda W, b, p, **options: seen.append(options))
    save_file({"W_in": fan.W_in, "W_out": fan.W_out, "b": fan.b}, tmp_path / "factors")
    save_file({"W": fan.W, "b": fan.b}, tmp_path / "product")
    assert (
        record(tmp_path / "factors", "--p", 0.05).exit_code == record(tmp_path / "product", "--p", 0.05).exit_code == 0
    )
    assert seen == [{"nd": 2}, {"nd": None}]


def options(command):
    """Every option of a command and of those below it, by its path."""
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            yield f"{command.name} {parameter.name}", parameter
    for inner in getattr(command, "commands", {}).values():
        yield from options(inner)


def test_every_option_says_what_it_is():
    said = dict(options(cli.main))
    assert len(said) > 15
    assert [name for name, option in said.items() if len(option.help or "") < 10] == []


@pytest.mark.parametrize("value", ["\u0661\u0662", "\U0001d7d3", "1_000"])
def test_numbers_are_written_with_plain_digits(call, value):
    done = call("start", "fast", "--workers", value)
    assert done.exit_code == 2 and "is not written with the digits 0 to 9, without separators" in done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("closed", ["<&- >&- 2>&-", ">&- 2>&-", "2>&-"])
def test_a_sweep_ends_well_where_streams_are_closed(tmp_path, closed):
    command = shlex.join([*COMMAND, "start", "broken", "--workers", "1", "--results", str(tmp_path)])
    done = subprocess.run(f"{command} {closed}", shell=True, capture_output=True, text=True)
    assert done.returncode == 1  # two points have no value
    assert ("4 of 6 points finished" in done.stdout) == (closed == "2>&-")
    assert len(list((tmp_path / "broken").glob("?" * 32 + ".json"))) == 4
