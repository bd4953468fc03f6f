"""Label selectors: of the metric, of the objects, of external metrics; good and bad."""

from urllib.parse import quote_plus

from harness.scripted_prometheus import vector

from .model import C1, C2, EXT, NS, WEB, Case, custom_rule, get

GOOD = ["k=v", "k==v", "k!=v", "k in (v)", "k in (b,a)", "k notin (v)", "k notin (b,a,b)", "k", "!k", "k=", "k in ()",
        "k in (b,)", "b=2,a=1", "a=1,a=2", "in in (in)", "k notin(b)", " k = v ", "ns=other,po=x", "k=a.b", "a.b/c=d",
        "k>5", "k<5"]
BAD = ["a b", "a=b c", "a,", ",a", "a,,b", "!a=b", "!!a", "a===b", "a>=1", "a>1.5", "a in b", "a in (b", "(a)", "=b",
       'a="b"', "a=b/c", "a=*", "_a", "a=-b", "X.com/y=z", "a=" + "v" * 64, "a>-1"]


def echo(_query: str):
    """Answers every query with one sample of pod a-1, so that selectors come back with an item."""
    return vector(({"po": "a-1", "ns": "web"}, 7, 1700000000))


METRIC = [f"?metricLabelSelector={quote_plus(s)}" for s in GOOD]
OBJECTS = [f"?labelSelector={quote_plus(s)}" for s in (
    "app=shop", "app", "!app", "app!=shop", "app in (shop,none)", "app notin (shop)", "app=shop,tier=db", "app=", "num>3",
    "num<3")]
CASES = [
    Case("selectors_custom", {"rules": [custom_rule("m", "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)")]},
         get(*(WEB + "/pods/a-1/m" + s for s in METRIC), *(C1 + "/namespaces/web/pods/*/m" + s for s in METRIC[:9]),
             *(WEB + "/pods/*/m" + s for s in OBJECTS),
             WEB + "/pods/a-1/m?metricLabelSelector=k%3Dv&metricLabelSelector=k%3Dw",
             WEB + "/pods/a-1/m?labelSelector=a+b", WEB + "/pods/a-1/m?selector=k%3Dv",
             WEB + "/metrics/m?metricLabelSelector=k%3Dv", C2 + "/namespaces/*/metrics/m?labelSelector=name%3Dweb"),
         ("custom.metrics.k8s.io/v1beta2", "pods/m"),
         {"m": [{"__name__": "m", "ns": "web", "po": "a-1"}]}, echo),
    Case("selectors_bad", {"rules": [custom_rule("m", "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)")],
                           "externalRules": [{"seriesQuery": "q", "metricsQuery": "<<.Series>>{<<.LabelMatchers>>}",
                                              "resources": {"overrides": {"ns": NS}}}]},
         get(*(f"{WEB}/pods/*/m?labelSelector={quote_plus(s)}" for s in BAD),
             *(f"{EXT}/q?labelSelector={quote_plus(s)}" for s in BAD[:6]),
             *(f"{WEB}/pods/a-1/m?metricLabelSelector={quote_plus(s)}" for s in BAD[:6]), compare="reason"),
         ("custom.metrics.k8s.io/v1beta2", "pods/m"), {"m": [{"__name__": "m", "ns": "web", "po": "a-1"}],
                                                       "q": [{"__name__": "q"}]}, echo),
    Case("selectors_external", {"externalRules": [
        {"seriesQuery": "q", "metricsQuery": "<<.Series>>{<<.LabelMatchers>>}", "resources": {"overrides": {"ns": NS}}}]},
         get(*(f"{EXT}/q?labelSelector={quote_plus(s)}" for s in GOOD),
             EXT + "/q?labelSelector=k%3Dv&labelSelector=k%3Dw", EXT + "/q?metricLabelSelector=k%3Dv"),
         ("external.metrics.k8s.io/v1beta1", "q"), {"q": [{"__name__": "q"}]}, echo),
]
