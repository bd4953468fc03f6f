"""A target for Prometheus whose series a test sets while it runs."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Exporter:
    """Serves at every path what `source` says at that moment: {'name{label="x"}': value}."""

    def __init__(self, source=dict):
        self.source = source
        exporter = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                body = exporter.text().encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def text(self) -> str:
        return "".join(f"{series} {value}\n" for series, value in self.source().items())

    def stop(self):
        self._server.shutdown()
        self._server.server_close()
