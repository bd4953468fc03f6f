"""The example service: one pod of a small web shop that counts its requests and shows a queue.

Started as `service.py --pod web-1`; prints the port it listens on, one of its own choice unless it is given, and serves until
it is ended.
"""

import argparse
import http.server
import os
import resource
import signal
import sys
import threading
import time


class Shop:
    """What the pod knows of itself, shared by the threads that serve requests."""

    def __init__(self):
        self.lock = threading.Lock()
        self.requests = {}
        self.in_flight = 0

    def began(self):
        with self.lock:
            self.in_flight += 1

    def ended(self, code):
        with self.lock:
            self.in_flight -= 1
            self.requests[code] = self.requests.get(code, 0) + 1

    def exposition(self):
        usage = resource.getrusage(resource.RUSAGE_SELF)
        with open("/proc/self/statm", encoding="ascii") as statm:
            resident = int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        with self.lock:
            lines = ["# TYPE http_requests_total counter"]
            lines += [f'http_requests_total{{code="{code}"}} {n}' for code, n in sorted(self.requests.items())]
            lines += ["# TYPE http_requests_in_flight gauge", f"http_requests_in_flight {self.in_flight}"]
            lines += ["# TYPE queue_depth gauge", f'queue_depth{{queue="orders"}} {self.in_flight}']
        lines += ["# TYPE process_cpu_seconds_total counter",
                  f"process_cpu_seconds_total {usage.ru_utime + usage.ru_stime:.6f}",
                  "# TYPE process_resident_memory_bytes gauge", f"process_resident_memory_bytes {resident}"]
        return ("\n".join(lines) + "\n").encode()


def handler_for(shop, work):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            if self.path == "/metrics":
                self.answer(200, shop.exposition(), "text/plain; version=0.0.4")
                return
            shop.began()
            code = 200 if self.path.startswith("/order") else 404
            time.sleep(work)  # on an order
            self.answer(code, b"thank you\n", "text/plain")
            shop.ended(code)

        def answer(self, code, body, kind):
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    return Handler


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pod", required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--work", type=float, default=0.005, help="seconds that an order takes")
    parser.add_argument("--drain", type=float, default=0, help="seconds that it goes on serving once it is told to end")
    options = parser.parse_args()
    server = Server(("127.0.0.1", options.port), handler_for(Shop(), options.work))
    # It keeps nothing, so it may end at once; behind a proxy, once what is on its way to it is answered.
    signal.signal(signal.SIGTERM, lambda *_: threading.Timer(options.drain, os._exit, (0,)).start())
    print(server.server_address[1], flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
