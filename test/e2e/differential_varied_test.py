"""Rules, samples and requests drawn by a seed (cases/varied.py), to prometheus-adapter and to flyball: equal answers.

VARIED_SEEDS=5-90 and VARIED_REQUESTS=1500 draw more than the usual run does. Each difference is one line; what differs on purpose is
recognised by its form, and counted.
"""

import collections
import os
import time
import urllib.parse

from cases import varied, varied_text
from cases.model import C1, C2, E, M, Case as Drawn
from differences import DIFFERENCES
from differential_test import MERGED, ORIGINAL, UNMERGED, Side, fixture
from harness import adapter, compare, kube, wait
from harness.case import Case, differs
from harness.scripted_prometheus import ScriptedPrometheus

# Documents that are each program's own: status and content type alone are compared.
OWN_DOCUMENTS = ("/healthz", "/livez", "/readyz", "/openapi", "/version", "/apis/custom.metrics.k8s.io", "/apis/metrics.k8s.io", "/apis")
HUGE = "-9223372036854775808m"  # what the original makes of a value that is not finite
SHOWN = 40  # differences of one seed


def span(variable: str, usual: str) -> range:
    first, _, last = os.environ.get(variable, usual).partition("-")
    return range(int(first), int(last or first) + 1)


def how(request, theirs) -> str:
    """How closely the answers to a request are compared."""
    path = urllib.parse.unquote(urllib.parse.urlsplit(request.path).path)
    kind = theirs.headers.get("content-type", "")
    if theirs.status == 404 and theirs.body.startswith(b"{\n  \"paths\""):
        return "status"  # the list of paths
    if path.rstrip("/") in (C1, C2, E) and theirs.status == 200:
        return "json" if "json" in kind or "yaml" in kind else "status"
    containers = path.startswith("/apis/metrics.k8s.io/")
    if "protobuf" in kind:
        return "protobuf in any order" if containers else "protobuf"
    return "containers" if containers else "bytes"


def is_own(request) -> bool:
    path = urllib.parse.unquote(urllib.parse.urlsplit(request.path).path).rstrip("/")
    return path == "" or path in OWN_DOCUMENTS or path.startswith(OWN_DOCUMENTS[:5])


def _subject(item: dict) -> str:
    return str(item.get("describedObject", item.get("metricLabels", "")))


def _infinite_left_out(ours, theirs) -> bool:
    if "json" not in theirs.headers.get("content-type", "") or b'"usage"' in theirs.body or b'"rows"' in theirs.body:
        return True
    items = theirs.json().get("items")
    if items is None:
        return False
    gone = {_subject(i) for i in items if i["value"] == HUGE}
    kept = [(_subject(i), i["value"]) for i in items if _subject(i) not in gone]
    if ours.status == 404:
        return not kept
    return ours.status == 200 and kept == [(_subject(i), i["value"]) for i in ours.json()["items"] if _subject(i) not in gone]


def impersonates(request) -> bool:
    """Whether a header asks for another user."""
    return any(bool(value) if name in ("Impersonate-User", "Impersonate-Uid") else name.startswith(("Impersonate-Group", "Impersonate-Extra-"))
               for name, value in request.headers)


def on_purpose(request, ours, theirs) -> str:
    """The name of the deliberate difference that these two answers show, or ""."""
    path = urllib.parse.urlsplit(request.path).path
    plain = urllib.parse.unquote(path)
    if b"9223372036854775808" in theirs.body and _infinite_left_out(ours, theirs):
        return "infinite-values-are-left-out"
    if "//" in path.rstrip("/") and ours.status in (400, 404):
        return "empty-segment-never-matches"
    if impersonates(request) and ours.status == 403:
        return "impersonation-is-refused"
    if "%2f" in path.lower() and (ours.status in (400, 404) or ours.status == theirs.status == 403):
        return "encoded-slash-never-matches"
    refused_by_go = theirs.body == b"400 Bad Request" or request.method == "HEAD" and "cache-control" not in theirs.headers
    if ours.status == theirs.status == 400 and refused_by_go:
        return "malformed-targets-are-refused-with-a-status"
    if plain.startswith(E) and plain.rstrip("/").rsplit("/", 1)[-1] in ("status", "finalize") and theirs.status != 200:
        return "external-metrics-may-be-called-status"
    not_shown = theirs.status == 406 or theirs.status == 500 and b"is not a valid label selector operator" in theirs.body
    if ours.status == 404 and not_shown and path.startswith((C1, C2)):
        return "infinite-values-are-left-out"  # there was a value, in an answer that the original cannot write
    if plain.startswith("/openapi/v3/") and ours.status == 404 and not theirs.body:
        return "unknown-openapi-documents-are-not-found"
    if ours.status == 404 and theirs.status == 500 and b"unable to list matching resources" in theirs.body:
        return "unknown-metrics-list-nothing"
    if ours.status == theirs.status == 403 and "%25" in path:
        return "percent-signs-of-a-refusal-are-kept"
    return ""


