"""Leads the scenarios of cases/scaling.py through one scaler and writes down what it told about each."""

import collections
import concurrent.futures
import json
import re
import time
from dataclasses import dataclass, field

from . import kube, scaling, wait
from .client import Client

HPA = "HorizontalPodAutoscaler"
# Of warnings about one object client-go lets so many pass, and then one each five minutes.
WARNINGS_AT_ONCE = 25
_OVER_NONE = "-9223372036854775808m"


@dataclass
class Told:
    """What a scaler said of one scenario: after each step the replicas and each autoscaler's status, at the end all events."""
    missed: str = ""  # a step that did not come to what it should
    steps: list = field(default_factory=list)
    events: list = field(default_factory=list)
    warned_out: bool = False  # the budget of warnings that an autoscaler has was spent: later ones are not told

    def conditions(self) -> list:
        """Of the first autoscaler after the last step: "Type Status Reason"."""
        status = self.steps[-1]["status"][0] if self.steps else {}
        return [f"{c['type']} {c['status']} {c['reason']}" for c in status.get("conditions", [])]


def _plain(value, namespace: str):
    """Without times, the namespace's name, and the order in which rivals are named."""
    def rivals(found):
        return "[" + " ".join(sorted(found.group(1).split(" "))) + "]"
    text = json.dumps(value, sort_keys=True).replace(namespace, "NS")
    return json.loads(re.sub(r"\[(NS/[^\]]*)\]", rivals, text))


def status_of(client: Client, kind: str, namespace: str, name: str) -> dict:
    """Times are left out; of lastScaleTime it is told whether there is one. So is the average over no replicas, which the stock
    controller computes by a division by zero and flyball leaves out."""
    status = kube.get(client, kind, namespace, name).get("status", {})
    for condition in status.get("conditions", []):
        condition.pop("lastTransitionTime", None)
    if "lastScaleTime" in status:
        status["lastScaleTime"] = "set"
    for metric in status.get("currentMetrics") or ():
        for source in ("external", "object"):
            current = metric.get(source, {}).get("current", {})
            if current.get("averageValue") == _OVER_NONE:
                del current["averageValue"]
    return _plain(status, namespace)


def events_of(client: Client, kind: str, namespace: str) -> dict:
    """name of the autoscaler -> its different events."""
    found = {}
    for event in kube.listed(client, "Event", namespace):
        about = event["involvedObject"]
        if about["kind"] == kind:
            found.setdefault(about["name"], set()).add(json.dumps(_plain([
                event["type"], event["reason"], event["message"], event.get("source", {}).get("component"),
                event.get("reportingComponent"), about["apiVersion"]], namespace)))
    return found


def warnings_of(client: Client, kind: str, namespace: str) -> dict:
    """name of the autoscaler -> how often something was told of it as a warning."""
    found = collections.Counter()
    for event in kube.listed(client, "Event", namespace):
        if event["involvedObject"]["kind"] == kind and event["type"] == "Warning":
            found[event["involvedObject"]["name"]] += event.get("count", 1)
    return found


def _underway(looks: dict) -> bool:
    """Whether a controller has scaled and not come by since: on a busy machine its rounds are long."""
    return any(c["reason"] == "SucceededRescale" for look in looks.values() for status in look["status"] for c in status.get("conditions", []))


