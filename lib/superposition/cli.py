"""The ``superposition`` command: the only place that prints. Everything slow is imported when it is used."""

import os
import signal
import sys
import threading
from contextlib import contextmanager

import click

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # of this process's workers: see `superposition.book`

GRID = click.option("--grid", type=click.Choice(["small", "full"]), default="full", show_default=True,
                    help="A trial of seconds, or what the figure shows.")  # fmt: skip
RESULTS = click.option("--results", type=click.Path(), metavar="FOLDER",
                       help="Where the results of all runs are; by default in the user's data folder.")  # fmt: skip
NAME = click.argument("name")


@click.group()
@click.version_option(package_name="superposition")
def main():
    """Superposition, the book that runs: theory, training and evidence for four texts.

    The formulas are a library: python -c "import superposition; help(superposition)" tells what there is.
    """


@main.group("runs")
def runs_group():
    """Named runs: the experiments behind the figures, to start, resume and collect."""


@runs_group.command("list")
def list_runs():
    """List the named runs."""
    with _refusals():
        from superposition import runs

        for run in runs.RUNS.values():
            small, full = (len(runs.points(run, grid)) for grid in runs.GRIDS)
            cost = f"full grid: {full} points, {_cost(run, 'full')}; small: {small} points"
            click.echo(f"{run.name}\n    {run.feeds}\n    {cost}")


@runs_group.command()
@NAME
def show(name):
    """Show what a run computes, where, and at what cost."""
    with _refusals():
        from superposition import runs
        from superposition.runs import fingerprint

        run = runs.find(name)
        code = f"library code: {fingerprint.of(run.function)}"
        lines = [f"{run.name}: {run.feeds}", f"function: {run.function}", code]
        for grid in runs.GRIDS:
            lines.append(f"{grid} grid: {len(runs.points(run, grid))} points, {_cost(run, grid)}")
            for block in getattr(run, grid):
                lines.append("    " + "; ".join(f"{field} = {_listed(values)}" for field, values in block.items()))
        click.echo("\n".join(lines))


@runs_group.command()
@NAME
@GRID
@click.option("--device", default="auto", show_default=True, help="auto, cpu, or cuda where there is one.")
@click.option("--workers", type=int, metavar="N", help="Processes of this machine; by default one per core.")
@click.option("--dask", metavar="ADDRESS", help="A scheduler of Dask that you trust, instead of this machine.")
@RESULTS
def start(name, grid, device, workers, dask, results):
    """Compute the points of a run that are still missing."""
    with _refusals():
        if workers is not None and dask is not None:
            raise ValueError("--workers and --dask exclude each other: a scheduler has its own workers")
        from superposition import runs

        run, folder = _run_and_folder(name, results)
        found = runs.status(run, grid, folder)
        for point, reason in found.damaged.items():
            click.echo(f"damaged, computed again: {point}: {reason}", err=True)
        if device != "auto" and dask is None:
            from superposition.devices import resolve_device

            resolve_device(device)
        outcome = _swept(run, grid, folder, device, workers, dask)
    _report(run, grid, folder, outcome)


@runs_group.command()
@NAME
@GRID
@RESULTS
def status(name, grid, results):
    """Show how much of a run is finished."""
    with _refusals():
        from superposition import runs

        run, folder = _run_and_folder(name, results)
        found = runs.status(run, grid, folder)
        click.echo("\n".join(_about_the_table(run)))
        total = len(found.done) + len(found.missing) + len(found.damaged)
        click.echo(f"{name}, {grid} grid: results of {len(found.done)} of {total} points in {folder}, "
                   f"{len(found.damaged)} damaged")  # fmt: skip
        for point, reason in found.damaged.items():
            click.echo(f"damaged: {point}: {reason}")
        if found.others:
            click.echo(f"{found.others} more files are of another grid or of other library code")


@runs_group.command()
@NAME
@GRID
@RESULTS
def collect(name, grid, results):
    """Write the table of a finished run, and its provenance, under book/data."""
    with _refusals():
        from superposition.runs import tables

        run, folder = _run_and_folder(name, results)
        path = tables.collect(run, grid, folder, tables.folder())
        click.echo(f"wrote {path} and {path.with_suffix('.json').name}")


@runs_group.command()
@click.argument("name", required=False)
@click.option("--all", "everything", is_flag=True, help="All runs that have a stored table.")
@click.option("--points", type=int, default=3, show_default=True, metavar="N", help="Points to replay of each table.")
@click.option("--minutes", type=float, default=60, show_default=True, metavar="M", help="For all of it together.")
def certify(name, everything, points, minutes):
    """Replay points of a table with the code that made it and with today's; sign it where all bits agree."""
    with _refusals():
        if bool(name) == everything:
            raise ValueError("certify takes either the name of a run or --all")
        from superposition import runs
        from superposition.runs import certify as certifying
        from superposition.runs import tables

        chosen = [run for run in runs.RUNS.values() if tables.is_stored(run.name)] if everything else [runs.find(name)]
        reports = []
        with _bar("certify") as progress:
            for report in certifying.certify(chosen, points=points, minutes=minutes, progress=progress):
                reports.append(report)
                _say_certified(report)
    sys.exit(any(report.commit and not report.signed for report in reports))


@main.group("record")
def record_group():
    """Records: whether a code of yours is better than the best known."""


@record_group.command("check")
@click.argument("file")
@click.option("--p", type=float, required=True, help="Probability that a feature is on, between 0 and 1.")
def check_record(file, p):
    """Measure the weights in FILE and say whether they are a record.

    FILE is a safetensors file with W_in (nd, ns), W_out (ns, nd) and b (ns), or with W (ns, ns) and b.
    """
    with _refusals():
        from superposition import weights
        from superposition.diagnosis import record_verifier

        found = weights.load(file)
        nd = len(found["W_in"]) if "W_in" in found else None
        click.echo(record_verifier.check_record(found["W"], found["b"], p, nd=nd))


