"""Is the best tiling by one field the best network? Add another field to it, or let two fields tile the ring.

The prediction of a tiling is linear in its distribution of fields, so its loss is convex in this distribution: if no
field that is added lowers the loss to first order, no network of any width is better. A search finds the most promising
field on one sample; another sample decides whether it helps, since on its own sample any search finds some noise to
fit.

Source: completes the notes on localization, which measure localized fields; the formulas are ours.
"""

from __future__ import annotations

import numpy as np

from superposition import checks, ranges
from superposition.checked import checked
from superposition.receptive.ranges import field, rows_of_fields
from superposition.receptive.tilings import Tile, Waves, crowd, mean_crowd_size, mean_product, wave_data


def _added_fits(w, tile, data):
    _field_fits(w, data)
    _tile_fits(tile, data)


def _field_fits(w, data):
    checks.array("w", w, (data.n,))


def _tile_fits(tile, data):
    checks.array("tile.field", tile.field, (data.n,))


def _fields_fit(W, data):
    checks.array("W", W, ("J", data.n))


@checked(_added_fits, w=field, tile=ranges.instance(Tile), data=wave_data)
def added_slope(w: np.ndarray, tile: Tile, data: Waves) -> float:
    """Slope of the loss of a tiling as copies of a field w (n,) are added, over the root mean square of <w, x>.

    It is E[(yhat - Y) |<w, x>|] / 2 over that root: 0 for the tile's own field on the sample of the tile.

    Source: ours.

    Examples
    --------
    >>> from superposition import receptive
    >>> data = receptive.sample_waves(12, 1, 0.5, 3, 100, seed=0)
    >>> tile = receptive.best_tile(data, tiled=True)
    >>> bool(abs(added_slope(tile.field, tile, data)) < 1e-6)
    True
    """
    return _slope(np.asarray(w, dtype=np.float64), _with_crowds(tile, data), data)[0]


@checked(
    _tile_fits, tile=ranges.instance(Tile), data=wave_data, waves=ranges.whole(1, 1000),
    starts=ranges.whole(0, 1000), seed=ranges.seed
)  # fmt: skip
def steepest_field(
    tile: Tile, data: Waves, *, waves: int = 6, starts: int = 8, seed: int = 0
) -> tuple[np.ndarray, float]:
    """The field (n,) whose addition to a tiling lowers the loss of this sample most steeply, and its `added_slope`.

    Source: ours. Read the slope on another sample: on its own any search finds some noise to fit.

    Parameters
    ----------
    waves, starts : int
        The search starts from this number of waves of the lowest frequencies and this number of random fields.

    Returns
    -------
    field : numpy.ndarray, shape (n,)
    slope : float

    Examples
    --------
    >>> from superposition import receptive
    >>> data = receptive.sample_waves(12, 1, 0.5, 3, 100, seed=0)
    >>> field, slope = steepest_field(receptive.best_tile(data, tiled=True), data, waves=2, starts=0)
    >>> field.shape
    (12,)
    """
    from scipy.optimize import minimize  # slow to import

    rng = np.random.default_rng(seed)
    low = [np.cos(2 * np.pi * k * np.arange(data.n) / data.n) for k in range(waves)]
    tried = [w + 1e-3 * rng.standard_normal(data.n) for w in (*low, *rng.standard_normal((starts, data.n)))]
    of = _with_crowds(tile, data)
    ends = [minimize(_slope, w, (of, data), jac=True, method="L-BFGS-B") for w in tried]
    best = min(ends, key=lambda end: end.fun)
    return best.x / np.linalg.norm(best.x), float(best.fun)


@checked(_fields_fit, W=rows_of_fields, data=wave_data)
def tiled_network_loss(W: np.ndarray, data: Waves) -> tuple[float, np.ndarray]:
    """Loss E(yhat - Y)^2 / 2 of a network in which every field of W (J, n) tiles the ring, and its gradient.

    Source: ours. Use `first_order_loss` instead for neurons at places of their own.

    Returns
    -------
    value : float
    gradient : numpy.ndarray, shape (J, n)

    Examples
    --------
    >>> from superposition import receptive
    >>> data = receptive.sample_waves(12, 1, 0.5, 3, 100, seed=0)
    >>> value, gradient = tiled_network_loss(np.eye(1, 12), data)
    >>> gradient.shape
    (1, 12)
    """
    # With M the sum of the fields' mean sizes yhat is M / 2: 1/4 - E_1 M / 4 + sum over labels of E M^2 / 16.
    value, gradient, n = 0.25, np.zeros_like(W), data.n
    for label, y in ((data.label1, 1), (data.label0, 0)):
        of = [crowd.unchecked(w, label, n) for w in W]
        for j, v in enumerate(W):
            if y:
                size, by_size = mean_crowd_size.unchecked(v, of[j], label, n)
                value, gradient[j] = value - size / 4, gradient[j] - by_size / 4
            for i, w in enumerate(W):
                both, by_v = mean_product(w, of[i], v, of[j], label, n)
                value, gradient[j] = value + both / 16, gradient[j] + by_v / 8
    return value, gradient


