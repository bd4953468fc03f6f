#!/usr/bin/env python3
"""The main job on this machine, without a cluster: `./dev run`.

Starts three pods of an example service with a real HTTP load, Prometheus scraping them each second, and flyball serving the
metrics APIs from rules/examples/web.yaml. Prints lines to paste, each with the answer it gave just now.
"""

import argparse
import http.client
import json
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "test"))

from machine.own_ports import free as free_port  # pylint: disable=wrong-import-position

PODS = {"web-1": 40, "web-2": 20, "web-3": 10}  # requests a second

WARM_UP = 12  # seconds; the rates of the rules look back over 30 and are low before
CUSTOM = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop"
REQUESTS = [
    ("requests a second of each pod of the app", f"{CUSTOM}/pods/*/http_requests_per_second?labelSelector=app%3Dweb"),
    ("the same for one pod", f"{CUSTOM}/pods/web-1/http_requests_per_second"),
    ("the whole namespace", f"{CUSTOM}/metrics/http_requests_per_second"),
    ("orders in the queue, an external metric",
     "/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/queue_depth"),
    ("CPU and memory of the pods, as kubectl top reads them", "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods"),
]


class Children:
    """Processes that end with us: stopped by their process ids, newest first."""

    def __init__(self):
        self.running = []

    def start(self, words, **kwargs):
        process = subprocess.Popen(words, **kwargs)
        self.running.append(process)
        return process

    def first_dead(self):
        return next((p for p in self.running if p.poll() is not None), None)

    def stop(self):
        for process in reversed(self.running):
            if process.poll() is None:
                process.terminate()
        for process in reversed(self.running):
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def start_pods(children):
    ports = {}
    for pod in PODS:
        process = children.start([sys.executable, str(ROOT / "test/demo/service.py"), "--pod", pod],
                                 stdout=subprocess.PIPE, text=True, start_new_session=True)
        ports[pod] = int(process.stdout.readline())
    return ports


def load(port, per_second, stop):
    """Orders at a steady rate over one kept-alive connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    while not stop.wait(1 / per_second):
        try:
            connection.request("GET", "/order")
            connection.getresponse().read()
        except OSError:
            connection.close()


def start_prometheus(children, folder, ports):
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "scrape_configs": [{
            "job_name": "web",
            "static_configs": [
                {"targets": [f"127.0.0.1:{port}"],
                 "labels": {"namespace": "shop", "pod": pod, "node": "laptop", "container": "web"}}
                for pod, port in ports.items()],
        }],
    }
    (folder / "prometheus.yml").write_text(json.dumps(config))
    port = free_port()
    log = open(folder / "prometheus.log", "w", encoding="utf-8")
    children.start(["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb",
                    f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log, start_new_session=True)
    return port


def start_flyball(children, folder, program, prometheus_port):
    port = free_port()
    log = open(folder / "flyball.log", "w", encoding="utf-8")
    children.start([program, "serve", f"--config={ROOT}/rules/examples/web.yaml",
                    f"--prometheus-url=http://127.0.0.1:{prometheus_port}", f"--objects={ROOT}/test/demo/objects",
                    f"--secure-port={port}", f"--cert-dir={folder}/certs", "--metrics-relist-interval=1s",
                    "--metrics-max-age=1m"], stdout=log, stderr=log, start_new_session=True)
    return port


def get(port, target):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # a self-signed certificate, on loopback
    url = f"https://127.0.0.1:{port}{target}"
    with urllib.request.urlopen(url, timeout=5, context=context) as answer:
        return answer.read().decode()


def wait_for(what, ready, children, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        dead = children.first_dead()
        if dead is not None:
            raise SystemExit(f"run: {dead.args[0]} ended with status {dead.returncode} while waiting for {what}")
        try:
            if ready():
                return
        except OSError:
            pass
        time.sleep(0.1)
    raise SystemExit(f"run: no {what} within {seconds} s")


def has_items(port, target):
    return bool(json.loads(get(port, target))["items"])


def show(port):
    server = f"https://127.0.0.1:{port}"
    for what, target in REQUESTS:
        print(f"\n# {what}")
        print(f"curl -sk '{server}{target}'")
        print(get(port, target).rstrip())
    raw = urllib.parse.unquote(REQUESTS[0][1])
    print("\n# the same with kubectl, which needs no kubeconfig for this (the token only keeps it from asking for a user)")
    flags = [f"--server={server}", "--insecure-skip-tls-verify", "--token=none", "get", "--raw"]
    print(f"kubectl {' '.join(flags)} '{raw}'")
    if shutil.which("kubectl"):
        answer = subprocess.run(["kubectl", *flags, raw], capture_output=True, text=True, timeout=20, check=False)
        print((answer.stdout or answer.stderr).rstrip())
    print(f"\n# what each rule found\ncurl -sk '{server}/debug/rules'", flush=True)


def parse_seconds(text):
    return float(text.removesuffix("s"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flyball", default=str(ROOT / "build/release/flyball"))
    parser.add_argument("--for", dest="seconds", type=parse_seconds, help="end by itself after this long, as 20s")
    options = parser.parse_args()

    start = time.monotonic()
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    children = Children()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="flyball-run-"))
    try:
        ports = start_pods(children)
        for pod, rate in PODS.items():
            threading.Thread(target=load, args=(ports[pod], rate, stop), daemon=True).start()
        prometheus = start_prometheus(children, folder, ports)
        flyball = start_flyball(children, folder, options.flyball, prometheus)
        wait_for("answer of flyball", lambda: get(flyball, "/readyz") == "ok", children)
        for _, target in REQUESTS:
            wait_for(f"value at {target}", lambda t=target: has_items(flyball, t), children)
        stop.wait(max(0, WARM_UP - (time.monotonic() - start)))
        print(f"Prometheus http://127.0.0.1:{prometheus}  flyball https://127.0.0.1:{flyball}  logs {folder}")
        show(flyball)
        left = None if options.seconds is None else max(0, options.seconds - (time.monotonic() - start))
        print("\nCtrl-C ends it." if left is None else f"\nEnds by itself in {left:.0f} s.", flush=True)
        stop.wait(left)
        dead = children.first_dead()
        if dead is not None:
            raise SystemExit(f"run: {dead.args[0]} ended with status {dead.returncode}; see {folder}")
    except BaseException:
        for log in sorted(folder.glob("*.log")):
            print(f"--- {log}\n{log.read_text()[-2000:]}", file=sys.stderr)
        raise
    finally:
        stop.set()
        children.stop()
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
