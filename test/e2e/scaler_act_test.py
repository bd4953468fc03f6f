"""Acting: every scenario as the stock HPA controller goes through it, on HPAs and on our own kind."""

from cases import scaling as cases
from harness.acting import Acting, with_scenarios


@with_scenarios
class Act(Acting):
    """All of them, in the usual cluster."""

    SCENARIOS = cases.ALL
