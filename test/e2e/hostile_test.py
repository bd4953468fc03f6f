"""Clients that mean no good: what they may cost, and that nobody else notices them.

Under each attack the probes of a kubelet are answered and the process stays under 128 MiB. Most of the attackers have no
credentials; those that have are allowed what they ask for, but not what it would take.
"""

import concurrent.futures
import contextlib
import http.client
import json
import ssl
import threading
import time

import yaml

import conformance_fixture as fixture
from conformance_fixture import C2, E, N
from harness import hostile, kube, paths, pki, ports, processes, wait
from harness.case import Case, differs
from harness.client import Client, Identity
from harness.review_proxy import ACCESS, TOKEN, ReviewProxy
from harness.scripted_prometheus import ScriptedPrometheus, raw
from harness.series_store import SeriesStore

MEGABYTE = 1_000_000


@differs("it is not asked to")
class Strangers(Case):
    """A server of a cluster, behind a proxy that can let reviews hang."""

    @classmethod
    def setUpClass(cls):
        cls.admin = cls.cluster().admin
        fixture.objects(cls.admin)
        cls.prometheus = fixture.prometheus()
        cls.addClassCleanup(cls.prometheus.stop)
        cls.proxy = ReviewProxy(cls.cluster())
        cls.addClassCleanup(cls.proxy.stop)
        cls.adapter = fixture.start(cls.cluster(), cls.prometheus, kubeconfig=cls.proxy.kubeconfig)
        cls.addClassCleanup(cls.adapter.stop)
        cls.watch(cls.adapter.process)
        token = kube.service_account_token(cls.admin, "default", "hostile-reader")
        kube.grant(cls.admin, "hostile-reader", [kube.account("default", "hostile-reader")], [
            {"apiGroups": ["external.metrics.k8s.io", "custom.metrics.k8s.io"], "resources": ["*"], "verbs": ["get", "list"]}])
        cls.reader = cls.adapter.as_user(Identity(token=token))
        cls.allowed = [["Authorization", "Bearer " + token]]

    @contextlib.contextmanager
    def under(self, what: str):
        """An attack; afterwards honest requests are served as ever."""
        with hostile.watched(self, self.adapter.process, self.adapter.port, what):
            yield
        # A review that hangs is given up after ten seconds.
        wait.until(lambda: self.reader.get(E + N + "/q").status == 200, "served as ever", 60)

    def attack(self, attack: str, **options) -> dict:
        """The attack from its beginning to its end."""
        with self.held(attack, **options) as told:
            return told

    @contextlib.contextmanager
    def held(self, attack: str, **options):
        attacker = hostile.Attacker(self.adapter.port, attack, **options)
        try:
            yield attacker.told
        finally:
            attacker.end()

    @contextlib.contextmanager
    def hanging(self, *kinds):
        """The API server takes these reviews and does not answer."""
        self.proxy.spoil = lambda kind, spec: "hang" if kind in kinds else None
        try:
            yield
        finally:
            self.proxy.spoil = lambda kind, spec: None

    def test_bad_selectors_are_not_even_read(self):
        before = self.adapter.process.rss_mib()
        with self.under("8 bad selectors of 1 MB"):
            told = self.attack("selectors", count=8)
        self.assertLess(self.adapter.process.peak_rss_mib() - before, 8 * 4, "more than 4 MiB for each")
        self.assertEqual(told["statuses"], {"403": 8})
        self.assertLess(told["longest"], 4096, "a refusal repeats what was sent")

    def test_thousands_of_selectors_leave_nothing_behind(self):
        with self.under("2,000 selectors of 1 MB, no two alike"):
            self.assertEqual(self.attack("selectors", count=2000)["statuses"], {"403": 2000})
        with self.under("300 of one who is allowed"):
            told = self.attack("selectors", count=300, headers=self.allowed)
        self.assertEqual(told["statuses"], {"400": 300})
        self.assertLess(told["longest"], 4096)
        # What is short enough to be read, and wrong.
        with self.under("300 with hundreds of wrong values of one who is allowed"):
            told = self.attack("selectors", count=300, bytes=8_000, headers=self.allowed)
        self.assertEqual(told["statuses"], {"400": 300})
        self.assertLess(told["longest"], 4096)

    def test_header_lines_without_end(self):
        with self.under("8 connections of endless header lines"):
            self.assertEqual(self.attack("header_lines", count=8)["statuses"], {"431": 8})

    def test_answers_that_nobody_reads(self):
        with self.under("540 clients that ask for a path of 300 kB and do not read"):
            with self.held("unread", count=540):
                pass
        long = E + N + "/big"
        self.assertGreater(len(self.reader.get(long).body), 300_000)
        with self.under("540 that are allowed, ask for 300 kB and do not read"):
            with self.held("unread", count=540, path=long, headers=self.allowed) as told:
                self.assertEqual(told["held"], 540)
                self.assertEqual(self.reader.get(long).status, 200)

    def test_tokens_that_nobody_knows_while_the_api_server_hangs(self):
        with self.under("540 unknown tokens, reviews hang"), self.hanging(TOKEN):
            with self.held("tokens", count=540):
                crowd = self.adapter.as_user(Identity(token="one more")).get("/healthz")
                self.assertEqual(crowd.status, 429)
                self.assertEqual(crowd.headers.get("retry-after"), "1")
        self.assertGreater(self.adapter.metric("flyball_requests_without_review_total"), 300)

    def test_questions_of_strangers_while_the_api_server_hangs(self):
        with self.under("540 anonymous questions, reviews hang"), self.hanging(ACCESS):
            with self.held("selectors", count=540, threads=540, bytes=500):
                pass

    def test_idle_connections(self):
        with self.under("10,000 idle connections"):
            with self.held("idle", count=10_000) as told:
                self.assertGreater(told["held"], 9_900)
        with self.under("9,000 connections that never said anything"):
            with self.held("silent", count=9_000) as told:
                self.assertEqual(told["held"], 9_000)

    def test_long_first_messages(self):
        with self.under("2,500 connections that offer 7 kB of protocols"):
            with self.held("idle", count=2_500, protocols=27) as told:
                self.assertGreater(told["held"], 2_000)
        with self.under("2,500 that offer 64 kB"):
            with self.held("idle", count=2_500, protocols=255) as told:
                self.assertEqual(told["held"], 0)

    def test_certificates_that_take_many_times_their_bytes(self):
        names = b"\x82\0" * 7_500
        many = b"\x30\x82" + len(names).to_bytes(2, "big") + names
        pair = pki.Authority("strangers").client("stranger", extra=("-addext", "subjectAltName=DER:" + many.hex()))
        with self.under("250 connections that show a certificate of 7,500 empty names"):
            with self.held("asked", count=250, certificate=[str(pair.cert), str(pair.key)]) as told:
                self.assertEqual(told["statuses"], {"401": 250})

    def test_certificates_whose_keys_take_long_to_decode(self):
        slow = ssl.DER_cert_to_PEM_cert((paths.PROJECT / "test" / "fuzz" / "corpus" / "certificate_keys" / "slow").read_bytes())
        pair = pki.Authority("strangers").client("stranger")
        chain = processes.fresh_folder("slow-chain") / "chain.crt"
        chain.write_text(pair.cert.read_text() + 33 * slow)
        with self.under("16 connections that show 33 certificates of which each takes a quarter of a second"):
            told = self.attack("asked", count=16, nice=10, certificate=[str(chain), str(pair.key)], weak=True)
        self.assertEqual([status for status in told["statuses"] if status.isdigit()], [], "one was answered")

    def test_handshakes_begun_and_left(self):
        # Of those that come from one place the newest are served; the kubelet's own place is another.
        with self.under("5,000 handshakes begun and left"):
            with self.held("handshakes", count=5_000, source="127.0.0.2"):
                self.assertEqual(self.reader.get(E + N + "/q").status, 200)

        with self.under("3,000 first messages of 120 kB that are never whole"):
            with self.held("long_hellos", count=3_000, source="127.0.0.2"):
                self.assertEqual(self.reader.get(E + N + "/q").status, 200)

    def test_keys_changed_without_end(self):
        with self.under("12 connections that change their keys all the time"):
            told = self.attack("key_updates", count=12)
        self.assertGreater(told["updates"][0], 10)  # they did, however busy this machine is

    def test_requests_begun_and_left(self):
        with self.under("300 heads of 900 kB that are never whole"):
            with self.held("heads", count=300):
                self.assertEqual(self.reader.get(E + N + "/q").status, 200)
        with self.under("3,000 half records of TLS"):
            with self.held("records", count=3_000):
                self.assertEqual(self.reader.get(E + N + "/q").status, 200)

    def test_requests_by_the_thousand(self):
        with self.under("64 connections that send thousands of requests and read nothing"):
            with self.held("pipeline", count=64):
                self.assertEqual(self.reader.get(E + N + "/q").status, 200)
        with self.under("1,500 connections with 45,000 requests at once that take long"):
            with self.held("dear", count=1_500, source="127.0.0.2") as told:
                self.assertGreater(told["sent"], 1_000)
                self.assertEqual(self.reader.get(E + N + "/q").status, 200)
        with self.under("connections made and cut"):
            self.attack("churn", seconds=5)


