"""Rules, series, samples and requests drawn by a seed: what nobody thought of when the other cases were written.

`config_of` and `series_of` make what both programs start with, `Answers` is the Prometheus of both, `requests_of` asks for what
discovery lists, with everything around it varied. The same seed gives the same draw.
"""

import hashlib
import json
import random
import re
from urllib.parse import quote, quote_plus

from harness.scripted_prometheus import failure, names_of, raw, scalar, vector

from .model import C1, C2, E, M, Request

AT = 1700000000

# ---- rules ----

LABELS = ["ns", "po", "svc", "host", "dep", "ing", "j", "namespace", "pod", "node", "job", "service", "deployment", "ingress", "cronjob",
          "kube_pod", "kube_namespace", "pod_name", "namespace_name", "k8s_apps_deployment", "k8s_batch_job", "k8s__pod", "apps_deployment",
          "persistentvolume", "statefulset", "Pod", "pods", "instance", "app", "le", "r_pod", "r_namespace", "g_apps_deployment", "x.pod",
          "pod_pods", "horizontalpodautoscaler", "endpoints", "event", "configmap", "node_name", "kube_node", "pod.", "deployment.apps"]
SERIES = ["http_requests_total", "HTTP_Errors_total", "queue_depth", "rec:sum:rate5m", "a", "A_b", "jobs_seconds_total", "mem_bytes", "x__y",
          "_lead", "trail_", "z9", "sum_bucket", "latency_count", "node_load1", "kube_pod_info", "dot.name", "sp ace", "µs_total", "per%cent"]
FILTERS = ["^http", "_total$", "(?i)http", ".*", "^$", "a", "[[:upper:]]", "\\d", "^[a-z_]+$", "bytes|depth", "(?i:ERR)", "\\b", "^.{1,3}$",
           "[^_]$", "\\Q__\\E", "(?s)^a.*", "\\pL", "(?m)^x", "z\\z", "\\Aq", "(rec|node).*", "\\W", "_+", "(?U)a+", "[\\w:]+"]
NAMES = [{}, {}, {}, {"matches": "_total$"}, {"matches": "^(.*)_total$"}, {"matches": "^(.*)_(.*)$", "as": "$2_$1"}, {"as": "fixed"},
         {"matches": "^(?P<stem>.*)_total$", "as": "${stem}_per_second"}, {"matches": "(.)", "as": "$1"}, {"matches": "(a)|(b)", "as": "x$2$1"},
         {"matches": "", "as": "pre_$0"}, {"matches": "^([a-z]+)", "as": "${1}.$$"}, {"matches": "^(.*)$", "as": "$1x"}, {"matches": ".*", "as": "${0}_z"},
         {"matches": "(?i)^(http)_(.*)", "as": "$1-${2}"}, {"matches": "o(.*)?e", "as": "n$1"}, {"matches": "^(?:.*)$"}, {"matches": "^(.*)$", "as": "$"},
         {"matches": "^(.*)$", "as": "${1"}, {"matches": "^(.*)$", "as": "${}a"}, {"matches": "^(.*)$", "as": "$-$1"}, {"matches": "_(.*)_", "as": ""},
         {"matches": "^(?P<a>.)(?P<b>.*)$", "as": "$b$a$c"}, {"matches": "^(?P<a>.)(?P<a2>.*)$", "as": "$a2${a}"}, {"as": "a/b"}, {"as": "$1"},
         {"matches": "x*", "as": "e${0}e"}, {"matches": "^(.*)$", "as": "${ 1 }"}, {"matches": "^(.*)$", "as": "$01"}, {"matches": "^(.*)$", "as": "$1é"}]
TEMPLATES = ["<<.Resource>>", "<<.Resource>>", "kube_<<.Resource>>", "<<.Resource>>_name", "k8s_<<.Group>>_<<.Resource>>", "<<.Group>>_<<.Resource>>",
             "x.<<.Resource>>", "<<.Resource>>s?", "<<if .Group>>g_<<.Group>>_<<end>><<.Resource>>", '<<printf "%s_name" .Resource>>',
             '<<.Resource | printf "kube_%s">>', "<<with .Resource>>r_<<.>><<end>>", "<<.>>", "<<.String>>", "<<.Resource>><</* c */>>",
             "<<.Resource>>_?n?a?m?e?", "(?:kube_)?<<.Resource>>", "<<$r := .Resource>><<$r>>", "<<- .Resource ->>", "<<.Resource>>|app", "<<.Resource>>[.]"]
