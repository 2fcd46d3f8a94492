"""The ``superposition`` command: the only place that prints. Everything slow is imported when it is used."""

import os
import sys

import click

from superposition.cli.models import diagnose, record_group, survey
from superposition.cli.sweeps import runs_group

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # of this process's workers: see `superposition.book`


@click.group()
@click.version_option(package_name="superposition")
def main():
    """Superposition, the book that runs: theory, training and evidence for four texts.

    The formulas are a library: python -c "import superposition; help(superposition)" lists it.
    """
    if sys.stderr is None:  # closed: the next file would get its number, and the progress bar could not be written
        sys.stderr = os.fdopen(os.dup2(os.open(os.devnull, os.O_WRONLY), 2), "w")


for command in (runs_group, record_group, diagnose, survey):
    main.add_command(command)