class Alone(Case):
    """A server of files alone, and jane, who may read everything."""

    @classmethod
    def serve(cls, series: list, rules: list, objects: str, discovery: dict | None = None, external: tuple = (), answers=None):
        """`answers`: of Prometheus to a query, instead of those of the series."""
        store = SeriesStore(series)
        cls.prometheus = ScriptedPrometheus(discovery or store.discovery(),
                                            answers or (lambda query: store(query.partition("{")[0])))
        cls.addClassCleanup(cls.prometheus.stop)
        folder, here = processes.fresh_folder("objects"), processes.fresh_folder("serve")
        (folder / "objects.yaml").write_text(objects)
        (here / "config.yaml").write_text(yaml.safe_dump({"rules": rules, "externalRules": list(external)}))
        (here / "tokens.csv").write_text("s3cret,jane,1\n")
        cls.port = ports.free()
        cls.process = processes.Process("flyball", [
            paths.flyball(), "serve", f"--config={here / 'config.yaml'}", f"--objects={folder}", f"--secure-port={cls.port}",
            f"--cert-dir={here / 'certs'}", f"--prometheus-url={cls.prometheus.url}", "--metrics-relist-interval=1s",
            "--metrics-max-age=1m", f"--token-auth-file={here / 'tokens.csv'}", "--bind-address=127.0.0.1"])
        cls.addClassCleanup(cls.process.kill)
        cls.watch(cls.process)
        cls.jane = Client(f"https://127.0.0.1:{cls.port}", Identity(token="s3cret"))


