"""What a careful reader of prometheus-adapter's code would try: names, labels, samples, parameters and rules at the edges."""

import json
import re
from urllib.parse import quote

from harness.scripted_prometheus import one_by_one, vector

from .model import C1, C2, E, EXT, HOST, JSON, M, NS, PO, STATUS, WEB, Case, Request, custom_rule, get
from .selectors import echo

READY, READY_EXTERNAL = "custom.metrics.k8s.io/v1beta2", "external.metrics.k8s.io/v1beta1"
SUM, V = "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)", "<<.Series>>{<<.LabelMatchers>>}"
AT = 1700000000


def series(*names: str, **labels) -> dict:
    """Each name as its own seriesQuery, on pod a-1 of web unless told otherwise."""
    return {n: [{"__name__": n, **(labels or {"ns": "web", "po": "a-1"})}] for n in names}


# ---- names of objects, namespaces and metrics, as they come in a path ----

OBJECTS = ["a-1", "A-1", "a.1", "a|b", "a\"b", "a\\b", "a\\\"b", "ü", "日本", "🙂", "a b", "a+b", "a%b", "a?b", "a#b", "a&b=c", "a,b", "{a}",
           "a:b", "$a", "^a$", "~", "%2A", "**", "a*", "\u0001", "\t", "\u007f", "\u0085", "\u00ad", "\ufeff", "a" * 300, "...", "a;b", "@", "<a>",
           "\u2028", "\U000e0001"]
METRICS = ["m", "M", "rec:sum:rate5m", "a.b", "a-b", "µ", "x|y", "sp ace", "per%cent", "*", "..m", "m=1", "<m>"]
NAMED = {"rules": [custom_rule(f"n{i}", SUM, name={"as": name}) for i, name in enumerate(METRICS)]}


def segment(name: str) -> str:
    return quote(name, safe="")


def by_name(query: str):
    """One sample for each pod that the query names."""
    named = (q.rpartition('po="')[2].rpartition('"})')[0] for q in one_by_one(query))
    return vector(*(({"po": json.loads(f'"{n}"') if re.fullmatch(r'(?:[^\\]|\\["\\tn])*', n) else n}, 7, AT) for n in named))


PATHS = [
    *get(*(f"{WEB}/pods/{segment(o)}/m" for o in OBJECTS)),
    *get(*(f"{C1}/namespaces/web/pods/a-1/{segment(m)}" for m in METRICS), C2 + "/namespaces/w%22eb/pods/a-1/m",
         C2 + "/namespaces/%2A/pods/a-1/m", C2 + "/namespaces/%C3%BC/pods/a-1/m", C2 + "/namespaces/web/%70ods/a-1/m",
         C2 + "/namespaces/web/pods/%61-1/m", C2 + "/namespaces/web/pods./a-1/m", C2 + "/namespaces/web/.pods/a-1/m",
         C2 + "/namespaces/web/pods.v1./a-1/m", C2 + "/namespaces/web/metrics/%6D", C2 + "/namespaces/metrics/metrics/m",
         C2 + "/namespaces/web/metrics/metrics", C2 + "/metrics/x/m", C2 + "/namespaces/web/namespaces/web/m",
         C2 + "/namespaces/web/metrics/x/m", C2 + "/namespaces/web/namespace/web/m", C2 + "/namespace/web/m", C2 + "/nodes/metrics/m"),
    *get(WEB + "/pods/a-1/m//", "/apis//", "/apis/custom.metrics.k8s.io//", C2 + "///", "/version//", "/healthz/", "/metrics/", WEB + "/./pods/a-1/m", WEB + "/pods/../pods/a-1/m", WEB.upper() + "/pods/a-1/m", "/apis//custom.metrics.k8s.io",
         "//apis", WEB + "/pods/a-1/%6d%6d", WEB + "/pods/a-1/m%00", WEB + "/pods/a-1/%ff", WEB + "/pods/%ff/m", C2 + "/namespaces/web/pods/%/m",
         WEB + "/pods/a-1/m?%zz", WEB + "/pods/a-1/m?labelSelector=%zz", compare=STATUS),
]

