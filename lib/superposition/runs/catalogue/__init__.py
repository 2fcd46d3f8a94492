"""The named runs, a module for each chapter or page. Here they come together."""

from superposition.runs.catalogue import beyond, counts, fields, gates, landscape, noise, rug, toy

RUNS = {run.name: run for module in (toy, rug, beyond, counts, noise, fields, landscape, gates) for run in module.RUNS}
