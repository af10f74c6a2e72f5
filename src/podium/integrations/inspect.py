"""What Inspect (inspect.aisi.org.uk) finds by entry point: the model ``podium/POLICY`` and the solver ``podium/conduct``."""

from podium.integrations.inspect_model import PodiumModel
from podium.integrations.inspect_solver import conduct

__all__ = ["PodiumModel", "conduct"]
