"""Points and trainings on the pretended device and on the CPU: ``python tests/pretended_runs.py NAME…``.

Each name is a run, whose smallest point is computed, or one of `TRAININGS`; a line of JSON says what was counted.
"""

import dataclasses
import inspect
import json
import sys
from functools import partial
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent / "experiments"))
import pretended_device
import test_small_points as small
from superposition import codes, correlated, decoders, frequencies, incidental, receptive, rug, runs, toy
from superposition.experiments import crowds
from superposition.rug import device_training
from superposition.rug.model import TrainedModel
from superposition.runs import agreement
from superposition.runs.point import computed

WINDOW = 100  # steps
SIZE, FEW = (32, 8, 0.1), {"eval_samples": 64, "batch": 64}


def fields(steps, device):
    """Receptive fields on batches that the host draws."""
    data = receptive.nlgp_batches(16, 2, 1, 3, 20, seed=0, device=device)
    return receptive.train_fields(receptive.initial_weights(1, 2, 16, seed=0), data, steps=steps, lr=0.1)


def on_samples(steps, device):
    """Gaussian interference by samples."""
    settings = rug.training_settings(*SIZE, steps, 64, None, None, "earlier", 0, device)
    return rug.train_meanfield_on_samples(settings)


def continued(steps, device):
    """Ordinary training from given weights."""
    settings = rug.training_settings(*SIZE, 1, 64, None, None, "recipe", 0, device)
    W = np.random.default_rng(0).standard_normal((32, 8)).astype(np.float32) / 6
    model = TrainedModel(settings, W.T, W, np.zeros(32, np.float32), np.zeros(1), 0.0, 0.0, False)
    return rug.continue_training(model, steps=steps, lr=0.01, eval_samples=64)


