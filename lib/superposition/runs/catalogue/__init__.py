"""The named runs, a module for each chapter or page. Here they come together."""

from superposition.runs.catalogue import (
    best,
    beyond,
    constant,
    counts,
    decoders,
    fields,
    frequencies,
    gates,
    landscape,
    noise,
    rug,
    toy,
)

MODULES = (toy, rug, beyond, best, decoders, counts, frequencies, constant, noise, fields, landscape, gates)
RUNS = {run.name: run for module in MODULES for run in module.RUNS}
