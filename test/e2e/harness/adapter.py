"""The adapter under test: flyball or the original, with the same arguments."""

import functools
import os
import pathlib

import yaml

from . import kube, paths, ports, processes, wait
from .client import Client, Identity
from .control_plane import ControlPlane

FLYBALL, ORIGINAL = "flyball", "original"


def subject() -> str:
    """Which of the two the suites test: flyball, or with E2E_SUBJECT=original the original (to prove the suites)."""
    return os.environ.get("E2E_SUBJECT", FLYBALL)


def identity_of_adapter(cluster: ControlPlane) -> Identity:
    """A user with the RBAC of prometheus-adapter's own manifests, plus list on the kinds that the tests read by `*`."""
    admin, name = cluster.admin, "prometheus-adapter"
    me = [kube.user(name)]
    kube.grant(admin, "prometheus-adapter", me, [
        {"apiGroups": [""], "resources": ["nodes", "namespaces", "pods", "services"],
         "verbs": ["get", "list", "watch"]}])
    kube.grant(admin, "prometheus-adapter-test-kinds", me, [
        {"apiGroups": ["apps", "batch", "networking.k8s.io", "example.com", "cheese.example"], "resources": ["*"],
         "verbs": ["list"]},
        {"apiGroups": [""], "resources": ["persistentvolumes"], "verbs": ["list"]}])
    kube.bind(admin, "prometheus-adapter-delegator", "system:auth-delegator", me)
    kube.apply(admin, kube.make("RoleBinding", "prometheus-adapter-auth-reader", "kube-system", subjects=me, roleRef={
        "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "extension-apiserver-authentication-reader"}))
    return Identity(cert=cluster.ca.client(name))


@functools.cache
def identity_without_rights(cluster: ControlPlane) -> Identity:
    """A user who may read what everybody may: discovery and health."""
    return Identity(cert=cluster.ca.client("nobody"))


def kubeconfig_of_adapter(cluster: ControlPlane) -> pathlib.Path:
    """Made once for each cluster."""
    path = cluster.folder / "adapter.kubeconfig"
    return path if path.exists() else cluster.kubeconfig(identity_of_adapter(cluster), "adapter")


def program(kind: str) -> list:
    if kind == ORIGINAL:
        return [paths.peer("prometheus-adapter")]
    return [paths.flyball(), "serve"]


class Adapter:
    """One running adapter. `config` is a dict or YAML text; `args` come last, so they win over the defaults here."""

    def __init__(self, kind: str, cluster: ControlPlane, prometheus_url: str, config, args=(), flyball_args=(),
                 kubeconfig: pathlib.Path = None, defaults: bool = True, config_file: pathlib.Path = None,
                 port: int = 0, serving=None):
        self.kind, self.cluster = kind, cluster
        self.folder = processes.fresh_folder(kind)
        self.port = port or ports.free()
        self.url = f"https://127.0.0.1:{self.port}"
        self.config_file = config_file or self.folder / "config.yaml"
        if config is not None:
            self.config_file.write_text(config if isinstance(config, str) else yaml.safe_dump(config, width=10000))
        kubeconfig = kubeconfig or kubeconfig_of_adapter(cluster)
        argv = program(kind)
        argv += [f"--config={self.config_file}", f"--secure-port={self.port}"]
        if defaults:
            argv += [f"--prometheus-url={prometheus_url}", f"--cert-dir={self.folder / 'certs'}",
                     f"--lister-kubeconfig={kubeconfig}", f"--authentication-kubeconfig={kubeconfig}",
                     f"--authorization-kubeconfig={kubeconfig}", "--metrics-relist-interval=1s",
                     "--metrics-max-age=60s", "--bind-address=127.0.0.1", "--client-qps=1000", "--client-burst=1000"]
        if serving:
            argv += [f"--tls-cert-file={serving.cert}", f"--tls-private-key-file={serving.key}"]
        self._argv = argv + list(args) + (list(flyball_args) if kind == FLYBALL else [])
        self.process = None
        self.admin = Client(self.url, Identity(cert=cluster.admin_cert))
        self.anonymous = Client(self.url)

    def start(self, ready: bool = True, timeout: float = 60.0, env: dict = None) -> "Adapter":
        self.process = processes.Process(self.kind, self._argv, env)
        if ready:
            self.wait_ready(timeout)
        return self

    def wait_ready(self, timeout: float = 60.0):
        """Ready, and the admin's client certificate is taken: the original asks for one only a moment later."""
        wait.until(lambda: self.process.must_live() and self.anonymous.get("/readyz").status == 200
                   and self.admin.get("/apis").status == 200, f"{self.kind} ready", timeout)

    def as_user(self, identity: Identity, timeout: float = 70.0) -> Client:
        return Client(self.url, identity, timeout)

    def front_proxy(self, user: str, groups=(), extra=()) -> Client:
        """What kube-apiserver sends when it forwards a request of that user."""
        headers = [("X-Remote-User", user)] + [("X-Remote-Group", g) for g in groups]
        headers += [("X-Remote-Extra-" + k, v) for k, v in extra]
        return self.as_user(Identity(cert=self.cluster.front_proxy, headers=tuple(headers)))

    def resources(self, group_version: str) -> list:
        """Names in the legacy discovery document."""
        answer = self.admin.get(f"/apis/{group_version}")
        return sorted(r["name"] for r in answer.json()["resources"]) if answer.status == 200 else []

    def wait_listed(self, group_version: str, name: str, timeout: float = 40.0):
        """Until discovery lists the metric: the first relist is done."""
        wait.until(lambda: self.process.must_live() and name in self.resources(group_version),
                   f"{self.kind}: {name} in {group_version}", timeout, every=0.1)

    def metric(self, line_start: str) -> float:
        """The sum of the samples of /metrics whose line starts so."""
        return sum(float(line.rsplit(" ", 1)[1]) for line in self.admin.get("/metrics").text().splitlines()
                   if line.startswith(line_start))

    def stop(self, timeout: float = 15.0) -> int:
        return self.process.stop(timeout) if self.process else 0

    def log(self) -> str:
        return self.process.tail() if self.process else ""
