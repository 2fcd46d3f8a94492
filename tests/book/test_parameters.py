"""Parameters of the chapters, alone and through papermill as a user types it."""

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import jupytext
import nbformat
import numpy as np
import pytest
from papermill.cli import papermill as papermill_command
from sampled import sampled
from superposition import inputs
from superposition.book import ledger, parameters, running

ROOT = Path(__file__).resolve().parents[2]
PAPERMILL = Path(sys.executable).with_name("papermill")


CHAPTERS = sorted(path.stem for path in (ROOT / "book").glob("ch*.md"))


def code_cells(chapter):
    return [cell for cell in jupytext.read(ROOT / "book" / f"{chapter}.md").cells if cell.cell_type == "code"]


def parameters_cell(chapter="ch3"):
    namespace = {}
    exec(next(c.source for c in code_cells(chapter) if "parameters" in c.metadata.get("tags", [])), namespace)
    return namespace


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_chapter_checks_its_cell_against_its_own_model(chapter):
    first, second = code_cells(chapter)[:2]
    for line in first.source.splitlines():
        assert re.fullmatch(r"\w+: \w+ = .+  # .+", line), f"{line!r}: not 'name: type = value  # what it is'"
    name = re.search(r"parameters\.check\(globals\(\), parameters\.(\w+)\)", second.source)[1]
    model = getattr(parameters, name)
    par = parameters.check(parameters_cell(chapter), model)
    assert par == model() and par.at_defaults
    sentences = {
        field: inputs.allowed(info) for field, info in model.model_fields.items() if field not in ("device", "quick")
    }
    assert [field for field, said in sentences.items() if not re.search("number.* (from|above) .*\\d", said)] == []
    with pytest.raises(parameters.ParameterError, match="nss is no parameter of this chapter; nearest: "):
        parameters.check(parameters_cell(chapter) | {"In": ["# Parameters\nnss = 1\n"]}, model)


def injected(**values):
    lines = "".join(f"{name} = {value!r}\n" for name, value in values.items())
    return parameters_cell() | values | {"In": ["", "cell", "# Parameters\n" + lines]}


def check(**values):
    return parameters.check(injected(**values), parameters.LossScaling)


def test_the_cell_holds_the_defaults_of_the_model():
    par = check()
    assert par == parameters.LossScaling() and par.at_defaults


def test_what_is_accepted():
    assert check(ns=1e3).ns == 1000 and check(ns="4096").ns == check(ns="4.096e3").ns == 4096  # YAML leaves 1e4 a text
    assert check(ratios="[0.1, 0.2]").ratios == check(ratios=" (0.1, 0.2) ").ratios == (0.1, 0.2)
    assert check(ratios="[1, 0.25]").ratios == check(ratios="(0.25, 1)").ratios == (0.25, 1)
    assert check(ratios=0.2).ratios == check(ratios=[0.2]).ratios == check(ratios="0.2,").ratios == (0.2,)
    assert check(ns=10, ratios="0.5, 0.01, 0.04").nds == [1, 5]  # nd of 0.1 and 0.4 become 1, once
    assert not check(seed=1).at_defaults and check(device="cpu").at_defaults