# ---- parameters ----

PARAMETERS = [
    "?labelSelector=", "?metricLabelSelector=", "?metricLabelSelector=%20", "?labelSelector=&labelSelector=app%3Dnone", "?pretty", "?pretty=",
    "?pretty=TRUE", "?pretty=2", "?limit=-1", "?limit=", "?limit=99999999999999999999", "?timeoutSeconds=-5", "?watch=true&metricLabelSelector=a%3Db",
    "?fieldSelector=", "?fieldSelector=metadata.name%21%3Da-1", "?fieldSelector=metadata.namespace%3Dweb", "?fieldSelector=metadata.namespace%3Dother",
    "?fieldSelector=metadata.name%3Da-1%2Cmetadata.namespace%3Dweb", "?allowWatchBookmarks=true", "?resourceVersionMatch=Exact",
    "?resourceVersion=x", "?metricLabelSelector=a%3Db;c=d", "?a=b&&c", "?metricLabelSelector=a%3Db&metricLabelSelector=%3D%3D", "?continue=%00",
    "?metricLabelSelector=%0Aa%09%3D%0Db%20", "?dryRun=All", "?fieldManager=x", "?as=Table", "?includeObject=None", "?MetricLabelSelector=a%3Db",
    "?timeout=1h30m", "?timeout=60s&timeout=abc", "?timeout=1.5s", "?timeout=100000h",
]
BAD_PARAMETERS = ["?timeout=-1s", "?timeout=1", "?timeout=", "?watch=abc", "?limit=1.5", "?limit=0x10", "?timeoutSeconds=1e3",
                  "?fieldSelector=metadata.name%3D%5C%5Cx", "?fieldSelector=%3Da", "?fieldSelector=a%3Db%2C", "?sendInitialEvents=true",
                  "?sendInitialEvents=x", "?allowWatchBookmarks=x", "?fieldSelector=metadata.labels%3Dx"]
# What an error repeats of them, and which of several errors it is.
REPEATED = ["?limit=%5C%22", "?timeoutSeconds=%0A", "?timeout=5%5C%22", "?timeout=5%C3%A9", "?fieldSelector=b%2Ca.x%3Dy", "?fieldSelector=a%22.x%3Dy",
            "?fieldSelector=metadata.name%3D%5C%C3%A9", "?resourceVersionMatch=Exact&fieldSelector=a.x%3Dy", "?watch=1&timeout=abc",
            "?watch=1&fieldSelector=a.x%3Dy", "?resourceVersion=1&resourceVersionMatch=%22"]
ASKED = {"rules": [custom_rule("m", SUM)],
         "externalRules": [{"seriesQuery": "q", "metricsQuery": V, "resources": {"namespaced": False}}]}
QUESTIONS = [
    *get(*(f"{WEB}/pods/a-1/m{p}" for p in PARAMETERS), *(f"{WEB}/pods/*/m{p}" for p in PARAMETERS)),
    *get(*(f"{EXT}/q{p}" for p in PARAMETERS)),
    *get(*(f"{path}{p}" for path in (WEB + "/pods/a-1/m", WEB + "/pods/*/m", EXT + "/q") for p in BAD_PARAMETERS), compare="reason"),
    *get(*(f"{path}{p}" for path in (WEB + "/pods/a-1/m", WEB + "/pods/*/m", EXT + "/q") for p in REPEATED)),
]

# ---- how answers and errors are written ----

YAML, PROTOBUF = (("Accept", "application/yaml"),), (("Accept", "application/vnd.kubernetes.protobuf"),)
CURL = (("User-Agent", "curl/8"),)
ERRORS = [WEB + "/pods/none/m", WEB + "/pods/a-1/none", WEB + "/nothing/x/m", WEB + "/nothing/*/m", EXT + "/none", EXT + "/q?labelSelector=a+b",
          WEB + "/pods/*/m?labelSelector=a+b", WEB + "/pods", C2 + "/x", "/apis/external.metrics.k8s.io/v9/x", EXT + "/q?watch=true",
          ]
