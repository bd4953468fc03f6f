"""Prometheus is dead for a while: what each `onFailure` of a rule, and each fallback of our own kind, makes of 0 and of 12 replicas."""

import os
import time

from harness import adapter, control_plane, kube, own_kind, ports, registration, scaler, scaling, wait
from harness.case import Case, differs
from harness.kubelet import Kubelet

HPA = "HorizontalPodAutoscaler"
LONG = bool(os.environ.get("SCALER_LONG"))
KEEP, OUTAGE = ("5m", 600) if LONG else ("10s", 40)
MOST = 20
# What a rule says -> the counts that come of 12 and of 0 (of the stock controller's HPAs, of those that we act on).
RULES = {
    "silent": (None, (12, 0), (12, 0)),
    "kept": ({"keepLast": KEEP}, (12, 0), (12, 0)),
    "fewer": ({"keepLast": KEEP, "then": {"replicas": 5}}, (12, 5), (12, 0)),
    "more": ({"keepLast": KEEP, "then": {"replicas": 15}}, (15, 15), (12, 0)),
    "max": ({"keepLast": KEEP, "then": "max"}, (MOST, MOST), (12, 0)),
    "min": ({"keepLast": KEEP, "then": "min"}, (12, 0), (12, 0)),
    "total": ({"keepLast": KEEP, "then": {"value": "160"}}, (16, 16), (16, 16)),
}
# The same of our own kind: of a trigger, and at 12 of a metric too, whose rule says nothing.
FALLBACKS = {
    "silent": (None, (12, 0)),
    "kept": ({"keepLast": KEEP}, (12, 0)),
    "more": ({"keepLast": KEEP, "then": {"replicas": 15}}, (15, 15)),
    "max": ({"keepLast": KEEP, "then": {"max": True}}, (MOST, MOST)),
}


def _rule(name: str, on_failure) -> dict:
    rule = {"seriesQuery": 'queue_len{namespace!=""}', "name": {"as": f"queue_{name}"}, "resources": scaling.CONFIG["externalRules"][0]["resources"],
            "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (queue)"}
    return {**rule, "onFailure": on_failure} if on_failure else rule


CONFIG = {"externalRules": [_rule(name, on_failure) for name, (on_failure, *_) in RULES.items()]}