@main.command()
@click.argument("file")
@click.option("--p", type=float, required=True, help="Probability that a feature is on, between 0 and 1.")
@click.option("--figure", type=click.Path(), metavar="PATH", help="Where to draw it: .svg, .png or .pdf.")
@click.option("--samples", type=int, metavar="N", help="Feature vectors to simulate; by default a few seconds of them.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the feature vectors.")
def diagnose(file, p, figure, samples, seed):
    """Measure the autoencoder in FILE: noise, partners, loudness, loss, and how far it is from the best.

    FILE is a safetensors file with W_in (nd, ns), W_out (ns, nd) and b (ns), or with W (ns, ns) and b.
    """
    with _refusals():
        from superposition.diagnosis import autoencoder

        path = None if figure is None else _drawable(figure)
        with _bar("simulation", "vector") as progress:
            found = autoencoder.diagnose(file, p=p, samples=samples, seed=seed, progress=progress)
        click.echo(found)
        if path is not None:
            from superposition.diagnosis import picture

            picture.draw(found).savefig(path, dpi=150)
            click.echo(f"drew {path}")


def _drawable(path):
    """The path of a picture, or a refusal before anything has been computed."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.use("Agg")
    allowed = sorted(Figure().canvas.get_supported_filetypes())
    if path.rpartition(".")[2] not in allowed:
        raise ValueError(f"figure = {path} has an unknown ending; allowed: {', '.join(allowed)}")
    return path


def _say_certified(report):
    if not report.commit:
        click.echo(f"{report.run}: valid already, nothing to replay")
        return
    state = "signed" if report.signed else "NOT signed"
    click.echo(f"{report.run}: {len(report.same)} points have the same bits with {report.commit[:7]} and with today's "
               f"code, {report.as_stored} of them those of the table; {state}")  # fmt: skip
    for point in report.same:
        click.echo(f"    replayed: {point}")
    for point, difference in report.differing.items():
        click.echo(f"    differs: {point}: {difference}")
    for point in report.left:
        click.echo(f"    no time for: {point}")


def _run_and_folder(name, parent):
    from pathlib import Path

    from superposition import runs
    from superposition.runs import store

    run = runs.find(name)
    if parent == "":
        raise ValueError("results = '' names no folder; allowed: a folder, or no --results at all")
    return run, Path(parent or store.default_folder()) / run.name


def _about_the_table(run):
    """What there is of a stored table, whether it is current, and what it was made with that differs from today."""
    from superposition.runs import provenance, tables

    try:
        table = tables.load(run.name, run=run)
    except FileNotFoundError:
        return [f"{run.name} has no stored table"]
    state = f"is not current: {table.note}" if table.note else "is what the run would give now"
    today = provenance.versions()
    others = tables.other_versions(table, today)
    return [
        f"The stored table of {run.name} has {len(table.provenance['seconds'])} points and {state}",
        *(f"It was made with {name} {', '.join(was)}, here is {today[name]}" for name, was in others.items()),
    ]


def _swept(run, grid, folder, device, workers, dask):
    from superposition.runs import executors, sweep

    with _bar(run.name) as progress:
        if dask is None:
            workers = executors.cores() if workers is None else workers
            return sweep.locally(run, grid, folder, workers=workers, device=device, progress=progress)
        with executors.dask_pool(dask) as (executor, in_flight, works):
            options = {"in_flight": in_flight, "works": works, "device": device, "progress": progress}
            return sweep.on_executor(run, grid, folder, executor, **options)


@contextmanager
def _bar(name, unit="point"):
    from tqdm import tqdm

    shown = []

    def progress(done, total):
        if not shown:  # only now is it clear that there is something to do
            shown.append(tqdm(desc=name, unit=unit, smoothing=0, mininterval=1, dynamic_ncols=True))
        shown[0].total = total
        shown[0].update(done - shown[0].n)

    try:
        yield progress
    finally:
        for bar in shown:
            bar.close()


def _report(run, grid, folder, outcome):
    from superposition import runs

    found = runs.status(run, grid, folder)
    total = len(found.done) + len(found.missing) + len(found.damaged)
    click.echo(f"{run.name}, {grid} grid: {len(found.done)} of {total} points finished, {outcome.computed} of them now")
    for point, reason in outcome.failed.items():
        click.echo(f"failed: {point}: {reason}", err=True)
    if len(found.done) < total:
        click.echo("The same command computes what is missing.", err=True)
        sys.exit(1)


@contextmanager
def _refusals():
    """Say in one sentence what went wrong, and end with an exit code that tells."""
    try:
        with _terminated_as_interrupted():
            yield
    except (ValueError, OSError) as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("superposition"):
            raise
        extra = "book" if error.name == "matplotlib" else "train"
        click.echo(f"Error: this needs {error.name}; pip install 'superposition[{extra}]' brings it", err=True)
        sys.exit(2)
    except KeyboardInterrupt as stop:
        click.echo("\nStopped. What was finished is kept; the same command goes on from there.", err=True)
        sys.exit(128 + (stop.args[0] if stop.args else signal.SIGINT))


@contextmanager
def _terminated_as_interrupted():
    def interrupt(number, frame):
        raise KeyboardInterrupt(number)

    if threading.current_thread() is not threading.main_thread():  # only the main thread hears signals
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _cost(run, grid):
    hours = run.hours[grid]
    return f"about {f'{hours:.2g} hours' if hours >= 1 else f'{60 * hours:.2g} minutes'} on {run.hardware}"


def _listed(values):
    return ", ".join(map(str, values))