@differs("it is not asked to")
class Gigabytes(Alone):
    """1,000 pods, and one who may read their metrics."""

    PODS = 1000

    @classmethod
    def setUpClass(cls):
        names = [f"pod-{i:04}" for i in range(cls.PODS)]
        cls.serve([({"__name__": "m", "ns": "default", "po": name, "k": "v"}, 1) for name in names], fixture.CONFIG["rules"][:1],
                  "\n---\n".join(yaml.safe_dump(
                      {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}}) for name in names))
        wait.until(lambda: cls.process.must_live() and len(cls.items("")) == cls.PODS, "all pods have the metric")

    @classmethod
    def items(cls, query: str) -> list:
        answer = cls.jane.get(f"{C2}{N}/pods/*/m{query}")
        return answer.json()["items"] if answer.status == 200 else []

    def read_whole(self, path: str, form: str):
        """On a busy machine jane herself may not read for so long that room is made by ending her connection."""
        for _ in range(3):
            try:
                return self.jane.get(path, [("Accept", form)])
            except http.client.IncompleteRead:
                continue
        raise AssertionError("each of three answers was cut")

    def refused(self, selector: str, status: int, words: str, form: str = "application/json"):
        answer = self.jane.get(f"{C2}{N}/pods/*/m?metricLabelSelector={selector}", [("Accept", form)])
        self.assertEqual(answer.status, status, str(answer)[:300])
        self.assertIn(words, answer.text())
        self.assertLess(len(answer.body), 4096)

    def test_an_answer_of_a_gigabyte_is_refused(self):
        values = ",".join(f"v{i}" for i in range(150_000))
        with hostile.watched(self, self.process, self.port, "one answer that would have a gigabyte"):
            self.refused(f"k+in+({values[:MEGABYTE - 200]})", 400, "--max-selector-bytes")
            # The selector may be as long as that, but not in each of a thousand items.
            keys = ",".join(f"{'a' * 90}/k{i:03}" for i in range(390))
            self.refused(keys, 413, "--max-answer-bytes")

    def test_an_answer_that_takes_more_than_its_length_is_refused_earlier(self):
        keys = ",".join(f"k{i}" for i in range(200))
        with hostile.watched(self, self.process, self.port, "an answer of 7 MB as YAML"):
            self.refused(keys, 413, "compact JSON may have", "application/yaml")
            self.assertEqual(len(self.items("?metricLabelSelector=" + keys)), self.PODS)

    def test_long_answers_at_once_are_made_one_after_the_other(self):
        path = f"{C2}{N}/pods/*/m?metricLabelSelector=" + ",".join(f"{'a' * 90}/k{i:03}" for i in range(200))
        for form, megabytes in (("application/json", 25), ("application/vnd.kubernetes.protobuf", 15)):
            headers = [["Authorization", "Bearer s3cret"], ["Accept", form]]
            with hostile.watched(self, self.process, self.port, f"16 answers of 25 MB as {form} that nobody reads"):
                attacker = hostile.Attacker(self.port, "unread", count=16, path=path, headers=headers)
                answer = self.read_whole(path, form)
                attacker.end()
            self.assertEqual(answer.status, 200, form)
            self.assertGreater(len(answer.body), megabytes * MEGABYTE, form)

    def test_long_answers_that_are_also_kept_for_a_while(self):
        path = f"{C2}{N}/pods/*/m?metricLabelSelector=" + ",".join(f"{'a' * 90}/k{i:03}" for i in range(40)) + "&x={number}"
        with hostile.watched(self, self.process, self.port, "40 answers of 5 MB, one after the other, that nobody reads"):
            attacker = hostile.Attacker(self.port, "unread", count=40, begun=True, path=path, headers=[["Authorization", "Bearer s3cret"]])
            answer = self.jane.get(path)
            attacker.end()
        self.assertEqual(answer.status, 200)
        self.assertGreater(len(answer.body), 4 * MEGABYTE)

    def test_all_at_once(self):
        allowed = {"headers": [["Authorization", "Bearer s3cret"]]}
        path = f"{C2}{N}/pods/*/m?metricLabelSelector="
        keys = [f"{'a' * 90}/k{i:03}" for i in range(200)]
        attacks = [("unread", {"count": 300}), ("tokens", {"count": 300}), ("heads", {"count": 60}), ("idle", {"count": 1500}),
                   ("handshakes", {"count": 1500, "source": "127.0.0.2"}), ("header_lines", {"count": 8}), ("selectors", {"count": 100}),
                   ("selectors", {"count": 100, "bytes": 8_000, **allowed}),
                   ("unread", {"count": 8, "path": path + ",".join(keys), **allowed}),
                   ("unread", {"count": 40, "path": path + ",".join(keys[:40]) + "&x={number}", **allowed})]
        with hostile.watched(self, self.process, self.port, "all of this at the same moment"):
            with concurrent.futures.ThreadPoolExecutor(len(attacks)) as pool:
                attackers = list(pool.map(lambda one: hostile.Attacker(self.port, one[0], nice=10, **one[1]), attacks))
            for attacker in attackers:
                attacker.end()
        wait.until(lambda: len(self.items("")) == self.PODS, "served as ever", 60)

    def test_many_questions_of_one_who_may_ask(self):
        with hostile.watched(self, self.process, self.port, "600 different questions about 1,000 pods"):
            for number in range(600):
                self.assertEqual(len(self.items(f"?metricLabelSelector=k+in+(v,w{number})")), self.PODS)