class Run:
    """All scenarios at once in one namespace, by autoscalers of one kind."""

    def __init__(self, admin: Client, metrics: scaling.Metrics, namespace: str, scenarios: tuple, kind: str = HPA, more=None):
        self._admin, self._metrics, self._ns, self._kind = admin, metrics, namespace, kind
        self._scenarios, self._more = scenarios, more or {}
        self.told = {s.name: Told() for s in scenarios}

    def prepare(self):
        """Workloads with their pods and first values; not yet autoscalers."""
        kube.namespace(self._admin, self._ns)
        kube.expect(self._admin.request("DELETE", kube.path("Event", self._ns)), 200)  # of an earlier run
        for s in self._scenarios:
            if s.target:
                kube.apply(self._admin, scaling.workload(s.kind, self._ns, s.name, s.start, s.selector))
            self._metrics.set(self._ns, s.name, **s.values(0))

    def play(self):
        """Rivals come when the first is known: upstream the first of two that appear at once may pass. They are rivals by their
        pods, so these are there before."""
        wait.until(self._pods_are_there, f"the pods of {self._ns}", 60)
        self._create(0)
        for s in self._scenarios:
            if s.rivals > 1:
                wait.until(lambda n=s.name: status_of(self._admin, self._kind, self._ns, n).get("currentMetrics"), s.name, 60)
        self._create(1)
        for step in range(max(len(s.steps) for s in self._scenarios)):
            self._step(step)
        events = events_of(self._admin, self._kind, self._ns)
        warnings = warnings_of(self._admin, self._kind, self._ns)
        for s in self._scenarios:
            self.told[s.name].events = sorted(set().union(*(events.get(n, set()) for n in s.names())))
            self.told[s.name].warned_out = any(warnings[n] >= WARNINGS_AT_ONCE for n in s.names())

    def _pods_are_there(self) -> bool:
        found = collections.Counter(pod["metadata"]["labels"].get("app") for pod in kube.listed(self._admin, "Pod", self._ns))
        return all(found[s.name] >= s.start for s in self._scenarios if s.target and s.kind in ("Deployment", "StatefulSet"))

    def _create(self, which: int):
        for s in self._scenarios:
            for name in s.names()[which:which + 1]:
                kube.apply(self._admin, kube.make(self._kind, name, self._ns, spec={**s.spec(), **self._more}))

    def remove(self):
        for s in self._scenarios:
            for name in s.names():
                kube.delete(self._admin, self._kind, self._ns, name)
            if s.target:
                kube.delete(self._admin, s.kind, self._ns, s.name)
        self._metrics.forget(self._ns)

    def _step(self, step: int):
        taking_part = [s for s in self._scenarios if step < len(s.steps)]
        for s in taking_part:
            self._change(s, step)
        for s in taking_part:
            self._reach(s, step)
        before = {}
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            now = self._look(taking_part)
            if now == before and not _underway(now):
                break
            before = now
            time.sleep(2.2)  # longer than two rounds: what stays the same stays
        for s in taking_part:
            self.told[s.name].steps.append(before[s.name])
            if not self.told[s.name].missed and before[s.name]["replicas"] != s.steps[step][1]:
                self.told[s.name].missed = f"step {step}: not steady at {s.steps[step][1]} replicas: {before[s.name]}"

    def _change(self, s, step: int):
        """What is measured, and what people do."""
        self._metrics.set(self._ns, s.name, **s.values(step))
        given = s.steps[step][0]
        if "by_hand" in given:
            kube.patch(self._admin, s.kind, self._ns, s.name, {"spec": {"replicas": given["by_hand"]}})
        if "edit" in given:
            kube.patch(self._admin, self._kind, self._ns, s.name, {"spec": given["edit"]})

    def _reach(self, s, step: int):
        want = s.steps[step][1]
        try:
            wait.until(lambda: self._replicas(s) == want and all(
                status_of(self._admin, self._kind, self._ns, n).get("conditions") for n in s.names()),
                f"{s.name} at {want} replicas", 3 if self.told[s.name].missed else 30, every=0.2)
        except wait.Never as error:
            status = [status_of(self._admin, self._kind, self._ns, n) for n in s.names()]
            self.told[s.name].missed = self.told[s.name].missed or f"step {step}: {error}; {status}"

    def _replicas(self, s):
        return kube.get(self._admin, s.kind, self._ns, s.name)["spec"]["replicas"] if s.target else None

    def _look(self, scenarios: list) -> dict:
        def one(s):
            return s.name, {"replicas": self._replicas(s),
                            "status": [status_of(self._admin, self._kind, self._ns, n) for n in s.names()]}
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return dict(pool.map(one, scenarios))
