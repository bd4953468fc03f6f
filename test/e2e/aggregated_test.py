"""Behind a real kube-apiserver: what kubectl and the stock HPA controller see through the aggregator."""

import json

from harness import adapter, kube, registration, wait
from harness.case import Case, differs
from harness.exporter import Exporter
from harness.kubectl import Kubectl
from harness.kubelet import Kubelet
from harness.prometheus import Prometheus

NS = "shop"
CUSTOM = "/apis/custom.metrics.k8s.io/v1beta2"
OWN = {"namespace": {"resource": "namespace"}, "pod": {"resource": "pod"}, "node": {"resource": "node"}}
SUM = "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"
RESOURCE = {"resources": {"overrides": OWN}, "containerLabel": "container"}
CONFIG = {
    "rules": [{"seriesQuery": '{__name__=~"load_.*"}', "resources": {"template": "<<.Resource>>"}, "metricsQuery": SUM}],
    "externalRules": [{"seriesQuery": "queue_len", "resources": {"namespaced": False},
                       "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (queue)"}],
    "resourceRules": {
        "window": "1m",
        "cpu": {**RESOURCE, "containerQuery": SUM.replace("<<.Series>>", "container_cpu"),
                "nodeQuery": SUM.replace("<<.Series>>", "node_cpu")},
        "memory": {**RESOURCE, "containerQuery": SUM.replace("<<.Series>>", "container_memory"),
                   "nodeQuery": SUM.replace("<<.Series>>", "node_memory")}},
}
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def metric_spec(kind: str) -> dict:
    """The one metric of the HPA of that kind; each asks for 10 a replica (cpu: 100m)."""
    ten = {"type": "AverageValue", "averageValue": "10"}
    return {
        "pods": {"type": "Pods", "pods": {"metric": {"name": "load_per_pod"}, "target": ten}},
        "object": {"type": "Object", "object": {
            "metric": {"name": "load_service"}, "target": ten,
            "describedObject": {"apiVersion": "v1", "kind": "Service", "name": "front"}}},
        "namespace": {"type": "Object", "object": {
            "metric": {"name": "load_namespace"}, "target": ten,
            "describedObject": {"apiVersion": "v1", "kind": "Namespace", "name": NS}}},
        "external": {"type": "External", "external": {
            "metric": {"name": "queue_len", "selector": {"matchLabels": {"queue": "mail"}}}, "target": ten}},
        "resource": {"type": "Resource", "resource": {
            "name": "cpu", "target": {"type": "AverageValue", "averageValue": "100m"}}},
    }[kind]


