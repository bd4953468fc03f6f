"""Shadow: 40 HPAs of all five types under a varying load, beside the stock HPA controller that scales them."""

import os
import random
import threading
import time

from . import kube, ports, registration, scaler, scaling, wait
from .case import Case
from .kubelet import Kubelet
from .scaling import pods, queue, resource, service

NS = "shadow"
HPA = "HorizontalPodAutoscaler"
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


class Shadowing(Case):
    """A cluster of VERSION with both at work. A class says more with ARGS, `spec` and `disturb`."""

    ARGS = ()
    UNDECIDABLE = ()  # apps whose metric is never known

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
        cls.server = scaler.flyball(cluster, cls.metrics.prometheus.url, (f"--scaler-namespace={NS}", *cls.ARGS), port=port).start()
        cls.addClassCleanup(cls.server.stop)
        cls.watch(cls.server.process)
        for kind, app in APPS:
            cls.begin(kind, app)
        cls.server.wait_listed("external.metrics.k8s.io/v1beta1", "queue_len")
        registration.register(cls.admin, "scaler", port)
        cls.addClassCleanup(registration.unregister, cls.admin)
        registration.wait_available(cls.admin)

    @classmethod
    def spec(cls, kind: str, app: str) -> dict:
        """Of the HPA of an app."""
        return {"scaleTargetRef": scaling.target_ref("Deployment", app), "minReplicas": 1, "maxReplicas": 6,
                "metrics": [TYPES[kind][0](app)], "behavior": BEHAVIORS[int(app[-1]) % len(BEHAVIORS)]}

    @classmethod
    def begin(cls, kind: str, app: str):
        kube.apply(cls.admin, scaling.workload("Deployment", NS, app, 2))
        kube.apply(cls.admin, kube.make(HPA, app, NS, spec=cls.spec(kind, app)))
        cls.addClassCleanup(kube.delete, cls.admin, HPA, NS, app)
        cls.addClassCleanup(kube.delete, cls.admin, "Deployment", NS, app)

    def disturb(self):
        """What people do meanwhile: called about once a second."""

    def report(self) -> dict:
        answer = self.server.admin.get("/debug/decisions?report=shadow")
        self.assertEqual(answer.status, 200, str(answer))
        return answer.json()

    def check_equal_decisions(self) -> list:
        """Returns the scale writes of the stock controller."""
        wait.until(lambda: all(
            any(c["reason"] == "ValidMetricFound" for c in h.get("status", {}).get("conditions", []))
            for h in kube.listed(self.admin, HPA, NS) if h["metadata"]["name"] not in self.UNDECIDABLE),
            "all HPAs decided by the stock controller", 60)
        time.sleep(10)  # comparisons of the first moments, before there were metrics, are made by then
        mark, before = self.cluster().audit.mark(), self.report()["total"]
        end = time.monotonic() + MINUTES * 60
        while time.monotonic() < end:
            time.sleep(1)
            self.disturb()
        writes, report = self.cluster().audit.since(mark), self.report()
        scaled = [w for w in writes if w.resource.endswith("/scale")]
        self.assertGreater(len(scaled), 20 * MINUTES, "nothing was going on")
        self.assertEqual([w for w in writes if w.user == "flyball" and w.resource != "leases"], [], "shadow wrote")
        self.compare(before, report)
        return scaled

    def compare(self, before: dict, report: dict):
        """What is left is what two that look at different moments cannot agree in: which count they found, and a value that changed.

        A high value that only one of them saw is kept by its window ("conditions"): that is seldom.
        """
        total = report["total"]
        different = {reason: count - before.get("reasons", {}).get(reason, 0) for reason, count in total.get("reasons", {}).items()}
        different = {reason: count for reason, count in different.items() if count}
        equal = total["equal"] - before["equal"]
        print(f"shadow: {equal} equal, different: {different or 'none'}", flush=True)
        self.assertGreater(equal, 100 * MINUTES)
        moments = different.pop("scale", 0) + different.pop("lag", 0) + different.pop("readings", 0)
        seldom = different.pop("conditions", 0)
        last = [(o["name"], d) for o in report["objects"] for d in o.get("last", []) if d["reason"] in (*different, "conditions")]
        self.assertEqual(different, {}, last[:10])
        self.assertLessEqual(moments, 0.05 * equal)
        self.assertLessEqual(seldom, 0.03 * equal, last[:10])
