#!/usr/bin/env python3
"""docs/flags.md, docs/metrics.md, docs/crd.md and docs/rules.md: what the program and the chart say of themselves.

  test/docs/references.py [PROGRAM]           says which pages are not as $FLYBALL, or build/release/flyball, says
  test/docs/references.py [PROGRAM] --write   makes them so

The metrics are those of a server that has just decided, with every part that needs no cluster, beside a Prometheus of fixed answers.
"""

import http.server
import json
import os
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import yaml

from made_pages import ROOT, check_or_write

CRD = ROOT / "charts" / "flyball" / "files" / "crds" / "autoscalers.flyball.dev.yaml"
RULES_SCHEMA = ROOT / "cmd" / "flyball" / "schemas" / "rules.json"
PATIENCE = 30

OBJECTS = """
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, labels: {app: web}}
---
apiVersion: flyball.dev/v1alpha1
kind: ProcessSet
metadata: {name: worker, namespace: shop}
spec: {replicas: 1, command: [sleep, "600"]}
---
apiVersion: flyball.dev/v1alpha1
kind: Autoscaler
metadata: {name: worker, namespace: shop}
spec:
  mode: Shadow
  cadence: {interval: 200ms}
  scaleTargetRef: {apiVersion: flyball.dev/v1alpha1, kind: ProcessSet, name: worker}
  maxReplicas: 2
  metrics:
  - {type: External, external: {metric: {name: queue_depth}, target: {type: AverageValue, averageValue: "10"}}}
  - {type: External, external: {metric: {name: broken}, target: {type: AverageValue, averageValue: "10"}}}
"""
RULE = "{seriesQuery: '%s{namespace!=\"\"}', resources: {overrides: {namespace: {resource: namespace}}}, metricsQuery: 'max(<<.Series>>{<<.LabelMatchers>>}) by (queue)'}"
# The series that a decision from readings and the dropping of a value leave.
WHEN_ALL_IS_SHOWN = ("flyball_scaler_decisions_total", "flyball_query_values_dropped_total", "flyball_autoscaler_reading_age_seconds")
RULES = "externalRules:\n- " + RULE % "queue_depth" + "\n- " + RULE % "broken" + "\n"


