"""Runs one program through the work and says what it took."""

import re
import statistics
import time
from dataclasses import asdict, dataclass

from harness import adapter, paths, processes, wait
from harness.client import Identity

from . import world as w

CONNECTIONS = 8
_LUA = """local requests, i = {}, 0
init = function(args)
  for _, path in ipairs({ %s }) do requests[#requests + 1] = wrk.format("GET", path) end
end
request = function() i = i + 1; return requests[i %% #requests + 1] end
"""


@dataclass
class Cell:
    """One program doing one kind of work."""
    requests: int
    requests_per_second: float
    p50_ms: float
    p99_ms: float
    errors: int
    cpu_seconds_per_1000: float
    queries_per_second: float
    different_queries: int
    seconds: float

    def as_dict(self) -> dict:
        return asdict(self)


def _milliseconds(text: str) -> float:
    value, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text).groups()
    return float(value) * {"us": 1e-3, "ms": 1, "s": 1000, "m": 60000}[unit]


def _wrk(url: str, token: str, work: list, seconds: int) -> dict:
    script = processes.fresh_folder("wrk") / "paths.lua"
    script.write_text(_LUA % ", ".join(f'"{p}"' for p in work))
    done = processes.run([paths.debian("wrk", "wrk"), "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout", "30s", "--latency",
                          "-H", f"Authorization: Bearer {token}", "-s", script, url], timeout=seconds + 60)
    text = done.stdout
    if done.returncode != 0 or "Requests/sec" not in text:
        raise SystemError(f"wrk: {done.stderr}{text}")
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    sockets = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    return {"requests": int(re.search(r"(\d+) requests in", text).group(1)),
            "rate": float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1)),
            "p50": _milliseconds(re.search(r"^\s+50%\s+(\S+)", text, re.M).group(1)),
            "p99": _milliseconds(re.search(r"^\s+99%\s+(\S+)", text, re.M).group(1)),
            "errors": (int(bad.group(1)) if bad else 0) + sum(map(int, sockets.groups()) if sockets else [0])}


class Program:
    """flyball or the original with given extra arguments, in one world."""

    def __init__(self, world: w.World, kind: str, args=()):
        self._world, self._kind, self._args = world, kind, tuple(args)

    def start(self, url: str, config: dict, args=(), ready: bool = True) -> adapter.Adapter:
        """With the defaults of each program but for addresses and credentials."""
        fixed = (f"--prometheus-url={url}", f"--lister-kubeconfig={self._world.kubeconfig}",
                 f"--authentication-kubeconfig={self._world.kubeconfig}", f"--authorization-kubeconfig={self._world.kubeconfig}",
                 "--bind-address=127.0.0.1")
        one = adapter.Adapter(self._kind, self._world.cluster, url, config, (*fixed, *self._args, *args), defaults=False)
        one._argv.append(f"--cert-dir={one.folder / 'certs'}")  # pylint: disable=protected-access
        return one.start(ready)

    def rates(self, seconds: int) -> tuple:
        """({work: Cell}, peak RSS in MiB) with 500 pods."""
        one = self.start(self._world.prometheus.url, w.CONFIG)
        try:
            one.wait_listed("custom.metrics.k8s.io/v1beta2", "pods/load")
            one.wait_listed("external.metrics.k8s.io/v1beta1", "queue_len")
            caller = one.as_user(Identity(token=self._world.token))
            cells = {}
            for name, work in w.WORK.items():
                wait.until(lambda p=work[0]: caller.get(p).status == 200, name)
                cells[name] = self._cell(one, work, seconds)
            return cells, one.process.peak_rss_mib()
        finally:
            one.stop()

    def _cell(self, one, work: list, seconds: int) -> Cell:
        _wrk(one.url, self._world.token, work, 1)  # connections, caches and code are warm
        cpu, queries = one.process.cpu_seconds(), self._world.prometheus.queries_served()
        started = time.monotonic()
        got = _wrk(one.url, self._world.token, work, seconds)
        took = time.monotonic() - started
        cpu, queries = one.process.cpu_seconds() - cpu, self._world.prometheus.queries_served() - queries
        return Cell(got["requests"], got["rate"], got["p50"], got["p99"], got["errors"], cpu * 1000 / max(got["requests"], 1),
                    queries / took, len(work), took)

    def seconds_to_first_answer(self, starts: int) -> float:
        """Median from exec to the first 200 for a metric of all pods, Prometheus and cluster up."""
        took = []
        for _ in range(starts):
            began = time.monotonic()
            one = self.start(self._world.prometheus.url, w.CONFIG, ready=False)
            try:
                # As the admin: what is measured is the start of the server, not a first token review.
                wait.until(lambda o=one: o.process.must_live() and o.admin.get(w.WORK["pods/* of 50 pods"][0]).status == 200,
                           f"{self._kind} answers", every=0.005)
                took.append(time.monotonic() - began)
            finally:
                one.stop()
        return statistics.median(took)

    def large_listing(self, large, rounds: int) -> tuple:
        """(median seconds of a relist of 100,000 series, peak RSS in MiB over two relists).

        A relist is from its first byte to Prometheus until discovery lists every rule's metric.
        """
        tap = w.Tap(int(large.url.rsplit(":", 1)[1]))
        took, peak = [], 0.0
        for i in range(rounds):
            tap.reset()
            one = self.start(tap.url, w.LARGE, ("--metrics-relist-interval=4s", "--metrics-max-age=5m"), ready=False)
            try:
                wait.until(lambda o=one: o.process.must_live() and len(o.resources("custom.metrics.k8s.io/v1beta1")) == 2 * w.RULES,
                           f"{self._kind} lists {w.RULES} rules", 60, every=0.01)
                took.append(time.monotonic() - tap.first)
                if i == rounds - 1:
                    time.sleep(6)  # a second round: old and new table at once
                peak = max(peak, one.process.peak_rss_mib())
            finally:
                one.stop()
        return statistics.median(took), peak