OVERRIDES = [("ns", ["namespace", "namespaces", "Namespace"], [""]), ("po", ["pod", "pods", "Pod", "PODS"], ["", None]),
             ("svc", ["service", "services"], [""]), ("host", ["node", "nodes"], [None]), ("dep", ["deployment", "deployments", "Deployment"], ["apps", "app", ""]),
             ("ing", ["ingress", "ingresses"], ["networking.k8s.io", "networking", ""]), ("j", ["job", "jobs"], ["batch", "b", ""]),
             ("instance", ["statefulset"], ["apps"]), ("app", ["configmaps"], [""]), ("le", ["cronjob"], ["batch"]), ("job", ["replicaset"], ["apps"]),
             ("node", ["persistentvolumes"], [""])]
V = "<<.Series>>{<<.LabelMatchers>>}"
QUERIES = [f"sum({V}) by (<<.GroupBy>>)", f"sum({V}) by (<<.GroupBy>>)", f"sum by (<<.GroupBy>>) (rate({V}[5m]))", V, f"avg without (x) ({V})",
           f'max(<<.Series>>{{<<.LabelMatchers>>,le!="x"}}) by (<<.GroupBy>>)', f"topk(1, {V})", f"{V} / 2", f"sum({V}) by (<<.GroupBy>>, le)",
           f"histogram_quantile(0.9, sum(rate({V}[1m])) by (le, <<.GroupBy>>))", f"max_over_time({V}[1h:1m] offset 5m)",
           f"{V} and on (<<.GroupBy>>) {V}", f"sum({V}) by (<<index .GroupBySlice 0>>)", "vector(1)", "<<.LabelValuesByName>>", "<<.GroupBySlice>>",
           '<<printf "%v %+v %#v %q" .GroupBySlice .LabelValuesByName .Series .GroupBy>>', "<<range $k, $v := .LabelValuesByName>><<$k>>=<<$v>>;<<end>>",
           '<<if eq .Series "a">>a<<else>><<.Series>>{<<.LabelMatchers>>}<<end>>', "<<.LabelValuesByName.ns>>{<<.LabelMatchers>>}", "\n  " + V + "  \n",
           f"quantile(0.5, {V}) by (<<.GroupBy>>)", f"count_values(\"v\", {V})", f"-({V})", f"absent({V})", f"group({V}) by (<<.GroupBy>>)",
           "<<.Series | printf \"%.3s\">>{<<.LabelMatchers>>}", "<<len .Series>><<.Series>>{<<.LabelMatchers>>}", "<<.Nope>>", "<<slice .Series 0 9>>",
           f"({V} > 0) or {V}", "sum(<<.Series>>{a=\"b\",<<.LabelMatchers>>}) by (<<.GroupBy>>)", "<<.Series>>{<<.LabelMatchers>>,c=\"d\"}"]


class Draw(random.Random):
    """A seed and what is drawn from it."""

    def often(self, share: float) -> bool:
        return self.random() < share

    def some(self, choices, most: int) -> list:
        return self.sample(choices, self.randint(0, min(most, len(choices))))


def _resources(draw: Draw, external: bool) -> dict:
    made = {}
    if draw.often(0.55):
        made["template"] = draw.choice(TEMPLATES)
    if "template" not in made or draw.often(0.5):
        made["overrides"] = {}
        for label, resources, groups in (OVERRIDES[:2] if draw.often(0.8) else []) + draw.some(OVERRIDES[2:], 4):
            group = draw.choice(groups)
            made["overrides"][label] = {"resource": draw.choice(resources), **({} if group is None else {"group": group})}
    if draw.often(0.4 if external else 0.1):
        made["namespaced"] = draw.often(0.4)
    return made


