"""From a push to what comes of it, with 1,000 autoscalers that are decided on each sample and 10,000 series.

A push is a request of 2,000 samples, as Prometheus writes them: of 200 autoscalers, of which one has to be scaled. Five a second
bring each series a sample each second.
"""

import ctypes
import datetime
import json
import random
import time

import yaml

from harness import control_plane, kube, own_kind, remote_write, scaler, scaling, wait
from harness.client import Client, Identity
from scaler_loop_bench import seed

from . import servers

_SNAPPY = ctypes.CDLL("libsnappy.so.1")  # which flyball itself needs
_SNAPPY.snappy_max_compressed_length.restype = ctypes.c_size_t
_SNAPPY.snappy_max_compressed_length.argtypes = [ctypes.c_size_t]
kube.register_kind(own_kind.KIND, "flyball.dev/v1alpha1", "autoscalers", True)
NAMESPACE = "fleet"
NAMES = [f"web-{i:04}" for i in range(1000)]
OF_EACH = 10      # series
OF_PUSH = 200     # autoscalers
EVERY = 0.2       # seconds
TARGET, LOW, HIGH = 10, 4, 6
DEBOUNCE = 0.020  # the default of --live-debounce
SETTLES = 5       # seconds, until the statuses of the first decisions are written
RULES = {"rules": [], "externalRules": [{"seriesQuery": 'queue_len{namespace!=""}', "resources": scaling.CONFIG["externalRules"][0]["resources"],
                                         "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (queue)"}]}
FLAGS = ("--live-warmup=0", "--query-freshness=0")


def autoscaler(name: str, mode: str) -> dict:
    return own_kind.autoscaler(NAMESPACE, name, (1, 20), metrics=[scaling.queue(name, TARGET)], mode=mode, cadence={"onSample": True})


def compressed(content: bytes) -> bytes:
    """By snappy, as senders do."""
    room = ctypes.c_size_t(_SNAPPY.snappy_max_compressed_length(len(content)))
    out = ctypes.create_string_buffer(room.value)
    assert _SNAPPY.snappy_compress(content, ctypes.c_size_t(len(content)), out, ctypes.byref(room)) == 0
    return out.raw[:room.value]


