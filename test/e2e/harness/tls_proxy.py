"""A man in the middle before kube-apiserver: TLS, threads, keep-alive; what it does with a request is its subclass's."""

import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .client import Client, Identity
from .control_plane import ControlPlane

_OWN_HEADERS = ("host", "authorization", "connection", "accept-encoding", "content-length")


class TlsProxy:
    """Speaks to the API server as `identity`. A subclass has _serve(handler, body); an exception there ends the connection
    without an answer, as an API server that goes away does."""

    def __init__(self, cluster: ControlPlane, identity: Identity):
        self._upstream = Client(cluster.url, identity, timeout=3600)
        self._streams = set()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            upstream = None

            def _any(self):
                try:
                    proxy._serve(self, self.rfile.read(int(self.headers.get("Content-Length") or 0)) or None)
                except Exception:  # pylint: disable=broad-except
                    self.close_connection = True
                    self.drop()

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _any

            def drop(self):
                if self.upstream:
                    self.upstream.close()
                    self.upstream = None

            def finish(self):
                self.drop()
                super().finish()

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):
                pass

        pair = cluster.ca.server("127.0.0.1")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.cert, pair.key)
        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"https://127.0.0.1:{self._server.server_address[1]}"

    def stop(self):
        self.cut_watches()
        self._server.shutdown()
        self._server.server_close()

    def cut_watches(self) -> int:
        """Breaks every stream that is open now, in the middle. How many there were."""
        streams = list(self._streams)
        for handler in streams:
            try:
                handler.connection.shutdown(2)
            except OSError:
                pass
        return len(streams)

    def _serve(self, handler, body):
        raise NotImplementedError

    def _forward(self, handler, body):
        """Passes the request on, and its answer back as it comes."""
        answer = self._ask(handler, body)
        if answer.getheader("Content-Length") is None:
            self._stream(handler, answer)
        else:
            self._send(handler, answer.status, answer.read(), answer.getheader("Content-Type", ""))

    def _ask(self, handler, body):
        headers = {k: v for k, v in handler.headers.items() if k.lower() not in _OWN_HEADERS}
        fresh = handler.upstream is None
        for _ in range(2):
            if handler.upstream is None:
                handler.upstream = self._upstream.connect()
            try:
                handler.upstream.request(handler.command, handler.path, body, headers)
                return handler.upstream.getresponse()
            except OSError:
                handler.drop()
                if fresh or handler.command != "GET":
                    raise
        raise OSError("unreachable")

    def _stream(self, handler, answer):
        self._streams.add(handler)
        try:
            handler.send_response(answer.status)
            handler.send_header("Content-Type", answer.getheader("Content-Type", ""))
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            while chunk := answer.read1(65536):
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            handler.wfile.write(b"0\r\n\r\n")
        finally:
            self._streams.discard(handler)
            handler.drop()

    @staticmethod
    def _send(handler, status, body, content_type, headers=None):
        handler.send_response(status)
        handler.send_header("Content-Type", content_type)
        handler.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)
