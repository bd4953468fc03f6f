"""Programs that others wrote, against the live source: promtool asks it; prometheus_client is scraped, the OpenTelemetry SDK
sends."""

import json
import pathlib
import sys
import time
import urllib.parse

from harness import library_client, paths, pki, ports, processes, wait
from harness.case import differs
from live_fixture import LiveCase
from machine import needs

LIBRARIES = paths.PEERS / "python"
CLIENT = [sys.executable, pathlib.Path(library_client.__file__)]
ASKED = '--live-keep={__name__=~"asked.*|target_info"}'


def environment() -> dict:
    """Of programs that use the libraries."""
    if not LIBRARIES.exists():
        needs.missing("test/peers/build could not fetch the Python libraries")
    return {"PYTHONPATH": str(LIBRARIES)}


@differs("it keeps no samples")
class LiveClients(LiveCase):

    def test_promtool_queries(self):
        authority = pki.Authority("promtool")
        pair = authority.server("127.0.0.1")
        self.start('--live-keep={__name__=~"asked_.*"}', f"--tls-cert-file={pair.cert}", f"--tls-private-key-file={pair.key}")
        begin = int(time.time()) - 60
        for at in range(begin, begin + 61, 5):
            page = f'asked_total{{pod="a"}} {at - begin} {at * 1000}\nasked_total{{pod="b"}} {2 * (at - begin)} {at * 1000}\n'
            self.assertEqual(self.ask("POST", "/api/v1/push", page.encode()).status, 204)

        def promtool(command, *args):
            done = processes.run(["promtool", "query", command, *args], env={"SSL_CERT_FILE": str(authority.cert)})
            return done.returncode, done.stdout + done.stderr

        server = f"https://127.0.0.1:{self.port}"
        code, told = promtool("instant", f"--time={begin + 60}", server, "sum by (pod) (asked_total)")
        self.assertEqual((code, sorted(told.split("\n"))[1:]), (0, [f'{{pod="a"}} => 60 @[{begin + 60}]', f'{{pod="b"}} => 120 @[{begin + 60}]']))
        code, told = promtool("range", f"--start={begin}", f"--end={begin + 60}", "--step=30s", server, 'asked_total{pod="a"}')
        self.assertEqual((code, told.split()[2:]), (0, ["0", f"@[{begin}]", "30", f"@[{begin + 30}]", "60", f"@[{begin + 60}]"]))
        code, told = promtool("series", "--match=asked_total", server)
        self.assertEqual((code, told.split("\n")[:2]), (0, ['{__name__="asked_total", pod="a"}', '{__name__="asked_total", pod="b"}']))
        self.assertEqual(promtool("labels", server, "pod"), (0, "a\nb\n"))
        code, told = promtool("instant", server, "sum(")
        self.assertEqual(code, 1)
        self.assertIn("parse error", told)

    def answer(self, query):
        """What the samples of an instant query are: labels and value."""
        found = self.ask("GET", "/api/v1/query?" + urllib.parse.urlencode({"query": query})).json()["data"]["result"]
        return sorted((json.dumps(row["metric"], sort_keys=True), row["value"][1]) for row in found)

    def test_prometheus_client_is_scraped(self):
        port = ports.free()
        exporter = processes.Process("exporter", [*CLIENT, "exporter", port], env=environment())
        self.addCleanup(exporter.kill)
        (self.here / "scrape.yml").write_text(json.dumps({"scrape_configs": [
            {"job_name": "lib", "scrape_interval": "200ms", "scrape_timeout": "200ms", "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}]}))
        self.start(ASKED, f"--live-scrape-config={self.here / 'scrape.yml'}")
        wait.until(lambda: self.answer('sum by (code) (asked_total{job="lib"})') == [('{"code": "200"}', "5")], "the counter", 20)
        # A scrape that takes too long ends the series until the next one.
        buckets = [(f'{{"le": "{le}"}}', count) for le, count in (("+Inf", "4"), ("0.1", "1"), ("1.0", "2"), ("10.0", "3"))]
        wait.until(lambda: self.answer("sum by (le) (asked_seconds_bucket)") == buckets, "the histogram", 20)
        wait.until(lambda: self.answer("sum(asked_seconds_sum)") == [("{}", "55.55")], "its sum", 20)
        self.assertEqual(self.ask("GET", "/api/v1/metadata?metric=asked_seconds").json()["data"]["asked_seconds"][0]["type"], "histogram")

    def test_the_opentelemetry_sdk_sends(self):
        authority = pki.Authority("otlp")
        pair = authority.server("127.0.0.1")
        self.start(ASKED, f"--tls-cert-file={pair.cert}", f"--tls-private-key-file={pair.key}")
        sent = processes.run([*CLIENT, "otlp", f"https://127.0.0.1:{self.port}/v1/metrics", str(authority.cert)],
                             env={**environment(), "REQUESTS_CA_BUNDLE": str(authority.cert)})
        self.assertEqual((sent.returncode, sent.stderr), (0, ""))
        own = '{"code": "200", "instance": "a", "job": "shop/mail"}'
        self.assertEqual(self.answer("sum by (code, job, instance) (asked_total)"), [(own, "5")])
        self.assertEqual(self.answer("sum by (le) (asked_duration_seconds_bucket)"), [
            (f'{{"le": "{le}"}}', count) for le, count in (("+Inf", "4"), ("0.1", "1"), ("1", "2"), ("10", "3"))])
        self.assertEqual(self.answer("jobs_waiting")[0][1], "7")
        self.assertEqual(len(self.answer('target_info{job="shop/mail",telemetry_sdk_language="python"}')), 1)
