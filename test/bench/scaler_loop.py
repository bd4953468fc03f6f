#!/usr/bin/env python3
"""flyball's scaler against the stock HPA controller: one run, same machine, same control plane, same Prometheus.

  ./dev bench scaler-loop [--part reaction|many|crowd|watched]... [--autoscalers N] [--seconds N]

reaction  one autoscaler, 50 load steps, 1 s scrape: step -> scale write (stock: its defaults, 8 steps at the same time)
many      500 HPAs, all loads change at one moment: sample -> scale write, requests to the API server (both: 1 s period)
crowd     10,000 autoscalers of our own kind with 100,000 pods, each with an External metric of its own and cpu utilisation,
          decided each second (and, with nothing changing, each second and each 15 s); the samples come from
          synthetic_prometheus, since a real one could not give them beside it
watched   the same crowd without and with gauges of each autoscaler and a decision log: memory, and writes to the API server

Prints the table and keeps each part's last run, with its date and machine, in test/bench/results/scaler_loop.json. Exit status
1 when a requirement is missed.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
from harness import control_plane, own_kind, paths, ports, registration, scaler, scenario_run
from scaler_loop_bench import crowd, load, many_hpas, reaction, report

PARTS = ("reaction", "many", "crowd", "watched")
PERIOD = "--horizontal-pod-autoscaler-sync-period=1s"
RESULTS = HERE / "results" / "scaler_loop.json"
STOCK_USER = "horizontal-pod-autoscaler"  # of the service account


class World:
    """One control plane, one Prometheus, flyball registered as its metrics API, with or without its scaler."""

    def __init__(self):
        self.cluster = control_plane.ControlPlane().start(controllers=False)
        own_kind.install(self.cluster)
        self.work = load.Load()
        self._port = ports.free()
        self.server = None

    def start(self, *scaler_args: str):
        self.server = scaler.flyball(self.cluster, self.work.prometheus.url, scaler_args, port=self._port, elects=True).start()
        self.server.wait_listed("external.metrics.k8s.io/v1beta1", "queue_len")
        registration.register(self.cluster.admin, "scaler", self._port)
        registration.wait_available(self.cluster.admin)

    def stop(self):
        self.server.process.kill()
        self.work.stop()
        self.cluster.stop()


def of_reaction(world: World) -> dict:
    """All three at once: each has its own workload."""
    reaction.prepare(world.cluster, world.work, "stock", scenario_run.HPA)
    reaction.prepare(world.cluster, world.work, "cadence", own_kind.KIND, cadence={"interval": "500ms"})
    reaction.prepare(world.cluster, world.work, "sample", own_kind.KIND, cadence={"onSample": True})
    world.start("--scaler-mode=act")
    world.cluster.start_stock_scaler(())
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        jobs = {name: pool.submit(reaction.measure, world.cluster, world.work, name, steps, 90)
                for name, steps in (("stock", 8), ("cadence", 50), ("sample", 50))}
        found = {name: job.result() for name, job in jobs.items()}
    world.cluster.stop_stock_scaler()
    world.server.stop()
    return found


def of_many(world: World, write_qps: int) -> dict:
    """One after the other."""
    many_hpas.prepare(world.cluster, world.work)
    world.start()
    world.cluster.start_stock_scaler((PERIOD,))
    many_hpas.create(world.cluster)
    stock = many_hpas.measure(world.cluster, world.work, STOCK_USER, world.cluster.stock_scaler, 2, 20)
    print(f"  stock: median {stock.median:.1f} s, worst {stock.worst:.1f} s", flush=True)
    world.cluster.stop_stock_scaler()
    world.server.stop()
    many_hpas.remove(world.cluster)
    many_hpas.create(world.cluster)
    budget = [f"--scaler-write-qps={write_qps}", f"--scaler-write-burst={write_qps}"] if write_qps else []
    world.start("--scaler-mode=act", "--scaler-hpa", PERIOD, *budget)
    ours = many_hpas.measure(world.cluster, world.work, "flyball", world.server.process, 10, 20)
    print(f"  flyball: median {ours.median:.2f} s, worst {ours.worst:.2f} s", flush=True)
    return {"stock": stock, "flyball": ours}


def of_crowd(options: argparse.Namespace) -> dict:
    cluster = crowd.start_cluster(options.autoscalers)
    found = crowd.measure(cluster, options.synthetic, options.autoscalers, options.seconds)
    cluster.stop()
    return {"flyball": found}


def of_watched(options: argparse.Namespace) -> dict:
    cluster = crowd.start_cluster(options.autoscalers)
    found = crowd.measure_watched(cluster, options.synthetic, options.autoscalers, options.seconds)
    cluster.stop()
    return found


def keep(part: str, run: dict):
    """The last run of each part stays until the next one of that part; `table` is of all of them."""
    runs = json.loads(RESULTS.read_text())["parts"] if RESULTS.exists() else {}
    runs = {name: run if name == part else runs[name] for name in PARTS if name == part or name in runs}
    RESULTS.write_text(json.dumps({"table": [row for kept in runs.values() for row in kept["table"]], "parts": runs}, indent=1) + "\n")


def measured(options: argparse.Namespace) -> list:
    """The table; each part is kept as soon as it is there."""
    table, world = [], World() if {"reaction", "many"} & set(options.parts) else None
    parts = {"reaction": (lambda: of_reaction(world), report.of_reaction),
             "many": (lambda: of_many(world, options.write_qps), report.of_many),
             "crowd": (lambda: of_crowd(options), report.of_crowd),
             "watched": (lambda: of_watched(options), report.of_watched)}
    for part, (run, rows) in parts.items():
        if part == "crowd" and world:  # the parts from here on have clusters of their own
            world.stop()
        if part not in options.parts:
            continue
        print(f"bench: {part}", flush=True)
        machine, found = report.machine(), run()
        made = rows(*found.values())
        keep(part, {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "machine": machine,
                    "table": made, "measured": {who: outcome.as_dict() for who, outcome in found.items()}})
        print(report.text(made), flush=True)
        table += made
    return table


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flyball", type=pathlib.Path, help="the program (default build/release/flyball)")
    parser.add_argument("--synthetic", type=pathlib.Path, default=paths.PROJECT / "build" / "release" / "bin" / "synthetic_prometheus")
    parser.add_argument("--part", dest="parts", action="append", choices=PARTS, help="default: all")
    parser.add_argument("--autoscalers", type=int, default=10_000, help="of the crowd")
    parser.add_argument("--write-qps", type=int, default=0, help="flyball's write budget with many HPAs; default: its own")
    parser.add_argument("--seconds", type=int, default=30, help="length of one measurement of the crowd")
    options = parser.parse_args()
    options.parts = options.parts or list(PARTS)
    return options


def main() -> int:
    options = arguments()
    if options.flyball:
        os.environ["FLYBALL"] = str(options.flyball.resolve())
    subprocess.run([str(paths.PROJECT / "test" / "peers" / "build"), str(paths.PEERS)], check=True)
    started = time.monotonic()
    table, machine = measured(options), report.machine()
    print(f"\n{report.text(table)}\n\nbench: {time.monotonic() - started:.0f} s on {machine['cores']} cores of {machine['cpu']}")
    print(f"bench: kept in {RESULTS.relative_to(paths.PROJECT)}")
    missed = [r for r in table if not r["met"]]
    print(f"bench: {len(table) - len(missed)} of {len(table)} requirements met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