SHAPES = [
    *(Request(path, "bytes" if "a+b" not in path else "reason", headers=h) for path in ERRORS for h in ((), CURL)),
    *(Request(path, "bytes" if "a+b" not in path else "reason", headers=YAML) for path in ERRORS),
    *(Request(path, "bytes" if "a+b" not in path else STATUS, headers=PROTOBUF) for path in ERRORS),
    *(Request(path + "?pretty=true", headers=h) for path in (WEB + "/pods/a-1/m", EXT + "/q", C1 + "/namespaces/web/pods/a-1/m")
      for h in (YAML, CURL)),
    *(Request(path, JSON, headers=h) for path in (C2, E, C1) for h in (CURL, YAML)),
    *(Request(path, STATUS, method=method) for path in (C2, E, "/apis", "/nothing", "/apis/nope/v1", WEB + "/pods", "/healthz", "/version")
      for method in ("POST", "HEAD", "DELETE")),
    *(Request("/openapi/v2", headers=(("If-None-Match", "*"),), method=method) for method in ("GET", "HEAD", "DELETE")),
    *(Request(path, headers=(("Accept", a),)) for path in (WEB + "/pods/a-1/m", EXT + "/q", E, C2) for a in (
        "text/html", "application/xml;q=0.9", "APPLICATION/JSON", "text/*", "application/cbor")),
    *(Request(path, JSON if path == C2 else "bytes", headers=(("Accept", a),)) for path in (WEB + "/pods/a-1/m", EXT + "/q", E, C2) for a in (
        "application/json;stream=watch", "application/json;type=watch")),
    *(Request(path, headers=(("Accept", "application/vnd.kubernetes.protobuf;type=watch"),)) for path in (WEB + "/pods/none/m", EXT + "/none", E)),
    *(Request(path, "reason", headers=(("Accept", "application/json;stream=other"),)) for path in (WEB + "/pods/a-1/m", EXT + "/q")),
    *(Request(WEB + "/pods/a-1/m", headers=(("Accept", a),)) for a in (
        "text/html,application/json;q=0.5", "application/json; charset=UTF-8", "*/*;q=0.1", "application/json,",
        "text/html, */*;q=0.8", "application/json ; q=1.0")),
]

# ---- samples that don't fit ----

STRAY = {
    "other_objects": [({"po": "zzz"}, 1), ({"po": "a-2"}, 2)], "no_label": [({}, 1)], "label_empty": [({"po": ""}, 1), ({"po": "a-1"}, 3)],
    "another_label": [({"pod": "a-1"}, 1)], "more_labels": [({"po": "a-1", "ns": "elsewhere", "x": "y"}, 4)],
    "first_wins_or_last": [({"po": "a-1", "x": "1"}, 1), ({"po": "a-2"}, 9), ({"po": "a-1", "x": "2"}, 2), ({"po": "a-1", "x": "3"}, "NaN")],
    "nan_then_value": [({"po": "a-1"}, "NaN"), ({"po": "a-1"}, 5)], "minus_zero": [({"po": "a-1"}, "-0"), ({"po": "a-2"}, "-0.0004")],
    "old": [({"po": "a-1"}, 1, 5), ({"po": "a-2"}, 2, 0), ({"po": "b-1"}, 3, -5)], "named": [({"__name__": "kept", "po": "a-1"}, 1)],
    "large": [({"po": "a-1"}, "9223372036854774"), ({"po": "a-2"}, "-9223372036854774"), ({"po": "b-1"}, "123456789012.3456")],
    "tiny": [({"po": "a-1"}, "0.00099999999"), ({"po": "a-2"}, "1e-320"), ({"po": "b-1"}, "0.9999999999999999")],
    "floats": [({"po": "a-1"}, "0.29"), ({"po": "a-2"}, "1.15"), ({"po": "b-1"}, "4.35")],
    "spelled": [({"po": "a-1"}, "1E3"), ({"po": "a-2"}, "+7"), ({"po": "b-1"}, ".5")], "nans": [({"po": p}, "nan") for p in ("a-1", "a-2")],
    "case": [({"PO": "a-1"}, 1), ({"Po": "a-1"}, 2)], "early": [({"po": "a-1"}, 1, -0.5), ({"po": "a-2"}, 2, -5.5)],
}
STRAY_QUERIES = {f'sum({n}{{{m}}}) by (po)': vector(*s) for n, s in STRAY.items()
                 for m in ('ns="web",po="a-1"', 'ns="web",po=~"a-1|a-2|b-1"', 'ns="web",po="a-2"', 'ns="web",po="b-1"',
                           'ns="web",po=~"a-1|a-2"')}
