"""From a push to what comes of it, with 1,000 autoscalers that are decided on each sample and 10,000 series.

A push is a request of 2,000 samples, as Prometheus writes them: of 200 autoscalers, of which one has to be scaled. Five a second
bring each series a sample each second.
"""

import random
import time

import yaml

from harness import control_plane, kube, own_kind, remote_write, scaler, scaling, wait
from harness.client import Client, Identity
from scaler_loop_bench import seed

from . import servers

kube.register_kind(own_kind.KIND, "flyball.dev/v1alpha1", "autoscalers", True)
NAMESPACE = "fleet"
NAMES = [f"web-{i:04}" for i in range(1000)]
OF_EACH = 10      # series
OF_PUSH = 200     # autoscalers
EVERY = 0.2       # seconds
TARGET, LOW, HIGH = 10, 4, 6
DEBOUNCE = 0.020  # the default of --live-debounce
RULES = {"rules": [], "externalRules": [{"seriesQuery": 'queue_len{namespace!=""}', "resources": scaling.CONFIG["externalRules"][0]["resources"],
                                         "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (queue)"}]}
FLAGS = ("--live-warmup=0", "--query-freshness=0")


def autoscaler(name: str, mode: str) -> dict:
    return own_kind.autoscaler(NAMESPACE, name, (1, 20), metrics=[scaling.queue(name, TARGET)], mode=mode, cadence={"onSample": True})


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
        return remote_write.snappy(remote_write.request(series))

    def push(self, body: bytes):
        answer = self._client.request("POST", "/api/v1/write", body, remote_write.HEADERS, keep=self._connection)
        assert answer.status == 204, str(answer)

    def all(self):
        for turn in range(len(NAMES) // OF_PUSH):
            self.push(self.request(turn))

    def measure(self, pushes: int, outcome) -> list:
        """Seconds from each push to `outcome(name, replicas, mark)`, which returns its wall time; `outcome(name)` makes the mark."""
        chance, took = random.Random(7), []
        for turn in range(pushes):
            began = time.time()
            name = NAMES[turn * OF_PUSH % len(NAMES) + chance.randrange(OF_PUSH)]
            self.wanted[name] = LOW + HIGH - self.wanted[name]
            body, mark = self.request(turn), outcome(name)
            sent = time.time()
            self.push(body)
            took.append(outcome(name, self.wanted[name], mark) - sent)
            time.sleep(max(0.0, began + EVERY - time.time()))
        return took


def _summary(took: list, beyond: float = 0.0) -> dict:
    in_order = sorted(took)
    p50, p99 = (in_order[min(int(len(took) * part), len(took) - 1)] * 1000 for part in (0.5, 0.99))
    return {"p50_ms": p50 - beyond * 1000, "p99_ms": p99 - beyond * 1000, "worst_ms": in_order[-1] * 1000 - beyond * 1000, "pushes": len(took)}


def decided(pushes: int) -> dict:
    """To the decision, as whoever asks for the advised count sees it: without a cluster, the counts are asked for all the time."""
    folder = servers.processes.fresh_folder("fleet")
    deployments = [kube.make("Deployment", name, NAMESPACE, spec={"replicas": LOW, "selector": {"matchLabels": {"app": name}}}) for name in NAMES]
    (folder / "fleet.yaml").write_text(yaml.safe_dump_all([
        kube.make("Namespace", NAMESPACE), *deployments, *(autoscaler(name, "Advise") for name in NAMES)]))
    server = servers.flyball((), "--scaler", "--scaler-mode=advise", *FLAGS, folder=folder, rules=RULES)
    fleet, connection = Fleet(server.client), server.client.connect()

    def advised(name: str) -> str:
        answer = server.client.get(f"/apis/external.metrics.k8s.io/v1beta1/namespaces/{NAMESPACE}/flyball-desired-{name}", keep=connection)
        return answer.json()["items"][0]["value"] if answer.status == 200 else str(answer)

    def outcome(name: str, replicas: int = None, _mark=None):
        if replicas is None:
            return None
        end = time.time() + 20
        while (told := advised(name)) != str(replicas):
            assert time.time() < end, f"{name}: {told}, not {replicas}\n{server.process.tail()}"
        return time.time()

    fleet.all()
    for name in NAMES:
        wait.until(lambda n=name: advised(n) == str(LOW), f"{name} decided", 60)
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

    def outcome(name: str, replicas: int = None, mark: int = 0):
        if replicas is None:
            return cluster.audit.mark()
        return wait.until(lambda: next((w for w in cluster.audit.since(mark, "/scale") if w.name == name and w.good
                                        and w.sent["spec"]["replicas"] == replicas), None), f"{name} scaled to {replicas}", 30).received

    fleet.all()
    wait.until(lambda: server.metric("flyball_scaler_decisions_total{") >= len(NAMES), "all are decided", 120)
    took = fleet.measure(pushes, outcome)
    server.stop()
    cluster.stop()
    return _summary(took)


def measure() -> dict:
    return {"decided": decided(300), "written": written(200)}
