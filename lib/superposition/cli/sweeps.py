"""The commands of named runs: `superposition runs list`, `show`, `start`, `status`, `collect` and `certify`."""

import sys

import click

from superposition.cli.terminal import REAL, WHOLE, bar, refusals, say

GRID = click.option("--grid", type=click.Choice(["small", "full"]), default="full", show_default=True,
                    help="A trial of seconds, or what the figure shows.")  # fmt: skip
RESULTS = click.option("--results", type=click.Path(), metavar="FOLDER",
                       help="Where the results of all runs are; by default in the user's data folder.")  # fmt: skip
NAME = click.argument("name")


@click.group("runs")
def runs_group():
    """Named runs: the experiments behind the figures, to start, resume and collect."""


@runs_group.command("list")
def list_runs():
    """List the named runs."""
    with refusals():
        from superposition import runs

        for run in runs.RUNS.values():
            small, full = (len(runs.points(run, grid)) for grid in runs.GRIDS)
            cost = f"full grid: {full} points, {_cost(run, 'full')}; small: {small} points"
            say(f"{run.name}\n    {run.feeds}\n    {cost}")


@runs_group.command()
@NAME
def show(name):
    """Show what a run computes, where, and at what cost."""
    with refusals():
        from defprint import fingerprint

        from superposition import runs

        run = runs.find(name)
        code = f"library code: {fingerprint.of(run.function)}"
        lines = [f"{run.name}: {run.feeds}", f"function: {run.function}", code]
        for grid in runs.GRIDS:
            lines.append(f"{grid} grid: {len(runs.points(run, grid))} points, {_cost(run, grid)}")
            for block in getattr(run, grid):
                lines.append("    " + "; ".join(f"{field} = {_listed(values)}" for field, values in block.items()))
        say("\n".join(lines))


@runs_group.command()
@NAME
@GRID
@click.option(
    "--device", default="auto", show_default=True, help="auto, cpu, or an accelerator of this machine, as cuda:1."
)
@click.option("--workers", type=WHOLE, metavar="N", help="Processes of this machine; by default one per core.")
@click.option("--dask", metavar="ADDRESS", help="A scheduler of Dask that you trust, instead of this machine.")
@RESULTS
def start(name, grid, device, workers, dask, results):
    """Compute the points of a run that are still missing."""
    with refusals():
        if workers is not None and dask is not None:
            raise ValueError("--workers and --dask exclude each other: a scheduler has its own workers")
        from superposition import runs

        run, folder = _run_and_folder(name, results)
        found = runs.status(run, grid, folder)
        for point, reason in found.damaged.items():
            say(f"damaged, computed again: {point}: {reason}", err=True)
        if not run.takes_device and device not in ("auto", "cpu"):
            raise ValueError(
                f"device = {device!r} does not serve run {run.name}, which computes in numpy; allowed: cpu"
            )
        if run.takes_device and dask is None:
            from superposition.devices import accelerator

            on = accelerator(device)
            if device == "auto" and on.type != "cpu":
                say(f"device: auto is {on} here", err=True)
        outcome = _swept(run, grid, folder, device, workers, dask)
    _report(run, grid, folder, outcome)


@runs_group.command()
@click.argument("name", required=False)
@GRID
@RESULTS
def status(name, grid, results):
    """Show how much of a run is finished; without a name, of all of them."""
    with refusals():
        from superposition import runs

        whole = [_say_status(*_run_and_folder(one, results), grid) for one in ([name] if name else runs.RUNS)]
    sys.exit(0 if all(whole) else 2)


@runs_group.command()
@NAME
@GRID
@RESULTS
def collect(name, grid, results):
    """Write the table of a finished run, and its provenance, under book/data."""
    with refusals():
        from superposition.runs import tables

        run, folder = _run_and_folder(name, results)
        path = tables.collect(run, grid, folder, tables.folder())
        say(f"wrote {path} and {path.with_suffix('.json').name}")


@runs_group.command(epilog="Exit code: 0 all agree, 1 time ran out, 2 nothing could be replayed, 3 a point differs.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "everything", is_flag=True, help="All runs that have a stored table.")
@click.option("--blocks-only", is_flag=True, help="One point a block, for tables that will soon be made again.")
@click.option("--minutes", type=REAL, default=60, show_default=True, metavar="M", help="For all of it together.")
def certify(names, everything, blocks_only, minutes):
    """Replay points that cover a table's grid; sign the table if today's code still gives its values."""
    with refusals():
        if bool(names) == everything:
            raise ValueError("certify takes either names of runs or --all")
        from superposition import runs
        from superposition.runs import certify as certifying
        from superposition.runs import tables

        chosen = map(runs.find, names or filter(tables.is_stored, runs.RUNS))
        reports = []
        with bar("certify") as progress:
            for report in certifying.certify(chosen, minutes=minutes, blocks_only=blocks_only, progress=progress):
                reports.append(report)
                say(report, err=bool(report.refused))
    _say_unreached(reports)
    sys.exit(max((report.exit_code for report in reports), default=0))


def _say_unreached(reports):
    unreached = [report for report in reports if report.unreached]
    if unreached:
        say("No replay reaches these, which have no point of at most a minute or cost more than an hour:")
    for report in unreached:
        say(f"    {report.run}: {', '.join(report.unreached)}")


def _run_and_folder(name, parent):
    from pathlib import Path

    from superposition import runs
    from superposition.runs import store

    run = runs.find(name)
    if parent == "":
        raise ValueError("results = '' names no folder; allowed: a folder, or no --results at all")
    return run, Path(parent or store.default_folder()) / run.name


def _say_status(run, folder, grid):
    """Print how much of a run is finished; return whether nothing was refused."""
    from superposition.runs import account

    lines, refused = [], []
    for told in (lambda: account.of_table(run), lambda: account.of_results(run, grid, folder)):
        try:
            lines += told()
        except (ValueError, OSError) as error:  # what is damaged does not hide the rest
            refused.append(f"Error: {error}")
    for line in lines:
        say(line)
    for line in refused:
        say(line, err=True)
    return not refused


def _swept(run, grid, folder, device, workers, dask):
    from superposition.runs import executors, sweep

    with bar(run.name) as progress:
        if dask is None:
            workers = executors.cores() if workers is None else workers
            return sweep.locally(run, grid, folder, workers=workers, device=device, progress=progress)
        with executors.dask_pool(dask) as (executor, in_flight, works):
            options = {"in_flight": in_flight, "works": works, "device": device, "progress": progress}
            return sweep.on_executor(run, grid, folder, executor, **options)


def _report(run, grid, folder, outcome):
    from superposition import runs

    found = runs.status(run, grid, folder)
    total = len(found.done) + len(found.missing) + len(found.damaged)
    say(f"{run.name}, {grid} grid: {len(found.done)} of {total} points finished, {outcome.computed} of them now")
    for point, reason in outcome.failed.items():
        say(f"failed: {point}: {reason}", err=True)
    if len(found.done) < total:
        say("The same command computes what is missing.", err=True)
        sys.exit(1)


def _cost(run, grid):
    hours = run.hours[grid]
    return f"about {f'{hours:.2g} hours' if hours >= 1 else f'{60 * hours:.2g} minutes'} on {run.hardware}"


def _listed(values):
    return ", ".join(map(str, values))
