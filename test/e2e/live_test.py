"""The live source: `flyball serve --metric-source=live`, without Prometheus and, here, without a cluster."""

import os
import sys
import time

import yaml

from harness import paths, ports, processes, wait
from harness.case import differs
from harness.client import Client, Identity
from harness.exporter import Exporter
from live_fixture import EXTERNAL, PODS, LiveCase


@differs("it asks Prometheus")
class Live(LiveCase):

    def test_a_pushed_sample_is_answered_and_its_metric_offered_without_a_relist(self):
        self.start("--metrics-relist-interval=1h", "--metrics-max-age=1h")
        self.assertEqual(self.ask("POST", "/api/v1/push", b"# TYPE jobs_waiting gauge\njobs_waiting 7\nunused 1\n").status, 204)
        wait.until(lambda: self.values(f"{EXTERNAL}/jobs_waiting") == ["7"], "the metric", 10)
        self.assertEqual(self.ask("POST", "/api/v1/push", b"jobs_waiting 9\n").status, 204)
        self.assertEqual(self.values(f"{EXTERNAL}/jobs_waiting"), ["9"])  # at once
        shown = self.ask("GET", "/metrics").text()
        self.assertIn("flyball_live_series 1\n", shown)
        self.assertIn('flyball_live_push_samples_total{outcome="taken"} 3\n', shown)

    def test_targets_of_a_scrape_configuration(self):
        busy = {'busy{pod="a",namespace="shop"}': 3}
        exporter = Exporter(lambda: busy)
        self.addCleanup(exporter.stop)
        (self.here / "scrape.yml").write_text(yaml.safe_dump({"scrape_configs": [
            {"job_name": "shop", "scrape_interval": "200ms", "scrape_timeout": "200ms",
             "static_configs": [{"targets": [exporter.address]}]}]}))
        self.start(f"--live-scrape-config={self.here / 'scrape.yml'}")
        wait.until(lambda: self.values(f"{PODS}/*/busy") == ["3"], "the first scrape", 10)
        busy['busy{pod="a",namespace="shop"}'] = 5
        wait.until(lambda: self.values(f"{PODS}/*/busy") == ["5"], "the next scrape", 10)
        busy.clear()
        wait.until(lambda: self.ask("GET", f"{PODS}/a/busy").status == 404, "the series has ended", 10)
        wait.until(lambda: 'flyball_live_targets{job="shop",health="up"} 1\n' in self.ask("GET", "/metrics").text(), "it is up", 20)

    def test_a_bad_scrape_configuration_is_named_by_its_place(self):
        (self.here / "scrape.yml").write_text("scrape_configs:\n- job_name: a\n  scrape_intervall: 1s\n")
        process = self.start(f"--live-scrape-config={self.here / 'scrape.yml'}", ready=False)
        self.assertNotEqual(process.wait(10), 0)
        self.assertIn("scrape.yml:3:3", process.text())

    def test_a_scrape_configuration_that_changes_is_in_force_and_with_a_fault_the_last_good_one(self):
        exporters = [Exporter(lambda n=n: {f'busy{{pod="a",namespace="shop",from="{n}"}}': n}) for n in (3, 5)]
        for exporter in exporters:
            self.addCleanup(exporter.stop)
        config = self.here / "scrape.yml"

        def write(exporter, more=""):
            config.write_text(yaml.safe_dump({"scrape_configs": [
                {"job_name": "shop", "scrape_interval": "200ms", "scrape_timeout": "200ms",
                 "static_configs": [{"targets": [exporter.address]}]}]}) + more)
        write(exporters[0])
        process = self.start(f"--live-scrape-config={config}")
        wait.until(lambda: self.values(f"{PODS}/*/busy") == ["3"], "the first target", 10)
        write(exporters[1], "unknown: 1\n")
        wait.until(lambda: "refused, the last good configuration stays" in process.text(), "the fault is told", 10)
        self.assertEqual(self.counted("flyball_live_scrape_config_reload_success "), 0)
        wait.until(lambda: self.values(f"{PODS}/*/busy") == ["3"], "the first target still", 20)
        write(exporters[1])
        wait.until(lambda: self.values(f"{PODS}/*/busy") == ["5"], "the other target, and the first one's series ended", 15)
        self.assertEqual(self.counted("flyball_live_scrape_config_reload_success "), 1)

    def test_who_may_push(self):
        tokens = self.here / "tokens.csv"
        tokens.write_text("s3cret,jane,1\n")
        self.start(f"--token-auth-file={tokens}")
        self.assertEqual(self.ask("POST", "/api/v1/push", b"jobs_waiting 1\n").status, 403)
        self.assertEqual(self.ask("POST", "/api/v1/push", b"jobs_waiting 1\n", token="wrong").status, 401)
        self.assertEqual(self.ask("POST", "/api/v1/push", b"jobs_waiting 1\n", token="s3cret").status, 204)
        too_long = self.ask("POST", "/api/v1/push", b"#" * (4 << 20), token="s3cret")
        self.assertEqual(too_long.status, 413)

    def test_a_prometheus_agent_writes_and_its_queries_are_answered(self):
        exporter = Exporter(lambda: {"jobs_waiting": 4})
        self.addCleanup(exporter.stop)
        self.start()
        folder = processes.fresh_folder("agent")
        (folder / "agent.yml").write_text(yaml.safe_dump({
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
            "scrape_configs": [{"job_name": "jobs", "static_configs": [{"targets": [exporter.address]}]}],
            "remote_write": [{"url": f"https://127.0.0.1:{self.port}/api/v1/write", "tls_config": {"insecure_skip_verify": True},
                              "queue_config": {"batch_send_deadline": "200ms"}}]}))
        agent = processes.Process("agent", [
            paths.debian("prometheus", "prometheus"), "--enable-feature=agent", f"--config.file={folder / 'agent.yml'}",
            f"--storage.agent.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{ports.free()}"])
        self.addCleanup(agent.kill)
        self.watched += (agent,)
        wait.until(lambda: self.values(f"{EXTERNAL}/jobs_waiting") == ["4"], "the written sample", 20)
        asked = self.ask("GET", "/api/v1/query?query=sum+by+(job)+(jobs_waiting)*2").json()
        self.assertEqual(asked["data"]["result"][0]["metric"], {"job": "jobs"})
        self.assertEqual(asked["data"]["result"][0]["value"][1], "8")
        self.assertEqual(self.ask("GET", "/api/v1/label/job/values").json()["data"], ["jobs"])
        wrong = self.ask("GET", "/api/v1/query?query=sum(")
        self.assertEqual((wrong.status, wrong.json()["errorType"]), (400, "bad_data"))

    def test_metrics_of_opentelemetry(self):
        self.start()
        point = {"timeUnixNano": str(time.time_ns()), "asDouble": 6}
        body = {"resourceMetrics": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "mail"}}]},
                                     "scopeMetrics": [{"metrics": [{"name": "jobs.waiting", "gauge": {"dataPoints": [point]}}]}]}]}
        client = Client(f"https://127.0.0.1:{self.port}", Identity())
        answer = client.request("POST", "/v1/metrics", body, {"Content-Type": "application/json"})
        self.assertEqual((answer.status, answer.json()), (200, {}))
        wait.until(lambda: self.values(f"{EXTERNAL}/jobs_waiting") == ["6"], "the metric", 10)

    def test_a_restart_goes_on_from_the_snapshot(self):
        process = self.start(f"--live-snapshot={self.here / 'samples'}")
        self.assertEqual(self.ask("POST", "/api/v1/push", b"jobs_waiting 7\n").status, 204)
        self.assertEqual(process.stop(), 0)
        self.start(f"--live-snapshot={self.here / 'samples'}")
        wait.until(lambda: self.values(f"{EXTERNAL}/jobs_waiting") == ["7"], "what was known before", 10)

    def test_processes_are_scaled_by_what_is_scraped_from_them(self):
        name = {"namespace": "shop", "name": "work"}
        target = {"apiVersion": "flyball.dev/v1alpha1", "kind": "ProcessSet", "name": "work"}
        self.write(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
            {"apiVersion": "flyball.dev/v1alpha1", "kind": "ProcessSet", "metadata": name, "spec": {
                "port": ports.free_row(4), "metricsPath": "/busy", "readiness": {"tcp": True}, "gracePeriod": "1s",
                "command": [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--directory", str(self.here), "$(PORT)"]}},
            {"apiVersion": "flyball.dev/v1alpha1", "kind": "Autoscaler", "metadata": name, "spec": {
                "mode": "Act", "scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 4, "cadence": {"onSample": True},
                "metrics": [{"type": "Pods", "pods": {"metric": {"name": "busy"},
                                                      "target": {"type": "AverageValue", "averageValue": "10"}}}]}})
        busy = self.here / "busy"
        busy.write_text("busy 10\n")
        self.start("--scaler", "--live-scrape-annotated-pods=200ms")

        def running():
            try:
                sets = yaml.safe_load((self.folder / ".processes.json").read_text())
            except (OSError, yaml.YAMLError):
                return 0
            return sum(p["ready"] and not p["ending"] for s in sets for p in s["processes"])

        wait.until(lambda: self.values(f"{PODS}/*/busy") == ["10"], "the first sample", 10)
        self.assertEqual(running(), 1)
        (self.here / "new").write_text("busy 30\n")
        os.replace(self.here / "new", busy)
        # Each process tells the same: three times too much until there are as many as there may be.
        wait.until(lambda: running() == 4, "four processes", 20)