def _rule(draw: Draw, query: str, external: bool) -> dict:
    rule = {"seriesQuery": query, "metricsQuery": draw.choice(QUERIES)}
    if draw.often(0.95):
        rule["resources"] = _resources(draw, external)
    if draw.often(0.6):
        rule["name"] = draw.choice(NAMES)
    if draw.often(0.35):
        rule["seriesFilters"] = [{draw.choice(("is", "isNot")): draw.choice(FILTERS)} for _ in range(draw.randint(0, 3))]
    return rule


def _resource_rule(draw: Draw, what: str) -> dict:
    rule = {"resources": {"overrides": {"ns": {"resource": "namespace"}, "po": {"resource": "pod"}, "host": {"resource": "node"}}},
            "containerQuery": f"sum(res_{what}{{<<.LabelMatchers>>}}) by (<<.GroupBy>>)", "nodeQuery": f"sum(res_{what}_node{{<<.LabelMatchers>>}}) by (<<.GroupBy>>)"}
    if draw.often(0.3):
        rule["resources"] = {"template": "<<.Resource>>"}
    if draw.often(0.85):
        rule["containerLabel"] = draw.choice(("ctr", "ctr", "container"))
    return rule


def config_of(seed: int) -> dict:
    draw = Draw(f"config {seed}")
    config = {"rules": [_rule(draw, f"s{draw.randint(0, 20)}", False) for _ in range(draw.randint(12, 30))],
              "externalRules": [_rule(draw, f"e{draw.randint(0, 12)}", True) for _ in range(draw.randint(6, 16))]}
    config["resourceRules"] = {"cpu": _resource_rule(draw, "cpu"), "memory": _resource_rule(draw, "memory")}
    if draw.often(0.7):
        config["resourceRules"]["window"] = draw.choice(("4m", "90s", "1h30m", "0", "1d", "500ms", "1w2d"))
    return config


def series_of(seed: int, config: dict) -> dict:
    """Label sets for each seriesQuery; those of external rules have names of their own, so that their queries are known."""
    draw, series = Draw(f"series {seed}"), {}
    for rule in config["rules"] + config["externalRules"]:
        query = rule["seriesQuery"]
        if query in series:
            continue
        names = draw.sample(SERIES, draw.randint(1, 5))
        if query.startswith("e"):
            names = [("ext_" if n[0] not in "_:" else "ext") + n for n in names]
        series[query] = [{"__name__": name, **{label: "v" for label in draw.some(LABELS, 9) + (["ns", "po"] if draw.often(0.6) else [])}}
                         for name in names for _ in range(draw.randint(1, 2))]
    return series


# ---- what Prometheus answers ----

VALUES = [0, 1, 2.5, 0.001, 0.0009, "1e-9", -1, -0.5, "-0", 1000, 1500, 1e6, "1e12", 123456.789, "9.2e15", 1024, 2**20, 3 * 2**30, 0.1, 1 / 3, 4.35, 1e-300,
          999.9999, 1e15 + 0.5, 67108864.25, "5e-324"]
ODD_VALUES = ["NaN", "+Inf", "-Inf", 1e300, "9.3e15"]
MATCHER = re.compile(r'([\w.]+)(=~|=)"((?:[^"\\]|\\.)*)"')
EXTRA = [{}, {}, {"x": "y"}, {"le": "0.5", "__name__": "kept"}, {"zone": "<&>"}, {"é": "ü"}]
BAD = [failure(400, "bad_data", "parse error"), failure(422, "execution", "x"), failure(503, "timeout", "slow"), raw(500, "oops", "text/plain"),
       raw(200, '{"status":"success","data":{"resultType":"matrix","result":[]}}'), scalar(3.25, AT),
       raw(200, '{"status":"success","data":{"resultType":"string","result":[1,"x"]}}'), raw(200, "<html>", "text/html"), vector()]


def _hash(*parts) -> int:
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:8], "big")


