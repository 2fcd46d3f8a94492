"""Points and trainings on the pretended device and on the CPU: ``python tests/pretended_runs.py NAME…``.

Each name is a run, whose smallest point is computed, or one of `TRAININGS`; a line of JSON says what was counted.
"""

import json
import sys
from functools import partial
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent / "experiments"))
import pretended_device
import test_small_points as small
from superposition import frequencies, receptive, rug, runs, toy
from superposition.rug import device_training
from superposition.runs import agreement

WINDOW = 100  # steps
SIZE, FEW = (32, 8, 0.1), {"eval_samples": 64, "batch": 64}


def fields(steps, device):
    """Receptive fields on batches that the host draws."""
    data = receptive.nlgp_batches(16, 2, 1, 3, 20, seed=0, device=device)
    return receptive.train_fields(receptive.initial_weights(1, 2, 16, seed=0), data, steps=steps, lr=0.1)


TRAININGS = {
    "on the device": partial(rug.train_on_device, *SIZE, **FEW),
    "drawn by the host": partial(rug.train_autoencoder, *SIZE, **FEW),
    "automatic gradients": partial(rug.train_autoencoder, *SIZE, gradients="automatic", **FEW),
    "text": partial(rug.train_autoencoder, *SIZE, protocol="text", **FEW),
    "mean-field": partial(rug.train_meanfield, *SIZE),
    "eigenvalues": partial(rug.descend_on_eigenvalues, *SIZE, batch=64),
    "unequal": partial(frequencies.train_unequal, [0.5, 0.1, 0.1, 0.2], 2, batch=64, eval_samples=64),
    "fields": fields,
    "toy": partial(toy.train_models, 5, 2, sparsity=[0.5], batch=64),
}  # fmt: skip


def step(ns, nd, batch):
    """Ten steps of a training on the device, without a look of the host."""
    on = torch.device(pretended_device.NAME, 0)
    settings = rug.training_settings(ns, nd, 0.1, 20, batch, None, None, "recipe", 0, "cpu")
    wide = nd + -nd % device_training.LANES
    weights = [torch.zeros(shape, device=on) for shape in ((ns, wide), (ns, wide), (ns,))]
    take = device_training._prepared(weights, settings, torch.zeros(20, device=on), torch.Generator(), on)[0]
    take()  # Adam's averages are made in the first
    return counted(lambda: [take() for _ in range(10)])[1]


def counted(call):
    """What a call gives, and what the device counted."""
    pretended_device.seen.clear()
    return call(), dict(pretended_device.seen)


def of_training(name):
    """What a window more of a training's steps counts."""
    train = TRAININGS[name]
    few, many = (
        counted(partial(train, steps=steps, device=pretended_device.NAME))[1] for steps in (WINDOW, 3 * WINDOW)
    )
    return {key: (many[key] - few.get(key, 0)) / 2 for key in many}


def of_run(name):
    """What the smallest point of a run counts, and how its values differ from those of the CPU."""
    change = small.POINTS.get(name, [{}])[0]
    run, point = runs.find(name), small.point(name, change)
    module, function = run.function.split(":")
    compute = getattr(__import__(module, fromlist=[function]), function)
    here = compute(**point, device="cpu")
    there, seen = counted(lambda: compute(**point, device=pretended_device.NAME))
    columns = {key: np.array([value]) for key, value in here.items() if key != "device"}
    values = {key: value for key, value in there.items() if key != "device"}

    def aside(side):
        with small.moved.draws(side):
            return compute(**point, device="cpu")

    differs = agreement.of(columns, 0, values, aside).differs
    return {**seen, "differs": differs, "takes_device": run.takes_device}


class HostStream(torch.Generator):
    """Random numbers of the host, which says that it is of the device that it is asked of."""

    def __new__(cls, device="cpu"):
        made = super().__new__(cls, "cpu")
        made.asked = torch.device(device)
        return made

    device = property(lambda self: self.asked)


def main(names):
    """Print a line for each name; an error is part of it."""
    registered = pretended_device.register()  # for as long as this name is there
    device_training.stream = lambda seed, on: torch.Generator().manual_seed(seed)  # the device has no generator
    torch.Generator = HostStream
    for name in names:
        try:
            if name.startswith("step "):
                found = step(*map(int, name.split()[1:]))
            else:
                found = of_training(name) if name in TRAININGS else of_run(name)
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}"[:400]}
        print(json.dumps({"name": name, **found}), flush=True)
    del registered


if __name__ == "__main__":
    main(sys.argv[1:])
