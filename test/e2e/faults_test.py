"""When something else breaks: a clear error, no damage, and recovery without a restart."""

import concurrent.futures
import os
import signal
import socket
import ssl
import subprocess
import threading
import time

import conformance_fixture as fixture
from conformance_fixture import C2, E, M, N
from harness import adapter, kube, pki, processes, wait
from harness.case import Case, differs
from harness.client import Identity, tls_socket
from harness.load import Load

V2, V1 = "custom.metrics.k8s.io/v1beta2", "external.metrics.k8s.io/v1beta1"
_numbers = iter(range(1_000_000))


def fresh_pod() -> str:
    """A path that was not asked for before, so that no kept result can answer it."""
    return f"{C2}{N}/pods/web-1/m?metricLabelSelector=verb+in+%28GET%2Cx{next(_numbers)}%29"


def fresh_external() -> str:
    return f"{E}{N}/q?labelSelector=queue%21%3Dx{next(_numbers)}"


class FaultCase(Case):
    """One adapter on the conformance fixture for the whole class."""

    ARGS = ()

    @classmethod
    def setUpClass(cls):
        fixture.objects(cls.cluster().admin)
        cls.prometheus = fixture.prometheus()
        cls.addClassCleanup(cls.prometheus.stop)
        cls.adapter = fixture.start(cls.cluster(), cls.prometheus, cls.ARGS)
        cls.addClassCleanup(cls.adapter.stop)
        cls.watch(cls.adapter.process)

    def works(self, timeout: float = 30.0):
        wait.until(lambda: self.adapter.admin.get(fresh_external()).status == 200 and
                   self.adapter.admin.get(fresh_pod()).status == 200, "answers again", timeout)


class Prometheus(FaultCase):
    """Prometheus down or talking nonsense."""

    def errs(self, code: int, query_suffix: str = ""):
        """Both APIs say so with a Status and no Retry-After; the table, the probe path and readiness are unharmed."""
        for path in (fresh_pod(), fresh_external()):
            answer, seconds = processes.timed(lambda p=path: self.adapter.admin.get(p + query_suffix))
            self.assertEqual(answer.status, code, str(answer))
            self.assertLess(seconds, 40)
            self.assertNotIn("retry-after", answer.headers)
            if code == 500:
                self.assertEqual(answer.json()["message"], "Internal error occurred: unable to fetch metrics")
        self.assertIn("pods/m", self.adapter.resources(V2))
        self.assertEqual(self.adapter.anonymous.get("/readyz").status, 200)
        self.assertTrue(self.adapter.process.must_live())

    def said_since(self, mark: int) -> str:
        return self.adapter.process.text()[mark:]

    def spoil(self, mode: str, code: int = 500, suffix: str = ""):
        mark = len(self.adapter.process.text())
        self.prometheus.misbehave = mode
        try:
            self.errs(code, suffix)
            time.sleep(1.5)  # at least one relist meets it, too
            self.errs(code, suffix)
            named = self.prometheus.url.split("//")[1] if adapter.subject() == adapter.FLYBALL else ""
            wait.until(lambda: (said := self.said_since(mark)).strip() and named in said, "the log says so and names the server", 30)
        finally:
            self.prometheus.misbehave = None
            self.prometheus.let_go()
        self.works()

    def test_garbage(self):
        self.spoil("garbage")

    def test_html(self):
        self.spoil("html")

    def test_500(self):
        self.spoil("500")

    def test_truncated_body(self):
        self.spoil("truncated")

    def test_connection_dropped(self):
        self.spoil("drop")

    def test_hanging(self):
        mark = len(self.adapter.process.text())
        self.prometheus.misbehave = "hang"
        try:
            self.errs(504, "&timeout=2s")
        finally:
            self.prometheus.misbehave = None
            self.prometheus.stop()
            self.prometheus.start()
        self.works(40)
        self.assertTrue(self.said_since(mark) or adapter.subject() == adapter.ORIGINAL)

    def test_down_and_up_again(self):
        self.prometheus.stop()
        try:
            self.errs(500)
        finally:
            self.prometheus.start()
        self.works()

    @differs("it reads a body of any size")
    def test_body_of_200_megabytes_is_refused_in_bounded_memory(self):
        self.adapter.process.reset_peak_rss()
        before = self.adapter.process.rss_mib()
        self.spoil("huge", 413)
        # Some 25 queries are answered so at once: 5 GB. One answer of the largest size allowed is held.
        self.assertLess(self.adapter.process.peak_rss_mib() - before, 200)

    def test_down_at_start(self):
        fake = fixture.prometheus()
        self.addCleanup(fake.stop)
        fake.stop()
        one = adapter.Adapter(adapter.subject(), self.cluster(), fake.url, fixture.CONFIG).start()
        self.addCleanup(one.stop)
        self.assertEqual(one.admin.get(C2).json()["resources"], [])
        fake.start()
        one.wait_listed(V2, "pods/m", 15)
        one.wait_listed(V1, "q", 15)

    @differs("it knows one server only")
    def test_second_server_takes_over(self):
        first, second = fixture.prometheus(), fixture.prometheus()
        self.addCleanup(first.stop)
        self.addCleanup(second.stop)
        one = fixture.start(self.cluster(), first, (f"--prometheus-url={second.url}",))
        self.addCleanup(one.stop)
        second.take("/query")
        self.assertEqual(one.admin.get(fresh_external()).status, 200)
        self.assertEqual(second.take("/query"), [], "the first is asked while it answers")
        for fault in ("500", "drop", "garbage"):
            first.misbehave = fault
            self.assertEqual(one.admin.get(fresh_external()).status, 200, fault)
        first.stop()
        for _ in range(3):
            self.assertEqual(one.admin.get(fresh_external()).status, 200)
        first.start()


