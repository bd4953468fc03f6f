"""Every worked example of prometheus-adapter 0.12.0's behaviour: rules A to J, requests 1 to 30."""

import re

from harness.scripted_prometheus import scalar, vector

from .model import C1, C2, E, EXT, JSON, WEB, Case, Request, get

CONFIG = r"""
rules:
- {seriesQuery: '{__name__=~"shop_.*_total",ns!=""}', name: {matches: '^shop_(.*)_total$', as: '${1}_rate'},
   resources: {overrides: {ns: {resource: namespace}, po: {resource: pods}, svc: {resource: service}}},
   metricsQuery: 'sum by (<<.GroupBy>>) (rate(<<.Series>>{<<.LabelMatchers>>}[90s]))'}
- {seriesQuery: '{__name__=~"g_.*"}', seriesFilters: [{isNot: '_created$'}], resources: {template: '<<.Resource>>'},
   metricsQuery: 'avg(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)'}
- {seriesQuery: rack_temp, resources: {overrides: {host: {resource: node}}}, metricsQuery: 'max by (<<.GroupBy>>) (<<.Series>>{<<.LabelMatchers>>})'}
- {seriesQuery: wl_busy, resources: {template: 'k8s_<<.Group>>_<<.Resource>>', overrides: {ns: {resource: namespace}}}, metricsQuery: '<<.Series>>{<<.LabelMatchers>>}'}
- {seriesQuery: ratio_ok, name: {as: success}, resources: {overrides: {ns: {resource: namespace}, dep: {group: apps, resource: deployment}}},
   metricsQuery: 'sum(ratio_ok{ns="<<.LabelValuesByName.ns>>",dep=~"<<index .LabelValuesByName "dep">>"}) by (<<index .GroupBySlice 0>>)'}
- {seriesQuery: field_yield, resources: {overrides: {ns: {resource: namespace}, farm: {group: cheese.example, resource: farm}}}, metricsQuery: '<<.Series>>{<<.LabelMatchers>>}'}
externalRules:
- {seriesQuery: q_len, resources: {overrides: {ns: {resource: namespace}}}, metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>}) by (q)'}
- {seriesQuery: topic_lag, name: {matches: '^topic_(.*)$', as: 'kafka_$1'}, resources: {namespaced: false}, metricsQuery: 'max(<<.Series>>{<<.LabelMatchers>>})'}
- {seriesQuery: orphan, metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>})'}
- {seriesQuery: one_num, resources: {namespaced: false}, metricsQuery: 'scalar(sum(<<.Series>>))'}
"""


def named(name: str, **labels) -> dict:
    return {"__name__": name, **labels}


SERIES = {
    '{__name__=~"shop_.*_total",ns!=""}': [named("shop_orders_total", ns="web", po="a-1", svc="shop"),
                                           named("shop_carts_total", ns="web", po="a-2")],
    '{__name__=~"g_.*"}': [named("g_sessions", namespace="web", pod="a-1", node="n1", job="j"),
                           named("g_sessions_created", namespace="web", pod="a-1")],
    "rack_temp": [named("rack_temp", host="n1")],
    "wl_busy": [named("wl_busy", ns="web", k8s_apps_deployment="d", k8s_networking_ingress="front")],
    "ratio_ok": [named("ratio_ok", ns="web", dep="api")],
    "field_yield": [named("field_yield", ns="web", farm="hill")],
    "q_len": [named("q_len")], "topic_lag": [named("topic_lag")], "orphan": [named("orphan")],
    "one_num": [named("one_num")],
}


def rate(by: str, matchers: str) -> str:
    return f"sum by ({by}) (rate(shop_orders_total{{{matchers}}}[90s]))"


