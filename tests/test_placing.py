"""A training whose data the host draws takes a device, and nothing else about it changes."""

import inspect

import pytest
from superposition import codes, decoders, runs
from superposition.placing import placed
from superposition.runs import executors

torch = pytest.importorskip("torch")
from superposition import devices  # noqa: E402

AWAY = torch.device("meta")  # tensors with shapes and without numbers, which every torch has


@placed
def drawn(n, *, scale=1.0):
    """Numbers that a generator of the host draws.

    Parameters
    ----------
    n : int
        How many.

    Returns
    -------
    torch.Tensor
    """
    return scale * torch.rand(n, generator=torch.Generator().manual_seed(0))


def test_the_device_is_the_last_keyword_with_the_cpu_as_its_default():
    *_, last = inspect.signature(drawn).parameters.values()
    told = (last.name, last.default, last.kind, last.annotation)
    assert told == ("device", "cpu", inspect.Parameter.KEYWORD_ONLY, "str")
    assert "How many.\ndevice : str\n" in inspect.getdoc(drawn)
    assert inspect.getdoc(codes.search_tile).count("device : str") == 1  # it has two sections after the parameters
    assert decoders.train_saes.unchecked.__name__ == "train_saes"


def test_on_the_cpu_nothing_changes():
    alone = drawn.__wrapped__(3, scale=2.0)
    for device in ({}, {"device": "cpu"}) + (({"device": "auto"},) if not torch.accelerator.is_available() else ()):
        assert torch.equal(drawn(3, scale=2.0, **device), alone)


def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="device = 'cuda:77' is not on this machine; allowed: auto, cpu"):
        drawn(3, device="cuda:77")


def test_a_run_whose_function_is_placed_uses_its_device():
    found = {name: runs.find(name).takes_device for name in ("rug-tiles", "ands-converged", "rug-ladder")}
    assert found == {"rug-tiles": True, "ands-converged": True, "rug-ladder": False}


def test_every_run_that_has_a_device_uses_it():
    having = {name: run for name, run in runs.RUNS.items() if "device" in inspect.signature(run.computes).parameters}
    assert [name for name, run in having.items() if not run.takes_device] == []


def test_what_is_made_moves_and_what_is_drawn_comes_from_the_host():
    with devices.Placed(AWAY):
        made, drawn_there = torch.zeros(2), torch.rand(2, generator=torch.Generator())
        leaf = torch.tensor([1.0, 2.0], requires_grad=True)
        single = torch.tensor(3.0)
        assert made.device == drawn_there.device == (made + single).device == leaf.device == AWAY
        assert leaf.is_leaf and leaf.requires_grad
        assert single.device.type == "cpu"  # mixes with all


def test_a_tensor_that_did_not_change_since_it_was_moved_need_not_come_back():
    chances = torch.tensor([0.0, 1.0])
    with devices.Placed(AWAY):
        moved = chances + 0
        with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor"):  # it was never on the host
            torch.multinomial(moved, 3, True, generator=torch.Generator())
        sent = torch.tensor([0.0, 1.0])
        assert torch.multinomial(sent, 3, True, generator=torch.Generator()).device == AWAY
        sent += 1  # the host's numbers are old now
        with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor"):
            torch.multinomial(sent, 3, True, generator=torch.Generator())


def test_tensors_of_two_devices_meet_on_the_device():
    with devices.Placed(AWAY):
        there = torch.zeros(2)
    here = torch.ones(2)
    with pytest.raises(RuntimeError):
        torch.stack([here, there])
    with devices.Placed(AWAY):
        assert torch.stack([here, there]).device == AWAY


def test_a_row_names_the_device_on_which_it_was_computed(monkeypatch):
    monkeypatch.setattr(devices, "resolve_device", lambda name: AWAY if name == "auto" else torch.device(name))
    placed_run, other = runs.find("rug-tiles").computes, runs.find("rug-grid").computes
    assert executors.named(placed_run, {"loss": 1.0}, "auto") == "meta"
    assert executors.named(placed_run, {"device": "cpu"}, "auto") == "meta"  # as the function had it
    assert executors.named(placed_run, {}, "cpu") == "cpu"
    assert executors.named(other, {"device": "cuda:1"}, "cuda:1") == "cuda:1"
    assert executors.named(other, {"loss": 1.0}, "cuda:1") == "cpu"
