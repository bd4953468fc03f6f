"""Each supported shape, run with exactly its own arguments and rights: none is missing, and each that it has is used."""

import json
import re

import yaml

import scaling_test
from cluster import Audit, ClusterCase
from harness import kube, ports, wait
from harness.client import Identity
from harness.exporter import Exporter
from harness.kubelet import Kubelet
from harness.prometheus import Prometheus
from helm import CHART, CI, NAMESPACE, granted, objects, of_kind, values_file
from pod import Pod
from release import all_samples
from workloads import TARGETS, workload

UNUSABLE = "certificate-inline"  # the certificate in it is none
ALWAYS = {("authorization.k8s.io", "subjectaccessreviews", "create"), ("authentication.k8s.io", "tokenreviews", "create"),
          *(("", "configmaps", verb) for verb in ("get", "list", "watch"))}
READER = "extension-apiserver-authentication-reader"
SAMPLES = {**all_samples(), 'http_requests_total{namespace="shop",pod="a-1"}': 5, 'edge_load{namespace="shop",ingress="i"}': 6,
           'load_beyond_all{namespace="shop",pod="a-1"}': "+Inf"}
# Scaling waits for what is remembered to be written. In mode advise an event says only that a status could not be written.
RARE = {*scaling_test.Scaling.RARE, ("", "configmaps", "create"), ("", "configmaps", "update")}
RARE_IN = {"scaler-advise": {("", "events", "create")},
           # Once the Envoys are others, and once a slice that the list lacks is there nevertheless.
           "front": {("discovery.k8s.io", "endpointslices", verb) for verb in ("update", "get")},
           **dict.fromkeys(("everything", "kubelets"), {("", "nodes/metrics", "get")})}  # the kubelets ask whether Flyball may read their pages


def name_of(values) -> str:
    return values.name.removesuffix("-values.yaml")


def autoscaler(kind: str, name: str, target: str = "Deployment", version: str = "apps/v1", least: int = 3, **more) -> dict:
    """What wants at least 3 replicas, so that a new target is scaled before any metric is read; or, with 1, a metric that nobody has."""
    return kube.make(kind, name, "shop", spec={
        "scaleTargetRef": {"apiVersion": version, "kind": target, "name": name}, "minReplicas": least, "maxReplicas": 5, **more,
        "metrics": [{"type": "External", "external": {"metric": {"name": "of_nobody"}, "target": {"type": "Value", "value": "1"}}}]})


