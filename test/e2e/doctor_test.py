"""flyball doctor on a chain that is whole, and on the same chain broken at each link: the right ✗, with its fix, and status 1."""

import base64
import json

import yaml

from harness import adapter, kube, pki, ports, processes, paths, registration, scaling, wait
from harness.case import Case, differs
from harness.client import Identity
from harness.exporter import Exporter
from harness.kubelet import Kubelet
from harness.prometheus import Prometheus

NS, SYSTEM, SERVICE = "doctor", registration.NAMESPACE, "flyball-doctor"
EXTERNAL = "v1beta1.external.metrics.k8s.io"
HPA = "HorizontalPodAutoscaler"
SUM = "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"
OWN = {"overrides": {"namespace": {"resource": "namespace"}, "pod": {"resource": "pod"}}}
RESOURCE = {"resources": {"overrides": {**OWN["overrides"], "node": {"resource": "node"}}}, "containerLabel": "container",
            "nodeQuery": SUM.replace("<<.Series>>", "node_work")}
CONFIG = {
    "rules": [{"seriesQuery": series, "resources": OWN, "metricsQuery": SUM} for series in ("load_per_pod", "borrowed", "lonely", "foreign")],
    "externalRules": [{"seriesQuery": "queue_len", "resources": {"namespaced": False}, "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>})"}],
    "resourceRules": {"window": "1m", **{name: {**RESOURCE, "containerQuery": SUM.replace("<<.Series>>", f"container_{name}")}
                                         for name in ("cpu", "memory")}},
}
RIGHTS = [{"apiGroups": [""], "resources": ["pods", "nodes", "namespaces"], "verbs": ["list", "watch"]},
          {"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"], "verbs": ["list", "watch"]},
          {"apiGroups": ["apiregistration.k8s.io"], "resources": ["apiservices"], "verbs": ["list", "watch"]}]


