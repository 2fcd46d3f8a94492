"""The named runs, a module for each chapter or page. Here they come together."""

from superposition.catalogue import rug, toy

RUNS = {run.name: run for module in (toy, rug) for run in module.RUNS}
