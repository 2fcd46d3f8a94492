"""The ``superposition`` command: the only place that prints. Everything slow is imported when it is used."""

import os
import signal
import sys
import threading
from contextlib import contextmanager, suppress

import click

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # of this process's workers: see `superposition.book`

GRID = click.option("--grid", type=click.Choice(["small", "full"]), default="full", show_default=True,
                    help="A trial of seconds, or what the figure shows.")  # fmt: skip
RESULTS = click.option("--results", type=click.Path(), metavar="FOLDER",
                       help="Where the results of all runs are; by default in the user's data folder.")  # fmt: skip
NAME = click.argument("name")


class _Plain(click.ParamType):
    """A number in the digits 0 to 9 without separators; Python alone would take others as well."""

    def __init__(self, kind):
        self.kind, self.name = kind, kind.name

    def convert(self, value, param, ctx):
        if isinstance(value, str):
            from superposition import checks

            if not checks.plainly_written(value):
                self.fail(f"{value!r} is not written with the digits 0 to 9, without separators.", param, ctx)
        return self.kind.convert(value, param, ctx)


WHOLE, REAL = _Plain(click.INT), _Plain(click.FLOAT)


@click.group()
@click.version_option(package_name="superposition")
def main():
    """Superposition, the book that runs: theory, training and evidence for four texts.

    The formulas are a library: python -c "import superposition; help(superposition)" lists it.
    """
    if sys.stderr is None:  # closed: the next file would get its number, and the progress bar could not be written
        sys.stderr = os.fdopen(os.dup2(os.open(os.devnull, os.O_WRONLY), 2), "w")


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
            _say(f"{run.name}\n    {run.feeds}\n    {cost}")


@runs_group.command()
@NAME
def show(name):
    """Show what a run computes, where, and at what cost."""
    with _refusals():
        from defprint import fingerprint

        from superposition import runs

        run = runs.find(name)
        code = f"library code: {fingerprint.of(run.function)}"
        lines = [f"{run.name}: {run.feeds}", f"function: {run.function}", code]
        for grid in runs.GRIDS:
            lines.append(f"{grid} grid: {len(runs.points(run, grid))} points, {_cost(run, grid)}")
            for block in getattr(run, grid):
                lines.append("    " + "; ".join(f"{field} = {_listed(values)}" for field, values in block.items()))
        _say("\n".join(lines))


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
    with _refusals():
        if workers is not None and dask is not None:
            raise ValueError("--workers and --dask exclude each other: a scheduler has its own workers")
        from superposition import runs

        run, folder = _run_and_folder(name, results)
        found = runs.status(run, grid, folder)
        for point, reason in found.damaged.items():
            _say(f"damaged, computed again: {point}: {reason}", err=True)
        if not run.takes_device and device not in ("auto", "cpu"):
            raise ValueError(
                f"device = {device!r} does not serve run {run.name}, which computes in numpy; allowed: cpu"
            )
        if run.takes_device and dask is None:
            from superposition.devices import accelerator

            on = accelerator(device)
            if device == "auto" and on.type != "cpu":
                _say(f"device: auto is {on} here", err=True)
        outcome = _swept(run, grid, folder, device, workers, dask)
    _report(run, grid, folder, outcome)


@runs_group.command()
@click.argument("name", required=False)
@GRID
@RESULTS
def status(name, grid, results):
    """Show how much of a run is finished; without a name, of all of them."""
    with _refusals():
        from superposition import runs

        whole = [_say_status(*_run_and_folder(one, results), grid) for one in ([name] if name else runs.RUNS)]
    sys.exit(0 if all(whole) else 2)


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
        _say(f"wrote {path} and {path.with_suffix('.json').name}")


