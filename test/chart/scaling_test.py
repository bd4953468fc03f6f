"""The scaler in a real cluster with exactly the chart's arguments and rights."""

from cluster import Audit
from harness import kube, wait
from harness.client import Identity
from harness.kubelet import Kubelet
from helm import CHART, NAMESPACE, granted, values_file
from release import Release
from workloads import TARGETS, workload


class Scaling(Release):
    """The scaler, acting on both kinds; the stock HPA controller is away meanwhile."""

    MORE_VALUES = {"scaler": {"enabled": True, "mode": "act", "hpa": True}, "extraArguments": ["--horizontal-pod-autoscaler-sync-period=1s"]}
    # Used in cases that this test does not bring about.
    RARE = {("", "events", "patch"): "an event that is repeated",
            ("autoscaling", "horizontalpodautoscalers", "get"): "a write while the watch is broken",
            ("flyball.dev", "autoscalers", "get"): "a write while the watch is broken",
            ("", "configmaps", "create"): "one that somebody deleted", ("coordination.k8s.io", "leases", "create"): "one that somebody deleted",
            **{(group, kind + "/scale", "get"): "a write that met another's" for group, kind in (
                ("apps", "deployments"), ("apps", "replicasets"), ("apps", "statefulsets"), ("", "replicationcontrollers"))}}

    LENGTH = {"queue_len{queue=\"mail\"}": 10}

    @classmethod
    def samples(cls) -> dict:
        return cls.LENGTH

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster().stop_stock_scaler()
        cls.addClassCleanup(cls.cluster().start_stock_scaler)
        kubelet = Kubelet(cls.admin, "shop")
        cls.addClassCleanup(kubelet.stop)

    def scaled(self, kind: str, name: str) -> bool:
        return kube.get(self.admin, kind, "shop", name)["spec"]["replicas"] == 5

    def test_it_scales_with_its_own_rights_and_no_others(self):
        metric = {"type": "External", "external": {"metric": {"name": "queue_len"}, "target": {"type": "AverageValue", "averageValue": "2"}}}
        for kind, version in TARGETS.items():
            kube.apply(self.admin, workload(kind))
            own = "HorizontalPodAutoscaler" if kind == "StatefulSet" else "Autoscaler"
            kube.apply(self.admin, kube.make(own, kind.lower(), "shop", spec={
                "scaleTargetRef": {"apiVersion": version, "kind": kind, "name": kind.lower()}, "maxReplicas": 5, "metrics": [metric]}))
        for kind in TARGETS:  # 10 / 2
            wait.until(lambda k=kind: self.scaled(k, k.lower()), f"{kind} has 5 replicas")
        self.LENGTH['queue_len{queue="mail"}'] = 9.5  # still 5 replicas; what is remembered changes
        wanted = granted(self.manifest()) | granted(self.manifest(), namespaced=True)
        rbac_objects = {("", kind, verb) for kind in ("nodes", "services", "namespaces") for verb in ("list", "watch")}
        unused = wanted - set(self.RARE) - rbac_objects
        wait.until(lambda: self.assertEqual(unused - self.audit.used(), set()) is None, "all rights used")
        self.assertEqual(self.audit.refused(), set(), "a right is missing")
        self.assertNotIn("is ignored", self.pod.process.text())

    def test_looked_at_by_doctor_from_its_own_pod(self):
        done = self.pod.run("doctor", "hpa/statefulset", "--namespace", "shop")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        for line in ("✓ v1beta1.external.metrics.k8s.io is held by Service monitoring/flyball and Available",
                     "✓ this pod's account has the 8 rights that it needs",
                     "✓ StatefulSet statefulset has ", "✓ ScalingActive=True",
                     # A server's account is no reader of metrics, and may not look at everything around itself.
                     "! External queue_len: queue_len.external.metrics.k8s.io is forbidden", "! Service monitoring/flyball: ",
                     "no problems, 3 warnings"):
            self.assertIn(line, done.stdout)

    def test_without_the_right_to_scale_it_says_so(self):
        role, = [r for r in self.manifest("ClusterRole") if r["metadata"]["name"].endswith(":scaler")]
        kube.patch(self.admin, "ClusterRole", None, role["metadata"]["name"], {"rules": [
            r for r in role["rules"] if "deployments/scale" not in r["resources"]]})
        kube.patch(self.admin, "Deployment", "shop", "deployment", {"spec": {"replicas": 1}})
        audit = Audit(self.cluster(), self.RELEASE)
        wait.until(lambda: ("apps", "deployments/scale", "update") in audit.refused(), "a refused write")
        admin = self.pod.client(Identity(cert=self.cluster().admin_cert))
        wait.until(lambda: 'action="failed"' in admin.get("/metrics").text(), "the failed write is counted")

    def test_zz_the_kind_survives_uninstalling(self):
        self.pod.stop()
        self.helm("uninstall", self.RELEASE, "--namespace", NAMESPACE)
        self.assertEqual(len(kube.listed(self.admin, "Autoscaler", "shop")), 3)
        self.helm("upgrade", "--install", self.RELEASE, CHART, "--namespace", NAMESPACE, "--values", values_file(self.values))
        self.helm("upgrade", self.RELEASE, CHART, "--namespace", NAMESPACE, "--values", values_file({**self.values, "crds": {"keep": False}}))
        self.helm("uninstall", self.RELEASE, "--namespace", NAMESPACE)
        for kind in TARGETS:
            path = kube.path(kind, "shop", kind.lower())
            kube.expect(self.admin.request("DELETE", path + "?propagationPolicy=Background&gracePeriodSeconds=0"), 200)
        kube.delete(self.admin, "HorizontalPodAutoscaler", "shop", "statefulset")
        wait.until(lambda: self.assertEqual({line for line in self.everything() - self.before if not line.startswith("PersistentVolume")}, set())
                   is None, "nothing left")
