"""The two files of a stored table, read or refused: their checksums, and a sentence about what is damaged."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from superposition import checks
from superposition.runs import store

SEAL = "provenance_sha256"  # its field that holds a checksum of all the others


class TableError(ValueError):
    """A stored table that cannot be used; the sentence begins with the file."""


class _Provenance(BaseModel):
    """The parts of a provenance that readers rely on."""

    run: str
    function: str
    grid: dict[str, object]
    library_digest: str
    table_sha256: str
    commits: list[str | None]
    versions: list[dict[str, str]] = Field(min_length=1)
    devices: dict[str, int]
    seconds_total: float
    seconds: list[float] = Field(min_length=1)
    certified: list[dict[str, object]] = []


def sealed(said: dict) -> dict:
    """A provenance with a checksum of its other contents."""
    rest = {name: value for name, value in said.items() if name != SEAL}
    return {SEAL: store.checksum(rest), **rest}


def _damaged(path: Path, what: str) -> TableError:
    name = path.stem
    return TableError(
        f"{path} is damaged: {what}; to have it back: git checkout {path.name}, or superposition runs collect {name}"
    )


def _text_at(path: Path) -> str:
    try:
        return store.text_of(path)
    except ValueError as error:
        raise _damaged(path, str(error)) from None


def provenance_at(path: Path, name: str) -> dict:
    """The provenance of a table of a run, or a refusal."""
    text = _text_at(path)
    try:
        said = json.loads(text)
        is_sealed = said[SEAL] == sealed(said)[SEAL]
        found = _Provenance.model_validate(said, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        raise _damaged(path, f"{checks.printable('.'.join(map(str, first['loc'])))}: {first['msg']}") from None
    except store.UNREADABLE:
        raise _damaged(path, f"it is no JSON that has {SEAL}") from None
    if not is_sealed:
        raise _damaged(path, f"what it says does not match its {SEAL}")
    if found.run != name:
        raise _damaged(path, f"it is about another run, {checks.shown(found.run)}")
    return said


def columns_at(path: Path, provenance: dict) -> dict[str, np.ndarray]:
    """The columns of a table, or a refusal."""
    text = _text_at(path)
    if provenance["table_sha256"] != sha256(text):
        raise _damaged(path, f"it was changed after it was collected, {path.stem}.json has another table_sha256")
    try:
        header, *rows = csv.reader(io.StringIO(text))
        columns = {name: _column(values) for name, values in zip(header, zip(*rows, strict=True), strict=True)}
    except (ValueError, csv.Error):
        raise _damaged(path, "it is no table with the same number of values in each row") from None
    if len(rows) != len(provenance["seconds"]):
        raise _damaged(path, f"it has {len(rows)} rows, {path.stem}.json has seconds of {len(provenance['seconds'])}")
    return columns


def _column(values: Sequence[str]) -> np.ndarray:
    if set(values) <= {"True", "False"}:
        return np.array([value == "True" for value in values])
    for kind in (int, float):
        try:
            return np.array([kind(value) for value in values])
        except ValueError:
            pass
    return np.array(values)


def sha256(text: str) -> str:
    """The checksum of a table."""
    return hashlib.sha256(text.encode()).hexdigest()
