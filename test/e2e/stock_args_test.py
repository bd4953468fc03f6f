"""flyball in the place of the original's container: the arguments of the stock Deployments, credentials of the pod.

Both run in a mount namespace of their own with a service account under /var/run/secrets, as a kubelet mounts it. Only
what names another machine is replaced: the URL of Prometheus, the listen port, and the folder of the config.
"""

import concurrent.futures
import shlex

import yaml

from cases import stock_rules
from cases.model import M, WEB
from differential_test import fixture
from harness import adapter, compare, kube, namespace, paths, ports, processes, wait
from harness.case import Case
from harness.client import Client, Identity
from harness.scripted_prometheus import ScriptedPrometheus, vector

CIPHERS = ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,"
           "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,"
           "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,"
           "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA,TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA,TLS_RSA_WITH_AES_128_GCM_SHA256,"
           "TLS_RSA_WITH_AES_256_GCM_SHA384,TLS_RSA_WITH_AES_128_CBC_SHA,TLS_RSA_WITH_AES_256_CBC_SHA")
KUBE_PROMETHEUS = ["--cert-dir=/var/run/serving-cert", "--config=/etc/adapter/config.yaml", "--metrics-relist-interval=1m",
                   "--prometheus-url=https://prometheus.monitoring.svc:9090/", "--secure-port=6443", "--tls-cipher-suites=" + CIPHERS]


def helm_args() -> list:
    """Those of the Deployment that prometheus-adapter's chart renders."""
    rendered = yaml.safe_load_all((paths.PROJECT / "test" / "data" / "prometheus-adapter-chart" / "rendered.yaml").read_text())
    deployment = next(d for d in rendered if d and d["kind"] == "Deployment")
    return deployment["spec"]["template"]["spec"]["containers"][0]["args"]


OWN = {"overrides": {k: {"resource": k} for k in ("namespace", "node", "pod")}}


def _resource(container: str, node: str) -> dict:
    return {"containerLabel": "container", "resources": OWN, "containerQuery": container, "nodeQuery": node}


RESOURCE_RULES = {"resourceRules": {
    "cpu": _resource('sum by (<<.GroupBy>>) (\n  irate (\n      container_cpu_usage_seconds_total{<<.LabelMatchers>>,container!="",pod!=""}'
                     "[4m]\n  )\n)\n", "sum by (<<.GroupBy>>) (\n  irate(\n      node_cpu_usage_seconds_total{<<.LabelMatchers>>}[4m]\n  )\n)\n"),
    "memory": _resource('sum by (<<.GroupBy>>) (\n  container_memory_working_set_bytes{<<.LabelMatchers>>,container!="",pod!=""}\n)\n',
                        "sum by (<<.GroupBy>>) (\n  node_memory_working_set_bytes{<<.LabelMatchers>>}\n)\n"),
    "window": "5m"}}


def answers(query: str):
    """By what the query is about; its exact text is compared between the two."""
    at = 1700000000
    if "container_" in query and "container," in query.replace(")", ",") and "by (pod,container)" in query:
        value = 0.25 if "cpu" in query else 2**26
        return vector(*(({"pod": p, "container": "main"}, value, at) for p in ("a-1", "a-2", "b-1")))
    if "node_" in query:
        value = 1.5 if "cpu" in query else 2**31
        return vector(*(({"node": n}, value, at) for n in ("n1", "n2")))
    return stock_rules.ANSWERS.get(query, vector())


