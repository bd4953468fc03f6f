"""Acting in a cluster of the newer Kubernetes, as its own HPA controller does."""

import os

from cases import newer
from harness import control_plane
from harness.acting import Acting, with_scenarios

LONG = bool(os.environ.get("SCALER_LONG"))


@with_scenarios
class NewerAct(Acting):
    """What is new there, and in the long form all that is usual too."""

    VERSION = control_plane.NEWER
    SCENARIOS = newer.ALL if LONG else newer.SHORT
    WHO = ("stock", "hpa", "own") if LONG else ("stock", "hpa")
