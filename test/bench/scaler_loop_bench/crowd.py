"""10,000 autoscalers with 100,000 pods, each with an External and a Resource metric, decided each second; and each 15 s."""

import http.client
import time
from dataclasses import asdict, dataclass

from harness import control_plane, kube, own_kind, ports, processes, scaler, scaling, wait

from . import requests, seed

NAMESPACES, PODS = 100, 10
SLOW = 300  # seconds, after which each queue changes where writes are counted: more statuses than that are no count but a throughput


@dataclass
class Outcome:
    """Of one program over some seconds."""
    autoscalers: int
    pods: int
    first_round_seconds: float     # from exec until each autoscaler was decided once
    decisions_per_second: float    # all readings changing each second
    slowest_second: float          # the fewest decisions of one second, as part of all autoscalers
    cores_changing: float
    queries_per_second: float
    cores_still: float             # nothing changes and all statuses are written, still asked each second
    decisions_per_second_still: float
    queries_still_per_second: float
    cores_still_default: float     # nothing changes, default period
    peak_rss_mib: float

    def as_dict(self) -> dict:
        return asdict(self)


@dataclass
class Watched:
    """Of one program while all readings change but for the writes, told of by gauges and a log or not."""
    autoscalers: int
    peak_rss_mib: float            # initial list and answers to scrapes included
    writes_per_second: float       # as the API server counts them, while each queue changes every SLOW seconds
    decisions_per_second: float
    cores: float
    log_lines_per_second: float

    def as_dict(self) -> dict:
        return asdict(self)


class Synthetic:
    """build/release/bin/synthetic_prometheus: see there."""

    def __init__(self, program, apps: int):
        self.port = ports.free()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = processes.Process("synthetic-prometheus", [program, self.port, NAMESPACES, apps, PODS])
        wait.until(lambda: self._ask("GET", "/queries"), "synthetic Prometheus")

    def _ask(self, method: str, path: str) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request(method, path)
        return connection.getresponse().read()

    def queries(self) -> int:
        return int(self._ask("GET", "/queries"))

    def change(self, changing: bool):
        self._ask("POST", "/changing" if changing else "/still")

    def change_slowly(self):
        """In each second as many of the queues."""
        self._ask("POST", f"/slow?every={SLOW}")


def _namespaces() -> list:
    return [f"ns-{i:03d}" for i in range(NAMESPACES)]


def start_cluster(autoscalers: int) -> control_plane.ControlPlane:
    """With everything in it that is to be watched."""
    apps = autoscalers // NAMESPACES
    cluster = control_plane.ControlPlane().start(controllers=False)
    own_kind.install(cluster)
    names = [f"web-{i:04d}" for i in range(apps)]
    seed.write(cluster.etcd_url, (seed.namespace(n) for n in _namespaces()))
    seed.write(cluster.etcd_url, (seed.deployment(n, a, PODS) for n in _namespaces() for a in names))
    seed.write(cluster.etcd_url, (seed.pod(n, f"{a}-x{j:04d}", a) for n in _namespaces() for a in names for j in range(PODS)))
    seed.write(cluster.etcd_url, (_autoscaler(n, a) for n in _namespaces() for a in names))
    wait.until(lambda: len(kube.listed(cluster.admin, "Pod", _namespaces()[-1])) == apps * PODS, "pods", 60)
    _wait_until_calm(cluster.apiserver)
    return cluster


def _wait_until_calm(process):
    """The API server has taken in what etcd was given behind its back."""
    used = [0.0]

    def calm() -> bool:
        used.append(process.cpu_seconds())
        return used[-1] - used[-2] < 0.1
    wait.until(calm, f"{process.name} at rest", 120, every=1)


def _autoscaler(namespace: str, name: str) -> dict:
    """At its target: an External metric of its own and cpu utilisation; no cadence, so that the flag's counts."""
    return seed.made(own_kind.KIND, name, namespace, spec={
        "scaleTargetRef": scaling.target_ref("Deployment", name), "minReplicas": 1, "maxReplicas": 20,
        "metrics": [scaling.queue(name), scaling.resource(percent=50)]})


def decided(server) -> float:
    """Decisions so far."""
    return server.metric("flyball_scaler_decisions_total")


