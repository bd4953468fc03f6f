"""Debian's Prometheus, scraping exporters of this run every second."""

import json

from . import paths, ports, processes, wait
from .client import Client


class Prometheus:
    """One real Prometheus. `targets` maps a job name to host:port; labels are taken as the exporter gives them."""

    def __init__(self, targets: dict, scrape_interval: str = "1s", scrape_timeout: str = "1s"):
        folder = processes.fresh_folder("prometheus")
        port = ports.free()
        self.url = f"http://127.0.0.1:{port}"
        config = {"global": {"scrape_interval": scrape_interval, "scrape_timeout": scrape_timeout},
                  "scrape_configs": [{"job_name": job, "honor_labels": True,
                                      "static_configs": [{"targets": [address]}]}
                                     for job, address in targets.items()]}
        (folder / "prometheus.yml").write_text(json.dumps(config))
        self._argv = [
            paths.debian("prometheus", "prometheus"), f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{port}",
            "--log.level=warn"]
        self._client = Client(self.url)
        self.start()

    def start(self):
        """Also the way back after `stop`: same port, same data."""
        self.process = processes.Process("prometheus", self._argv)
        wait.until(lambda: self.process.must_live() and self._client.get("/-/ready").status == 200,
                   "prometheus ready", timeout=60)

    def query(self, promql: str) -> list:
        """The instant vector."""
        from urllib.parse import urlencode
        return self._client.get("/api/v1/query?" + urlencode({"query": promql})).json()["data"]["result"]

    def wait_for(self, promql: str, count: int = 1, timeout: float = 30.0):
        """Until the query has at least that many samples."""
        wait.until(lambda: len(self.query(promql)) >= count, f"prometheus: {promql}", timeout, every=0.2)

    def queries_served(self) -> float:
        """Requests to /api/v1/query so far, by Prometheus' own count."""
        total = 0.0
        for line in self._client.get("/metrics").text().splitlines():
            if line.startswith("prometheus_http_requests_total{") and 'handler="/api/v1/query"' in line:
                total += float(line.rsplit(" ", 1)[1])
        return total

    def stop(self):
        self.process.stop()
