"""metrics.k8s.io/v1 through the API server of Kubernetes 1.37, and its `kubectl top`."""

from harness import adapter, control_plane, kube, ports, registration, scaler, scaling, wait
from harness.case import Case, differs
from harness.kubectl import Kubectl
from harness.kubelet import Kubelet

NS = "top"
NAMES = ("v1beta1.metrics.k8s.io", registration.STABLE_METRICS)


@differs("it has no metrics.k8s.io/v1")
class Top(Case):
    """A workload of two pods, each with two containers, and a node."""

    VERSION = control_plane.NEWER

    @classmethod
    def setUpClass(cls):
        cluster = cls.cluster()
        cls.admin, cls.kubectl = cluster.admin, Kubectl(cluster, control_plane.NEWER)
        kube.namespace(cls.admin, NS)
        kube.node(cls.admin, "n1")
        cls.kubelet = Kubelet(cls.admin, NS)
        cls.addClassCleanup(cls.kubelet.stop)
        cls.metrics = scaling.Metrics(cls.kubelet)
        cls.addClassCleanup(cls.metrics.stop)
        kube.apply(cls.admin, scaling.workload("Deployment", NS, "web", 2))
        cls.addClassCleanup(kube.delete, cls.admin, "Deployment", NS, "web")
        cls.metrics.set(NS, "web", cpu=0.2, side_cpu=0.05, memory=48)
        port = ports.free()
        cls.server = adapter.Adapter(adapter.FLYBALL, cluster, cls.metrics.prometheus.url, scaling.CONFIG, port=port,
                                     kubeconfig=scaler.kubeconfig(cluster, "flyball")).start()
        cls.addClassCleanup(cls.server.stop)
        cls.watch(cls.server.process)
        registration.register(cls.admin, "scaler", port, NAMES)
        cls.addClassCleanup(registration.unregister, cls.admin, NAMES)
        registration.wait_available(cls.admin, NAMES)
        cls.metrics.wait_scraped(NS)

    def test_discovery_tells_of_both_versions(self):
        group = self.admin.get("/apis/metrics.k8s.io").json()
        self.assertEqual({v["version"] for v in group["versions"]}, {"v1", "v1beta1"})
        resources = self.admin.get("/apis/metrics.k8s.io/v1").json()["resources"]
        self.assertEqual({r["name"]: r["kind"] for r in resources}, {"pods": "PodMetrics", "nodes": "NodeMetrics"})

    def test_pods(self):
        """-v=8 tells which version kubectl asks for."""
        text = wait.until(lambda: self.kubectl("top", "pods", "-n", NS, "--containers"), "kubectl top pods")
        rows = [line.split() for line in text.splitlines()[1:]]
        self.assertEqual(sorted({tuple(row[1:]) for row in rows}), [("main", "200m", "48Mi"), ("side", "50m", "48Mi")])
        self.assertEqual(len(rows), 4)
        told = wait.until(lambda: self.kubectl.told("top", "pods", "-n", NS, "-v=8"), "what kubectl asks for")
        self.assertIn(f"/apis/metrics.k8s.io/v1/namespaces/{NS}/pods", told)
        one = rows[0][0]
        self.assertIn(one, wait.until(lambda: self.kubectl("top", "pod", one, "-n", NS), f"kubectl top pod {one}"))

    def test_nodes(self):
        self.assertIn("n1", wait.until(lambda: self.kubectl("top", "nodes"), "kubectl top nodes"))
        told = wait.until(lambda: self.kubectl.told("top", "nodes", "-v=8"), "what kubectl asks for")
        self.assertIn("/apis/metrics.k8s.io/v1", told)
