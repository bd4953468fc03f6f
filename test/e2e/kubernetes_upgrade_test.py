"""A cluster is upgraded under a running flyball, which decides as its controllers from then on."""

from cases.newer import NEW
from harness import control_plane, kube, scaler, scaling, wait
from harness.case import Case, differs
from harness.kubelet import Kubelet

NS = "upgraded"
HPA = "HorizontalPodAutoscaler"


@differs("it does not scale")
class Upgrade(Case):
    """A cluster of its own, and one flyball that acts for its HPAs all the time."""

    @classmethod
    def cluster(cls):
        return cls.own_cluster

    @classmethod
    def setUpClass(cls):
        cls.own_cluster = control_plane.ControlPlane().start()
        cls.addClassCleanup(cls.own_cluster.stop)
        cls.own_cluster.stop_stock_scaler()
        cls.admin = cls.own_cluster.admin
        kube.namespace(cls.admin, NS)
        cls.kubelet = Kubelet(cls.admin, NS)
        cls.addClassCleanup(cls.kubelet.stop)
        cls.metrics = scaling.Metrics(cls.kubelet)
        cls.addClassCleanup(cls.metrics.stop)
        cls.server = scaler.flyball(cls.own_cluster, cls.metrics.prometheus.url, (
            "--scaler-mode=act", "--scaler-hpa", f"--scaler-namespace={NS}")).start()
        cls.addClassCleanup(cls.server.stop)
        cls.watch(cls.server.process, cls.own_cluster.apiserver)

    def begin(self, name: str):
        scenario, = (s for s in NEW if s.name == name)
        self.metrics.set(NS, name, **scenario.values(0))
        kube.apply(self.admin, scaling.workload("Deployment", NS, name, scenario.start))
        kube.apply(self.admin, kube.make(HPA, name, NS, spec=scenario.spec()))

    def reaches(self, name: str, count: int, timeout: float = 60):
        wait.until(lambda: kube.get(self.admin, "Deployment", NS, name)["spec"]["replicas"] == count, f"{name} at {count}", timeout)

    def status(self, name: str) -> dict:
        return kube.get(self.admin, HPA, NS, name).get("status", {})

    def test_decides_as_before_and_then_as_after(self):
        self.begin("tolerance-up")
        self.reaches("tolerance-up", 3)
        self.assertIn("decides as the controller of Kubernetes 1.34", self.server.process.text())
        self.metrics.set(NS, "tolerance-up", queue=31)
        wait.until(lambda: "31" in str(self.status("tolerance-up").get("currentMetrics")) or
                   "10334m" in str(self.status("tolerance-up")), "the new load is seen", 20)
        self.assertEqual(kube.get(self.admin, "Deployment", NS, "tolerance-up")["spec"]["replicas"], 3)
        self.assertNotIn("observedGeneration", self.status("tolerance-up"))

        self.own_cluster.upgrade(control_plane.NEWER)
        wait.until(lambda: "decides as the controller of Kubernetes 1.37" in self.server.process.text(), "the new version is seen", 90)
        self.assertEqual(kube.get(self.admin, "Deployment", NS, "tolerance-up")["spec"]["replicas"], 3)
        # The older API server had dropped the field.
        kube.patch(self.admin, HPA, NS, "tolerance-up", {"spec": {"behavior": {"scaleUp": {"tolerance": "10m"}}}})
        self.reaches("tolerance-up", 4)
        wait.until(lambda: self.status("tolerance-up").get("observedGeneration"), "observedGeneration is told", 20)

        self.begin("to-zero")
        for load, count in ((15, 2), (0, 0), (35, 4)):
            self.metrics.set(NS, "to-zero", queue=load)
            self.reaches("to-zero", count)
        self.assertTrue(self.server.process.alive())
