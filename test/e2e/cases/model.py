"""A differential case: one config, what Prometheus holds, and the requests that both programs must answer alike."""

from dataclasses import dataclass, field

C1 = "/apis/custom.metrics.k8s.io/v1beta1"
C2 = "/apis/custom.metrics.k8s.io/v1beta2"
E = "/apis/external.metrics.k8s.io/v1beta1"
M = "/apis/metrics.k8s.io/v1beta1"
WEB = C2 + "/namespaces/web"
EXT = E + "/namespaces/web"

# How closely two answers are compared.
BYTES = "bytes"    # status, content type, body byte for byte but for timestamps of this moment
JSON = "json"      # status, content type, body as JSON, lists of named things sorted
STATUS = "status"  # status alone: the text is each program's own
# and "reason", "protobuf" and "containers" of harness/compare.py.

NS, PO, SVC, HOST = ({"resource": r} for r in ("namespace", "pod", "service", "node"))


@dataclass(frozen=True)
class Request:
    """One request. `differs` names the deliberate difference (differences.py) that makes the answers unequal.
    Without `rights` it comes from a user to whom RBAC grants no metric."""
    path: str
    compare: str = BYTES
    headers: tuple = ()
    method: str = "GET"
    differs: str = ""
    body: bytes = None
    rights: bool = True


@dataclass
class Case:
    """`ready` is (group/version, resource name) that discovery must list before the requests start."""
    name: str
    config: object  # dict or YAML text
    requests: list
    ready: tuple = ()
    series: dict = field(default_factory=dict)
    answers: dict = field(default_factory=dict)
    args: tuple = ()
    url_path: str = ""      # appended to the URL of Prometheus
    url_user: str = ""      # user:password of the URL
    queries: bool = True    # compare what was sent to Prometheus as well
    only_unmerged: bool = False  # what is asked depends on how often it is asked


def custom_rule(series: str, query: str, **more) -> dict:
    """A rule with overrides ns, po, svc, host unless told otherwise."""
    return {"seriesQuery": series, "metricsQuery": query,
            "resources": {"overrides": {"ns": NS, "po": PO, "svc": SVC, "host": HOST}}, **more}


def get(*paths: str, **more) -> list:
    return [Request(p, **more) for p in paths]