@checked(_tile_fits, tile=ranges.instance(Tile), data=wave_data, starts=ranges.whole(0, 1000), seed=ranges.seed)
def best_field_pair(tile: Tile, data: Waves, *, starts: int = 1, seed: int = 0) -> tuple[np.ndarray, float]:
    """Two unconstrained fields (2, n) whose copies make the best network, and its loss on this sample.

    Source: ours. Use `steepest_field` instead to test whether any field helps at all.

    Parameters
    ----------
    starts : int
        The search starts from the tile with a weak wave of frequency 1, and from this number of random pairs.

    Returns
    -------
    fields : numpy.ndarray, shape (2, n)
    loss : float

    Examples
    --------
    >>> from superposition import receptive
    >>> data = receptive.sample_waves(12, 1, 0.5, 3, 100, seed=0)
    >>> tile = receptive.best_tile(data, tiled=True)
    >>> best_field_pair(tile, data, starts=0)[1] <= tile.loss + 1e-9
    True
    """
    from scipy.optimize import minimize  # slow to import

    rng, n = np.random.default_rng(seed), data.n
    tried = [np.stack([0.7 * tile.field, 0.1 * np.cos(2 * np.pi * np.arange(n) / n)])]
    tried += list(0.15 * rng.standard_normal((starts, 2, n)))

    def objective(flat):
        value, gradient = tiled_network_loss.unchecked(flat.reshape(2, n), data)
        return value, gradient.ravel()

    ends = [minimize(objective, W.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 200}) for W in tried]
    best = min(ends, key=lambda end: end.fun)
    return best.x.reshape(2, n), float(best.fun)


@checked(_field_fits, w=field, data=wave_data)
def behind_copies(w: np.ndarray, data: Waves) -> tuple[np.ndarray, np.ndarray]:
    """Second moments and correlation with the label of the inputs that the gates of all copies of w (n,) let through.

    Least squares for a field v behind these gates is A v / 2 = b.

    Source: ours.

    Returns
    -------
    A : numpy.ndarray, shape (n, n)
    b : numpy.ndarray, shape (n,)

    Examples
    --------
    >>> from superposition import receptive
    >>> A, b = behind_copies(np.eye(1, 12)[0], receptive.sample_waves(12, 1, 0.5, 3, 100, seed=0))
    >>> A.shape, b.shape
    ((12, 12), (12,))
    """
    # With gates 1(u_s > 0) and 1(u_s < 0) everywhere and a field v moved along, yhat = <v, h> / 2 where h is the mean
    # of sign(u_s) x over all turns that bring s to 0: least squares is A v / 2 = b.
    A, b, n = np.zeros((data.n, data.n)), np.zeros(data.n), data.n
    for label in (data.label1, data.label0):
        signs = crowd(w, label, n).x[1]
        h = np.fft.irfft(np.conj(np.fft.rfft(signs, axis=1)) * label.x, n=n, axis=1)
        A, b = A + h.T @ h / len(h), h.mean(axis=0) if label is data.label1 else b
    return A, b


def _with_crowds(tile, data):
    return tile.field, [crowd(tile.field, label, data.n) for label in (data.label1, data.label0)]


def _slope(w, of_tile, data):
    field, crowds = of_tile
    value, by_value = 0.0, np.zeros(data.n)
    for label, there, y in zip((data.label1, data.label0), crowds, (1, 0), strict=True):
        here = crowd.unchecked(w, label, data.n)
        both, by_both = mean_product(field, there, w, here, label, data.n)
        value, by_value = value + both / 8, by_value + by_both / 8
        if y:
            size, by_size = mean_crowd_size.unchecked(w, here, label, data.n)
            value, by_value = value - size / 4, by_value - by_size / 4
    image = np.fft.irfft(data.power * np.fft.rfft(w), n=data.n)
    root = np.sqrt(w @ image)
    return value / root, by_value / root - value * image / root**3
