"""Where training runs, and what is said where torch is missing."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sampled import sampled
from superposition import devices
from superposition.devices import accelerator, resolve_device, torch

PACKAGE = Path(__file__).resolve().parents[1] / "lib" / "superposition"
BLOCKED = """
import importlib, sys

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")

sys.meta_path.insert(0, NoTorch())
for module in sys.argv[1:]:
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        print(module, error)
"""


def imports_torch_itself(path):
    tree = ast.parse(path.read_text())
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    return "torch" in names


def test_torch_comes_in_through_one_door():
    found = [path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if imports_torch_itself(path)]
    assert found == ["devices.py"]


def test_training_without_torch_is_one_sentence():
    rooms = [
        f"superposition.{path.parent.name}.{path.stem}"
        for path in sorted(PACKAGE.glob("*/*.py"))
        if re.search("^from superposition.devices import", path.read_text(), re.M)
        and path.parent.name in ("toy", "rug", "incidental", "receptive")
    ]
    done = subprocess.run([sys.executable, "-c", BLOCKED, *rooms], capture_output=True, text=True, check=True)
    sentence = "training needs torch: pip install '.[train]'"
    assert rooms and done.stdout.splitlines() == [f"{room} {sentence}" for room in rooms]


def test_devices_by_name():
    assert resolve_device("cpu") == torch.device("cpu")
    present = torch.cuda.is_available()
    assert resolve_device("auto") == torch.device("cuda:0" if present else "cpu")


@pytest.mark.parametrize(
    ("cards", "names"), [(0, {"auto": "cpu"}), (2, {"auto": "cuda:0", "cuda": "cuda:0", "cuda:1": "cuda:1"})]
)
def test_devices_of_other_machines(monkeypatch, cards, names):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: cards)
    assert {name: str(resolve_device(name)) for name in names} == names
    for missing in {"cuda", "cuda:1", "cuda:2"} - set(names):
        with pytest.raises(ValueError, match="is not on this machine"):
            resolve_device(missing)


def machine_with(monkeypatch, kind, *, float64, cards=2):
    """Let torch say that this machine has accelerators of a kind, if it is asked whether they are there."""
    found = {True: torch.device(kind)}
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda check_available=False: found[check_available])
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: cards)
    monkeypatch.setattr(devices, "has_float64", lambda device: float64 or device.type == "cpu")


@pytest.mark.parametrize("resolve", [accelerator, resolve_device])
def test_an_accelerator_that_is_not_cuda_goes_by_torchs_name(monkeypatch, resolve):
    machine_with(monkeypatch, "xpu", float64=True)
    found = {name: str(resolve(name)) for name in ("auto", "xpu", "xpu:1", "cpu")}
    assert found == {"auto": "xpu:0", "xpu": "xpu:0", "xpu:1": "xpu:1", "cpu": "cpu"}
    with pytest.raises(ValueError, match="'cuda' is not on this machine; allowed: auto, cpu, xpu:0, xpu:1, xpu$"):
        resolve("cuda")


def test_a_device_without_float64_is_never_taken_unasked_and_refused_where_sums_need_it(monkeypatch):
    machine_with(monkeypatch, "mps", float64=False, cards=1)
    assert str(accelerator("mps")) == "mps:0"
    assert str(accelerator("auto")) == str(resolve_device("auto")) == "cpu"
    with pytest.raises(ValueError, match="device = 'mps' has no float64, which this needs; allowed: cpu, or rug.train"):
        resolve_device("mps")


def test_float64_is_asked_of_the_device(monkeypatch):
    assert devices.has_float64(torch.device("cpu"))

    def refuses(*_, **__):
        raise TypeError("Cannot convert a MPS Tensor to float64 dtype")

    monkeypatch.setattr(torch, "ones", refuses)
    assert not devices.has_float64(torch.device("cpu"))


@pytest.mark.parametrize("device", ["gpu", "cuda:99", None, ["cpu"], 0])
def test_what_is_not_there_is_refused(device):
    with pytest.raises(ValueError, match="device = .* is not on this machine; allowed: auto, cpu"):
        resolve_device(device)


# What a chapter runs in its first two cells, and what the command's workers run: OpenMP says what it was told.
CHAPTER = "from superposition.book import parameters; from superposition.rug import evaluation"
COMMAND = """
import subprocess, sys, superposition.cli
print(subprocess.run([sys.executable, "-c", "import torch; torch.ones(9).sum()"], check=True))
"""


@pytest.mark.thorough
@pytest.mark.parametrize("code", [CHAPTER, pytest.param(COMMAND, marks=pytest.mark.thorough)])
@pytest.mark.parametrize(
    ("set_by_user", "policy"), sampled([({}, "PASSIVE"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "ACTIVE")])
)
def test_threads_that_wait_do_not_spin(code, set_by_user, policy):
    inherited = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    environment = {**inherited, "OMP_DISPLAY_ENV": "true", **set_by_user}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert f"OMP_WAIT_POLICY = '{policy}'" in done.stderr
