"""Your own model, measured against the theory: gains, noise, partners, loudness, loss, and how far from the best.

The functions here check every argument, and a ValueError says what is allowed. Two further modules do not check:
`superposition.diagnosis.picture` (draws a model in the phase diagram) and `superposition.diagnosis.ablations` (which
parts of a matrix make its loss). In both W is the product of decoder and encoder, (n, n).

Source: ours, against The Persian Rug.
"""

from superposition.diagnosis.ablations import ablated_losses, code_structure
from superposition.diagnosis.autoencoder import diagnose
from superposition.diagnosis.diagnosed import Diagnosis
from superposition.diagnosis.feature_laws import FeatureLaw
from superposition.diagnosis.record_verifier import Record, check_record, measured_record
from superposition.diagnosis.survey import survey_files

__all__ = [
    "Diagnosis", "FeatureLaw", "Record", "ablated_losses", "check_record", "code_structure", "diagnose",
    "measured_record", "survey_files",
]  # fmt: skip
