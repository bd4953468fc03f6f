"""A restart that goes on from Prometheus: what Debian's has of the series is known at once."""

import time

import yaml

from harness import wait
from harness.case import differs
from harness.exporter import Exporter
from harness.prometheus import Prometheus
from live_fixture import EXTERNAL, RESOURCES, LiveCase

WINDOW = 20  # seconds
RULES = {"externalRules": [{"seriesQuery": "jobs_waiting", "resources": {"namespaced": False},
                            "metricsQuery": f"sum(max_over_time(<<.Series>>{{<<.LabelMatchers>>}}[{WINDOW}s]))"},
                           {"seriesQuery": 'other{namespace!=""}', "resources": RESOURCES, "metricsQuery": "sum(<<.Series>>)"}]}


@differs("it asks Prometheus")
class LiveWarmStart(LiveCase):

    def setUp(self):
        super().setUp()
        self.waiting = {"jobs_waiting": 9}
        self.exporter = Exporter(lambda: self.waiting)
        self.addCleanup(self.exporter.stop)
        self.prometheus = Prometheus({"jobs": self.exporter.address})
        self.addCleanup(self.prometheus.stop)
        wait.until(lambda: self.prometheus.query(f"count_over_time(jobs_waiting[{WINDOW + 5}s]) >= {WINDOW + 2}"), "a past", 60)
        self.waiting["jobs_waiting"] = 3

    def scraping(self, job, *more):
        (self.here / "scrape.yml").write_text(yaml.safe_dump({"scrape_configs": [
            {"job_name": job, "scrape_interval": "500ms", "scrape_timeout": "500ms", "honor_labels": True,
             "static_configs": [{"targets": [self.exporter.address]}]}]}))
        return self.start(f"--live-scrape-config={self.here / 'scrape.yml'}", f"--prometheus-url={self.prometheus.url}", "--live-warmup=2s",
                          "--metrics-relist-interval=1s", "--metrics-max-age=60s", *more, config=RULES)

    def test_a_window_is_whole_with_the_samples_of_prometheus(self):
        began = time.time()
        process = self.scraping("jobs")
        # Only before the start were there nine.
        wait.until(lambda: self.values(f"{EXTERNAL}/jobs_waiting") == ["9"], "the window of before", WINDOW - 4)
        self.assertLess(time.time() - began, WINDOW - 2)
        wait.until(lambda: "go on from" in process.text(), "it is told", 5)
        # Prometheus is not needed any more.
        self.prometheus.stop()
        wait.until(lambda: self.values(f"{EXTERNAL}/jobs_waiting") == ["3"], "the window moves on", WINDOW + 10)

    def test_series_of_other_labels_are_no_past(self):
        process = self.scraping("tasks")
        wait.until(lambda: "may be the same under other labels" in process.text(), "it is told", WINDOW - 4)
        self.assertEqual(self.values(f"{EXTERNAL}/jobs_waiting"), [])

    def test_a_prometheus_that_is_away_keeps_nobody_from_starting(self):
        self.prometheus.stop()
        began = time.time()
        process = self.scraping("jobs")
        self.assertLess(time.time() - began, 10)
        wait.until(lambda: "is not known: prometheus" in process.text(), "it is told", WINDOW)
        wait.until(lambda: self.values(f"{EXTERNAL}/jobs_waiting") == ["3"], "a window of its own", WINDOW + 10)
