"""The origin of a result: commit, versions, threads and processor."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path

LIBRARIES = ("superposition", "numpy", "scipy", "torch")


def machine() -> dict:
    """All that the numbers of this process may depend on besides the code: ``versions``, ``cpu`` and ``threads``."""
    return {"versions": versions(), "cpu": cpu(), "threads": threads()}


@cache
def versions() -> dict[str, str]:
    """Versions of Python, this library and what its numbers depend on."""
    found = {name: metadata.version(name) for name in LIBRARIES}
    return {"python": ".".join(map(str, sys.version_info[:3])), **found}


@cache
def cpu() -> str:
    """Name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


def threads() -> int:
    """Largest number of threads that a maths library of this process may use."""
    from threadpoolctl import threadpool_info

    found = [library["num_threads"] for library in threadpool_info()]
    if "torch" in sys.modules:
        found.append(sys.modules["torch"].get_num_threads())
    return max(found, default=1)


def limit_threads(number: int) -> None:
    """Let the maths libraries that this process has loaded use this number of threads."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(number)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(number)


def commit(files: Iterable[Path]) -> str | None:
    """The commit that files of one repository are at, with "+changes" where one differs; None outside of git."""
    names = sorted(map(str, files))
    here = Path(names[0]).parent
    if not git(here, "ls-files", "--", names[0]):
        return None
    return git(here, "rev-parse", "HEAD") + ("+changes" if git(here, "status", "--porcelain", "--", *names) else "")


def is_in_head(folder: Path, commit: str) -> bool:
    """Whether HEAD contains a commit, given by its whole hash: anything else could be an option of git."""
    return bool(re.fullmatch("[0-9a-f]{40}", commit)) and git(folder, "merge-base", commit, "HEAD") == commit


def git(folder: Path, *arguments: str) -> str:
    """The output of git in a folder; empty where it fails or is missing."""
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