class ApiServer(FaultCase):
    """kube-apiserver away: at start, and later."""

    def test_down_later(self):
        star, named = f"{C2}{N}/pods/*/m?labelSelector=app%3Dweb", f"{C2}{N}/pods/web-1/m"
        nodes = f"{M}/nodes"  # asked for the first time when nobody can be asked about them
        # One of its own: an API server that has just begun may refuse a list, and then nothing is kept of it.
        one = fixture.start(self.cluster(), self.prometheus)
        self.addCleanup(one.stop)
        self.assertEqual(one.admin.get(star).status, 200)
        self.cluster().stop_apiserver()
        try:
            for _ in range(5):
                self.assertEqual(one.admin.get(named).status, 200)
                answer = one.admin.get(star)
                if adapter.subject() == adapter.FLYBALL:
                    self.assertEqual((answer.status, len(answer.json()["items"])), (200, 2), "the watch cache keeps answering")
                else:
                    self.assertEqual(answer.status, 500)
                answer = one.admin.get(nodes)
                self.assertEqual(answer.status, 200, str(answer))
                self.assertEqual(len(answer.json()["items"]), 1)
                time.sleep(0.2)
            # Nobody new gets in while nobody can be asked.
            self.assertIn(one.as_user(Identity(token="new-token"), 30).get(named).status, (401, 500))
            self.assertTrue(one.process.must_live())
        finally:
            self.cluster().start_apiserver()
        token = kube.service_account_token(self.cluster().admin, "default", "after")
        wait.until(lambda: one.as_user(Identity(token=token)).get(named).status == 403, "reviews work again", 30)
        kube.pod(self.cluster().admin, "default", "web-3", {"app": "late"})
        self.addCleanup(kube.delete, self.cluster().admin, "Pod", "default", "web-3")
        wait.until(lambda: one.admin.get(f"{C2}{N}/pods/*/m?labelSelector=app%3Dlate").status == 200,
                   "a pod made afterwards is seen", 40, every=0.2)

    @differs("it exits and has to be started again")
    def test_down_at_start(self):
        self.cluster().stop_apiserver()
        try:
            one = adapter.Adapter(adapter.subject(), self.cluster(), self.prometheus.url, fixture.CONFIG).start(ready=False)
            self.addCleanup(one.stop)
            wait.until(lambda: one.process.must_live() and one.anonymous.get("/livez").status == 200, "alive", 20)
            self.assertEqual(one.anonymous.get("/readyz").status, 500)
            wait.until(lambda: str(self.cluster().port) in one.process.text(), "the log names the API server", 20)
        finally:
            self.cluster().start_apiserver()
        one.wait_ready(40)
        one.wait_listed(V2, "pods/m", 30)
        self.assertEqual(len(one.admin.get(f"{C2}{N}/pods/*/m?labelSelector=app%3Dweb").json()["items"]), 2)


