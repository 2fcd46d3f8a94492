"""What a result was made with: commits of files in sub-packages, versions, processor and threads."""

import platform
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import threadpoolctl
from repositories import git
from superposition.runs import provenance, tables


def test_commit_sees_changes_in_a_sub_package(tmp_path):
    files = [tmp_path / "package" / "inner" / "deep.py", tmp_path / "package" / "top.py"]
    files[0].parent.mkdir(parents=True)
    for path in files:
        path.write_text("x = 1\n")
    assert provenance.commit(files) is None
    for arguments in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "all"]):
        git(tmp_path, *arguments)
    clean = provenance.commit(files)
    assert len(clean) == 40 and clean.isalnum()
    (tmp_path / "package" / "other.py").touch()
    assert provenance.commit(files) == clean
    files[0].write_text("x = 2\n")
    assert provenance.commit(files) == f"{clean}+changes"
    assert provenance.commit(files[1:]) == clean
    assert provenance.is_in_head(tmp_path, clean)
    assert not any(provenance.is_in_head(tmp_path, one) for one in ("0" * 40, "HEAD", ""))


def test_machine_tells_versions_processor_and_threads():
    found = provenance.machine()
    assert set(found["versions"]) == {"python", "superposition", "numpy", "scipy", "torch"}
    assert found["cpu"] and found["threads"] >= 1
    assert found["versions"]["python"] == "{}.{}.{}".format(*sys.version_info)


def test_the_processor_is_what_the_system_calls_it(monkeypatch):
    look = provenance.cpu.__wrapped__  # not the answer that was kept
    monkeypatch.setattr(Path, "read_text", lambda path, encoding: "vendor : A\nmodel name : B: 2 GHz\nmodel name : C\n")
    assert look() == "B: 2 GHz"
    monkeypatch.setattr(Path, "read_text", lambda path, encoding: "vendor : A\n")
    for processor, expected in (("a processor", "a processor"), ("", "a machine")):
        monkeypatch.setattr(platform, "processor", lambda said=processor: said)
        monkeypatch.setattr(platform, "machine", lambda: "a machine")
        assert look() == expected


def test_threads_are_the_most_that_a_library_may_use(monkeypatch):
    monkeypatch.setattr(threadpoolctl, "threadpool_info", lambda: [{"num_threads": 2}, {"num_threads": 3}])
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(get_num_threads=lambda: 5))
    assert provenance.threads() == 5
    monkeypatch.delitem(sys.modules, "torch")
    assert provenance.threads() == 3
    monkeypatch.setattr(threadpoolctl, "threadpool_info", list)
    assert provenance.threads() == 1


def test_git_is_asked_in_a_folder_and_says_nothing_where_it_fails(monkeypatch, tmp_path):
    asked, code = [], 0

    def runs(command, **how):
        asked.append((command, how))
        return SimpleNamespace(returncode=code, stdout=" said\n")

    monkeypatch.setattr(subprocess, "run", runs)
    assert provenance.git(tmp_path, "log", "-1") == "said"
    how = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 10}
    assert asked == [(["git", "log", "-1"], how)]
    code = 1
    assert provenance.git(tmp_path, "log") == ""
    for error in (FileNotFoundError(), subprocess.TimeoutExpired("git", 10)):
        monkeypatch.setattr(subprocess, "run", lambda *about, error=error, **how: (_ for _ in ()).throw(error))
        assert provenance.git(tmp_path, "log") == ""


def test_other_versions_are_those_that_differ():
    today = {"numpy": "2.0", "torch": "3.0"}
    table = tables.Table({}, {"versions": [{"numpy": "1.9", "torch": "3.0"}, {"numpy": "2.0", "torch": "3.0"}]}, "")
    assert tables.other_versions(table, today) == {"numpy": ["1.9", "2.0"]}


def test_a_limit_of_threads_reaches_every_library_that_is_loaded(monkeypatch):
    said = []
    monkeypatch.setattr(threadpoolctl, "threadpool_limits", said.append)
    monkeypatch.setitem(
        sys.modules, "torch", SimpleNamespace(set_num_threads=lambda number: said.append(f"torch {number}"))
    )
    provenance.limit_threads(3)
    monkeypatch.delitem(sys.modules, "torch")
    provenance.limit_threads(2)
    assert said == [3, "torch 3", 2]
