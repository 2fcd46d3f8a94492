"""What the tests of the fingerprint share."""

import textwrap

import pytest
from defprint import fingerprint
from little_package import PACKAGE, forget


@pytest.fixture
def fingerprint_of(tmp_path, monkeypatch):
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
