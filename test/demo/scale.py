#!/usr/bin/env python3
"""Scaling on this machine, without a cluster and without Prometheus: `./dev run`.

flyball takes a folder of objects for a cluster. It runs the worker processes of a ProcessSet, scrapes them five times a second
into memory, and decides each time that a sample changes. Clients put a load on the workers that steps up and down. The table
shows, each second and at each step, what flyball reads, wants and has, and how long it took from the step of the load until
the first new worker was ready.
"""

import argparse
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import threading
import time

import yaml

from run import ROOT, Children, free_port, get, parse_seconds, wait_for
from machine.own_ports import free_row

STEP = 20  # seconds between steps of the load
CLIENTS = [4, 30]  # at the same time: each step takes the next of these, then the first again
PER_WORKER = 5  # requests at the same time that a worker is to have
WORK = 0.05  # seconds that an order takes
MOST = 8  # workers


def objects(port):
    """What the folder holds: the worker processes, and who scales them."""
    name = {"namespace": "shop", "name": "web"}
    target = {"type": "AverageValue", "averageValue": str(PER_WORKER)}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
        {"apiVersion": "flyball.dev/v1alpha1", "kind": "ProcessSet", "metadata": name, "spec": {
            "replicas": 1, "port": port, "metricsPath": "/metrics", "readiness": {"tcp": True}, "gracePeriod": "2s",
            "command": [sys.executable, "-S", str(ROOT / "test/demo/service.py"), "--pod", "$(NAME)", "--port", "$(PORT)",
                        "--work", str(WORK)]}},
        {"apiVersion": "flyball.dev/v1alpha1", "kind": "Autoscaler", "metadata": name, "spec": {
            "mode": "Act", "scaleTargetRef": {"apiVersion": "flyball.dev/v1alpha1", "kind": "ProcessSet", "name": "web"},
            "minReplicas": 1, "maxReplicas": MOST, "cadence": {"onSample": True},
            "behavior": {"scaleDown": {"stabilizationWindowSeconds": 5},
                         "scaleUp": {"policies": [{"type": "Pods", "value": MOST, "periodSeconds": 1}]}},
            "metrics": [{"type": "Pods", "pods": {"metric": {"name": "http_requests_in_flight"}, "target": target}}]}},
    ]


class Workers:
    """The worker processes, as flyball tells of them in its folder."""

    def __init__(self, folder):
        self.file = folder / ".processes.json"

    def now(self):
        """(wanted, addresses of those that are ready)"""
        try:
            sets = json.loads(self.file.read_text())
        except (OSError, ValueError):  # not there yet
            return 0, []
        web = next((s for s in sets if s["name"] == "web"), None)
        if web is None:
            return 0, []
        return web["wanted"], [p["address"] for p in web["processes"] if p["ready"] and not p["ending"]]


class Clients:
    """Sends an order, waits for the answer, sends the next one, to a worker by chance: so many at the same time."""

    def __init__(self, workers):
        self.workers = workers
        self.addresses = []
        self.wanted = 0
        self.answers = 0
        self.failures = 0
        self.lock = threading.Lock()
        self.running = 0

    def watch(self, stop):
        while not stop.wait(0.02):
            self.addresses = self.workers.now()[1]

    def set(self, count):
        with self.lock:
            self.wanted = count
            for _ in range(count - self.running):
                self.running += 1
                threading.Thread(target=self.run, daemon=True).start()

    def is_over(self):
        with self.lock:
            over = self.running > self.wanted
            self.running -= over
            return over

    def run(self):
        while not self.is_over():
            addresses = self.addresses
            if not addresses:
                time.sleep(0.02)
                continue
            try:
                connection = http.client.HTTPConnection(random.choice(addresses), timeout=5)
                connection.request("GET", "/order")
                connection.getresponse().read()
                connection.close()
                self.answers += 1
            except OSError:
                self.failures += 1  # of a worker that has just ended
                time.sleep(0.02)


