"""Sample values and the quantities that they become."""

from harness.scripted_prometheus import vector

from .model import EXT, WEB, Case, Request, custom_rule, get

FLOATS = ["0", "-0", "0.0009", "0.001", "0.0019", "1.001", "1.005", "10.5", "16.6666", "-1.9999", "999", "1000", "1500",
          "1500.5", "2.5e9", "1e12", "9.2e15", "1e-300", "0.1", "12.3456", "123456789.987", "1e15", "999999", "1e3", "-1e6",
          "4294967297", "67108864", "5e-324"]
INFINITE = ["+Inf", "-Inf", "1e16", "-1e17", "1e300"]


def pods(values: list) -> list:
    return [({"po": f"v-{i:02}"}, v) for i, v in enumerate(values)]


SUM = "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"
CONFIG = {"rules": [custom_rule("m", SUM)],
          "externalRules": [{"seriesQuery": n, "metricsQuery": "<<.Series>>", "resources": {"namespaced": False}}
                            for n in ("finite", "infinite", "nan")]}
ANSWERS = {"finite": vector(*(({"i": str(i)}, v, 1700000000) for i, v in enumerate(FLOATS))),
           "infinite": vector(*(({"i": str(i)}, v, 1700000000) for i, v in enumerate(INFINITE))),
           "nan": vector(({"i": "0"}, "NaN", 1700000000)),
           'sum(m{ns="web",po="nan"}) by (po)': vector(({"po": "nan"}, "NaN")),
           'sum(m{ns="web",po="inf"}) by (po)': vector(({"po": "inf"}, "+Inf")),
           'sum(m{ns="web",po="x"}) by (po)': vector(({"po": "x"}, "NaN"), ({"po": "x"}, 2)),
           **{f'sum(m{{ns="web",po="v{i}"}}) by (po)': vector(({"po": f"v{i}"}, v)) for i, v in enumerate(FLOATS)}}
CASES = [Case("values", CONFIG, [
    *get(EXT + "/finite", *(f"{WEB}/pods/v{i}/m" for i in range(len(FLOATS))), WEB + "/pods/nan/m", WEB + "/pods/x/m"),
    Request(EXT + "/infinite", differs="infinite-values-are-left-out"),
    Request(EXT + "/nan", differs="nan-of-external-metrics-is-zero"),
    Request(WEB + "/pods/inf/m", differs="infinite-values-are-left-out"),
], ("custom.metrics.k8s.io/v1beta2", "pods/m"),
    {"m": [{"__name__": "m", "ns": "web", "po": "a"}], "finite": [{"__name__": "finite"}],
     "infinite": [{"__name__": "infinite"}], "nan": [{"__name__": "nan"}]}, ANSWERS)]