def varied_objects(admin):
    """More kinds of objects, and a pod that does not run, in a namespace of their own."""
    kube.namespace(admin, "varied")
    for name, labels in (("a-1", {"app": "shop", "tier": "db"}), ("v.1", {"app": "shop", "zone": "a"}), ("v-2", {"num": "7"})):
        kube.pod(admin, "varied", name, labels)
    containers = {"containers": [{"name": "c", "image": "none.invalid/none"}]}
    kube.apply(admin, kube.make("Pod", "pending", "varied", labels={"app": "shop"}, spec=containers))
    for name in ("d", "web"):
        kube.apply(admin, kube.make("Service", name, "varied", labels={"app": name}, spec={"ports": [{"port": 80}]}))
        kube.apply(admin, kube.make("Ingress", name, "varied", spec={"defaultBackend": {"service": {"name": name, "port": {"number": 80}}}}))
        kube.apply(admin, kube.make("Job", name, "varied", labels={"app": name}, spec={"suspend": True, "template": {
            "spec": {**containers, "restartPolicy": "Never"}}}))
    kube.apply(admin, kube.make("ConfigMap", "settings", "varied", data={}))


class Varied(Case):
    """One test for each seed: the original, and flyball with or without merged queries in turn."""

    @classmethod
    def setUpClass(cls):
        fixture(cls.cluster().admin)
        varied_objects(cls.cluster().admin)

    def compare_seed(self, seed: int):
        config = varied.config_of(seed)
        drawn = Drawn(f"varied {seed}", config, [], series=varied.series_of(seed, config), answers=varied.Answers(seed),
                      args=("--metrics-relist-interval=10m", "--metrics-max-age=10m"))
        names = (ORIGINAL, UNMERGED if seed % 2 else MERGED)
        sides = [Side(name, self.cluster(), drawn) for name in names]
        try:
            self.watched = [s.adapter.process for s in sides]
            for side in sides:
                side.wait()
            custom, external = self.wait_listed(sides)
            for side in sides:
                side.prometheus.take("/api/v1/series")
            began, found, purpose = time.monotonic(), [], collections.Counter()
            requests = varied.requests_of(seed, int(os.environ.get("VARIED_REQUESTS", "300")), custom, external)
            for request in requests:
                self.check(request, sides, names[1], found, purpose)
            print(f"      seed {seed}, {names[1]}: {len(custom)} and {len(external)} metrics, {len(requests)} requests, {time.monotonic() - began:.0f} s, "
                  f"{len(found)} differ, on purpose {dict(purpose)}", flush=True)
            self.assertFalse(found, "\n" + "\n".join(found[:SHOWN]))
        finally:
            for side in sides:
                side.stop()

    def wait_listed(self, sides):
        """What discovery lists, which must be the same; the first relist ends a moment after the start."""
        def listed(side):
            return [side.adapter.resources(path.removeprefix("/apis/")) for path in (C2, E)]
        wait.until(lambda: all(listed(side)[1] and listed(side)[0] for side in sides), "metrics listed", 40)
        theirs, ours = (listed(side) for side in sides)
        self.assertEqual(ours, theirs)
        return theirs

    @staticmethod
    def check(request, sides, name, found, purpose):
        theirs, ours = (side.asks(request) for side in sides)
        # Names are escaped in regular expressions, which the original does not do.
        asked = [{str(compare.asked(a)).replace("\\" * 8 + ".", ".") for a in side.prometheus.take("/api/v1/query")} for side in sides]
        style = how(request, theirs)
        if is_own(request):
            pair = [(a.status, a.headers.get("content-type") if a.body else None) for a in (theirs, ours)]
            unlike = [] if pair[0] == pair[1] else [f"{pair[0]} != {pair[1]}"]
        else:
            unlike = compare.unlike(compare.answer(theirs, style), compare.answer(ours, style))
            for header in ("x-content-type-options", "vary", "location", "allow", "content-encoding", "retry-after", "etag", "www-authenticate"):
                if theirs.headers.get(header) != ours.headers.get(header):
                    unlike.append(f"{header}: {theirs.headers.get(header)!r} != {ours.headers.get(header)!r}")
        unlike += compare.audit_ids(request.headers, theirs, ours)
        if unlike and (known := on_purpose(request, ours, theirs)):
            assert known in DIFFERENCES
            purpose[known] += 1
            return
        if not unlike and name == UNMERGED and theirs.status != 406 and asked[0] != asked[1]:
            unlike = [f"queries {sorted(asked[0] - asked[1])} != {sorted(asked[1] - asked[0])}"]
        if unlike:
            found.append(f"{request.method} {request.path} {dict(request.headers) or ''}{'' if request.rights else ' without rights'}: " + " | ".join(" ".join(u.split())[:500] for u in unlike[:3]))


