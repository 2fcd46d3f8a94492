"""The table of the benchmarks: measured, printed, stored beside this file; fails where a ratio misses its limit."""

import argparse
import csv
import importlib
import os
import platform
import sys
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")  # before numpy is imported
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"  # as in the chapters and on the command line
HERE = Path(__file__).parent
TABLE = HERE / "bench.csv"


def machine():
    """The processor by name where the system tells it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores, one thread, CPU time"


def load():
    """Processes that want a core, as a share of the cores; more than 1 means a busy machine."""
    return os.getloadavg()[0] / os.cpu_count()


def rows(chosen):
    """Measure the rows of every ``rows_*.py`` beside this file, one after the other."""
    from timing import measured

    for path in sorted(HERE.glob("rows_*.py")):
        for group in importlib.import_module(path.stem).GROUPS:
            if not chosen or group.__name__ in chosen:
                yield from ({**measured(row), "machine": machine(), "load": load()} for row in group())


def missed(row):
    """Whether a row was measured, and took longer than it may."""
    return row["ratio"] is not None and row["ratio"] > row["limit"]


def printed(row):
    """One line of the table for people."""
    if row["skipped"]:
        return f"        {row['what']}: skipped, {row['skipped']}"
    return (
        f"{'MISSED' if missed(row) else '':7} {row['what']}: {row['ours_ms']:.3g} ms = {row['ratio']:.3g} of "
        f"{row['alternative']} ({row['alternative_ms']:.3g} ms); limit {row['limit']:.3g}"
    )


def store(found, *, kept):
    """Write the table; other rows of the stored one stay if they are to be kept."""
    if kept and TABLE.exists():
        new = {(row["what"], row["alternative"]) for row in found}
        with TABLE.open(newline="") as file:
            old = [row for row in csv.DictReader(file) if (row["what"], row["alternative"]) not in new]
        found = [*old, *found]
    with TABLE.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


def main():
    """Measure, print, store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "groups", nargs="*", help="groups of rows to measure again in the table; all, and growth, if none"
    )
    chosen, found = parser.parse_args().groups, []
    for row in rows(chosen):
        found.append(row)
        print(printed(row), flush=True)
    store([{k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()} for row in found], kept=bool(chosen))
    if not chosen:
        importlib.import_module("growth").store()
    return any(map(missed, found))


if __name__ == "__main__":
    sys.exit(main())
