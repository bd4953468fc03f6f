"""The conformance checklist over real TLS against the real program. Row numbers are those of the checklist.

Where prometheus-adapter 0.12.0 answers otherwise than its library, the adapter's answer is the right one (rows 16, 20,
23, 27, 35, 80).
"""

import gzip
import json
import re
from dataclasses import dataclass
from typing import Callable

import conformance_fixture as fixture
from conformance_fixture import C1, C2, E, M, N
from harness import adapter, wait
from harness.case import Case, differs

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
STAMP = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
PODS = C2 + N + "/pods/*/m"
POD = C2 + N + "/pods/web-1/m"
Q = E + N + "/q"


@dataclass(frozen=True)
class Row:
    """`check` gets the client.Answer and returns what is wrong (or nothing). `original`: why that one differs."""
    number: int
    path: str
    status: object  # one code or several
    check: Callable = lambda a: None
    headers: tuple = ()
    method: str = "GET"
    original: str = ""

    @property
    def title(self) -> str:
        return f"row {self.number}: {self.method} {self.path[:120]} {dict(self.headers) or ''}"


def items(answer) -> list:
    return answer.json()["items"]


def count(expected: int) -> Callable:
    return lambda a: None if len(items(a)) == expected else f"{expected} items expected"


def reason(expected: str, *parts: str) -> Callable:
    def check(answer):
        status = answer.json()
        if status.get("kind") != "Status" or status.get("status") != "Failure" or status.get("code") != answer.status:
            return "not a Status"
        if status.get("reason") != expected:
            return f"reason {expected} expected"
        return next((f"message without {p!r}" for p in parts if p not in status["message"]), None)
    return check


def that(holds: Callable, what: str) -> Callable:
    return lambda a: None if holds(a) else what


def accept(value: str) -> tuple:
    return (("Accept", value),)


def resource(answer, name: str) -> dict:
    return next((r for r in answer.json()["resources"] if r["name"] == name), {})


def group_names(answer) -> set:
    return {g["name"] for g in answer.json()["groups"]}


def aggregated(answer):
    """Complete and typed as the aggregator wants it."""
    if any(p not in answer.headers["content-type"].replace(" ", "").split(";") for p in AGGREGATED.split(";")):
        return "content type lacks g, v or as"
    document = answer.json()
    versions = {f"{g['metadata']['name']}/{v['version']}": v for g in document["items"] for v in g["versions"]}
    wanted = {"custom.metrics.k8s.io/v1beta1", "custom.metrics.k8s.io/v1beta2", "external.metrics.k8s.io/v1beta1",
              "metrics.k8s.io/v1", "metrics.k8s.io/v1beta1"}
    if set(versions) != wanted:
        return f"versions {set(versions)}"
    for name, version in versions.items():
        if version["freshness"] != "Current" or not version["resources"]:
            return f"{name} without resources or not Current"
        for kind in version["resources"]:
            if kind["scope"] not in ("Namespaced", "Cluster") or kind.get("responseKind") is None:
                return f"{name}: {kind}"
    return None if re.fullmatch(r'(W/)?"[^"]+"', answer.headers.get("etag", "")) else "no quoted ETag"


def one_item(**fields) -> Callable:
    """Exactly one item, whose fields are these; dots go deeper."""
    def check(answer):
        if len(items(answer)) != 1:
            return "one item expected"
        for path, expected in fields.items():
            value = items(answer)[0]
            for key in path.split("__"):
                value = value.get(key)
            if value != expected:
                return f"{path} is {value!r}, expected {expected!r}"
        return None
    return check


def described(kind: str, name: str, version: str, namespace: str = "default") -> Callable:
    want = {"kind": kind, "name": name, "apiVersion": version}
    if namespace:
        want["namespace"] = namespace
    return that(lambda a: len(items(a)) == 1 and items(a)[0]["describedObject"] == want, f"describedObject {want}")


