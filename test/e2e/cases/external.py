"""External metrics: scope by namespace, result types, names."""

from harness.scripted_prometheus import raw, scalar, vector

from .model import E, EXT, JSON, NS, Case, Request, get

LEN = "sum(<<.Series>>{<<.LabelMatchers>>}) by (q)"


def rule(series: str, **more) -> dict:
    return {"seriesQuery": series, "metricsQuery": LEN, "resources": {"overrides": {"ns": NS}}, **more}


def result(kind: str, value: str):
    return raw(200, f'{{"status":"success","data":{{"resultType":"{kind}","result":{value}}}}}')


CONFIG = {"externalRules": [
    rule("plain"), rule("open", resources={"namespaced": False}), rule("closed", resources={"namespaced": True}),
    rule("templated", resources={"template": "kube_<<.Resource>>"}),
    rule("renamed", name={"as": "other_name"}), rule("upper:Case"), rule("empty_query", metricsQuery=""),
    *(rule(n) for n in ("a_matrix", "a_string", "a_scalar", "a_null", "nothing", "twice", "warned", "histogram", "old")),
]}
SERIES = {r["seriesQuery"]: [{"__name__": r["seriesQuery"]}] for r in CONFIG["externalRules"]}


def asked(series: str) -> str:
    return f'sum({series}{{ns="web"}}) by (q)'


ANSWERS = {
    asked("plain"): vector(({"q": "b", "zone": "2"}, 2), ({"q": "a", "A": "x"}, 1)),
    "sum(open{}) by (q)": vector(({}, 5)),
    asked("closed"): vector(({"q": "c"}, 6.25)),
    'sum(templated{kube_namespace="web"}) by (q)': vector(({"q": "<&>\u2028é"}, 1)),
    asked("renamed"): vector(({"__name__": "kept"}, 1)),
    asked("upper:Case"): vector(({"q": "u"}, 1)),
    asked("a_matrix"): result("matrix", '[{"metric":{},"values":[[1,"2"]]}]'),
    asked("a_string"): result("string", '[1,"text"]'),
    asked("a_scalar"): scalar(4.5, 1700000000.999),
    asked("a_null"): result("vector", "null"),
    asked("nothing"): vector(),
    asked("twice"): vector(({"q": "a"}, 1), ({"q": "a"}, 2)),
    asked("warned"): raw(200, '{"status":"success","warnings":["careful"],"infos":["x"],"data":'
                              '{"resultType":"vector","result":[{"metric":{"q":"w"},"value":[1700000000,"3"]}]}}'),
    asked("old"): vector(({"q": "a"}, 1, 1.5), ({"q": "b"}, 1, 1700000000.999)),
    'sum(plain{ns="*"}) by (q)': vector(({"q": "star"}, 1)),
    'sum(plain{ns="a b"}) by (q)': vector(({"q": "blank"}, 1)),
}
CASES = [Case("external_results", CONFIG, [
    *get(*(EXT + "/" + n for n in (
        "plain", "open", "closed", "templated", "renamed", "other_name", "upper:Case", "empty_query", "a_matrix",
        "a_string", "a_scalar", "a_null", "nothing", "twice", "warned", "old"))),
    *get(E + "/namespaces/*/plain", E + "/namespaces/a%20b/plain", E + "/namespaces/default/plain",
         EXT + "/plain?watch=false", EXT + "/plain?limit=1", EXT + "/plain?resourceVersion=0",
         EXT + "/plain?fieldSelector=metadata.name%3Dx"),
    *get(EXT + "/plain?watch=true", EXT + "/plain?watch=1", E + "/plain", E + "/namespaces/web",
         EXT + "/plain/more", compare="reason"),
    Request(EXT + "/a%2Fb", "reason", differs="encoded-slash-never-matches"),
    Request(E, JSON),
], ("external.metrics.k8s.io/v1beta1", "plain"), SERIES, ANSWERS)]
