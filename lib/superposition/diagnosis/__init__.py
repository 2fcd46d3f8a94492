"""Your own model, measured against the theory: gains, noise, partners, loudness, loss, and how far from the best.

What stands here checks every argument, and a ValueError says what is allowed. Behind it, unchecked:
`superposition.diagnosis.picture` (where a model stands) and `superposition.diagnosis.ablations` (what of a matrix makes
its loss). There W is the product of decoder and encoder, (n, n).

Source: ours, against The Persian Rug.
"""

from superposition.diagnosis.ablations import ablated_losses, code_structure
from superposition.diagnosis.autoencoder import diagnose
from superposition.diagnosis.diagnosed import Diagnosis
from superposition.diagnosis.feature_laws import FeatureLaw
from superposition.diagnosis.record_verifier import Record, check_record, measured_record
from superposition.diagnosis.survey import survey_files

__all__ = [
    "Diagnosis",
    "FeatureLaw",
    "Record",
    "ablated_losses",
    "check_record",
    "code_structure",
    "diagnose",
    "measured_record",
    "survey_files",
]
