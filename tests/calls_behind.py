"""Calls of what stands behind the faces: ranges of arguments in one go, and every default that costs little."""

from itertools import islice

import numpy as np
from superposition import moments as rug_moments
from superposition.codes import (
    any_size,
    best_map,
    budgets,
    conflict_search,
    exact_losses,
    fans,
    graphs,
    layered_tiles,
    lower_bound,
    mixtures,
    partners,
    planes,
    rare_features,
    swept,
)
from superposition.correlated import exclusive, finite_rugs, grouped_rugs, moments, pairs
from superposition.correlated import graphs as meetings
from superposition.decoders import (
    ands,
    coupled,
    dictionaries,
    families,
    ladder,
    planar_decoders,
    priced_dictionaries,
    relu_layers,
    shared_directions,
)
from superposition.diagnosis import ablations, dimensions, feature_laws, names, reading, record_verifier
from superposition.frequencies import allocations, few_active_features, sharing
from superposition.incidental import (
    attractors,
    collision_constant,
    collisions,
    company,
    end_law,
    kurtosis,
    l1_loss,
    late_rate,
    many_networks,
    noise_laws,
    noise_loss,
    noise_push,
    one_feature,
    sparsification_rate,
    step_noise,
    tail_moments,
    untied_weights,
)
from superposition.receptive import (
    added_fields,
    flat_field,
    gated_networks,
    gated_training,
    gates,
    hermite,
    landscape,
    landscape_descent,
    least_squares,
    marginals,
    measures,
    nlgp,
    relu_flow,
    ring,
    single_pulses,
    tilings,
)
from superposition.rug import (
    bayes,
    interference,
    jumprelu,
    loss_bounds,
    meanfield,
    model,
    noise_bound,
    protocols,
    rugs,
    scaling,
    stopping,
    tight_frames,
    walsh_descent,
)
from superposition.toy import border, geometry, linear, loss, thomson

rng = np.random.default_rng(7)
P, R = np.array([[0.002], [0.05], [0.3], [0.9]]), np.array([0.03, 0.2, 0.45, 0.8])
SIGMA, A, B = np.array([0.0, 1e-3, 0.1, 0.7, 3.0]), np.array([[0.4], [1.3]]), np.array([-0.8, -0.1, 0.2])
SQUARE = np.eye(4) + rng.standard_normal((4, 4)) / 4
OFF, WIDE, FIELDS = rng.standard_normal(6) / 4, rng.standard_normal((2, 5)), rng.standard_normal((3, 12))
ROWS = np.abs(rng.standard_normal((4, 6))) / 3
NETWORKS = rng.standard_normal((3, 4, 6)) / 3
UNEQUAL = np.array([0.3, 0.2, 0.1, 0.05, 0.02, 0.01])
LAWS = (noise_laws.uniform(0.3), noise_laws.laplace(0.2), noise_laws.normal(0.2), noise_laws.discrete(0.3, 1.0))
RUG, ANTIPODAL = rugs.Rug(16, 6, seed=2), rugs.Rug(16, 6, seed=2, antipodal=True)
FAN = fans.priority_fan(7, 4.0)
CONE = np.stack([np.cos(np.arange(5)), np.sin(np.arange(5)), np.ones(5)])  # no direction lies in the cone of the others
SPREAD = np.eye(12, 14) + 0.1 * np.cos(np.arange(168.0)).reshape(12, 14)  # of features over latents, no two alike
PATH = np.diag([True] * 4, 1) | np.diag([True] * 4, -1)
WAVES = tilings.sample_waves(12, 1.5, 0.7, 1.0, 60, seed=4)
C1, C0 = ring.gaussian_covariance(12, 1.5), ring.gaussian_covariance(12, 0.7)
TASK = landscape.nlgp_task(12, 1.5, 0.7, 1.0)
TRUTH = dictionaries.dictionary(12, 7, p=0.2, seed=3)
FAMILY = families.families(12, 7, p=0.2, children=0.5, seed=3)
X, H = TRUTH.activations(40, seed=5)
GRID = np.linspace(-1.5, 1.5, 7)


def weights_of(code):
    """What a diagnosis reads of a code."""
    return reading.read({"W_in": code.W_in, "W_out": code.W_out, "b": code.b})


def leaning_of(truth):
    """Features, codes and directions of latents that lean."""
    x, _ = truth.activations(200, seed=1)
    mixed = np.eye(truth.directions.shape[1]) + 0.2 * np.roll(np.eye(truth.directions.shape[1]), 6, axis=0)
    mixed = mixed + 0.02 * np.cos(np.arange(mixed.size)).reshape(mixed.shape)  # no two latents alike
    return x, x @ mixed, truth.directions @ mixed


