"""Objects of packages against the files that these packages save: one report.

Where a package is installed, its own class loads the file and is diagnosed too; elsewhere its report is the recorded
one (`files/make.py`, with the version). Packages compute in single precision, so reports agree to that.
"""

import importlib.util
import json
from pathlib import Path

import pytest
import superposition

pytest.importorskip("torch")
FILES = Path(__file__).parent / "files"
spec = importlib.util.spec_from_file_location("make", FILES / "make.py")
make = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make)
ORIGIN = json.loads((FILES / "origin.json").read_text())
RECORDED = {name: origin["object"] for name, origin in ORIGIN.items() if "object" in origin}


@pytest.fixture(scope="module", params=RECORDED)
def name_and_report(request):
    options = {"instance": ORIGIN[request.param].get("instance")}
    return request.param, make.report(superposition.diagnose(FILES / request.param, **make.DIAGNOSED, **options))


def agree(one, other):
    assert one == {name: pytest.approx(value, rel=2e-3, abs=1e-6) for name, value in other.items() if name != "by"}


def test_a_file_has_the_report_of_its_object_as_it_was_recorded(name_and_report):
    name, report = name_and_report
    agree(report, RECORDED[name])


def test_a_file_has_the_report_of_its_object_where_the_package_is_installed(name_and_report):
    name, report = name_and_report
    try:
        model = make.loaded(name)
    except ImportError as absent:
        pytest.skip(str(absent))
    agree(report, make.report(superposition.diagnose(model, **make.DIAGNOSED)))


def test_every_package_is_among_them():
    by = {one["by"].split()[0] for one in RECORDED.values()}
    assert by == {"torch", "sae-lens", "dictionary-learning", "eai-sparsify"} and len(RECORDED) > 20
