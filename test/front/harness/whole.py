"""The whole of it: flyball with processes as pods, and the real Envoys that it tells what to do."""

import http.client
import json
import os
import pathlib
import signal
import ssl
import subprocess
import sys

import yaml

from harness import envoy, wait
from harness.ports import free_port, free_row
from machine.children import die_with_parent

PROJECT = pathlib.Path(__file__).resolve().parents[3]
FLYBALL = pathlib.Path(os.environ.get("FLYBALL", PROJECT / "build" / "release" / "flyball"))
PODS = PROJECT / "test" / "front" / "harness" / "pods.py"


def pod_command(*arguments):
    """What a ProcessSet runs: a pod of the tests, at the port that it is given."""
    return [sys.executable, "-S", str(PODS), "--port", "$(PORT)", *map(str, arguments)]


def grpc_command():
    """The same of a pod that speaks HTTP/2 alone."""
    return [sys.executable, str(PODS), "--grpc", "--port", "$(PORT)"]


class Web:
    """One service: a ProcessSet, at first without processes, and the Autoscaler with its trigger."""

    def __init__(self, name: str, command=None, most=1, least=0, first=None, app_protocol=None, probed=True, **metadata):  # pylint: disable=too-many-arguments,too-many-positional-arguments
        """`first`: the port of the first process, chosen where it is not given; `app_protocol`: of its Service, which is not there without;
        `probed`: else its pods are called ready at once."""
        self.name = name
        # Two Envoys, of other tests too, may share a port without a word.
        self.port = free_port()
        about = {"namespace": "shop", "name": name}
        self.objects = [
            {"apiVersion": "flyball.dev/v1alpha1", "kind": "ProcessSet", "metadata": about, "spec": {
                "replicas": least, "port": first or free_row(most), "gracePeriod": "2s", "command": command or pod_command(),
                **({"readiness": {"tcp": True}} if probed else {})}},
            {"apiVersion": "flyball.dev/v1alpha1", "kind": "Autoscaler", "metadata": about, "spec": {
                "mode": "Act", "scaleTargetRef": {"apiVersion": "flyball.dev/v1alpha1", "kind": "ProcessSet", "name": name},
                "minReplicas": least, "maxReplicas": most,
                "triggers": [{"type": "http", "metadata": {"service": name, "targetPort": "http", "window": "6s", **metadata}}]},
             "status": {"http": {"port": self.port}}}]
        if app_protocol is not None:
            port = {"port": 80, **({"appProtocol": app_protocol} if app_protocol else {})}
            self.objects.append({"apiVersion": "v1", "kind": "Service", "metadata": about, "spec": {"ports": [port]}})

    @property
    def key(self):
        return f"shop/{self.name}"


class Flyball:
    """One process that carries these services, and can be killed and started again."""

    def __init__(self, folder: pathlib.Path, webs: list, program=None):
        self.folder, self.webs, self.program = folder, webs, program or FLYBALL
        self.objects = folder / "objects"
        self.objects.mkdir(parents=True)
        self.write_objects()
        self.front, self.port = free_port(), free_port()
        self.starts = 0
        self.process = self._log = None

    def write_objects(self):
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
        objects = yaml.safe_dump_all([namespace, *(each for web in self.webs for each in web.objects)])
        (self.objects / "shop.yaml").write_text(objects)

    def start(self):
        self.starts += 1
        self._log = open(self.log_file(), "w", encoding="utf-8")  # pylint: disable=consider-using-with
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [str(self.program), "serve", f"--config={PROJECT}/test/demo/live/rules.yaml", f"--objects={self.objects}", "--scaler",
             "--metric-source=live", f"--front-listen=127.0.0.1:{self.front}", f"--secure-port={self.port}",
             f"--cert-dir={self.folder}/certs"],
            stdout=self._log, stderr=self._log, preexec_fn=die_with_parent)
        wait.until(lambda: all(f"{web.key} is carried on port {web.port}" in self.log() for web in self.webs), "that all are carried", 60)
        return self

    def log_file(self):
        return self.folder / f"flyball-{self.starts}.log"

    def log(self) -> str:
        return self.log_file().read_text(errors="replace")

    def get(self, path: str) -> str:
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=ssl._create_unverified_context())  # pylint: disable=protected-access
        connection.request("GET", path)
        text = connection.getresponse().read().decode()
        connection.close()
        return text

    def metric(self, name: str, **labels) -> float:
        """The sum of the samples with these labels."""
        found = 0.0
        for line in self.get("/metrics").splitlines():
            about, _, value = line.rpartition(" ")
            if about.split("{")[0] == name and all(f'{key}="{of}"' in about for key, of in labels.items()):
                found += float(value)
        return found

    def held(self, web: Web) -> int:
        return int(self.metric("flyball_front_held", service=web.key))

    def await_held(self, web: Web, count: int):
        wait.until(lambda: self.held(web) == count, f"{count} held of {web.key}", 60)

    def processes(self, web: Web) -> tuple:
        """(how many are wanted, process ids of those that are ready)"""
        try:
            sets = json.loads((self.objects / ".processes.json").read_text())
        except (OSError, ValueError):  # not there yet
            return 0, []
        for each in sets:
            if each["name"] == web.name:
                return each["wanted"], [process["pid"] for process in each["processes"] if process["ready"] and not process["ending"]]
        return 0, []

    def await_zero(self, web: Web, timeout=60):
        wait.until(lambda: self.processes(web) == (0, []), f"zero of {web.key}", timeout)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
        self._log.close()


def start_envoy(program, folder, flyball: Flyball, node: str, **how) -> envoy.Envoy:
    """An Envoy that has all services' listeners; several share their ports, as pods of the front share a Service."""
    started = envoy.Envoy(program, folder, flyball.front, free_port(), node=node, **how)

    def listens() -> bool:
        try:
            listeners = started.get("/listeners")
        except OSError:
            return False
        return all(web.key in listeners for web in flyball.webs)
    try:
        wait.until(listens, f"that {node} listens for all services", 60)
    except AssertionError:
        started.stop()
        raise
    return started