class Answers:
    """The answer to a query: for each object that its last matcher names, whatever else the query says. So a query for several
    objects has the samples of the queries for each."""

    def __init__(self, seed: int):
        self.seed = seed

    def __call__(self, query: str):
        stem = query.split("{")[0]
        if _hash(self.seed, "bad", stem) % 14 == 0:
            return BAD[_hash(self.seed, stem) % len(BAD)]
        found = MATCHER.findall(query)
        if "ext" in stem or not found:
            return vector(*self._outside(query))
        label, operator, value = found[-1]
        names = names_of(value) if operator == "=~" else [value]
        sample = self._container if "res_" in stem and "_node" not in stem else self._sample
        return vector(*(s for name in names for s in sample(stem, label, self._plain(name))))

    @staticmethod
    def _plain(name: str) -> str:
        try:
            return json.loads(f'"{name}"')
        except ValueError:
            return name

    def _value(self, *key):
        pool = ODD_VALUES if _hash(self.seed, "odd", *key) % 25 == 0 else VALUES
        return pool[_hash(self.seed, "value", *key) % len(pool)]

    def _sample(self, stem: str, label: str, name: str) -> list:
        kind = _hash(self.seed, "kind", stem, name) % 16
        if kind == 0:
            return []
        extra = EXTRA[_hash(stem, name) % len(EXTRA)]
        samples = [({**extra, label: name}, self._value(stem, name), AT)]
        if kind == 1:
            samples.append(({label: name, "again": "1"}, self._value(stem, name, 1), AT + 1))
        if kind == 2:
            samples[0] = ({label: name + "-other"}, 7, AT)
        return samples

    def _container(self, stem: str, label: str, name: str) -> list:
        key = "ctr" if _hash(self.seed, "ctr") % 2 else "container"
        wanted = _hash(self.seed, stem, name, "n") % 4
        return [({label: name, key: f"c{i}"}, self._value(stem, name, i), AT - i) for i in range(wanted)]

    def _outside(self, query: str) -> list:
        count = _hash(self.seed, query) % 4
        return [({**EXTRA[_hash(query, i) % len(EXTRA)], "q": f"q{i}"}, self._value(query, i), AT + i / 8) for i in range(count)]


# ---- requests ----

OBJECTS = ["a-1", "a-1", "a-2", "b-1", "d", "web", "none", "n1", "A-1", "a 1", "a\"1", "a\\1", "ü", "a'1", "a,b", "a|b", "%", "a:1", "*", "v.1", "v-2", "pending", "settings"]
NAMESPACES = ["web"] * 9 + ["varied"] * 9 + ["default", "nowhere", "kube-system", "WEB", "w b", "*", "we\"b", "ü", "a%b", ".", "web.", "namespaces", "metrics", "status"]
KEYS = ["app", "tier", "num", "k", "zone", "ns", "po", "a.b/c", "in", "notin", "le", "a_b", "A", "x-y"]
SELECTED = ["shop", "db", "5", "", "a", "b", "v", "1.5", "a_b", "A-z", "web", "none"]
BAD_SELECTORS = ["a b", "a,", ",a", "a=b c", "!a=b", "a in b", "a in (b", "a=b)", "=a", "a>b", "a=b/c", "a=*", "_=1", "/a=1", "a/=1", "a in (b c)", "a==,b", "!", "!!a",
                 "a=" + "v" * 64, "k" * 64, "UP.com/a", "a!b", "a<1.5", "(a)", "a;b", "a=b,,c", "a in ()b", "é=1", "a=é", "a\n=\tb", "a >= 1", "in", "notin in (a)"]


def _selector(draw: Draw) -> str:
    if draw.often(0.12):
        return draw.choice(BAD_SELECTORS)
    terms = []
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3, 0))):
        key, values = draw.choice(KEYS), draw.choices(SELECTED, k=draw.randint(1, 3))
        terms.append(draw.choice((f"{key}={values[0]}", f"{key}={values[0]}", f"{key}=={values[0]}", f"{key}!={values[0]}", key, "!" + key, f"{key} in ({','.join(values)})",
                                  f"{key} notin ({', '.join(values)})", f"{key}>5", f"{key} < 7", f" {key} = {values[0]} ", f"{key}=")))
    return ",".join(terms)


