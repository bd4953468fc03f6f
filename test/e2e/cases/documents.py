"""Discovery and the other documents, with each combination of groups switched on."""

from .model import BYTES, C1, C2, E, JSON, M, STATUS, Case, Request, custom_rule, get

V = "<<.Series>>{<<.LabelMatchers>>}"
EXTERNAL = {"externalRules": [{"seriesQuery": "q", "metricsQuery": V, "resources": {"namespaced": False}}]}
CUSTOM = {"rules": [custom_rule("m", V)]}
SERIES = {"m": [{"__name__": "m", "ns": "web", "po": "a"}], "q": [{"__name__": "q"}]}
GROUPS = [p for g in ("custom", "external", "") for p in (f"/apis/{g + '.' if g else ''}metrics.k8s.io",)]


def documents(*names: str) -> list:
    """All documents; the custom group's own document lists one version more here."""
    requests = []
    for path in (C1, C2, E, M):
        requests += [Request(path, JSON if path.split("/")[2] in names else STATUS),
                     Request(path + "/", JSON if path.split("/")[2] in names else STATUS)]
    for path in GROUPS:
        served = path.split("/")[2] in names
        custom = path.startswith("/apis/custom") and served
        requests.append(Request(path, JSON if served else STATUS, differs="group-document-lists-every-version" if custom else ""))
    return requests + get("/healthz", "/livez", "/readyz", "/healthz/ping", compare=BYTES) + get(
        "/version", "/openapi/v2", "/openapi/v3", "/nothing", "/apis/nope", "/apis/custom.metrics.k8s.io/v9", "/metrics", "/",
        "/apis", compare=STATUS)


CASES = [
    Case("all_groups_off", "", documents()),
    Case("only_custom", CUSTOM, documents("custom.metrics.k8s.io"), ("custom.metrics.k8s.io/v1beta2", "pods/m"), SERIES),
    Case("only_external", EXTERNAL, documents("external.metrics.k8s.io"), ("external.metrics.k8s.io/v1beta1", "q"), SERIES),
    Case("custom_and_external", {**CUSTOM, **EXTERNAL}, documents("custom.metrics.k8s.io", "external.metrics.k8s.io"),
         ("custom.metrics.k8s.io/v1beta2", "pods/m"), SERIES),
    Case("custom_before_any_series", {"rules": [custom_rule("m", V)]}, get(C1, C2, C2 + "/namespaces/web/pods/a/m"), (),
         {}, {}),
]
