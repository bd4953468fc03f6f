"""The same config, Prometheus and requests to prometheus-adapter and to flyball: equal answers, equal queries.

flyball runs twice beside the original: with --query-merge=off, when it must send exactly the original's queries, and as
it comes, when it may send fewer. What differs on purpose is named in differences.py and nowhere else.
"""

import concurrent.futures

import yaml

import cases
from cases import bad_configs, stock_rules
from cases.model import EXT, HOST, M, NS, PO, WEB, custom_rule
from differences import DIFFERENCES
from harness import adapter, compare, kube, paths, processes, wait
from harness.case import Case, differs
from harness.exporter import Exporter
from harness.prometheus import Prometheus
from harness.scripted_prometheus import ScriptedPrometheus, failure, merged, vector

ORIGINAL, UNMERGED, MERGED = "original", "flyball --query-merge=off", "flyball"
ARGS = {ORIGINAL: (), UNMERGED: ("--query-merge=off", "--query-freshness=0s"), MERGED: ()}


def fixture(admin):
    """The objects of the worked examples."""
    kube.namespace(admin, "web")
    kube.patch(admin, "Namespace", None, "web", {"metadata": {"labels": {"name": "web"}}})
    for name, labels in (("a-1", {"app": "shop", "num": "5"}), ("a-2", {"app": "shop"}), ("b-1", {"tier": "db"})):
        kube.pod(admin, "web", name, labels)
    for name in ("n1", "n2"):
        kube.node(admin, name)
    kube.crd(admin, "cheese.example", "farms", "Farm", "Cluster")
    wait.until(lambda: kube.apply(admin, kube.make("Farm", "hill")), "a farm")
    kube.apply(admin, kube.make("Deployment", "d", "web", spec={
        "replicas": 0, "selector": {"matchLabels": {"app": "d"}}, "template": {
            "metadata": {"labels": {"app": "d"}}, "spec": {"containers": [{"name": "c", "image": "none.invalid/none"}]}}}))
    wait.until(lambda: admin.get("/apis/cheese.example/v1/farms").status == 200, "farms served")
    wait.until(lambda: "farms" in str(admin.get("/apis/cheese.example/v1").json()), "farms discovered")


class Side:
    """One program with a scripted Prometheus of its own, so that what each was asked is known."""

    def __init__(self, name: str, cluster, case):
        self.name, self.case = name, case
        self.prometheus = ScriptedPrometheus(case.series, merged(case.answers) if name == MERGED else case.answers)
        self.asked = set()  # all queries so far
        user = case.url_user + "@" if case.url_user else ""
        url = self.prometheus.url.replace("http://", "http://" + user) + case.url_path
        flyball = name != ORIGINAL and adapter.subject() == adapter.FLYBALL
        self.adapter = adapter.Adapter(adapter.FLYBALL if flyball else adapter.ORIGINAL, cluster, url, case.config,
                                       ("--metrics-relist-interval=30s", *case.args), ARGS[name]).start(ready=False)
        nobody = self.adapter.as_user(adapter.identity_without_rights(cluster))
        self.clients = {True: self.adapter.admin, False: nobody}  # by rights
        self.connections = {}

    def wait(self):
        self.adapter.wait_ready()
        if self.case.ready:
            self.adapter.wait_listed(*self.case.ready)
        self.connections = {rights: client.connect() for rights, client in self.clients.items()}

    def asks(self, request):
        return self.clients[request.rights].request(request.method, request.path, request.body, request.headers,
                                                    keep=self.connections[request.rights])

    def stop(self):
        self.adapter.process.kill()
        self.prometheus.stop()


