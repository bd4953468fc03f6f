"""Both sources: the live one answers what it has seen whole, Prometheus the rest, and it is told which of the two it was."""

from harness import wait
from harness.case import differs
from harness.exporter import Exporter
from harness.prometheus import Prometheus
from live_fixture import EXTERNAL, LiveCase


@differs("it asks Prometheus")
class LiveAndPrometheus(LiveCase):

    def answered_by(self):
        rules = self.ask("GET", "/debug/rules").json()["rules"]
        rule = next(r for r in rules if "jobs_waiting" in str(r))
        answer = rule["queries"]["lastAnswer"]
        self.assertIn("jobs_waiting", answer["promql"])
        self.assertEqual(answer["values"], 1)
        return rule["answeredBy"]

    def test_the_answer_says_which_of_both_gave_it(self):
        exporter = Exporter(lambda: {"jobs_waiting": 3})
        self.addCleanup(exporter.stop)
        prometheus = Prometheus({"jobs": exporter.address})
        self.addCleanup(prometheus.stop)
        prometheus.wait_for("jobs_waiting")
        process = self.start("--metric-source=prometheus+live", f"--prometheus-url={prometheus.url}", "--live-warmup=3s", "--metrics-relist-interval=1s",
                             "--metrics-max-age=60s")
        wait.until(lambda: f"prometheus: {prometheus.url} says that it is version " in process.text(), "the log says the version", 15)
        wait.until(lambda: self.values(f"{EXTERNAL}/jobs_waiting") == ["3"], "Prometheus answers", 15)
        self.assertEqual(self.answered_by(), "prometheus")

        def pushed():
            self.assertEqual(self.ask("POST", "/api/v1/push", b"jobs_waiting 7\n").status, 204)
            return self.values(f"{EXTERNAL}/jobs_waiting") == ["7"]
        wait.until(pushed, "the live source takes over", 15, every=0.3)
        self.assertEqual(self.answered_by(), "live")
        # It goes on without Prometheus.
        prometheus.stop()
        self.assertEqual(self.ask("POST", "/api/v1/push", b"jobs_waiting 8\n").status, 204)
        self.assertEqual(self.values(f"{EXTERNAL}/jobs_waiting"), ["8"])
        for source in ("live", "prometheus"):
            self.assertGreater(self.counted(f'flyball_query_answers_total{{source="{source}"}}'), 0)
