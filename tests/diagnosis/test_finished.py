"""What training ends at, against networks of other seeds and sizes, and trainings that were stopped early."""

import csv
from pathlib import Path

import numpy as np
import pytest
import superposition
from superposition.diagnosis import finished, gains, yardsticks

DATA = Path(finished.__file__).parents[1] / "data"


def sizes():
    """Losses of networks of other seeds, by (ns, p, nd)."""
    found = {}
    for row in csv.DictReader((DATA / "rug-sizes-recipe.csv").read_text().splitlines()):
        found.setdefault((int(row["ns"]), float(row["p"]), int(row["nd"])), []).append(float(row["loss"]))
    return found


def test_networks_of_other_seeds_and_sizes_end_where_it_says():
    reached = 0
    for (ns, p, nd), losses in sizes().items():
        end = finished.finished(p, nd, ns)
        if ns > 1024:
            assert end is None
            continue
        reached += 1
        assert abs(np.log(np.mean(losses) / end.loss)) < 4 * end.error < 0.08  # the rival, the rug, is off by 30 %
    assert reached == 10


@pytest.mark.parametrize(("p", "nd", "ns"), [(0.005, 30, 128), (0.6, 30, 128), (0.05, 2, 128), (0.05, 8, 40)])
def test_nothing_is_said_outside_of_the_table(p, nd, ns):
    assert finished.finished(p, nd, ns) is None


def test_a_straight_line_misses_points_by_what_it_says():
    # each point of the table without it: what is interpolated from its neighbours is within four errors
    axes, values, _ = finished._grid()
    ns, p, r = axes
    for k in range(1, len(r) - 1):
        missed = np.abs(values[:, :, k] - [[np.interp(r[k], r[[k - 1, k + 1]], row[[k - 1, k + 1]]) for row in plane]
                                           for plane in values])  # fmt: skip
        assert np.median(missed) == pytest.approx(finished._bend(r, np.moveaxis(values, 2, 0), k))


def trained(steps, seed=0, ns=160, nd=40, p=0.06):
    torch = pytest.importorskip("torch")
    torch.manual_seed(seed)
    W_in = torch.nn.Parameter(torch.randn(nd, ns) / nd**0.5)
    W_out, b = torch.nn.Parameter(W_in.detach().T.clone()), torch.nn.Parameter(torch.zeros(ns))
    optimiser = torch.optim.Adam([W_in, W_out, b], 0.01)
    rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, 2000)
    for _ in range(steps):
        x = (torch.rand(256, ns) < p) * torch.rand(256, ns)
        loss = ((x - torch.relu(x @ W_in.T @ W_out.T + b)) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        rate.step()
    return {"W_in": W_in.detach().numpy(), "W_out": W_out.detach().numpy(), "b": b.detach().numpy()}


@pytest.mark.thorough
def test_a_training_that_was_stopped_is_told_from_a_finished_one():
    early, whole = (superposition.diagnose(trained(steps), p=0.06, samples=20_000) for steps in (100, 2000))
    assert gains.unfinished(early) and not gains.unfinished(whole)
    assert abs(np.log(whole.loss / whole.finished.loss)) < 4 * whole.finished.error + 0.02  # 20,000 vectors: 0.5 %
    assert "training longer" in str(early).splitlines()[0] and "train longer" in str(early)
    assert "train longer" not in str(whole) and "of a finished training" in str(whole).splitlines()[0]


def test_the_best_code_says_what_loudness_it_needs_and_what_equal_loudness_allows():
    found = superposition.diagnose(trained(1), p=0.06, samples=100).best
    assert found.phase == "swept" and found.loudness > 10 and found.loss < found.equal
    digon = superposition.diagnose([[1, -1], [-1, 1]], [0, 0], 0.05, samples=100).best
    assert digon.equal == pytest.approx(digon.loss) or digon.loudness > 1
    assert yardsticks._step(0.05) == 20.0  # of a fan of six at 10: 13 % above its limit
