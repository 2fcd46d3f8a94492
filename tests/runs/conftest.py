"""What the tests of the named runs share."""

import textwrap

import pytest
from defprint import fingerprint
from fast_runs import FAST, collected, swept
from little_package import PACKAGE, forget
from superposition.runs import sweep


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """The table of a sweep in which nothing happens."""
    folder = tmp_path_factory.mktemp("undisturbed")
    assert swept(FAST, folder / "results") == sweep.Outcome(100, {}, False)
    return collected(folder / "results", folder)


@pytest.fixture
def said(tmp_path, monkeypatch):
    """The fingerprint of a function in a package, after changes in its text: pairs of old and new by module."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def written(function="little.top:start", more=(), **changes):
        package = tmp_path / "little"
        package.mkdir(exist_ok=True)
        for path in package.rglob("*.py"):
            path.unlink()
        for name, text in {**PACKAGE, **dict(more)}.items():
            text = textwrap.dedent(text).lstrip()
            for old, new in changes.get(name, ()):
                assert old in text
                text = text.replace(old, new)
            path = package.joinpath(*name.split(".")).with_suffix(".py")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        forget()
        return fingerprint.of(function)

    yield written
    forget()
