"""The named runs, a module for each chapter or page. Here they come together."""

from superposition.catalogue import rug

RUNS = {run.name: run for module in (rug,) for run in module.RUNS}
