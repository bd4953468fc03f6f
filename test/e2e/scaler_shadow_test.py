"""Shadow: beside the stock HPA controller, deciding the same and writing nothing."""

import os
import random
import threading
import time

from harness import kube, ports, registration, scaler, scaling, wait
from harness.case import Case, differs
from harness.kubelet import Kubelet
from harness.scaling import pods, queue, resource, service

NS = "shadow"
MINUTES = float(os.environ.get("SHADOW_MINUTES", "10" if os.environ.get("SCALER_LONG") else "1"))
EACH = 8  # HPAs of each type
# Name of a type -> (metric of an app, the value at its target, what it is a value of).
TYPES = {
    "resource": (lambda app: resource(percent=50), 0.09, "cpu"),
    "container": (lambda app: resource(percent=50, container="main"), 0.05, "cpu"),
    "pods": (lambda app: pods(), 10, "pod"),
    "object": (service, 20, "service"),
    "external": (queue, 20, "queue"),
}
APPS = [(kind, f"{kind}-{i}") for kind in TYPES for i in range(EACH)]
_QUICK = {"scaleDown": {"stabilizationWindowSeconds": 0}}
_SLOW = {"scaleDown": {"stabilizationWindowSeconds": 10},
         "scaleUp": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 15}]}}
_WINDOWED = {"scaleUp": {"stabilizationWindowSeconds": 5},
             "scaleDown": {"stabilizationWindowSeconds": 5, "policies": [{"type": "Percent", "value": 50, "periodSeconds": 10}]}}
BEHAVIORS = (_QUICK, _SLOW, _WINDOWED)


class Waves(threading.Thread):
    """Each app's load wanders between a third and three times its target; a few at a time, as in life."""

    def __init__(self, metrics: scaling.Metrics):
        super().__init__(daemon=True)
        self._metrics, self._random, self._ended = metrics, random.Random(40), threading.Event()
        for kind, app in APPS:
            self.give(kind, app)
        self.start()

    def give(self, kind: str, app: str):
        _, at_target, what = TYPES[kind]
        self._metrics.set(NS, app, **{what: round(at_target * self._random.choice((0.33, 0.7, 1, 1, 1.05, 1.5, 3)), 4)})

    def run(self):
        while not self._ended.wait(0.3):
            self.give(*self._random.choice(APPS))

    def stop(self):
        self._ended.set()
        self.join(5)


@differs("it has no shadow")
class Shadow(Case):
    """40 HPAs of all five types under a varying load."""

    @classmethod
    def setUpClass(cls):
        cluster = cls.cluster()
        cls.admin = cluster.admin
        kube.namespace(cls.admin, NS)
        cls.kubelet = Kubelet(cls.admin, NS)
        cls.addClassCleanup(cls.kubelet.stop)
        cls.metrics = scaling.Metrics(cls.kubelet)
        cls.addClassCleanup(cls.metrics.stop)
        cls.waves = Waves(cls.metrics)
        cls.addClassCleanup(cls.waves.stop)
        port = ports.free()
        cls.server = scaler.flyball(cluster, cls.metrics.prometheus.url, (f"--scaler-namespace={NS}",), port=port).start()
        cls.addClassCleanup(cls.server.stop)
        cls.watch(cls.server.process)
        for kind, app in APPS:
            cls.begin(kind, app)
        cls.server.wait_listed("external.metrics.k8s.io/v1beta1", "queue_len")
        registration.register(cls.admin, "scaler", port)
        cls.addClassCleanup(registration.unregister, cls.admin)
        registration.wait_available(cls.admin)

    @classmethod
    def begin(cls, kind: str, app: str):
        kube.apply(cls.admin, scaling.workload("Deployment", NS, app, 2))
        kube.apply(cls.admin, kube.make("HorizontalPodAutoscaler", app, NS, spec={
            "scaleTargetRef": scaling.target_ref("Deployment", app), "minReplicas": 1, "maxReplicas": 6,
            "metrics": [TYPES[kind][0](app)], "behavior": BEHAVIORS[int(app[-1]) % len(BEHAVIORS)]}))
        cls.addClassCleanup(kube.delete, cls.admin, "HorizontalPodAutoscaler", NS, app)
        cls.addClassCleanup(kube.delete, cls.admin, "Deployment", NS, app)

    def report(self) -> dict:
        answer = self.server.admin.get("/debug/decisions?report=shadow")
        self.assertEqual(answer.status, 200, str(answer))
        return answer.json()

    def test_decides_as_the_stock_controller(self):
        wait.until(lambda: all(
            any(c["reason"] == "ValidMetricFound" for c in h.get("status", {}).get("conditions", []))
            for h in kube.listed(self.admin, "HorizontalPodAutoscaler", NS)), "all HPAs decided by the stock controller", 60)
        time.sleep(10)  # comparisons of the first moments, before there were metrics, are made by then
        mark, before = self.cluster().audit.mark(), self.report()["total"]
        time.sleep(MINUTES * 60)
        writes, report = self.cluster().audit.since(mark), self.report()
        self.assertGreater(len([w for w in writes if w.resource.endswith("/scale")]), 20 * MINUTES, "nothing was going on")
        self.assertEqual([w for w in writes if w.user == "flyball" and w.resource != "leases"], [], "shadow wrote")
        self.compare(before, report)

    def compare(self, before: dict, report: dict):
        """What is left is what two that look at different moments cannot agree in: which count they found."""
        total = report["total"]
        different = {reason: count - before.get("reasons", {}).get(reason, 0) for reason, count in total.get("reasons", {}).items()}
        different = {reason: count for reason, count in different.items() if count}
        equal = total["equal"] - before["equal"]
        print(f"shadow: {equal} equal, different: {different or 'none'}", flush=True)
        self.assertGreater(equal, 100 * MINUTES)
        moments = different.pop("scale", 0) + different.pop("lag", 0)
        last = [(o["name"], d) for o in report["objects"] for d in o.get("last", []) if d["reason"] in different]
        self.assertEqual(different, {}, last[:10])
        self.assertLessEqual(moments, 0.02 * equal)
