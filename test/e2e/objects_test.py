"""Without a cluster: `flyball serve --objects FOLDER`, for a laptop, a test or a VM fleet."""

import yaml

from harness import adapter, kube, paths, pki, ports, processes, wait
from harness.case import Case, differs
from harness.client import Client, Identity
from harness.scripted_prometheus import ScriptedPrometheus
from harness.series_store import SeriesStore

EVERYWHERE = [{"0" * 32}, {"0" * 8}]  # at all addresses of both families, or of IPv4 where there is no IPv6
WEB = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/web"
CONFIG = {"rules": [{"seriesQuery": "m", "metricsQuery": "<<.Series>>{<<.LabelMatchers>>}", "resources": {"overrides": {
    "ns": {"resource": "namespace"}, "po": {"resource": "pod"}, "node": {"resource": "node"}}}}]}


def thing(kind: str, name: str, namespace: str = "", labels: dict = None) -> dict:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **({"labels": labels} if labels else {})}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata}


@differs("it needs a cluster")
class Objects(Case):
    """One folder of objects, one scripted Prometheus."""

    def setUp(self):
        rows = [({"__name__": "m", "ns": "web", "po": p}, i + 1) for i, p in enumerate(("a", "b", "c"))]
        store = SeriesStore(rows + [({"__name__": "m", "node": "n1"}, 9)])
        self.prometheus = ScriptedPrometheus(store.discovery(), store)
        self.addCleanup(self.prometheus.stop)
        self.folder = processes.fresh_folder("objects")
        self.write("web.yaml", thing("Namespace", "web"), thing("Pod", "a", "web", {"app": "x"}), thing("Pod", "b", "web"))
        self.write("nodes.yaml", thing("Node", "n1"))

    def write(self, name: str, *objects):
        (self.folder / name).write_text("\n---\n".join(yaml.safe_dump(o) for o in objects))

    def start(self, *args, ready: bool = True):
        here = processes.fresh_folder("serve")
        (here / "config.yaml").write_text(yaml.safe_dump(CONFIG))
        self.port = ports.free()
        process = processes.Process("flyball", [
            paths.flyball(), "serve", f"--config={here / 'config.yaml'}", f"--objects={self.folder}", f"--secure-port={self.port}",
            f"--cert-dir={here / 'certs'}", f"--prometheus-url={self.prometheus.url}", "--metrics-relist-interval=1s",
            "--metrics-max-age=1m", *args])
        self.addCleanup(process.kill)
        self.watched = (process,)
        if ready:
            wait.until(lambda: process.must_live() and self.ask("/readyz").status == 200, "ready")
        return process

    def ask(self, path: str, identity: Identity = Identity()):
        return Client(f"https://127.0.0.1:{self.port}", identity).get(path)

    def names(self, path: str) -> list:
        answer = self.ask(path)
        return [i["describedObject"]["name"] for i in answer.json()["items"]] if answer.status == 200 else []

    def test_serves_the_objects_of_the_folder(self):
        self.start()
        wait.until(lambda: self.names(WEB + "/pods/*/m") == ["a", "b"], "both pods")
        self.assertEqual(self.names(WEB + "/pods/*/m?labelSelector=app%3Dx"), ["a"])
        self.assertEqual(self.names("/apis/custom.metrics.k8s.io/v1beta2/nodes/*/m"), ["n1"])

    def test_the_folder_is_watched(self):
        self.start()
        wait.until(lambda: self.names(WEB + "/pods/*/m") == ["a", "b"], "both pods")
        self.write("more.yaml", thing("Pod", "c", "web"))
        wait.until(lambda: self.names(WEB + "/pods/*/m") == ["a", "b", "c"], "the pod of the new file", 10)
        (self.folder / "web.yaml").unlink()
        wait.until(lambda: self.names(WEB + "/pods/*/m") == ["c"], "the pods of the removed file are gone", 10)

    def test_a_bad_file_is_named_and_the_others_go_on(self):
        process = self.start()
        wait.until(lambda: self.names(WEB + "/pods/*/m") == ["a", "b"], "both pods")
        (self.folder / "bad.yaml").write_text("kind: [")
        wait.until(lambda: "bad.yaml" in process.text(), "the log names the file", 10)
        self.assertEqual(self.names(WEB + "/pods/*/m"), ["a", "b"])

    def test_listens_on_loopback_only(self):
        self.start()
        self.assertEqual(ports.listening(self.port), {"0100007F"})

    def test_the_log_tells_where_it_listens(self):
        tokens = processes.fresh_folder("tokens") / "tokens.csv"
        tokens.write_text("s3cret,jane,1\n")
        for args, address, shown in (((), "127.0.0.1", [{"0100007F"}]), ((f"--token-auth-file={tokens}",), "0.0.0.0", EVERYWHERE)):
            process = self.start(*args)
            wait.until(lambda a=address, p=process: f"serving on {a}:{self.port}" in p.text(), "the log says it")
            self.assertIn(ports.listening(self.port), shown)

    def test_tokens_of_a_cluster_open_other_addresses_and_close_to_strangers(self):
        cluster = self.cluster()
        kubeconfig = adapter.kubeconfig_of_adapter(cluster)
        self.start(f"--authentication-kubeconfig={kubeconfig}")
        path = "/apis/custom.metrics.k8s.io/v1beta2"
        self.assertIn(ports.listening(self.port), EVERYWHERE)
        self.assertEqual(self.ask(path).status, 403)
        self.assertEqual(self.ask(path, Identity(token="wrong")).status, 401)
        token = kube.service_account_token(cluster.admin, "default", "fleet")
        self.assertEqual(self.ask(path, Identity(token=token)).status, 200)

    def test_refuses_another_address_without_authentication(self):
        process = self.start("--bind-address=0.0.0.0", ready=False)
        self.assertNotEqual(process.wait(10), 0)
        self.assertIn("bind-address", process.text())

    def test_static_tokens_open_other_addresses_and_close_to_strangers(self):
        tokens = processes.fresh_folder("tokens") / "tokens.csv"
        tokens.write_text('s3cret,jane,1,"ops,dev"\n')
        self.start("--bind-address=0.0.0.0", f"--token-auth-file={tokens}")
        path = "/apis/custom.metrics.k8s.io/v1beta2"
        self.assertIn(self.ask(path).status, (401, 403))
        self.assertEqual(self.ask(path, Identity(token="wrong")).status, 401)
        self.assertEqual(self.ask(path, Identity(token="s3cret")).status, 200)

    def test_client_certificates_open_other_addresses(self):
        authority = pki.Authority("fleet")
        self.start("--bind-address=0.0.0.0", f"--client-ca-file={authority.cert}")
        path = "/apis/custom.metrics.k8s.io/v1beta2"
        self.assertIn(self.ask(path).status, (401, 403))
        self.assertEqual(self.ask(path, Identity(cert=authority.client("jane"))).status, 200)
        self.assertEqual(self.ask(path, Identity(cert=pki.Authority("stray").client("jane"))).status, 401)
