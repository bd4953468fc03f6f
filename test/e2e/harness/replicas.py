"""Several replicas of a scaler, each behind a proxy of its own and with a user of its own."""

from . import kube, scaler, wait
from .api_proxy import ApiProxy
from .client import Identity
from .control_plane import ADMIN_GROUP, ControlPlane

# Short leases, so that a takeover takes seconds.
LEASE_SECONDS = 4
_TIMES = (f"lease-duration={LEASE_SECONDS}s", "renew-deadline=2500ms", "retry-period=500ms")
_STOCK_LEASES = tuple("--leader-elect-" + time for time in _TIMES)
_FLYBALL_LEASES = tuple("--scaler-lease-" + time.removeprefix("lease-") for time in _TIMES)


class Replicas:
    """`users[i]` is what the audit log calls replica i; `on_start(name, process)` is told of every process. Processes are
    started from the main thread only."""

    NAME, LEASES_IN = "replica", scaler.NAMESPACE

    def __init__(self, cluster: ControlPlane, count: int, on_start, groups=()):
        self._cluster, self._on_start = cluster, on_start
        self.users = tuple(f"{self.NAME}-{i}" for i in range(count))
        self.proxies = [ApiProxy(cluster, Identity(cert=cluster.ca.client(user, groups))) for user in self.users]
        self._processes = [None] * count

    def _launch(self, i: int):
        raise NotImplementedError

    def start(self) -> "Replicas":
        for i in range(len(self.users)):
            self.start_one(i)
        return self

    def start_one(self, i: int):
        self._processes[i] = self._launch(i)
        self._on_start(self.users[i], self._processes[i])

    def process(self, i: int):
        return self._processes[i]

    def revive(self):
        """What a cluster does with processes that ended by themselves."""
        for i, process in enumerate(self._processes):
            if not process.alive():
                self.start_one(i)

    def holders(self) -> set:
        """Indices of the replicas that hold a lease of a shard now, by who wrote it last."""
        held = set()
        for lease in kube.listed(self._cluster.admin, "Lease", self.LEASES_IN):
            if "member" in lease["metadata"]["name"] or not lease["spec"].get("holderIdentity"):
                continue
            writes = [w for w in self._cluster.audit.since(0, "leases")
                      if w.good and w.name == lease["metadata"]["name"] and w.user in self.users]
            if writes and writes[-1].stored["spec"].get("holderIdentity") == lease["spec"]["holderIdentity"]:
                held.add(self.users.index(writes[-1].user))
        return {i for i in held if self._processes[i].alive()}

    def leader(self, timeout: float = 30.0) -> int:
        """One replica that holds leases, once there is one."""
        return min(wait.until(self.holders, "a replica holds a lease", timeout, every=0.05))

    def stop(self):
        for process in self._processes:
            if process:
                process.kill()  # an ordered end is what a test is about
        for proxy in self.proxies:
            proxy.stop()


class Flyball(Replicas):
    """Also serves the metrics APIs, each replica; `port` is that of the first."""

    NAME = "flyball"

    def __init__(self, cluster: ControlPlane, prometheus_url: str, count: int, args: tuple, on_start, env: dict = None):
        super().__init__(cluster, count, on_start)
        self._env = env
        self._servers = [scaler.flyball(cluster, prometheus_url, (*_FLYBALL_LEASES, *args), user, server=proxy.url,
                                        elects=True)
                         for user, proxy in zip(self.users, self.proxies)]

    def _launch(self, i: int):
        return self._servers[i].start(env=self._env).process

    def revive(self):
        for process in self._processes:
            process.must_live()  # it has no reason to end


class Stock(Replicas):
    """The HPA controller of Kubernetes, as the cluster's admin. It ends when it loses its lease."""

    NAME, LEASES_IN = "stock", "kube-system"

    def __init__(self, cluster: ControlPlane, count: int, on_start):
        super().__init__(cluster, count, on_start, [ADMIN_GROUP])
        self._kubeconfigs = [cluster.kubeconfig(Identity(cert=cluster.admin_cert), user, server=proxy.url)
                             for user, proxy in zip(self.users, self.proxies)]

    def _launch(self, i: int):
        return self._cluster.stock_scaler_replica(self.users[i], self._kubeconfigs[i], _STOCK_LEASES)
