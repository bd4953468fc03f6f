"""The two that take samples: Debian's Prometheus and flyball's live source, each behind TLS, on loopback."""

import json
import subprocess

import yaml

from harness import paths, pki, ports, processes, wait
from harness.client import Client, Identity

TOKEN = "bench"
ANYTHING = '{__name__=~".+"}'
RULES = {"rules": [], "externalRules": [{"seriesQuery": "load", "resources": {"overrides": {"namespace": {"resource": "namespace"}}},
                                         "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"}]}


class Server:
    """One of them: `url`, `process`, and how many samples it has taken."""

    def __init__(self, name: str, argv: list, port: int, token: str, ready: str, taken: list):
        self.name, self.token, self._taken = name, token, taken
        self.url = f"https://127.0.0.1:{port}"
        self.process = processes.Process(name, argv)
        self.client = Client(self.url, Identity(token=token))
        wait.until(lambda: self.process.must_live() and self.client.get(ready).status == 200, f"{name} ready", 60)

    def samples(self) -> float:
        lines = self.client.get("/metrics").text().splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if any(line.startswith(name) for name in self._taken))

    def query(self, path: str):
        answer = self.client.get(path)
        assert answer.status == 200, str(answer)
        return answer.json()["data"]["result"]

    def stop(self):
        self.process.stop()


def prometheus(scrape_configs=()) -> Server:
    folder, port = processes.fresh_folder("prometheus"), ports.free()
    pair = pki.Authority("bench").server("127.0.0.1")
    (folder / "web.yml").write_text(json.dumps({"tls_server_config": {"cert_file": str(pair.cert), "key_file": str(pair.key)}}))
    (folder / "prometheus.yml").write_text(json.dumps({"scrape_configs": list(scrape_configs)}))
    return Server("prometheus", [
        paths.debian("prometheus", "prometheus"), f"--config.file={folder / 'prometheus.yml'}",
        f"--web.config.file={folder / 'web.yml'}", f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}", "--web.enable-remote-write-receiver", "--log.level=warn"],
        port, "", "/-/ready", ["prometheus_tsdb_head_samples_appended_total"])


def flyball(scrape_configs=(), *more, folder=None, rules=None) -> Server:
    """`more`: further flags. `folder`: the objects; none without it."""
    here, port = processes.fresh_folder("flyball-live"), ports.free()
    objects = folder or here / "objects"
    objects.mkdir(exist_ok=True)
    (here / "rules.yaml").write_text(yaml.safe_dump(rules or RULES))
    (here / "tokens.csv").write_text(f"{TOKEN},bench,1\n")
    (here / "scrape.yml").write_text(yaml.safe_dump({"scrape_configs": list(scrape_configs)}))
    return Server("flyball", [
        paths.flyball(), "serve", f"--config={here / 'rules.yaml'}", f"--objects={objects}", f"--secure-port={port}",
        "--bind-address=127.0.0.1", f"--cert-dir={here / 'certs'}", f"--token-auth-file={here / 'tokens.csv'}",
        "--metric-source=live", f"--live-scrape-config={here / 'scrape.yml'}", *more],
        port, TOKEN, "/readyz", ['flyball_live_push_samples_total{outcome="taken"}', "flyball_live_scraped_samples_total "])


def send(server: Server, series: int, from_ms: int, step_ms: int, steps: int, threads: int = 2) -> dict:
    """Samples by remote write, as fast as they are taken."""
    done = subprocess.run([paths.PROJECT / "build" / "release" / "bin" / "live_sender", server.url + "/api/v1/write", server.token,
                           str(series), str(from_ms), str(step_ms), str(steps), str(threads)],
                          capture_output=True, text=True, timeout=1200, check=False)
    if done.returncode != 0:
        raise SystemError(f"{server.name}: {done.stderr}{done.stdout}\n{server.process.tail()}")
    return json.loads(done.stdout)