# Of prometheus-adapter 0.12.0.
HOOKS = ("generic-apiserver-start-informers", "max-in-flight-filter", "storage-object-count-tracker-hook")
INDEX = {"/apis", *(f"/apis/{g}" for g in ("custom.metrics.k8s.io", "external.metrics.k8s.io", "metrics.k8s.io")), C1, C2, E, M,
         "/metrics", "/openapi/v2", "/openapi/v3", "/openapi/v3/", "/version", "/readyz/informer-sync", "/readyz/shutdown",
         *(f"/{e}{check}" for e in ("healthz", "livez", "readyz")
           for check in ("", "/ping", "/log", *(f"/poststarthook/{hook}" for hook in HOOKS)))}


def index(answer):
    """All paths of the original; flyball adds checks of its own."""
    missing = INDEX - set(answer.json()["paths"])
    return f"paths without {missing}" if missing else None


DISCOVERY = [
    Row(1, "/apis", 200, that(lambda a: group_names(a) == {"custom.metrics.k8s.io", "external.metrics.k8s.io", "metrics.k8s.io"},
                              "three groups")),
    Row(2, "/apis", 200, aggregated, accept(AGGREGATED + "," + AGGREGATED.replace("v=v2", "v=v2beta1")),
        original="lists metrics.k8s.io only"),
    Row(4, "/apis", 200, aggregated, accept(AGGREGATED + ",application/json"), original="lists metrics.k8s.io only"),
    Row(5, "/apis/custom.metrics.k8s.io", 200, that(lambda a: {v["version"] for v in a.json()["versions"]} == {"v1beta1", "v1beta2"},
                                                    "both versions"), original="lists v1beta1 only"),
    *(Row(6, path, 200, that(lambda a: a.json()["groupVersion"] == "custom.metrics.k8s.io/v1beta2" and resource(a, "pods/m") == {
        "name": "pods/m", "singularName": "", "namespaced": True, "kind": "MetricValueList", "verbs": ["get"]}, "pods/m"))
      for path in (C2, C2 + "/")),
    Row(7, E, 200, that(lambda a: resource(a, "q") == {"name": "q", "singularName": "", "namespaced": True,
                                                       "kind": "ExternalMetricValueList", "verbs": ["get"]}, "q")),
    Row(8, M, 200, that(lambda a: {r["name"]: (r["namespaced"], r["verbs"]) for r in a.json()["resources"]} == {
        "nodes": (False, ["get", "list"]), "pods": (True, ["get", "list"])}, "nodes and pods")),
    Row(9, "/apis/custom.metrics.k8s.io/v9", 404), Row(10, "/apis/nope", 404, index), Row(10, "/livez/informer-sync", 404, index),
    Row(11, C1, 406, headers=accept(AGGREGATED)),
]

CUSTOM = [
    *(Row(n, path, 200, that(lambda a: a.json()["apiVersion"] == "custom.metrics.k8s.io/v1beta2" and [
        (i["describedObject"]["name"], i["metric"], i["value"]) for i in items(a)] == [
            ("web-1", {"name": "m", "selector": None}, "1500m"), ("web-2", {"name": "m", "selector": None}, "7")], "two items"))
      for n, path in ((12, PODS), (13, PODS.replace("*", "%2A")), (15, PODS + "?labelSelector=app%3Dweb"))),
    Row(14, C1 + N + "/pods/*/m", 200, that(lambda a: a.json()["apiVersion"] == "custom.metrics.k8s.io/v1beta1" and [
        (i["metricName"], i["selector"]) for i in items(a)] == [("m", None)] * 2, "two items of v1beta1")),
    Row(16, PODS + "?labelSelector=app%3Dnone", 404, reason("NotFound", "could not find the metric m for pods")),
    Row(17, POD, 200, described("Pod", "web-1", "/v1")),
    Row(18, C2 + N + "/pods/nope/m", 404, reason("NotFound", "the server could not find the metric m for pods nope")),
    Row(19, C2 + N + "/pods/web-1/nometric", 404, reason("NotFound")), Row(20, C2 + N + "/pods/*/nometric", (404, 200)),
    Row(21, C2 + N + "/pod/web-1/m", 200, described("Pod", "web-1", "/v1")),
    Row(22, C2 + N + "/deployments.apps/web/d", 200, described("Deployment", "web", "apps/v1")),
    Row(23, C2 + N + "/widgets.example.com/x/m", 404, reason("NotFound")),
    Row(24, C2 + "/nodes/n1/load", 200, described("Node", "n1", "/v1", "")),
    Row(25, C2 + N + "/metrics/nsm", 200, described("Namespace", "default", "/v1", "")),
    Row(26, PODS + "?metricLabelSelector=verb%3DGET", 200, that(lambda a: len(items(a)) == 2 and all(
        i["metric"]["selector"] == {"matchLabels": {"verb": "GET"}} for i in items(a)), "selector is echoed")),
    Row(27, PODS + "?metricLabelSelector=a+in+b", 500), Row(28, PODS + "?labelSelector=a+in+b", 400, reason("BadRequest")),
    Row(29, POD + "/extra", 404), Row(30, C2 + N + "/pods/web-1", (400, 404)), Row(31, POD + "/", 200, described("Pod", "web-1", "/v1")),
    Row(32, POD + "?fieldSelector=metadata.name%3Dweb-1", 200, count(1)), Row(33, POD + "?fieldSelector=metadata.name%3Dother", 400),
    Row(34, PODS + "?fieldSelector=spec.x%3Dy", 400), Row(34, PODS + "?fieldSelector=foo", 400), Row(35, PODS + "?watch=true", 200, count(2)),
]

