"""metrics.k8s.io: pods and nodes from four queries."""

from harness.scripted_prometheus import failure, vector

from .model import HOST, M, NS, PO, Case, Request, get

SIDE = {"resources": {"overrides": {"ns": NS, "po": PO, "host": HOST}}, "containerLabel": "ctr"}
CPU, MEMORY = "sum by (<<.GroupBy>>) (rate({}{{<<.LabelMatchers>>}}[4m]))", "sum by (<<.GroupBy>>) ({}{{<<.LabelMatchers>>}})"
CONFIG = {"resourceRules": {
    "cpu": {**SIDE, "containerQuery": CPU.format("cc"), "nodeQuery": CPU.format("nc")},
    "memory": {**SIDE, "containerQuery": MEMORY.format("cm"), "nodeQuery": MEMORY.format("nm")}, "window": "4m"}}
AT = 1700000000


def pod(cpu, memory, pods, by="po,ctr", ns="web"):
    matcher = f'ns="{ns}",po{"=~" if "|" in pods else "="}"{pods}"'
    return {f"sum by ({by}) (rate(cc{{{matcher}}}[4m]))": cpu, f"sum by ({by}) (cm{{{matcher}}})": memory}


def node(cpu, memory, nodes):
    matcher = f'host{"=~" if "|" in nodes else "="}"{nodes}"'
    return {f"sum by (host) (rate(nc{{{matcher}}}[4m]))": cpu, f"sum by (host) (nm{{{matcher}}})": memory}


def ctr(po, name, value, at=AT):
    return ({"po": po, "ctr": name}, value, at)


ANSWERS = {
    **pod(vector(ctr("a-1", "main", 0.1239)), vector(ctr("a-1", "main", 67108864, AT - 3)), "a-1"),
    **pod(vector(ctr("a-2", "main", 1.5), ctr("a-2", "side", 0.25)), vector(ctr("a-2", "main", 1000.5), ctr("a-2", "log", 1e6)),
          "a-2"),
    **pod(vector(ctr("b-1", "main", "NaN"), ({"po": "b-1"}, 1, AT)), vector(ctr("b-1", "main", -5), ctr("b-1", "main", 1024)), "b-1"),
    **pod(vector(ctr("a-1", "main", 0.1239), ctr("a-2", "main", 2)), vector(ctr("a-1", "main", 134217728), ctr("b-1", "main", 1)),
          "a-1|a-2|b-1"),
    **pod(vector(ctr("a-1", "main", 1e-3), ctr("a-2", "main", 2)), vector(ctr("a-1", "main", 1e12), ctr("a-2", "main", 1023)), "a-1|a-2"),
    **node(vector(({"host": "n1"}, -1, AT)), vector(({"host": "n1"}, 4294967297, AT)), "n1"),
    **node(vector(({"host": "n1"}, 4, AT)), vector(({"host": "n1"}, 4, AT)), "n2"),
    **node(vector(({"host": "n1"}, 1.5, AT), ({"host": "n2"}, 0.5, AT + 9)),
           vector(({"host": "n1"}, 2**31, AT - 1), ({"host": "n1"}, 7, AT)), "n1|n2"),
}
# Every pod fails alike when one of its two queries does.
BROKEN = {query: failure(500, "internal", "no") for query in ANSWERS if "cm{" in query or "nm{" in query}
PATHS = get(*(M + tail for tail in (
    "/namespaces/web/pods/a-1", "/namespaces/web/pods/a-2", "/namespaces/web/pods/b-1", "/namespaces/web/pods",
    "/namespaces/web/pods?labelSelector=app%3Dshop", "/namespaces/web/pods?labelSelector=app%3Dnone",
    "/namespaces/web/pods?fieldSelector=metadata.name%3Da-1", "/pods?fieldSelector=metadata.namespace%3Dweb",
    "/pods?fieldSelector=metadata.name%3Da-1", "/pods?fieldSelector=metadata.name%21%3Db-1%2Cmetadata.namespace%3Dweb",
    "/nodes?fieldSelector=metadata.name%3Dn1", "/nodes?fieldSelector=metadata.name%3Dnone",
    "/pods?labelSelector=app%3Dshop", "/nodes/n1", "/nodes/n2", "/nodes", "/nodes?labelSelector=none%3Dx",
    "/namespaces/web/pods?pretty=true", "/namespaces/web/pods/a-1?pretty=1")), compare="containers")