def _parameters(draw: Draw) -> str:
    choices = [
        lambda: "labelSelector=" + quote_plus(_selector(draw)), lambda: "labelSelector=" + quote_plus(_selector(draw)),
        lambda: "metricLabelSelector=" + quote_plus(_selector(draw)), lambda: "metricLabelSelector=" + quote_plus(_selector(draw)),
        lambda: draw.choice(("pretty", "pretty=true", "pretty=0", "pretty=x", "pretty=1&pretty=0", "PRETTY=1")),
        lambda: "limit=" + draw.choice(("1", "0", "-1", "x", "", "1e3", "9223372036854775808", "%201", "+1", "0x1", "01")),
        lambda: "timeout=" + draw.choice(("1s", "5", "0", "-1s", "1h", "abc", "1m1", "1.5s", "1d", "", "%2B2s", "5s5s", ".5s", "9999999h")),
        lambda: "watch=" + draw.choice(("1", "true", "0", "false", "", "x", "T", "True", "FALSE", "no")),
        lambda: "fieldSelector=" + quote_plus(draw.choice((
            "metadata.name=a-1", "metadata.name==a-1", "metadata.name!=a-1", "metadata.namespace=web", "metadata.name=b-1,metadata.namespace=web", "a=b", "metadata.name",
            "metadata.name=", "", ",", "metadata.name=a\\,1", "metadata.name=a\\x", "status.phase=Running", "metadata.name=a=b", "!=a", "metadata.name=*", "metadata.name=a-1,x=y"))),
        lambda: draw.choice(("resourceVersion=", "resourceVersion=0", "resourceVersion=abc", "continue=abc", "continue=", "resourceVersionMatch=Exact", "resourceVersionMatch=NotOlderThan",
                             "resourceVersionMatch=x", "resourceVersionMatch=NotOlderThan&resourceVersion=5", "resourceVersionMatch=Exact&resourceVersion=0&limit=2")),
        lambda: draw.choice(("sendInitialEvents=true", "sendInitialEvents=false", "allowWatchBookmarks=true", "allowWatchBookmarks=x", "timeoutSeconds=5", "timeoutSeconds=x", "timeoutSeconds=-1")),
        lambda: "export" + draw.choice(("", "=", "=1", "=true", "=0", "=FALSE", "=f", "=x", "=0&export=1", "=1&export=0")),
        lambda: draw.choice(("a=b", "=", "&", ";", "a;b=1", "%zz=1", "labelSelector=%zz", "x=%", "includeObject=None", "as=Table", "labelSelector", "dryRun=All", "?", "label+Selector=a", "labelSelector=a%3Db%00")),
    ]
    return "&".join(draw.choice(choices)() for _ in range(draw.choice((0, 0, 0, 1, 1, 1, 2, 3))))


def _accept(draw: Draw) -> str:
    types = ["application/json", "application/json", "*/*", "application/yaml", "application/vnd.kubernetes.protobuf", "application/*", "text/plain", "text/html", "*", "application/cbor",
             "json", "application", "APPLICATION/json", "application/json-patch+json", "application/xml"]
    tails = ["", "", "", ";q=0.5", ";q=0", "; q=0.9", ";q=x", ";q=1.5", ";charset=utf-8", ";as=Table;v=v1;g=meta.k8s.io", ";as=Table;v=v1beta1;g=meta.k8s.io", ";as=Table", ";pretty=1", ";pretty=0",
             ";stream=watch", ";v=v1", ";g=meta.k8s.io", ";as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io", ";sv=v1", ";sv=x", ";as=APIResourceList;v=v1", ";", ";;", ";=", ";q", " ;v=v1 ; as=Table;g=meta.k8s.io"]
    return draw.choice((",", ", ", " , ")).join(draw.choice(types) + draw.choice(tails) for _ in range(draw.choice((1, 1, 2, 3, 4))))


CONTENT_TYPES = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/json;charset=utf-8", "application/json, text/html", "text/html,application/yaml;q=0",
                 "text/html", "text/plain", "Application/JSON", "*/*", "application/*", "", ",", "application/json,", "json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