class Shapes(ClusterCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.before = cls.everything()
        kube.crd(cls.admin, "argoproj.io", "rollouts", "Rollout", "Namespaced", {
            "status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector"}})
        kube.node(cls.admin, "n1")
        exporter = Exporter(lambda: SAMPLES)
        cls.addClassCleanup(exporter.stop)
        cls.prometheus = Prometheus({"all": exporter.address})
        cls.addClassCleanup(cls.prometheus.stop)
        kubelet = Kubelet(cls.admin, "shop")
        cls.addClassCleanup(kubelet.stop)
        cls.cluster().stop_stock_scaler()
        cls.addClassCleanup(cls.cluster().start_stock_scaler)
        cls.foreign = cls.others_make()
        cls.metrics = {}  # series of /metrics -> names of labels, of all shapes

    @classmethod
    def others_make(cls) -> list:
        """What a shape takes for granted: the ConfigMap, the Secrets, and the role that it names."""
        pair = cls.cluster().ca.server("flyball.monitoring.svc")
        tls = {"tls.crt": pair.cert.read_text(), "tls.key": pair.key.read_text()}
        config = {"rules": [{"seriesQuery": "load_per_pod", "resources": {"template": "<<.Resource>>"}, "metricsQuery": "<<.Series>>"}]}
        made = [kube.make("ConfigMap", "our-rules", NAMESPACE), kube.make("Secret", "thanos", NAMESPACE),
                kube.make("Secret", "metrics-tls", NAMESPACE), kube.make("Secret", "flyball-tls", NAMESPACE), kube.make("ClusterRole", READER, rules=[
                    {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["extension-apiserver-authentication"],
                     "verbs": ["get", "list", "watch"]}])]
        made[0]["data"] = {"config.yaml": yaml.safe_dump(config)}
        made[1]["stringData"] = {"token": "t", "ca.crt": cls.cluster().ca.pem()}
        made[2]["stringData"] = tls
        made[3]["stringData"] = tls  # cert-manager's
        made.append(kube.make("ConfigMap", "openshift-service-ca.crt", NAMESPACE))  # the platform's
        made[-1]["data"] = {"service-ca.crt": cls.cluster().ca.pem()}
        return made

    @classmethod
    def tearDownClass(cls):
        for kind, name in (("CustomResourceDefinition", "rollouts.argoproj.io"), ("CustomResourceDefinition", "autoscalers.flyball.dev"), ("Node", "n1")):
            kube.delete(cls.admin, kind, None, name)

    def values_of(self, values) -> dict:
        """What a test must say too: where Prometheus is, a free port, and nothing that needs patience."""
        host, _, port = self.prometheus.url.rpartition(":")
        told = yaml.safe_load(values.read_text())
        more = {"extraArguments": ["--horizontal-pod-autoscaler-sync-period=1s", "--scaler-autoscaler-metrics"]} if told.get("scaler") else {}
        if told.get("scaler", {}).get("triggerSecrets"):
            more["scaler"] = {**told["scaler"], "triggerAllowAddresses": ["127.0.0.0/8"]}
        if told.get("front"):
            more["front"] = {**told["front"], "listenPort": ports.free()}
        return {"listenPort": ports.free(), "prometheus": {"url": host, "port": int(port), "path": ""}, "metricsRelistInterval": "1s", "metricsMaxAge": "60s",
                "shutdownDelay": "0s", "apiServices": {**told.get("apiServices", {}), "create": False}, **more}

    def carried_things(self) -> list:
        """What requests wake, the Service that they come to, and an Envoy for it to lead to."""
        trigger = {"type": "http", "metadata": {"service": "carried", "targetPort": "8080"}}
        envoy = kube.make("Pod", "envoy", NAMESPACE, labels={"app.kubernetes.io/name": "flyball-front", "app.kubernetes.io/instance": "flyball"},
                          spec=workload("Deployment", "any")["spec"]["template"]["spec"])
        return [workload("Deployment", "carried"), kube.make("Service", "carried", "shop", spec={"ports": [{"port": 80}]}), envoy,
                kube.make("Autoscaler", "carried", "shop", spec={
                    "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "carried"}, "minReplicas": 0, "maxReplicas": 2, "triggers": [trigger]})]

    def scaled_things(self, scaler: dict) -> list:
        """A target of each kind that wants more replicas, one of an HPA, and one whose metric nobody has; with what this shape adds to it."""
        targets, credentials, more = dict(TARGETS), {}, []
        if scaler.get("kinds"):
            targets["Rollout"] = "argoproj.io/v1"
            more.append(kube.make("Rollout", "rollout", "shop", spec={"replicas": 1}))
        if scaler.get("triggerSecrets"):
            credentials = {"authenticationSecretRefs": [{"parameter": "bearerToken", "name": "of-trigger", "key": "token"}]}
            secret = {**kube.make("Secret", "of-trigger", "shop"), "stringData": {"token": "t"}}
            secret["metadata"]["labels"] = {"flyball.dev/trigger-secret": "true"}
            more.append(secret)
        trigger = {"type": "prometheus", "metadata": {"serverAddress": self.prometheus.url, "query": "queue_len", "threshold": "1",
                                                      **({"authModes": "bearer"} if credentials else {})}, **credentials}
        return [*map(workload, TARGETS), workload("Deployment", "hpa"), workload("Deployment", "blind"), *more,
                *(autoscaler("Autoscaler", kind.lower(), kind, version) for kind, version in targets.items()),
                autoscaler("HorizontalPodAutoscaler", "hpa"), autoscaler("Autoscaler", "blind", least=1, triggers=[trigger])]

    def put(self, things: list):
        for thing in things:
            wait.until(lambda t=thing: kube.apply(self.admin, t) or True, thing["metadata"]["name"])  # a definition takes a moment
            self.addCleanup(self.remove, thing)

    def remove(self, thing: dict):
        path = kube.path(thing["kind"], thing["metadata"].get("namespace"), thing["metadata"]["name"])
        kube.expect(self.admin.request("DELETE", path + "?propagationPolicy=Background&gracePeriodSeconds=0"), 200, 202, 404)

    @staticmethod
    def ask_all(client, kinds: set) -> set:
        """Each of these kinds that is offered is asked for by `*`; those that were."""
        asked = set()
        for resource in client.get("/apis/custom.metrics.k8s.io/v1beta2").json().get("resources", []):
            whole, _, metric = resource["name"].partition("/")
            kind = whole.partition(".")[0]
            if kind in kinds - asked:
                asked.add(kind)
                path = "namespaces/*/metrics" if kind == "namespaces" else f"namespaces/shop/{whole}/*"
                client.get(f"/apis/custom.metrics.k8s.io/v1beta2/{path}/{metric}")
        for path in ("metrics.k8s.io/v1beta1/nodes", "metrics.k8s.io/v1beta1/namespaces/shop/pods",
                     "custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/a-1/load_beyond_all"):
            client.get("/apis/" + path)
        return asked

    def run_shape(self, values):
        told = yaml.safe_load(values.read_text())
        release = ("flyball", CHART, "--namespace", NAMESPACE, "--values", values, "--values", values_file(self.values_of(values)))
        name, namespace = told.get("fullnameOverride", "flyball"), told.get("namespaceOverride", NAMESPACE)
        own_secret = [] if told.get("certManager") else ["flyball-tls"]
        self.put([t for t in self.foreign if t["metadata"]["name"] not in own_secret])
        self.helm("install", *release)
        self.addCleanup(self.delete_what_the_scaler_made)
        self.addCleanup(self.helm, "uninstall", "flyball", "--namespace", NAMESPACE, "--ignore-not-found")
        items = objects(self.helm("get", "manifest", "flyball", "--namespace", NAMESPACE))
        if told.get("scaler"):
            self.put(self.scaled_things(told["scaler"]))
        if told.get("front"):
            self.put(self.carried_things())
            kube.run_pod(self.admin, NAMESPACE, "envoy", "10.99.0.1")
        account, = [a["metadata"]["name"] for a in of_kind(items, "ServiceAccount") if not a["metadata"]["name"].endswith(("-scrape", "-front"))]
        audit = Audit(self.cluster(), account, namespace)
        pod = Pod(self.cluster(), namespace, name).start()
        self.addCleanup(pod.stop)
        pod.wait_ready()
        rights = granted(items) | granted(items, namespaced=True)
        client = pod.client(Identity(cert=self.cluster().admin_cert))
        wait.until(lambda: self.assertEqual(self.unused(rights - RARE_IN.get(name_of(values), set()), told, client, audit), set()) is None, "the use of every right", 90)
        for series, labels in re.findall(r"^([a-z_]+)(?:\{(.*)\})? ", client.get("/metrics").text(), re.MULTILINE):
            self.metrics.setdefault(series, set()).update(re.findall(r'(\w+)="', labels))
        limited = {right for right in audit.refused() if told.get("rbac", {}).get("namespaces") and right[2] == "list"}
        self.assertEqual(audit.refused() - limited, set(), "a right is missing")
        self.assertLessEqual(audit.used() - ALWAYS, rights)

    def unused(self, rights: set, told: dict, client, audit: Audit) -> set:
        """Rights that nothing has used although everything that is offered was asked for."""
        chosen = {kind for rule in told.get("rbac", {}).get("objects", [{"resources": ["namespaces", "services"]}]) for kind in rule["resources"]}
        of_no_rule = chosen - self.ask_all(client, chosen | {"pods"})  # rbac.objects is for the rules to come too
        return {right for right in rights - RARE - audit.used() if right[1] not in of_no_rule}

    def test_each_shape_has_the_rights_that_it_uses(self):
        for values in CI:
            if name_of(values) == UNUSABLE:
                continue
            with self.subTest(name_of(values)):
                try:
                    self.run_shape(values)
                finally:
                    self.doCleanups()

    def test_each_shape_shows_what_dashboard_and_alerts_ask_for(self):
        """After the shapes ran: each series that is asked for was there, with the labels by which it is asked for."""
        board = json.loads((CHART / "files" / "dashboard.json").read_text())
        groups = yaml.safe_load((CHART / "files" / "alerts.yaml").read_text())["groups"]
        queries = [t["expr"] for panel in board["panels"] for t in panel.get("targets", [])] + [r["expr"] for g in groups for r in g["rules"]]
        added = {"namespace", "exported_namespace", "exported_job", "pod", "job", "instance", "cluster", "le"}  # by whoever scrapes; of buckets
        # Also flyball_live_targets: it is told for each job of scraping, and no shape has one.
        of_others = re.compile(r"\b(kube_[a-z_]+|aggregator_unavailable_apiservice|ALERTS|flyball_live_targets)\b")
        for query in [q for q in queries if not of_others.search(q)]:
            with self.subTest(query):
                series = set(re.findall(r"\b((?:flyball|apiserver|prometheus_adapter|authentication|authorization|process)_[a-z_]+)\b", query))
                self.assertTrue(series)
                self.assertEqual(series - set(self.metrics), set())
                asked = set(re.findall(r'(\w+)(?:=~|!=|=)"', query)) | {
                    label for labels in re.findall(r"\b(?:by|on) \(([^)]*)\)", query) for label in labels.split(", ")}
                self.assertEqual(asked - added - set().union(*(self.metrics[name] for name in series)), set())

    def test_nothing_is_left(self):
        self.tearDownClass()  # the definitions, which outlive releases
        def left():
            return {line for line in self.everything() - self.before if not line.startswith("PersistentVolume")}
        wait.until(lambda: self.assertEqual(left(), set()) is None, "nothing left")
