"""The theory in an environment of its own, without torch: ``python scripts/theory_alone.py lowest|newest``.

``lowest`` installs exactly the lower bounds of pyproject.toml. An old version fails by a name that is not there yet or
by another answer to the same call, at any value: the doctests and the contract call every public function, a test looks
up every name of a package that the library uses, and of each test of a wing one case is run. ``newest`` does what a
user does (``pip install .``) with the pins, runs the doctests and the recipes, and asks for training. Tests that need
more than the theory's packages are skipped, and named.
"""

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ("pytest", "pytest-xdist", "mpmath", "sympy")
WINGS = ("toy", "rug", "incidental", "receptive", "codes", "decoders", "frequencies", "correlated", "diagnosis")
GROUND = ("checks", "contract", "features", "imports", "minima", "relu_integrals")
TESTS = (*(f"tests/{wing}" for wing in WINGS), *(f"tests/test_{name}.py" for name in GROUND))
OTHER_PARTS = ("lib/superposition/runs", "lib/superposition/experiments", "lib/superposition/book")
ASKING = """
import importlib, pkgutil, superposition

def is_there(face, name):
    try:
        return hasattr(face, name)
    except ModuleNotFoundError as error:  # of what comes on demand
        return error.name == "torch"

for wing in superposition.WINGS:
    face = getattr(superposition, wing)
    assert all(is_there(face, name) for name in face.__all__), wing
    for module in pkgutil.iter_modules(face.__path__, f"{face.__name__}."):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            assert error.name == "torch", error
try:
    superposition.rug.train_autoencoder(4, 2, 0.5, device="cpu")
except ModuleNotFoundError as error:
    print(error)
"""
SENTENCE = "training needs torch: pip install '.[train]'"


def bounds():
    """Return the lower bounds of the theory's packages as exact versions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [text.replace(">=", "==") for text in project["dependencies"]]


def pins(packages):
    """Return the pinned versions of some packages."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return [line for line in lines if line.split("==")[0] in packages]


def run(*command):
    """Run a command in the repository; its failure ends the job."""
    print("+", *map(str, command), flush=True)
    subprocess.run(command, cwd=ROOT, check=True)


def install(python, kind):
    """Install the library without extras, and what the tests are made with."""
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    held = [*bounds(), *pins(TOOLS)] if kind == "lowest" else ["-c", "constraints.txt", *TOOLS]
    run(*pip, ".", *held)
    shutil.rmtree(ROOT / "build", ignore_errors=True)  # setuptools would take old modules from it


def test(python, kind):
    """Run the doctests and recipes, and for the lower bounds the theory's tests."""
    paths = ["--first-cases", *TESTS] if kind == "lowest" else []
    options = ["-c", "pyproject.toml", "--rootdir=.", "-p", "no:cacheprovider", "-q", "--theory", "-m", "not thorough"]
    options += ["-n", "logical", "--maxprocesses", "8", "--dist", "loadfile"]
    options += ["--doctest-ignore-import-errors", *(f"--ignore={part}" for part in OTHER_PARTS)]
    run(python, "-m", "pytest", *options, *paths, "lib", "book/recipes.md")


def ask_for_training(python):
    """Every face is whole, and training is refused in one sentence, by the library and by the command."""
    said = subprocess.run([python, "-c", ASKING], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert said.strip() == SENTENCE, said
    command = [python, "-c", "from superposition.cli import main; main(['runs', 'list'])"]
    refused = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert refused.returncode == 2 and "'.[train]'" in refused.stderr, refused
    assert refused.stderr.count("\n") == 1, refused.stderr
    print("asked for training:", said.strip(), "|", refused.stderr.strip(), sep="\n")


def main():
    """Set up, test, and leave nothing behind."""
    if sys.argv[1:] not in (["lowest"], ["newest"]):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "venv", folder)
        python = Path(folder) / "bin" / "python"
        install(python, sys.argv[1])
        ask_for_training(python)
        test(python, sys.argv[1])
    print(f"the theory alone, {sys.argv[1]}: passed")


if __name__ == "__main__":
    main()