@pytest.mark.thorough
def test_torch_keeps_its_threads_for_large_networks():
    script = """
import torch
from superposition.book import parameters
torch.set_num_threads(3)
for model, sizes in ((parameters.LossScaling, {"ns": 256}), (parameters.LossScaling, {"ns": 1024}),
                     (parameters.Collisions, {"neurons": 1023}), (parameters.Collisions, {"neurons": 1024})):
    parameters.check(model().model_dump() | sizes, model)
    print(torch.get_num_threads())
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.stdout.split() == ["1", "3", "1", "3"], run.stderr


def test_a_quick_look_is_smaller_and_not_at_its_defaults():
    assert check(quick="true").fewer(100, 10) == 10 and check(quick="false").fewer(100, 10) == 100
    assert not check(quick="true").at_defaults


ODD = (None, [[0.1, 0.2]], {"r": 0.1}, np.array([0.1, 0.2]), 0.1j, True, [True], [None])


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"nss": 4096}, "nss is no parameter of this chapter; nearest: ns; all: quick, ns, p, ratios"),
        ({"p": 1.5}, "p = 1.5 is not allowed; allowed: numbers from 0.001 to 1"),
        ({"p": float("nan")}, "p = nan is not allowed"),
        ({"ns": True}, "ns = True is not allowed"),
        ({"ns": 1}, "ns = 1 is not allowed; allowed: whole numbers from 2 to 16384"),
        ({"ratios": []}, r"ratios = \[\] is not allowed; allowed: at least one number above 0 and up to 1"),
        ({"ratios": "[0.1, [0.2]]"}, r"ratios = '\[0.1, \[0.2\]\]' is not allowed"),
        ({"ns": "1.5e0"}, "ns = '1.5e0' is not allowed"),
        ({"ratios": "0.1; 0.2"}, "ratios = '0.1; 0.2' is not allowed"),
        ({"ratios": "0, 0.2"}, "ratios = '0, 0.2' is not allowed"),
        ({"steps": 0}, "steps = 0 is not allowed; allowed: whole numbers from 1"),
        ({"minutes": -1}, "minutes = -1 is not allowed; allowed: numbers above 0"),
        ({"seed": -1}, "seed = -1 is not allowed"),
        ({"quick": 2}, "quick = 2 is not allowed; allowed: true or false"),
        ({"device": "gpu"}, "device = 'gpu' is not on this machine; allowed: auto, cpu"),
        *[
            ({"ratios": odd}, "ratios = .* is not allowed; allowed: at least one number above 0 and up to 1")
            for odd in ODD
        ],
        *[({"device": odd}, "device = .* is not a name; allowed: auto, cpu") for odd in ODD],
        ({"ns": ODD[1]}, "ns = .* is not allowed; allowed: whole numbers"),
        ({"ratios": [2.0] * 2000}, r"^ratios = \[2.0, .{,60}… is not allowed.{,99}$"),
    ],
)
def test_what_is_refused(values, sentence):
    with pytest.raises(parameters.ParameterError, match=sentence):
        check(**values)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            {"n": 13},
            "n = 13 is not allowed; allowed: even numbers from 12 to 120; odd numbers have no alternating field",
        ),
        ({"n": 12}, "xi1 = 2.0 is not allowed; allowed: numbers from 0.8 to n / 11; n / 11 is 1.091 at n = 12"),
        ({"xi2": 1.9}, "xi2 = 1.9 is not allowed; allowed: numbers from 0.4 to 0.9 xi1; 0.9 xi1 is 1.8 at xi1 = 2"),
    ],
)
def test_an_end_that_another_parameter_sets_is_given_with_its_value(values, sentence):
    with pytest.raises(parameters.ParameterError, match=re.escape(sentence)):
        parameters.check(parameters_cell("ch6-gain") | values, parameters.ReluFlow)


def test_a_name_missing_from_the_cell_is_refused():
    namespace = parameters_cell()
    del namespace["ns"]
    with pytest.raises(parameters.ParameterError, match="ns is missing from the parameters cell"):
        parameters.check(namespace, parameters.LossScaling)


def papermill(tmp_path, *arguments):
    command = [PAPERMILL, "book/ch3.ipynb", tmp_path / "out.ipynb", "--no-progress-bar", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)


REFUSED = [
    (["-p", "nss", "4096"], "nss is no parameter of this chapter; nearest: ns;"),
    (["-p", "p", "1.5"], "p = 1.5 is not allowed; allowed: numbers from 0.001 to 1"),
    (["-p", "p", "0"], "p = 0 is not allowed; allowed: numbers from 0.001 to 1"),
    (["-p", "ns", "3.5"], "ns = 3.5 is not allowed; allowed: whole numbers from 2 to 16384"),
    (["-p", "ns", "abc"], "ns = 'abc' is not allowed; allowed: whole numbers from 2 to 16384"),
    (["-p", "ns", "0"], "ns = 0 is not allowed; allowed: whole numbers from 2 to 16384"),
    (["-p", "device", "cuda:9"], "device = 'cuda:9' is not on this machine; allowed: auto, cpu"),
    (["-p", "ratios", ""], "ratios = '' is not allowed; allowed: at least one number above 0 and up to 1"),
    (["-p", "ratios", "0.5, 1.2"], "ratios = '0.5, 1.2' is not allowed; allowed: at least one number"),
]


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED)
def test_what_papermill_sets_is_refused(tmp_path, arguments, sentence):
    """What papermill makes of the command, in the first cells of the chapter, without a kernel."""
    chapter, out = str(ROOT / "book" / "ch3.ipynb"), str(tmp_path / "out.ipynb")
    papermill_command([chapter, out, "--prepare-only", "--no-progress-bar", *arguments], standalone_mode=False)
    cells = nbformat.read(out, as_version=4).cells
    first = [cell.source for cell in cells if cell.cell_type == "code"][:3]
    namespace = {"In": ["", *first]}
    with pytest.raises(parameters.ParameterError, match=f"^{re.escape(sentence)}"):
        for source in first:
            exec(source, namespace)


@pytest.mark.parametrize(("arguments", "sentence"), sampled([REFUSED[0], REFUSED[-1]]))  # a name, a value
def test_a_refusal_is_one_sentence_in_the_notebook_and_the_terminal(tmp_path, arguments, sentence):
    done = papermill(tmp_path, *arguments)
    assert done.returncode != 0
    assert f"ParameterError: {sentence}" in done.stderr
    cells = nbformat.read(tmp_path / "out.ipynb", as_version=4).cells
    errors = [output for cell in cells for output in cell.get("outputs", []) if output.output_type == "error"]
    assert [len(error.traceback) for error in errors] == [1]  # the sentence, not a stack


@pytest.mark.thorough
def test_papermill_runs_a_small_chapter_and_says_undecided(tmp_path):
    """No power of two, ratio 1, one training step: an exit code of 0, decided where no training is needed."""
    small = ["-p", "ns", "1e2", "-p", "ratios", "0.1, 0.5, 1", "-p", "steps", "1", "-p", "device", "cpu"]
    done = papermill(tmp_path, *small)
    assert done.returncode == 0, done.stderr[-2000:]
    rows = ledger.records(tmp_path / "out.ipynb")
    undecided = [row for row in rows if row.outcome == "undecided"]
    assert {row.id for row in undecided} == {"rug.fig2.trained"} and [len(row.measured) for row in undecided] == [3]
    assert all("ns=100" in row.label for row in undecided)
    outputs = [o for cell in nbformat.read(tmp_path / "out.ipynb", as_version=4).cells for o in cell.get("outputs", [])]
    streams = [o for o in outputs if o.output_type == "stream"]  # of short cells; progress leaves nothing behind
    assert not [o for o in streams if o.name != "stdout" or "\r" in o.text or "%|" in o.text]


@pytest.mark.parametrize("value", [3, "text", [1, 2], ["# Parameters\nIn = 1\n"], None])
def test_a_parameter_called_like_a_list_of_the_shell_is_refused(value, monkeypatch):
    """The shell keeps the code of all cells in a list called In, which papermill overwrites."""
    cells = ["", "cell", f"# Parameters\nIn = {value!r}\n"]
    namespace = parameters_cell() | {"In": value}
    shell = SimpleNamespace(user_ns=namespace, history_manager=SimpleNamespace(input_hist_parsed=cells))
    monkeypatch.setattr(running, "_shell", lambda: shell)
    with pytest.raises(parameters.ParameterError, match="^In is no parameter of this chapter; nearest: "):
        parameters.check(namespace, parameters.LossScaling)


def test_where_a_default_no_longer_fits_the_name_that_was_set_is_named():
    with pytest.raises(parameters.ParameterError) as refusal:
        parameters.check(injected(xi1=1.0) | {"n": 40, "xi2": 1.0, "gain": 3.0}, parameters.ReluFlow)
    assert str(refusal.value) == (
        "xi1 = 1.0 does not go with xi2: xi2 = 1.0 is not allowed; allowed: numbers from 0.4 to 0.9 xi1; "
        "0.9 xi1 is 0.9 at xi1 = 1"
    )
    with pytest.raises(parameters.ParameterError, match="^xi2 = 2.0 is not allowed"):
        parameters.check(injected(xi1=1.0, xi2=2.0) | {"n": 40, "gain": 3.0}, parameters.ReluFlow)


@pytest.mark.parametrize("value", ["\u0661\u0662\u0668", "\U0001d7d3\U0001d7d8", "1_28"])
def test_numbers_are_written_with_plain_digits(value):
    for name in ("ns", "p", "ratios"):
        with pytest.raises(parameters.ParameterError, match="numbers are written with the digits 0 to 9, without"):
            check(**{name: value})
