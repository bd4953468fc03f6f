"""Between one replica of flyball and kube-apiserver: answers with errors on demand, cuts watches, goes away."""

import json
import random

from .client import Identity
from .control_plane import ControlPlane
from .tls_proxy import TlsProxy

_REASONS = {409: "Conflict", 429: "TooManyRequests", 500: "InternalError"}


class ApiProxy(TlsProxy):
    """Speaks to the API server as `identity`. While `errors` is not empty, a `share` of the requests that `match` says
    yes to is answered by one of them: before it is passed on, or (`after`) although it was done."""

    def __init__(self, cluster: ControlPlane, identity: Identity):
        self.errors, self.share, self.after = (), 0.5, False
        self.match = lambda method, path: method in ("PUT", "PATCH")
        self.spoiled = 0
        self._random = random.Random(1)
        super().__init__(cluster, identity)

    def _serve(self, handler, body):
        spoil = self.errors and self.match(handler.command, handler.path) and self._random.random() < self.share
        if not spoil:
            self._forward(handler, body)
            return
        if self.after:
            self._ask(handler, body).read()
        self._error(handler)

    def _error(self, handler):
        self.spoiled += 1
        code = self._random.choice(self.errors)
        status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "spoiled by the proxy",
                  "reason": _REASONS[code], "code": code}
        self._send(handler, code, json.dumps(status).encode(), "application/json", {"Retry-After": "1"} if code == 429 else {})
