"""What a caller may send: methods, parameters, encodings, odd paths."""

from harness.scripted_prometheus import vector

from .model import BYTES, C1, C2, E, EXT, JSON, STATUS, WEB, Case, Request, custom_rule, get

V = "<<.Series>>{<<.LabelMatchers>>}"
CONFIG = {"rules": [custom_rule("m", V), custom_rule("sp", V, name={"as": "sp ace"}), custom_rule("pl", V, name={"as": "a+b"})],
          "externalRules": [{"seriesQuery": "q", "metricsQuery": V, "resources": {"namespaced": False}}]}
SERIES = {n: [{"__name__": n, "ns": "web", "po": "a-1"}] for n in ("m", "sp", "pl", "q")}
ANSWERS = {**{f'{n}{{ns="web",po="a-1"}}': vector(({"po": "a-1"}, 5)) for n in ("m", "sp", "pl")},
           'm{ns="web",po=~"a-1|a-2|b-1"}': vector(({"po": "b-1"}, 3), ({"po": "a-1"}, 5)),
           'm{ns="web",po="b-1"}': vector(({"po": "b-1"}, 3)),
           'm{ns="web"}': vector(({"ns": "web"}, 2)),
           "q{}": vector(({"k": "v"}, 8, 1700000000), ({"k": "w"}, 9, 1700000000))}
POD = WEB + "/pods/a-1/m"
PROTOBUF = (("Accept", "application/vnd.kubernetes.protobuf"),)


def accept(value: str, path: str = EXT + "/q", compare: str = BYTES) -> Request:
    return Request(path, compare, (("Accept", value),))


REQUESTS = [
    *get(*(POD + tail for tail in (
        "", "/", "?pretty=true", "?pretty=1", "?pretty=false", "?fieldSelector=metadata.name%3Da-1", "?limit=3", "?watch=true",
        "?watch=false", "?resourceVersion=5", "?unknown=1", "?timeout=5s", "?timeout=10h", "?timeout=0s", "?continue=abc"))),
    *get(*(POD + tail for tail in (
        "?fieldSelector=metadata.name%3Dother", "?fieldSelector=spec.x%3Dy", "?fieldSelector=foo", "?limit=abc", "?timeout=abc",
        "/extra", "?timeoutSeconds=x")), compare="reason"),
    *get(*(EXT + "/q" + tail for tail in ("", "/", "?pretty=true", "?limit=1", "?timeout=10h", "?timeout=1s"))),
    *get(*(EXT + "/q" + tail for tail in ("?limit=abc", "?timeout=abc", "?timeoutSeconds=x")), compare="reason"),
    *get(WEB + "/pods/*/m", WEB + "/pods/*/m?watch=true", WEB + "/pod/a-1/m", WEB + "/pods/a-1/sp%20ace", WEB + "/pods/a-1/a+b",
         WEB + "/pods/a-1/a%2Bb", WEB + "/metrics/m", WEB + "/pods/b-1/m", WEB + "/pods/*/nometric", C2 + "/namespaces/nowhere/pods/*/m",
         C2 + "/namespaces/nowhere/pods/x/m", C2 + "/namespaces/nowhere/metrics/m", WEB + "/namespaces/web/m"),
    *get(WEB + "/pods/a-1", WEB + "/pods", WEB, C2 + "/namespaces", C2 + "/pods", C2 + "/pods/a-1", WEB + "/pods/a-1/m/x/y",
         "/apis/custom.metrics.k8s.io/v1beta3", C2 + "/watch/namespaces/web/pods/a-1/m", compare="reason"),
    *get(C2 + "/watch", E + "/proxy/?a=1&b=%3C", "/apis/any/v1/watch", "/api/v1/proxy"), Request(E + "/watch?timeout=x", method="POST"),
    *(Request(path, headers=(("Audit-ID", i),)) for path in (POD, EXT + "/none", "/healthz") for i in ("abc", "a b", "", "x" * 65, "y" * 4096)),
    Request(POD, headers=(("Audit-ID", "z" * 5000),), differs="long-audit-ids-are-cut"),
    *(Request(POD, headers=(h,)) for h in (("Impersonate-User", ""), ("Impersonate-Uid", ""), ("Impersonate-Foo", "x"), ("Impersonate-Extra", "x"),
                                           ("Impersonate-Groups", "system:masters"), ("Impersonate", "jane"))),
    *(Request(path, headers=(h,), differs="impersonation-is-refused") for path in (POD, "/version", "/healthz") for h in (
        ("Impersonate-User", "jane"), ("Impersonate-Group", "system:masters"), ("Impersonate-Group", ""), ("Impersonate-Uid", "1"),
        ("Impersonate-Extra-scopes", "view"))),
    *get("/" + E + "/watch", "///apis/any/v1/proxy//", "//api/v1/watch?a=1"),
    *get(*("/" + path for path in ("/version", "/metrics", "/healthz", C2, EXT + "/q?watch=1&timeout=x", POD, "/", "//")), compare=STATUS),
    *get("/" + EXT + "/q?timeout=x", compare="reason"),
    *get(POD, EXT + "/q", WEB + "/pods/%2A/m", WEB + "/pods/a%25b/m", "/" + POD, "/" + EXT + "/q?watch=1&timeout=x", "/" + C2, "/metrics", "/nothing%3Cx%3E", "/apis/nope/v1/x", POD + "?limit=x",
         rights=False),
    *get(WEB + "/pods/a-1/a%25b", C2 + "/namespaces/a%25d/pods/a-1/m", "/a%25b", "/100%25", differs="percent-signs-of-a-refusal-are-kept", rights=False),
    *get(C2 + "/namespaces/web", "/version", "/healthz", compare=STATUS, rights=False),
    *get(WEB + "//pods/a-1/m", compare=STATUS), Request(WEB + "/pods//m", STATUS, differs="empty-segment-never-matches"),
    *(Request(path, "reason", method=method) for path in (POD, EXT + "/q") for method in ("POST", "PUT", "PATCH", "DELETE")),
    *(Request(path, STATUS, method=method) for path in (POD, EXT + "/q") for method in ("HEAD", "OPTIONS")),
    accept("application/json"), accept("*/*"), accept("application/yaml"), accept("application/yaml", POD, STATUS),
    accept("application/vnd.kubernetes.protobuf, */*"), accept("application/vnd.kubernetes.protobuf"),
    accept("application/json;charset=utf-8"), accept("application/json;pretty=1"), accept("", POD), accept("application/json, */*", POD),
    accept("application/json;q=0.1,application/yaml;q=0.9"), accept("application/vnd.kubernetes.protobuf", POD, STATUS),
    accept("text/plain", compare=STATUS), accept("application/cbor", compare=STATUS),
    accept("application/json;as=Table;v=v1;g=meta.k8s.io", compare=STATUS),
    accept("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"),
    accept("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", POD),
    Request(POD, headers=(("User-Agent", "curl/8.0"),)), Request(POD, headers=(("User-Agent", "Mozilla/5.0 x"),)),
    Request(POD + "?pretty=false", headers=(("User-Agent", "curl/8.0"),)),
    Request(C1 + "/namespaces/web/pods/a-1/m", headers=(("User-Agent", "Wget/1"),)),
    Request(E, JSON, headers=(("User-Agent", "curl/8.0"),)),
    Request(POD, headers=(("Accept-Encoding", "gzip"),)),
]
CASES = [Case("requests", CONFIG, REQUESTS, ("custom.metrics.k8s.io/v1beta2", "pods/m"), SERIES, ANSWERS)]
