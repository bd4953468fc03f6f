#!/usr/bin/env python3
"""Scaling by requests on this machine, from zero and back, without a cluster: `./dev run --requests`.

flyball takes a folder of objects for a cluster and runs the worker processes of a ProcessSet, at first none. Envoy stands in
front of them and is told everything by flyball. The first request is held until a worker is ready; then clients put a load on
the service, and go away. The table shows what flyball holds, wants and has; at the end stands how long the first request
waited, and for what.
"""

import argparse
import http.client
import os
import pathlib
import re
import shutil
import signal
import sys
import tempfile
import threading
import time

import yaml

from run import ROOT, Children, free_port, get, parse_seconds, wait_for
from scale import Workers
from machine.own_ports import free_row

sys.path.insert(0, str(ROOT / "test/front"))
from harness import case, envoy  # pylint: disable=wrong-import-position

PER_WORKER = 5  # requests at the same time that a worker is to have
WORK = 0.05  # seconds that an order takes
MOST = 8  # workers
CLIENTS = 30
IDLE, BUSY, QUIET = 3, 15, 25  # seconds without anybody, with the load, and after it
PARTS = {"write": "the scale was written", "pod": "a process ran", "probe": "it answered", "ack": "Envoy knew it"}


def objects(port, listens):
    """What the folder holds: no worker process yet, and who scales them. Envoy listens on a port that is free now: it would share one
    with another Envoy of this machine without a word, and with it the clients."""
    name = {"namespace": "shop", "name": "web"}
    metadata = {"service": "web", "targetPort": "http", "target": str(PER_WORKER), "targetUtilizationPercentage": "100",
                "window": "6s"}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
        {"apiVersion": "flyball.dev/v1alpha1", "kind": "ProcessSet", "metadata": name, "spec": {
            "replicas": 0, "port": port, "readiness": {"tcp": True}, "gracePeriod": "2s",
            "command": [sys.executable, "-S", str(ROOT / "test/demo/service.py"), "--pod", "$(NAME)", "--port", "$(PORT)",
                        "--work", str(WORK), "--drain", "1"]}},
        {"apiVersion": "flyball.dev/v1alpha1", "kind": "Autoscaler", "metadata": name, "spec": {
            "mode": "Act", "scaleTargetRef": {"apiVersion": "flyball.dev/v1alpha1", "kind": "ProcessSet", "name": "web"},
            "minReplicas": 0, "maxReplicas": MOST, "triggers": [{"type": "http", "metadata": metadata}]},
         "status": {"http": {"port": listens}}},
    ]


def start_flyball(children, folder, program):
    objects_folder = folder / "objects"
    objects_folder.mkdir()
    port, front = free_port(), free_port()
    (objects_folder / "shop.yaml").write_text(yaml.safe_dump_all(objects(free_row(MOST), case.free_port())))
    log = open(folder / "flyball.log", "w", encoding="utf-8")
    children.start([program, "serve", f"--config={ROOT}/test/demo/live/rules.yaml", f"--objects={objects_folder}", "--scaler",
                    "--metric-source=live", f"--front-listen=127.0.0.1:{front}", f"--secure-port={port}",
                    f"--cert-dir={folder}/certs"], stdout=log, stderr=log, start_new_session=True)
    return port, front, Workers(objects_folder)


def service_port(folder):
    """Where Envoy listens for the service; None: not yet."""
    found = re.search(r"shop/web is carried on port (\d+)", (folder / "flyball.log").read_text())
    return int(found[1]) if found else None


def ask(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=70)
    connection.request("GET", "/order")
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def listens(admin):
    connection = http.client.HTTPConnection("127.0.0.1", admin, timeout=5)
    connection.request("GET", "/listeners")
    return b"shop/web" in connection.getresponse().read()