@runs_group.command(epilog="Exit code: 0 all agree, 1 time ran out, 2 nothing could be replayed, 3 a point differs.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "everything", is_flag=True, help="All runs that have a stored table.")
@click.option("--blocks-only", is_flag=True, help="One point a block, for tables that will soon be made again.")
@click.option("--minutes", type=REAL, default=60, show_default=True, metavar="M", help="For all of it together.")
def certify(names, everything, blocks_only, minutes):
    """Replay points that cover a table's grid; sign the table if today's code still gives its values."""
    with _refusals():
        if bool(names) == everything:
            raise ValueError("certify takes either names of runs or --all")
        from superposition import runs
        from superposition.runs import certify as certifying
        from superposition.runs import tables

        chosen = map(runs.find, names or filter(tables.is_stored, runs.RUNS))
        reports = []
        with _bar("certify") as progress:
            for report in certifying.certify(chosen, minutes=minutes, blocks_only=blocks_only, progress=progress):
                reports.append(report)
                _say(report, err=bool(report.refused))
    _say_unreached(reports)
    sys.exit(max((report.exit_code for report in reports), default=0))


@main.group("record")
def record_group():
    """Records: whether your code is better than the best known one."""


@record_group.command("check")
@click.argument("file")
@click.option("--p", type=REAL, required=True, help="Probability that a feature is on, between 0 and 1.")
@click.option("--instance", type=WHOLE, metavar="N", help="Which of several models, from 0; by default the first.")
def check_record(file, p, instance):
    """Measure the weights in FILE and say whether they are a record.

    FILE is any file of a toy model that `superposition diagnose` opens.
    """
    with _refusals():
        from superposition.diagnosis import record_verifier

        _say(record_verifier.of_file(file, p, instance))


@main.command()
@click.argument("file")
@click.option("--p", type=REAL, help="Probability that a feature is on, between 0 and 1.")
@click.option("--l0", type=REAL, metavar="L0", help="In its place: how many features are on, in the mean.")
@click.option("--firing", type=click.Path(), metavar="FILE", help="In its place: one vector, how often each is on.")
@click.option("--features", type=click.Path(), metavar="FILE", help="In its place: vectors of features or latents.")
@click.option(
    "--x",
    type=click.Path(),
    metavar="FILE",
    help="In its place: inputs of the model; as --features, .npy or .safetensors, a row each.",
)
@click.option("--strength", type=REAL, metavar="X", help="Mean of one that is on; by default 0.5, or the vectors'.")
@click.option("--importance", metavar="0.9^i|FILE", help="Weight of each feature's squared error.")
@click.option("--loss", "loss_as", type=click.Choice(["mean", "sum"]), help="Loss in units of your features, so added.")
@click.option("--instance", type=WHOLE, metavar="N", help="Which of several models, from 0; by default the first.")
@click.option("--reading", type=click.Choice(["product", "tied", "toy", "sae"]),
              help="What a square W is, by default the product; what linear layers are.")  # fmt: skip
@click.option("--b-dec", type=click.Choice(["taken", "kept"]),
              help="Whether b_dec is taken off before the encoder, where a file cannot say.")  # fmt: skip
@click.option("--activation", type=click.Choice(["relu", "topk", "jumprelu"]),
              help="Which latents pass, where a file cannot say.")  # fmt: skip
@click.option("--k", type=WHOLE, metavar="K", help="How many latents of TopK pass, where a file cannot say.")
@click.option("--ignore", multiple=True, metavar="NAME",
              help="An array or setting without a part in the forward pass; may be repeated.")  # fmt: skip
@click.option("--figure", type=click.Path(), metavar="PATH", help="Where to draw it: .svg, .png or .pdf.")
@click.option(
    "--samples", type=WHOLE, metavar="N", help="Feature vectors to simulate; by default a few seconds of them."
)
@click.option("--seed", type=WHOLE, default=0, show_default=True, help="Seed of the feature vectors.")
def diagnose(file, firing, figure, **options):
    """Measure the autoencoder in FILE: what it is, what it loses, and how far it is from the best.

    FILE is .safetensors, .npz or, with torch, .pt, or the folder of a sparse autoencoder. It holds W_in, W_out and b;
    or encoder.weight, decoder.weight and their biases; or W_enc, W_dec, b_enc and b_dec; or W, tied or the product,
    with b or b_final.
    """
    with _refusals():
        from superposition.diagnosis import autoencoder

        path = None if figure is None else _drawable(figure)
        if firing is not None:
            options["p"] = _density(firing, options["p"])
        with _bar("diagnosis", "step", delay=2) as progress:
            found = autoencoder.diagnose(file, progress=progress, **options)
        _say(found)
        if path is not None:
            from superposition.diagnosis import picture

            picture.draw(found, title=os.path.basename(os.path.normpath(file))).savefig(path, dpi=150)
            _say(f"drew {path}")


@main.command()
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER...")
@click.option("--l0", type=REAL, metavar="L0", help="How many latents are on, of the files that do not say it.")
@click.option("--table", type=click.Path(), required=True, metavar="PATH", help="Where to write the table, as CSV.")
@click.option("--figure", type=click.Path(), metavar="PATH", help="Where to draw it: .svg, .png or .pdf.")
def survey(folders, l0, table, figure):
    """Measure every file of weights in the FOLDERs: one table, and one figure that places all of them.

    A file that is refused has a row with the reason.
    """
    with _refusals():
        from superposition.diagnosis import survey as surveying

        path = None if figure is None else _drawable(figure)
        table = _writable("table", table)
        with _bar("survey", "file", delay=2) as progress:
            rows = surveying.survey_files(list(folders), l0, progress=progress)
        surveying.write(rows, table)
        refused = sum(bool(row["refused"]) for row in rows)
        _say(f"wrote {table}: {len(rows) - refused} files, and {refused} that were refused")
        if path is not None:
            surveying.draw(rows).savefig(path, dpi=150)
            _say(f"drew {path}")


def _density(path, p):
    """How often each feature is on, from a file, unless the command already gives it."""
    from superposition.diagnosis import files

    if p is not None:
        raise ValueError("--p and --firing exclude each other: either says how often features are on")
    return files.firing(path)


def _drawable(path):
    """The path of a picture, or a refusal before anything has been computed."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.use("Agg")
    allowed = sorted(Figure().canvas.get_supported_filetypes())
    if path.rpartition(".")[2] not in allowed:
        raise ValueError(f"figure = {path} has an unknown ending; allowed: {', '.join(allowed)}")
    return _writable("figure", path)


def _writable(name, path):
    """A path that can be written, or a refusal before anything has been computed."""
    folder = os.path.dirname(path) or "."
    if os.path.isdir(path) or not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"{name} = {path} cannot be written; allowed: a file in a folder that can be written")
    return path


def _say_unreached(reports):
    unreached = [report for report in reports if report.unreached]
    if unreached:
        _say("No replay reaches these, which have no point of at most a minute or cost more than an hour:")
    for report in unreached:
        _say(f"    {report.run}: {', '.join(report.unreached)}")


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
        _say(line)
    for line in refused:
        _say(line, err=True)
    return not refused


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
def _bar(name, unit="point", delay=0):
    from tqdm import tqdm

    shown = []

    def progress(done, total):
        if not shown:  # only now is it clear that there is something to do
            shown.append(tqdm(desc=name, unit=unit, smoothing=0, mininterval=1, delay=delay, dynamic_ncols=True))
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
    _say(f"{run.name}, {grid} grid: {len(found.done)} of {total} points finished, {outcome.computed} of them now")
    for point, reason in outcome.failed.items():
        _say(f"failed: {point}: {reason}", err=True)
    if len(found.done) < total:
        _say("The same command computes what is missing.", err=True)
        sys.exit(1)


def _say(text, err=False):
    """Print text that may hold words of a stranger's file, without anything that a terminal would obey."""
    from superposition.checks import printable

    click.echo("\n".join(map(printable, str(text).split("\n"))), err=err)


@contextmanager
def _refusals():
    """Print in one sentence what went wrong, and end with an exit code that is not zero."""
    try:
        with _terminated_as_interrupted():
            yield
    except BrokenPipeError:  # whoever read our output has enough: click knows what to do
        raise
    except (ValueError, OSError) as error:
        _say(f"Error: {error}", err=True)
        sys.exit(2)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("superposition"):
            raise
        wanted = "matplotlib" if error.name == "matplotlib" else "'.[train]' in the book's folder"
        _say(f"Error: this needs {error.name}; pip install {wanted} brings it", err=True)
        sys.exit(2)
    except KeyboardInterrupt as stop:
        with suppress(OSError):  # a terminal that was closed
            _say("\nStopped. What was finished is kept; the same command goes on from there.", err=True)
        sys.exit(128 + (stop.args[0] if stop.args else signal.SIGINT))


@contextmanager
def _terminated_as_interrupted():
    def interrupt(number, frame):
        raise KeyboardInterrupt(number)

    if threading.current_thread() is not threading.main_thread():  # only the main thread hears signals
        yield
        return
    numbers = [number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None))]
    before = {number: signal.getsignal(number) for number in numbers}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:  # nohup
            signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _cost(run, grid):
    hours = run.hours[grid]
    return f"about {f'{hours:.2g} hours' if hours >= 1 else f'{60 * hours:.2g} minutes'} on {run.hardware}"


def _listed(values):
    return ", ".join(map(str, values))
