"""What is scaled: workloads, autoscalers and the metrics that a test sets for them."""

from . import kube, wait
from .client import Client
from .exporter import Exporter
from .kubelet import Kubelet
from .prometheus import Prometheus
from .watching import Watch

_OWN = {"namespace": {"resource": "namespace"}, "pod": {"resource": "pod"}}
_SUM = "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"
_RESOURCE = {"resources": {"overrides": {**_OWN, "node": {"resource": "node"}}}, "containerLabel": "container"}
CONFIG = {
    "rules": [{"seriesQuery": '{__name__=~"load_.*"}', "resources": {"template": "<<.Resource>>"}, "metricsQuery": _SUM}],
    "externalRules": [{"seriesQuery": '{__name__=~"queue_.*",namespace!=""}', "resources": {"overrides": _OWN},
                       "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (queue)"}],
    "resourceRules": {
        "window": "1m",
        "cpu": {**_RESOURCE, "containerQuery": _SUM.replace("<<.Series>>", "container_cpu"),
                "nodeQuery": _SUM.replace("<<.Series>>", "node_cpu")},
        "memory": {**_RESOURCE, "containerQuery": _SUM.replace("<<.Series>>", "container_memory"),
                   "nodeQuery": _SUM.replace("<<.Series>>", "node_memory")}},
}
MEBI = 2**20


class Metrics:
    """One Prometheus whose series a test sets for each workload.

    Kinds of values: `pod` (each pod's load_per_pod), `cpu` and `side_cpu` (cores of each container main and side), `memory`
    (MiB), `service` (load_service of the Service of that name), `queue` (queue_len with queue=NAME in the namespace).
    """

    def __init__(self, kubelet: Kubelet):
        self._kubelet, self._values = kubelet, {}
        self.silent = False  # the exporter has nothing to say
        self._exporter = Exporter(self._samples)
        self.prometheus = Prometheus({"work": self._exporter.address})

    def set(self, namespace: str, app: str, **values):
        """The values of one workload from now on; None is no series."""
        self._values[namespace, app] = {**self._values.get((namespace, app), {}), **values}

    def wait_scraped(self, namespace: str):
        """Until Prometheus has a value of each pod that should have one."""
        for (ns, app), values in self._values.items():
            if ns == namespace and {"pod", "cpu", "memory"} & set(values):
                series = "load_per_pod" if "pod" in values else "container_cpu"
                wait.until(lambda a=app, s=series: (pods := self._kubelet.names(ns, a)) and {
                    r["metric"]["pod"] for r in self.prometheus.query(f'{s}{{namespace="{ns}"}}')} >= set(pods), f"{series} of {app}")

    def missed(self, seconds: float) -> bool:
        """Whether a scrape came too late in that time, which ends all series until the next one."""
        return bool(self.prometheus.query(f"min_over_time(up[{seconds:.0f}s]) == 0"))

    def forget(self, namespace: str):
        self._values = {key: value for key, value in self._values.items() if key[0] != namespace}

    def stop(self):
        self.prometheus.stop()
        self._exporter.stop()

    def _samples(self) -> dict:
        if self.silent:
            return {}
        found = {"node_cpu{node=\"n1\"}": 1, "node_memory{node=\"n1\"}": 2**30}
        for (namespace, app), values in list(self._values.items()):
            has = {kind: value for kind, value in values.items() if value is not None}
            if "service" in has:
                found[f'load_service{{namespace="{namespace}",service="{app}"}}'] = has["service"]
            if "queue" in has:
                found[f'queue_len{{namespace="{namespace}",queue="{app}"}}'] = has["queue"]
            for pod in self._kubelet.names(namespace, app):
                found.update(self._of_pod(f'namespace="{namespace}",pod="{pod}"', has))
        return found

    @staticmethod
    def _of_pod(labels: str, has: dict) -> dict:
        found = {f"load_per_pod{{{labels}}}": has["pod"]} if "pod" in has else {}
        if "cpu" in has or "memory" in has:
            for container, cpu in (("main", has.get("cpu", 0.01)), ("side", has.get("side_cpu", 0.01))):
                found[f'container_cpu{{{labels},container="{container}"}}'] = cpu
                found[f'container_memory{{{labels},container="{container}"}}'] = has.get("memory", 32) * MEBI
        return found


def _average(value) -> dict:
    return {"type": "AverageValue", "averageValue": str(value)}


def _total(value) -> dict:
    return {"type": "Value", "value": str(value)}


def pods(target=10, name="load_per_pod") -> dict:
    return {"type": "Pods", "pods": {"metric": {"name": name}, "target": _average(target)}}


def service(app: str, target=10, average=True) -> dict:
    return {"type": "Object", "object": {
        "metric": {"name": "load_service"}, "target": _average(target) if average else _total(target),
        "describedObject": {"apiVersion": "v1", "kind": "Service", "name": app}}}


def queue(app: str, target=10, average=True, name="queue_len") -> dict:
    return {"type": "External", "external": {
        "metric": {"name": name, "selector": {"matchLabels": {"queue": app}}},
        "target": _average(target) if average else _total(target)}}


def resource(name: str = "cpu", percent: int = None, average: str = None, container: str = None) -> dict:
    """Resource or, with `container`, ContainerResource."""
    target = {"type": "Utilization", "averageUtilization": percent} if percent else _average(average)
    if container:
        return {"type": "ContainerResource", "containerResource": {"name": name, "container": container, "target": target}}
    return {"type": "Resource", "resource": {"name": name, "target": target}}


def workload(kind: str, namespace: str, name: str, replicas: int = 1, selector: bool = True) -> dict:
    """A Deployment, StatefulSet or Widget whose pods carry app=NAME and ask for 100m and 64Mi in each of two containers."""
    if kind == "Widget":
        return kube.make("Widget", name, namespace, spec={"replicas": replicas, "selector": f"app={name}" if selector else ""})
    requests = {"resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}
    containers = [{"name": n, "image": "none.invalid/none", **requests} for n in ("main", "side")]
    more = {"serviceName": name, "podManagementPolicy": "Parallel"} if kind == "StatefulSet" else {}
    return kube.make(kind, name, namespace, spec={
        "replicas": replicas, "selector": {"matchLabels": {"app": name}}, **more,
        "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": containers}}})


def target_ref(kind: str, name: str) -> dict:
    return {"apiVersion": "example.com/v1" if kind == "Widget" else "apps/v1", "kind": kind, "name": name}


class Widgets:
    """A kind with a scale subresource that Kubernetes does not know, and its controller: status follows spec."""

    def __init__(self, admin: Client):
        self._admin = admin
        scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
                 "labelSelectorPath": ".status.selector"}
        kube.crd(admin, "example.com", "widgets", "Widget", "Namespaced", {"status": {}, "scale": scale})
        self._watch = Watch(admin, "/apis/example.com/v1/widgets", self._seen)

    def _seen(self, change: str, item: dict):
        want = {"replicas": item["spec"]["replicas"], **({"selector": s} if (s := item["spec"].get("selector")) else {})}
        if change != "DELETED" and item.get("status") != want:
            meta = item["metadata"]
            kube.patch(self._admin, "Widget", meta["namespace"], meta["name"], {"status": want}, "status")

    def stop(self):
        self._watch.stop()
