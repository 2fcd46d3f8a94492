"""The named runs, a module for each chapter or page. Here they come together."""

from superposition.runs.catalogue import beyond, constant, counts, fields, gates, noise, rug, toy

RUNS = {run.name: run for module in (toy, rug, beyond, counts, constant, noise, fields, gates) for run in module.RUNS}
