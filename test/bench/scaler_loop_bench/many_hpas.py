"""500 HorizontalPodAutoscalers whose load changes at one moment: how long until each is scaled, and at what price."""

import statistics
import time
from dataclasses import asdict, dataclass

from harness import kube, scenario_run, wait

from . import load, requests, seed

NAMESPACES = [f"many-{i}" for i in range(5)]
QUEUES = [(namespace, f"web-{i:03}") for namespace in NAMESPACES for i in range(100)]
LOW, HIGH = 4, 6


@dataclass
class Outcome:
    """Seconds from the sample to the scale write over all autoscalers and steps; requests to the API server."""
    median: float
    p90: float
    worst: float
    steps: int
    writes: int               # scale writes that were needed
    scale_writes: float       # as the API server counted them
    status_writes: float
    requests: float
    by_request: dict
    steady_requests_per_second: float
    steady_by_request: dict
    cpu_cores_steady: float

    def as_dict(self) -> dict:
        return asdict(self)


def prepare(cluster, work: load.Load):
    """The workloads and their load. No deployment controller runs: what is scaled is the number."""
    seed.write(cluster.etcd_url, (seed.namespace(name) for name in NAMESPACES))
    seed.write(cluster.etcd_url, (seed.deployment(*queue, LOW) for queue in QUEUES))
    work.ask(*QUEUES, replicas=LOW)


def create(cluster):
    """The autoscalers, by the API, so that each has its defaults."""
    connection = cluster.admin.connect()
    for namespace, name in QUEUES:
        item = kube.make(scenario_run.HPA, name, namespace, spec=load.spec(name))
        kube.expect(cluster.admin.request("POST", kube.path(scenario_run.HPA, namespace), item, keep=connection), 201)


def remove(cluster):
    for namespace in NAMESPACES:
        kube.expect(cluster.admin.request("DELETE", kube.path(scenario_run.HPA, namespace)), 200)


def measure(cluster, work: load.Load, user: str, process, steps: int, quiet: float) -> Outcome:
    """With the scaler `user` running as `process` and nothing else that scales."""
    wait.until(lambda: all(h.get("status", {}).get("currentMetrics") for n in NAMESPACES
                           for h in kube.listed(cluster.admin, scenario_run.HPA, n)), f"{user} has decided all", 180, every=1)
    wait.until(lambda: _at(cluster, work.level) == len(QUEUES), f"{user}: all as they should be", 180, every=1)
    time.sleep(5)
    before, cpu, began = requests.counted(cluster.admin), process.cpu_seconds(), time.monotonic()
    time.sleep(quiet)
    took = time.monotonic() - began
    steady, cpu = requests.since(before, requests.counted(cluster.admin)), process.cpu_seconds() - cpu
    took_seconds, before = [], requests.counted(cluster.admin)
    for step in range(steps):
        took_seconds += _step(cluster, work, user, HIGH if step % 2 == 0 else LOW)
    time.sleep(5)  # what may still follow
    counts = requests.since(before, requests.counted(cluster.admin))
    cuts = statistics.quantiles(took_seconds, n=10)
    return Outcome(statistics.median(took_seconds), cuts[-1], max(took_seconds), steps, len(took_seconds),
                   requests.of_scales(counts), requests.of_status(counts), sum(counts.values()), counts,
                   sum(steady.values()) / took, {what: n / took for what, n in steady.items()}, cpu / took)


def _at(cluster, replicas: int) -> int:
    return sum(d["spec"]["replicas"] == replicas for n in NAMESPACES for d in kube.listed(cluster.admin, "Deployment", n))


def _told(cluster, replicas: int) -> int:
    return sum(h["status"].get("currentReplicas") == h["status"].get("desiredReplicas") == replicas
               for n in NAMESPACES for h in kube.listed(cluster.admin, scenario_run.HPA, n))


def _step(cluster, work: load.Load, user: str, replicas: int) -> list:
    mark = cluster.audit.mark()
    work.ask(*QUEUES, replicas=replicas)

    def arrived() -> dict:
        found = {}
        for w in cluster.audit.since(mark, "/scale"):
            if user in w.user and w.good and w.sent["spec"]["replicas"] == replicas:
                found.setdefault((w.namespace, w.name), w.received)
        return found
    wait.until(lambda: len(arrived()) == len(QUEUES), f"{user}: 500 scale writes", 180, every=0.5)
    # A step ends when each status says what became of it, a round later: who is faster is not to be counted for more.
    wait.until(lambda: _told(cluster, replicas) == len(QUEUES), f"{user}: 500 statuses", 180, every=1)
    return [at - work.sampled(queue) for queue, at in arrived().items()]
