"""The named runs, a module for each chapter or page. Here they come together."""

from superposition.catalogue import counts, fields, gates, noise, rug, toy

RUNS = {run.name: run for module in (toy, rug, counts, noise, fields, gates) for run in module.RUNS}
