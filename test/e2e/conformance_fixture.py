"""The world of the conformance checklist: pods web-1 and web-2, metric m on them, external metric q, and so on."""

from harness import adapter, kube
from harness.scripted_prometheus import ScriptedPrometheus
from harness.series_store import SeriesStore

C1 = "/apis/custom.metrics.k8s.io/v1beta1"
C2 = "/apis/custom.metrics.k8s.io/v1beta2"
E = "/apis/external.metrics.k8s.io/v1beta1"
M = "/apis/metrics.k8s.io/v1beta1"
N = "/namespaces/default"

PLAIN = "<<.Series>>{<<.LabelMatchers>>}"
OWN = {"overrides": {"ns": {"resource": "namespace"}, "po": {"resource": "pod"}, "node": {"resource": "node"},
                     "dep": {"group": "apps", "resource": "deployment"}}}
VALUES = {"v0": 1.5, "v1": 2000, "v2": 0.0001, "v3": -3, "v4": 1e20}


def _series() -> list:
    pod = {"ns": "default"}
    rows = [({"__name__": "m", **pod, "po": p, "verb": "GET"}, v) for p, v in (("web-1", 1.5), ("web-2", 7))]
    rows += [({"__name__": name, **pod, "po": "web-1"}, 1) for name in ("sp", "pl")]
    rows += [({"__name__": "d", **pod, "dep": "web"}, 3), ({"__name__": "load", "node": "n1"}, 0.5), ({"__name__": "nsm", **pod}, 9)]
    rows += [({"__name__": "q", "queue": q}, v) for q, v in (("a", 1), ("b", 2))]
    rows += [({"__name__": name}, 4) for name in ("esp", "epl")]
    rows += [({"__name__": "big", "i": f"{i:05}", "padding": "x" * 60}, i) for i in range(2000)]
    rows += [({"__name__": name, **pod, "po": p, "ctr": "main"}, v) for p in ("web-1", "web-2")
             for name, v in (("cc", 0.25), ("cm", 2**26))]
    rows += [({"__name__": "nc", "node": "n1"}, 1.5), ({"__name__": "nm", "node": "n1"}, 2**31)]
    return rows + [({"__name__": n}, v) for n, v in VALUES.items()]


def _rule(series: str, **more) -> dict:
    return {"seriesQuery": series, "metricsQuery": PLAIN, "resources": OWN, **more}


def _external(series: str, **more) -> dict:
    return {**_rule(series, **more), "resources": {"namespaced": False}}


CONFIG = {
    "rules": [*(_rule(n) for n in ("m", "d", "load", "nsm")), _rule("sp", name={"as": "sp ace"}), _rule("pl", name={"as": "a+b"})],
    "externalRules": [*(_external(n) for n in ("q", "big", *VALUES)), _external("esp", name={"as": "sp ace"}),
                      _external("epl", name={"as": "a+b"})],
    "resourceRules": {
        "cpu": {"resources": OWN, "containerLabel": "ctr", "containerQuery": PLAIN.replace("<<.Series>>", "cc"),
                "nodeQuery": PLAIN.replace("<<.Series>>", "nc")},
        "memory": {"resources": OWN, "containerLabel": "ctr", "containerQuery": PLAIN.replace("<<.Series>>", "cm"),
                   "nodeQuery": PLAIN.replace("<<.Series>>", "nm")}, "window": "90s"},
}


def objects(admin):
    for name in ("web-1", "web-2"):
        kube.pod(admin, "default", name, {"app": "web"})
    kube.node(admin, "n1")


def prometheus() -> ScriptedPrometheus:
    store = SeriesStore(_series())
    return ScriptedPrometheus(store.discovery(), store)


def start(cluster, fake, args=(), **more) -> adapter.Adapter:
    """The adapter on this fixture, with its first listing done."""
    one = adapter.Adapter(adapter.subject(), cluster, fake.url, CONFIG, args, **more).start()
    one.wait_listed("custom.metrics.k8s.io/v1beta2", "pods/m")
    one.wait_listed("external.metrics.k8s.io/v1beta1", "q")
    return one