def _test_of(seed: int):
    def test(self):
        self.compare_seed(seed)
    return differs("it is compared with itself")(test)


for _seed in span("VARIED_SEEDS", "1-4"):
    setattr(Varied, f"test_seed_{_seed}", _test_of(_seed))
del _seed


class Every(dict):
    """The same series for every selector."""

    def get(self, _selector, _default=None):
        return [{"__name__": name, "ns": "web", "po": "a-1", "5": "x", "true": "x"} for name in ("s_a", "x_b", "5")]


class VariedTexts(Case):
    """Rule files as text: both programs refuse one with the same status, or ask for the same series and list the same metrics.

    VARIED_TEXTS=13-200 draws others than the usual run does.
    """

    @classmethod
    def setUpClass(cls):
        fixture(cls.cluster().admin)

    def start(self, kind: str, text: str):
        prometheus = ScriptedPrometheus()
        prometheus.series = Every()
        one = adapter.Adapter(kind, self.cluster(), prometheus.url, text, ("--metrics-relist-interval=10m", "--metrics-max-age=10m"))
        one.start(ready=False)
        return one, prometheus

    @staticmethod
    def seen(one, prometheus):
        """What it asked for and lists; or its exit status; or None, that is, not yet ready."""
        if not one.process.alive():
            return one.process.wait(1)
        if one.anonymous.get("/readyz").status != 200 or one.admin.get("/apis").status != 200:
            return None
        asked = sorted({m for a in list(prometheus.asked) for m in a.parameters.get("match[]", [])})
        return asked, [one.resources(path.removeprefix("/apis/")) for path in (C2, E)], one.admin.get(M).status

    def compare_text(self, text: str) -> bool:
        """Whether both refuse it. Something is listed in the end, but of rules without resources or with filters."""
        sides = [self.start(kind, text) for kind in (adapter.ORIGINAL, adapter.FLYBALL)]
        try:
            self.watched = [one.process for one, _ in sides]
            last = []

            def equal():
                last[:] = [self.seen(*side) for side in sides]
                return None not in last and last[0] == last[1] and (isinstance(last[0], int) or any(last[0][1]))
            try:
                wait.until(equal, "the same of both", 6, every=0.1)
            except wait.Never:
                self.assertEqual(last[1], last[0], text)
            return isinstance(last[0], int)
        finally:
            for one, prometheus in sides:
                one.stop()
                prometheus.stop()

    @differs("it is compared with itself")
    def test_texts(self):
        refused = 0
        texts = span("VARIED_TEXTS", "1-12")
        for seed in texts:
            with self.subTest(f"text {seed}"):
                refused += self.compare_text(varied_text.text_of(seed))
        print(f"      {len(texts)} texts, {refused} of them refused", flush=True)
