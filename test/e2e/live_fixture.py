"""A server with the live source alone, without a cluster: what its tests have in common."""

import yaml

from harness import paths, ports, processes, wait
from harness.case import Case
from harness.client import Client, Identity

EXTERNAL = "/apis/external.metrics.k8s.io/v1beta1/namespaces/shop"
PODS = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods"
RESOURCES = {"overrides": {"namespace": {"resource": "namespace"}, "pod": {"resource": "pod"}}}
SUM = "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"
CONFIG = {"rules": [{"seriesQuery": "busy{pod!=\"\"}", "metricsQuery": SUM, "resources": RESOURCES}],
          "externalRules": [{"seriesQuery": "jobs_waiting", "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>})",
                             "resources": {"namespaced": False}}]}


class LiveCase(Case):
    """`start` runs one with CONFIG's rules or others; what it is asked without a token is asked by anybody, who may do all."""

    def setUp(self):
        self.here = processes.fresh_folder("live")
        self.folder = self.here / "objects"
        self.folder.mkdir()
        self.write({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
                   {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "shop"}})

    def write(self, *objects):
        (self.folder / "shop.yaml").write_text(yaml.safe_dump_all(objects))

    def start(self, *args, ready=True, config=None):
        (self.here / "config.yaml").write_text(yaml.safe_dump(config or CONFIG))
        self.port = ports.free()
        process = processes.Process("flyball", [
            paths.flyball(), "serve", f"--config={self.here / 'config.yaml'}", f"--objects={self.folder}",
            f"--secure-port={self.port}", f"--cert-dir={self.here / 'certs'}", "--metric-source=live", "--live-warmup=0", "--query-freshness=0", *args])
        self.addCleanup(process.kill)
        self.watched = (process,)
        if ready:
            wait.until(lambda: process.must_live() and self.ask("GET", "/readyz").status == 200, "ready")
        return process

    def ask(self, method, path, body=None, token=""):
        return Client(f"https://127.0.0.1:{self.port}", Identity(token=token)).request(method, path, body)

    def values(self, path):
        answer = self.ask("GET", path)
        return [i["value"] for i in answer.json()["items"]] if answer.status == 200 else []

    def counted(self, line_start):
        """The sum of the samples of /metrics whose line starts so."""
        return sum(float(line.rsplit(" ", 1)[1]) for line in self.ask("GET", "/metrics").text().splitlines() if line.startswith(line_start))