class Differential(Case):
    """One test for each case."""

    requests_made = 0

    @classmethod
    def setUpClass(cls):
        fixture(cls.cluster().admin)

    @classmethod
    def tearDownClass(cls):
        print(f"      {len(cases.ALL)} configs, {cls.requests_made} requests compared, each with both query modes", flush=True)

    def compare_case(self, case):
        sides = {name: Side(name, self.cluster(), case) for name in ARGS}
        try:
            self.watched = [s.adapter.process for s in sides.values()]
            for side in sides.values():
                side.wait()
            self.check_discovery(case, sides)
            for request in case.requests:
                with self.subTest(f"{request.method} {request.path}", headers=request.headers):
                    self.check_request(case, request, sides)
        finally:
            for side in sides.values():
                side.stop()

    def check_discovery(self, case, sides):
        """The first relist asks for the same series."""
        seen = {name: {compare.asked(a) for a in s.prometheus.take("/api/v1/series")} for name, s in sides.items()}
        for name in (UNMERGED, MERGED):
            with self.subTest(f"{case.name}: series asked by {name}"):
                self.assertEqual(seen[name], seen[ORIGINAL])

    def check_request(self, case, request, sides):
        Differential.requests_made += 1
        answers = {name: side.asks(request) for name, side in sides.items()}
        queries = {name: {compare.asked(a) for a in side.prometheus.take("/api/v1/query")} for name, side in sides.items()}
        sides[ORIGINAL].asked |= compare.single(queries[ORIGINAL])
        theirs = compare.answer(answers[ORIGINAL], request.compare)
        for name in (UNMERGED, MERGED):
            ours = compare.answer(answers[name], request.compare)
            if request.differs and adapter.subject() == adapter.FLYBALL:
                self.assertTrue(DIFFERENCES[request.differs].holds(request.path, answers[name], answers[ORIGINAL]),
                                f"{request.differs}: {name} answered {answers[name]}")
                continue
            unlike = compare.unlike(theirs, ours)
            unlike += compare.audit_ids(request.headers, answers[ORIGINAL], answers[name])
            self.assertFalse(unlike, f"\n    original != {name}:\n    " + "\n    ".join(unlike))
            if not case.queries or request.differs:
                continue
            if name == UNMERGED:
                self.assertEqual(queries[name], queries[ORIGINAL], f"queries of {name}")
            else:  # results are used again and queries put together, but nothing else is asked for
                self.assertLessEqual(compare.single(queries[name]), sides[ORIGINAL].asked, f"queries of {name}")


def _test_of(case):
    def test(self):
        self.compare_case(case)
    test.__doc__ = case.name
    return test


for _case in cases.ALL:
    setattr(Differential, f"test_{_case.name}", _test_of(_case))
del _case