SAMPLES = [
    *get(*(f"{WEB}/pods/{o}/{n}" for n in STRAY for o in ("a-1", "*")), *(f"{C1}/namespaces/web/pods/*/{n}?labelSelector=app" for n in STRAY)),
]
E_LABELS = [{"a": "\"q\""}, {"a": "back\\slash"}, {"a": "new\nline"}, {"a": "<script>&"}, {"a": "\u2028\u2029"}, {"a": "日本"}, {"Z": "1", "a": "2", "_": "3"},
            {"__name__": "n", "a": ""}, {}, {"a": "\ud83d\ude42"}, {"a": "\x01\x1f"}, {"a" * 200: "b" * 5000}, {"é": "ü"}]
E_TIMES = [0, 0.5, 1700000000.9999, 253402300799, 1e-3, -0.25, -5.5, -7, -62135596799, -62135596800]
E_VALUES = ["1e3", "1E-3", "+1", "0.0005", "-0", "9.2e15", "1.0000000001", "100000000000000000000e-8", "0"]
EXTERNAL = {"externalRules": [
    *({"seriesQuery": n, "metricsQuery": V, "resources": {"namespaced": False}} for n in ("labels", "times", "values")),
    {"seriesQuery": "grouped", "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)", "resources": {"namespaced": False}},
    {"seriesQuery": "sliced", "metricsQuery": "x<<range .GroupBySlice>><<.>><<end>><<len .GroupBySlice>>", "resources": {"namespaced": False}},
    {"seriesQuery": "by_value", "metricsQuery": "f(<<.Series>>,<<.LabelValuesByName>>,<<.LabelValuesByName.k>>)", "resources": {"namespaced": False}},
    {"seriesQuery": "ns_by_value", "metricsQuery": "f(<<.LabelValuesByName.ns>>,<<.LabelValuesByName>>)", "resources": {"overrides": {"ns": NS}}},
    {"seriesQuery": "both", "metricsQuery": V, "resources": {"template": "k_<<.Resource>>", "overrides": {"ns": NS}}},
    {"seriesQuery": "pods_only", "metricsQuery": V, "resources": {"overrides": {"po": PO}}},
    {"seriesQuery": "grouped_template", "metricsQuery": V, "resources": {"template": "k_<<.Group>>_<<.Resource>>"}},
    {"seriesQuery": "same_name_1", "metricsQuery": "one(" + V + ")", "name": {"as": "same"}, "resources": {"namespaced": False}},
    {"seriesQuery": "same_name_2", "metricsQuery": "two(" + V + ")", "name": {"as": "same"}, "resources": {"namespaced": False}},
    {"seriesQuery": "many", "name": {"matches": "^many_(.*)$"}, "metricsQuery": V, "resources": {"namespaced": False}},
    {"seriesQuery": "filtered", "seriesFilters": [{"isNot": "b$"}], "metricsQuery": V, "resources": {"namespaced": False}},
]}
E_SERIES = {r["seriesQuery"]: [{"__name__": r["seriesQuery"]}] for r in EXTERNAL["externalRules"]}
E_SERIES["many"] = [{"__name__": n} for n in ("many_a", "many_b", "other", "many_")]
E_SERIES["filtered"] = [{"__name__": n} for n in ("fa", "fb")]
E_SELECTORS = ["k=v", "k!=v", "k in (b,a)", "ns=other", "ns!=web", "ns in (a,b)", "k=,ns=", "k notin (a),k in (b)", "k=v,k=w", "!ns", "namespace=web", "a.b=c", "a/b=c",
               "K=v", "k=V_1.x-y"]


