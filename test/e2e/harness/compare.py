"""Brings two answers, or two requests to Prometheus, into a form in which equal means equal.

What is taken out, and nothing else: timestamps of this moment, the order that the original leaves to chance, and of
the requests to Prometheus the time, the original's empty timeout= and the order of names in a matcher.
"""

import datetime
import difflib
import itertools
import json
import re

import yaml

from .scripted_prometheus import one_by_one, sorted_names

# A metav1.Time of 2023 to 2040, whole seconds: {1: varint of five bytes, 2: 0}. Older ones are data.
_BINARY_NOW = re.compile(rb"\x08[\x80-\xff]{4}[\x06-\x08]\x10\x00")
# libyaml 0.2 indents in front of the last quote of a text that ends with a separator of lines; goyaml's older copy does not.
_INDENT_AFTER_BREAK = re.compile("([\u2028\u2029]) +'\n".encode())
_STAMP = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def without_now(body: bytes) -> bytes:
    """Replaces timestamps within five minutes of now; older ones are data and stay."""
    now = datetime.datetime.now(datetime.timezone.utc)

    def replace(match):
        at = datetime.datetime.strptime(match.group().decode(), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc)
        return b"NOW" if abs((now - at).total_seconds()) < 300 else match.group()
    return _STAMP.sub(replace, body)


def _sorted(value):
    """Lists of objects with a name in order of that name, everywhere in the document."""
    if isinstance(value, dict):
        return {k: _sorted(v) for k, v in value.items()}
    if isinstance(value, list):
        items = [_sorted(v) for v in value]
        if items and all(isinstance(i, dict) and "name" in i for i in items):
            items.sort(key=lambda i: (i["name"], i.get("namespaced", "")))
        return items
    return value


def answer(got, how: str):
    """What is compared of a client.Answer; `how` as in cases.model, and four more: "reason" (Status code and reason: the
    text comes from a library and changes with its version), "protobuf" (bytes but for times), "protobuf in any order" (how
    often each byte occurs), "containers" (JSON or YAML with containers in order of name). The original's are in the order of a map."""
    if how == "status":
        return {"status": got.status}
    if how.startswith("protobuf"):
        body = _BINARY_NOW.sub(b"NOW", got.body)
        return {"status": got.status, "type": got.headers.get("content-type"), "body": (body if how == "protobuf" else bytes(sorted(body))).hex()}
    seen = {"status": got.status, "type": got.headers.get("content-type"), "cache": got.headers.get("cache-control")}
    body = _INDENT_AFTER_BREAK.sub(rb"\1'\n", without_now(got.body))
    if how == "bytes":
        return {**seen, "body": body.decode(errors="backslashreplace")}
    try:
        document = yaml.safe_load(body) if seen["type"] == "application/yaml" else json.loads(body)
    except (ValueError, yaml.YAMLError):
        return {**seen, "body": body.decode(errors="backslashreplace")}
    if how == "reason":
        return {**seen, "kind": document.get("kind"), "code": document.get("code"), "reason": document.get("reason")}
    return {**seen, "body": _sorted(document)}


def audit_ids(sent: tuple, theirs, ours) -> list:
    """The Audit-IDs of two answers to a request with these headers, if they differ. Without one each program makes one up."""
    if not any(value for name, value in sent if name == "Audit-ID"):
        return []
    pair = [answer.headers.get("audit-id") for answer in (theirs, ours)]
    return [] if pair[0] == pair[1] else ["audit-id: {!r} != {!r}".format(*pair)]


# Headers that say who the client is, not what it wants.
_OWN_HEADERS = {"host", "user-agent", "accept-encoding", "content-length", "connection", "accept"}


def asked(one) -> tuple:
    """A scripted_prometheus.Asked without its moment."""
    parameters = {k: v for k, v in one.parameters.items() if k not in ("time", "start", "timeout")}
    if "query" in parameters:
        parameters["query"] = [sorted_names(q) for q in parameters["query"]]
    url = sorted(p for p in one.url_query.split("&") if p and p.split("=")[0] not in ("time", "start", "timeout", "query"))
    headers = {k: v for k, v in one.headers.items() if k not in _OWN_HEADERS}
    return one.method, one.path, json.dumps(parameters, sort_keys=True), "&".join(url), json.dumps(headers, sort_keys=True)


def single(asked_queries: set) -> set:
    """The same with each query for several objects taken apart into one for each object."""
    apart = set()
    for method, path, parameters, url, headers in asked_queries:
        decoded = json.loads(parameters)
        for query in one_by_one(decoded.get("query", [""])[0]):
            apart.add((method, path, json.dumps({**decoded, "query": [query]}, sort_keys=True), url, headers))
    return apart


def unlike(left, right, path="") -> list:
    """The places where two documents differ, one line each, at most 12."""
    if type(left) is not type(right):
        return [f"{path or '.'}: {left!r} != {right!r}"[:600]]
    if isinstance(left, dict):
        lines = []
        for key in sorted(left.keys() | right.keys(), key=str):
            if key not in left or key not in right:
                where = "right" if key not in left else "left"
                lines.append(f"{path}.{key}: only {where}: {(left.get(key) or right.get(key))!r}"[:600])
            else:
                lines += unlike(left[key], right[key], f"{path}.{key}")
        return lines[:12]
    if isinstance(left, list) and len(left) == len(right):
        return [line for i, (a, b) in enumerate(zip(left, right)) for line in unlike(a, b, f"{path}[{i}]")][:12]
    if isinstance(left, str) and "\n" in left and left != right:
        lines = difflib.unified_diff(left.split("\n"), right.split("\n"), lineterm="", n=1)
        return [f"{path or '.'}: {line!r}"[:600] for line in itertools.islice(lines, 12)]
    return [] if left == right else [f"{path or '.'}:\n      {left!r}\n      {right!r}"[:3000]]
