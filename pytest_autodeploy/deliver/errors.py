"""What goes wrong with a characterisation and what is made from it."""

from __future__ import annotations

from pytest_autodeploy.base.errors import AutodeployError


class DeliveryError(AutodeployError):
    """Nothing can be delivered from what is known of the model; the text says why."""


class OutputsDiffer(DeliveryError):
    """The board's outputs are not within the tolerance of the PC's."""


class CharacterizationError(DeliveryError):
    """Files of a characterisation that cannot be used: missing, damaged, or of another model."""