EXTERNAL = [
    Row(36, Q, 200, that(lambda a: [(i["metricName"], i["metricLabels"], i["value"]) for i in items(a)] == [
        ("q", {"queue": "a"}, "1"), ("q", {"queue": "b"}, "2")], "two items")),
    *(Row(37, f"{Q}?labelSelector={s}", 200, count(n)) for s, n in (
        ("queue%3Da", 1), ("queue+in+%28a%2Cb%29", 2), ("%21queue", 0), ("queue%21%3Da", 1))),
    *(Row(38, f"{Q}?labelSelector={s}", 400, reason("BadRequest")) for s in ("queue%3Da%2C", "queue%3D%3D%3Da", "queue%3D" + "v" * 64)),
    Row(38, Q + "?labelSelector=queue%3D%3Da", 200, count(1)),
    Row(39, Q + "?labelSelector=queue%3Da&labelSelector=x%3Dy", 200, count(1)),
    Row(40, Q + "?watch=true", 405, reason("MethodNotAllowed", "watch is not supported on resources of kind")),
    Row(41, Q + "?limit=1", 200, count(2)), Row(41, Q + "?limit=abc", 400), Row(42, Q + "?timeout=abc", 400), Row(42, Q + "?timeout=10h", 200),
    *(Row(43, E + tail, 404) for tail in ("/q", N, N + "/a/b", N + "/a%2Fb")),
    Row(44, E + N + "/sp%20ace", 200, count(1)), Row(44, E + N + "/a+b", 200, one_item(metricName="a+b")),
    Row(44, C2 + N + "/pods/web-1/sp%20ace", 200, one_item(metric__name="sp ace")), Row(44, C2 + N + "/pods/web-1/a+b", 200, count(1)),
    Row(45, Q + "?pretty=true", 200, that(lambda a: a.text().startswith('{\n  "kind"') and len(items(a)) == 2, "indented")),
    *(Row(46, Q, 405, that(lambda a: a.body == b"" or a.json()["reason"] == "MethodNotAllowed", "Status"), method=m)
      for m in ("POST", "PUT", "PATCH", "DELETE", "HEAD")),
    Row(47, Q, 200, that(lambda a: a.body[:4] == b"k8s\0" and b"ExternalMetricValueList" in a.body
                         or a.headers["content-type"] == "application/json" and len(items(a)) == 2, "decodable"),
        accept("application/vnd.kubernetes.protobuf, */*")),
    Row(47, Q, 200, count(2), accept("*/*")), Row(48, Q, 406, headers=accept("text/plain")), Row(49, Q, 406, headers=accept(TABLE)),
    Row(49, Q, 200, that(lambda a: a.json()["kind"] == "ExternalMetricValueList", "plain list"), accept(TABLE + ",application/json")),
    Row(50, E + N + "/big", 200, that(lambda a: len(json.loads(
        gzip.decompress(a.body) if a.headers.get("content-encoding") == "gzip" else a.body)["items"]) == 2000, "2000 items"),
        (("Accept-Encoding", "gzip"),)),
    *(Row(56, f"{E}{N}/{name}", 200, one_item(value=value)) for name, value in (("v0", "1500m"), ("v1", "2k"), ("v2", "0"), ("v3", "-3"))),
    Row(56, E + N + "/v4", 200, count(0), original="an overflowing value becomes a huge negative number"),
    Row(57, Q, 200, that(lambda a: all(STAMP.match(i["timestamp"]) for i in items(a)), "timestamp form")),
]