def external_answers(query: str):
    if query.startswith("labels"):
        return vector(*((labels, i, AT + i) for i, labels in enumerate(E_LABELS)))
    if query.startswith("times"):
        return vector(*(({"i": str(i)}, 1, at) for i, at in enumerate(E_TIMES)))
    if query.startswith("values"):
        return vector(*(({"i": str(i)}, v, AT) for i, v in enumerate(E_VALUES)))
    return echo(query)


OUTSIDE = get(*(f"{EXT}/{n}" for n in ("labels", "times", "values", "grouped", "sliced", "by_value", "ns_by_value", "both", "pods_only",
                                       "grouped_template", "same", "a", "b", "many_a", "other", "fa", "fb", "", "many_")),
              *(f"{EXT}/{n}?labelSelector={quote(s)}" for n in ("values", "by_value", "ns_by_value", "both") for s in E_SELECTORS),
              E + "/namespaces/%22/ns_by_value", E + "/namespaces/a%7Cb/both", E + "/namespaces/web/values/")
OUTSIDE += [Request(E, JSON), Request(E + "/namespaces//values", differs="empty-segment-never-matches"),
            *(Request(EXT + "/labels", headers=h) for h in (YAML, PROTOBUF, CURL))]

# ---- resources from labels ----

MAPPED = {"rules": [
    {"seriesQuery": "t0", "metricsQuery": SUM, "resources": {"template": "x.<<.Resource>>"}},
    {"seriesQuery": "t1", "metricsQuery": SUM, "resources": {"template": "<<.Resource>>s"}},
    {"seriesQuery": "t2", "metricsQuery": SUM, "resources": {"template": "<<.Group>>__<<.Resource>>"}},
    {"seriesQuery": "t3", "metricsQuery": SUM, "resources": {"template": "(<<.Resource>>)"}},
    {"seriesQuery": "t4", "metricsQuery": SUM, "resources": {"template": "<<.Resource>>_<<.Resource>>"}},
    {"seriesQuery": "t5", "metricsQuery": SUM, "resources": {"template": "<<.Resource>>", "overrides": {"instance": HOST, "node": PO}}},
    {"seriesQuery": "t6", "metricsQuery": SUM, "resources": {"overrides": {"pod": PO}}},
    {"seriesQuery": "t7", "metricsQuery": SUM, "resources": {"overrides": {"": PO, "ns": NS}}},
    {"seriesQuery": "t8", "metricsQuery": SUM, "resources": {"overrides": {"dep": {"group": "app", "resource": "Deployments"}, "ns": {"resource": "NAMESPACE"}}}},
    {"seriesQuery": "t9", "metricsQuery": SUM, "resources": {"namespaced": False, "overrides": {"ns": NS, "po": PO}}},
    {"seriesQuery": "t10", "metricsQuery": SUM, "resources": {"overrides": {"node": HOST}}},
    {"seriesQuery": "t11", "metricsQuery": SUM, "resources": {"template": "<<.Resource | printf `kube_%s`>>"}},
    {"seriesQuery": "t12", "metricsQuery": SUM, "name": {"matches": "", "as": "$0_x"}, "resources": {"overrides": {"ns": NS, "po": PO}}},
    {"seriesQuery": "t13", "metricsQuery": SUM, "name": {"matches": "(?P<a>t)(?P<b>.*)", "as": "${b}${a}${missing}$9"}, "resources": {"overrides": {"ns": NS, "po": PO}}},
]}
MAPPED_SERIES = {
    "t0": [{"__name__": "t0", "x.pod": "a", "xzpod": "a", "x_namespace": "web", "pod": "n"}],
    "t1": [{"__name__": "t1", "pods": "a-1", "pod": "a-1", "namespaces": "web", "podss": "q"}],
    "t2": [{"__name__": "t2", "apps__deployment": "d", "__pod": "p", "batch__job": "j"}],
    "t3": [{"__name__": "t3", "pod": "a", "namespace": "web"}],
    "t4": [{"__name__": "t4", "pod_pod": "a", "pod_namespace": "web", "namespace_namespace": "w"}],
    "t5": [{"__name__": "t5", "instance": "n1", "node": "a-1", "namespace": "web", "pod": "b"}],
    "t6": [{"__name__": "t6", "pod": "a-1"}],
    "t7": [{"__name__": "t7", "": "a", "ns": "web"}],
    "t8": [{"__name__": "t8", "dep": "d", "ns": "web"}],
    "t9": [{"__name__": "t9", "ns": "web", "po": "a-1"}],
    "t10": [{"__name__": "t10", "node": "n1"}],
    "t11": [{"__name__": "t11", "kube_pod": "a-1", "kube_namespace": "web"}],
    "t12": [{"__name__": "t12", "ns": "web", "po": "a-1"}],
    "t13": [{"__name__": "t13", "ns": "web", "po": "a-1"}, {"ns": "web", "po": "nameless"}, {"__name__": "", "ns": "web", "po": "x"}],
}


