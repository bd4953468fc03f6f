"""Configs that stop prometheus-adapter at start. Both programs must refuse them with the same exit status."""

import yaml

from .model import NS, custom_rule

V = "<<.Series>>"


def _rules(**more) -> str:
    return yaml.safe_dump({"rules": [custom_rule("m", V, **more)]})


def _query(text: str) -> str:
    return yaml.safe_dump({"rules": [custom_rule("m", text)]})


BAD = {
    "unknown key": "rules: []\nnonsense: 1\n",
    "unknown key in a rule": _rules(nonsense=1),
    "key given twice": "rules: []\nrules: []\n",
    "key in another case": "Rules: []\n",
    "wrong type": "rules: {a: b}\n",
    "text for a boolean": _rules(resources={"namespaced": "perhaps"}),
    "not YAML": "rules: [\n",
    "tab as indent": "rules:\n\t- seriesQuery: x\n",
    "filter with is and isNot": _rules(seriesFilters=[{"is": "a", "isNot": "b"}]),
    "filter with neither": _rules(seriesFilters=[{}]),
    "filter that does not compile": _rules(seriesFilters=[{"is": "("}]),
    "matches that does not compile": _rules(name={"matches": "a(?!b)"}),
    "two captures without as": _rules(name={"matches": "(a)(b)"}),
    "unclosed action": _query("<<.Series"),
    "unknown function": _query("<<nope .Series>>"),
    "end without if": _query("<<end>>"),
    "if without end": _query("<<if true>>"),
    "constant resource template": _rules(resources={"template": "constant"}),
    "resource template with group alone": _rules(resources={"template": "<<.Group>>"}),
    "resource template with unknown field": _rules(resources={"template": "<<.Resource>><<.Nope>>"}),
    "empty override": _rules(resources={"overrides": {"x": {}}}),
    "window without unit": "resourceRules: {window: 5}\n",
    "window with fraction": "resourceRules: {window: 1.5m}\n",
    "window that is negative": "resourceRules: {window: -5m}\n",
    "window in wrong order": "resourceRules: {window: 30m1h}\n",
    "bad external rule": yaml.safe_dump({"externalRules": [{"seriesQuery": "m", "metricsQuery": "<<", "resources": {
        "overrides": {"ns": NS}}}]}),
}
# Flags that stop it: (arguments, exit status of the original).
BAD_FLAGS = {
    "unknown flag": (("--no-such-flag",), 2),
    "unknown verb": (("--prometheus-verb=PUT",), 255),
    "bad duration": (("--metrics-relist-interval=5",), 2),
    "max age below the relist interval": (("--metrics-relist-interval=10m", "--metrics-max-age=1m"), 255),
    "missing config": (("--config=/nonexistent/config.yaml",), 255),
    "bad URL": (("--prometheus-url=http://[::1",), 255),
    "missing token file": (("--prometheus-token-file=/nonexistent/token",), 255),
    "missing CA file": (("--prometheus-ca-file=/nonexistent/ca",), 255),
    "port 0": (("--secure-port=0",), 255),
    "bad TLS version": (("--tls-min-version=VersionTLS99",), 255),
}
