"""What kube-apiserver was asked, by its own count (apiserver_request_total)."""

import re

from harness.client import Client

_LINE = re.compile(r'^apiserver_request_total\{(.*)\} (\S+)$')
_LABEL = re.compile(r'(\w+)="([^"]*)"')
# What an autoscaler's controller asks for; what the API server asks of itself is something else.
_RESOURCES = {"horizontalpodautoscalers", "autoscalers", "deployments", "replicasets", "statefulsets",
              "replicationcontrollers", "pods", "events"}

# By which a measurement looks whether a step is over; a scaler lists them at its start only.
_LOOKS = "LIST horizontalpodautoscalers"


def counted(admin: Client) -> dict:
    """"PUT deployments/scale" -> requests so far. Watches are left out: each is one request for minutes."""
    found = {}
    for line in admin.get("/metrics").text().splitlines():
        if match := _LINE.match(line):
            labels = dict(_LABEL.findall(match.group(1)))
            if labels["resource"] in _RESOURCES and labels["verb"] != "WATCH":
                what = labels["verb"] + " " + "/".join(filter(None, (labels["resource"], labels["subresource"])))
                if what != _LOOKS:
                    found[what] = found.get(what, 0) + float(match.group(2))
    return found


def since(before: dict, now: dict) -> dict:
    return {what: count - before.get(what, 0) for what, count in sorted(now.items()) if count > before.get(what, 0)}


def of_scales(counts: dict) -> float:
    return sum(n for what, n in counts.items() if what.endswith("/scale") and not what.startswith("GET"))


def of_status(counts: dict) -> float:
    return sum(n for what, n in counts.items() if what.endswith("/status") and not what.startswith("GET"))
