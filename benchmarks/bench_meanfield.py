"""The closed form of the mean-field loss, against adaptive quadrature (scipy)."""

import numpy as np
from scipy import integrate
from superposition.rug import meanfield
from timing import compare


def by_quadrature(a, b, sigma, p):
    """Eq. 5 as the text leaves it: an integral over noise and strength."""

    def error(z, u):
        return (u - max(0.0, a * (u + sigma * z) + b)) ** 2 * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)

    on = integrate.dblquad(error, 0, 1, -10, 10, epsabs=1e-10)[0]
    return (1 - p) * integrate.quad(error, -10, 10, args=(0.0,), epsabs=1e-10)[0] + p * on


compare(
    "loss at one point",
    ours=lambda: meanfield.loss(1.2, -0.4, 0.25, 0.05),
    alternative=lambda: by_quadrature(1.2, -0.4, 0.25, 0.05),
    name="scipy quadrature, 1e-10",
)
a = np.linspace(0.5, 1.5, 1000)
compare(
    "loss at 1000 points",
    ours=lambda: meanfield.loss(a, -0.4, 0.25, 0.05),
    alternative=lambda: [meanfield.loss(value, -0.4, 0.25, 0.05) for value in a],
    name="the same, one point at a time",
)
