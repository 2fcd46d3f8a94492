"""The laws of noise that tests try, their excess kurtoses, names and densities at unit variance."""

import numpy as np
from superposition import incidental

LAWS = [
    incidental.bipolar(0.3), incidental.uniform(0.3), incidental.normal(0.3), incidental.laplace(0.3),
    incidental.discrete(0.3, -1.5), incidental.discrete(0.3, 0), incidental.discrete(0.3, 3),
    incidental.discrete(0.3, -2),
]  # fmt: skip
KURTOSES = [-2, -1.2, 0, 3, -1.5, 0, 3, -2]
NAMES = [f"{law.name} {k}" for law, k in zip(LAWS, KURTOSES, strict=True)]
DENSITIES = {
    "uniform": lambda x: (abs(x) <= 3**0.5) / 12**0.5,
    "normal": lambda x: np.exp(-(x**2) / 2) / (2 * np.pi) ** 0.5,
    "laplace": lambda x: np.exp(-(2**0.5) * abs(x)) / 2**0.5,
}
