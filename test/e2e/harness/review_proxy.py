"""A man in the middle between an adapter and kube-apiserver: records and, on demand, spoils token and access reviews.

Everything else is passed on, watches included. It speaks to kube-apiserver as the cluster's admin.
"""

import json
import threading

from .client import Identity
from .control_plane import ControlPlane
from .tls_proxy import TlsProxy

ACCESS, TOKEN = "/subjectaccessreviews", "/tokenreviews"


class ReviewProxy(TlsProxy):
    """`reviews` holds the decoded bodies by path end. `spoil(kind, spec)` may return "500", "403", "drop" or "hang"."""

    def __init__(self, cluster: ControlPlane):
        self.reviews = {ACCESS: [], TOKEN: []}
        self.spoil = lambda kind, spec: None
        self._release = threading.Event()
        super().__init__(cluster, Identity(cert=cluster.admin_cert))
        self.kubeconfig = cluster.kubeconfig(Identity(cert=cluster.admin_cert), "through-review-proxy", server=self.url)

    def stop(self):
        self._release.set()
        super().stop()

    def of_user(self, user: str) -> list:
        """The specs of the access reviews about that user."""
        return [r["spec"] for r in self.reviews[ACCESS] if r["spec"].get("user") == user]

    def _serve(self, handler, body):
        kind = next((k for k in self.reviews if handler.path.split("?")[0].endswith(k)), None)
        if kind:
            review = json.loads(body)
            self.reviews[kind].append(review)
            if way := self.spoil(kind, review["spec"]):
                self._spoiled(handler, way)
                return
        self._forward(handler, body)

    def _spoiled(self, handler, way: str):
        if way in ("drop", "hang"):
            if way == "hang":
                self._release.wait(60)
            handler.close_connection = True
            return
        status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "spoiled",
                  "code": int(way)}
        self._send(handler, int(way), json.dumps(status).encode(), "application/json")
