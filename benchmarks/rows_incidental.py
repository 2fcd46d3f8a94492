"""Incidental Polysemanticity: the expected loss under noise."""

from unittest import mock

import numpy as np
from superposition.incidental import laws, noise_loss, tails
from timing import Row

W = np.random.default_rng(0).standard_normal((16, 64)) / 8


def by_all_frequencies(law):
    """The same sum from all frequencies up to the far end, mixed moments and all."""
    with mock.patch.object(tails, "NOTHING", np.inf):
        T = [tails.tails(W @ w, w, law).T for w in W]
    return sum(found[2].sum() - 2 * found[1, j] + 1 for j, found in enumerate(T))


def expected_losses():
    """At 16 features and 64 neurons, for the two laws that go through their characteristic function."""
    for law in (laws.laplace(0.2), laws.uniform(0.2)):

        def ours(law=law):
            return noise_loss.expected_loss(W, law)

        def other(law=law):
            return by_all_frequencies(law)

        def same(ours=ours, other=other):
            np.testing.assert_allclose(ours(), other(), rtol=1e-14)

        yield Row(
            f"expected_loss, {law.name}, 16 x 64", "all frequencies, mixed moments too", 8 / 245, ours, other, same
        )


GROUPS = (expected_losses,)