@differs("it has no doctor")
class Doctor(Case):
    """flyball behind an APIService with a caBundle; a Deployment with one HPA of three metrics; the server's pod, account and rules as objects."""

    @classmethod
    def setUpClass(cls):
        cluster = cls.cluster()
        cls.admin = cluster.admin
        for name in (NS, SYSTEM):
            kube.namespace(cls.admin, name)
        cls.kubelet = Kubelet(cls.admin, NS, SYSTEM)
        cls.addClassCleanup(cls.kubelet.stop)
        exporter = Exporter(cls.samples)
        cls.addClassCleanup(exporter.stop)
        cls.prometheus = Prometheus({"work": exporter.address})
        cls.addClassCleanup(cls.prometheus.stop)
        cls.authority = pki.Authority("doctor")
        cls.server = adapter.Adapter(adapter.FLYBALL, cluster, cls.prometheus.url, CONFIG,
                                     serving=cls.authority.server(f"{SERVICE}.{SYSTEM}.svc", days=90)).start()
        cls.addClassCleanup(cls.server.stop)
        cls.watch(cls.server.process)
        cls.make_server()
        cls.make_reader()
        cls.begin("web", [scaling.pods(), scaling.queue("mail"), scaling.resource(percent=50)])
        cls.prometheus.wait_for(f'load_per_pod{{namespace="{NS}"}}', 2)
        cls.server.wait_listed("custom.metrics.k8s.io/v1beta2", "pods/load_per_pod")
        cls.server.wait_listed("external.metrics.k8s.io/v1beta1", "queue_len")
        cls.register(cls.authority)
        cls.addClassCleanup(registration.unregister, cls.admin)
        wait.until(lambda: cls.condition("web", "ScalingActive")["status"] == "True", "the HPA reads its metrics")

    @classmethod
    def tearDownClass(cls):
        for kind in (HPA, "Deployment"):
            for item in kube.listed(cls.admin, kind, NS):
                kube.delete(cls.admin, kind, NS, item["metadata"]["name"])
        kube.delete(cls.admin, "Pod", SYSTEM, "flyball-0")

    @classmethod
    def make_server(cls):
        """What a release would have: the pod with its arguments, its rules, its account and that account's rights."""
        kube.apply(cls.admin, kube.make("ConfigMap", "rules", SYSTEM, data={"config.yaml": yaml.safe_dump(CONFIG, width=10000)}))
        kube.apply(cls.admin, kube.make("ServiceAccount", SERVICE, SYSTEM))
        me = [kube.account(SYSTEM, SERVICE)]
        kube.grant(cls.admin, SERVICE, me, RIGHTS)
        kube.bind(cls.admin, SERVICE + "-delegator", "system:auth-delegator", me)
        kube.apply(cls.admin, kube.make("RoleBinding", SERVICE + "-auth-reader", "kube-system", subjects=me, roleRef={
            "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "extension-apiserver-authentication-reader"}))
        cls.make_pod("flyball-0", f"--prometheus-url={cls.prometheus.url}", "--metrics-relist-interval=1s", "--metrics-max-age=60s")

    @classmethod
    def make_pod(cls, name: str, *args: str):
        kube.apply(cls.admin, kube.make("Pod", name, SYSTEM, labels={"app": SERVICE}, spec={
            "serviceAccountName": SERVICE, "volumes": [{"name": "config", "configMap": {"name": "rules"}}],
            "containers": [{"name": "flyball", "image": "none.invalid/none", "volumeMounts": [{"name": "config", "mountPath": "/etc/adapter"}],
                            "args": ["serve", "--config=/etc/adapter/config.yaml", *args]}]}))

    @classmethod
    def make_reader(cls):
        """Who runs the doctor: may read everything and ask as the server's account, and change nothing."""
        kube.grant(cls.admin, "doctor-reader", [kube.user("doctor-reader")], [
            {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]}, {"nonResourceURLs": ["*"], "verbs": ["get"]},
            {"apiGroups": [""], "resources": ["serviceaccounts"], "verbs": ["impersonate"]}])
        cls.reader = cls.cluster().kubeconfig(Identity(cert=cls.cluster().ca.client("doctor-reader")), "doctor-reader")

    @classmethod
    def register(cls, authority, names=tuple(registration.GROUPS), service=SERVICE):
        bundle = base64.b64encode(authority.pem().encode()).decode()
        registration.register(cls.admin, service, cls.server.port, names, bundle)
        kube.patch(cls.admin, "Service", SYSTEM, service, {"spec": {"selector": {"app": SERVICE}}})
        if authority is cls.authority:
            registration.wait_available(cls.admin, names)

    @classmethod
    def begin(cls, name: str, metrics: list, target: str = "", requests: bool = True):
        deployment = scaling.workload("Deployment", NS, target or name)
        del deployment["spec"]["replicas"]  # the autoscaler's alone
        if not requests:
            for container in deployment["spec"]["template"]["spec"]["containers"]:
                container.pop("resources")
        kube.apply(cls.admin, deployment)
        kube.apply(cls.admin, kube.make(HPA, name, NS, spec={
            "minReplicas": 2, "maxReplicas": 2, "metrics": metrics, "scaleTargetRef": scaling.target_ref("Deployment", target or name)}))
        wait.until(lambda: len(cls.kubelet.names(NS, target or name)) == 2, f"two pods of {name}")

    @classmethod
    def samples(cls) -> dict:
        found = {'queue_len{queue="mail"}': 20, "node_work": 1}
        for name in (n for pods in cls.kubelet.pods.values() for n in pods):
            found[f'load_per_pod{{namespace="{NS}",pod="{name}"}}'] = 10
            found[f'borrowed{{namespace="{NS}",pod="exporter-1",exported_pod="{name}"}}'] = 10
            found[f'lonely{{pod="{name}"}}'] = 10
            found[f'foreign{{namespace="elsewhere",pod="{name}"}}'] = 10
            for container in ("main", "side"):
                found[f'container_cpu{{namespace="{NS}",pod="{name}",container="{container}"}}'] = 0.05
                found[f'container_memory{{namespace="{NS}",pod="{name}",container="{container}"}}'] = 2**25
        return found

    @classmethod
    def condition(cls, name: str, kind: str) -> dict:
        return next(c for c in kube.get(cls.admin, HPA, NS, name)["status"]["conditions"] if c["type"] == kind)

    def doctor(self, *args: str, status: int = None, user=None):
        """(status, text) of a run as someone who may only read."""
        done = processes.run([paths.flyball(), "doctor", f"--kubeconfig={user or self.reader}", *args])
        if status is not None:
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.returncode, done.stdout + done.stderr

    def finds(self, problem: str, fix: str, *args: str):
        """A ✗ with that text and, in the next line, that remedy."""
        def found():
            status, text = self.doctor(*(args or ("hpa/web", "-n", NS)))
            lines = text.splitlines()
            at = next((i for i, line in enumerate(lines) if "✗" in line and problem in line), -1)
            if at < 0:
                raise AssertionError(text)
            self.assertIn("    fix: ", lines[at + 1])
            self.assertIn(fix, lines[at + 1])
            return status == 1
        wait.until(found, problem, 15, every=0.5)

    def test_a_whole_chain_is_good_from_end_to_end(self):
        text = wait.until(lambda: self.whole(*self.doctor("hpa/web", "-n", NS)), "all good", 15)
        for line in ("v1beta2.custom.metrics.k8s.io is held by Service monitoring/flyball-doctor and Available",
                     "the certificate of flyball-doctor.monitoring.svc ends in 89 days",
                     "4 APIServices have a caBundle that vouches for it as flyball-doctor.monitoring.svc",
                     f"system:serviceaccount:{SYSTEM}:{SERVICE} has the 14 rights that it needs",
                     "rules/config.yaml: 4 rules, 1 external rule, resource rules", "Prometheus answers at", "5 of 5 rules match 5 series",
                     "Deployment web has 2 of 2 replicas", "all 2 pods are ready", "Pods load_per_pod is web-", "External queue_len is 20",
                     "Resource cpu is web-", "all containers state their cpu request", "ScalingActive=True"):
            self.assertIn("  ✓ " + line, text)
        self.assertTrue(text.endswith("\n\nno problems\n"), text)

    def whole(self, status: int, text: str) -> str:
        self.assertEqual((status, text.count("!"), text.count("✗")), (0, 0, 0), text)
        return text

    def test_json_for_machines(self):
        def sound():
            report = json.loads(self.doctor("hpa/web", "-n", NS, "-o", "json", status=0)[1])
            self.assertEqual((report["problems"], report["warnings"]), (0, 0), report)
            return report
        report = wait.until(sound, "no problems", 15)
        self.assertEqual([s["title"] for s in report["sections"]], ["cluster", "rules", f"hpa {NS}/web"])
        self.assertEqual({f["level"] for s in report["sections"] for f in s["findings"]}, {"ok"})

    def test_all_of_a_namespace(self):
        text = self.doctor("--all", "-n", NS)[1]
        self.assertIn(f"hpa {NS}/web", text)
        self.assertNotIn("kube-system/", text.replace("ConfigMap kube-system/", ""))

    def test_usage(self):
        self.doctor("pod/web", status=2)
        self.doctor("hpa/web", "--all", status=2)
        self.doctor("--no-such-flag", status=2)
        self.doctor(status=2, user="/nonexistent")
        self.finds("there is no hpa nobody", "kubectl get hpa -A", "hpa/nobody", "-n", NS)

    def test_an_api_server_that_is_away(self):
        self.finds("the API server at http://127.0.0.1:1", "kubectl", "--server=http://127.0.0.1:1")

    def test_marks_are_letters_where_the_locale_has_no_others(self):
        for locale, marks in (("C", "x  "), ("de_DE.ISO-8859-1", "x  "), ("C.UTF-8", "✗ ")):
            done = processes.run([paths.flyball(), "doctor", "hpa/web", "-n", NS, "--server=http://127.0.0.1:1"], env={"LC_ALL": locale})
            self.assertIn(f"  {marks}the API server at", done.stdout)
            self.assertEqual(("✗" in done.stdout, done.stdout.count("http://127.0.0.1:1")), (locale == "C.UTF-8", 1))

    def test_a_missing_apiservice(self):
        registration.unregister(self.admin, (EXTERNAL,))
        self.addCleanup(self.register, self.authority, (EXTERNAL,))
        self.finds(f"no APIService for external.metrics.k8s.io, which is wanted by hpa {NS}/web", "apiServices.create=true")

    def test_a_service_without_endpoints(self):
        kube.apply(self.admin, kube.make("Service", "empty", SYSTEM, spec={"selector": {"app": "nobody"}, "ports": [{"port": 443}]}))
        self.addCleanup(kube.delete, self.admin, "Service", SYSTEM, "empty")
        service = {"service": {"name": "empty", "namespace": SYSTEM, "port": 443}}
        kube.patch(self.admin, "APIService", None, EXTERNAL, {"spec": service})
        self.addCleanup(self.register, self.authority, (EXTERNAL,))
        self.finds("Service monitoring/empty has no ready endpoint; no pod has the labels app=nobody", "spec.selector of the Service")
        self.finds("not Available: EndpointsNotFound", "get a pod ready")

    def test_a_service_that_is_not_there(self):
        kube.patch(self.admin, "APIService", None, EXTERNAL, {"spec": {"service": {"name": "gone", "namespace": SYSTEM, "port": 443}}})
        self.addCleanup(self.register, self.authority, (EXTERNAL,))
        self.finds("Service monitoring/gone does not exist", "helm upgrade")

    def test_a_ca_bundle_of_another_authority(self):
        self.register(pki.Authority("other"), (EXTERNAL,))
        self.addCleanup(self.register, self.authority, (EXTERNAL,))
        self.finds(f"{EXTERNAL}: the API server refuses the certificate of flyball-doctor.monitoring.svc", "spec.caBundle")

    def test_a_missing_right(self):
        kube.grant(self.admin, SERVICE, [kube.account(SYSTEM, SERVICE)], [{**RIGHTS[0], "resources": ["nodes", "namespaces"]}, *RIGHTS[1:]])
        self.addCleanup(kube.grant, self.admin, SERVICE, [kube.account(SYSTEM, SERVICE)], RIGHTS)
        self.finds(f"system:serviceaccount:{SYSTEM}:{SERVICE} may not list pods", "rbac.create=true")

    def test_rights_of_the_live_source(self):
        """Of a newer pod, which counts: it scrapes kubelets, and asks no Prometheus."""
        self.make_pod("flyball-1", "--metric-source=live", "--live-scrape-kubelets=15s")
        self.addCleanup(kube.delete, self.admin, "Pod", SYSTEM, "flyball-1")
        self.finds("may not get nodes/metrics", "live.kubelets.scrapeInterval")
        self.assertIn("  ✓ the server asks none: --metric-source=live", self.doctor("hpa/web", "-n", NS)[1])

    def test_a_rule_without_series(self):
        """That is a warning where the server has a live source beside Prometheus, which may have them."""
        file = processes.fresh_folder("rules") / "config.yaml"
        file.write_text(yaml.safe_dump({**CONFIG, "rules": [{"seriesQuery": "nothing_total", "resources": OWN, "metricsQuery": SUM}]}))
        self.finds("matches no series: nothing_total", "ask Prometheus for it", f"--config={file}")
        self.make_pod("flyball-1", "--metric-source=prometheus+live", f"--prometheus-url={self.prometheus.url}")
        self.addCleanup(kube.delete, self.admin, "Pod", SYSTEM, "flyball-1")
        text = self.doctor(f"--config={file}")[1]
        self.assertRegex(text, "  ! rule .* matches no series: nothing_total")
        self.assertIn("  ✓ the server also has samples in memory", text)

    def test_a_rule_file_with_errors(self):
        file = processes.fresh_folder("rules") / "config.yaml"
        file.write_text("rules:\n- seriesQueri: up\n")
        self.finds("config.yaml:2:3", "correct that line", f"--config={file}")

    def test_a_rule_file_that_is_not_there(self):
        self.finds("/nonexistent: cannot be read", "correct --config", "--config=/nonexistent")

    def test_a_label_that_names_the_exporter(self):
        self.begin("borrowed", [scaling.pods(name="borrowed")])
        self.finds("label pod of borrowed is exporter-1, which is none of the target's pods; label exported_pod is",
                   "resources.overrides.exported_pod", "hpa/borrowed", "-n", NS)

    def test_series_without_a_namespace(self):
        self.begin("lonely", [scaling.pods(name="lonely")])
        self.finds("lonely has no label namespace, only ", "resources.overrides", "hpa/lonely", "-n", NS)

    def test_series_of_another_namespace(self):
        self.begin("foreign", [scaling.pods(name="foreign")])
        self.finds(f"foreign has namespace elsewhere and not {NS}", "honorLabels", "hpa/foreign", "-n", NS)

    def test_a_metric_that_no_rule_gives(self):
        self.begin("unknown", [scaling.pods(name="load_per_pot")])
        self.finds("Pods load_per_pot: no rule gives that name; similar: load_per_pod", "name.as", "hpa/unknown", "-n", NS)

    def test_prometheus_is_down(self):
        self.finds("Prometheus does not answer", "--prometheus-url", "hpa/web", "-n", NS, f"--prometheus-url=http://127.0.0.1:{ports.free()}")

    def test_no_requests(self):
        self.begin("bare", [scaling.resource(percent=50)], requests=False)
        self.finds("missing request for cpu in container main of Pod bare-", "resources.requests.cpu", "hpa/bare", "-n", NS)
        self.finds("ScalingActive=False (FailedGetResourceMetric)", "the lines about its metrics", "hpa/bare", "-n", NS)

    def test_a_target_that_is_not_there(self):
        self.begin("away", [scaling.queue("mail")])
        kube.delete(self.admin, "Deployment", NS, "away")
        self.finds('Deployment away: deployments.apps "away" not found', "spec.scaleTargetRef", "hpa/away", "-n", NS)
        self.finds("AbleToScale=False (FailedGetScale)", "see that Deployment away exists", "hpa/away", "-n", NS)

    def test_somebody_else_applies_the_count(self):
        self.begin("fought", [scaling.queue("mail")])
        kube.apply(self.admin, scaling.workload("Deployment", NS, "fought", 2))
        text = self.doctor("hpa/fought", "-n", NS)[1]
        self.assertIn("! e2e applies spec.replicas of Deployment fought", text)
        self.assertIn("fix: leave spec.replicas out", text)

    def test_pods_of_somebody_else(self):
        self.begin("crowd", [scaling.queue("mail")])
        kube.apply(self.admin, kube.make("Pod", "stray", NS, labels={"app": "crowd"}, spec={
            "containers": [{"name": "main", "image": "none.invalid/none"}]}))
        self.finds("catches 1 pod that Deployment crowd does not own: stray", "a label of their own", "hpa/crowd", "-n", NS)

    def test_a_quota_keeps_a_stateful_set_from_its_count(self):
        """Which has no condition for it, as a Deployment has."""
        kube.register_kind("ResourceQuota", "v1", "resourcequotas", True)
        space = f"{NS}-quota"
        kube.namespace(self.admin, space)
        kube.apply(self.admin, kube.make("ResourceQuota", "compute", space, spec={"hard": {"pods": "0"}}))
        # As the controller of quotas would, which does not run here.
        kube.patch(self.admin, "ResourceQuota", space, "compute", {"status": {"hard": {"pods": "0"}, "used": {"pods": "0"}}}, "status")
        trial = kube.make("Pod", "trial", space, spec={"containers": [{"name": "main", "image": "none.invalid/none"}]})
        wait.until(lambda: self.admin.request("POST", kube.path("Pod", space) + "?dryRun=All", trial).status == 403, "no pod is admitted")
        kube.apply(self.admin, scaling.workload("StatefulSet", space, "books", 2))
        kube.apply(self.admin, kube.make(HPA, "books", space, spec={
            "maxReplicas": 2, "metrics": [scaling.queue("mail")], "scaleTargetRef": scaling.target_ref("StatefulSet", "books")}))
        self.finds("StatefulSet books can't make its 2 replicas: create Pod books-", "describe resourcequota", "hpa/books", "-n", space)

    def test_two_on_one_target(self):
        self.begin("twin-a", [scaling.queue("mail")], target="twin")
        self.begin("twin-b", [scaling.queue("mail")], target="twin")
        self.finds("Deployment twin is scaled by hpa twin-b too", "leave one of them", "hpa/twin-a", "-n", NS)

    def test_what_may_not_be_looked_at_is_no_problem_of_the_cluster(self):
        """A user who may read the HPA, its target and metrics, and nothing of the server."""
        user = "doctor-poor"
        kube.grant(self.admin, user, [kube.user(user)], [
            {"apiGroups": ["autoscaling"], "resources": ["horizontalpodautoscalers"], "verbs": ["list"]},
            {"apiGroups": ["apps"], "resources": ["deployments", "deployments/scale"], "verbs": ["get"]},
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
            {"apiGroups": ["custom.metrics.k8s.io", "external.metrics.k8s.io", "metrics.k8s.io"], "resources": ["*"], "verbs": ["*"]}])
        poor = self.cluster().kubeconfig(Identity(cert=self.cluster().ca.client(user)), user)
        text = wait.until(lambda: self.doctor("hpa/web", "-n", NS, status=0, user=poor)[1], "its rights are in force")
        self.assertIn("run doctor as someone who may list apiservices.apiregistration.k8s.io", text)
        self.assertIn("✓ Pods load_per_pod is web-", text)