class Outage(Case):
    """Each rule has an HPA at 12 and one at 0. A class says who scales them."""

    VERSION = control_plane.NEWER
    NS = ""
    ARGS = ()
    COLUMN = 1  # of RULES

    @classmethod
    def setUpClass(cls):
        cluster = cls.cluster()
        cls.admin = cluster.admin
        kube.namespace(cls.admin, cls.NS)
        cls.kubelet = Kubelet(cls.admin, cls.NS)
        cls.addClassCleanup(cls.kubelet.stop)
        cls.metrics = scaling.Metrics(cls.kubelet)
        cls.addClassCleanup(cls.metrics.stop)
        cls.expected = {}
        cls.begin_all()
        port = ports.free()
        cls.server = adapter.Adapter(adapter.FLYBALL, cluster, cls.metrics.prometheus.url, CONFIG, cls.ARGS, port=port,
                                     kubeconfig=scaler.kubeconfig(cluster, "flyball")).start()
        cls.addClassCleanup(cls.server.stop)
        cls.watch(cls.server.process)
        for name in RULES:
            cls.server.wait_listed("external.metrics.k8s.io/v1beta1", f"queue_{name}")
        registration.register(cls.admin, "scaler", port, ("v1beta1.external.metrics.k8s.io",))
        cls.addClassCleanup(registration.unregister, cls.admin, ("v1beta1.external.metrics.k8s.io",))
        registration.wait_available(cls.admin, ("v1beta1.external.metrics.k8s.io",))

    @classmethod
    def begin_all(cls):
        for name, (_, *counts) in RULES.items():
            for start, ends in zip((12, 0), counts[cls.COLUMN - 1]):
                cls.begin(f"{name}-{start}", start, ends, HPA, [scaling.queue(f"{name}-{start}", name=f"queue_{name}")])

    @classmethod
    def begin(cls, app: str, start: int, ends: int, kind: str, metrics: list, **spec):
        """`start` 0: it is put to sleep by its load, as only a controller can."""
        cls.expected[app] = (start, ends)
        cls.metrics.set(cls.NS, app, queue=10 * start)
        kube.apply(cls.admin, scaling.workload("Deployment", cls.NS, app, start or 1))
        kube.apply(cls.admin, kube.make(kind, app, cls.NS, spec={
            "scaleTargetRef": scaling.target_ref("Deployment", app), "minReplicas": 0, "maxReplicas": MOST, "metrics": metrics, **spec,
            "behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}, "scaleUp": {"policies": [{"type": "Pods", "value": MOST, "periodSeconds": 15}]}}}))
        cls.addClassCleanup(kube.delete, cls.admin, kind, cls.NS, app)
        cls.addClassCleanup(kube.delete, cls.admin, "Deployment", cls.NS, app)

    def counts(self) -> dict:
        return {d["metadata"]["name"]: d["spec"]["replicas"] for d in kube.listed(self.admin, "Deployment", self.NS)}

    def reach(self, wanted: dict, timeout: float):
        def missing():
            found = self.counts()
            return {app: (count, found.get(app)) for app, count in wanted.items() if found.get(app) != count}
        wait.until(lambda: self.assertEqual(missing(), {}) or True, "all counts", timeout, every=0.5)

    def check(self):
        """Nothing is smaller than before at any moment, and in the end all is as it is written."""
        self.reach({app: start for app, (start, _) in self.expected.items()}, 90)
        time.sleep(3)  # the last good values are kept
        before = self.counts()
        self.metrics.prometheus.stop()
        end = time.monotonic() + OUTAGE
        while time.monotonic() < end:
            time.sleep(0.3)
            now = self.counts()
            self.assertEqual({app: (before[app], count) for app, count in now.items() if count < before[app]}, {}, "became smaller")
            before = now
        self.assertEqual(before, {app: ends for app, (_, ends) in self.expected.items()})
        self.metrics.prometheus.start()
        self.reach({app: start for app, (start, _) in self.expected.items()}, 60)


@differs("it has no onFailure")
class StockOutage(Outage):
    """The stock controller scales; flyball is its metrics API alone."""

    NS = "outage-stock"

    def test_ten_minutes_without_prometheus(self):
        self.check()
        holding = kube.get(self.admin, HPA, self.NS, "more-12")
        self.assertEqual(holding["status"]["desiredReplicas"], 12)


@differs("it does not scale")
class ActingOutage(Outage):
    """Flyball scales these HPAs, and Autoscalers of its own kind with fallbacks of their own."""

    NS = "outage-act"
    COLUMN = 2
    ARGS = (*control_plane.FAST, "--scaler", "--scaler-mode=act", "--scaler-hpa", f"--scaler-namespace={NS}",
            f"--scaler-lease-namespace={scaler.NAMESPACE}", "--scaler-leader-elect=false", "--scaler-trigger-allow-addresses=127.0.0.0/8")

    @classmethod
    def setUpClass(cls):
        own_kind.install(cls.cluster())
        cls.cluster().stop_stock_scaler()
        cls.addClassCleanup(cls.cluster().start_stock_scaler)
        super().setUpClass()

    @classmethod
    def begin_all(cls):
        super().begin_all()
        for name, (fallback, counts) in FALLBACKS.items():
            more = {"fallback": fallback} if fallback else {}
            for start, ends in zip((12, 0), counts):
                app = f"trigger-{name}-{start}"
                cls.begin(app, start, ends, own_kind.KIND, [], cooldownPeriod="1s", triggers=[{"type": "prometheus", **more, "metadata": {
                    "serverAddress": cls.metrics.prometheus.url, "query": f'sum(queue_len{{queue="{app}"}})', "threshold": "10"}}])
            app = f"metric-{name}-12"
            cls.begin(app, 12, counts[0], own_kind.KIND, [{**scaling.queue(app, name="queue_silent"), **more}], minReplicas=1)

    def test_ten_minutes_without_prometheus(self):
        self.check()