def first(iterator, count=3):
    """What an iterator gives at first."""
    return list(islice(iterator, count))


CALLS = {
    "any_size.bound": lambda: [any_size.bound(p, r) for p in (0.01, 0.2) for r in (0.1, 0.6)],
    "best_map.along": lambda: best_map.along(0.05, R),
    "best_map.rug_code": lambda: best_map.rug_code(16, 0.4, 0.1),
    "budgets.noisy_loss": lambda: budgets.noisy_loss(FAN, 0.1, 0.05, samples=200, seed=3),
    "budgets.balanced": lambda: budgets.balanced(FAN),
    "budgets.norm_cost": lambda: budgets.norm_cost(SQUARE),
    "budgets.ratio_within": lambda: budgets.ratio_within(6, 50.0),
    "conflict_search.charged_cost": lambda: conflict_search.charged_cost(SQUARE)[0],
    "conflict_search.annealed_levels": lambda: conflict_search.annealed_levels(2, 6, "random", steps=30, seed=2)[:2],
    "exact_losses.code_loss": lambda: exact_losses.code_loss(SQUARE[:3, :3], OFF[:3] / 4, 0.2),
    "exact_losses.best_decoder": lambda: exact_losses.best_decoder(SQUARE[:3, :3], 0.2),
    "exact_losses.simulated": lambda: exact_losses.simulated_code_loss(SQUARE, OFF[:4], 0.2, samples=50, seed=3),
    "fans.priority_fan": lambda: [fans.priority_fan(B, 5.0) for B in (4, 5, 8)],
    "fans.cone": lambda: [fans.cone(5), fans.cone(6, 3.0)],
    "fans.fan_loss": lambda: [fans.fan_loss(P, B) for B in (4, 5, 12)],
    "fans.hiders": lambda: [fans.hiders(B) for B in (4, 5, 9)],
    "layered_tiles.optimum": lambda: layered_tiles.optimum(3, 2, 0.1),
    "lower_bound.conflict_cost": lambda: lower_bound.conflict_cost(GRID),
    "lower_bound.costs": lambda: [lower_bound.limit_cost(SQUARE), lower_bound.truncated_squares(SQUARE)],
    "lower_bound.bounds": lambda: [
        bound(r)
        for bound in (lower_bound.general_bound, lower_bound.symmetrisable_bound, lower_bound.hierarchical_bound)
        for r in (0.1, 0.4)
    ],
    "lower_bound.best_constant": lambda: [lower_bound.best_constant(r) for r in (0.05, 0.3, 0.45, 0.8)],
    "lower_bound.fewest_in_space": lambda: [lower_bound.fewest_in_space(n) for n in (5, 9, 20)],
    "mixtures.tangent": lambda: mixtures.tangent(0.05),
    "partners.digon": lambda: [partners.digon(p) for p in (0.01, 0.4)],
    "partners.best_digon": lambda: partners.best_digon(P.ravel()),
    "planes.plan": lambda: [planes.plan(0.1, ns, nd)[2:] for ns, nd in ((9, 3), (20, 4), (5, 4))],
    "planes.plane_losses": lambda: planes.plane_losses(0.1, 12),
    "planes.built": lambda: planes.built(planes.plan(0.1, 11, 3), 0.1),
    "rare_features.drop_bounds": lambda: rare_features.drop_bounds(np.array([1.0, 3.0, 10.0])),
    "rare_features.counting_bound": lambda: [
        rare_features.counting_bound(p, r) for p in (0.01, 0.3) for r in (0.1, 0.5)
    ],
    "rare_features.constants": lambda: [rare_features.rug_constant(0.2), rare_features.antipodal_constant(0.2)],
    "rare_features.rug_at_small_p": lambda: rare_features.rug_at_small_p(0.01, 0.2),
    "rare_features.patterns": lambda: rare_features.patterns(0.2, np.array([0.1, 0.3])),
    "rare_features.shallow_cells": lambda: [rare_features.shallow_cells(8, 3, k) for k in (0, 1, 2)],
    "swept.swept_fan": lambda: [
        swept.swept_fan(B, 6.0, growth=g) for B, g in ((6, None), (7, None), (8, 10.0), (9, 10.0))
    ],
    "swept.swept_loss": lambda: [swept.swept_loss(P, B) for B in (5, 6, 11)],
    "swept.largest_ratio": lambda: [swept.largest_ratio(9), swept.largest_ratio(8, 2.0, 10.0)],
    "exclusive.exclusive_code": lambda: [exclusive.exclusive_code(G, m) for G, m in ((5, 3), (6, 4))],
    "exclusive.exclusive_loss": lambda: exclusive.exclusive_loss(SQUARE, 0.1),
    "exclusive.gains": lambda: [exclusive.least_gain(5), exclusive.best_gain(CONE), exclusive.least_dimensions(5)],
    "finite_rugs.simulated_loss": lambda: finite_rugs.simulated_loss(
        12, 0.1, 0.5, 3, 0.4, 1.1, -0.1, samples=20, seed=3
    ),
    "moments.levels": lambda: [moments.levels(0.1, 3, s) for s in (0.0, 0.5)],
    "moments.linear_loss": lambda: [moments.linear_loss(0.1, r, 3, s) for r in (0.1, 0.7) for s in (0.0, 0.6)],
    "moments.correlation": lambda: moments.correlation(0.2, np.array([0.0, 0.3, 1.0])),
    "pairs.pairs_in_plane": lambda: [pairs.pairs_in_plane(0.3, s) for s in (0.0, 0.3, 0.9)],
    "pairs.shared_line": lambda: [pairs.shared_line(0.2, 0.4, sign) for sign in (1, -1)],
    "pairs.merged_bound": lambda: pairs.merged_bound(0.2, 0.4),
    "meetings.graph_code_for": lambda: meetings.graph_code_for(PATH),
    "meetings.curve_code_for": lambda: meetings.curve_code_for(PATH),
    "meetings.topic_code": lambda: meetings.topic_code(6, 2),
    "ands.signs": lambda: ands.signs(5, 6, 3),
    "ands.readings": lambda: [
        ands.layer(ands.signs(5, 4, 3), ands.inputs(4, 0.3)[0]),
        ands.early_reading(ands.signs(5, 4, 3), ands.inputs(4, 0.3)[0]),
    ],
    "ands.sign_moments": lambda: ands.sign_moments(6),
    "coupled.coupled_evolution": lambda: coupled.coupled_evolution(0.1, 0.3, 4, 2, 4),
    "dictionaries.scores": lambda: dictionaries.scores(TRUTH, X, X @ SPREAD, TRUTH.directions @ SPREAD),
    "dictionaries.nonnegative_lasso": lambda: dictionaries.nonnegative_lasso(H[:3], TRUTH.directions, 0.05),
    "dictionaries.batches": lambda: [next(TRUTH.batches(3, seed=2))],
    "families.leaning": lambda: families.leaning(FAMILY, *leaning_of(FAMILY)),
    "families.laws": lambda: [families.hedged(0.3), families.absorbed(0.1)],
    "families.pair": lambda: [
        families.pair(0.1, 0.5, 0.1, k, related=related) for k in (1, 2) for related in (True, False)
    ],
    "families.unrelated": lambda: families.unrelated(FAMILY).activations(5, seed=3),
    "ladder.state_evolution": lambda: [ladder.state_evolution(p, r, 6) for p, r in ((0.05, 0.2), (0.3, 0.6))],
    "ladder.final_loss": lambda: [ladder.final_loss(p, r) for p, r in ((0.05, 0.1), (0.05, 0.4), (0.3, 0.6))],
    "ladder.recovery_ratio": lambda: [ladder.recovery_ratio(p) for p in (0.01, 0.2)],
    "ladder.decode_rug": lambda: first(
        iter(ladder.decode_rug(RUG.apply(X[:2, :1] * np.ones(16)), RUG, 0.1, iterations=3))
    ),
    "shared_directions.decode_antipodal": lambda: first(
        iter(shared_directions.decode_antipodal(ANTIPODAL.apply(X[:2, :1] * np.ones(16)), ANTIPODAL, 0.1, iterations=3))
    ),
    "shared_directions.digon_bayes_loss": lambda: [shared_directions.digon_bayes_loss(p) for p in (0.01, 0.4)],
    "shared_directions.pair_evolution": lambda: shared_directions.pair_evolution(0.1, 0.4, 5),
    "shared_directions.pair_posterior": lambda: shared_directions.pair_posterior(GRID, 0.3, 0.1),
    "planar_decoders.planar_bayes_loss": lambda: planar_decoders.planar_bayes_loss(FAN.W_in, 0.1, samples=6, seed=3),
    "relu_layers.relu_layers": lambda: [
        relu_layers.relu_layers(0.1, 0.4, 3),
        relu_layers.relu_layers(np.array([0.02, 0.3, 0.9]), 0.6, 2),
    ],
    "relu_layers.best_step": lambda: [relu_layers.best_step(0.1, s) for s in (0.1, 0.5)],
    "relu_layers.best_read": lambda: [relu_layers.best_read(0.1, s) for s in (0.1, 0.5)],
    "ablations.structure": lambda: ablations.structure(SQUARE - 0.3 * (1 - np.eye(4))),
    "ablations.loudness": lambda: ablations.loudness(SQUARE),
    "ablations.ablations": lambda: ablations.ablations(SQUARE, 0.2, samples=60, seed=3),
    "dimensions.of": lambda: [dimensions.of(weights_of(FAN), None), dimensions.capacity(weights_of(FAN))],
    "feature_laws.gaussian_loss": lambda: feature_laws.gaussian_loss(A, B, 0.2, feature_laws.uniform_nodes(0.1)),
    "feature_laws.nodes": lambda: feature_laws.uniform_law(0.1).nodes(),
    "names.spread_of": lambda: names.spread_of(np.array([1.0, 2.0, 4.0])),
    "record_verifier.rank_of": lambda: record_verifier.rank_of(FAN.W),
    "few_active_features.crowd": lambda: few_active_features.crowd(UNEQUAL, 0.4 * np.ones(6)),
    "few_active_features.few_active_losses": lambda: few_active_features.few_active_losses(UNEQUAL, 0.4 * np.ones(6)),
    "few_active_features.tuned_losses": lambda: few_active_features.tuned_losses(SQUARE, UNEQUAL[:4]),
    "sharing.power_law": lambda: sharing.power_law(5, 1.0),
    "sharing.shares": lambda: [
        sharing.tied_shares(UNEQUAL, 3),
        sharing.even_shares(UNEQUAL, 3),
        sharing.shares(WIDE, UNEQUAL[:5]),
    ],
    "sharing.unequal_rug": lambda: sharing.unequal_rug(UNEQUAL, sharing.tied_shares(UNEQUAL, 3)),
    "attractors": lambda: [attractors.simplex(4, 6), attractors.freezing_sigma(4, 1.5), attractors.last_weight(0.1)],
    "collision_constant": lambda: [
        collision_constant.isotropic(NETWORKS),
        collision_constant.mean_overlap(NETWORKS),
        collision_constant.two_features(8),
        collision_constant.opposite_tops_at(np.array([-0.4, 0.3]), 8),
    ],
    "collision_constant.drawn": lambda: collision_constant.two_features_drawn(6, 40, seed=3),
    "collisions.malign": lambda: collisions.malign(0.3, -0.2, np.array([0.0, 0.5, 2.0])),
    "collisions.duplicate": lambda: collisions.duplicate(NETWORKS[0], noise=0.1, seed=3),
    "collisions.counts": lambda: [
        collisions.count_polysemantic(10 * NETWORKS[0]),
        collisions.same_sign_pairs(10 * NETWORKS[0]),
        collisions.opposite_tops(NETWORKS[0]),
        collisions.expected(5, 8),
    ],
    "collisions.strengths": lambda: [collisions.strengths(NETWORKS[0]), collisions.strengths_at_start(4, 6, 0.7)],
    "company.rates": lambda: [company.rates(0.3, 6), company.two_of(0.3, 6)],
    "company.loss": lambda: [company.loss(NETWORKS, 0.7, 0.2), company.gradient(NETWORKS, 0.7, 0.2)],
    "company.flow": lambda: company.flow(NETWORKS, 0.8, 0.05, 0.1, 5.0),
    "company.settled": lambda: [company.settled_pair(0.8, 0.05, 0.02), company.curing_weight(0.05, 0.02)],
    "end_law": lambda: [end_law.mean_end(), end_law.mean_end_gaussian(16)],
    "kurtosis.drifts": lambda: [
        drift(WIDE[0] / 3, LAWS[3], 0.1) for drift in (kurtosis.step_moments, kurtosis.drift, kurtosis.direction_drift)
    ],
    "kurtosis.rest": lambda: [kurtosis.stationary_fourth_norm(8, 1.0), kurtosis.bipolar_reach(WIDE[0], 0.2)],
    "l1_loss": lambda: [l1_loss.loss(SQUARE, 0.1), l1_loss.gradient(SQUARE, 0.1), *l1_loss.forces(SQUARE, 0.1)],
    "l1_loss.rest": lambda: [l1_loss.threshold(R, 0.1), l1_loss.resting_weight(0.05)],
    "many_networks": lambda: [
        many_networks.start(2, 3, 5, seed=3),
        many_networks.flow(many_networks.start(3, 3, 5, seed=3), 0.05, 4.0),
    ],
    "noise_loss.expected_loss": lambda: [noise_loss.expected_loss(SQUARE / 2, law) for law in LAWS],
    "noise_loss.series": lambda: [
        f(SQUARE / 2, LAWS[1]) for f in (noise_loss.kurtosis_term, noise_loss.fourth_norm_slope)
    ],
    "noise_push.push": lambda: [np.stack([noise_push.push(WIDE[0], 0.8, law) for law in LAWS])],  # one is nought
    "noise_push.series": lambda: [
        noise_push.push_series(WIDE[0] / 3, 0.8, LAWS[0]),
        noise_push.turning_depth(8, -1.0, 4.0),
    ],
    "noise_push.mean_push": lambda: noise_push.mean_push(6, 0.8, LAWS[0]),
    "one_feature.trajectory": lambda: one_feature.trajectory(ROWS[0], 0.02, [0.0, 1.0, 10.0]),
    "sparsification_rate": lambda: [
        sparsification_rate.balance(1.5, 0.02),
        sparsification_rate.balance_error(1.5, 0.02, 0.4),
        sparsification_rate.relative_variance(ROWS[0]),
        sparsification_rate.l1_decay(ROWS[0], 0.02),
        sparsification_rate.continuum(R),
        sparsification_rate.tail_law(R),
        sparsification_rate.percentiles(9),
        sparsification_rate.relative_variance_bounds(ROWS[0]),
        sparsification_rate.end_time(ROWS[0]),
    ],
    "step_noise": lambda: [
        step_noise.free_share(3, 6),
        step_noise.pushes(NETWORKS[0], LAWS[3]),
        step_noise.balance(NETWORKS[0], LAWS[3], draws=10, seed=3),
        step_noise.free_drift(NETWORKS[0], LAWS[3], draws=10, seed=3),
    ],
    "tail_moments.gaussian": lambda: tail_moments.gaussian_moments(GRID, 0.7),
    "added_fields.slope": lambda: added_fields.slope(FIELDS[0], tilings.best_tile(WAVES, tiled=True), WAVES),
    "added_fields.network_loss": lambda: added_fields.network_loss(FIELDS, WAVES),
    "flat_field.critical_gain": lambda: [
        flat_field.critical_gain(12, 1.5, 0.7),
        flat_field.critical_gain(12, 1.5, 0.7, "wrapped"),
    ],
    "flat_field.flat_growth": lambda: flat_field.flat_growth(12, 1.5, 0.7, 0.4, samples=500),
    "flat_field.second": lambda: flat_field.flat_growth(12, 1.5, 0.7, 0.4, 2, samples=500, seed=3),
    "gated_training.task": lambda: gated_training.task(12, 1.5, 0.7, 1.0, 6, seed=3),
    "gated_training.train": lambda: gated_training.train(
        FIELDS[:, None],
        *gated_training.task(12, 1.5, 0.7, 1.0, 40, seed=3),
        gated_training.leaky(0.1),
        steps=3,
        lr=0.1,
        batch=20,
    ),
    "gates.directions": lambda: [gates.directions("random", 12, 2), gates.centres(12, 3)],
    "gates.moments": lambda: gates.gaussian_second_moment(FIELDS[:2], C1),
    "hermite.hermite_growth": lambda: hermite.hermite_growth(12, 1.5, 0.7, {3: 0.1, 5: 0.02}, samples=500, seed=3),
    "hermite.hermite_rates": lambda: hermite.hermite_rates(12, 1.5, 0.7, {3: 0.1}),
    "landscape.score": lambda: [landscape.score(FIELDS[0], TASK), landscape.network_loss(FIELDS, TASK)],
    "landscape.torus": lambda: landscape.score(FIELDS[0, :9], landscape.torus_task(3, 1.2, 0.6, 1.0)),
    "landscape_descent.starting_fields": lambda: [landscape_descent.starting_fields(12, 2, s, 3) for s in ("random",)],
    "landscape_descent.predicted_fields": lambda: landscape_descent.predicted_fields(12, 1.5, 0.7, 1.0, 2, steps=4),
    "least_squares.half_line_mean": lambda: [least_squares.half_line_mean(g, 0.4) for g in (0.2, 2.0)],
    "least_squares.fields": lambda: [
        least_squares.small_bump_field(12, 1.5, 0.7, 1.0, 2),
        least_squares.small_bump_covariance(12, 1.5, 1.0, 2),
    ],
    "least_squares.ols": lambda: [
        least_squares.ols_field(FIELDS[0], C0, C1),
        least_squares.ols_loss(FIELDS[0], C0, C1),
        least_squares.relu_loss(FIELDS[1], FIELDS[0], C0, C1),
    ],
    "least_squares.means": lambda: [
        least_squares.signed_mean(FIELDS, H[:20, :1] * np.ones(12) + X[:20]),
        least_squares.turned_signed_mean(FIELDS[0], X[:20]),
    ],
    "least_squares.best_shift_cosine": lambda: least_squares.best_shift_cosine(FIELDS[0], FIELDS[1]),
    "marginals.draw": lambda: [
        marginals.draw(law, 0.6, 12, 1.5, 3, seed=3)
        for law in ("erf", "tanh", "sine", "sinh", "power", "shrink", "elliptical", "cubic")
    ],
    "marginals.hermite_ratio": lambda: [
        marginals.hermite_ratio(law, 0.6) for law in ("erf", "tanh", "sine", "sinh", "power", "shrink", "cubic")
    ],
    "marginals.amplifier": lambda: marginals.amplifier(GRID / 2, 1.5),
    "marginals.amplified_field": lambda: marginals.amplified_field(12, 1.5, 0.7, 2.0, rounds=50),
    "measures": lambda: [
        measures.ipr(FIELDS),
        measures.half_energy_width(FIELDS),
        measures.peak(FIELDS),
        measures.power(FIELDS),
        measures.mean_frequency(FIELDS),
        measures.ring_distance(1, 10, 12),
    ],
    "measures.same_place": lambda: [float(measures.same_place(FIELDS[0], np.roll(FIELDS[0], k))) for k in range(-3, 4)],
    "nlgp": lambda: [
        nlgp.normalization(R),
        nlgp.saturation(R),
        nlgp.nlgp_covariance(12, 1.5, 0.7),
        nlgp.nlgp_sample(12, 1.5, 0.7, 3, seed=3),
    ],
    "relu_flow": lambda: [
        relu_flow.gaussian_flow(FIELDS, C0, C1),
        relu_flow.gaussian_loss(FIELDS, C0, C1),
        relu_flow.half_space_mean(FIELDS[0], C1),
        relu_flow.steady_energy(C0, C1),
        relu_flow.transverse_rates(C0, C1),
        relu_flow.flip_rate(FIELDS, np.roll(FIELDS, 1), C0, C1),
    ],
    "relu_flow.coefficients": lambda: [
        f(0.6, 0.7, 0.4) for f in (relu_flow.two_neuron_coefficients, relu_flow.printed_coefficients)
    ],
    "relu_flow.single_neuron": lambda: relu_flow.single_neuron(FIELDS[0], C0, C1, [0.0, 0.5, 2.0]),
    "ring.kernel_row": lambda: [
        ring.kernel_row(12, 1.5),
        ring.kernel_row(12, 1.5, "wrapped"),
        ring.covariance_row(12, 1.5),
    ],
    "ring.samples": lambda: [ring.gaussian_sample(C1, 2, seed=3), ring.stationary_sample(C1[0], 2, seed=3)],
    "ring.large": lambda: ring.stationary_sample(ring.covariance_row(600, 4.0), 1, seed=3),
    "single_pulses": lambda: [
        single_pulses.pulse_support(8, [2, 3]),
        single_pulses.pulse_moment(8, [2, 3], [0, 1]),
        single_pulses.pulse_second_moment(8, [2, 3]),
    ],
    "tilings.best_tile": lambda: [tilings.best_tile(WAVES, tiled=tiled) for tiled in (True, False)],
    "tilings.biased": lambda: tilings.best_biased_tile(
        tilings.best_tile(WAVES, tiled=True).field, -0.4, WAVES, hidden=True, output=True
    ),
    "bayes.bayes_loss": lambda: bayes.bayes_loss(P, SIGMA),
    "bayes.bayes_decoder": lambda: bayes.bayes_decoder(GRID[:, None], np.array([0.05, 0.5, 2.0]), 0.1),
    "interference": lambda: [
        interference.feature_cumulants(0.2),
        interference.absolute_third(0.2),
        interference.lyapunov(OFF),
        interference.mean_power_sums(16, 6),
        interference.mean_power_sums(16, 6, antipodal=True),
        interference.skewness_spread(16, 6),
        interference.triples(RUG),
        interference.exact_excess(OFF, 1.2, -0.2, 0.2),
        interference.partner_loss(-0.6, 1.2, -0.2, 0.1, 0.3),
        interference.rug_loss(RUG, 1.2, -0.2, 0.2),
    ],
    "interference.excess": lambda: interference.excess(
        interference.row_cumulants(interference.mean_power_sums(16, 6), 0.2), 1.2, -0.2, 0.2
    ),
    "jumprelu.jumprelu_optimum": lambda: jumprelu.jumprelu_optimum(P[1:3], R[1:]),
    "loss_bounds": lambda: [
        loss_bounds.on_terms(0.3, SIGMA[2:]),
        loss_bounds.on_bounds(0.3, SIGMA[2:]),
        loss_bounds.cut_off_error(0.3, SIGMA[2:]),
        loss_bounds.upper_bound(0.05, 0.3, 0.1),
        loss_bounds.mmse(SIGMA[2:]),
        loss_bounds.mmse_slope(),
        loss_bounds.lower_bound(0.05, R[:3]),
        loss_bounds.posterior_mean(GRID, 0.3),
        loss_bounds.posterior_variance(GRID, 0.3),
        loss_bounds.inside_probability(GRID, 0.3),
        loss_bounds.window_probability(0.1),
        loss_bounds.window_constant(0.1),
    ],
    "meanfield.loss": lambda: meanfield.loss(A[..., None], B[:, None], SIGMA, 0.2),
    "meanfield.optimum": lambda: [meanfield.optimum(P, R), meanfield.noise_std(P, R), meanfield.linear_loss(P, R)],
    "meanfield.best_gain": lambda: meanfield.best_gain(-0.4, SIGMA[1:], 0.1),
    "model.row_statistics": lambda: model.row_statistics(SQUARE, OFF[:4], 0.2),
    "rug_moments": lambda: [rug_moments.moment(k, GRID[:, None], SIGMA[1:]) for k in range(4)],
    "rug_moments.ramp": lambda: [
        rug_moments.ramp_moment(j, k, GRID[:, None], 1.2, SIGMA[1:]) for j in (0, 1) for k in (1, 2)
    ],
    "noise_bound": lambda: [
        noise_bound.smallest_noise(8, 3),
        noise_bound.welch(8, 3),
        noise_bound.row_noise(SQUARE),
        noise_bound.normalised(SQUARE),
        noise_bound.chain(WIDE.T @ WIDE, 2),
        noise_bound.symmetrised(SQUARE, 2),
    ],
    "noise_bound.descend": lambda: noise_bound.descend(6, 2, seed=3, steps=20),
    "rugs": lambda: [rugs.Rug(16, 6).dense(), rugs.walsh_hadamard(FIELDS[:, :8]), rugs.row_loss(OFF, 1.2, -0.1, 0.1)],
    "rugs.simulated_loss": lambda: rugs.simulated_loss(RUG, 1.1, -0.1, 0.2, samples=30, seed=3),
    "scaling": lambda: [
        scaling.off_moment(GRID),
        scaling.threshold(0.05),
        scaling.small_noise_factor(0.05),
        scaling.drop_ratio(0.01, 2.0),
        scaling.drop_threshold(2.0),
        scaling.drop_loss(2.0),
        scaling.loss_in_the_drop(0.01, 2.0),
        scaling.half_ratio(0.05),
    ],
    "stopping": lambda: [
        stopping.first_below(np.linspace(1, 0, 300), 0.5),
        stopping.first_below(np.linspace(1, 0, 300), 0.5, 10),
    ],
    "tight_frames": lambda: [
        tight_frames.frame_potential(WIDE.T),
        tight_frames.unit_vectors(5, 3, seed=3),
        tight_frames.projector(5, 3, seed=3),
        tight_frames.tight_frame(5, 3, seed=3),
        tight_frames.rug_directions(RUG, seed=3),
    ],
    "walsh_descent": lambda: [
        walsh_descent.layered_indices(16, 6, 2),
        walsh_descent.partner_share(RUG.indices, 16),
        walsh_descent.decoded_loss(RUG, 0.2, samples=60, seed=3),
    ],
    "border": lambda: [border.continuous_border(0.2), border.cubic_term(0.2), border.tricritical(), border.border(0.3)],
    "geometry": lambda: [geometry.gram(WIDE), geometry.feature_dimensionality(WIDE), geometry.interference(WIDE)],
    "linear": lambda: [
        linear.two_force_loss(WIDE, 1.0),
        linear.linear_loss(WIDE, OFF[:5], 2.0, 0.3),
        linear.best_bias(WIDE, 0.3),
        linear.optimum(np.linspace(0.5, 2, 5), 2),
        linear.flow(WIDE, 1.0, 0.3, [0.5]),
    ],
    "linear.descend": lambda: linear.descend(WIDE, 1.0, 0.3, rate=0.1, steps=3, batch=8, seed=3),
    "loss": lambda: [
        loss.k_sparse_loss(WIDE, -0.1, 1.0, 2),
        loss.population_loss(WIDE, -0.1, 1.0, 0.3),
        loss.shortcut_loss(WIDE, -0.1, 1.0),
    ],
    "loss.simulated_loss": lambda: loss.simulated_loss(WIDE, -0.1, 1.0, 0.3, samples=30, seed=3),
    "thomson": lambda: [
        thomson.thomson_energy(WIDE),
        thomson.polygon(5),
        thomson.simplex(3).T @ thomson.simplex(3),  # it may stand in any direction
        thomson.sum_of_parts(thomson.polygon(3), thomson.simplex(1)),
    ],
    "thomson.minimise": lambda: [thomson.minimise(4, 2, starts=2), thomson.minimise(4, 2, starts=2, energy="coulomb")],
    "budgets.rounded_loss": lambda: budgets.rounded_loss(FAN, 0.1, 16, samples=200, seed=3),
    "graphs.graph_row": lambda: [graphs.graph_row("Clebsch"), graphs.graph_row("Clebsch", 0.1)],
    "mixtures.hull": lambda: mixtures.hull(0.3, points=12).loss,
    "partners.loss": lambda: partners.loss(A[..., None], B[:, None], SIGMA[3:], 0.6, 0.2),
    "partners.optimum": lambda: partners.optimum(SIGMA[3:], 0.5, 0.1),
    "partners.antipodal_optimum": lambda: partners.antipodal_optimum(P, R[:3]),
    "grouped_rugs.grouped_rug": lambda: [grouped_rugs.grouped_rug(0.1, 0.3, 3, s) for s in (0.0, 0.7)],
    "dictionaries.dictionary": lambda: [
        dictionaries.dictionary(8, 4).directions,
        dictionaries.dictionary(8, 4, "antipodal").directions,
    ],
    "dictionaries.unequal": lambda: dictionaries.dictionary(8, 4, exponent=1.0).p,
    "priced_dictionaries.losses": lambda: [
        loss(a, -0.1, 0.05, 0.1, 0.4)
        for loss in (priced_dictionaries.truth_loss, priced_dictionaries.pairs_loss)
        for a in (0.6, 1.1)
    ],
    "priced_dictionaries.least": lambda: priced_dictionaries.least(priced_dictionaries.truth_loss, 0.05, 0.05, 0.4),
    "allocations.allocate": lambda: allocations.allocate(UNEQUAL, [2], phases=("fan", "digon")),
    "tail_moments": lambda: [tail_moments.moments(np.array([-0.2, 0.3]), WIDE[0], law) for law in LAWS],
    "untied_weights": lambda: [
        *untied_weights.train(NETWORKS[0], NETWORKS[1], steps=3, lr=0.1),
        *untied_weights.train(NETWORKS[0], NETWORKS[1], steps=3, lr=0.1, lambda_=0.1, decay=0.1),
    ],
    "gated_networks": lambda: (
        [
            f(SQUARE @ SQUARE.T, OFF[:4].reshape(2, 2))
            for f in (gated_networks.limiting_weights, gated_networks.limiting_loss)
        ]
        + [
            gated_networks.loss(SQUARE @ SQUARE.T, OFF[:4].reshape(2, 2), SQUARE[:2, :2]),
            gated_networks.initial_speed(FIELDS[:2]),
        ]
    ),
    "protocols": lambda: [
        protocols.rate_at_shift(0.5, 64, 16, 0.05),
        *(protocols.protocol(n, 64, 16, 0.05) for n in ("recipe", "text", "earlier")),
    ],
    "protocols.others": lambda: [
        protocols.protocol("recipe", *one) for one in ((1024, 100, 0.01), (2048, 1000, 0.3), (300, 290, 0.9))
    ],
    "late_rate": lambda: late_rate.late_rate(SQUARE @ SQUARE.T),
}
