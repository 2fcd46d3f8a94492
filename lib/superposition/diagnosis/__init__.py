"""Your own model, measured against the theory: gains, noise, partners, loudness, loss, and how far from the best.

Behind it: `superposition.diagnosis.picture` (where a model stands), `superposition.diagnosis.record_verifier` and
`superposition.diagnosis.ablations` (what of a matrix makes its loss).

Source: ours, against The Persian Rug.
"""

from superposition.diagnosis.autoencoder import Diagnosis, diagnose
from superposition.diagnosis.feature_laws import FeatureLaw

__all__ = [
    "Diagnosis",
    "FeatureLaw",
    "diagnose",
]