def published(steps, device):
    """An epoch, of 30 steps, for ten steps: the host looks once in ten epochs."""
    return rug.train_as_published(*SIZE, epochs=steps // 10, device=device)


def published_there(steps, device):
    """The same on vectors that the device draws."""
    return rug.train_as_published_on_device(*SIZE, epochs=steps // 10, device=device)


def noisy(steps, device):
    """Small autoencoders under noise, none of whose steps is recorded."""
    W, law = incidental.initial_instances(3, 4, 2, seed=0), incidental.bipolar(0.1)
    return incidental.train_with_noise(W, law, eta=0.02, steps=steps, record=[steps], device=device)


def flow(steps, device):
    """Encodings without interference, so that each step has the length that is asked for."""
    return incidental.gradient_flow(0.1 * np.eye(3), 0.0, [0.01 * steps], step=0.01, device=device)


def pairs(step, weights, generator):
    """Feature vectors of which neighbours are on together."""
    on = torch.rand(64, 20, generator=generator, device=generator.device) < 0.05
    return torch.rand(64, 40, generator=generator, device=generator.device) * on.repeat_interleave(2, dim=1), 0.05


def gaussian(steps, device):
    """Neurons on Gaussian data, whose fields are kept at the end."""
    how = {"lr": 0.1, "keep_every": steps, "device": device}
    return receptive.train_gaussian_fields(np.eye(2, 12), np.eye(12), np.eye(12), 20, steps=steps, **how)


def crowd(steps, device):
    """The network that is trained beside the best crowd, once."""
    task = (16, 2.0, 1.0, 3.0)
    fresh = receptive.sample_waves(*task, 100, seed=1)
    return crowds._trained_loss(task, fresh, K=4, biased=True, steps=steps, lr=0.1, batch=16, seed=0, device=device)


def of_point(name, **change):
    """A training that is written in a run."""
    run = runs.find(name)
    return lambda steps, device: run.computes(**small.point(name, {**change, "steps": steps}), device=device)


TRUTH = decoders.dictionary(8, 4, p=0.1)
CODE = np.random.default_rng(0).standard_normal((4, 8))


def tiles(steps, device):
    """A search among eight copies, of which one descends for long."""
    return codes.search_tile(2, 4, 0.1, starts=8, kept=1, screening=2, steps=steps, fresh=100, device=device)


def from_the_truth(steps, device):
    """A dictionary that starts at the directions."""
    start = decoders.sae_along(TRUTH.directions, 1.0, 0.0, TRUTH.directions @ TRUTH.p / 2)
    return decoders.descend_saes(TRUTH, [start], [0.1], steps=steps, lr=0.01, device=device)


def gated(steps, device):
    """Two networks of three ReLUs, the last of which are linear."""
    x, y = receptive.labelled_sample(6, 1.0, 0.5, 3.0, 25, seed=0)
    first = np.random.default_rng(1).standard_normal((2, 3, 6))
    how = {"lr": 0.1, "batch": 50, "turn": True, "device": device}
    return receptive.train_gated_on_device(first, x, y, "linear pathway", steps=steps, **how)


ANDS = {"starts": 2, "seed": 0, "layer": "relu", "reader": "relu"}
# Their data are drawn by the host as on the CPU, and moved (`superposition.placing`)
PLACED = {
    "tiles": tiles,
    "plain": partial(codes.train_plain, 10, 0.1, "shaken", fresh=100),
    "dense": partial(codes.train_dense, 20, 4, 0.1, "unequal"),
    "blocks": partial(codes.train_blocks, 40, 8, 0.1, blocks=2),
    "dictionary": partial(decoders.train_saes, TRUTH, [0.1, 0.2]),
    "few latents": partial(decoders.train_saes, TRUTH, [2, 2], kind="topk", schedule=(2.0, 0.6)),
    "few in a batch": partial(decoders.train_batch_topk, TRUTH, [1.5, 2.0]),
    "thresholds": partial(decoders.train_saes, TRUTH, [0.1, 0.2], kind="jumprelu", tangent=True),
    "from the truth": from_the_truth,
    "layers": partial(decoders.train_layers, CODE, 0.1, 2, frozen=False, lr=0.01, seed=0, fresh=2000),
    "ands": partial(decoders.descend_on_ands, 4, 3, 0.2, **ANDS),
    "exclusive": partial(correlated.descend_exclusive, 3, [1, 2], starts=2, seed=0),
    "pairs": partial(correlated.descend_pairs, 0.1, 0.5, starts=2, seed=0),
    "gated": gated,
}
TRAININGS = {
    "on the device": partial(rug.train_on_device, *SIZE, **FEW),
    "drawn by the host": partial(rug.train_autoencoder, *SIZE, **FEW),
    "automatic gradients": partial(rug.train_autoencoder, *SIZE, gradients="automatic", **FEW),
    "text": partial(rug.train_autoencoder, *SIZE, protocol="text", **FEW),
    "eigenvalues": partial(rug.descend_on_eigenvalues, *SIZE, batch=64),
    "unequal": partial(frequencies.train_unequal, [0.5, 0.1, 0.1, 0.2], 2, batch=64, eval_samples=64),
    "floor": partial(frequencies.train_unequal_alive, [0.5, 0.1, 0.1, 0.2], 2, way="floor", batch=64, eval_samples=64),
    "revived": partial(frequencies.train_unequal_alive, [0.5, 0.1, 0.2], 2, way="revived", batch=64, eval_samples=64),
    "fields": fields,
    "toy": partial(toy.train_models, 5, 2, sparsity=[0.5], batch=64),
    "gaussian fields": gaussian,
    "mean-field": partial(rug.train_meanfield, *SIZE),
    "published": published,
    "published, drawn there": published_there,
    "on samples": on_samples,
    "continued": continued,
    "grouped": partial(correlated.train_grouped, 3, 2, 2, 0.1, 0.5, batch=2**12, lr=0.01, seed=0),
    "exclusive first": partial(codes.train_exclusive_first, 40, 8, 0.05, group=5, batch=64),
    "growing": partial(codes.train_growing, 40, 8, 0.05, group=5, batch=64),
    "on vectors": partial(codes.train_on_vectors, 40, 8, pairs),
    "noisy": noisy,
    "flow": flow,
    "encodings": partial(incidental.descend_encodings, 0.1 * np.eye(3), 0.0, method="sgd", lr=0.01),
    "all vectors": of_point("toy-finite"),
    "crowd": crowd,
    "other networks": of_point("field-others", kind="biases"),
    **PLACED,
}  # fmt: skip
CALLED = {
    on_samples: rug.train_meanfield_on_samples,
    continued: rug.continue_training,
    noisy: incidental.train_with_noise,
}
CALLED |= {published: rug.train_as_published, published_there: rug.train_as_published_on_device}
CALLED |= {flow: incidental.gradient_flow, fields: receptive.train_fields}
CALLED |= {gaussian: receptive.train_gaussian_fields, tiles: codes.search_tile, gated: receptive.train_gated_on_device}
CALLED |= {from_the_truth: decoders.descend_saes}


def trained():
    """The names of the functions that the trainings call."""
    found = (CALLED.get(one, getattr(one, "func", None)) for one in TRAININGS.values())
    return {one.__name__ for one in found if one is not None}


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


def of_placed(name):
    """What a window more of a training's steps counts, and how far its values are from those on the CPU."""
    here, there = (numbers(PLACED[name](steps=20, device=on)) for on in ("cpu", pretended_device.NAME))
    distance = max(float(np.abs(one - other).max(initial=0)) for one, other in zip(here, there, strict=True))
    return of_training(name) | {"distance": distance}


def numbers(found):
    """All arrays of a result, in order."""
    if isinstance(found, str):
        return []
    if dataclasses.is_dataclass(found):
        found = [getattr(found, field.name) for field in dataclasses.fields(found)]
    if isinstance(found, (dict, list, tuple)):
        return [part for one in (found.values() if isinstance(found, dict) else found) for part in numbers(one)]
    return [np.asarray(found, float)]


def of_run(name):
    """What the smallest point of a run counts, and how its values differ from those of the CPU."""
    change = small.POINTS.get(name, [{}])[0]
    run, point = runs.find(name), small.point(name, change)
    module, function = run.function.split(":")
    compute = getattr(__import__(module, fromlist=[function]), function)
    here = computed(compute, point, "cpu")
    there, seen = counted(lambda: computed(compute, point, pretended_device.NAME))
    columns = {key: np.array([value]) for key, value in here.items() if key != "device"}
    values = {key: value for key, value in there.items() if key != "device"}

    def aside(side):
        with small.moved.draws(side):
            return computed(compute, point, pretended_device.NAME)

    differs = agreement.of(columns, 0, values, aside).differs
    return {**seen, "differs": differs, "takes_device": run.takes_device}


class HostStream(torch.Generator):
    """Random numbers of the host, which says that it is of the device that it is asked of."""

    def __new__(cls, device="cpu"):
        made = super().__new__(cls, "cpu")
        made.asked = torch.device(device)
        return made

    device = property(lambda self: self.asked)


KINDS = ((of_placed, PLACED), (of_training, TRAININGS), (of_run, runs.RUNS))


def main(names):
    """Print a line for each name; an error is part of it."""
    registered = pretended_device.register()  # for as long as this name is there
    device_training.stream = lambda seed, on: torch.Generator().manual_seed(seed)  # the device has no generator
    torch.Generator = HostStream
    crowds.POLISH = 40  # steps that no point gives; 4000 would take minutes on this device
    inspect.unwrap(codes.search_tile).__kwdefaults__.update(screening=20, fresh=20_000)  # for the same reason
    for name in names:
        try:
            if name.startswith("step "):
                found = step(*map(int, name.split()[1:]))
            else:
                found = next(of for of, names in KINDS if name in names)(name)
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}"[:400]}
        print(json.dumps({"name": name, **found}), flush=True)
    del registered


if __name__ == "__main__":
    main(sys.argv[1:])
