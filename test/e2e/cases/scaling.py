"""Scenarios that every scaler has to go through alike. A new one: add a `Scenario` to ALL.

The values do not depend on the number of pods, so the way does not depend on who looks when: a value per pod that asks for
more goes up to maxReplicas, a total goes where it says.
"""

from dataclasses import dataclass, field

from harness import scaling
from harness.scaling import pods, queue, resource, service

_AT_ONCE = {"scaleDown": {"stabilizationWindowSeconds": 0}}


@dataclass(frozen=True)
class Scenario:
    """`steps`: values for Metrics.set and the replicas that they lead to; beside the values `by_hand` is a count that a person
    gives the target, `edit` a change of the autoscaler's spec. `says`: type, status and reason of a condition
    that must stand at the end, so that a scenario fails when what it is about did not happen."""
    name: str
    metrics: tuple
    steps: tuple
    kind: str = "Deployment"
    start: int = 1
    bounds: tuple = (1, 4)
    behavior: dict = field(default_factory=lambda: _AT_ONCE)
    says: str = "ScalingActive True ValidMetricFound"
    target: bool = True    # there is a workload
    selector: bool = True  # of a Widget
    rivals: int = 1        # autoscalers on the one target
    of_hpa: bool = False   # our own kind's definition refuses what the API of HPAs takes

    def names(self) -> list:
        return [self.name] + [f"{self.name}-{i}" for i in range(1, self.rivals)]

    def values(self, step: int) -> dict:
        return {kind: value for kind, value in self.steps[step][0].items() if kind not in ("by_hand", "edit")}

    def spec(self) -> dict:
        """Of the HorizontalPodAutoscaler."""
        return {"scaleTargetRef": scaling.target_ref(self.kind, self.name), "minReplicas": self.bounds[0],
                "maxReplicas": self.bounds[1], "metrics": list(self.metrics), "behavior": self.behavior}


def _up_and_down(**kind_and_unit):
    """At the target, double of it, a fifth of it; for targets that compare an average with the target."""
    (kind, unit), = kind_and_unit.items()
    return ({kind: unit}, 1), ({kind: 2 * unit}, 4), ({kind: unit / 5}, 1)


_TOTAL = ({"queue": 9.5}, 1), ({"queue": 35}, 4), ({"queue": 19.5}, 2)
_POLICY = {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 600}], "stabilizationWindowSeconds": 0}

def _near(metric: dict, source: str) -> dict:
    """Selected by an operator that there is not; the API does not look."""
    metric[source]["metric"]["selector"] = {"matchExpressions": [{"key": "queue", "operator": "Near", "values": ["it"]}]}
    return metric


def _of(api_version: str, kind: str, name: str = "load_service") -> dict:
    metric = service("thing")
    metric["object"]["describedObject"] = {"apiVersion": api_version, "kind": kind, "name": "thing"}
    metric["object"]["metric"]["name"] = name
    return metric


def _as_utilization(metric: dict) -> dict:
    metric["object"]["target"]["type"] = "Utilization"
    return metric