class Reaction:
    """How long from a step of the load until a worker more is ready."""

    def __init__(self):
        self.since = None
        self.ready = 0
        self.took = []

    def step(self, ready):
        self.since, self.ready = time.monotonic(), ready

    def look(self, ready):
        """The milliseconds, when it is over just now."""
        if self.since is None or ready <= self.ready:
            return None
        took, self.since = (time.monotonic() - self.since) * 1000, None
        self.took.append(took)
        return took


def reading_of(port):
    """(what the autoscaler read for each worker, how many it wants) at its last decision."""
    autoscalers = json.loads(get(port, "/debug/decisions?namespace=shop&name=web"))["autoscalers"]
    if not autoscalers:
        return "–", "–"
    decision = autoscalers[0]["decisions"][0]["trace"]
    proposal = next(iter(decision.get("proposals", [])), {})
    return proposal.get("measured", "–"), decision.get("desiredReplicas", "–")


def start_flyball(children, folder, program):
    objects_folder = folder / "objects"
    objects_folder.mkdir()
    port = free_port()
    (objects_folder / "shop.yaml").write_text(yaml.safe_dump_all(objects(free_row(MOST))))
    log = open(folder / "flyball.log", "w", encoding="utf-8")
    children.start([program, "serve", f"--config={ROOT}/test/demo/live/rules.yaml", f"--objects={objects_folder}", "--scaler",
                    "--metric-source=live", "--live-scrape-annotated-pods=200ms", "--live-warmup=1s", "--query-freshness=0",
                    f"--secure-port={port}", f"--cert-dir={folder}/certs"],
                   stdout=log, stderr=log, start_new_session=True)
    return port, Workers(objects_folder)


def show(port, workers, clients, stop, seconds):
    """The table, until it is to end. Returns the reaction times in milliseconds."""
    print(f"{'time':>6}  {'clients':>7}  {'each has':>8}  {'wanted':>6}  {'ready':>5}  {'answers/s':>9}  reaction")
    start = time.monotonic()
    reaction, steps, next_line, answers, note = Reaction(), 0, 0.0, 0, ""
    while not stop.is_set() and (seconds is None or time.monotonic() - start < seconds):
        now = time.monotonic() - start
        ready = len(workers.now()[1])
        if now >= steps * STEP:
            count = CLIENTS[steps % len(CLIENTS)]
            more = steps > 0 and count > clients.wanted
            clients.set(count)
            steps += 1
            if more:
                reaction.step(ready)
        took = reaction.look(ready)
        if took is not None:
            note = f"a new worker was ready {took:.0f} ms after the step"
        if now >= next_line:
            reading, desired = reading_of(port)
            print(f"{now:5.0f}s  {clients.wanted:7}  {reading:>8}  {desired:>6}  {ready:5}  {clients.answers - answers:9}  {note}",
                  flush=True)
            answers, note = clients.answers, ""
            next_line += 1
        stop.wait(0.01)
    return reaction.took


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flyball", default=str(ROOT / "build/release/flyball"))
    parser.add_argument("--for", dest="seconds", type=parse_seconds, help="end by itself after this long, as 60s")
    options = parser.parse_args()

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    children = Children()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="flyball-run-"))
    try:
        port, workers = start_flyball(children, folder, options.flyball)
        wait_for("worker", lambda: workers.now()[1], children)
        wait_for("answer of flyball", lambda: get(port, "/readyz") == "ok", children)
        print(f"flyball https://127.0.0.1:{port}  folder {folder}/objects  log {folder}/flyball.log\n"
              f"Each worker is to have {PER_WORKER} requests at the same time; there are {MOST} workers at most.\n")
        clients = Clients(workers)
        threading.Thread(target=clients.watch, args=(stop,), daemon=True).start()
        took = show(port, workers, clients, stop, options.seconds)
        if took:
            print(f"\nFrom a step of the load to a new worker that is ready: {', '.join(f'{t:.0f} ms' for t in took)}.")
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
        children.stop()
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
