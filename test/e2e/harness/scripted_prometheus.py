"""A Prometheus that answers from a table, remembers what it was asked, and can misbehave on demand."""

import json
import re
import socket
import threading
import urllib.parse
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from . import ports

_ALTERNATIVES = re.compile(r'(=~")((?:[^"\\]|\\.)*)(")')
_BAR = re.compile(r"(?<!\\)\|")  # between alternatives, not part of a name
NOW = object()  # a sample at the time that the query asks for


@dataclass
class Asked:
    """One request as it came in."""
    method: str
    path: str
    parameters: dict  # name -> list of values, from URL and form body
    headers: dict
    url_query: str

    def one(self, name: str) -> str:
        return self.parameters.get(name, [""])[0]


def vector(*samples):
    """Answer with an instant vector: (labels, value) or (labels, value, time)."""
    return {"resultType": "vector", "samples": [s if len(s) == 3 else (*s, NOW) for s in samples]}


def scalar(value, at=NOW):
    return {"resultType": "scalar", "value": value, "at": at}


def raw(status: int, body, content_type: str = "application/json"):
    """Answer with exactly this."""
    return {"raw": body if isinstance(body, bytes) else body.encode(), "status": status, "type": content_type}


def failure(status: int, kind: str, text: str):
    """Prometheus' own error form."""
    return raw(status, json.dumps({"status": "error", "errorType": kind, "error": text}))


def sorted_names(query: str) -> str:
    """PromQL with the names of each =~ matcher in order: the original leaves it to chance for metrics.k8s.io."""
    return _ALTERNATIVES.sub(lambda m: m.group(1) + "|".join(sorted(_BAR.split(m.group(2)))) + m.group(3), query)


def names_of(pattern: str) -> list:
    """The names of a regular expression `a|b\\\\.c`, as they are written in a string literal: escapes of the expression
    go, those of the literal stay."""
    names, name, i = [], "", 0
    while i < len(pattern):
        if pattern.startswith("\\\\", i):  # an escaping backslash of the expression
            i += 2
        elif pattern[i] == "|":
            names.append(name)
            name, i = "", i + 1
            continue
        unit = pattern[i:i + 2] if pattern[i:i + 1] == "\\" else pattern[i:i + 1]
        name, i = name + unit, i + len(unit)
    return names + [name]


def one_by_one(query: str) -> list:
    """The queries for one name each that a query for several (in its last =~ matcher) stands for."""
    found = list(_ALTERNATIVES.finditer(query))
    if not found:
        return [query]
    start, end = found[-1].span()
    return [f'{query[:start]}="{name}"{query[end:]}' for name in names_of(found[-1].group(2))]


def merged(answers):
    """Answers that know a query for several objects when they know the queries for each of them."""
    if callable(answers):
        return answers
    fake = ScriptedPrometheus.lookup

    def answer(query: str):
        found = fake(answers, query)
        parts = [fake(answers, q) for q in one_by_one(query)]
        if found is not None or len(parts) < 2:
            return vector() if found is None else found
        return vector(*(sample for part in parts if part for sample in part.get("samples", [])))
    return answer


