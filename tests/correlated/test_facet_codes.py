"""Codes for graphs on facets: few dimensions, and loss 0 in exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from superposition import correlated
from superposition.correlated import facet_codes, graphs


def from_edges(n, edges):
    H = np.zeros((n, n), bool)
    for i, j in edges:
        H[i, j] = H[j, i] = True
    return H


def ring(n):
    return from_edges(n, [(i, (i + 1) % n) for i in range(n)])


def drawn(seed):
    """A random graph: sparse, dense, or of rings through all features."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 45))
    if seed % 3 == 0:
        H = np.zeros((n, n), bool)
        for _ in range(int(rng.integers(1, 4))):
            order = rng.permutation(n)
            H[order, np.roll(order, 1)] = H[np.roll(order, 1), order] = True
        return H
    H = np.triu(rng.random((n, n)) < rng.uniform(0.02, 0.4), 1)
    return H | H.T


PETERSEN = from_edges(
    10,
    [(i, (i + 1) % 5) for i in range(5)]
    + [(i, i + 5) for i in range(5)]
    + [(5 + i, 5 + (i + 2) % 5) for i in range(5)],
)
CUBE = from_edges(8, [(i, i ^ bit) for i in range(8) for bit in (1, 2, 4)])
UTILITIES = from_edges(6, [(i, j) for i in range(3) for j in range(3, 6)])
TORUS = from_edges(
    25,
    [(5 * i + j, 5 * i + (j + 1) % 5) for i in range(5) for j in range(5)]
    + [(5 * i + j, 5 * ((i + 1) % 5) + j) for i in range(5) for j in range(5)],
)


def losses(code, H, rng, tries=40):
    """Outputs less features, in fractions, on random cliques of features with strengths of eighths."""
    w, v = ([[Fraction(float(x)) for x in row] for row in half] for half in (code.W_in, code.W_out))
    for _ in range(tries):
        on, x = np.ones(len(H), bool), [Fraction(0)] * len(H)
        while on.any() and rng.random() < 0.9:
            t = rng.choice(np.flatnonzero(on))
            x[t], on = Fraction(int(rng.integers(1, 9)), 8), on & H[t]
        hidden = [sum((one * value for one, value in zip(row, x, strict=True) if value), Fraction(0)) for row in w]
        outputs = [max(Fraction(0), sum((a * h for a, h in zip(row, hidden, strict=True)), Fraction(0))) for row in v]
        yield max(abs(a - b) for a, b in zip(outputs, x, strict=True))


@pytest.mark.parametrize("seed", range(30))
def test_four_thirds_of_the_degree_and_two_are_enough(seed):
    H = drawn(seed)
    degree = int(H.sum(axis=1).max())
    for code in (facet_codes.split_code_for(H), correlated.graph_code_for(H)):
        assert len(code.W_in) == code.dimensions <= facet_codes.most_dimensions(degree)
        assert facet_codes.exact_failures(code, H) == 0
        assert max(losses(code, H, np.random.default_rng(seed), 5)) == 0
    assert code.dimensions >= facet_codes.clique_number_at_least(H)


def test_a_failure_is_counted():
    H, code = ring(7), correlated.graph_code_for(ring(7))
    leaky = code._replace(W_out=code.W_out * (1 + 1e-12))
    assert facet_codes.exact_failures(code, H) == 0 < facet_codes.exact_failures(leaky, H)
    assert facet_codes.exact_failures(code, H | PETERSEN[:7, :7]) > 0
    assert max(losses(leaky, H, np.random.default_rng(0))) > 0


def test_the_bound_by_degree():
    assert [facet_codes.most_dimensions(d) for d in range(1, 9)] == [3, 4, 6, 7, 8, 10, 11, 12]
    for degree in range(1, 40):
        parts = facet_codes.part_degrees(degree)
        assert sum(d + 1 for d in parts) == degree + 1
        assert sum({2: 4, 1: 3}[d] for d in parts) == facet_codes.most_dimensions(degree)


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_the_split_leaves_few_neighbours(seed):
    H = drawn(seed)
    degrees = facet_codes.part_degrees(int(H.sum(axis=1).max()))
    parts = facet_codes.lovasz_split(H, degrees)
    for k, most in enumerate(degrees):
        inside = parts == k
        assert H[np.ix_(inside, inside)].sum(axis=1).max(initial=0) <= most


@pytest.mark.parametrize("n", [5, 6, 12, 41])
def test_rings_take_three(n):
    code = correlated.graph_code_for(ring(n))
    assert code.dimensions == 3 == np.linalg.matrix_rank(code.W)
    assert facet_codes.exact_failures(code, ring(n)) == 0


@pytest.mark.parametrize(("topics", "k"), [(3, 2), (4, 3), (12, 4), (5, 7), (2, 2), (30, 1)])
def test_topics_take_one_more_than_their_features(topics, k):
    code, H = correlated.topic_code(topics, k), np.kron(np.eye(topics), 1 - np.eye(k)) > 0
    assert code.W_in.shape == (3 if k == 1 else k + 1, topics * k)
    full = graphs.GraphCode(*code, dimensions=len(code.W_in), colours=np.zeros(len(H)))
    assert facet_codes.exact_failures(full, H) == 0


def test_one_topic_takes_as_many_as_its_features():
    assert correlated.topic_code(1, 5).W_in.shape == (5, 5)


def test_cliques_of_several_sizes():
    H = np.zeros((12, 12), bool)
    for group in ([0, 5, 7, 9], [1, 2], [3], [4, 6, 8], [10, 11]):
        H[np.ix_(group, group)] = True
    np.fill_diagonal(H, False)
    code = correlated.graph_code_for(H)
    assert code.dimensions == 5 and facet_codes.exact_failures(code, H) == 0


@pytest.mark.parametrize(("H", "dimensions"), [(PETERSEN, 5), (CUBE, 4), (UTILITIES, 4), (TORUS, 7)])
def test_named_graphs(H, dimensions):
    code = correlated.graph_code_for(H)
    assert code.dimensions == dimensions and facet_codes.exact_failures(code, H) == 0


def test_two_thousand_features():
    H, rng = np.zeros((2000, 2000), bool), np.random.default_rng(0)
    for _ in range(2):
        order = rng.permutation(2000)
        H[order, np.roll(order, 1)] = H[np.roll(order, 1), order] = True
    code = correlated.graph_code_for(H)
    assert code.dimensions == 7 and graphs.largest_error(code.W, H) == 0


def test_nothing_meets():
    code = correlated.graph_code_for(np.zeros((9, 9)))
    assert code.dimensions == 3 and facet_codes.exact_failures(code, np.zeros((9, 9), bool)) == 0
    assert [correlated.graph_code_for(np.zeros((n, n))).dimensions for n in (1, 2, 3, 4, 5)] == [1, 1, 2, 2, 3]