@differs("it is not asked to")
class ManyMetrics(Alone):
    """4,500 metrics of pods and of namespaces."""

    METRICS = 4500
    DOCUMENT = "/apis/custom.metrics.k8s.io/v1beta2"

    @classmethod
    def setUpClass(cls):
        rule = {"seriesQuery": '{__name__=~"^m.*"}', "resources": {"overrides": {"ns": {"resource": "namespace"}, "po": {"resource": "pod"}}},
                "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"}
        series = [({"__name__": f"m{i:04}", "ns": "default", "po": "p"}, 1) for i in range(cls.METRICS)]
        cls.serve(series, [rule], "", {rule["seriesQuery"]: [labels for labels, _ in series]})
        wait.until(lambda: cls.process.must_live() and len(cls.jane.get(cls.DOCUMENT).json().get("resources", [])) == 2 * cls.METRICS,
                   "all are offered")

    def test_many_who_ask_for_a_long_document_as_yaml(self):
        headers = [["Authorization", "Bearer s3cret"], ["Accept", "application/yaml"]]
        with hostile.watched(self, self.process, self.port, "32 documents of 9,000 metrics as YAML that nobody reads"):
            attacker = hostile.Attacker(self.port, "unread", count=32, path=self.DOCUMENT, headers=headers)
            answer = self.jane.get(self.DOCUMENT, [("Accept", "application/yaml")])
            attacker.end()
        self.assertEqual(len(yaml.load(answer.text(), yaml.CSafeLoader)["resources"]), 2 * self.METRICS)


class HeldAnswers:
    """One answer of a Prometheus to all queries, which may be held so that it comes to all at the same moment."""

    def __init__(self, answer: dict):
        self._answer, self._lock, self._let_go = answer, threading.Lock(), threading.Event()
        self._let_go.set()
        self.under_way = 0

    def __call__(self, _query: str) -> dict:
        with self._lock:
            self.under_way += 1
        self._let_go.wait(60)
        with self._lock:
            self.under_way -= 1
        return self._answer

    @contextlib.contextmanager
    def held(self):
        self._let_go.clear()
        try:
            yield
        finally:
            self._let_go.set()

    def crowd(self) -> int:
        """How many queries are under way, once no more have come for a second."""
        seen, since = 0, time.monotonic()

        def number():
            nonlocal seen, since
            if self.under_way != seen:
                seen, since = self.under_way, time.monotonic()
            return seen if time.monotonic() - since > 1 else 0
        return wait.until(number, "no more queries come")