class Rotation(Case):
    """Certificates and authorities change under load, and no caller notices."""

    @classmethod
    def setUpClass(cls):
        fixture.objects(cls.cluster().admin)
        cls.prometheus = fixture.prometheus()
        cls.addClassCleanup(cls.prometheus.stop)
        folder = processes.fresh_folder("rotation")
        cls.serving = pki.Pair(folder / "tls.crt", folder / "tls.key")
        cls.authority = folder / "front-proxy-ca.crt"
        cls.install(cls.cluster().ca.server("127.0.0.1", "localhost"))
        cls.authority.write_text(cls.cluster().front_proxy_ca.pem())
        cls.addClassCleanup(lambda: cls.adapter.stop())
        cls.adapter = fixture.start(cls.cluster(), cls.prometheus, (
            f"--requestheader-client-ca-file={cls.authority}", "--requestheader-allowed-names=front-proxy-client"),
            serving=cls.serving)
        cls.watch(cls.adapter.process)

    def setUp(self):
        self.authority.write_text(self.cluster().front_proxy_ca.pem())
        wait.until(lambda: self.proxied(self.cluster().front_proxy).get(f"{E}{N}/q").status == 200, "the first authority", 62)

    @classmethod
    def install(cls, made):
        """Key and certificate by rename, as certificate managers do."""
        for source, target in ((made.key, cls.serving.key), (made.cert, cls.serving.cert)):
            aside = target.with_suffix(".new")
            aside.write_bytes(source.read_bytes())
            aside.rename(target)

    def proxied(self, pair):
        return self.adapter.as_user(Identity(cert=pair, headers=(("X-Remote-User", "admin"), ("X-Remote-Group", "system:masters"))))

    def test_serving_certificate_under_load(self):
        load = Load(self.proxied(self.cluster().front_proxy), f"{E}{N}/q")
        try:
            for _ in range(3):
                made = self.cluster().ca.server("127.0.0.1", "localhost")
                self.install(made)
                wait.until(lambda m=made: ssl.get_server_certificate(("127.0.0.1", self.adapter.port)).strip() ==
                           m.cert.read_text().strip(), "the new certificate", 62, every=0.2)
        finally:
            load.stop()
        self.assertEqual(load.bad[:3], [])
        self.assertGreater(load.good, 20)

    @differs("between the two writes of a mismatched pair it may serve neither")
    def test_mismatched_pair_is_not_installed(self):
        shown = lambda: ssl.get_server_certificate(("127.0.0.1", self.adapter.port)).strip()
        before = shown()
        self.serving.cert.write_bytes(self.cluster().ca.server("127.0.0.1").cert.read_bytes())
        time.sleep(1.5)
        self.assertEqual(shown(), before)

    def test_front_proxy_authority_under_load(self):
        successor = pki.Authority("front-proxy-ca-2")
        old, new = self.cluster().front_proxy, successor.client("front-proxy-client")
        loads = [Load(self.proxied(old), f"{E}{N}/q", 2)]
        try:
            self.authority.write_text(self.cluster().front_proxy_ca.pem() + successor.pem())
            wait.until(lambda: self.proxied(new).get(f"{E}{N}/q").status == 200, "the new authority counts", 62, every=0.2)
            loads.append(Load(self.proxied(new), f"{E}{N}/q", 2))
            wait.until(lambda: all(load.good > 5 for load in loads), "answers to callers of both authorities")
            loads[0].stop()
            self.authority.write_text(successor.pem())
            wait.until(lambda: self.proxied(old).get(f"{E}{N}/q").status == 401, "the old authority is gone", 62, every=0.2)
        finally:
            for load in loads:
                load.stop()
        self.assertEqual([load.bad[:3] for load in loads], [[], []])


class Reload(Case):
    """Rule files that change while the server runs."""

    PLAIN = "rules:\n- {seriesQuery: m, name: {as: %s}, resources: {overrides: {ns: {resource: namespace}, po: {resource: pod}}},\n" \
            "   metricsQuery: '<<.Series>>{<<.LabelMatchers>>}'}\n"

    def setUp(self):
        if adapter.subject() == adapter.ORIGINAL:
            self.skipTest("the original reads its config once")
        fixture.objects(self.cluster().admin)
        self.prometheus = fixture.prometheus()
        self.addCleanup(self.prometheus.stop)

    def start(self, file, text: str = None):
        one = adapter.Adapter(adapter.subject(), self.cluster(), self.prometheus.url, text, config_file=file).start()
        self.addCleanup(one.stop)
        self.watched = (one.process,)
        return one

    def shows(self, one, name: str):
        wait.until(lambda: one.process.must_live() and one.resources(V2) == [f"namespaces/{name}", f"pods/{name}"],
                   f"metric {name} alone", 12, every=0.1)

    def test_good_file_is_taken_and_bad_file_is_refused(self):
        file = processes.fresh_folder("rules") / "config.yaml"
        one = self.start(file, self.PLAIN % "first")
        self.shows(one, "first")
        aside = file.with_suffix(".new")
        aside.write_text(self.PLAIN % "second")
        aside.rename(file)
        self.shows(one, "second")
        healthy = one.admin.get("/metrics").text()
        mark = len(one.process.text())
        file.write_text("rules:\n- seriesQuery: m\n  nonsense: true\n")
        said = wait.until(lambda: "nonsense" in one.process.text()[mark:] and one.process.text()[mark:], "the refusal in the log", 12)
        self.assertRegex(said, r"config\.yaml:3:\d+", "file, line and column of the error")
        self.shows(one, "second")
        self.assertEqual(one.admin.get(f"{C2}{N}/pods/web-1/second").status, 200)
        self.assertEqual(one.anonymous.get("/readyz").status, 200, "a warning, not a failure")
        self.assertIn("[!]", one.admin.get("/readyz?verbose").text())
        gauges = lambda text: {line for line in text.splitlines() if line.startswith("flyball_") and "rule" in line}
        self.assertTrue(gauges(one.admin.get("/metrics").text()) - gauges(healthy), "no metric says so")
        file.write_text(self.PLAIN % "third")
        self.shows(one, "third")
        self.assertNotIn("[!]", one.admin.get("/readyz?verbose").text())

    def test_config_map_mount_swaps_symlinks(self):
        mount = processes.fresh_folder("mount")

        def publish(name: str):
            version = mount / f"..{name}"
            version.mkdir()
            (version / "config.yaml").write_text(self.PLAIN % name)
            os.symlink(version.name, mount / "..data_tmp")
            os.rename(mount / "..data_tmp", mount / "..data")
        publish("first")
        os.symlink("..data/config.yaml", mount / "config.yaml")
        one = self.start(mount / "config.yaml")
        self.shows(one, "first")
        for name in ("second", "third"):
            publish(name)
            self.shows(one, name)

    def test_hangup_reads_the_file_again(self):
        file = processes.fresh_folder("rules") / "config.yaml"
        one = self.start(file, self.PLAIN % "first")
        self.shows(one, "first")
        file.write_text(self.PLAIN % "second")
        one.process.send(signal.SIGHUP)
        self.shows(one, "second")
        self.assertTrue(one.process.must_live())