# A parameter of old that a single object refuses, whether it is there or not, and that lists do not know.
EXPORTED = [
    *get(*(M + path + "?" + p for path in ("/nodes/n1", "/nodes/absent", "/namespaces/web/pods/a-1", "/namespaces/web/pods/absent")
           for p in ("export", "export=", "export=1", "export=TRUE", "export=x", "export=1&export=0", "export=f", "labelSelector=a+b&export=true"))),
    *get(*(M + path + "?" + p for path in ("/nodes/n1", "/namespaces/web/pods/a-1", "/nodes", "/namespaces/web/pods")
           for p in ("export=0", "export=FALSE", "export=false&export=1", "Export=1")), compare="containers"),
    *get(M + "/nodes?export=1", M + "/namespaces/web/pods?export", compare="containers"),
    *get(M + "/nodes/absent?export=0", M + "/services/x?export=1"),
    *(Request(M + "/nodes/n1?export=1", headers=(("Accept", a),)) for a in ("text/html", "application/json;as=Other", "application/yaml")),
    Request(M + "/nodes/n1?export=1", method="POST"),
]
GONE = get(M + "/namespaces/web/pods/absent", M + "/namespaces/nowhere/pods", M + "/nodes/absent")
CASES = [
    Case("resource_metrics", CONFIG, [
        *PATHS, *EXPORTED, *GONE, Request(M), *get(M + "/pods?watch=true", M + "/namespaces/web/nodes", M + "/pods/x", compare="reason"),
        *get(M + "/namespaces/web/pods", M + "/nodes", M + "/nodes/n1", compare="containers",
             headers=(("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"),)),
        *get(M + "/nodes?labelSelector=none%3Dx", M + "/namespaces/web/pods?labelSelector=none%3Dx", M + "/nodes/n1",
             headers=(("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"),)),
        *(Request(M + path + include, "containers", (("Accept", f"application/json;as=Table;v={version};g=meta.k8s.io"),))
          for path in ("/nodes", "/nodes/n1", "/nodes/none", "/namespaces/web/pods") for version in ("v1", "v1beta1")
          for include in ("?includeObject=Object", "?includeObject=None", "?includeObject=Metadata", "?includeObject=All")),
        *get(M + "/nodes", M + "/nodes/n1", headers=(("Accept", "application/yaml;as=Table;v=v1;g=meta.k8s.io"),)),
        *get(M + "/nodes", M + "/nodes/n1", M + "/namespaces/web/pods/a-1", compare="protobuf",
             headers=(("Accept", "application/vnd.kubernetes.protobuf"),)),
    ], (), {}, ANSWERS),
    Case("resource_metrics_prometheus_failing", CONFIG, get(
        M + "/namespaces/web/pods/a-1", M + "/namespaces/web/pods", M + "/nodes/n1", M + "/nodes", compare="containers"),
        (), {}, {**ANSWERS, **BROKEN}),
    Case("resource_metrics_without_container_label", {"resourceRules": {
        "cpu": {**{k: v for k, v in SIDE.items() if k != "containerLabel"}, "containerQuery": CPU.format("cc"),
                "nodeQuery": CPU.format("nc")},
        "memory": {**{k: v for k, v in SIDE.items() if k != "containerLabel"}, "containerQuery": MEMORY.format("cm"),
                   "nodeQuery": MEMORY.format("nm")}}},
        get(M + "/namespaces/web/pods/a-1", M + "/nodes/n1", compare="containers"), (), {}, {
            **ANSWERS, **pod(vector(({"po": "a-1"}, 1, AT)), vector(({"po": "a-1"}, 2048, AT)), "a-1", by="po,")}),
]