def everything(_query: str):
    """One sample with every label that the rules above may group by."""
    labels = {k: v for rows in MAPPED_SERIES.values() for row in rows for k, v in row.items() if k not in ("__name__", "")}
    return vector(({**labels, "x.pod": "a-1", "pod": "a-1", "deployment": "d", "apps__deployment": "d"}, 3, AT))


RESOURCES = [Request(C2, JSON), Request(C1, JSON), *get(
    *(f"{WEB}/pods/{o}/t{i}" for i in range(12) for o in ("a-1", "*")), *(f"{WEB}/metrics/t{i}" for i in range(12)),
    *(f"{C2}/nodes/n1/{m}" for m in ("t5", "t10")), C2 + "/nodes/*/t10", WEB + "/deployments.apps/d/t2", WEB + "/deployments.apps/d/t8",
    WEB + "/deployments/d/t8", WEB + "/pods/a-1/t12_x", WEB + "/pods/a-1/_x",
    WEB + "/pods/a-1/13t", WEB + "/pods/nameless/t")]

# What a caller accepts, at each place where an answer is made or refused.
TYPES = ["application/*", "application/json;q=0", "application/json;q=x,application/yaml;q=0.1", "APPLICATION/JSON", "text/html", "garbage",
         ",", ";", "application/json;as=Foo", "application/json;g=x;v=y", "application/json;as=Table;v=v1;g=meta.k8s.io",
         "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io", "text/plain, application/json;q=0.1", "application/json,,",
         "*/*, application/yaml", "*/*, application/yaml;q=0.1", " application / yaml ", "application/yaml/", "application/yaml/x,application/json",
         'application/json;as="Table";v=v1;g=meta.k8s.io', "application/json;as= ;q=1", "application/json;q= 1,application/yaml;q=0.1",
         "application/json;as=;q=,application/yaml;q=0.9", "application/json;as=x=y", "application/yaml;stream=watch", "application/json;sv=v2"]
PLACES = [WEB + "/pods/a-1/m", WEB + "/pods/none/m", WEB + "/pods/a-1/none", WEB + "/pods/*/m", WEB + "/pods", WEB + "/pods/a-1/m?limit=x",
          EXT + "/q", EXT + "/none", EXT + "/q?watch=true", E + "/x/y/z", "/version"]