class Prometheus(http.server.BaseHTTPRequestHandler):
    """Two series; the value of one is infinite."""

    def answer(self):
        url = urllib.request.unquote(self.path) + self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        name = "broken" if "broken" in url else "queue_depth"
        found = [{"__name__": name, "namespace": "shop", "queue": "mail"}]
        if "/query" in url:
            found = {"resultType": "vector", "result": [
                {"metric": {"queue": "mail"}, "value": [time.time(), "+Inf" if name == "broken" else "15"]}]}
        body = json.dumps({"status": "success", "data": found}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def metrics_page(program: str) -> str:
    """/metrics of a server in which each path that needs no cluster was taken."""
    prometheus = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Prometheus)
    threading.Thread(target=prometheus.serve_forever, daemon=True).start()
    context = ssl._create_unverified_context()
    with tempfile.TemporaryDirectory() as folder:
        objects = pathlib.Path(folder, "objects")
        objects.mkdir()
        (objects / "all.yaml").write_text(OBJECTS)
        pathlib.Path(folder, "rules.yaml").write_text(RULES)
        port = free_port()
        server = subprocess.Popen(
            [program, "serve", f"--config={folder}/rules.yaml", f"--prometheus-url=http://127.0.0.1:{prometheus.server_port}", f"--objects={objects}",
             f"--secure-port={port}", f"--cert-dir={folder}/cert", "--metrics-relist-interval=1s", "--metrics-max-age=60s", "--metric-source=prometheus+live",
             "--scaler", "--scaler-autoscaler-metrics", "--front-listen=127.0.0.1:0",
             f"--decision-log-otlp=http://127.0.0.1:{prometheus.server_port}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            def get(path: str) -> str:
                return urllib.request.urlopen(f"https://127.0.0.1:{port}{path}", context=context, timeout=5).read().decode()
            until = time.monotonic() + PATIENCE
            while time.monotonic() < until:
                try:
                    get("/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/broken")
                    page = get("/metrics")
                    if all(name + "{" in page for name in WHEN_ALL_IS_SHOWN):
                        return page
                except OSError:
                    pass
                time.sleep(0.2)
            raise SystemExit("references: the server did not show all of its metrics in time")
        finally:
            server.terminate()
            server.wait(30)
            prometheus.shutdown()


def labels_of(lines: list) -> dict:
    """Label -> its values, in order."""
    found = {}
    for line in lines:
        for name, value in re.findall(r'([a-z_]+)="((?:[^"\\]|\\.)*)"', line):
            found.setdefault(name, set()).add(value)
    return found


OPEN_LABELS = {"le", "server", "path", "code", "resource", "scope", "subresource", "verb", "version", "group", "component", "dry_run", "rule", "list", "api",
               "request_kind", "queue", "namespace", "horizontalpodautoscaler", "gitCommit", "commit"}


# Of these the series come one by one, as they are needed, so the values of their labels on the page are not all that there are.
LAZY = {"flyball_scaler_decisions_total", "flyball_query_values_dropped_total",
        *(f"flyball_autoscaler_{what}" for what in ("current_replicas", "desired_replicas", "limited", "proposal_replicas", "reading_age_seconds", "unbounded_replicas"))}
# Of these the server has no series, since it has neither targets nor services: their labels.
WITHOUT_SERIES = {"flyball_front_held": {"service"}, "flyball_live_targets": {"health", "job"}}


def shown_labels(metric: str, lines: list) -> str:
    """Labels with the values that they can have, where the program alone decides on these."""
    words = []
    found = labels_of(lines) or {name: set() for name in WITHOUT_SERIES.get(metric, ())}
    for name, values in sorted(found.items()):
        if name != "le":
            known = sorted(v for v in values if v and metric not in LAZY)
            words.append(f"`{name}`" if name in OPEN_LABELS or not known else f"`{name}` ({', '.join(known)})")
    return ", ".join(words)


def metrics() -> str:
    """A table of all metrics."""
    page, rows = metrics_page(PROGRAM), []
    for name, text, kind, samples in re.findall(r"^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)\n((?:[^#].*\n)*)", page, re.MULTILINE):
        rows.append(f"| `{name}` | {kind} | {text.rstrip('.')} | {shown_labels(name, samples.splitlines())} |")
    return "| name | type | what it counts | labels |\n|---|---|---|---|\n" + "\n".join(sorted(rows)) + "\n"


def help_of(*words: str) -> str:
    """The whole help of a command; of one that hides flags with --help-all, which without a command is that of serve."""
    for flag in ("--help-all", "--help") if words else ("--help",):
        done = subprocess.run([PROGRAM, *words, flag], check=False, capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.strip()
    return (done.stdout or done.stderr).strip()


def flags() -> str:
    """The help of each command, as it prints it."""
    top = help_of()
    lines = ["## flyball", "", "```text", top, "```", ""]
    for command in re.findall(r"^  ([a-z]+)  ", top, re.MULTILINE):
        text = help_of(command)
        _, _, below = text.partition("Subcommands:\n")
        for words in ([command], *([command, sub] for sub in re.findall(r"^  ([a-z]+)", below, re.MULTILINE))):
            lines += [f"## flyball {' '.join(words)}", "", "```text", help_of(*words), "```", ""]
    return "\n".join(lines)


def type_of(schema: dict) -> str:
    if schema.get("x-kubernetes-int-or-string"):
        return "number or text"
    if "enum" in schema:
        return ", ".join(f"`{v}`" for v in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {type_of(schema['items'])}"
    return {"integer": "whole number", "string": "text", "boolean": "true or false", "object": "object"}.get(schema.get("type"), "any")


def fields(schema: dict, path: str):
    """(path, type, required, description) of each field below."""
    for name, part in schema.get("properties", {}).items():
        below = part["items"] if part.get("type") == "array" else part
        here = f"{path}.{name}" + ("[]" if part.get("type") == "array" else "")
        yield here, type_of(part), name in schema.get("required", ()), part.get("description", "")
        if path.count(".") < 4:
            yield from fields(below, here)


def crd() -> str:
    """A table of the fields of spec and status."""
    version, = yaml.safe_load(CRD.read_text())["spec"]["versions"]
    whole = version["schema"]["openAPIV3Schema"]["properties"]
    lines = []
    for part in ("spec", "status"):
        lines += [f"## {part}", "", "| field | type | |", "|---|---|---|"]
        for path, kind, required, text in fields(whole[part], part):
            text = text.replace("|", "\\|").replace("\n", " ")
            lines.append(f"| `{path.partition('.')[2]}`{' (required)' if required else ''} | {kind} | {text} |")
        lines.append("")
    return "\n".join(lines)


def rule_type(schema: dict) -> str:
    if "anyOf" in schema:
        return ", or ".join(rule_type(one) for one in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{v}`" for v in schema["enum"] if v)
    if schema.get("$ref") == "#/definitions/duration":
        return "duration"
    kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
    return {"array": "list", "string": "text", "boolean": "true or false", "object": "object"}[kind]


def rule_fields(schema: dict, definitions: dict, path: str = ""):
    """(path, type, description) of each field below. What a schema refers to is a part of it."""
    def whole(part: dict) -> dict:
        return {**definitions.get(part.get("$ref", "").rpartition("/")[2], {}), **part}
    for name, part in schema.get("properties", {}).items():
        part = whole(part)
        here = f"{path}{name}" + ("[]" if "items" in part else "")
        yield here, rule_type(part), part.get("description", "")
        for below in (part, whole(part.get("items", {})), *part.get("anyOf", ())):
            yield from rule_fields(below, definitions, f"{here}.")
        if isinstance(part.get("additionalProperties"), dict):
            yield from rule_fields(part["additionalProperties"], definitions, f"{here}.LABEL.")


def rules() -> str:
    """A table of the fields of each part of a rule file."""
    schema = json.loads(RULES_SCHEMA.read_text())
    definitions, resource = schema["definitions"], schema["properties"]["resourceRules"]
    lines = []
    for title, part, nested in (("rules and externalRules: lists of rules", definitions["rule"], True), ("resourceRules", resource, False),
                                ("resourceRules.cpu and resourceRules.memory", definitions["resourceRule"], True)):
        lines += [f"## {title}", "", "| field | type | |", "|---|---|---|"]
        for path, kind, text in rule_fields(part, definitions):
            if nested or "." not in path:
                text = text.replace("|", "\\|")
                lines.append(f"| `{path}` | {kind} | {text} |")
        lines.append("")
    return "\n".join(lines)


_BLOCK = re.compile(r"(<!-- made: (?P<name>[a-z]+) -->\n).*?(<!-- end of made -->\n)", re.DOTALL)
MAKERS = {make.__name__: make for make in (flags, metrics, crd, rules)}
PROGRAM = next((word for word in sys.argv[1:] if not word.startswith("-")), os.environ.get("FLYBALL", str(ROOT / "build" / "release" / "flyball")))


def as_it_should_be(page: str) -> str:
    return _BLOCK.sub(lambda m: m[1] + MAKERS[m["name"]]() + m[3], page)


def main() -> int:
    pages = [ROOT / "docs" / f"{name}.md" for name in MAKERS]
    return check_or_write(pages, as_it_should_be, "is not as the program says: test/docs/references.py --write")


if __name__ == "__main__":
    sys.exit(main())
