"""How many samples each takes in a second of its own CPU time: by scraping text, and by remote write."""

import http.server
import threading
import time

from . import servers

TARGETS, SERIES = 8, 10_000  # of each target
SCRAPES_FOR = 15  # seconds
WRITTEN_SERIES, WRITTEN_STEPS = 20_000, 60


class Pages:
    """Targets whose pages were rendered beforehand, eight of each, so that most values change from scrape to scrape."""

    def __init__(self):
        pages = [self.page(turn) for turn in range(8)]
        turns = iter(range(1 << 62))

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                body = pages[next(turns) % len(pages)]
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) for _ in range(TARGETS)]
        for server in self.servers:
            server.daemon_threads = True
            threading.Thread(target=server.serve_forever, daemon=True).start()

    @staticmethod
    def page(turn: int) -> bytes:
        lines = []
        for i in range(SERIES):
            if i % 50 == 0:
                lines.append(f"# HELP app_metric_{i // 50}_total Requests by code, handler and method.\n"
                             f"# TYPE app_metric_{i // 50}_total counter\n")
            value = i * 1000 + turn * (i % 21) if i % 3 else i / 8
            lines.append(f'app_metric_{i // 50}_total{{code="{200 + i % 5}",handler="/api/v1/things/{i % 17}",method="GET",'
                         f'shard="{i % 50}"}} {value}\n')
        return "".join(lines).encode()

    def config(self) -> list:
        # Without gzip: what is measured is reading text, and Python would compress slower than both read.
        return [{"job_name": "bench", "scrape_interval": "500ms", "scrape_timeout": "500ms", "static_configs": [
            {"targets": [f"127.0.0.1:{s.server_address[1]}" for s in self.servers]}]}]

    def stop(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()


def scraped(make) -> float:
    pages = Pages()
    server = make(pages.config())
    time.sleep(4)  # the first scrapes make the series
    samples, cpu = server.samples(), server.process.cpu_seconds()
    time.sleep(SCRAPES_FOR)
    samples, cpu = server.samples() - samples, server.process.cpu_seconds() - cpu
    server.stop()
    pages.stop()
    assert samples > SERIES * TARGETS * 5, f"{server.name}: {samples} samples"
    return samples / cpu


def written(make) -> float:
    server = make()
    start = int(time.time()) * 1000 - (WRITTEN_STEPS + 3) * 1000
    servers.send(server, WRITTEN_SERIES, start, 1000, 3)  # makes the series
    samples, cpu = server.samples(), server.process.cpu_seconds()
    sent = servers.send(server, WRITTEN_SERIES, start + 3000, 1000, WRITTEN_STEPS)
    samples, cpu = server.samples() - samples, server.process.cpu_seconds() - cpu
    server.stop()
    assert samples >= sent["samples"], f"{server.name}: {samples} of {sent['samples']} samples"
    return samples / cpu


def measure() -> dict:
    def ours(config=()):
        return servers.flyball(config, f"--live-keep={servers.ANYTHING}")
    return {"text": {"prometheus": scraped(servers.prometheus), "flyball": scraped(ours)},
            "remote_write": {"prometheus": written(servers.prometheus), "flyball": written(ours)}}