ACCEPTED = [
    *(Request(path, STATUS if path == "/version" else "bytes", (("Accept", t),)) for path in PLACES for t in TYPES),
    *(Request(path, headers=(("Accept", t),), method="POST") for path in (WEB + "/pods/a-1/m", EXT + "/q", "/version") for t in TYPES),
    *(Request(path, STATUS, (("Accept", "text/html"),), m) for path in ("/openapi/v3", "/openapi/v2") for m in ("GET", "POST")),
    *(Request(path, STATUS, (("Accept", t),)) for path in ("/openapi/v2", "/openapi/v3/apis/custom.metrics.k8s.io/v1beta1") for t in TYPES + ["*;=", "*"]),
    *get(*(f"{EXT}/q?{p}resourceVersionMatch={m}{v}" for p in ("", "watch=1&") for m in ("x", "Exact", "NotOlderThan")
           for v in ("", "&resourceVersion=0", "&continue=a", "&sendInitialEvents=true"))),
    *get(WEB + "/deployments./d/none", WEB + "/pods./a-1/none", WEB + "/pods../a-1/none", C2 + "/nodes.x./n1/m"),
    *get("/index.html", compare=STATUS)]

# Types of a content that nobody reads, at documents that name the types they take, and elsewhere.
CONTENTS = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/json; charset=utf-8", "text/html, application/yaml",
            "text/html", "APPLICATION/JSON", "*/*", "application/*", " application/json ", "", ",", "application/json,", "application/x-www-form-urlencoded"]
DOCUMENTS = ["/apis", "/apis/custom.metrics.k8s.io", "/apis/external.metrics.k8s.io/", C1, C2 + "/", E, "/version"]
SENT = [
    *(Request(path, STATUS, (("Content-Type", t),), body=body) for path in [*DOCUMENTS, "/apis/nope/v1", C2 + "/x", "/openapi/v2", "/healthz"]
      for t in CONTENTS for body in (None, b"{}")),
    *(Request(path, headers=(("Content-Type", t), *more), body=body) for path in DOCUMENTS for t in ("text/html", "*/*") for body in (None, b"", b"{}")
      for more in ((), (("Accept", "image/png"),), YAML)),
    *(Request(path, headers=(("Content-Type", "text/html"),), body=b"{}", method="POST") for path in DOCUMENTS),
    *(Request(path, headers=(("Content-Type", "text/html"),), body=b"{}") for path in (WEB + "/pods/a-1/m", EXT + "/q", WEB + "/pods", EXT + "/q?watch=1")),
]

CASES = [
    Case("odd_content", ASKED, SENT, (READY, "pods/m"), {**series("m"), "q": [{"__name__": "q"}]}, echo),
    Case("odd_accept", ASKED, ACCEPTED, (READY, "pods/m"), {**series("m"), "q": [{"__name__": "q"}]}, echo),
    Case("odd_names", NAMED, PATHS, (READY, "pods/m"), series(*(f"n{i}" for i in range(len(METRICS)))), by_name),
    Case("odd_parameters", ASKED, QUESTIONS, (READY, "pods/m"), {**series("m"), "q": [{"__name__": "q"}]}, echo),
    Case("odd_shapes", ASKED, SHAPES, (READY, "pods/m"), {**series("m"), "q": [{"__name__": "q"}]},
         {'sum(m{ns="web",po="a-1"}) by (po)': vector(({"po": "a-1"}, 7, AT)), "q{}": vector(({"k": "v"}, 8, AT))},
         queries=False),  # the original asks before it finds that it cannot write the answer
    Case("odd_samples", {"rules": [custom_rule(n, SUM) for n in STRAY]}, SAMPLES, (READY, "pods/tiny"), series(*STRAY), STRAY_QUERIES),
    Case("odd_external", EXTERNAL, OUTSIDE, (READY_EXTERNAL, "labels"), E_SERIES, external_answers),
    Case("odd_resources", MAPPED, RESOURCES, (READY, "pods/t6"), MAPPED_SERIES, everything),
]
