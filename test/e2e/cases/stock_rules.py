"""The six default rules that config-gen prints and the Helm chart ships, and YAML as generators write it."""

from harness.scripted_prometheus import vector

from .model import C2, JSON, WEB, Case, Request, get

CONTAINER = """  resources:
    overrides:
      namespace: {resource: namespace}
      pod: {resource: pod}
"""
CONFIG = f"""rules:
- seriesQuery: '{{__name__=~"^container_.*",container!="POD",namespace!="",pod!=""}}'
  seriesFilters: []
{CONTAINER}  name: {{matches: ^container_(.*)_seconds_total$, as: ""}}
  metricsQuery: sum(rate(<<.Series>>{{<<.LabelMatchers>>,container!="POD"}}[5m]))
    by (<<.GroupBy>>)
- seriesQuery: '{{__name__=~"^container_.*",container!="POD",namespace!="",pod!=""}}'
  seriesFilters:
  - isNot: ^container_.*_seconds_total$
{CONTAINER}  name: {{matches: ^container_(.*)_total$, as: ""}}
  metricsQuery: sum(rate(<<.Series>>{{<<.LabelMatchers>>,container!="POD"}}[5m]))
    by (<<.GroupBy>>)
- seriesQuery: '{{__name__=~"^container_.*",container!="POD",namespace!="",pod!=""}}'
  seriesFilters:
  - isNot: ^container_.*_total$
{CONTAINER}  name: {{matches: ^container_(.*)$, as: ""}}
  metricsQuery: sum(<<.Series>>{{<<.LabelMatchers>>,container!="POD"}}) by (<<.GroupBy>>)
- seriesQuery: '{{namespace!="",__name__!~"^container_.*"}}'
  seriesFilters:
  - isNot: .*_total$
  resources:
    template: <<.Resource>>
  name: {{matches: "", as: ""}}
  metricsQuery: sum(<<.Series>>{{<<.LabelMatchers>>}}) by (<<.GroupBy>>)
- seriesQuery: '{{namespace!="",__name__!~"^container_.*"}}'
  seriesFilters:
  - isNot: .*_seconds_total
  resources:
    template: <<.Resource>>
  name: {{matches: ^(.*)_total$, as: ""}}
  metricsQuery: sum(rate(<<.Series>>{{<<.LabelMatchers>>}}[5m])) by (<<.GroupBy>>)
- seriesQuery: '{{namespace!="",__name__!~"^container_.*"}}'
  seriesFilters: []
  resources:
    template: <<.Resource>>
  name: {{matches: ^(.*)_seconds_total$, as: ""}}
  metricsQuery: sum(rate(<<.Series>>{{<<.LabelMatchers>>}}[5m])) by (<<.GroupBy>>)
"""


def at(name: str, **labels) -> dict:
    return {"__name__": name, "namespace": "web", "pod": "a-1", **labels}


SERIES = {
    '{__name__=~"^container_.*",container!="POD",namespace!="",pod!=""}': [
        at("container_cpu_usage_seconds_total", container="m"), at("container_fs_reads_total"), at("container_memory_rss")],
    '{namespace!="",__name__!~"^container_.*"}': [
        at("http_requests_total", service="front", job="shop"), at("queue_depth", service="front"),
        at("work_seconds_total"), {"__name__": "kube_hpa_status", "namespace": "web", "horizontalpodautoscaler": "h"}],
}
WANTED = 'namespace="web",pod=~"a-1|a-2"'
ANSWERS = {
    f'sum(rate(container_cpu_usage_seconds_total{{{WANTED},container!="POD"}}[5m])) by (pod)':
        vector(({"pod": "a-1"}, 0.5), ({"pod": "a-2"}, 0.125)),
    f'sum(container_memory_rss{{{WANTED},container!="POD"}}) by (pod)': vector(({"pod": "a-1"}, 2**20)),
    f"sum(rate(http_requests_total{{{WANTED}}}[5m])) by (pod)": vector(({"pod": "a-2"}, 17.77)),
    'sum(rate(http_requests_total{namespace="web",service="front"}[5m])) by (service)': vector(({"service": "front"}, 9)),
    'sum(queue_depth{namespace="web"}) by (namespace)': vector(({"namespace": "web"}, 3)),
}
READY = ("custom.metrics.k8s.io/v1beta2", "pods/http_requests")
SHOP = "?labelSelector=app%3Dshop"

# The dialect: YAML 1.1 booleans, anchors and merge keys, bare numbers as text, a second document, JSON inside.
DIALECT = """%YAML 1.1
---
rules:
- &base
  seriesQuery: m1
  resources: {template: <<.Resource>>}
  name: {as: 12}
  metricsQuery: >-
    sum(<<.Series>>{<<.LabelMatchers>>})
    by (<<.GroupBy>>)
- <<: *base
  seriesQuery: m2
  name: {"as": "merged"}
- {"seriesQuery": "m3", "resources": {"template": "<<.Resource>>", "namespaced": on}, "metricsQuery": "<<.Series>>{<<.LabelMatchers>>}"}
externalRules: ~
---
rules: this is another document
"""

CASES = [
    Case("default_rules", CONFIG, [
        Request(C2, JSON),
        *get(*(WEB + "/pods/*/" + m + SHOP for m in ("cpu_usage", "memory_rss", "http_requests", "queue_depth", "work",
                                                     "fs_reads", "http_requests_total")),
             WEB + "/services/front/http_requests", WEB + "/metrics/queue_depth", WEB + "/jobs.batch/shop/http_requests"),
    ], READY, SERIES, ANSWERS),
    Case("yaml_dialect", DIALECT, [
        Request(C2, JSON), *get(WEB + "/pods/a-1/12", WEB + "/pods/a-1/merged", WEB + "/pods/a-1/m3")],
         ("custom.metrics.k8s.io/v1beta2", "pods/merged"), {m: [at(m)] for m in ("m1", "m2", "m3")}, {
             'sum(m1{namespace="web",pod="a-1"}) by (pod)': vector(({"pod": "a-1"}, 1)),
             'sum(m2{namespace="web",pod="a-1"}) by (pod)': vector(({"pod": "a-1"}, 2)),
             'm3{namespace="web",pod="a-1"}': vector(({"pod": "a-1"}, 3))}),
]