class Aggregated(Case):
    """One adapter behind the aggregator, one deployment with one HPA for each type of metric."""

    KINDS = ("pods", "object", "namespace", "external", "resource")

    @classmethod
    def setUpClass(cls):
        cluster = cls.cluster()
        cls.admin, cls.kubectl = cluster.admin, Kubectl(cluster)
        kube.namespace(cls.admin, NS)
        for name in ("n1", "n2"):
            kube.node(cls.admin, name)
        cls.kubelet = Kubelet(cls.admin, NS)
        cls.addClassCleanup(cls.kubelet.stop)
        cls.load = dict.fromkeys(cls.KINDS, 10.0)
        exporter = Exporter(cls.samples)
        cls.addClassCleanup(exporter.stop)
        prometheus = Prometheus({"shop": exporter.address})
        cls.addClassCleanup(prometheus.stop)
        cls.adapter = adapter.Adapter(adapter.subject(), cluster, prometheus.url, CONFIG).start()
        cls.addClassCleanup(lambda: cls.adapter.stop())
        cls.watch(cls.adapter.process, cluster.stock_scaler)
        for kind in cls.KINDS:
            cls.deploy(kind)
        # The aggregator reads discovery at once and then every 60 s: let it find the metrics the first time.
        cls.adapter.wait_listed("custom.metrics.k8s.io/v1beta2", "pods/load_per_pod")
        cls.adapter.wait_listed("external.metrics.k8s.io/v1beta1", "queue_len")
        registration.register(cls.admin, "adapter", cls.adapter.port)
        cls.addClassCleanup(registration.unregister, cls.admin)
        registration.wait_available(cls.admin)

    @classmethod
    def tearDownClass(cls):
        for kind in cls.KINDS:
            kube.delete(cls.admin, "HorizontalPodAutoscaler", NS, kind)
            kube.delete(cls.admin, "Deployment", NS, kind)

    @classmethod
    def samples(cls) -> dict:
        """The load that is to be shared, spread over the pods that there are."""
        served = {
            f'load_service{{namespace="{NS}",service="front"}}': cls.load["object"],
            f'load_namespace{{namespace="{NS}"}}': cls.load["namespace"],
            'queue_len{queue="mail",shard="a"}': cls.load["external"] / 2,
            'queue_len{queue="mail",shard="b"}': cls.load["external"] / 2,
            'queue_len{queue="other"}': 77,
            'node_cpu{node="n1"}': 1.5, 'node_memory{node="n1"}': 2**31,
            'node_cpu{node="n2"}': 0.25, 'node_memory{node="n2"}': 2**30,
        }
        for app, pods in cls.kubelet.pods.items():
            for pod in pods:
                labels = f'namespace="{NS}",pod="{pod}"'
                served[f"load_per_pod{{{labels}}}"] = cls.load["pods"] / len(pods)
                served[f'container_cpu{{{labels},container="main"}}'] = cls.load["resource"] / 100 / len(pods)
                served[f'container_memory{{{labels},container="main"}}'] = 64 * 2**20
        return served

    @classmethod
    def deploy(cls, kind: str):
        labels = {"app": kind}
        kube.apply(cls.admin, kube.make("Deployment", kind, NS, spec={
            "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": {
                "containers": [{"name": "main", "image": "none.invalid/none",
                                "resources": {"requests": {"cpu": "100m"}}}]}}}))
        kube.apply(cls.admin, kube.make("HorizontalPodAutoscaler", kind, NS, spec={
            "minReplicas": 1, "maxReplicas": 20, "metrics": [metric_spec(kind)],
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": kind},
            "behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}}}))

    def replicas(self, kind: str) -> int:
        return kube.get(self.admin, "Deployment", NS, kind)["spec"]["replicas"]

    def condition(self, kind: str, name: str) -> str:
        status = kube.get(self.admin, "HorizontalPodAutoscaler", NS, kind)["status"]
        return next((f"{c['status']} {c['reason']}" for c in status.get("conditions", []) if c["type"] == name), "")

    def settles(self, kind: str, count: int):
        wait.until(lambda: self.replicas(kind) == count, f"deployment {kind} at {count} replicas; HPA says "
                   f"{kube.get(self.admin, 'HorizontalPodAutoscaler', NS, kind).get('status')}", 40, every=0.2)

    def scales(self, kind: str):
        self.load[kind] = 50.0  # 50 / 10 = 5 replicas
        self.settles(kind, 5)
        wait.until(lambda: self.condition(kind, "ScalingActive") == "True ValidMetricFound",
                   f"{kind} ScalingActive", 10)
        self.load[kind] = 19.5  # 19.5 / 10 = 1.95: 2 replicas
        self.settles(kind, 2)

    def test_hpa_of_type_pods_scales_up_and_down(self):
        self.scales("pods")

    def test_hpa_of_type_object_scales_up_and_down(self):
        self.scales("object")

    def test_hpa_of_type_object_on_a_namespace_scales_up_and_down(self):
        self.scales("namespace")

    def test_hpa_of_type_external_scales_up_and_down(self):
        self.scales("external")

    def test_hpa_of_type_resource_scales_up_and_down(self):
        self.scales("resource")

    def test_get_raw_reads_a_metric_of_all_pods(self):
        wait.until(lambda: self.kubelet.pods.get("object"), "pods of deployment object")
        found = wait.until(lambda: json.loads(self.kubectl(
            "get", "--raw", f"{CUSTOM}/namespaces/{NS}/pods/*/load_per_pod?labelSelector=app%3Dobject"))["items"], "items")
        self.assertEqual({i["describedObject"]["kind"] for i in found}, {"Pod"})
        self.assertEqual({i["metric"]["name"] for i in found}, {"load_per_pod"})

    def test_get_raw_of_an_unknown_metric_is_not_found(self):
        error = self.kubectl("get", "--raw", f"{CUSTOM}/namespaces/{NS}/pods/*/nothing", fails=True)
        self.assertIn("the server could not find the metric nothing for pods", error)

    def test_top_nodes_shows_cpu_and_memory(self):
        text = wait.until(lambda: "n2" in (told := self.kubectl("top", "nodes")) and told, "both nodes in kubectl top nodes")
        rows = {line.split()[0]: line.split() for line in text.splitlines()}
        self.assertEqual(rows["n1"][1], "1500m")
        self.assertIn("2048Mi", rows["n1"])
        self.assertEqual(rows["n2"][1], "250m")

    def test_top_pods_shows_containers(self):
        text = wait.until(lambda: self.kubectl("top", "pods", "-n", NS, "--containers"), "kubectl top pods")
        row = next(line.split() for line in text.splitlines() if line.startswith("external-"))
        self.assertEqual((row[1], row[3]), ("main", "64Mi"))

    def test_get_podmetrics_prints_a_table(self):
        text = wait.until(lambda: self.kubectl("get", "pods.metrics.k8s.io", "-n", NS), "table")
        self.assertEqual(text.split()[:4], ["NAME", "CPU", "MEMORY", "WINDOW"])

    def test_api_resources_lists_the_resource_metrics(self):
        self.kubectl.forget()
        text = wait.until(lambda: self.kubectl("api-resources", "--api-group=metrics.k8s.io", "--no-headers"),
                          "api-resources of metrics.k8s.io")
        rows = sorted(line.split() for line in text.splitlines())
        self.assertEqual(rows, [["nodes", "metrics.k8s.io/v1beta1", "false", "NodeMetrics"],
                                ["pods", "metrics.k8s.io/v1beta1", "true", "PodMetrics"]])

    @differs("its aggregated discovery document names no external metrics")
    def test_api_resources_lists_the_external_metrics(self):
        self.kubectl.forget()
        wait.until(lambda: "queue_len" in self.kubectl("api-resources", "--api-group=external.metrics.k8s.io"),
                   "queue_len in api-resources", 70, every=1)

    def test_explain_knows_pod_metrics(self):
        self.kubectl.forget()
        text = wait.until(lambda: self.kubectl("explain", "pods", "--api-version=metrics.k8s.io/v1beta1"),
                          "kubectl explain", 70, every=1)
        self.assertRegex(text, r"KIND:\s+PodMetrics")
        self.assertIn("containers", text)

    @differs("its aggregated discovery document is empty, so every version shows no resources")
    def test_aggregated_discovery_is_current_with_resources(self):
        def complete():
            found = {}
            for group in self.admin.get("/apis", [("Accept", AGGREGATED)]).json()["items"]:
                for version in group["versions"]:
                    found[f"{group['metadata']['name']}/{version['version']}"] = (
                        version["freshness"], bool(version.get("resources")))
            return all(found.get(gv) == ("Current", True) for gv in (
                "custom.metrics.k8s.io/v1beta1", "custom.metrics.k8s.io/v1beta2", "external.metrics.k8s.io/v1beta1",
                "metrics.k8s.io/v1beta1")) or (_ for _ in ()).throw(AssertionError(found))
        wait.until(complete, "aggregated discovery current", 70, every=1)

    def test_z_restart_is_noticed_and_recovered_from(self):
        self.adapter.stop()
        name = "v1beta1.external.metrics.k8s.io"
        wait.until(lambda: self.admin.get(f"/apis/external.metrics.k8s.io/v1beta1/namespaces/{NS}/queue_len").status == 503,
                   "503 while the adapter is down")
        wait.until(lambda: "FailedGetExternalMetric" in self.condition("external", "ScalingActive"), "HPA sees it", 20)
        before = self.replicas("external")
        self.adapter.start()
        # The HPA and the aggregator have to find back by themselves.
        wait.until(lambda: self.condition("external", "ScalingActive") == "True ValidMetricFound", "HPA recovered", 40)
        registration.wait_available(self.admin, [name])
        self.assertEqual(self.replicas("external"), before)
