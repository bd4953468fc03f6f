"""metrics.k8s.io out of the kubelets' own pages, without metrics-server: nodes and pods of a real API server, kubelets over TLS."""

import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from harness import adapter, control_plane, kube, processes, scaling, wait
from harness.case import Case, differs
from harness.client import Identity

NAMESPACE = "shop"
USER = "live-kubelets"


class KubeletPage:
    """Serves /metrics/resource over TLS to whoever shows the client certificate of a CA. `cores` of each pod; the stamps are new
    each second only, as a kubelet's are."""

    def __init__(self, authority, clients, pods):
        self.cores = {pod: 0.25 for pod in pods}
        self.asked_by = set()
        self._stopped = False
        self._used, self._at = {pod: 100.0 for pod in pods}, time.time()
        page = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                if page._stopped:  # of a connection that was kept
                    self.close_connection = True
                    return
                known = self.connection.getpeercert()
                body = page.text().encode() if known and self.path == "/metrics/resource" else b""
                if known:
                    page.asked_by.add(dict(pair[0] for pair in known["subject"])["commonName"])
                self.send_response(200 if body else 401)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        pair = authority.server("127.0.0.1")
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(clients))
        tls.verify_mode = ssl.CERT_OPTIONAL
        tls.load_cert_chain(pair.cert, pair.key)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def text(self) -> str:
        now, lines = float(int(time.time())), []
        for pod, cores in self.cores.items():
            self._used[pod] += cores * max(0.0, now - self._at)
            labels = f'{{container="app",namespace="{NAMESPACE}",pod="{pod}"}}'
            lines += [f"container_cpu_usage_seconds_total{labels} {self._used[pod]} {int(now * 1000)}",
                      f"container_memory_working_set_bytes{labels} 67108864 {int(now * 1000)}",
                      f"container_start_time_seconds{labels} 1600000000"]
        self._at = max(now, self._at)
        lines += [f"node_cpu_usage_seconds_total {sum(self._used.values())} {int(now * 1000)}",
                  f"node_memory_working_set_bytes 1073741824 {int(now * 1000)}"]
        return "\n".join(lines) + "\n"

    def stop(self):
        self._stopped = True
        self._server.shutdown()
        self._server.server_close()


@differs("it has no source of its own")
class LiveKubelet(Case):

    @classmethod
    def setUpClass(cls):
        cls.cluster = control_plane.ControlPlane().start(controllers=False)
        cls.addClassCleanup(cls.cluster.stop)
        admin = cls.cluster.admin
        kube.namespace(admin, NAMESPACE)
        kube.grant(admin, USER, [kube.user(USER)], [
            {"apiGroups": [""], "resources": ["nodes", "pods", "namespaces"], "verbs": ["get", "list", "watch"]}])
        kube.bind(admin, USER + "-delegator", "system:auth-delegator", [kube.user(USER)])
        kube.apply(admin, kube.make("RoleBinding", USER + "-auth-reader", "kube-system", subjects=[kube.user(USER)], roleRef={
            "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "extension-apiserver-authentication-reader"}))
        cls.credentials = cls.cluster.kubeconfig(Identity(cert=cls.cluster.ca.client(USER)), USER)

    def node(self, name: str, port: int):
        admin = self.cluster.admin
        kube.apply(admin, kube.make("Node", name, labels={"zone": "a"}))
        status = {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}], "daemonEndpoints": {"kubeletEndpoint": {"Port": port}}}
        kube.patch(admin, "Node", None, name, {"status": status}, "status")

    def get(self, path: str):
        answer = self.server.admin.get("/apis/metrics.k8s.io/v1beta1/" + path)
        return answer.json() if answer.status == 200 else {}

    def test_pods_and_nodes_are_measured_by_their_kubelets(self):
        page = KubeletPage(self.cluster.ca, self.cluster.ca.cert, ["web-1", "web-2"])
        self.addCleanup(page.stop)
        self.node("n1", page.port)
        for pod in ("web-1", "web-2"):
            kube.apply(self.cluster.admin, kube.make("Pod", pod, NAMESPACE, labels={"app": "web"}, spec={
                "nodeName": "n1", "containers": [{"name": "app", "image": "web"}]}))
            kube.run_pod(self.cluster.admin, NAMESPACE, pod)
        self.server = adapter.Adapter(adapter.FLYBALL, self.cluster, "http://127.0.0.1:1", {"externalRules": scaling.CONFIG["externalRules"]},
                                      ["--metric-source=live", "--live-scrape-kubelets=1s"], kubeconfig=self.credentials).start()
        self.addCleanup(self.server.stop)
        self.watched = (self.server.process,)

        def usage(path):
            return {item["metadata"]["name"]: item for item in self.get(path).get("items", [])}
        wait.until(lambda: len(usage(f"namespaces/{NAMESPACE}/pods")) == 2, "two pages", 20)
        self.assertEqual(page.asked_by, {USER})
        wait.until(lambda: [c["usage"]["cpu"] for c in usage(f"namespaces/{NAMESPACE}/pods")["web-1"]["containers"]] == ["250m"], "a quarter", 15)
        pod = usage(f"namespaces/{NAMESPACE}/pods")["web-1"]
        self.assertEqual(pod["containers"][0]["name"], "app")
        self.assertEqual(pod["containers"][0]["usage"]["memory"], "64Mi")
        self.assertRegex(pod["window"], r"^[1-9]\d*s$")
        page.cores["web-1"] = 1
        wait.until(lambda: usage(f"namespaces/{NAMESPACE}/pods")["web-1"]["containers"][0]["usage"]["cpu"] == "1", "a whole core", 15)
        self.assertEqual(usage("nodes")["n1"]["usage"]["memory"], "1Gi")
        self.assertEqual(set(usage("pods?labelSelector=app%3Dother")), set())
        self.assertEqual(set(usage("nodes?labelSelector=zone%3Da")), {"n1"})
        # A kubelet that is away is unknown after three intervals, not idle.
        page.stop()
        wait.until(lambda: not usage(f"namespaces/{NAMESPACE}/pods"), "nothing is known", 20)
        listed = self.server.admin.get(f"/apis/metrics.k8s.io/v1beta1/namespaces/{NAMESPACE}/pods")
        self.assertIn("kubelets: node n1", str(listed.headers))

    def test_a_page_that_is_too_long_fails_and_costs_no_more_than_its_limit(self):
        page = KubeletPage(self.cluster.ca, self.cluster.ca.cert, [])
        self.addCleanup(page.stop)
        line = 'container_cpu_usage_seconds_total{{container="a",namespace="n",pod="p{0}"}} 1\ncontainer_memory_working_set_bytes{{container="a",namespace="n",pod="p{0}"}} 1\n'
        long = "".join(map(line.format, range(400_000)))
        page.text = lambda: long
        self.node("long", page.port)
        self.addCleanup(kube.delete, self.cluster.admin, "Node", None, "long")
        self.server = adapter.Adapter(adapter.FLYBALL, self.cluster, "http://127.0.0.1:1", {"externalRules": scaling.CONFIG["externalRules"]},
                                      ["--metric-source=live", "--live-scrape-kubelets=1s"], kubeconfig=self.credentials).start()
        self.addCleanup(self.server.stop)
        self.watched = (self.server.process,)
        wait.until(lambda: "larger than 8388608 bytes" in str(self.server.admin.get(f"/apis/metrics.k8s.io/v1beta1/namespaces/{NAMESPACE}/pods").headers), "its error", 30)
        self.assertLess(self.server.process.peak_rss_mib(), 128)
