"""Pods whose pages mean no good, as anybody who may run a pod can have them scraped."""

import contextlib
import gzip
import itertools
import socket
import threading
import time

from harness import wait
from harness.case import differs
from live_fixture import PODS, LiveCase

OK = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n"
CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n"
BUDGET = 64 << 20


def page(body: bytes, more=b"") -> bytes:
    return OK + more + b"content-length: %d\r\n\r\n" % len(body) + body


def endless(start: bytes, piece: bytes, pause=0.0):
    def answer(connection):
        connection.sendall(start)
        while True:
            connection.sendall(piece)
            time.sleep(pause)
    return answer


def redirect(to: str):
    return lambda _: b"HTTP/1.1 302 Found\r\nlocation: %s\r\ncontent-length: 0\r\n\r\n" % to.encode()


def ever_new():
    """Each time 45,000 series that nobody has seen."""
    times = itertools.count()

    def answer(_):
        time_ = next(times)
        return page(b"".join(b'busy{n="%d_%d"} 1\n' % (time_, i) for i in range(45_000)))
    return answer


class Pod:
    """A server; `answer` gets the connection of each request, and returns what to send, or None to end it."""

    def __init__(self, answer):
        self._answer, self.asked = answer, 0
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=200)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self._listener.accept()[0],), daemon=True).start()

    def _serve(self, connection):
        with connection, contextlib.suppress(OSError):
            asked = b""
            while more := connection.recv(65536):
                asked += more
                if b"\r\n\r\n" not in asked:
                    continue
                asked = b""
                self.asked += 1
                if (said := self._answer(connection)) is None:
                    return
                connection.sendall(said)

    def stop(self):
        self._listener.close()


@differs("it scrapes nothing")
class LivePages(LiveCase):

    def pod(self, answer) -> Pod:
        pod = Pod(answer)
        self.addCleanup(pod.stop)
        return pod

    def put(self, **namespaces):
        """namespace={name: Pod}"""
        self.write(*({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ns}} for ns in namespaces), *({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": ns, "uid": f"{ns}-{name}", "annotations": {
                "prometheus.io/scrape": "true", "prometheus.io/port": str(pod.port)}},
            "spec": {"containers": [{"name": "app"}]}, "status": {"phase": "Running", "podIP": "127.0.0.1"}}
            for ns, pods in namespaces.items() for name, pod in pods.items()))

    def busy(self, name: str) -> list:
        return self.values(f"{PODS}/{name}/busy")

    def test_pages_that_mean_no_good_delay_no_other(self):
        count, secret = itertools.count(1), self.pod(lambda _: page(b"busy 666\n"))
        far = (int(time.time()) + 10**6) * 1000
        hostile = {name: self.pod(answer) for name, answer in {
            "endless": endless(OK + b"\r\n", b"busy 1\n" * 10_000),
            "line": endless(CHUNKED, b"%x\r\n" % 60_000 + b"b" * 60_000 + b"\r\n"),
            "extension": endless(CHUNKED + b"1;", b"x" * 60_000),
            "headers": endless(OK, b"x-more: 1\r\n" * 5000),
            "header": endless(OK + b"x-more: ", b"x" * 60_000),
            "continues": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
            "trickle": endless(OK + b"content-length: 100000\r\n\r\n", b"b", 0.1),
            "bomb": lambda _, bomb=gzip.compress(b"busy 1\n" * 10_000_000): page(bomb, b"content-encoding: gzip\r\n"),
            "long": lambda _: OK + b"content-length: 18446744073709551615\r\n\r\nbusy 1\n",
            "negative": lambda _: OK + b"content-length: -1\r\n\r\nbusy 1\n",
            "redirect": redirect(f"http://127.0.0.1:{secret.port}/"),
            "loop": redirect("/metrics"),
            "future": lambda _: page(b"busy 77 %d\n" % far),
            "never": lambda _: page(b"busy 77 9223372036854775807\n"),
            "claims": lambda _: page(b'busy{namespace="shop",pod="honest"} 1e6\n{"busy","namespace"="shop","pod"="honest",container="app"} 1e6\n'),
        }.items()}
        self.put(shop={"honest": self.pod(lambda _: page(b"busy %d\n" % next(count)))}, evil=hostile)
        process = self.start("--scaler", "--live-scrape-annotated-pods=1s")
        wait.until(lambda: self.busy("honest"), "the first sample", 20)
        rest = process.rss_mib()
        for _ in range(20):
            process.must_live()
            last = int(wait.until(lambda: self.busy("honest"), "a sample", 20)[0])
            wait.until(lambda: self.busy("honest")[0] != str(last), "the next sample", 20)  # pylint: disable=cell-var-from-loop
        self.assertTrue(all(pod.asked >= 3 for pod in hostile.values()), {name: pod.asked for name, pod in hostile.items()})
        self.assertEqual(secret.asked, 0)
        self.assertLess(last, 1000, "nobody else says what it does")
        self.assertLess(process.peak_rss_mib() - rest, 2 * BUDGET / 2**20)

    def test_ever_new_series_of_one_namespace_keep_no_other_out(self):
        greedy = {f"greedy{i}": self.pod(ever_new()) for i in range(2)}
        first, later = (self.pod(lambda _: page(b"busy 1\n")) for _ in range(2))
        self.put(shop={"first": first}, evil=greedy)
        self.start("--scaler", "--live-scrape-annotated-pods=1s", "--live-max-series=100000")
        wait.until(lambda: self.counted('flyball_live_series_refused_total{reason="max_series"}'), "that they are refused", 30)
        self.put(shop={"first": first, "later": later}, evil=greedy)
        wait.until(lambda: self.busy("later") == ["1"], "the series of a new pod", 20)
        self.assertEqual(self.busy("first"), ["1"])
