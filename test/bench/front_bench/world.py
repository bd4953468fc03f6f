"""Who takes part: pods and clients (test/peers/knative-front/crowd), Knative's two proxies, and flyball with its Envoys."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import urllib.request

from harness import case, envoy, wait, whole

PEERS = envoy.PEERS
CROWD = PEERS / "crowd"
TICKS = os.sysconf("SC_CLK_TCK")


def folder() -> pathlib.Path:
    return pathlib.Path(tempfile.mkdtemp(prefix="flyball-front-bench-"))


class Processes:
    """Those that end with a measurement, newest first."""

    def __init__(self):
        self._running = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for each in reversed(self._running):
            each.stop()

    def add(self, each):
        self._running.append(each)
        return each


class Program:
    """One process, with its log in a file."""

    def __init__(self, words, environment=None, log=None):
        self.log = log or folder() / "log"
        self._file = open(self.log, "w", encoding="utf-8")  # pylint: disable=consider-using-with
        self.process = subprocess.Popen([str(word) for word in words], stdout=self._file, stderr=self._file,  # pylint: disable=consider-using-with
                                        env={**os.environ, **(environment or {})})

    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def stop(self):
        self.process.kill()
        self.process.wait()
        self._file.close()


def cpu_seconds(process) -> float:
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def megabytes(process, peak=False) -> float:
    found = re.search(r"VmHWM:\s+(\d+)" if peak else r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())
    return int(found[1]) * 1024 / 1e6


# ---- Pods and clients

def pod(port, **options) -> Program:
    return Program([CROWD, "pod", port, *(f"{name}={value}" for name, value in options.items())])


def pod_command(**options) -> list:
    return [str(CROWD), "pod", "$(PORT)", *(f"{name}={value}" for name, value in options.items())]


def listens(port):
    wait.until(lambda: _answers(port), f"that something answers on {port}")


def _answers(port) -> bool:
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/most", timeout=2).read()
        return True
    except OSError:
        return False


def most_of(port) -> int:
    """The most requests that the pod had at the same time."""
    return int(urllib.request.urlopen(f"http://127.0.0.1:{port}/most", timeout=5).read().split()[1])


def began_to_listen(log: pathlib.Path) -> float:
    """Of the pods that write there: when the first did."""
    return min(float(line.split()[0]) for line in log.read_text().splitlines())


class Clients:
    """A crowd under way; its report once all have ended."""

    def __init__(self, *words, headers=None):
        more = [f"header={name}:{value}" for name, value in (headers or {}).items()]
        self.process = subprocess.Popen([str(CROWD), *map(str, words), *more], stdout=subprocess.PIPE, text=True)  # pylint: disable=consider-using-with

    def report(self) -> dict:
        return json.loads(self.process.communicate(timeout=240)[0])

    def stop(self):
        self.process.kill()
        self.process.wait()


def lost(report: dict) -> int:
    return report["count"] - report["statuses"].get("200", 0)


def wrk(port, connections: int, seconds: int, headers=None) -> dict:
    """{"p50": seconds, "rate": requests a second}"""
    more = [word for name, value in (headers or {}).items() for word in ("-H", f"{name}: {value}")]
    said = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", *more, f"http://127.0.0.1:{port}/"],
                          check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in said:
        raise AssertionError(said)
    value, unit = re.search(r"50%\s+([\d.]+)(us|ms|s)", said).groups()
    return {"p50": float(value) * {"us": 1e-6, "ms": 1e-3, "s": 1}[unit], "rate": float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1])}


# ---- Flyball

class Carried:
    """flyball with these services, and Envoys before them."""

    def __init__(self, here: Processes, flyball: pathlib.Path, webs: list, envoys=1):
        self.folder = folder()
        self.flyball = here.add(whole.Flyball(self.folder, webs, program=flyball))
        self.flyball.start()
        program, reason = envoy.program_or_reason()
        if program is None:
            raise SystemExit(f"bench: {reason}")
        self.envoys = [here.add(whole.start_envoy(program, self.folder, self.flyball, f"front-{n}")) for n in range(1, envoys + 1)]
        wait.until(lambda: self.flyball.metric("flyball_front_envoys") == envoys, "the Envoys")

    def await_gate_off(self, web):
        """Its pods are ready, and two seconds have passed, after which nobody is asked any more."""
        wait.until(lambda: len(self.flyball.processes(web)[1]) >= 1, "a ready pod")
        before = None

        def nobody_is_asked() -> bool:
            nonlocal before
            ask(web.port)
            now = self.flyball.metric("flyball_front_gated_requests_total")
            settled, before = now == before, now
            return settled
        wait.until(nobody_is_asked, "that the gate is off")


def ask(port):
    return urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60).read()


# ---- Knative

class QueueProxy(Program):
    """The proxy that each pod of Knative has beside it."""

    def __init__(self, user_port: int, concurrency=0):
        self.port = case.free_port()
        super().__init__([PEERS / "knative-queue"], {
            "CONTAINER_CONCURRENCY": str(concurrency), "QUEUE_SERVING_PORT": str(self.port), "QUEUE_SERVING_TLS_PORT": str(case.free_port()),
            "USER_PORT": str(user_port), "REVISION_TIMEOUT_SECONDS": "300", "SERVING_LOGGING_CONFIG": "", "SERVING_LOGGING_LEVEL": "error",
            "SERVING_NAMESPACE": "shop", "SERVING_CONFIGURATION": "web", "SERVING_REVISION": "web", "SERVING_POD": "web-1",
            "SERVING_POD_IP": "127.0.0.1", "ENABLE_HTTP_FULL_DUPLEX": "false"})
        listens(self.port)


class Activator:
    """Knative's activator before pods that answer its probes as a queue-proxy does."""

    PORT = 8012  # it has no other

    def __init__(self, here: Processes):
        server = here.add(Program([PEERS / "knative-apiserver"]))
        wait.until(lambda: "listening" in server.text(), "the API server")
        self._api = f"http://127.0.0.1:{server.text().split()[1]}"
        self._here = here
        self._folder = folder()
        self.program = None

    def start(self):
        config = self._folder / "kubeconfig"
        config.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "current-context": "it", "clusters": [
            {"name": "it", "cluster": {"server": self._api}}], "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
            "users": [{"name": "it", "user": {}}]}))
        self.program = self._here.add(Program([PEERS / "knative-activator", "-kubeconfig", config], {
            "POD_NAME": "activator-1", "POD_IP": "127.0.0.1", "SYSTEM_NAMESPACE": "knative-serving",
            "CONFIG_LOGGING_NAME": "config-logging", "CONFIG_OBSERVABILITY_NAME": "config-observability", "METRICS_DOMAIN": "knative.dev/internal/serving",
            "KUBERNETES_MIN_VERSION": "1.20.0"}))
        wait.until(self._listens, "the activator", 60)
        return self

    def _listens(self) -> bool:
        if self.program.process.poll() is not None:
            raise AssertionError(self.program.text()[-2000:])
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.PORT}/", timeout=2)
        except urllib.error.HTTPError:
            return True  # for nobody
        except OSError:
            return False
        return True

    def _put(self, path: str, made: dict):
        request = urllib.request.Request(f"{self._api}/objects/{path}", data=json.dumps(made).encode(), method="PUT")
        urllib.request.urlopen(request, timeout=10).read()

    def revision(self, name: str, concurrency=0):
        labels = {"serving.knative.dev/revision": name, "serving.knative.dev/revisionUID": name,
                  "networking.internal.knative.dev/serverlessservice": name, "networking.internal.knative.dev/serviceType": "Private"}
        self._put(f"apis/serving.knative.dev/v1/namespaces/shop/revisions/{name}", {
            "apiVersion": "serving.knative.dev/v1", "kind": "Revision", "metadata": {"name": name, "namespace": "shop", "uid": name},
            "spec": {"containerConcurrency": concurrency, "timeoutSeconds": 300, "containers": [{"image": "web"}]}})
        self._put(f"api/v1/namespaces/shop/services/{name}-private", {
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": f"{name}-private", "namespace": "shop", "labels": labels},
            "spec": {"clusterIP": "127.0.0.9", "ports": [{"name": "http", "port": 80}]}})

    def endpoints(self, name: str, ports: list):
        """Pods that Kubernetes has not found ready yet."""
        labels = {"serving.knative.dev/revision": name, "serving.knative.dev/revisionUID": name,
                  "networking.internal.knative.dev/serviceType": "Private"}
        self._put(f"api/v1/namespaces/shop/endpoints/{name}-private", {
            "apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": f"{name}-private", "namespace": "shop", "labels": labels},
            "subsets": [{"notReadyAddresses": [{"ip": "127.0.0.1"}], "ports": [{"name": "http", "port": port}]} for port in ports]})

    @staticmethod
    def headers(name: str) -> dict:
        return {"Knative-Serving-Revision": name, "Knative-Serving-Namespace": "shop"}


def sleep_until(moment: float):
    time.sleep(max(moment - time.time(), 0))
