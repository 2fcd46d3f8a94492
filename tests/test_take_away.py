"""What a reader takes away: the manifest of figures and tables is complete, and archives are looked into."""

import re
import runpy
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
TAKE_AWAY = runpy.run_path(str(ROOT / "scripts" / "take_away.py"))


def test_manifest_lists_every_figure_and_table_with_its_command():
    listed = yaml.safe_load((ROOT / "codecheck.yml").read_text())["manifest"]
    assert listed == TAKE_AWAY["manifest_items"](), "run `make manifest`"
    assert len({item["file"] for item in listed}) == len(listed)


def test_bibtex_on_the_front_page_says_what_the_citation_file_says():
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    entry = (ROOT / "book" / "intro.md").read_text().split("```bibtex")[1].split("```")[0]
    for field, value in (
        ("author", said["authors"][0]["name"].join("{}")),
        ("title", said["title"].join("{}")),
        ("version", said["version"]),
        ("license", " and ".join(said["license"])),
    ):
        assert re.search(rf"{field} +?= \{{{re.escape(value)}\}}", entry), (field, value)


def test_changes_citation_and_package_have_one_version_and_one_date():
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    version, date = re.search(r"^## ([\d.]+), (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE).groups()
    assert version == said["version"] == TAKE_AWAY["VERSION"]
    assert date == str(said.get("date-released", "not yet released"))


def test_the_pdf_has_every_page_of_the_table_of_contents_in_its_order():
    contents = (ROOT / "book" / "_toc.yml").read_text()
    assert TAKE_AWAY["pages"](yaml.safe_load(contents)) == re.findall(r"(?:file|root): (\S+)", contents)


def test_the_reference_has_a_pdf_of_its_own():
    names = TAKE_AWAY["pages"](yaml.safe_load((ROOT / "book" / "_toc.yml").read_text()))
    apart = {name for name in names if TAKE_AWAY["document"](name) != TAKE_AWAY["document"]("intro.md")}
    assert apart == {f"reference/{path.name}" for path in (ROOT / "book" / "reference").glob("*.md")}


def packed(path, name):
    """Return a package with one file in it."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr(name, "")
    else:
        with tarfile.open(path, "w:gz") as sdist:
            sdist.add(__file__, f"superposition-1/{name}")
    return path


@pytest.mark.parametrize(("package", "top"), [("a.whl", ""), ("a.tar.gz", "lib/")])
def test_a_package_without_a_table_is_noticed(tmp_path, package, top):
    table = f"{top}superposition/data/rug-grid.csv"
    missing = TAKE_AWAY["missing_tables"](packed(tmp_path / package, table))
    assert table not in missing and table.replace("grid", "sizes") in missing


def test_contents_lead_to_the_pages_that_chapters_begin_on():
    parts = [{"heading": "1. Noise & more"}, {"heading": "A page of it"}]
    front = TAKE_AWAY["first_pages"](["ch1", "ch1-more"], parts, {"ch1": 0, "ch1-more": 41})
    lines = re.findall(r'<li class="(.*?)"><a href=".*?/(\d+)">(.*?)</a><span>(\d+)</span></li>', front)
    assert lines == [("", "0", "1. Noise &amp; more", "1"), ("below", "41", "A page of it", "42")]
    assert f"Edition {TAKE_AWAY['VERSION']}" in front