IMPERSONATIONS = [("Impersonate-User", ""), ("Impersonate-Uid", ""), ("Impersonate-Foo", "x"), ("Impersonate-Extra", "x"), ("Impersonate", "jane"), ("Impersonate-User", "jane"),
                  ("Impersonate-User", "system:serviceaccount:web:a"), ("Impersonate-Group", "system:masters"), ("Impersonate-Group", ""), ("Impersonate-Uid", "1"), ("Impersonate-Extra-a", "x")]


def _headers(draw: Draw) -> tuple:
    headers = []
    if draw.often(0.2):
        headers.append(("Accept", _accept(draw)))
    if draw.often(0.1):
        headers.append(("User-Agent", draw.choice(("curl/8", "Mozilla/5.0", "Mozilla/4", "Wget", "kubectl/v1.34", "Curl", ""))))
    if draw.often(0.05):
        headers.append(("If-None-Match", draw.choice(("*", '"x"', 'W/"x"', ""))))
    if draw.often(0.12):
        headers.append(("Content-Type", draw.choice(CONTENT_TYPES)))
    if draw.often(0.05):
        headers.append(("Audit-ID", draw.choice(("", "x", "a b", "0a1b-2c", "%41", "i" * 64, "i" * 65, "i" * 4096))))
    if draw.often(0.05):
        headers.append(draw.choice(IMPERSONATIONS))
    return tuple(headers)


def _segment(draw: Draw, text: str) -> str:
    """As a path may write it."""
    style = draw.random()
    if style < 0.8:
        return quote(text, safe="!$&'()*+,;=:@-._~")
    if style < 0.9:
        return quote(text, safe="")
    return "".join(f"%{b:02x}" if draw.often(0.3) else quote(bytes([b]), safe="+:") for b in text.encode())


def _resource(draw: Draw, name: str) -> str:
    plural, _, group = name.partition(".")
    if draw.often(0.7):
        return name
    return draw.choice((plural, plural.upper() + ("." + group if group else ""), plural.capitalize(), plural.rstrip("s"), plural.rstrip("s") + ("." + group if group else ""), name + ".", name + ".k8s.io",
                        plural + "." + group[:3], "po", "deploy", "deployments.apps", "pods.metrics.k8s.io", "pods.v1", "ingresses.extensions", "jobs.batch", "nodes", "namespaces", "metrics", "services",
                        "persistentvolumes", "configmaps", "nothing", "x.y.z", "." + plural, "pods.", "deployments.", "events", "endpoints", "status", "watch", "*"))


def _custom(draw: Draw, listed: list) -> str:
    resource, _, metric = draw.choice(listed or ["pods/none"]).partition("/")
    if draw.often(0.05):
        metric = draw.choice(("none", "*", metric.upper(), metric + "x", "status"))
    version = draw.choice((C1, C2))
    written = _segment(draw, _resource(draw, resource))
    name = draw.choice(("*", "*", "%2A")) if draw.often(0.4) else _segment(draw, draw.choice(OBJECTS))
    namespace, metric = _segment(draw, draw.choice(NAMESPACES)), _segment(draw, metric)
    if resource == "namespaces" and draw.often(0.8):
        return f"{version}/namespaces/{namespace}/metrics/{metric}"
    if resource in ("nodes", "persistentvolumes") and draw.often(0.8):
        return f"{version}/{written}/{name}/{metric}"
    if draw.often(0.05):
        return f"{version}/{written}/{name}/{metric}"
    return f"{version}/namespaces/{namespace}/{written}/{name}/{metric}"


def _external(draw: Draw, listed: list) -> str:
    metric = draw.choice(listed or ["none"]) if draw.often(0.93) else draw.choice(("none", "status", "*", "namespaces"))
    return f"{E}/namespaces/{_segment(draw, draw.choice(NAMESPACES))}/{_segment(draw, metric)}"


def _resource_metrics(draw: Draw) -> str:
    name, ns = _segment(draw, draw.choice(OBJECTS)), _segment(draw, draw.choice(NAMESPACES))
    return M + draw.choice(("/nodes", f"/nodes/{name}", "/nodes/n1", "/nodes/n2", "/pods", f"/namespaces/{ns}/pods", f"/namespaces/{ns}/pods/{name}", "/namespaces/web/pods", "/namespaces/web/pods/a-1",
                            "/namespaces/web/pods/b-1", f"/pods/{name}", f"/namespaces/{ns}/nodes", "/namespaces/web", "/namespaces", "/services"))