class Fleet:
    """The samples of all autoscalers' queues."""

    def __init__(self, client: Client):
        self._client, self._connection = client, client.connect()
        self.wanted = {name: LOW for name in NAMES}
        self._labels = {name: [remote_write.labels(__name__="queue_len", namespace=NAMESPACE, queue=name, shard=f"shard-{i}", job="workers",
                                                   instance=f"10.1.{i}.{int(name[-4:]) % 250}:8080", pod=f"{name}-7d4b9c6f5d-{i}")
                                for i in range(OF_EACH)] for name in NAMES}

    def request(self, turn: int) -> bytes:
        """The body of a push."""
        first, now, series = turn * OF_PUSH % len(NAMES), int(time.time() * 1000), []
        for name in NAMES[first:first + OF_PUSH]:
            one = remote_write.sample((TARGET * self.wanted[name] - 0.5) / OF_EACH, now)
            series += [(labels, one) for labels in self._labels[name]]
        return compressed(remote_write.request(series))

    def push(self, body: bytes):
        answer = self._client.request("POST", "/api/v1/write", body, remote_write.HEADERS, keep=self._connection)
        assert answer.status == 204, str(answer)

    def all(self):
        for turn in range(len(NAMES) // OF_PUSH):
            self.push(self.request(turn))

    def measure(self, pushes: int, outcome) -> list:
        """Seconds from each push to `outcome(name, replicas, sent)`, which returns its wall time and is asked when all are over."""
        chance, asked = random.Random(7), []
        for turn in range(pushes):
            began = time.time()
            name = NAMES[turn * OF_PUSH % len(NAMES) + chance.randrange(OF_PUSH)]
            self.wanted[name] = LOW + HIGH - self.wanted[name]
            body, sent = self.request(turn), time.time()
            self.push(body)
            asked.append((name, self.wanted[name], sent))
            time.sleep(max(0.0, began + EVERY - time.time()))
        return [outcome(*one) - one[2] for one in asked]


def _summary(took: list, beyond: float = 0.0) -> dict:
    in_order = sorted(took)
    p50, p99 = (in_order[min(int(len(took) * part), len(took) - 1)] * 1000 for part in (0.5, 0.99))
    return {"p50_ms": p50 - beyond * 1000, "p99_ms": p99 - beyond * 1000, "worst_ms": in_order[-1] * 1000 - beyond * 1000, "pushes": len(took)}


def decided(pushes: int) -> dict:
    """To the decision, as the decision log tells its time, in whole milliseconds: it is taken to be in the middle of its own."""
    folder = servers.processes.fresh_folder("fleet")
    deployments = [kube.make("Deployment", name, NAMESPACE, spec={"replicas": LOW, "selector": {"matchLabels": {"app": name}}}) for name in NAMES]
    (folder / "fleet.yaml").write_text(yaml.safe_dump_all([
        kube.make("Namespace", NAMESPACE), *deployments, *(autoscaler(name, "Advise") for name in NAMES)]))
    log = servers.processes.fresh_folder("decisions") / "log"
    server = servers.flyball((), "--scaler", "--scaler-mode=advise", f"--decision-log={log}", *FLAGS, folder=folder, rules=RULES)
    fleet, connection = Fleet(server.client), server.client.connect()

    def advised(name: str) -> str:
        answer = server.client.get(f"/apis/external.metrics.k8s.io/v1beta1/namespaces/{NAMESPACE}/flyball-desired-{name}", keep=connection)
        return answer.json()["items"][0]["value"] if answer.status == 200 else str(answer)

    def decisions() -> list:
        """(name, desired, wall time) of each that differs from the one before."""
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        return [(one["name"], one["desired"], datetime.datetime.fromisoformat(one["time"][:-1] + "+00:00").timestamp() + 0.0005)
                for one in lines if "desired" in one]

    def outcome(name: str, replicas: int, sent: float) -> float:
        """The log is written each second."""
        return wait.until(lambda: next((at for of, desired, at in decisions() if of == name and desired == replicas and at > sent), None),
                          f"{name} decided to be {replicas}", 20)

    fleet.all()
    for name in NAMES:
        wait.until(lambda n=name: advised(n) == str(LOW), f"{name} decided", 60)
    time.sleep(SETTLES)
    took = fleet.measure(pushes, outcome)
    server.stop()
    return _summary(took, DEBOUNCE)


def written(pushes: int) -> dict:
    """To the scale write, by the clock of the API server that gets it."""
    cluster = control_plane.ControlPlane().start(controllers=False)
    own_kind.install(cluster)
    kube.namespace(cluster.admin, NAMESPACE)
    seed.write(cluster.etcd_url, (seed.deployment(NAMESPACE, name, LOW) for name in NAMES))
    connection = cluster.admin.connect()
    for name in NAMES:
        kube.expect(cluster.admin.request("POST", kube.path(own_kind.KIND, NAMESPACE), autoscaler(name, "Act"), keep=connection), 201)
    server = scaler.flyball(cluster, "http://127.0.0.1:1", ("--scaler-mode=act", "--metric-source=live", *FLAGS))
    server.config_file.write_text(yaml.safe_dump(RULES))
    server.start()
    fleet = Fleet(Client(server.url, Identity(cert=cluster.admin_cert)))

    def outcome(name: str, replicas: int, sent: float) -> float:
        return wait.until(lambda: next((w.received for w in cluster.audit.since(0, "/scale") if w.name == name and w.good
                                        and w.sent["spec"]["replicas"] == replicas and w.received >= sent), None),
                          f"{name} scaled to {replicas}", 30)

    fleet.all()
    wait.until(lambda: server.metric("flyball_scaler_decisions_total{") >= len(NAMES), "all are decided", 120)
    time.sleep(SETTLES)
    took = fleet.measure(pushes, outcome)
    server.stop()
    cluster.stop()
    return _summary(took)


def measure() -> dict:
    return {"decided": decided(300), "written": written(200)}