class StockArgs(Case):
    """For each stock Deployment: start both, ask both, compare answers and the queries behind them."""

    @classmethod
    def setUpClass(cls):
        cluster = cls.cluster()
        fixture(cluster.admin)
        kube.namespace(cluster.admin, "monitoring")
        cls.secrets = processes.fresh_folder("service-account")
        (cls.secrets / "token").write_text(kube.service_account_token(cluster.admin, "monitoring", "prometheus-adapter"))
        (cls.secrets / "ca.crt").write_text(cluster.ca.pem())
        (cls.secrets / "namespace").write_text("monitoring")
        me = [kube.account("monitoring", "prometheus-adapter")]
        kube.grant(cluster.admin, "stock-reader", me, [{"apiGroups": [""], "resources": ["nodes", "namespaces", "pods", "services"],
                                                        "verbs": ["get", "list", "watch"]}])
        kube.bind(cluster.admin, "stock-delegator", "system:auth-delegator", me)
        kube.apply(cluster.admin, kube.make("RoleBinding", "stock-auth-reader", "kube-system", subjects=me, roleRef={
            "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "extension-apiserver-authentication-reader"}))

    def start(self, kind: str, stock_args: list, config: dict):
        """A process as the container would run it: the image's program with the Deployment's arguments and nothing else."""
        fake = ScriptedPrometheus(stock_rules.SERIES, answers)
        self.addCleanup(fake.stop)
        folder, port = processes.fresh_folder("stock"), ports.free()
        (folder / "config.yaml").write_text(config if isinstance(config, str) else yaml.safe_dump(config))
        replaced = {"--prometheus-url": fake.url, "--secure-port": port, "--config": folder / "config.yaml"}
        if any(a.startswith("--cert-dir=/tmp") for a in stock_args):
            replaced["--cert-dir"] = folder / "cert"
        args = [f"{a.split('=')[0]}={replaced[a.split('=')[0]]}" if a.split("=")[0] in replaced else a for a in stock_args]
        program = paths.flyball() if kind == adapter.FLYBALL else paths.peer("prometheus-adapter")
        script = ("mount -t tmpfs none /var/run && mkdir -p /var/run/serving-cert /var/run/secrets/kubernetes.io && "
                  f"cp -r {self.secrets} /var/run/secrets/kubernetes.io/serviceaccount && cd / && exec "
                  + shlex.join([str(program), *args]))
        process = processes.Process(kind, [*namespace.entering(), "sh", "-c", script], env={
            "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(self.cluster().port)})
        self.addCleanup(process.kill)
        self.watched = (*self.watched, process)
        admin = Client(f"https://127.0.0.1:{port}", Identity(cert=self.cluster().admin_cert))
        wait.until(lambda: process.must_live() and admin.get("/readyz").status == 200 and admin.get("/apis").status == 200,
                   f"{kind} ready", 60)
        return admin, fake

    def compare(self, args: list, config, ready: str, requests: list):
        sides = [self.start(kind, args, config) for kind in (adapter.ORIGINAL, adapter.subject())]
        for admin, _ in sides:
            wait.until(lambda a=admin: not ready or ready in a.get("/apis/custom.metrics.k8s.io/v1beta1").text(), ready)
        for path in requests:
            with self.subTest(path):
                with concurrent.futures.ThreadPoolExecutor(2) as pool:
                    theirs, ours = (compare.answer(a, "containers") for a in pool.map(lambda s: s[0].get(path), sides))
                self.assertFalse(compare.unlike(theirs, ours))
                theirs, ours = ({compare.asked(a) for a in fake.take("/query")} for _, fake in sides)
                self.assertLessEqual(ours, theirs)

    def test_kube_prometheus(self):
        self.compare(KUBE_PROMETHEUS, RESOURCE_RULES, "", [
            M, M + "/nodes", M + "/nodes/n1", M + "/namespaces/web/pods", M + "/namespaces/web/pods/a-1",
            M + "/namespaces/web/pods?labelSelector=app%3Dshop", M + "/namespaces/web/pods/absent", "/healthz"])

    def test_helm_chart(self):
        self.compare(helm_args(), stock_rules.CONFIG, "pods/http_requests", [
            "/apis/custom.metrics.k8s.io/v1beta1", WEB + "/services/front/http_requests", WEB + "/metrics/queue_depth",
            *(f"{WEB}/pods/*/{m}?labelSelector=app%3Dshop" for m in ("cpu_usage", "memory_rss", "http_requests", "absent"))])
