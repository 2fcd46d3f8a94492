"""One valid call of every public function of the ground that takes numbers."""

import numpy as np
from superposition import features, moments, relu_integrals, weights

# weights.packed([[1, -1]], [[1], [-1]], [0, 0]), which asks for safetensors, and this table is read without it too
PACKED = (
    "sAAAAAAAAAB7IldfaW4iOnsiZHR5cGUiOiJGMzIiLCJzaGFwZSI6WzEsMl0sImRhdGFfb2Zmc2V0cyI6WzAsOF19LCJXX291dCI6eyJkdHlwZSI6"
    "IkYzMiIsInNoYXBlIjpbMiwxXSwiZGF0YV9vZmZzZXRzIjpbOCwxNl19LCJiIjp7ImR0eXBlIjoiRjMyIiwic2hhcGUiOlsyXSwiZGF0YV9vZmZz"
    "ZXRzIjpbMTYsMjRdfX0gIAAAgD8AAIC/AACAPwAAgL8AAAAAAAAAAA=="
)
CALLS = [
    (features.probability, {"p": 0.3}),
    (features.one_probability, {"p": 0.3}),
    (moments.gauss_legendre, {"n": 4}),
    (moments.moment, {"k": 2, "m": 0.1, "s": 0.5}),
    (moments.ramp_moment, {"j": 1, "k": 1, "m": 0.1, "slope": 1.0, "s": 0.5}),
    (relu_integrals.relu_power, {"b": 0.1, "c": np.array([0.5, -0.7]), "q": 2}),
    (relu_integrals.relu_moment, {"b": 0.1, "c": np.array([0.5, -0.7]), "j": 1}),
    (weights.packed, {"W_in": np.array([[1.0, -1.0]]), "W_out": np.array([[1.0], [-1.0]]), "b": np.array([0.1, 0.2])}),
    (weights.unpacked, {"text": PACKED}),
]