ALL = (
    # Each type of metric, each kind of target.
    Scenario("pods", (pods(),), _up_and_down(pod=10)),
    Scenario("cpu-utilization", (resource(percent=50),), (
        ({"cpu": 0.08, "side_cpu": 0.02}, 1), ({"cpu": 0.18, "side_cpu": 0.02}, 4), ({"cpu": 0.01, "side_cpu": 0.01}, 1))),
    Scenario("cpu-average", (resource(average="110m"),), _up_and_down(cpu=0.1)),
    Scenario("memory", (resource("memory", average="64Mi"),), (
        ({"memory": 32}, 1), ({"memory": 64}, 4), ({"memory": 8}, 1))),
    Scenario("container", (resource(percent=50, container="main"),), (
        ({"cpu": 0.05, "side_cpu": 0.9}, 1), ({"cpu": 0.1}, 4), ({"cpu": 0.01}, 1))),
    Scenario("object-value", (service("object-value", average=False),), _up_and_down(service=10)),
    Scenario("object-average", (service("object-average"),), (
        ({"service": 9.5}, 1), ({"service": 35}, 4), ({"service": 19.5}, 2))),
    Scenario("external-value", (queue("external-value", average=False),), _up_and_down(queue=10)),
    Scenario("external-average", (queue("external-average"),), _TOTAL),
    Scenario("stateful", (queue("stateful"),), _TOTAL, kind="StatefulSet"),
    Scenario("custom-kind", (queue("custom-kind"),), _TOTAL, kind="Widget"),

    # Several metrics: the largest proposal wins; one that can't be read forbids shrinking.
    Scenario("largest", (queue("largest"), service("largest")), (
        ({"queue": 9, "service": 9}, 1), ({"queue": 35}, 4), ({"service": 25}, 4), ({"queue": 5}, 3))),
    Scenario("partly-unknown", (pods(name="load_unheard_of"), queue("partly-unknown")), (
        ({"queue": 9}, 1), ({"queue": 25}, 3), ({"queue": 9}, 3)), says="ScalingActive False FailedGetPodsMetric"),

    # Limits.
    Scenario("bounded", (queue("bounded"),), (({"queue": 9}, 2), ({"queue": 900}, 4)), start=2, bounds=(2, 4),
             says="ScalingLimited True TooManyReplicas"),
    Scenario("least", (queue("least"),), (({"queue": 39}, 4), ({"queue": 1}, 2)), start=3, bounds=(2, 4),
             says="ScalingLimited True TooFewReplicas"),
    Scenario("policy-up", (queue("policy-up"),), (({"queue": 9}, 1), ({"queue": 39}, 2)), behavior={"scaleUp": _POLICY},
             says="ScalingLimited True ScaleUpLimit"),
    Scenario("policy-down", (queue("policy-down"),), (({"queue": 39}, 4), ({"queue": 9}, 3)), start=4,
             behavior={"scaleDown": _POLICY}, says="ScalingLimited True ScaleDownLimit"),
    Scenario("stabilised", (queue("stabilised"),), (({"queue": 35}, 4), ({"queue": 9}, 4)), start=4, behavior={},
             says="AbleToScale True ScaleDownStabilized"),
    Scenario("pinned", (queue("pinned"),), (({"queue": 35}, 2), ({"queue": 9}, 2)), start=2, bounds=(2, 2),
             says="ScalingLimited True TooFewReplicas"),
    Scenario("frozen-up", (queue("frozen-up"),), (({"queue": 9}, 1), ({"queue": 39}, 1)),
             behavior={"scaleUp": {"selectPolicy": "Disabled"}}, says="ScalingLimited True ScaleUpLimit"),
    Scenario("frozen-down", (queue("frozen-down"),), (({"queue": 39}, 4), ({"queue": 9}, 4)), start=4,
             behavior={"scaleDown": {"selectPolicy": "Disabled", "stabilizationWindowSeconds": 0}},
             says="ScalingLimited True ScaleDownLimit"),
    Scenario("held-down", (queue("held-down"),), (({"queue": 9}, 1), ({"queue": 39}, 1)),
             behavior={"scaleUp": {"stabilizationWindowSeconds": 600}}, says="AbleToScale True ScaleUpStabilized"),
    Scenario("above-maximum", (queue("above-maximum"),), (({"queue": 35}, 4),), start=6),
    Scenario("below-minimum", (queue("below-minimum"),), (({"queue": 15}, 2),), start=1, bounds=(2, 4)),
    Scenario("switched-off", (queue("switched-off"),), (({"queue": 15}, 0),), start=0,
             says="ScalingActive False ScalingDisabled"),

    # What can't be decided.
    Scenario("no-pods-metric", (pods(name="load_unheard_of"),), (({}, 2),), start=2,
             says="ScalingActive False FailedGetPodsMetric"),
    Scenario("no-external-metric", (queue("x", name="queue_unheard_of"),), (({}, 2),), start=2,
             says="ScalingActive False FailedGetExternalMetric"),
    Scenario("no-series", (queue("no-series"),), (({}, 2),), start=2, says="ScalingActive False FailedGetExternalMetric"),
    Scenario("no-object-metric", (service("no-object-metric"),), (({}, 2),), start=2,
             says="ScalingActive False FailedGetObjectMetric"),
    Scenario("no-resource-metric", (resource(percent=50),), (({}, 2),), start=2,
             says="ScalingActive False FailedGetResourceMetric"),
    Scenario("no-request", (resource("ephemeral-storage", percent=50),), (({"cpu": 0.1}, 2),), start=2,
             says="ScalingActive False FailedGetResourceMetric"),
    Scenario("no-metric-at-all", (pods(name="load_unheard_of"), queue("x", name="queue_unheard_of")), (({}, 2),), start=2,
             says="ScalingActive False FailedGetPodsMetric"),
    Scenario("no-such-container", (resource(percent=50, container="nobody"),), (({"cpu": 0.1}, 2),), start=2,
             says="ScalingActive False FailedGetContainerResourceMetric"),
    Scenario("bad-operator", (_near(queue("bad-operator"), "external"),), (({"queue": 15}, 2),), start=2,
             says="ScalingActive False FailedGetExternalMetric", of_hpa=True),
    Scenario("bad-operator-pods", (_near(pods(), "pods"),), (({"pod": 15}, 2),), start=2,
             says="ScalingActive False FailedGetPodsMetric", of_hpa=True),
    Scenario("bad-operator-object", (_near(service("bad-operator-object"), "object"),), (({"service": 15}, 2),), start=2,
             says="ScalingActive False FailedGetObjectMetric", of_hpa=True),
    Scenario("no-such-object-kind", (_of("example.com/v1", "Gadget"),), (({"service": 15}, 2),), start=2,
             says="ScalingActive False FailedGetObjectMetric"),
    Scenario("namespace-metric", (_of("v1", "Namespace", "load_unheard_of"),), (({}, 2),), start=2,
             says="ScalingActive False FailedGetObjectMetric"),
    Scenario("object-without-target", (_as_utilization(service("object-without-target")),), (({"service": 15}, 2),), start=2,
             says="ScalingActive False FailedGetObjectMetric"),
    Scenario("absurd-target", (queue("absurd-target", target="1e30"),), (({"queue": 15}, 4),), start=2,
             says="ScalingLimited True TooManyReplicas", of_hpa=True),
    Scenario("no-target", (queue("no-target"),), (({"queue": 15}, None),), target=False,
             says="AbleToScale False FailedGetScale"),
    Scenario("no-such-kind", (queue("no-such-kind"),), (({"queue": 15}, None),), kind="Gadget", target=False,
             says="AbleToScale False FailedGetScale"),
    Scenario("not-scalable", (queue("not-scalable"),), (({"queue": 15}, None),), kind="DaemonSet", target=False,
             says="AbleToScale False FailedGetScale"),
    Scenario("no-selector", (queue("no-selector"),), (({"queue": 15}, 1),), kind="Widget", selector=False,
             says="ScalingActive False InvalidSelector"),
    Scenario("rivals", (queue("rivals"),), (({"queue": 9}, 1), ({"queue": 15}, 1)), rivals=2,
             says="ScalingActive False AmbiguousSelector"),
)