def measure(cluster, program, autoscalers: int, seconds: float) -> Outcome:
    source = Synthetic(program, autoscalers // NAMESPACES)
    try:
        server, first = _start(cluster, source, 1, autoscalers)
        queries, changing = source.queries(), _rate(server, seconds)
        queries = source.queries() - queries
        if queries / changing["seconds"] < 1.5 * NAMESPACES:  # cpu and the queues of each, each second
            raise SystemError(f"{queries} queries in {changing['seconds']:.0f} s: not all metrics are read")
        source.change(False)
        _wait_until_all_is_written(server)
        queries_still, still = source.queries(), _rate(server, seconds, every=seconds)
        queries_still = source.queries() - queries_still
        peak = server.process.peak_rss_mib()
        server.process.kill()
        server, _ = _start(cluster, source, 15, autoscalers)
        _wait_until_all_is_written(server)
        quiet = _rate(server, max(seconds, 30), every=max(seconds, 30))
        peak = max(peak, server.process.peak_rss_mib())
        server.process.kill()
        return Outcome(autoscalers, autoscalers * PODS, first, changing["rate"], changing["fewest"] / autoscalers,
                       changing["cores"], queries / changing["seconds"], still["cores"], still["rate"],
                       queries_still / still["seconds"], quiet["cores"], peak)
    finally:
        source.process.kill()


def measure_watched(cluster, program, autoscalers: int, seconds: float) -> dict:
    """First without, then with gauges and a decision log: the same for both, the statuses that are there included."""
    folder = processes.fresh_folder("crowd-decisions")
    log = folder / "decisions.jsonl"
    source = Synthetic(program, autoscalers // NAMESPACES)
    try:
        source.change(False)
        _start(cluster, source, 1, autoscalers)[0].process.kill()  # the first of all writes each status
        return {"plain": _watched(cluster, source, autoscalers, seconds, (), log),
                "flyball": _watched(cluster, source, autoscalers, seconds,
                                    ("--scaler-autoscaler-metrics", f"--decision-log={log}"), log)}
    finally:
        source.process.kill()


def _watched(cluster, source: Synthetic, autoscalers: int, seconds: float, args: tuple, log) -> Watched:
    source.change(False)
    server, _ = _start(cluster, source, 1, autoscalers, args)
    source.change(True)
    lines, began = _written(log), time.monotonic()
    rate = _rate(server, seconds, every=min(seconds, 15))  # scrapes are no more frequent
    lines = (_written(log) - lines) / (time.monotonic() - began)
    source.change(False)
    _wait_until_all_is_written(server)
    source.change_slowly()
    time.sleep(5)
    began, before = time.monotonic(), requests.counted(cluster.admin)
    _rate(server, 2 * seconds, every=min(seconds, 15))
    writes = requests.since(before, requests.counted(cluster.admin))
    writes = sum(count for what, count in writes.items() if what.split()[0] in ("POST", "PUT", "PATCH", "DELETE"))
    writes /= time.monotonic() - began
    outcome = Watched(autoscalers, server.process.peak_rss_mib(), writes, rate["rate"], rate["cores"], lines)
    server.process.kill()
    return outcome


def _written(log) -> int:
    """Lines so far; of one that was rotated meanwhile those that are left."""
    return sum(file.read_bytes().count(b"\n") for file in log.parent.iterdir())


def _start(cluster, source: Synthetic, period: int, autoscalers: int, args: tuple = ()) -> tuple:
    """(the program, seconds until each autoscaler was decided once)."""
    server = scaler.flyball(cluster, source.url, (
        "--prometheus-verb=POST", "--scaler-mode=act", f"--horizontal-pod-autoscaler-sync-period={period}s", *args))
    began = time.monotonic()
    server.start()
    wait.until(lambda: server.process.must_live() and decided(server) >= autoscalers, "each autoscaler decided once", 180)
    first = time.monotonic() - began
    time.sleep(5)
    return server, first


def _wait_until_all_is_written(server):
    """The last changes are in statuses: offered within the status interval of 15 s, and written within the write budget."""
    time.sleep(16)
    calls = [float("nan")]

    def calm() -> bool:
        calls.append(server.metric("flyball_scaler_api_calls_total"))
        return calls[-1] == calls[-2]
    wait.until(calm, "no request to the API server for 5 s", 300, every=5)


def _rate(server, seconds: float, every: float = 2.0) -> dict:
    """Decisions and CPU; looked at that often, as each look has the program answer over a connection of its own."""
    # Each time before the count that it stands for: with gauges of each autoscaler a look takes a while.
    cpu, began = server.process.cpu_seconds(), time.monotonic()
    before = decided(server)
    last, last_at, fewest = before, began, float("inf")
    while last_at - began < seconds:
        time.sleep(every)
        used, at = server.process.cpu_seconds() - cpu, time.monotonic()
        now = decided(server)
        fewest = min(fewest, (now - last) / (at - last_at))
        last, last_at = now, at
    took = last_at - began
    return {"rate": (last - before) / took, "fewest": fewest, "seconds": took, "cores": used / took}
