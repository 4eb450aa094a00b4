"""The core against everything that should give the same: the reference, and the model's own chat template."""

from turnloom.verification.differences import Difference
from turnloom.verification.sides import TemplateSide, TransformersSide
from turnloom.verification.verifier import Outcome, Verifier

__all__ = ["Difference", "Outcome", "TemplateSide", "TransformersSide", "Verifier"]
