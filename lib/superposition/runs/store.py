"""Results on disk: one JSON file per point, complete or absent.

A file is written beside its place and moved there in one step, and holds a checksum of its contents. The process that
works on a point holds its lock, and the operating system takes the lock back when the process dies.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import platformdirs
from filelock import FileLock, Timeout

from superposition import checks

FORMAT = 1  # of the folder and its files
MARKER = "format.json"
LARGEST = 2**26  # bytes of a file; the largest of ours have some hundred thousand
LEFT = {".tmp", ".lock", ".aside"}  # what a folder may hold beside results
UNREADABLE = (OSError, ValueError, TypeError, KeyError, RecursionError, MemoryError)  # of a file that is none of ours


class ResultError(ValueError):
    """A results folder, or a file in it, that cannot be used."""


class StorageError(OSError):
    """A disk that takes no results: full, read-only or gone."""


def default_folder() -> Path:
    """The folder of results by default: the user's data folder."""
    return platformdirs.user_data_path("superposition") / "results"


def prepare(folder: str | Path) -> Path:
    """Prepare a folder for writing results; refuse one of another version, or with other files in it."""
    folder = Path(folder)
    if not check(folder):
        with _clear_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        replace(folder / MARKER, json.dumps({"format": FORMAT}))
    return folder


def check(folder: str | Path) -> bool:
    """Whether a folder holds results of this version; False where there is nothing yet, anything else is refused."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise ResultError(f"results = {folder} is a file; allowed: a folder")
    if not os.path.lexists(folder / MARKER):
        if folder.exists() and any(path.suffix not in LEFT for path in folder.iterdir()):
            raise ResultError(f"results = {folder} holds other files; allowed: an empty folder or ours")
        return False
    try:
        found = json.loads(text_of(folder / MARKER))["format"]
    except UNREADABLE:
        raise ResultError(f"{folder / MARKER} is damaged; allowed: {json.dumps({'format': FORMAT})}") from None
    if found != FORMAT:
        raise ResultError(
            f"results = {folder} has format {checks.shown(found)}, this version reads and writes {FORMAT}; "
            "allowed: another folder, or the version that wrote this one"
        )
    return True


def keys(folder: str | Path) -> set[str]:
    """Keys of the points that have a file, whole or damaged."""
    return {path.stem for path in Path(folder).glob("*.json") if path.name != MARKER} if check(folder) else set()


def write(folder: Path, key: str, record: dict) -> None:
    """Write the result of one point in one step, to a prepared folder."""
    content = {"key": key, **record}
    text = json.dumps({"checksum": checksum(content), "record": content}, indent=1)
    if len(text) > LARGEST:
        raise ValueError(f"{key}.json would have {len(text)} bytes; allowed: up to {LARGEST}")
    with _clear_errors(folder):
        for left in folder.glob(f"{key}.*.tmp"):  # by a process that was killed
            if left.is_symlink() or not left.is_dir():
                left.unlink(missing_ok=True)
    replace(folder / f"{key}.json", text)


def read(folder: str | Path, key: str) -> dict | None:
    """Read the result of one point; None if there is none yet, and anything but a whole result is refused."""
    path = Path(folder) / f"{key}.json"
    if not os.path.lexists(path):
        return None
    try:
        text = text_of(path)
    except ValueError as error:
        raise ResultError(f"{path.name} is damaged: {error}") from None
    try:
        stored = json.loads(text)
        record, said, found = stored["record"], stored["checksum"], checksum(stored["record"])
    except UNREADABLE:
        raise ResultError(f"{path.name} is damaged: truncated, or no result at all") from None
    if said != found:
        raise ResultError(f"{path.name} is damaged: its content does not match its checksum")
    if not isinstance(record, dict) or record.pop("key", None) != key:
        raise ResultError(f"{path.name} is damaged: it holds the result of another point")
    return record


def text_of(path: Path) -> str:
    """The text of a file that may be ours; otherwise a ValueError whose few words do not name the file."""
    try:
        if not path.is_file():  # to read a pipe would take for ever
            raise ValueError("it is no file")
        if path.stat().st_size > LARGEST:
            raise ValueError(f"it has {path.stat().st_size} bytes, more than the {LARGEST} that one of ours may have")
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("it is no text") from None
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from None


def replace(path: Path, text: str) -> None:
    """Write a file in one step, so that all see the old content or the new; a folder in its place is put aside."""
    with _clear_errors(path.parent):
        name = path.with_name(f"{path.stem}.{uuid.uuid4().hex}.tmp")
        try:
            with open(name, "x", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            _make_way(path)
            os.replace(name, path)
        except BaseException:
            name.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)


@contextmanager
def claim(folder: Path, key: str) -> Iterator[bool]:
    """Hold the lock of one point, if no other process does; say whether it is ours."""
    lock = FileLock(folder / f"{key}.lock", blocking=False)
    with _clear_errors(folder):
        _make_way(folder / f"{key}.lock")
        try:
            lock.acquire()
        except Timeout:
            pass
    try:
        yield lock.is_locked
    finally:
        lock.release()


def checksum(content: object) -> str:
    """SHA-256 of some content's JSON, whatever the order of names; stored with it, so that a change is noticed."""
    text = json.dumps(content, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _make_way(path: Path) -> None:
    """Rename a file or folder that has the name of one of our files, since somebody may need its content."""
    if os.path.lexists(path) and (path.is_symlink() or not path.is_file()):
        with suppress(FileNotFoundError):  # another process was faster
            path.rename(path.with_suffix(f".{uuid.uuid4().hex}.aside"))


@contextmanager
def _clear_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        known: dict[int | None, str] = {errno.ENOSPC: "the disk is full", errno.EROFS: "the disk is read-only"}
        reason = known.get(error.errno, error.strerror or str(error))
        raise StorageError(
            f"cannot write to {folder}: {reason}; what was finished is kept, start again to go on"
        ) from error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