class ScriptedPrometheus:
    """`series`: match[] selector -> list of label sets, or raw(...). `answers`: PromQL (or a compiled pattern for it) ->
    vector(...), scalar(...) or raw(...); or a function of the PromQL text.

    Keys have the names of a =~ matcher in order. A query that is not in the table gets an empty vector. `misbehave` replaces every answer:
    None, "hang", "garbage", "html", "500", "huge", "truncated", "drop".
    """

    def __init__(self, series=None, answers=None):
        self.series = dict(series or {})
        self.answers = answers if callable(answers) else dict(answers or {})
        self.misbehave = None
        self.asked = []
        self._lock = threading.Lock()
        self._release = threading.Event()
        self._connections = set()
        self._port = ports.free()
        self._server = None
        self.start()
        self.url = f"http://127.0.0.1:{self._port}"

    def start(self):
        """Listens; after `stop` again on the same port."""
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                fake._serve(self)

            do_POST = do_GET

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256
            allow_reuse_address = True

            def get_request(self):
                connection, address = super().get_request()
                fake._connections.add(connection)
                return connection, address

            def handle_error(self, *_):
                pass  # a client that gave up on a hanging answer

        self._server = Server(("127.0.0.1", self._port), Handler)
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self):
        """Connection refused from now on; open connections end."""
        self.let_go()
        self._server.shutdown()
        self._server.server_close()
        for connection in self._connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # closed already
        self._connections.clear()

    def let_go(self):
        """Ends every answer that hangs now."""
        release, self._release = self._release, threading.Event()
        release.set()

    def take(self, path_end: str = "/api/v1/query") -> list:
        """What was asked under this endpoint since the last `take`, oldest first; forgets it."""
        with self._lock:
            taken = [a for a in self.asked if a.path.endswith(path_end)]
            self.asked = [a for a in self.asked if not a.path.endswith(path_end)]
        return taken

    def queries(self) -> list:
        """The PromQL texts among them."""
        return [a.one("query") for a in self.take()]

    def _serve(self, handler):
        url = urllib.parse.urlsplit(handler.path)
        form = handler.rfile.read(int(handler.headers.get("Content-Length") or 0)).decode()
        parameters = urllib.parse.parse_qs(url.query, keep_blank_values=True)
        for name, values in urllib.parse.parse_qs(form, keep_blank_values=True).items():
            parameters.setdefault(name, []).extend(values)
        asked = Asked(handler.command, url.path, parameters,
                      {k.lower(): v for k, v in handler.headers.items()}, url.query)
        with self._lock:
            self.asked.append(asked)
        try:
            self._answer(handler, asked)
        except (BrokenPipeError, ConnectionResetError):
            handler.close_connection = True

    def _answer(self, handler, asked):
        mode = self.misbehave
        if mode == "hang":
            self._release.wait(120)
            handler.close_connection = True
        elif mode == "drop":
            handler.close_connection = True
        elif mode == "garbage":
            self._send(handler, 200, b"\x00\xff{]nonsense\x1b", "application/json")
        elif mode == "html":
            self._send(handler, 200, b"<html><body><h1>Sign in</h1></body></html>", "text/html")
        elif mode == "500":
            self._send(handler, 500, b"it broke", "text/plain")
        elif mode == "truncated":
            handler.send_response(200)
            handler.send_header("Content-Length", "5000")
            handler.end_headers()
            handler.wfile.write(b'{"status":"success","data":{"resultType":"vec')
            handler.close_connection = True
        elif mode == "huge":
            self._send_huge(handler)
        else:
            found = self._found(asked)
            self._send(handler, found["status"], found["raw"], found["type"])

    def _found(self, asked) -> dict:
        if asked.path.endswith("/api/v1/series"):
            rows = []
            for selector in asked.parameters.get("match[]", []):
                answer = self.series.get(selector, [])
                if isinstance(answer, dict):
                    return answer
                rows += answer
            return raw(200, json.dumps({"status": "success", "data": rows}))
        if not asked.path.endswith("/api/v1/query"):
            return raw(404, "not found", "text/plain")
        answer = self._answer_to(sorted_names(asked.one("query")))
        if "raw" in answer:
            return answer
        now = float(asked.one("time") or 0)
        if answer["resultType"] == "scalar":
            result = [now if answer["at"] is NOW else answer["at"], str(answer["value"])]
        else:
            result = [{"metric": labels, "value": [now if at is NOW else at, str(value)]}
                      for labels, value, at in answer["samples"]]
        return raw(200, json.dumps({"status": "success",
                                    "data": {"resultType": answer["resultType"], "result": result}}))

    def _answer_to(self, query: str) -> dict:
        if callable(self.answers):
            return self.answers(query)
        return self.lookup(self.answers, query) or vector()

    @staticmethod
    def lookup(answers: dict, query: str):
        """The table's answer, or None."""
        if query in answers:
            return answers[query]
        return next((a for key, a in answers.items() if isinstance(key, re.Pattern) and key.fullmatch(query)), None)

    @staticmethod
    def _send(handler, status, body, content_type):
        handler.send_response(status)
        handler.send_header("Content-Type", content_type)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    @staticmethod
    def _send_huge(handler):
        """A well-formed answer of 200 MB that a careful client stops reading long before its end."""
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.close_connection = True
        handler.wfile.write(b'{"status":"success","data":{"resultType":"vector","result":[')
        block = b",".join([b'{"metric":{"po":"a-1","x":"%s"},"value":[1,"1"]}' % (b"x" * 900)] * 1000)
        for i in range(210):
            handler.wfile.write((b"," if i else b"") + block)
        handler.wfile.write(b"]}}")
