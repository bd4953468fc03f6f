"""Requests that Envoys carry into a cluster without nodes: a kubelet whose pods are processes of this machine, and the Envoys."""

import concurrent.futures
import importlib.util
import itertools
import pathlib
import socket
import sys

import yaml

from machine import needs

from . import kube, paths, ports, processes, wait
from .client import Client
from .watching import Watch

kube.register_kind("EndpointSlice", "discovery.k8s.io/v1", "endpointslices", True)
SERVER = pathlib.Path(__file__).with_name("carried_server.py")
POD_PORT = 8080
ENVOY_LABELS = {"app": "front-envoy"}


def _front_harness():
    """test/front/harness under another name than this folder's."""
    folder = paths.PROJECT / "test" / "front" / "harness"
    spec = importlib.util.spec_from_file_location("front_harness", folder / "__init__.py", submodule_search_locations=[str(folder)])
    sys.modules["front_harness"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["front_harness"])


_front_harness()
from front_harness import clients, envoy  # pylint: disable=wrong-import-position,import-error


def envoy_program() -> pathlib.Path:
    """Envoy of the wheel."""
    program, reason = envoy.program_or_reason()
    return program or needs.missing(reason)


class Pods:
    """Plays the kubelet in one namespace: each new pod gets an address of the loopback network and a process that listens there on
    POD_PORT, and is Ready once it does. `after` is how many seconds the processes of an app take to listen; None: for ever."""

    def __init__(self, admin, namespace: str, network: int):
        self._admin, self._namespace, self._network = admin, namespace, network
        self._numbers = itertools.count(1)
        self.after, self.running, self._addresses = {}, {}, {}
        self._pool = concurrent.futures.ThreadPoolExecutor(6)  # a process lives as long as the thread that started it
        self._watch = Watch(admin, kube.path("Pod", namespace), self._seen)

    def _seen(self, change: str, pod: dict):
        name = pod["metadata"]["name"]
        if change == "DELETED":
            self._pool.submit(self.kill, name)
        elif name not in self._addresses:
            number = next(self._numbers)
            self._addresses[name] = f"127.{self._network}.{number // 250}.{number % 250 + 1}"
            self._pool.submit(self._run, name, pod["metadata"].get("labels", {}).get("app", ""))

    def _run(self, name: str, app: str):
        address, after = self._addresses[name], self.after.get(app, 0)
        if after is not None:
            self.running[name] = processes.Process("carried", [sys.executable, "-S", SERVER, address, POD_PORT, name, after])
        try:
            kube.patch(self._admin, "Pod", self._namespace, name, {"status": {
                "phase": "Running", "podIP": address, "podIPs": [{"ip": address}], "conditions": [{"type": "Ready", "status": "False"}]}}, "status")
            if after is None:
                return
            wait.until(lambda: name not in self.running or _listens(address), f"{name} listens", 60)
            kube.run_pod(self._admin, self._namespace, name, address)
        except AssertionError:
            self.kill(name)  # it is gone already

    def kill(self, name: str):
        """Its process ends at once, whatever the cluster says of the pod."""
        process = self.running.pop(name, None)
        if process:
            process.kill()

    def of(self, app: str) -> list:
        return [name for (_, name), pod in list(self._watch.objects.items()) if pod["metadata"].get("labels", {}).get("app") == app]

    def ready(self, name: str) -> bool:
        """Whether the cluster says so."""
        conditions = self._watch.objects[self._namespace, name].get("status", {}).get("conditions", ())
        return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)

    def stop(self):
        self._watch.stop()
        for name in list(self.running):
            self.kill(name)
        self._pool.shutdown()


def _listens(address: str) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((address, POD_PORT)) == 0


class Envoy:
    """One Envoy with the chart's bootstrap, without TLS. It knows several replicas of flyball, as the headless Service would tell it, and in
    the cluster it is a pod of `namespace`."""

    def __init__(self, program, flyball_ports, admin_client, namespace: str, node: str = "front-1"):
        self._client, self._namespace, self.node = admin_client, namespace, node
        self.address = "10.99.0." + node.rpartition("-")[2]  # slices may have none of the loopback network
        self.admin = Client(f"http://127.0.0.1:{(admin := ports.free())}")
        values = {"ADMIN_PORT": admin, "PROBE_ADDRESS": "0.0.0.0", "PROBE_PORT": ports.free(),
                  "FLYBALL_HOST": "127.0.0.1", "FLYBALL_PORT": 1, "SERVER_NAME": "flyball", "MEMORY_BYTES": 1 << 30}
        config = yaml.safe_load(envoy.filled((envoy.FILES / "front-bootstrap.yaml").read_text(), values))
        for cluster in config["static_resources"]["clusters"]:
            if cluster["name"].startswith("flyball"):
                cluster.pop("transport_socket")
                cluster["load_assignment"] = {"cluster_name": cluster["name"], "endpoints": [{"lb_endpoints": [
                    {"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": port}}}} for port in flyball_ports]}]}
        bootstrap = processes.fresh_folder("envoy") / "bootstrap.yaml"
        bootstrap.write_text(yaml.safe_dump(config))
        self.process = processes.Process("envoy", [program, "-c", bootstrap, "--service-node", node, "--service-cluster", "flyball",
                                                   "--concurrency", "2", "--disable-hot-restart", "-l", "info"])

    def join(self):
        """Its pod, running and ready."""
        kube.pod(self._client, self._namespace, self.node, ENVOY_LABELS)
        kube.run_pod(self._client, self._namespace, self.node, self.address)

    def knows(self, service: str) -> bool:
        """Whether it listens for that service, as "shop/web"."""
        return service in self.admin.get("/listeners").text()
