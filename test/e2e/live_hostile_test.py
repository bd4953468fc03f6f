"""Those who send samples and mean no good, and what fails around them: memory stays within its limits, and another sender's
pushes are answered meanwhile."""

import contextlib
import gzip
import json
import random
import socket
import ssl
import threading
import time
import urllib.parse

import yaml

from harness import remote_write, wait
from harness.case import differs
from harness.client import Client, Identity, tls_socket
from harness.exporter import Exporter
from harness.hostile_client import slow_in_a_row
from live_fixture import EXTERNAL, LiveCase

MOST_MIB = 160   # of the whole process; 100,000 series without history are a third of it
LONGEST = 2.0    # seconds that an honest push takes, on a machine that is busy with the attack
OTLP = {"Content-Type": "application/json"}


@differs("it takes no samples")
class LiveHostile(LiveCase):

    def send(self, series):
        return remote_write.send(self.client, series)

    def push(self, body, **headers):
        return self.client.request("POST", "/api/v1/write", body, {**remote_write.HEADERS, **headers})

    def one(self, name="jobs_waiting", value=1.0, at=None, **labels):
        return remote_write.labels(__name__=name, **labels), remote_write.sample(value, at or int(time.time() * 1000))

    def serve(self, *args):
        self.process = self.start(*args)
        self.client = Client(f"https://127.0.0.1:{self.port}", Identity())
        self.assertEqual(self.send([self.one(value=7.0)]).status, 204)

    @contextlib.contextmanager
    def honest(self, most=MOST_MIB):
        """Somebody pushes all the time, and is answered; the process takes no more memory than it may."""
        took, wrong, over = [], [], threading.Event()

        def pushes():
            while not over.is_set():
                began = time.monotonic()
                answer = Client(f"https://127.0.0.1:{self.port}", Identity()).request("POST", "/api/v1/push", b"jobs_waiting 7\n")
                took.append(time.monotonic() - began)
                if answer.status not in (204, 429):  # 429: four are under way, try again
                    wrong.append(str(answer))
                time.sleep(0.05)
        self.process.reset_peak_rss()
        thread = threading.Thread(target=pushes)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
        self.assertTrue(self.process.must_live())
        print(f"live: longest honest push {max(took, default=0) * 1000:.0f} ms, peak RSS {self.process.peak_rss_mib():.0f} MiB", flush=True)
        self.assertEqual(wrong, [])
        self.assertLess(slow_in_a_row(took, LONGEST), 3, "so many in a row")
        self.assertLess(self.process.peak_rss_mib(), most)

    def test_a_million_series_thrown_at_a_limit_of_a_hundred_thousand(self):
        self.serve("--live-max-series=100000", '--live-keep={__name__="thrown"}')
        now = int(time.time() * 1000)
        with self.honest():
            connection, refused = self.client.connect(), 0
            for first in range(0, 1_000_000, 10_000):
                answer = self.client.request("POST", "/api/v1/write", remote_write.snappy(remote_write.request(
                    self.one("thrown", at=now, i=str(i)) for i in range(first, first + 10_000))), remote_write.HEADERS, keep=connection)
                # 400: of that one a part was taken.
                self.assertIn(answer.status, (204, 400, 503), str(answer))
                refused += answer.status == 503
                if answer.status == 503:
                    self.assertIn("over the limit of 100000 series", answer.text())
                    self.assertIn("retry-after", answer.headers)
        self.assertGreaterEqual(refused, 90)
        self.assertEqual(self.counted("flyball_live_series "), 100_000)
        self.assertGreaterEqual(self.counted('flyball_live_series_refused_total{reason="max_series"}'), 890_000)
        wait.until(lambda: self.values(f"{EXTERNAL}/jobs_waiting") == ["7"], "what there was before goes on", 10)

    def test_samples_without_end_of_a_few_known_series(self):
        most = 8 << 20
        self.serve(f"--live-max-bytes={most}", '--live-keep={__name__="endless"}')
        connection, first = self.client.connect(), int(time.time() * 1000) - 60_000
        with self.honest(most=128):
            for batch in range(60):
                series = [(remote_write.labels(__name__="endless", i=str(i)),
                           b"".join(remote_write.sample(random.random(), first + batch * 500 + ms) for ms in range(500))) for i in range(100)]
                answer = self.client.request("POST", "/api/v1/write", remote_write.snappy(remote_write.request(series)), remote_write.HEADERS, keep=connection)
                self.assertEqual(answer.status, 204, str(answer))
        self.assertLess(self.counted("flyball_live_bytes "), most * 1.6)
        self.assertGreater(self.counted("flyball_live_sample_chunks_forgotten_total "), 100)

    def test_queries_that_each_take_what_they_may(self):
        self.serve('--live-keep={__name__="long"}')
        now = int(time.time() * 1000)
        for first in range(0, 4000, 200):
            self.assertEqual(self.send([
                (remote_write.labels(__name__="long", i=str(i), pod=f"pod-{i:060}"),
                 b"".join(remote_write.sample(i * 1.5 + ago, now - ago * 1000) for ago in range(200, 0, -1))) for i in range(first, first + 200)]).status, 204)
        deep = "-long or (" * 60 + "-long" + ")" * 60
        for query in (f"query_range?query=long&start={now // 1000 - 200}&end={now // 1000}&step=1", f"query?query=long[205s]&time={now // 1000}",
                      "query?" + urllib.parse.urlencode({"query": deep, "time": now // 1000}),
                      "query?" + urllib.parse.urlencode({"query": "sum(count_over_time((long)[200s:1s]))", "time": now // 1000}),
                      "query?" + urllib.parse.urlencode({"query": f'label_replace(long,"x","{"y" * 60_000}","","")', "time": now // 1000})):
            statuses = []

            def asks(path="/api/v1/" + query, statuses=statuses):
                statuses.append(Client(f"https://127.0.0.1:{self.port}", Identity()).get(path).status)
            rest = self.process.rss_mib()
            with self.honest():
                threads = [threading.Thread(target=asks) for _ in range(24)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
            print(f"live: 24 times {query[:60]}: {statuses[0]}, at rest {rest:.0f} MiB", flush=True)
            self.assertIn(set(statuses).pop(), (200, 422))
            self.assertEqual(len(set(statuses)), 1)
            self.assertLess(self.process.peak_rss_mib() - rest, 128)

    def test_bombs(self):
        self.serve()
        with self.honest():
            self.assertEqual(self.push(remote_write.snappy_bomb(40_000_000)).status, 413)
            # Says that it is small, and is not.
            bomb = remote_write.snappy_bomb(40_000_000)
            lying = remote_write.varint(1000) + bomb[len(remote_write.varint(40_000_000)):]
            self.assertEqual(self.push(lying).status, 400)
            self.assertEqual(self.push(remote_write.varint(2**32 - 1) + b"\x00\x00").status, 413)
            zeros = gzip.compress(b" " * 200_000_000)
            answer = self.client.request("POST", "/v1/metrics", zeros, {**OTLP, "Content-Encoding": "gzip"})
            self.assertEqual(answer.status, 413, str(answer))

    def test_small_requests_that_are_large_to_read(self):
        self.serve()
        points = (b'{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"a","gauge":{"dataPoints":[' + b"{}," * 1_390_000 + b"{}]}}]}]}]}",
                  b'{"resourceMetrics":[' + b"{}," * 1_390_000 + b"{}]}")
        long = [gzip.compress(b'{"resourceMetrics":[' + b"{}," * 11_000_000 + b"{}]}")]
        for body in [gzip.compress(one) for one in points] + long:
            statuses = []

            def sends(body=body, statuses=statuses):
                client = Client(f"https://127.0.0.1:{self.port}", Identity())
                statuses.append(client.request("POST", "/v1/metrics", body, {**OTLP, "Content-Encoding": "gzip"}).status)
            with self.honest(most=128):
                threads = [threading.Thread(target=sends) for _ in range(8)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
            self.assertLessEqual(set(statuses), {413, 429} if body is long[0] else {200, 429})

    def test_long_texts_that_an_error_would_repeat(self):
        self.serve()
        long, field = b"\x01" * (31 << 20), remote_write.field  # escaped they would be four times as long
        point = field(7, field(1, long) + field(2, field(1, b"x")))  # with an attribute of that key
        for metric in (field(1, long), field(1, b"a") + field(5, field(1, point))):
            packed = gzip.compress(field(1, field(2, field(2, metric))))
            with self.honest():
                answer = self.client.request("POST", "/v1/metrics", packed, {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"})
            self.assertEqual(answer.status, 200, str(answer)[:300])
            self.assertLess(len(answer.body), 4096)

    def test_slow_and_endless_bodies(self):
        self.serve()
        held = []
        with self.honest():
            for _ in range(64):
                slow = tls_socket(self.port)
                slow.sendall(b"POST /api/v1/write HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\nx")
                held.append(slow)
            for _ in range(20):
                for slow in held:
                    with contextlib.suppress(OSError):  # ended by the server: as good
                        slow.sendall(b"x")
                time.sleep(0.05)
            endless, end = tls_socket(self.port), time.monotonic() + 20
            endless.sendall(b"POST /api/v1/write HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            with self.assertRaises(OSError, msg="it is not taken for ever"):
                while time.monotonic() < end:
                    endless.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        for sock in (*held, endless):
            with contextlib.suppress(OSError, ssl.SSLError):
                sock.close()

    def test_a_million_labels(self):
        self.serve('--live-keep={__name__="many"}')
        names = b"".join(remote_write.field(1, remote_write.field(1, b"l%07d" % i) + remote_write.field(2, b"v")) for i in range(150_000))
        with self.honest():
            answer = self.push(remote_write.snappy(remote_write.request([(remote_write.labels(__name__="many") + names, self.one()[1])])))
            self.assertEqual(answer.status, 400, str(answer))
            page = b"many{" + b",".join(b'l%06d="v"' % i for i in range(200_000)) + b"} 1\n"
            answer = self.client.request("POST", "/api/v1/push", page)
            self.assertEqual(answer.status, 400, str(answer)[:300])
            self.assertLess(len(answer.body), 4096)
            # A label's name and value that are too long, beside a sample that is good.
            answer = self.send([self.one("many", long="x" * 100_000), self.one(value=8.0)])
            self.assertEqual(answer.status, 400)
            self.assertIn("1 of 2 samples", answer.text())
        self.assertEqual(self.counted('flyball_live_series_refused_total{reason="labels"}'), 3)

    def test_wrong_types(self):
        self.serve()
        good = remote_write.request([self.one(value=9.0)])
        with self.honest():
            for body in (b"", b"\xff" * 100, good, remote_write.snappy(b"\x0a\xff\xff\xff\xff\x0f"), remote_write.snappy(b"\x08" * 1000),
                         remote_write.snappy(remote_write.request([(remote_write.field(1, b"\x0a\xff"), self.one()[1])])), remote_write.snappy(good[:-3])):
                answer = self.push(body)
                self.assertIn(answer.status, (400, 413) if body else (204, 400), f"{body[:20]!r}: {answer}")
            for headers in ({"Content-Type": "text/plain"}, {"Content-Encoding": "zstd"}, {"Content-Type": "application/x-protobuf;proto=x"}):
                self.assertEqual(self.push(remote_write.snappy(good), **headers).status, 415, headers)
            for document in ([], {"resourceMetrics": 1}, {"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": 7}]}]}]}):
                answer = self.client.request("POST", "/v1/metrics", json.dumps(document).encode(), OTLP)
                self.assertEqual(answer.status, 400, f"{document}: {answer}")
            for page in (b"jobs_waiting seven\n", b"jobs_waiting{a=1} 7\n", b"\x00\xff\n", b'jobs_waiting{a="b} 7\n'):
                self.assertEqual(self.client.request("POST", "/api/v1/push", page).status, 400, page)
            self.assertEqual(self.client.request("DELETE", "/api/v1/write").status, 405)

    def test_duplicate_series(self):
        self.serve()
        at = int(time.time() * 1000)
        twice = self.send([self.one(value=1.0, at=at, q="a"), self.one(value=2.0, at=at, q="a"), self.one(value=3.0, at=at, q="b")])
        self.assertEqual(twice.status, 400)
        self.assertIn("1 of 3 samples were refused, the first one: duplicate sample", twice.text())
        # One label twice.
        labels = remote_write.labels(__name__="jobs_waiting", q="c")
        again = self.send([(labels + remote_write.labels(q="d"), remote_write.sample(1.0, at))])
        self.assertEqual(again.status, 400)
        wait.until(lambda: self.counted("flyball_live_series ") == 3, "the good ones are kept", 10)

    def test_hanging_targets_hold_nobody_else_up(self):
        hanging, kept = socket.create_server(("127.0.0.1", 0), backlog=200), []
        self.addCleanup(hanging.close)

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    kept.append(hanging.accept()[0])
        threading.Thread(target=accept, daemon=True).start()
        exporter = Exporter(lambda: {"jobs_waiting": time.time()})
        self.addCleanup(exporter.stop)
        port = hanging.getsockname()[1]
        (self.here / "scrape.yml").write_text(yaml.safe_dump({"scrape_configs": [
            {"job_name": "hangs", "scrape_interval": "500ms", "scrape_timeout": "500ms",
             "static_configs": [{"targets": [f"127.0.0.{i}:{port}" for i in (1,)], "labels": {"n": str(n)}} for n in range(200)]},
            {"job_name": "quick", "scrape_interval": "200ms", "scrape_timeout": "200ms", "static_configs": [{"targets": [exporter.address]}]}]}))
        self.process = self.start(f"--live-scrape-config={self.here / 'scrape.yml'}")
        self.client = Client(f"https://127.0.0.1:{self.port}", Identity())
        wait.until(lambda: self.counted('flyball_live_targets{job="hangs",health="down"}') == 200, "all hang", 20)
        ages = []
        for _ in range(20):
            found = self.client.get("/api/v1/query?query=timestamp(jobs_waiting)").json()["data"]["result"]
            ages.append(time.time() - float(found[0]["value"][1]) if found else 2)  # none: one scrape was late
            time.sleep(0.1)
        self.assertLess(sorted(ages)[10], 2)

    def test_a_half_written_snapshot(self):
        snapshot = self.here / "samples"
        self.serve(f"--live-snapshot={snapshot}", '--live-keep={__name__="kept"}')
        self.assertEqual(self.send([self.one("kept", i=str(i)) for i in range(5000)]).status, 204)
        self.assertEqual(self.process.stop(), 0)
        whole = snapshot.read_bytes()
        for size in (len(whole) // 2, 25, 0):
            snapshot.write_bytes(whole[:size])
            process = self.start(f"--live-snapshot={snapshot}", '--live-keep={__name__="kept"}')
            self.client = Client(f"https://127.0.0.1:{self.port}", Identity())
            self.assertIn("--live-snapshot: ", process.text())
            self.assertLess(self.counted("flyball_live_series "), 5001)
            self.assertEqual(self.send([self.one(value=7.0)]).status, 204)
            process.kill()
