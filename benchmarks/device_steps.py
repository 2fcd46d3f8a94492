"""What a training step takes on this machine's accelerator, or on its CPU: ``python benchmarks/device_steps.py cuda``.

A line of ``device_steps.csv`` for each size and way, written as it is measured; lines of other devices are kept.
"""

import csv
import sys
import time
from itertools import pairwise
from pathlib import Path
from statistics import median

from superposition import rug
from superposition.devices import accelerator, torch
from superposition.runs import provenance

TABLE = Path(__file__).parent / "device_steps.csv"
SIZES = ((2048, 410), (2048, 1024), (4096, 819), (4096, 2048), (8192, 1638), (8192, 4096))
WAYS = (
    {"products": "tf32", "captured": True},
    {"products": "float32", "captured": True},
    {"products": "float32", "captured": False},
)
P = 0.05


def name_of(on):
    """A device as its maker calls it."""
    here = f"{provenance.cpu()}, {torch.get_num_threads()} thread"
    return torch.cuda.get_device_name(on) if on.type == "cuda" else here


def device_drawn(ns, nd, on, windows=2, **way):
    """Seconds a step, median over windows of 100 steps: the host looks at the end of each, and so waits for it."""
    ticks = []
    show = {"progress": lambda done, total: ticks.append(time.perf_counter())}
    rug.train_on_device(ns, nd, P, steps=100 * (windows + 1), device=str(on), eval_samples=2, **show, **way)
    return median(after - before for before, after in pairwise(ticks)) / 100


def host_drawn(ns, nd, on):
    """Seconds a step of `rug.train_autoencoder`, which draws on the host."""
    return rug.affordable_steps(ns, [nd], seconds=1.0, steps=1, p=P, device=str(on))[1]


def main(device, sizes):
    """Measure all ways at all sizes, and write each as it comes."""
    on = accelerator(device)
    known = list(csv.DictReader(TABLE.open(newline=""))) if TABLE.exists() else []
    rows = [row for row in known if row["device"] != name_of(on)]
    ways = [("device", way) for way in WAYS if on.type == "cuda"]
    for draws, way in [*ways, ("host", {"products": "float32", "captured": False})]:
        for ns, nd in sizes:
            seconds = device_drawn(ns, nd, on, **way) if draws == "device" else host_drawn(ns, nd, on)
            row = {"ns": ns, "nd": nd, "batch": 1024, "draws": draws, **way, "ms": f"{1e3 * seconds:.4g}"}
            rows.append({**row, "device": name_of(on), "torch": torch.__version__})
            print(rows[-1], flush=True)
            with TABLE.open("w", newline="") as file:
                writer = csv.DictWriter(file, list(rows[-1]))
                writer.writeheader()
                writer.writerows(rows)


if __name__ == "__main__":
    main(sys.argv[1], SIZES[: int(sys.argv[2])] if len(sys.argv) > 2 else SIZES)