RESOURCE = [
    Row(52, M + N + "/pods?labelSelector=app%3Dweb", 200, that(lambda a: [
        (i["metadata"]["name"], i["window"], i["containers"]) for i in items(a)] == [
            (p, "1m30s", [{"name": "main", "usage": {"cpu": "250m", "memory": "64Mi"}}]) for p in ("web-1", "web-2")], "two pods")),
    Row(53, M + N + "/pods?labelSelector=app%3Dnone", 200, count(0)), Row(53, M + "/pods?fieldSelector=metadata.name%3Dweb-1", 200, count(1)),
    Row(54, M + N + "/pods/web-1", 200, that(lambda a: a.json()["kind"] == "PodMetrics", "PodMetrics")),
    Row(54, M + N + "/pods/nope", 404, reason("NotFound", 'pods "nope" not found')),
    Row(54, M + "/nodes/nope", 404, reason("NotFound", '"nope" not found')),
    Row(54, M + "/nodes/n1", 200, that(lambda a: a.json()["usage"] == {"cpu": "1500m", "memory": "2Gi"}, "usage")),
    Row(55, M + "/pods?watch=true", 405), Row(55, M + N + "/pods/web-1", 405, method="DELETE"),
]


class Conformance(Case):
    """Rows 1 to 57, 84 and 90 as the cluster's admin; a test for each part of the table, a subtest for each row."""

    @classmethod
    def setUpClass(cls):
        cluster = cls.cluster()
        fixture.objects(cluster.admin)
        cls.prometheus = fixture.prometheus()
        cls.addClassCleanup(cls.prometheus.stop)
        cls.adapter = fixture.start(cluster, cls.prometheus)
        cls.addClassCleanup(cls.adapter.stop)
        cls.watch(cls.adapter.process)
        # As kube-apiserver forwards an admin's request.
        cls.caller = cls.adapter.front_proxy("admin", ["system:masters"])

    def hold(self, rows: list):
        for row in rows:
            if row.original and adapter.subject() == adapter.ORIGINAL:
                continue
            with self.subTest(row.title):
                answer = self.caller.request(row.method, row.path, headers=row.headers)
                codes = row.status if isinstance(row.status, tuple) else (row.status,)
                self.assertIn(answer.status, codes, str(answer))
                self.assertFalse(row.check(answer), f"{row.check(answer)}; got {answer}")

    def test_rows_1_to_11_discovery(self):
        self.hold(DISCOVERY)

    @differs("its aggregated document has no use")
    def test_row_3_matching_etag_is_not_modified(self):
        tag = self.caller.get("/apis", accept(AGGREGATED)).headers["etag"]
        again = self.caller.get("/apis", accept(AGGREGATED) + (("If-None-Match", tag),))
        self.assertEqual((again.status, again.body), (304, b""))

    def test_rows_12_to_35_custom_metrics(self):
        self.hold(CUSTOM)

    def test_rows_36_to_50_and_56_external_metrics(self):
        self.hold(EXTERNAL)

    def test_row_51_hundred_requests_on_one_connection(self):
        connection = self.caller.connect()
        connection.connect()
        sock = connection.sock
        for _ in range(100):
            self.assertEqual(self.caller.get(POD, keep=connection).status, 200)
        self.assertIs(connection.sock, sock, "the connection was closed in between")
        connection.close()

    def test_rows_52_to_55_resource_metrics(self):
        self.hold(RESOURCE)

    def test_row_84_audit_id_is_echoed(self):
        self.assertEqual(self.caller.get(POD, [("Audit-ID", "abc")]).headers.get("audit-id"), "abc")
        self.assertTrue(self.caller.get(POD).headers.get("audit-id"))

    def test_row_90_header_of_a_mebibyte_is_refused(self):
        try:
            self.assertEqual(self.caller.get(POD, [("X-Long", "x" * (1 << 20) + "yy" * 4096)]).status, 431)
        except (BrokenPipeError, ConnectionResetError):
            pass  # closed while the header was still being sent
        self.assertEqual(self.caller.get(POD).status, 200)

    def test_row_90_malformed_escape_is_refused(self):
        for path in (C2 + N + "/pods/%zz/m", E + N + "/%", Q + "?labelSelector=%g1"):
            with self.subTest(path):
                self.assertIn(self.caller.get(path).status, (200, 400, 404))
        self.assertEqual(self.caller.get(POD).status, 200)

    def test_headers_of_an_answer(self):
        headers = self.caller.get(POD).headers
        self.assertEqual(headers["cache-control"], "no-cache, private")
        self.assertIn("content-length", headers)

    def test_openapi_is_what_kubectl_and_the_aggregator_accept(self):
        v2 = self.caller.get("/openapi/v2", accept("application/json"))
        self.assertEqual((v2.status, v2.json()["swagger"]), (200, "2.0"))
        v3 = self.caller.get("/openapi/v3")
        self.assertEqual(v3.status, 200)
        path = v3.json()["paths"]["apis/metrics.k8s.io/v1beta1"]["serverRelativeURL"]
        document = self.caller.get(path)
        self.assertEqual(document.status, 200)
        self.assertTrue(document.json()["openapi"].startswith("3.0"))

    def test_health_and_version(self):
        for path in ("/healthz", "/livez", "/readyz"):
            answer = self.caller.get(path)
            self.assertEqual((answer.status, answer.body, answer.headers["content-type"].split(";")[0]), (200, b"ok", "text/plain"))
            verbose = self.caller.get(path + "?verbose").text()
            self.assertIn("[+]ping ok", verbose)
            for hook in HOOKS:
                self.assertIn(f"[+]poststarthook/{hook} ok", verbose)
                self.assertEqual(self.caller.get(f"{path}/poststarthook/{hook}").body, b"ok")
        self.assertEqual(self.caller.get("/readyz/informer-sync").body, b"ok")
        self.assertEqual(self.caller.get("/version").json()["major"], "1")

    def recovered(self):
        """A failure may be given again for a moment."""
        for path in (PODS, POD, Q):
            wait.until(lambda p=path: self.caller.get(p).status == 200, f"{path} after the fault", 20)

    def test_row_80_metric_store_down(self):
        self.addCleanup(self.recovered)
        self.prometheus.misbehave = "500"
        try:
            for path in (POD.replace("web-1", "web-9"), Q + "?labelSelector=x%3Dy"):
                answer = self.caller.get(path)
                self.assertIn(answer.status, (500, 503))
                self.assertNotIn("retry-after", answer.headers)
                self.assertEqual(answer.json()["kind"], "Status")
            self.assertEqual(self.caller.get(C2).status, 200)
        finally:
            self.prometheus.misbehave = None

    def test_row_81_metric_store_hangs(self):
        self.addCleanup(self.recovered)
        self.prometheus.misbehave = "hang"
        try:
            answer = self.caller.get(POD.replace("web-1", "web-8") + "?timeout=2s")
            self.assertEqual(answer.status, 504, str(answer))
            self.assertEqual(answer.json()["reason"], "Timeout")
        finally:
            self.prometheus.misbehave = None
            self.prometheus.let_go()

    def test_serving_certificate_is_made_for_this_host(self):
        folder = self.adapter.folder / "certs"
        self.assertTrue((folder / "apiserver.crt").exists() and (folder / "apiserver.key").exists())
