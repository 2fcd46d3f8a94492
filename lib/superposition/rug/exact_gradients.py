"""Training steps with an explicit gradient: the result of automatic differentiation, in fewer passes.

The error of a batch reaches the pre-activations as ``2 (y - x) / (batch ns)`` where the output ``y`` is
above 0, and nothing elsewhere. Three products of the size of the decoder are then left: the output, and
the gradients of decoder and hidden layer. Encoder and its gradient touch only features that are on.
Automatic differentiation (`superposition.optimise.by_autograd`) stays as the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from superposition.devices import torch  # isort: skip - first, since it says what is missing
from torch.nn.functional import embedding_bag  # isort: skip
from superposition import features
from superposition.rug.model import Settings

PRODUCTS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
SPARSE = {torch.float32: 0.1, torch.bfloat16: 0.02}  # p up to which gathering beats a dense product (measured)


def batch_gradient(
    weights: Sequence[torch.Tensor], settings: Settings, rng: np.random.Generator, *, products: str = "float32"
) -> Callable[[], torch.Tensor]:
    """Exact gradients of the batch loss, as `optimise.adam` wants them (derivative of The Persian Rug, eq. 2)."""
    # The weights are the encoder transposed (ns, nd), decoder (ns, nd) and bias (ns,), in float32. Products
    # may be rounded, sums are taken in float32 in any case. The vectors are those of `superposition.rug.training.draw`.
    kind = PRODUCTS[products]
    device, shape = weights[0].device, (settings.batch, settings.ns)
    sparse = settings.p <= SPARSE[kind] and device.type == "cpu"
    encoder = _gathered(settings) if sparse else _dense(shape, kind, device)
    output = torch.empty(shape, dtype=kind, device=device)
    for weight in weights:
        weight.grad = torch.zeros_like(weight)

    @torch.no_grad()
    def gradient():
        flat, values = features.nonzeros(settings.ns, settings.p, settings.batch, seed=rng)
        on, x = torch.from_numpy(flat).to(device), torch.from_numpy(values).float().to(device)
        encode, encoder_gradient = encoder(flat, on, x)
        return _step(weights, output, on, x, encode, encoder_gradient)

    return gradient


def prepared(
    weights: Sequence[torch.Tensor], settings: Settings, rng: np.random.Generator, *, products: str = "float32"
) -> tuple[list[torch.Tensor], Callable[[], torch.Tensor]]:
    """Weights with the encoder transposed, and their `batch_gradient`, from W_in (nd, ns), W_out and bias."""
    W_in, W_out, bias = (weight.detach() for weight in weights)
    turned = [weight.requires_grad_() for weight in (W_in.T.contiguous(), W_out, bias)]
    return turned, batch_gradient(turned, settings, rng, products=products)


def _step(weights, output, on, x, encode, encoder_gradient):
    """Write the gradients of one batch; ``output`` is overwritten by the error that reaches the pre-activations."""
    encoder, decoder, bias = weights
    hidden, rounded = encode(encoder).to(output.dtype), decoder.to(output.dtype)
    torch.addmm(bias.to(output.dtype), hidden, rounded.T, out=output).relu_()
    loss = _subtract(output.view(-1), on, x)
    scale = 2 / output.numel()
    torch.mul(output.T @ hidden, scale, out=decoder.grad)
    torch.mul(output.sum(0, dtype=torch.float32), scale, out=bias.grad)
    torch.mul(encoder_gradient(output @ rounded), scale, out=encoder.grad)
    return loss


def _subtract(error, on, x):
    """Turn outputs into errors, 0 where an output that should be on is dead; return the mean squared error."""
    seen = error[on].float()
    missed = torch.where(seen > 0, 0, x)
    error[on] = torch.where(seen > 0, seen - x, 0).to(error.dtype)
    squares = torch.dot(error, error) if error.dtype == torch.float32 else error.float().square().sum()
    return (squares + torch.dot(missed, missed)) / error.numel()


def _gathered(settings):
    """Encoder times features, gathered from the rows of active features; its gradient likewise, by columns."""
    from scipy.sparse import csr_array

    ends, shape = np.arange(settings.batch + 1) * settings.ns, (settings.batch, settings.ns)

    def encoder(flat, on, x):
        columns, starts = on % settings.ns, np.searchsorted(flat, ends)
        turned = csr_array((x.numpy(), columns.numpy(), starts), shape=shape).tocsc()
        across = [torch.from_numpy(np.asarray(part)) for part in (turned.indices, turned.indptr[:-1], turned.data)]
        along = columns, torch.from_numpy(starts[:-1]), x
        return (lambda W: _bags(W, *along)), (lambda dh: _bags(dh.float(), *across))

    return encoder


def _bags(rows, index, starts, shares):
    """Sums of rows with given factors, one for each start."""
    return embedding_bag(index, rows, starts.to(index.dtype), mode="sum", per_sample_weights=shares)


def _dense(shape, kind, device):
    """Encoder times features as a dense product, for features that are often on."""
    buffer = torch.zeros(shape, dtype=kind, device=device)

    def encoder(flat, on, x):
        buffer.zero_()
        buffer.view(-1)[on] = x.to(kind)
        return (lambda W: buffer @ W.to(kind)), (lambda dh: buffer.T @ dh)

    return encoder