class Clients:
    """So many at the same time: each sends an order, waits for the answer and sends the next."""

    def __init__(self, port):
        self.port = port
        self.wanted = self.running = self.answers = self.failures = 0
        self.last_failure = ""
        self.lock = threading.Lock()

    def set(self, count):
        with self.lock:
            self.wanted = count
            for _ in range(count - self.running):
                self.running += 1
                threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            with self.lock:
                if self.running > self.wanted:
                    self.running -= 1
                    return
            try:
                status = ask(self.port)
                failure = "" if status == 200 else f"status {status}"
            except (OSError, http.client.HTTPException) as error:
                failure = repr(error)
            with self.lock:
                self.answers += not failure
                self.failures += bool(failure)
                self.last_failure = failure or self.last_failure


def numbers(port):
    """The metrics of the front by their names with labels."""
    lines = get(port, "/metrics").splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line.startswith("flyball_front_"))}


def show(port, workers, clients, stop, seconds):
    print(f"{'time':>6}  {'clients':>7}  {'held':>5}  {'wanted':>6}  {'ready':>5}  {'answers/s':>9}  {'failed':>6}")
    start, next_line, before = time.monotonic(), 0.0, 0
    while not stop.is_set() and (now := time.monotonic() - start) < seconds:
        clients.set(0 if now < IDLE else 1 if now < IDLE + 2 else CLIENTS if now < IDLE + BUSY else 0)
        if now >= next_line:
            wanted, ready = workers.now()
            held = numbers(port).get('flyball_front_held{service="shop/web"}', 0)
            print(f"{now:5.0f}s  {clients.wanted:7}  {held:5.0f}  {wanted:6}  {len(ready):5}  {clients.answers - before:9}  {clients.failures:6}",
                  flush=True)
            before = clients.answers
            next_line += 1
        stop.wait(0.02)


def cold_start(port):
    """One line: how long the request waited that came at zero."""
    found = numbers(port)
    count = found.get('flyball_front_cold_start_seconds_count{part="total"}')
    if not count:
        return "No request had to wait at zero."

    def milliseconds(part):
        return 1000 * found['flyball_front_cold_start_seconds_sum{part="%s"}' % part] / count

    parts = ", ".join(f"{milliseconds(part):.0f} ms until {says}" for part, says in PARTS.items())
    return f"The first request was held for {milliseconds('total'):.0f} ms: {parts}."


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flyball", default=str(ROOT / "build/release/flyball"))
    parser.add_argument("--for", dest="seconds", type=parse_seconds, default=IDLE + BUSY + QUIET, help="end after this long, as 60s")
    options = parser.parse_args()

    program, reason = envoy.program_or_reason()
    if program is None:
        raise SystemExit(f"run: {reason}")
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    children, proxy = Children(), None
    folder = pathlib.Path(tempfile.mkdtemp(prefix="flyball-run-"))
    try:
        port, front, workers = start_flyball(children, folder, options.flyball)
        wait_for("answer of flyball", lambda: get(port, "/readyz") == "ok", children)
        admin = free_port()
        proxy = envoy.Envoy(program, folder, front, admin)
        wait_for("port of the service", lambda: service_port(folder), children)
        wait_for("listener of Envoy", lambda: listens(admin), children)
        print(f"service http://127.0.0.1:{service_port(folder)}/order  flyball https://127.0.0.1:{port}  folder {folder}\n"
              f"Each worker is to have {PER_WORKER} requests at the same time; there are {MOST} workers at most, and none at first.\n")
        clients = Clients(service_port(folder))
        show(port, workers, clients, stop, options.seconds)
        print(f"\n{cold_start(port)}\n{clients.answers} requests were answered, {clients.failures} were not"
                  f"{': ' + clients.last_failure if clients.failures else ''}.")
        dead = children.first_dead()
        if dead is not None:
            raise SystemExit(f"run: {dead.args[0]} ended with status {dead.returncode}; see {folder}")
    except BaseException:
        log = folder / "flyball.log"
        if log.exists():
            print(f"--- {log}\n{log.read_text()[-3000:]}", file=sys.stderr)
        raise
    finally:
        stop.set()
        if proxy is not None:
            proxy.stop()
        children.stop()
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
