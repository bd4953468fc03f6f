"""etcd, kube-apiserver and kube-controller-manager on loopback: a cluster without nodes.

Nothing runs the pods: a test that needs a running pod writes its status. The stock HPA controller is a process of its
own, so that a test can take it away; it syncs every second so that a scaling test takes seconds.
"""

import pathlib
import signal

from . import audit, paths, pki, ports, processes, wait
from .client import Client, Identity
from .kubeconfig import write_kubeconfig

ADMIN_GROUP = "system:masters"
_WORKLOADS = ("deployment-controller", "replicaset-controller", "statefulset-controller", "namespace-controller",
              "clusterrole-aggregation-controller")
_STOCK_SCALER = "horizontal-pod-autoscaler-controller"
NEWER = "1.37"  # beside the usual version: a folder of the peers
# What makes the HPA controller quick enough for a test. Flyball has the same flags.
FAST = ("--horizontal-pod-autoscaler-sync-period=1s", "--horizontal-pod-autoscaler-initial-readiness-delay=0s",
        "--horizontal-pod-autoscaler-cpu-initialization-period=0s")


class ControlPlane:
    """One cluster. `start` returns when the API server is ready; the controllers come up behind it. `version` is a folder of
    the peers, "" the usual one."""

    def __init__(self, policy: dict = audit.POLICY, version: str = ""):
        self.version = version
        self.folder = processes.fresh_folder("cluster")
        self.audit = audit.Log(self.folder, policy)
        self.ca = pki.Authority("kubernetes-ca")
        self.front_proxy_ca = pki.Authority("front-proxy-ca")
        self.front_proxy = self.front_proxy_ca.client("front-proxy-client")
        self.admin_cert = self.ca.client("admin", [ADMIN_GROUP])
        self._serving = self.ca.server("127.0.0.1", "localhost", "kubernetes.default.svc")
        self._token_keys = pki.key_pair(self.folder)
        self._etcd_port, self._etcd_peer, self.port = ports.free(), ports.free(), ports.free()
        self.url = f"https://127.0.0.1:{self.port}"
        self.etcd_url = f"http://127.0.0.1:{self._etcd_port}"
        self.etcd = self.apiserver = self.controllers = self.stock_scaler = None
        self.admin = Client(self.url, Identity(cert=self.admin_cert))
        self.admin_kubeconfig = self.kubeconfig(Identity(cert=self.admin_cert), "admin")

    def kubeconfig(self, identity: Identity, name: str, server: str = None, ca: pathlib.Path = None) -> pathlib.Path:
        """A kubeconfig file for this cluster, or for another server that stands in front of it."""
        return write_kubeconfig(self.folder / f"{name}.kubeconfig", server or self.url, ca or self.ca.cert, identity)

    def start(self, controllers: bool = True) -> "ControlPlane":
        self.etcd = processes.Process("etcd", [
            paths.debian("etcd", "etcd-server"), "--data-dir", self.folder / "etcd", "--unsafe-no-fsync",
            "--log-level=error", "--max-txn-ops=1024", "--max-request-bytes=16000000", "--quota-backend-bytes=4000000000",
            f"--listen-client-urls=http://127.0.0.1:{self._etcd_port}",
            f"--advertise-client-urls=http://127.0.0.1:{self._etcd_port}",
            f"--listen-peer-urls=http://127.0.0.1:{self._etcd_peer}",
            f"--initial-advertise-peer-urls=http://127.0.0.1:{self._etcd_peer}",
            f"--initial-cluster=default=http://127.0.0.1:{self._etcd_peer}"])
        self.start_apiserver()
        if controllers:
            self.controllers = self._manager("kube-controller-manager", _WORKLOADS)
            self.start_stock_scaler()
        return self

    def start_apiserver(self):
        """Also the way back after `stop_apiserver`: same port, same data."""
        self.apiserver = processes.Process("kube-apiserver", [
            paths.peer("kube-apiserver", self.version), f"--etcd-servers=http://127.0.0.1:{self._etcd_port}",
            "--bind-address=127.0.0.1", f"--secure-port={self.port}", "--endpoint-reconciler-type=none",
            f"--tls-cert-file={self._serving.cert}", f"--tls-private-key-file={self._serving.key}",
            f"--client-ca-file={self.ca.cert}", f"--service-account-key-file={self._token_keys.cert}",
            f"--service-account-signing-key-file={self._token_keys.key}",
            "--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.0.0.0/24",
            f"--audit-policy-file={self.audit.policy}", f"--audit-log-path={self.audit.path}",
            "--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount",
            f"--requestheader-client-ca-file={self.front_proxy_ca.cert}",
            "--requestheader-allowed-names=front-proxy-client", "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={self.front_proxy.cert}", f"--proxy-client-key-file={self.front_proxy.key}"])
        wait.until(lambda: self.apiserver.must_live() and self.admin.get("/readyz").status == 200,
                   "kube-apiserver ready", timeout=300, every=0.2)

    def stop_apiserver(self):
        self.apiserver.kill()

    def upgrade(self, version: str):
        """The programs of another version on the same data, the API server first, as in a cluster."""
        scales = self.stock_scaler is not None
        self.stop_stock_scaler()
        self.controllers.kill()
        self.stop_apiserver()
        self.version = version
        self.start_apiserver()
        self.controllers = self._manager("kube-controller-manager", _WORKLOADS)
        if scales:
            self.start_stock_scaler()

    def pause_etcd(self, paused: bool):
        """Stopped in the middle of whatever it does; nothing is lost."""
        self.etcd.send(signal.SIGSTOP if paused else signal.SIGCONT)

    def start_stock_scaler(self, args=FAST):
        """The HPA controller of Kubernetes."""
        self.stock_scaler = self._manager("stock-hpa-controller", (_STOCK_SCALER,), args)

    def stop_stock_scaler(self):
        if self.stock_scaler:
            self.stock_scaler.kill()
            self.stock_scaler = None

    def stock_scaler_replica(self, name: str, kubeconfig: pathlib.Path, args) -> processes.Process:
        """One of several that elect a leader. It acts as the user of that kubeconfig."""
        return self._manager(name, (_STOCK_SCALER,), (
            f"--kubeconfig={kubeconfig}", "--use-service-account-credentials=false", "--leader-elect=true", *FAST, *args))

    def start_more(self, name: str, controllers: tuple) -> processes.Process:
        """Controllers that only some tests need, in a process of their own; its caller ends it."""
        return self._manager(name, controllers)

    def _manager(self, name: str, controllers: tuple, args=()) -> processes.Process:
        return processes.Process(name, [
            paths.peer("kube-controller-manager", self.version), f"--kubeconfig={self.admin_kubeconfig}",
            "--controllers=" + ",".join(controllers), "--use-service-account-credentials=true",
            f"--service-account-private-key-file={self._token_keys.key}", "--leader-elect=false",
            f"--secure-port={ports.free()}", "--bind-address=127.0.0.1", *args])

    def stop(self):
        for process in (self.stock_scaler, self.controllers, self.apiserver, self.etcd):
            if process:
                process.kill()

    def logs(self) -> str:
        return "\n".join(p.tail() for p in (self.stock_scaler, self.controllers, self.apiserver, self.etcd) if p)


_shared = {}


def shared(version: str = "") -> ControlPlane:
    """The one cluster of that version in a test run: starting one costs ten seconds, so the suites share it."""
    if version not in _shared:
        _shared[version] = ControlPlane(version=version).start()
    return _shared[version]
