"""How Prometheus is reached: verb, path prefix, headers, credentials. The requests that it gets are compared whole."""

from .model import EXT, WEB, Case, custom_rule, get
from .selectors import echo

CONFIG = {"rules": [custom_rule('m{a="b c"}', "sum(<<.Series>>{<<.LabelMatchers>>})\nby (<<.GroupBy>>) + 1 * 2 % 3")],
          "externalRules": [{"seriesQuery": "q", "metricsQuery": "<<.Series>>{<<.LabelMatchers>>}", "resources": {"namespaced": False}}]}
SERIES = {'m{a="b c"}': [{"__name__": "m", "ns": "web", "po": "a-1"}], "q": [{"__name__": "q"}]}
READY = ("custom.metrics.k8s.io/v1beta2", "pods/m")
REQUESTS = get(WEB + "/pods/a-1/m", WEB + "/pods/*/m?labelSelector=app%3Dshop", EXT + "/q?labelSelector=a%3Db")

CASES = [
    Case("transport_get_with_prefix", CONFIG, REQUESTS, READY, SERIES, echo, url_path="/prom/prefix/"),
    Case("transport_post", CONFIG, REQUESTS, READY, SERIES, echo, args=("--prometheus-verb=POST",), url_path="/p?tenant=a"),
    Case("transport_get_drops_the_query_of_the_url", CONFIG, REQUESTS, READY, SERIES, echo, url_path="/p?tenant=a"),
    Case("transport_headers_and_user", CONFIG, REQUESTS, READY, SERIES, echo, url_user="me:s3cret",
         args=("--prometheus-header=X-Scope-OrgID=team=1", "--prometheus-header=X-Empty", "--prometheus-header=X-Twice=1",
               "--prometheus-header=X-Twice=2")),
    *(Case("transport_path_with_" + what, CONFIG, REQUESTS, READY, SERIES, echo, url_path=path)
      for what, path in (("slashes", "//p//x/"), ("dots", "/a/../b/./c"), ("escapes", "/a%2Fb%20c"))),
    # Any file with a word in it.
    Case("transport_user_comes_before_token", CONFIG, REQUESTS, READY, SERIES, echo, url_user="me:s3cret",
         args=("--prometheus-token-file=/etc/hostname",)),
    Case("transport_empty_and_quoted_flags", CONFIG, REQUESTS, READY, SERIES, echo,
         args=("--disable-http2", "-v=1", "--tls-cipher-suites=", '--authorization-always-allow-paths="/healthz","readyz"',
               "--cert-dir=")),
    Case("transport_authorization_header", CONFIG, REQUESTS, READY, SERIES, echo,
         args=("--prometheus-header=Authorization=Custom abc",)),
]