class RealPrometheus(Case):
    """Debian's Prometheus under both, with the default rules; and requests that come at the same moment."""

    PODS = [f"p-{i:02}" for i in range(30)]

    @classmethod
    def setUpClass(cls):
        cluster = cls.cluster()
        fixture(cluster.admin)
        kube.namespace(cluster.admin, "crowd")
        for name in cls.PODS:
            kube.pod(cluster.admin, "crowd", name, {"app": "crowd"})
        samples = {f'depth{{namespace="crowd",pod="{p}",service="s",job="j",node="n1"}}': i + 0.5
                   for i, p in enumerate(cls.PODS)}
        samples.update({f'container_memory_rss{{namespace="crowd",pod="{p}",container="c"}}': 2**20 * i
                        for i, p in enumerate(cls.PODS)})
        exporter = Exporter(lambda: samples)
        cls.addClassCleanup(exporter.stop)
        cls.prometheus = Prometheus({"all": exporter.address})
        cls.addClassCleanup(cls.prometheus.stop)
        cls.prometheus.wait_for("depth", len(cls.PODS))
        kinds = (adapter.ORIGINAL, adapter.subject())
        cls.sides = [adapter.Adapter(k, cluster, cls.prometheus.url, stock_rules.CONFIG).start(ready=False) for k in kinds]
        for side in cls.sides:
            cls.addClassCleanup(side.stop)
            cls.watch(side.process)
        for side in cls.sides:
            side.wait_ready()
            side.wait_listed("custom.metrics.k8s.io/v1beta2", "pods/depth")

    def agree(self, *paths):
        for path in paths:
            with self.subTest(path):
                theirs, ours = (compare.answer(s.admin.get(path), "json") for s in self.sides)
                self.assertFalse(compare.unlike(theirs, ours))

    def test_one_by_one(self):
        crowd = WEB.replace("/web", "/crowd")
        self.agree("/apis/custom.metrics.k8s.io/v1beta2", "/apis/custom.metrics.k8s.io/v1beta1",
                   *(f"{crowd}/{tail}" for tail in (
                       "pods/*/depth", "pods/*/depth?labelSelector=app%3Dcrowd", "pods/p-07/depth", "pods/absent/depth",
                       "services/s/depth", "jobs.batch/j/depth", "metrics/depth", "pods/*/memory_rss", "pods/p-01/memory_rss",
                       "pods/*/depth?metricLabelSelector=service%3Ds", "pods/*/depth?metricLabelSelector=service%3Dx",
                       "pods/p-07/depth?metricLabelSelector=job+in+%28j%2Ck%29", "pods/*/absent")),
                   WEB.replace("/namespaces/web", "/nodes/n1/depth"))

    def test_thirty_objects_at_the_same_moment(self):
        paths = [f"{WEB.replace('/web', '/crowd')}/pods/{p}/depth" for p in self.PODS] * 4
        results = []
        for side in self.sides:
            before = self.prometheus.queries_served()
            with concurrent.futures.ThreadPoolExecutor(len(self.PODS)) as pool:
                answers = list(pool.map(side.admin.get, paths))
            results.append([compare.answer(a, "json") for a in answers])
            asked = self.prometheus.queries_served() - before
        self.assertEqual(results[1], results[0])
        if adapter.subject() == adapter.FLYBALL:
            self.assertLess(asked, len(paths) / 2, "queries that differ only in the object's name were not merged")


class Refused(Case):
    """What stops the original at start stops flyball, with the same exit status and a message."""

    def started_with(self, kind: str, config: str, args=()):
        one = adapter.Adapter(kind, self.cluster(), "http://127.0.0.1:9", config, args).start(ready=False)
        try:
            return one.process.wait(30), one.process.text()
        finally:
            one.stop()

    def test_configs(self):
        for name, text in bad_configs.BAD.items():
            with self.subTest(name):
                theirs, _ = self.started_with(adapter.ORIGINAL, text)
                ours, log = self.started_with(adapter.subject(), text)
                self.assertEqual(ours, theirs, log[-1500:])
                self.assertTrue(log.strip(), "no message")

    def test_flags(self):
        good = "rules:\n- {seriesQuery: m, metricsQuery: m}\n"
        for name, (args, status) in bad_configs.BAD_FLAGS.items():
            with self.subTest(name):
                ours, log = self.started_with(adapter.subject(), good, args)
                self.assertEqual(ours, status, log[-1500:])
                self.assertTrue(log.strip(), "no message")


@differs("it has no check command")
class Check(Case):
    """`flyball check rules` agrees with what the original takes and refuses, and says where.

    The original takes queries that no Prometheus would; --metricsql leaves those to the server.
    """

    def checked(self, config):
        file = processes.fresh_folder("check") / "config.yaml"
        file.write_text(config if isinstance(config, str) else yaml.safe_dump(config, width=10000))
        return processes.run([paths.flyball(), "check", "rules", "--metricsql", file])

    def test_takes_every_config_of_the_differential_cases(self):
        for case in cases.ALL:
            with self.subTest(case.name):
                done = self.checked(case.config)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_refuses_what_stops_the_original(self):
        for name, text in bad_configs.BAD.items():
            with self.subTest(name):
                done = self.checked(text)
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertRegex(done.stdout + done.stderr, r"config\.yaml:\d+:\d+: ")


