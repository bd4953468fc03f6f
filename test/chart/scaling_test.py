"""The scaler in a real cluster with exactly the chart's arguments and rights."""

import subprocess

import yaml

from cluster import Audit
from harness import kube, machine, paths, processes, wait
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
        wait.until(lambda: self.assertEqual(unused - self.audit.used(), set()) is None, "all rights used", 90)
        self.assertEqual(self.audit.refused(), set(), "a right is missing")
        self.assertNotIn("is ignored", self.pod.process.text())

    def test_looked_at_by_doctor_from_its_own_pod(self):
        def doctor():
            done = self.pod.run("doctor", "hpa/statefulset", "--namespace", "shop")
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            return done

        done = wait.until(doctor, "the status, which may follow a second after the count, tells that it scales")
        for line in ("✓ v1beta1.external.metrics.k8s.io is held by Service monitoring/flyball and Available",
                     "✓ this pod's account has the 8 rights that it needs",
                     "✓ StatefulSet statefulset has ", "✓ ScalingActive=True",
                     # A server's account is no reader of metrics, and may not look at everything around itself.
                     "! External queue_len: queue_len.external.metrics.k8s.io is forbidden", "! Service monitoring/flyball: ",
                     "no problems, 3 warnings"):
            self.assertIn(line, done.stdout)

    def test_looked_at_in_its_own_pod(self):
        """What `kubectl exec deployment/flyball -- flyball …` does, by the rights of that pod's account."""
        done = self.pod.run("explain", "autoscaler/deployment", "--namespace", "shop")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("shop/deployment: Deployment deployment", done.stdout)
        done = self.pod.run("metrics")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertRegex(done.stdout, r"external +queue_len +externalRules\[0\] ")

    # What a person needs who asks from outside; the pages themselves are asked for as the server's account.
    LOOKER = [{"apiGroups": ["apiregistration.k8s.io"], "resources": ["apiservices"], "verbs": ["list"]},
              {"apiGroups": [""], "resources": ["services", "pods"], "verbs": ["get", "list"]},
              {"apiGroups": [""], "resources": ["pods/proxy"], "verbs": ["get"]},
              {"apiGroups": [""], "resources": ["serviceaccounts/token"], "verbs": ["create"]},
              {"apiGroups": ["external.metrics.k8s.io", "custom.metrics.k8s.io"], "resources": ["*"], "verbs": ["get", "list"]}]

    def test_looked_at_from_outside(self):
        """Through the API server, which takes each question on to the pod."""
        kubelet = Kubelet(self.admin, NAMESPACE, address=machine.address())
        self.addCleanup(kubelet.stop)
        wait.until(lambda: kubelet.names(NAMESPACE, ""), "the pod has an address")
        kube.grant(self.admin, "looker", [kube.user("looker")], self.LOOKER)
        for kind in ("ClusterRoleBinding", "ClusterRole"):
            self.addCleanup(kube.delete, self.admin, kind, None, "looker")
        config = self.cluster().kubeconfig(Identity(cert=self.cluster().ca.client("looker")), "looker")
        file = yaml.safe_load(config.read_text())
        file["contexts"][0]["context"]["namespace"] = "shop"
        config.write_text(yaml.safe_dump(file))

        def ask(*words, status: int = 0) -> str:
            done = processes.run([paths.flyball(), *words, f"--kubeconfig={config}"])
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
            return done.stdout + done.stderr

        text = wait.until(lambda: ask("explain", "hpa/statefulset"), "explain")
        self.assertIn("shop/statefulset: StatefulSet statefulset", text)
        self.assertIn("queue_len", text)
        self.assertIn("\"queue_len\"", ask("explain", "autoscaler/deployment", "--output=json"))
        self.assertIn("kind: Autoscaler\n", ask("explain", "deployment", "-o", "yaml"))
        self.assertIn("did you mean statefulset?", ask("explain", "hpa/statefullset", status=1))
        self.assertIn("there is one in namespace shop", ask("explain", "hpa/statefulset", "-n", "web", status=1))
        self.assertRegex(ask("metrics"), r"external +queue_len +externalRules\[0\] ")
        self.assertIn("queue_len", ask("metrics", "-o", "yaml"))
        wait.until(lambda: self.assertRegex(ask("query", "queue_len"), r"namespaces/shop/queue_len\nOBJECT +VALUE +TIME\n.* 9500m ") is None, "the value")
        self.assertIn("kind: ExternalMetricValueList", ask("query", "queue_len", "-o", "yaml"))
        self.assertRegex(ask("query", "queue_len", "--rule"), r"\nmade by externalRules\[0\] /etc/adapter/config.yaml:\d+ of queue_len\n")

    def test_looked_at_while_it_goes_on(self):
        kubelet = Kubelet(self.admin, NAMESPACE, address=machine.address())
        self.addCleanup(kubelet.stop)
        wait.until(lambda: kubelet.names(NAMESPACE, ""), "the pod has an address")
        with subprocess.Popen([paths.flyball(), "explain", "hpa/statefulset", "--namespace=shop", "--watch",
                               f"--kubeconfig={self.cluster().admin_kubeconfig}"], stdout=subprocess.PIPE, text=True) as watch:
            self.addCleanup(watch.kill)
            self.assertRegex(watch.stdout.readline(), r"^\d{4}-\d\d-\d\dT")
            kube.patch(self.admin, "HorizontalPodAutoscaler", "shop", "statefulset", {"spec": {"maxReplicas": 4}})
            self.assertTrue(any("goes from 5 to 4 replicas" in line for line in watch.stdout))
            watch.kill()
        kube.patch(self.admin, "HorizontalPodAutoscaler", "shop", "statefulset", {"spec": {"maxReplicas": 5}})
        wait.until(lambda: self.scaled("StatefulSet", "statefulset"), "StatefulSet has 5 replicas again")

    def test_without_the_right_to_scale_it_says_so(self):
        role, = [r for r in self.manifest("ClusterRole") if r["metadata"]["name"].endswith(":scaler")]
        kube.patch(self.admin, "ClusterRole", None, role["metadata"]["name"], {"rules": [
            r for r in role["rules"] if "deployments/scale" not in r["resources"]]})
        audit = Audit(self.cluster(), self.RELEASE)

        def refused():  # a first write may come before the API server knows of the new role
            kube.patch(self.admin, "Deployment", "shop", "deployment", {"spec": {"replicas": 1}})
            return ("apps", "deployments/scale", "update") in audit.refused()
        wait.until(refused, "a refused write", 60, every=1)
        admin = self.pod.client(Identity(cert=self.cluster().admin_cert))
        wait.until(lambda: 'action="failed"' in admin.get("/metrics").text(), "the failed write is counted")

    def test_zz_the_kind_survives_uninstalling(self):
        self.pod.stop()
        self.helm("uninstall", self.RELEASE, "--namespace", NAMESPACE)
        self.assertEqual(len(kube.listed(self.admin, "Autoscaler", "shop")), 3)
        self.helm("upgrade", "--install", self.RELEASE, CHART, "--namespace", NAMESPACE, "--values", values_file(self.values))
        self.helm("upgrade", self.RELEASE, CHART, "--namespace", NAMESPACE, "--values", values_file({**self.values, "crds": {"keep": False}}))
        self.helm("uninstall", self.RELEASE, "--namespace", NAMESPACE)
        self.delete_what_the_scaler_made()
        for kind in TARGETS:
            path = kube.path(kind, "shop", kind.lower())
            kube.expect(self.admin.request("DELETE", path + "?propagationPolicy=Background&gracePeriodSeconds=0"), 200)
        kube.delete(self.admin, "HorizontalPodAutoscaler", "shop", "statefulset")
        wait.until(lambda: self.assertEqual({line for line in self.everything() - self.before if not line.startswith("PersistentVolume")}, set())
                   is None, "nothing left")
