"""The deliberate differences from prometheus-adapter 0.12.0, by name: why, and what flyball answers instead.

A request of the differential suite that names one of these must be answered as `holds` says, and must not be answered
as the original does. Everything else must be equal.
"""

from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Difference:
    why: str
    holds: Callable  # (path, flyball's answer, the original's) -> bool


def _items(answer) -> list:
    return answer.json().get("items", [])


def _infinite(_path, ours, _theirs) -> bool:
    """Unknown is not a huge negative number: the item is left out, which of a single object leaves 404."""
    if ours.status == 404:
        return True
    return ours.status == 200 and not any(i["value"].startswith("-9223372036854775808") for i in _items(ours))


def _nan_external(_path, ours, theirs) -> bool:
    expected = [("0" if i["value"].startswith("-9223372036854775808") else i["value"]) for i in _items(theirs)]
    return ours.status == 200 and [i["value"] for i in _items(ours)] == expected


def _cluster_scoped(path, ours, theirs) -> bool:
    if path.count("/") <= 3:  # the version's discovery document
        scope = {r["name"]: r["namespaced"] for r in ours.json()["resources"]}
        return {r["name"] for r in theirs.json()["resources"]} == set(scope) and not scope["farms.cheese.example/field_yield"]
    return [i["value"] for i in _items(ours)] == ["55"] and theirs.status in (404, 500)


def _every_version(_path, ours, theirs) -> bool:
    versions = [v["version"] for v in ours.json()["versions"]]
    return versions == ["v1beta2", "v1beta1"] and [v["version"] for v in theirs.json()["versions"]] == ["v1beta1"]


def _digit_groups(path, ours, theirs) -> bool:
    """That one sample is not answered; of a single object nothing else is."""
    if "/pods/" in path:
        return ours.status == 404 and [i["value"] for i in _items(theirs)] == ["10"]
    return ours.status == 200 and [i["value"] for i in _items(ours)] == [i["value"] for i in _items(theirs) if i["value"] != "10"]


DIFFERENCES = {
    "infinite-values-are-left-out": Difference(
        "an infinite or overflowing value becomes -9223372036854775808m on amd64, and an HPA acts on it", _infinite),
    "nan-of-external-metrics-is-zero": Difference(
        "the same undefined conversion of NaN; 0 leads the HPA to the same minimum", _nan_external),
    "cluster-scoped-custom-resources": Difference(
        "they were registered as namespaced, so that they could not be read at their own path", _cluster_scoped),
    "group-document-lists-every-version": Difference(
        "v1beta2 was served but not listed", _every_version),
    "answers-that-no-prometheus-writes": Difference(
        "text after the document, a sample without value, 0x10, 1.7e9 as a time: taken or refused by accident of a parser",
        lambda _p, ours, _t: ours.status in (200, 500)),
    "values-with-digit-groups-are-left-out": Difference(
        "Go reads 1_0 as 10, Prometheus never writes it", _digit_groups),
    "empty-segment-never-matches": Difference(
        "an empty name was taken as a name", lambda _p, ours, _t: ours.status == 404),
    "unknown-metrics-list-nothing": Difference(
        "objects were listed, or the list was refused, before it was known whether there is such a metric",
        lambda _p, ours, theirs: ours.status == 404 and theirs.status == 500),
    "unknown-openapi-documents-are-not-found": Difference(
        "an OpenAPI document that is none was answered with 200 and nothing", lambda _p, ours, theirs: ours.status == 404 and not theirs.body),
    "malformed-targets-are-refused-with-a-status": Difference(
        "a target with a broken escape was refused in plain text", lambda _p, ours, theirs: ours.status == theirs.status == 400),
    "external-metrics-may-be-called-status": Difference(
        "an external metric called status or finalize could not be read", lambda _p, _ours, theirs: theirs.status != 200),
    "impersonation-is-refused": Difference(
        "Impersonate-* headers were evaluated; the API server in front does that, and sends the user whom it has allowed",
        lambda _p, ours, _t: ours.status == 403),
    "long-audit-ids-are-cut": Difference(
        "an Audit-ID of any length was sent back", lambda _p, ours, theirs: len(ours.headers["audit-id"]) == 4096
        and theirs.headers["audit-id"].startswith(ours.headers["audit-id"])),
    "percent-signs-of-a-refusal-are-kept": Difference(
        "the sentence of a 403 was a format of Go, so that each % in it was a verb without an argument",
        lambda _p, ours, theirs: ours.status == theirs.status == 403 and b"%" in ours.body and ours.body != theirs.body),
    "encoded-slash-never-matches": Difference(
        "%2F inside a segment was decoded before routing", lambda _p, ours, _t: ours.status == 404),
}
