"""A man in the middle between an adapter and kube-apiserver: records and, on demand, spoils token and access reviews.

Everything else is passed on, watches included. It speaks to kube-apiserver as the cluster's admin.
"""

import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .client import Client, Identity
from .control_plane import ControlPlane

ACCESS, TOKEN = "/subjectaccessreviews", "/tokenreviews"


class ReviewProxy:
    """`reviews` holds the decoded bodies by path end. `spoil(kind, spec)` may return "500", "403", "drop" or "hang"."""

    def __init__(self, cluster: ControlPlane):
        self.reviews = {ACCESS: [], TOKEN: []}
        self.spoil = lambda kind, spec: None
        self._upstream = Client(cluster.url, Identity(cert=cluster.admin_cert), timeout=3600)
        self._release = threading.Event()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def _any(self):
                try:
                    proxy._serve(self)
                except OSError:
                    self.close_connection = True

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _any

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass

        pair = cluster.ca.server("127.0.0.1")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.cert, pair.key)
        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"https://127.0.0.1:{self._server.server_address[1]}"
        self.kubeconfig = cluster.kubeconfig(Identity(cert=cluster.admin_cert), "through-review-proxy", server=self.url)

    def stop(self):
        self._release.set()
        self._server.shutdown()
        self._server.server_close()

    def of_user(self, user: str) -> list:
        """The specs of the access reviews about that user."""
        return [r["spec"] for r in self.reviews[ACCESS] if r["spec"].get("user") == user]

    def _serve(self, handler):
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0)) or None
        kind = next((k for k in self.reviews if handler.path.split("?")[0].endswith(k)), None)
        if kind:
            review = json.loads(body)
            self.reviews[kind].append(review)
            if way := self.spoil(kind, review["spec"]):
                return self._spoiled(handler, way)
        return self._forward(handler, body)

    def _spoiled(self, handler, way: str):
        if way in ("drop", "hang"):
            if way == "hang":
                self._release.wait(60)
            handler.close_connection = True
            return
        status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "spoiled",
                  "code": int(way)}
        self._send(handler, int(way), json.dumps(status).encode(), "application/json")

    def _forward(self, handler, body):
        connection = self._upstream.connect()
        try:
            headers = {k: v for k, v in handler.headers.items()
                       if k.lower() not in ("host", "authorization", "connection", "accept-encoding")}
            connection.request(handler.command, handler.path, body, headers)
            answer = connection.getresponse()
            if answer.getheader("Content-Length") is not None:
                self._send(handler, answer.status, answer.read(), answer.getheader("Content-Type", ""))
                return
            handler.send_response(answer.status)
            handler.send_header("Content-Type", answer.getheader("Content-Type", ""))
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            while chunk := answer.read1(65536):
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            handler.wfile.write(b"0\r\n\r\n")
        finally:
            connection.close()

    @staticmethod
    def _send(handler, status, body, content_type):
        handler.send_response(status)
        handler.send_header("Content-Type", content_type)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
