"""Triggers: each takes a Deployment from zero up and back to zero, in mode act on our own kind."""

import base64
import datetime
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from harness import kube, own_kind, scaler, scaling, wait
from harness.case import Case, differs, side_by_side
from harness.external_scaler import ExternalScaler
from harness.kubelet import Kubelet

NS = "triggers"
COOLDOWN = 3.0


class JsonServer:
    """Answers `document` to whoever sends the right bearer token."""

    def __init__(self, token: str):
        self.document, self.refused = {}, 0
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                good = self.headers.get("Authorization") == "Bearer " + token
                server.refused += not good
                body = json.dumps(server.document).encode()
                self.send_response(200 if good else 401)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/jobs"

    def stop(self):
        self._http.shutdown()
        self._http.server_close()


def secret_of(client, name: str, **texts):
    kube.apply(client, kube.make("Secret", name, NS, data={
        key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}))


def from_secret(parameter: str, name: str) -> dict:
    return {"parameter": parameter, "name": name, "key": parameter}


@differs("it has no triggers")
@side_by_side
class Triggers(Case):
    """One flyball with its scaler; each test has its own Deployment, Autoscaler and source."""

    @classmethod
    def setUpClass(cls):
        cluster = cls.cluster()
        cls.admin = cluster.admin
        kube.namespace(cls.admin, NS)
        own_kind.install(cluster)
        cls.kubelet = Kubelet(cls.admin, NS)
        cls.addClassCleanup(cls.kubelet.stop)
        cls.metrics = scaling.Metrics(cls.kubelet)
        cls.addClassCleanup(cls.metrics.stop)
        cls.server = scaler.flyball(cluster, cls.metrics.prometheus.url, (
            "--scaler-mode=act", f"--scaler-namespace={NS}")).start()
        cls.addClassCleanup(cls.server.stop)
        cls.watch(cls.server.process)
        cls.begin_cron()

    def setUp(self):
        self.mark = self.cluster().audit.mark()

    @classmethod
    def begin(cls, name: str, *triggers: dict, interval: str = "500ms", **more):
        """A Deployment at zero and its autoscaler, both removed after the class."""
        kube.apply(cls.admin, scaling.workload("Deployment", NS, name, 0))
        kube.apply(cls.admin, own_kind.autoscaler(NS, name, triggers=list(triggers), cooldownPeriod=f"{COOLDOWN:g}s",
                                                  cadence={"interval": interval}, **more))
        cls.addClassCleanup(kube.delete, cls.admin, "Deployment", NS, name)
        cls.addClassCleanup(kube.delete, cls.admin, own_kind.KIND, NS, name)

    def replicas(self, name: str) -> int:
        return kube.get(self.admin, "Deployment", NS, name)["spec"]["replicas"]

    def reaches(self, name: str, count: int, timeout: float = 15.0):
        wait.until(lambda: self.replicas(name) == count, f"{name} at {count} replicas: "
                   f"{kube.get(self.admin, own_kind.KIND, NS, name).get('status')}", timeout)

    def stays(self, name: str, count: int, seconds: float = 2.0):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.assertEqual(self.replicas(name), count)
            time.sleep(0.1)

    def written(self, name: str) -> list:
        """The replica counts that were written, in order. Called when the last one of them is 0, which others see before the
        audit log has it."""
        def counts():
            return [w.sent["spec"].get("replicas", 0) for w in self.cluster().audit.since(self.mark, "/scale")
                    if w.name == name and w.namespace == NS and w.good]
        wait.until(lambda: counts()[-1] == 0, f"the audit log with the last write of {name}", timeout=10)
        return counts()

    def goes_up_and_down(self, name: str, feed):
        """`feed(value)`: targets are 10 a replica, beyond 5 is activity."""
        self.reaches(name, 0)
        feed(4)
        self.stays(name, 0)
        feed(35)
        self.reaches(name, 4)
        feed(8)
        self.reaches(name, 1)
        feed(0)
        went_idle = time.monotonic()
        self.reaches(name, 0)
        self.assertGreater(time.monotonic() - went_idle, COOLDOWN - 2.0)  # it counts from the last decision while it was active
        self.assertEqual(self.written(name), [1, 4, 1, 0])

    def test_prometheus(self):
        self.metrics.set(NS, "prom", queue=0)
        self.begin("prom", {"type": "prometheus", "metadata": {
            "serverAddress": self.metrics.prometheus.url, "query": f'sum(queue_len{{namespace="{NS}",queue="prom"}})',
            "threshold": "10", "activationThreshold": "5"}})
        self.goes_up_and_down("prom", lambda value: self.metrics.set(NS, "prom", queue=value))

    def test_metrics_api(self):
        source = JsonServer("open sesame")
        self.addCleanup(source.stop)
        secret_of(self.admin, "api", token="open sesame")

        def feed(value):
            source.document = {"work": {"waiting": value}}
        feed(0)
        self.begin("api", {"type": "metrics-api", "metadata": {
            "url": source.url, "valueLocation": "work.waiting", "targetValue": "10", "activationTargetValue": "5",
            "authMode": "bearer"}, "authenticationSecretRefs": [from_secret("token", "api")]})
        self.goes_up_and_down("api", feed)
        self.assertEqual(source.refused, 0)

    def external(self, name: str, kind: str, serving=None, **metadata) -> ExternalScaler:
        source = ExternalScaler(serving)
        self.addCleanup(source.stop)
        refs = {}
        if serving:
            secret_of(self.admin, name, caCert=self.cluster().ca.pem())
            refs = {"authenticationSecretRefs": [from_secret("caCert", name)]}
        self.begin(name, {"type": kind, "metadata": {"scalerAddress": source.address, "queue": "mail"}, **refs}, **metadata)
        return source

    def test_external(self):
        source = self.external("ext", "external")
        self.goes_up_and_down("ext", lambda value: source.set(value=value, active=value > 5))
        asked = source.calls("GetMetrics")[-1]
        self.assertEqual((asked["name"], asked["namespace"], asked["metric"]), ("ext", NS, "jobs"))
        self.assertEqual(asked["metadata"]["queue"], "mail")

    def test_external_over_tls(self):
        source = self.external("tls", "external", self.cluster().ca.server("127.0.0.1"))
        self.goes_up_and_down("tls", lambda value: source.set(value=value, active=value > 5))

    def test_external_push_decides_at_once(self):
        source = self.external("push", "external-push", interval="60s")
        wait.until(lambda: source.calls("StreamIsActive"), "the stream, at once", 30)
        self.stays("push", 0, 1)
        began = time.monotonic()
        source.set(value=35, active=True)
        wait.until(lambda: self.replicas("push") > 0, "a replica after a push", 30, every=0.01)
        self.assertLess(time.monotonic() - began, 30)  # the cadence is 60 s

    def test_external_push(self):
        source = self.external("push-poll", "external-push")
        self.goes_up_and_down("push-poll", lambda value: source.set(value=value, active=value > 5))

    def test_kubernetes_workload(self):
        kube.apply(self.admin, scaling.workload("Deployment", NS, "watched", 0))
        self.addCleanup(kube.delete, self.admin, "Deployment", NS, "watched")

        def feed(value):
            kube.patch(self.admin, "Deployment", NS, "watched", {"spec": {"replicas": value}})
        self.begin("follow", {"type": "kubernetes-workload", "metadata": {
            "podSelector": "app=watched", "value": "2", "activationValue": "1"}})
        self.reaches("follow", 0)
        feed(1)
        self.stays("follow", 0)
        feed(7)  # ceil(7 / 2)
        self.reaches("follow", 4)
        feed(2)
        self.reaches("follow", 1)
        feed(0)
        self.reaches("follow", 0)
        self.assertEqual((self.written("follow")[0], self.written("follow")[-1]), (1, 0))

    @classmethod
    def begin_cron(cls):
        """A window that is open now and closes with the minute, or with the next one when that is too soon."""
        now = datetime.datetime.now(datetime.timezone.utc)
        cls.cron_mark = cls.cluster().audit.mark()
        cls.closes = now.replace(second=0, microsecond=0) + datetime.timedelta(minutes=1 if now.second < 30 else 2)
        opened = now - datetime.timedelta(minutes=1)
        cls.begin("cron", {"type": "cron", "metadata": {
            "timezone": "Etc/UTC", "start": f"{opened.minute} * * * *", "end": f"{cls.closes.minute} * * * *",
            "desiredReplicas": "3"}})

    def test_cron(self):
        self.mark = self.cron_mark
        if datetime.datetime.now(datetime.timezone.utc) < self.closes - datetime.timedelta(seconds=1):
            self.reaches("cron", 3)
        left = (self.closes - datetime.datetime.now(datetime.timezone.utc)).total_seconds()
        self.reaches("cron", 0, max(left, 0) + 15)
        self.assertEqual((self.written("cron")[:2], self.written("cron")[-1]), ([1, 3], 0))
        last = [w for w in self.cluster().audit.since(self.mark, "/scale") if w.name == "cron"][-1]
        self.assertGreater(last.done, self.closes.timestamp() + COOLDOWN - 2.0)

    def test_any_active_trigger_keeps_it_up(self):
        self.metrics.set(NS, "both", queue=0)
        source = ExternalScaler()
        self.addCleanup(source.stop)
        self.begin("both", {"type": "external", "metadata": {"scalerAddress": source.address}}, {
            "type": "prometheus", "metadata": {
                "serverAddress": self.metrics.prometheus.url, "query": f'sum(queue_len{{namespace="{NS}",queue="both"}})',
                "threshold": "10"}})
        source.set(active=True, value=15)
        self.reaches("both", 2)
        self.metrics.set(NS, "both", queue=45)
        self.reaches("both", 5, 30)  # no more than four are added within the first 15 s
        source.set(active=False, value=0)
        self.stays("both", 5, COOLDOWN + 1)
        self.metrics.set(NS, "both", queue=0)
        self.reaches("both", 0)

    def test_a_source_that_fails_holds(self):
        source = self.external("broken", "external")
        source.set(active=True, value=25)
        self.reaches("broken", 3)
        source.stop()
        self.stays("broken", 3, COOLDOWN + 2)

    def test_a_source_that_hangs_delays_nobody_else(self):
        slow = self.external("hanging", "external")
        quick = self.external("quick", "external")
        slow.set(active=True, value=25)
        self.reaches("hanging", 3)
        slow.set(hang=True)
        quick.set(active=True, value=35)
        self.reaches("quick", 4, 20)
        asked = len(quick.calls("GetMetrics"))
        self.stays("hanging", 3, COOLDOWN + 2)
        self.assertGreater(len(quick.calls("GetMetrics")) - asked, 2, "it waits for the other")
        slow.set(hang=False, value=15)
        self.reaches("hanging", 2, 20)

    def test_fallback_replicas_after_failures(self):
        source = self.external("fallback", "external", fallback={"failureThreshold": 2, "replicas": 4})
        source.set(active=True, value=15)
        self.reaches("fallback", 2)
        source.stop()
        self.reaches("fallback", 4, 20)
        self.stays("fallback", 4)

    def test_paused_is_left_alone(self):
        self.metrics.set(NS, "paused", queue=35)
        self.begin("paused", {"type": "prometheus", "metadata": {
            "serverAddress": self.metrics.prometheus.url, "query": f'sum(queue_len{{namespace="{NS}",queue="paused"}})',
            "threshold": "10"}}, paused=True)
        self.stays("paused", 0, 3)
        kube.patch(self.admin, own_kind.KIND, NS, "paused", {"spec": {"paused": False}})
        self.reaches("paused", 4)
