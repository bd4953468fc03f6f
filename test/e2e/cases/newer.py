"""Scenarios that the controllers of Kubernetes 1.34 and 1.37 go through in different ways; the counts here are those of 1.37."""

from harness.scaling import queue, resource, service

from .scaling import ALL as USUAL, Scenario

_AT_ONCE = {"stabilizationWindowSeconds": 0}


def _tolerant(up: str, down: str) -> dict:
    return {"scaleUp": {"tolerance": up}, "scaleDown": {"tolerance": down, **_AT_ONCE}}


NEW = (
    # Tolerance by direction: 31 of 30 is 3 % above, 31 of 40 well within 50 % below.
    Scenario("tolerance-up", (queue("tolerance-up"),), (({"queue": 30.2}, 3), ({"queue": 31}, 4)), start=3,
             behavior=_tolerant("10m", "500m")),
    Scenario("tolerance-down", (queue("tolerance-down"),), (({"queue": 25}, 4), ({"queue": 19}, 2)), start=4,
             behavior=_tolerant("100m", "500m")),

    # Zero replicas: reached and left by the autoscaler alone, never by what a person put to sleep.
    Scenario("to-zero", (queue("to-zero"),), (({"queue": 15}, 2), ({"queue": 0}, 0), ({"queue": 35}, 4)), bounds=(0, 4),
             says="ScaledToZero False NotScaledToZero", of_hpa=True),
    Scenario("stays-at-zero", (service("stays-at-zero"),), (({"service": 15}, 2), ({"service": 0}, 0)), bounds=(0, 4),
             says="ScaledToZero True ScaledToZero", of_hpa=True),
    Scenario("zeroed-by-hand", (queue("zeroed-by-hand"),), (({"queue": 15}, 2), ({"by_hand": 0}, 0), ({"queue": 35}, 0)),
             start=2, bounds=(0, 4), says="ScalingActive False ScalingDisabled", of_hpa=True),
    Scenario("born-at-zero", (queue("born-at-zero"),), (({"queue": 35}, 0),), start=0, bounds=(0, 4),
             says="ScalingActive False ScalingDisabled", of_hpa=True),
    Scenario("woken-by-an-edit", (queue("woken-by-an-edit"),), (
        ({"queue": 15}, 2), ({"queue": 0}, 0), ({"edit": {"minReplicas": 3}}, 3)), bounds=(0, 4),
             says="ScaledToZero False NotScaledToZero", of_hpa=True),

    # Generations: edits while it runs.
    Scenario("edited", (queue("edited"),), (
        ({"queue": 35}, 4), ({"edit": {"maxReplicas": 3}}, 3), ({"edit": {"maxReplicas": 4, "minReplicas": 4}}, 4)),
             says="ScalingLimited False DesiredWithinRange"),

    # A load too large to count asks for the most, not for the least.
    Scenario("saturated", (queue("saturated", target=1, average=False),), (({"queue": 0.95}, 1), ({"queue": 3e9}, 4)),
             says="ScalingLimited True TooManyReplicas"),

    # A container that a pod lacks is an error that names the pod: of a StatefulSet, whose pods have the same names for everyone.
    Scenario("missing-container", (resource(percent=50, container="nobody"),), (({"cpu": 0.1}, 1),), kind="StatefulSet",
             says="ScalingActive False FailedGetContainerResourceMetric"),
)
_BOTH = ("pods", "cpu-utilization", "container", "external-value", "custom-kind", "largest", "policy-up", "stabilised",
         "above-maximum", "switched-off", "no-object-metric", "no-series", "no-target", "rivals")
SHORT = NEW + tuple(scenario for scenario in USUAL if scenario.name in _BOTH)
ALL = NEW + USUAL
