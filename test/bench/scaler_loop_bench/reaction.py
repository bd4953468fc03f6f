"""One autoscaler, one load step after the other: from the step (not from its sample) to the scale write."""

import random
import statistics
import time
from dataclasses import asdict, dataclass

from harness import kube, wait

from . import load, seed

NAMESPACE = "reaction"
LOW, HIGH = 4, 6  # one step of the default scale-up policies, which would spread a larger one over rounds of 15 s


@dataclass
class Outcome:
    """Seconds from the moment at which the load changed; waiting for the next scrape is part of it."""
    median: float
    worst: float
    steps: int
    all: list

    def as_dict(self) -> dict:
        return asdict(self)


def prepare(cluster, work: load.Load, name: str, kind: str, **more):
    """A Deployment and its autoscaler."""
    kube.namespace(cluster.admin, NAMESPACE)
    work.ask((NAMESPACE, name), replicas=LOW)
    seed.write(cluster.etcd_url, [seed.deployment(NAMESPACE, name, LOW)])
    kube.apply(cluster.admin, kube.make(kind, name, NAMESPACE, spec={**load.spec(name), **more}))


def measure(cluster, work: load.Load, name: str, steps: int, patience: float) -> Outcome:
    chance, took, replicas = random.Random(50), [], LOW
    for _ in range(steps):
        time.sleep(1 + chance.random())  # anywhere between two scrapes and two rounds
        replicas = LOW + HIGH - replicas
        mark = cluster.audit.mark()
        began = time.time()
        work.ask((NAMESPACE, name), replicas=replicas)
        write = wait.until(lambda m=mark, r=replicas: _write(cluster, m, name, r), f"{name} scaled to {replicas}", patience)
        took.append(write.received - began)
    return Outcome(statistics.median(took), max(took), steps, [round(t, 3) for t in took])


def _write(cluster, mark: int, name: str, replicas: int):
    return next((w for w in cluster.audit.since(mark, "/scale")
                 if w.name == name and w.namespace == NAMESPACE and w.good and w.sent["spec"]["replicas"] == replicas), None)