PAGES = [C1, C2, E, M, "/apis", "/apis/custom.metrics.k8s.io", "/apis/external.metrics.k8s.io", "/apis/metrics.k8s.io", "/version", "/healthz", "/livez", "/readyz", "/livez/ping", "/readyz/ping",
         "/healthz/ping", "/healthz/log", "/livez/nothing", "/readyz/shutdown", "/openapi/v2", "/openapi/v3", "/openapi/v3/apis/custom.metrics.k8s.io/v1beta1", "/openapi", "/openapi/v3/nothing", "/api", "/api/v1",
         "/apis/custom.metrics.k8s.io/v1", "/apis/external.metrics.k8s.io/v1beta2", "/apis/nope", "/apis/nope/v1", "/swagger.json", "/ui", "/favicon.ico", "/logs", "/apis/apps/v1/deployments", "/api/v1/pods",
         C2 + "/watch/pods/x", C2 + "/proxy/pods/x", C2 + "/watch/namespaces/web", C2 + "/namespaces/web/status", C2 + "/namespaces/web/status/a/b", C2 + "/namespaces/web/finalize/a/b", C2 + "/namespaces/web/status/a",
         E + "/watch/namespaces/web/x", M + "/watch/pods", M + "/namespaces/web/status",
         C2 + "/namespaces/*/status", C2 + "/namespaces/web/metrics", C2 + "/namespaces", C2 + "/namespaces/web", C2 + "/namespaces/web/pods", C2 + "/namespaces/web/pods/a-1", C2 + "/pods", E + "/namespaces", "/"]
PAGE_PARAMETERS = ["", "", "", "verbose", "verbose=0", "exclude=ping", "exclude=nothing", "verbose&exclude=ping&exclude=log", "timeout=1s", "timeout=x", "pretty=true", "hash=x", "watch=1"]


def _changed(draw: Draw, path: str) -> str:
    """The path with one thing about it that is not usual."""
    parts = path.split("/")
    at = draw.randrange(1, len(parts))
    kind = draw.randrange(9)
    if kind == 0:
        return path + "/" * draw.choice((1, 1, 2))
    if kind == 1:
        parts.insert(at, draw.choice(("", ".", "..", "x", "namespaces")))
    elif kind == 2:
        del parts[at]
    elif kind == 3:
        parts[at] = parts[at].upper()
    elif kind == 4:
        parts[at] = "".join(f"%{ord(c):02X}" if draw.often(0.5) and c not in "%/" and c.isascii() else c for c in parts[at])
    elif kind == 5:
        parts[at] += draw.choice(("%20", "%", "%2", "%zz", "%00", "%0A", "x", ".", "%3F", "%23", "+", "%2B", ";a=b"))
    elif kind == 6:
        parts.append(draw.choice(("x", "status", "*", "m")))
    elif kind == 7:
        parts[1:at + 1] = parts[at:0:-1]
    else:
        return "/" + path
    return "/".join(parts) or "/"


def requests_of(seed: int, count: int, custom: list, external: list) -> list:
    """`custom` and `external` are the names that discovery lists."""
    draw, requests = Draw(f"requests {seed}"), []
    for _ in range(count):
        what = draw.random()
        path = (_custom(draw, custom) if what < 0.55 else _external(draw, external) if what < 0.75 else _resource_metrics(draw) if what < 0.87 else draw.choice(PAGES))
        if draw.often(0.06):
            path = _changed(draw, path)
        parameters = draw.choice(PAGE_PARAMETERS) if what >= 0.87 else _parameters(draw)
        method = draw.choice(("POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")) if draw.often(0.05) else "GET"
        headers = _headers(draw)
        body = draw.choice((None, b"", b"{}")) if "Content-Type" in dict(headers) else None
        requests.append(Request(path + ("?" + parameters if parameters or draw.often(0.01) else ""), headers=headers, method=method, body=body,
                                rights=not draw.often(0.06)))
    return requests