class Deliberate(Case):
    """Differences that take more than one answer to see. Each test has the name of its difference."""

    SUM = "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"
    V2 = "custom.metrics.k8s.io/v1beta2"

    @classmethod
    def setUpClass(cls):
        fixture(cls.cluster().admin)

    def serve(self, config, series=None, answers=None, args=()):
        prometheus = ScriptedPrometheus(series, answers)
        self.addCleanup(prometheus.stop)
        one = adapter.Adapter(adapter.subject(), self.cluster(), prometheus.url, config, args)
        one.start()
        self.addCleanup(one.stop)
        self.watched = (one.process,)
        return one, prometheus

    @staticmethod
    def one_pod(name: str) -> list:
        return [{"__name__": name, "ns": "web", "po": "a-1"}]

    @differs("names went into regular expressions as they are")
    def test_names_are_escaped_in_regular_expressions(self):
        for name in ("dot.1", "dot.2"):
            kube.pod(self.cluster().admin, "web", name, {"app": "dots"})
            self.addCleanup(kube.delete, self.cluster().admin, "Pod", "web", name)
        for args in ((), ("--query-merge=off",)):
            one, prometheus = self.serve({"rules": [custom_rule("m", self.SUM)]}, {"m": self.one_pod("m")}, args=args)
            one.wait_listed(self.V2, "pods/m")
            def asked(one=one, prometheus=prometheus):
                one.admin.get(f"{WEB}/pods/*/m?labelSelector=app%3Ddots")
                return [q for q in prometheus.queries() if "dot" in q]
            self.assertIn(r'po=~"dot\\.1|dot\\.2"', wait.until(asked, "a query for the pods")[-1])

    @differs("one failing rule stops the whole round")
    def test_one_failing_rule_leaves_the_others_fresh(self):
        one, prometheus = self.serve({"rules": [custom_rule("m", self.SUM), custom_rule("bad", self.SUM)]},
                                     {"m": self.one_pod("m"), "bad": failure(400, "bad_data", "no")})
        one.wait_listed(self.V2, "pods/m")
        prometheus.series["bad"] = self.one_pod("bad")
        one.wait_listed(self.V2, "pods/bad")
        prometheus.series["bad"] = {**failure(200, "", ""), "raw": b'{"status":"success","data":null}'}
        prometheus.series["m"] = self.one_pod("m2")
        one.wait_listed(self.V2, "pods/m2")
        self.assertIn("pods/bad", one.resources(self.V2), "the last good series of the failing rule")

    @differs("the first round is retried after a whole interval")
    def test_a_rule_without_first_success_is_retried_soon(self):
        one, prometheus = self.serve({"rules": [custom_rule("m", self.SUM)]}, {"m": failure(503, "unavailable", "starting")},
                                     args=("--metrics-relist-interval=1h", "--metrics-max-age=1h"))
        prometheus.series["m"] = self.one_pod("m")
        one.wait_listed(self.V2, "pods/m", 15)

    @differs("an override to an unknown resource stops the process")
    def test_an_override_to_a_resource_that_is_not_there_yet_works_later(self):
        admin = self.cluster().admin
        kube.delete(admin, "CustomResourceDefinition", None, "lamps.example.com")
        rule = custom_rule("m", self.SUM, resources={"overrides": {"ns": NS, "lamp": {"group": "example.com", "resource": "lamp"}}})
        one, _ = self.serve({"rules": [rule]}, {"m": [{"__name__": "m", "ns": "web", "lamp": "l1"}]},
                            lambda _q: vector(({"lamp": "l1", "ns": "web"}, 4)), ("--discovery-interval=1s",))
        one.wait_listed(self.V2, "namespaces/m")
        kube.crd(admin, "example.com", "lamps", "Lamp", "Namespaced")
        one.wait_listed(self.V2, "lamps.example.com/m", 30)
        self.assertEqual(one.admin.get(f"{WEB}/lamps.example.com/l1/m").json()["items"][0]["value"], "4")

    @differs("the token goes into the header with its newline, and is read once")
    def test_token_file_is_trimmed_and_read_again(self):
        one, prometheus = self.serve({"rules": [custom_rule("m", self.SUM)]}, {"m": self.one_pod("m")},
                                     args=(f"--prometheus-token-file={self.token_file('first')}",))
        one.wait_listed(self.V2, "pods/m")
        self.assertEqual(prometheus.take("/series")[-1].headers.get("authorization"), "Bearer first")
        self.token_file("second")
        wait.until(lambda: prometheus.take("/series")[-1].headers.get("authorization") == "Bearer second", "the new token", 70)

    def token_file(self, token: str):
        path = self.cluster().folder / "prometheus-token"
        path.write_text(token + "\n")
        return path

    @differs("it sends timeout= with no value")
    def test_no_empty_timeout_is_sent(self):
        one, prometheus = self.serve({"rules": [custom_rule("m", self.SUM)]}, {"m": self.one_pod("m")})
        one.wait_listed(self.V2, "pods/m")
        one.admin.get(f"{WEB}/pods/a-1/m")
        timeouts = [a.parameters.get("timeout") for a in prometheus.take("/query")]
        self.assertTrue(timeouts, "nothing was asked")
        self.assertNotIn([""], timeouts)

    @differs("it has no --nan-value")
    def test_nan_value_drop_leaves_the_item_out(self):
        config = {"rules": [custom_rule("m", self.SUM)],
                  "externalRules": [{"seriesQuery": "q", "metricsQuery": "q", "resources": {"namespaced": False}}]}
        one, _ = self.serve(config, {"m": self.one_pod("m"), "q": [{"__name__": "q"}]},
                            lambda q: vector(({"po": "a-1"}, "NaN"), ({"po": "a-2"}, 1)), ("--nan-value=drop",))
        one.wait_listed(self.V2, "pods/m")
        items = one.admin.get(f"{WEB}/pods/*/m?labelSelector=app%3Dshop").json()["items"]
        self.assertEqual([(i["describedObject"]["name"], i["value"]) for i in items], [("a-2", "1")])
        self.assertEqual(one.admin.get(f"{WEB}/pods/a-1/m").status, 404)
        self.assertEqual([i["value"] for i in one.admin.get(EXT + "/q").json()["items"]], ["1"])

    @differs("the reason is only in its log")
    def test_failing_resource_metrics_carry_a_warning(self):
        side = {"resources": {"overrides": {"ns": NS, "po": PO, "host": HOST}}, "containerLabel": "c",
                "containerQuery": "sum(x{<<.LabelMatchers>>}) by (<<.GroupBy>>)", "nodeQuery": "sum(y{<<.LabelMatchers>>})"}
        one, prometheus = self.serve({"resourceRules": {"cpu": side, "memory": side}})
        prometheus.misbehave = "500"
        answer = wait.until(lambda: one.admin.get(M + "/namespaces/web/pods"), "an answer")
        self.assertEqual((answer.status, answer.json()["items"]), (200, []))
        self.assertTrue(answer.headers.get("warning", "").startswith("299 "), answer.headers)

    @differs("the password is in the label of its metric")
    def test_passwords_never_appear_in_metrics_or_logs(self):
        prometheus = ScriptedPrometheus({"m": self.one_pod("m")})
        self.addCleanup(prometheus.stop)
        url = prometheus.url.replace("http://", "http://me:s3cret@")
        one = adapter.Adapter(adapter.subject(), self.cluster(), url, {"rules": [custom_rule("m", self.SUM)]}, ("--v=10",)).start()
        self.addCleanup(one.stop)
        one.wait_listed(self.V2, "pods/m")
        prometheus.misbehave = "500"
        one.admin.get(f"{WEB}/pods/a-1/m")
        self.assertNotIn("s3cret", one.admin.get("/metrics").text())
        self.assertNotIn("s3cret", one.process.text())