class Connections(FaultCase):
    """Callers that hold connections, and the end of the process."""

    def idle(self, count: int) -> list:
        """Connections that asked once, got their answer, and stay open."""
        made = []
        for _ in range(count):
            sock = tls_socket(self.adapter.port, Identity(cert=self.cluster().front_proxy))
            sock.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\nX-Remote-User: u\r\n\r\n")
            self.assertIn(b"200 OK", sock.recv(4096))
            made.append(sock)
        return made

    def test_512_idle_connections_keep_nobody_waiting(self):
        held = self.idle(512)
        try:
            took = []
            for _ in range(20):
                answer, seconds = processes.timed(lambda: self.adapter.admin.get(f"{E}{N}/q"))
                self.assertEqual(answer.status, 200)
                took.append(seconds)
            self.assertLess(sorted(took)[10], 2)
            # The idle ones are still good as well.
            for sock in held[::64]:
                sock.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\nX-Remote-User: u\r\n\r\n")
                self.assertIn(b"200 OK", sock.recv(4096))
        finally:
            for sock in held:
                sock.close()

    def test_half_open_handshakes_keep_nobody_waiting(self):
        held = [socket.create_connection(("127.0.0.1", self.adapter.port), 20) for _ in range(64)]
        try:
            answers = [processes.timed(lambda: self.adapter.admin.get(f"{E}{N}/q")) for _ in range(5)]
            self.assertEqual({answer.status for answer, _ in answers}, {200})
            self.assertLess(min(seconds for _, seconds in answers), 2)
        finally:
            for sock in held:
                sock.close()

    def stopping(self):
        """An adapter of its own with one request that hangs in Prometheus."""
        fake = fixture.prometheus()
        self.addCleanup(fake.stop)
        one = fixture.start(self.cluster(), fake)
        self.addCleanup(one.process.kill)
        release = threading.Event()
        self.addCleanup(release.set)
        fake.answers = lambda query: (release.wait(60), fixture.SeriesStore(fixture._series())(query))[1]  # pylint: disable=protected-access
        pool = concurrent.futures.ThreadPoolExecutor(1)
        slow = pool.submit(one.admin.get, f"{C2}{N}/pods/web-1/m")
        wait.until(lambda: any(a.path.endswith("/query") for a in fake.asked), "the query arrived")
        return one, slow, release

    @staticmethod
    def refuses(one) -> bool:
        try:
            return one.anonymous.get("/readyz").status in (500, 503)
        except OSError:
            return True

    def test_row_83_sigterm_lets_a_slow_request_finish(self):
        one, slow, release = self.stopping()
        one.process.send(signal.SIGTERM)
        wait.until(lambda: self.refuses(one), "it is not ready any more", 20)
        self.assertFalse(slow.done())
        release.set()
        self.assertEqual(slow.result().status, 200)
        self.assertEqual(one.process.wait(30), 0)

    def test_second_signal_ends_it_at_once(self):
        one, slow, _ = self.stopping()
        one.process.send(signal.SIGTERM)
        wait.until(lambda: self.refuses(one), "the first signal is taken", 20)
        one.process.send(signal.SIGTERM)
        try:
            one.process.wait(20)
        except subprocess.TimeoutExpired:
            self.fail("still there after the second signal, while a request hangs")
        self.assertTrue(isinstance(slow.exception(), OSError) or slow.exception() is not None)
