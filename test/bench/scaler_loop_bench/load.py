"""External metrics that a measurement sets, with the time at which Prometheus first took each."""

import threading
import time

from harness import scaling
from harness.exporter import Exporter
from harness.prometheus import Prometheus

TARGET = 10  # of one replica


class Load:
    """`ask(namespace, queue, replicas)` sets a total that needs that many; `sampled(...)` is the wall time of the first
    scrape that saw it (Prometheus gives a sample the time at which its scrape began)."""

    def __init__(self):
        self._lock = threading.Lock()
        self.level = 0  # replicas asked for last
        self._values, self._fresh, self._sampled = {}, set(), {}
        self._exporter = Exporter()
        self._exporter.text = self._text
        self.prometheus = Prometheus({"work": self._exporter.address})

    def ask(self, *queues, replicas: int):
        """Each of queues is (namespace, name). All of them change between the same two scrapes."""
        self.level = replicas
        with self._lock:
            for queue in queues:
                self._values[queue] = TARGET * replicas - 0.5
                self._fresh.add(queue)
                self._sampled.pop(queue, None)

    def sampled(self, queue: tuple) -> float:
        return self._sampled[queue]

    def _text(self) -> str:
        now = time.time()
        with self._lock:
            for queue in self._fresh:
                self._sampled[queue] = now
            self._fresh.clear()
            return "".join(f'queue_len{{namespace="{ns}",queue="{name}"}} {value}\n' for (ns, name), value in self._values.items())

    def stop(self):
        self.prometheus.stop()
        self._exporter.stop()


def spec(name: str, highest: int = 20) -> dict:
    """Of an autoscaler that follows its queue up and down at once."""
    return {"scaleTargetRef": scaling.target_ref("Deployment", name), "minReplicas": 1, "maxReplicas": highest,
            "metrics": [scaling.queue(name, TARGET)], "behavior": {"scaleDown": {"stabilizationWindowSeconds": 0},
                                                                   "scaleUp": {"stabilizationWindowSeconds": 0}}}
