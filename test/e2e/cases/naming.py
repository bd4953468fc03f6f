"""From series to metric names and resources: matches and as, filters, templates and overrides, overlap."""

from harness.scripted_prometheus import vector

from harness.scripted_prometheus import vector

from .model import C2, JSON, NS, PO, WEB, Case, Request, custom_rule, get
from .selectors import echo

V = "<<.Series>>{<<.LabelMatchers>>}"


def on_pod(*names: str, **more) -> list:
    return [{"__name__": n, "ns": "web", "po": "a-1", **more} for n in names]


def series_of(config: dict, *names: str) -> dict:
    return {r["seriesQuery"]: on_pod(*names) for r in config["rules"]}


def pod(*metrics: str, **more) -> list:
    return get(*(f"{WEB}/pods/a-1/{m}" for m in metrics), **more)


NAMES = {"rules": [custom_rule(f'n{i}', V, name=name) for i, name in enumerate([
    {"matches": "_total$"}, {"matches": "^http_(.*)$"}, {"matches": "^(?P<what>[a-z]+)_bytes$", "as": "${what}_b"},
    {"matches": "(.*)_(sum)$", "as": "$2.$1"}, {"matches": "^x_(.*)$", "as": "$1_x"}, {"as": "fixed_name"},
    {"matches": "y", "as": "cost$$"}, {"matches": "^z(.*)", "as": ""}, {"matches": "(?i)^UP$", "as": "Up:Now"}])]}
NAME_SERIES = {"n0": on_pod("jobs_total"), "n1": on_pod("http_requests"), "n2": on_pod("disk_bytes", "disk_2_bytes"),
               "n3": on_pod("lat_sum"), "n4": on_pod("x_abc"), "n5": on_pod("anything"), "n6": on_pod("yes"),
               "n7": on_pod("zed", "z"), "n8": on_pod("up", "UP")}

FILTERS = {"rules": [custom_rule("f0", V, seriesFilters=[{"is": "^keep_"}, {"isNot": "_drop$"}, {"isNot": "secret"}]),
                     custom_rule("f1", V, seriesFilters=[{"is": "^only"}], name={"matches": "(.*)ly_(.*)", "as": "$1_$2"})]}
FILTER_SERIES = {"f0": on_pod("keep_a", "keep_drop", "keep_secret_b", "lose_a"), "f1": on_pod("only_x", "notonly_x", "only")}

OVERLAP = {"rules": [
    custom_rule("o0", "first(" + V + ")", name={"as": "same"}), custom_rule("o1", "second(" + V + ")", name={"as": "same"}),
    {"seriesQuery": "o2", "metricsQuery": V, "resources": {"template": "<<.Resource>>"}},
    {"seriesQuery": "o3", "metricsQuery": V, "resources": {"template": "k8s_<<.Group>>_<<.Resource>>", "overrides": {"ns": NS}}},
    {"seriesQuery": "o4", "metricsQuery": V, "resources": {"template": "kube_<<.Resource>>_name", "overrides": {"p": PO}}},
    {"seriesQuery": "o5", "metricsQuery": V}, {"seriesQuery": "o6", "metricsQuery": V, "resources": {"overrides": {
        "ns": NS, "dep": {"group": "apps", "resource": "deployments"}, "pvc": {"resource": "persistentvolumeclaim"},
        "pv": {"resource": "persistentvolume"}, "ing": {"group": "networking.k8s.io", "resource": "Ingress"}}}}]}
OVERLAP_SERIES = {
    "o0": on_pod("s_first"), "o1": on_pod("s_second"),
    "o2": [{"__name__": "labels", "namespace": "web", "pod": "a-1", "pods": "x", "Pod": "y", "job": "j", "service": "s",
            "node": "n1", "instance": "i", "container": "c", "po": "z", "deployment": "d", "ingress": "in", "event": "ev",
            "cronjob": "cj", "horizontalpodautoscaler": "h", "persistentvolumeclaim": "v", "endpoints": "e", "endpoint": "ep"}],
    "o3": [{"__name__": "grouped", "ns": "web", "k8s_apps_deployment": "d", "k8s__pod": "p", "k8s_networking_ingress": "i",
            "k8s_storage_k8s_io_storageclass": "sc", "k8s_batch_job": "b"}],
    "o4": [{"__name__": "affixed", "kube_namespace_name": "web", "kube_pod_name": "a", "p": "a", "kube_node_name": "n1"}],
    "o5": on_pod("unmapped"), "o6": [{"__name__": "many", "ns": "web", "dep": "d", "pvc": "c", "pv": "v", "ing": "i"}]}
LISTING = get(C2, compare=JSON)
READY = "custom.metrics.k8s.io/v1beta2"


def echo_all(_query: str):
    """Answers every query with one sample that has every label in use."""
    labels = dict.fromkeys(("po", "pod", "p", "k8s__pod", "kube_pod_name"), "a-1")
    labels.update(dict.fromkeys(("k8s_apps_deployment", "dep", "deployment"), "d"))
    return vector(({**labels, "ns": "web", "namespace": "web", "node": "n1", "kube_node_name": "n1", "pv": "v", "pvc": "c",
                    "ing": "i", "job": "j", "k8s_networking_k8s_io_ingress": "i"}, 7))


CASES = [
    Case("names", NAMES, LISTING + pod("_total", "requests", "disk_b", "sum.lat", "lat", "fixed_name", "cost$", "cost%24",
                                       "zed", "ed", "Up:Now", "up", "x_abc", "jobs_total", "http_requests"),
         (READY, "pods/requests"), NAME_SERIES, echo),
    Case("filters", FILTERS, LISTING + pod("keep_a", "keep_drop", "keep_secret_b", "lose_a", "on_x", "only_x", "noton_x"),
         (READY, "pods/keep_a"), FILTER_SERIES, echo),
    Case("overlap_and_resources", OVERLAP, LISTING + pod("same", "s_first", "labels", "grouped", "affixed", "unmapped") + get(
        WEB + "/po/a-1/labels", WEB + "/pod/a-1/labels", WEB + "/Pods/a-1/labels", WEB + "/POD/a-1/labels",
        WEB + "/deployments.apps/d/grouped", WEB + "/deployment.apps/d/grouped", WEB + "/deployments/d/grouped",
        WEB + "/deployments.app/d/grouped", WEB + "/deployments.extensions/d/grouped", WEB + "/ingresses.networking/i/grouped",
        WEB + "/ingresses.networking.k8s.io/i/many", WEB + "/persistentvolumeclaims/c/many", C2 + "/persistentvolumes/v/many",
        WEB + "/persistentvolumes/v/many", C2 + "/nodes/n1/labels", C2 + "/node/n1/labels", WEB + "/nodes/n1/labels",
        C2 + "/nodes/n1/affixed", WEB + "/jobs.batch/j/labels", WEB + "/jobs/j/labels", WEB + "/deployments.apps/*/many",
        WEB + "/deployments.apps/*/labels", WEB + "/widgets.example.com/x/labels", WEB + "/nothing/x/labels",
        WEB + "/nothing/*/labels", C2 + "/pods/a-1/labels", C2 + "/pods/*/labels", C2 + "/namespaces/web/labels",
        WEB + "/nodes/*/labels") + [Request(WEB + "/configmaps/*/labels", differs="unknown-metrics-list-nothing")],
        (READY, "pods/same"), OVERLAP_SERIES, echo_all),
]
