"""What both programs run against: one control plane with 10 namespaces of 50 pods, one Prometheus, one caller."""

import concurrent.futures
import json
import socket
import threading
import time

from harness import adapter, control_plane, kube, ports
from harness.exporter import Exporter
from harness.prometheus import Prometheus

NAMESPACES = [f"ns-{i}" for i in range(10)]
PODS = [f"web-{i:02}" for i in range(50)]
RULES, SERIES = 40, 100_000

CUSTOM, EXTERNAL = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/", "/apis/external.metrics.k8s.io/v1beta1/namespaces/"
OWN = {"overrides": {"namespace": {"resource": "namespace"}, "pod": {"resource": "pod"}}}
SUM = "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"
CONFIG = {"rules": [{"seriesQuery": 'load{namespace!=""}', "resources": OWN, "metricsQuery": SUM}],
          "externalRules": [{"seriesQuery": "queue_len", "resources": {"namespaced": False},
                             "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (queue)"}]}
LARGE = {"rules": [{"seriesQuery": f'{{__name__=~"^big{i:02}_.*"}}', "resources": OWN, "metricsQuery": SUM}
                   for i in range(RULES)]}

# The requests of one run: different paths, asked in turn.
WORK = {
    "pods/* of 50 pods": [f"{CUSTOM}{n}/pods/*/load?labelSelector=app%3Dweb" for n in NAMESPACES],
    "one pod's metric": [f"{CUSTOM}{n}/pods/{p}/load" for p in PODS for n in NAMESPACES],
    "an external metric": [f"{EXTERNAL}{NAMESPACES[0]}/queue_len?labelSelector=queue%3Dmail"],
}


class World:
    """Started once; `token` is the service account that asks, `prometheus` serves the 500 pods, `large` the 100,000 series."""

    def __init__(self):
        self.cluster = control_plane.ControlPlane().start(controllers=False)
        self._make_pods()
        self._exporter = Exporter(self._samples)
        self.prometheus = Prometheus({"web": self._exporter.address})
        self.prometheus.wait_for("load", len(NAMESPACES) * len(PODS))
        self.token = kube.service_account_token(self.cluster.admin, NAMESPACES[0], "caller")
        kube.grant(self.cluster.admin, "bench-caller", [kube.account(NAMESPACES[0], "caller")], [
            {"apiGroups": ["custom.metrics.k8s.io", "external.metrics.k8s.io"], "resources": ["*"], "verbs": ["get", "list"]},
            {"nonResourceURLs": ["/apis/*"], "verbs": ["get"]}])
        self.kubeconfig = adapter.kubeconfig_of_adapter(self.cluster)

    def start_large(self) -> Prometheus:
        """A Prometheus with 100,000 series of 40 names, as an exporter gave them."""
        each = SERIES // RULES
        text = "".join(f'big{r:02}_load{{namespace="ns-{i % 10}",pod="web-{i % 50:02}",shard="{i:05}",zone="z{i % 3}"}} {i}\n'
                       for r in range(RULES) for i in range(each))
        exporter = Exporter()
        exporter.text = lambda: text
        large = Prometheus({"large": exporter.address}, "10s", "10s")
        large.wait_for('count({__name__=~"big.*"}) >= ' + str(SERIES), 1, 60)
        exporter.stop()  # once is enough: the series stay listed for minutes, and the machine is quiet
        return large

    def _make_pods(self):
        admin = self.cluster.admin
        for namespace in NAMESPACES:
            kube.namespace(admin, namespace)
        body = {"labels": {"app": "web"}, "spec": {"containers": [{"name": "main", "image": "none.invalid/none"}]}}

        def create(namespace):
            connection = admin.connect()
            for name in PODS:
                item = kube.make("Pod", name, namespace, **json.loads(json.dumps(body)))
                kube.expect(admin.request("POST", kube.path("Pod", namespace), item, keep=connection), 201)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(create, NAMESPACES))

    @staticmethod
    def _samples() -> dict:
        samples = {f'load{{namespace="{n}",pod="{p}"}}': i + j / 8 for i, n in enumerate(NAMESPACES) for j, p in enumerate(PODS)}
        return {**samples, 'queue_len{queue="mail"}': 42, 'queue_len{queue="other"}': 7}


class Tap:
    """Passes TCP through to a port and remembers when the first and the last byte of a phase went by."""

    def __init__(self, port: int):
        self._target, self.port = port, ports.free()
        self.first = None
        self._listener = socket.create_server(("127.0.0.1", self.port), backlog=128)
        threading.Thread(target=self._accept, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.port}"

    def reset(self):
        self.first = None

    def _accept(self):
        while True:
            caller, _ = self._listener.accept()
            callee = socket.create_connection(("127.0.0.1", self._target))
            for sock in (caller, callee):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._pass, args=(caller, callee, True), daemon=True).start()
            threading.Thread(target=self._pass, args=(callee, caller, False), daemon=True).start()

    def _pass(self, source, target, asking: bool):
        try:
            while data := source.recv(1 << 18):
                if asking and self.first is None:
                    self.first = time.monotonic()
                target.sendall(data)
        except OSError:
            pass
        for sock in (source, target):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