@differs("it is not asked to")
class LongLists(Alone):
    """An external metric with thousands of series, and one who may read it."""

    SERIES = 4000
    PATH = E + N + "/q"

    @classmethod
    def setUpClass(cls):
        rows = [{"queue": f"queue-{i:05}", "padding": "x" * 40} for i in range(cls.SERIES)]
        at = time.time()
        cls.answers = HeldAnswers(raw(200, json.dumps({"status": "success", "data": {
            "resultType": "vector", "result": [{"metric": row, "value": [at, "1"]} for row in rows]}})))
        rule = {"seriesQuery": "q", "metricsQuery": fixture.PLAIN, "resources": {"namespaced": False}}
        cls.serve([], [], "", {"q": [{"__name__": "q", **rows[0]}]}, external=(rule,), answers=cls.answers)
        wait.until(lambda: cls.process.must_live() and cls.jane.get(cls.PATH).status == 200, "the metric is served")

    def test_many_that_prometheus_answers_at_the_same_moment(self):
        with hostile.watched(self, self.process, self.port, "400 lists of 4,000 series, as JSON and as YAML, that nobody reads"):
            with contextlib.ExitStack() as attackers:
                with self.answers.held():
                    for form, count in (("json", 300), ("yaml", 100)):
                        attacker = hostile.Attacker(
                            self.port, "unread", count=count, path=f"{self.PATH}?labelSelector={form}+in+({{number}})",
                            headers=[["Authorization", "Bearer s3cret"], ["Accept", "application/" + form]])
                        attackers.callback(attacker.end)
                        self.assertEqual(attacker.told["held"], count)
                    self.assertGreater(self.answers.crowd(), 100, "too few queries are under way to attack anything")
                wait.until(lambda: self.answers.under_way == 0 and self.jane.get(self.PATH).status == 200, "served as ever", 60)


@differs("it is not asked to")
class UnevenLists(Alone):
    """External metrics whose series somebody else has chosen, and one who may read them."""

    PATH = E + N + "/q"

    @classmethod
    def setUpClass(cls):
        at = time.time()

        def answer(rows: list) -> dict:
            text = json.dumps({"status": "success", "data": {
                "resultType": "vector", "result": [{"metric": row, "value": [at, "1"]} for row in rows]}}, separators=(",", ":"))
            return raw(200, text)
        uneven = answer([{}] + [{"queue": f"queue-{i:05}", "padding": "x" * 8_000} for i in range(500)])
        special = {"labels": answer([{f"l{j:02}": "1" for j in range(30)} for _ in range(40_000)]),
                   "lines": answer([{f"label{j}": f"value-{i:07}" for j in range(4)} for i in range(140_000)]),
                   "bytes": answer([{"queue": f"queue-{i:05}", "padding": "x" * 8_000} for i in range(5_000)])}
        rule = {"seriesQuery": "q", "metricsQuery": fixture.PLAIN, "resources": {"namespaced": False}}
        cls.serve([], [], "", {"q": [{"__name__": "q", "queue": "a"}]}, external=(rule,),
                  answers=lambda query: next((found for name, found in special.items() if name in query), uneven))
        wait.until(lambda: cls.process.must_live() and cls.jane.get(cls.PATH).status == 200, "the metric is served")

    def test_lists_whose_first_series_is_short(self):
        with hostile.watched(self, self.process, self.port, "300 lists of 500 series of 8 kB, but for the first"):
            for number in range(300):
                answer = self.jane.get(f"{self.PATH}?labelSelector=queue+in+({number})")
                self.assertEqual(answer.status, 200)

    def test_answers_of_prometheus_that_are_too_long(self):
        for name in ("labels", "lines", "bytes"):  # many labels, many series, and too many bytes to be read at all
            with hostile.watched(self, self.process, self.port, f"ten questions to which Prometheus has far too much to say: {name}"):
                with concurrent.futures.ThreadPoolExecutor(10) as pool:
                    paths_asked = [f"{self.PATH}?labelSelector=queue+in+({name},{number})" for number in range(10)]
                    answers = list(pool.map(self.jane.get, paths_asked))
                self.assertEqual({answer.status for answer in answers}, {413}, name)
                self.assertLess(max(len(answer.body) for answer in answers), 4096)