ONE = vector(({"po": "a-1"}, 2.71828))
ANSWERS = {
    rate("po", 'ns="web",po="a-1"'): ONE,
    rate("po", 'ns="web",po=~"a-1|a-2"'): vector(({"po": "a-1"}, 2.71828), ({"po": "a-2"}, "NaN")),
    rate("svc", 'ns="web",svc="shop"'): vector(({"svc": "shop"}, 12), ({"svc": "shop"}, 8)),
    rate("ns", 'ns="web"'): vector(({"ns": "web"}, 1500)),
    re.compile(r'sum by \(ns\) \(rate\(shop_orders_total\{ns=~".*\|web"\}\[90s\]\)\)'):
        vector(({"ns": "web"}, 1500), ({"ns": "default"}, 3)),
    rate("po", 'tier="x",zone=~"a|b",ns="web",po="a-1"'): ONE,
    rate("po", 'tier!="x",ns="web",po="a-1"'): ONE,
    rate("po", 'tier="",zone!="",ns="web",po="a-1"'): ONE,
    'avg(g_sessions{namespace="web",pod="a-1"}) by (pod)': vector(({"pod": "a-1"}, 40.9999)),
    'avg(g_sessions{node="n1"}) by (node)': vector(({"node": "n1"}, 7)),
    'max by (host) (rack_temp{host=~"n1|n2"})': vector(({"host": "n1"}, 36.6), ({"host": "n2"}, "+Inf")),
    'max by (host) (rack_temp{host="n9"})': vector(({"host": "n1"}, 36.6)),
    'wl_busy{ns="web",k8s_apps_deployment="api"}': vector(({"ns": "web", "k8s_apps_deployment": "api"}, 0.4)),
    'sum(ratio_ok{ns="web",dep=~"api"}) by (dep)': vector(({"dep": "api"}, 0.995)),
    'field_yield{ns="web",farm="hill"}': vector(({"farm": "hill"}, 55)),
    'field_yield{farm="hill"}': vector(({"farm": "hill"}, 55)),
    'sum(q_len{ns="web"}) by (q)': vector(({"q": "mail"}, 120.0004, 1700000000.5), ({"q": "sms"}, "NaN", 1700000000.5)),
    'sum(q_len{q!~"fax|sms",ns="web"}) by (q)': vector(({"q": "mail"}, 1, 1700000000.25), ({"q": "sms"}, 2, 1700000001)),
    'max(topic_lag{ns="other"})': vector(({}, 9000)),
    "max(topic_lag{})": vector(({}, 9000)),
    "scalar(sum(one_num))": scalar(3),
}

A = WEB + "/pods/a-1/orders_rate?metricLabelSelector="
REQUESTS = [
    *get(WEB + "/pods/a-1/orders_rate", WEB + "/pods/*/orders_rate?labelSelector=app%3Dshop",
         WEB + "/pods/%2A/orders_rate?labelSelector=app%3Dshop", WEB + "/pods/*/orders_rate?labelSelector=app%3Dnone",
         WEB + "/services/shop/orders_rate", WEB + "/metrics/orders_rate", C2 + "/namespaces/*/metrics/orders_rate",
         WEB + "/services/shop/carts_rate",
         A + "zone+in+%28b%2Ca%29%2Ctier%3Dx", A + "tier%21%3Dx", A + "%21tier%2Czone", A + "n%3E3",
         WEB + "/pods/a-1/g_sessions", WEB + "/pods/a-1/g_sessions_created", C2 + "/nodes/n1/g_sessions",
         WEB + "/jobs.batch/j/g_sessions"),
    Request(C2 + "/nodes/*/rack_temp", differs="infinite-values-are-left-out"),
    *get(C2 + "/nodes/n9/rack_temp", WEB + "/deployments.apps/api/wl_busy",
         WEB + "/ingresses.networking.k8s.io/front/wl_busy", WEB + "/deployments.apps/api/success"),
    Request(C2 + "/farms.cheese.example/hill/field_yield", differs="cluster-scoped-custom-resources"),
    *get(WEB + "/farms.cheese.example/hill/field_yield"),
    Request(WEB + "/farms.cheese.example/*/field_yield", differs="cluster-scoped-custom-resources"),
    *get(WEB + "/nodes/*/rack_temp"),
    Request(C2 + "/farms.cheese.example/*/field_yield", differs="cluster-scoped-custom-resources"),
    Request(EXT + "/q_len", differs="nan-of-external-metrics-is-zero"),
    *get(EXT + "/q_len?labelSelector=q+notin+%28sms%2Cfax%29", EXT + "/kafka_lag?labelSelector=ns%3Dother",
         EXT + "/kafka_lag", EXT + "/orphan", EXT + "/one_num", EXT + "/none", E + "/namespaces/default/none"),
    # The same objects through the older version of the API.
    *get(*(C1 + tail for tail in (
        "/namespaces/web/pods/a-1/orders_rate", "/namespaces/web/pods/*/orders_rate?labelSelector=app%3Dshop",
        "/namespaces/web/metrics/orders_rate", "/nodes/n1/g_sessions",
        "/namespaces/web/pods/a-1/orders_rate?metricLabelSelector=tier%3D%2Czone"))),
    Request(C1, JSON, differs="cluster-scoped-custom-resources"),
    Request(C2, JSON, differs="cluster-scoped-custom-resources"),
    Request(E, JSON),
]

CASES = [Case("worked_examples", CONFIG, REQUESTS, ("custom.metrics.k8s.io/v1beta2", "pods/orders_rate"),
              SERIES, ANSWERS)]
