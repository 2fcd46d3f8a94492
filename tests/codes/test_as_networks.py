"""A code run as a network: number formats, what a product hides, and weights that a format holds."""

from pathlib import Path

import numpy as np
import pytest
import torch
from sampled import sampled
from superposition import codes, diagnosis
from superposition.codes import as_networks

RECIPES = Path(__file__).resolve().parents[2] / "book" / "recipes.md"


@pytest.mark.parametrize(("dtype", "like"), [("bfloat16", torch.bfloat16), ("float16", torch.float16)])
def test_numbers_are_rounded_as_torch_rounds_them(dtype, like):
    rng = np.random.default_rng(0)
    value = (rng.standard_normal(4000) * np.exp(2 * rng.standard_normal(4000))).astype(np.float32)
    halves = 1 + (2 * np.arange(16) + 1) * 2.0**-8  # in the middle of two numbers of bfloat16; every eighth of float16
    value = np.r_[value, halves, -halves, 1 + (halves - 1) / 8].astype(np.float32)
    np.testing.assert_array_equal(as_networks._rounded(value, dtype), torch.tensor(value).to(like).float().numpy())


def test_the_loss_is_that_of_exact_integrals():
    fan = codes.priority_fan(6, 8.0)
    never_silent = fan._replace(b=fan.b + 0.1 * np.arange(6))  # most of its loss is where no feature is on
    for code, p in ((fan, 0.1), (codes.swept_fan(5, 30.0), 0.05), (never_silent, 0.1)):
        found = codes.network_loss(code, p, samples=40_000, seed=0)
        assert abs(found.mean - codes.code_loss(code.W, code.b, p)) < 4 * found.se < 0.1 * found.mean


def test_a_product_hides_what_a_hidden_vector_loses():
    loud = codes.swept_fan(5, 1e8)
    product = codes.code_loss(loud.W, loud.b, 0.05)
    found = codes.network_loss(loud, 0.05, samples=2000, seed=0, dtype="float32")
    assert product < 1e-3 and found.mean > 1e6
    with pytest.raises(ValueError, match="dtype = 'float16' overflows in this network"):
        codes.network_loss(loud, 0.05, samples=2000, seed=0, dtype="float16")


@pytest.mark.parametrize("seed", sampled(range(40)))
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_blocks_run_as_a_network_have_the_loss_of_their_format(seed, dtype):
    """At drawn places, with an even or an odd number of features in a plane."""
    rng = np.random.default_rng([seed, 41])
    p, r = (float(np.exp(rng.uniform(*np.log(ends)))) for ends in ((1e-3, 0.3), (0.05, 0.9)))
    best, ns = codes.best_known(p, r), int(rng.integers(100, 400))
    found = codes.measured_loss(best.blocks(ns, dtype), p, samples=20_000, seed=seed + 50, dtype=dtype)
    assert abs(found.mean - best.loss_of(ns, dtype)) < 4 * found.se + 0.02 * found.mean < 0.3 * best.rug
    assert sum(len(block.b) for block in best.blocks(ns, dtype)) == ns


def test_single_precision_costs_little_at_common_features():
    best = codes.best_known(0.05, 0.2)
    assert best.loss_of(500, "float32") < 1.05 * best.loss and best.loss_of(500, "bfloat16") < 1.2 * best.loss
    with pytest.raises(ValueError, match="dtype = 'int8' is unknown; allowed: float64"):
        best.blocks(50, "int8")


def test_the_module_of_the_recipe_is_the_code_and_its_hooks_are_heard():
    best = codes.best_known(0.05, 0.25)
    given = {"code": codes.side_by_side(best.blocks(40, "float32"))}
    exec(RECIPES.read_text().partition("## A toy model with hooks")[2].split("```")[1].removeprefix("python"), given)
    code, model, x = given["code"], given["model"], np.random.default_rng(0).random((7, 40), dtype=np.float32)
    model.hook_hidden._forward_hooks.clear()  # the rounding
    seen = {}
    for name in ("hook_x", "hook_hidden", "hook_pre", "hook_out"):
        getattr(model, name).register_forward_hook(lambda module, inputs, out, name=name: seen.update({name: out}))
    output = model(torch.tensor(x)).detach().numpy()
    pre = x @ code.W_in.T @ code.W_out.T + code.b
    np.testing.assert_allclose(output, np.maximum(pre, 0), atol=1e-4)
    np.testing.assert_allclose(seen["hook_hidden"].detach(), x @ code.W_in.T, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(seen["hook_pre"].detach(), pre, rtol=1e-5, atol=1e-4)
    model.hook_hidden.register_forward_hook(lambda module, inputs, hidden: 0 * hidden)
    np.testing.assert_allclose(model(torch.tensor(x)).detach()[0], np.maximum(code.b, 0), atol=1e-6)
    found = diagnosis.diagnose(model.state_dict(), p=0.05, samples=2000)
    assert found.weights.W_in.shape == code.W_in.shape
