#!/usr/bin/python3
"""Scaling by requests, beside Knative's two proxies: one run, same machine, same pods and clients.

  ./dev bench front [--flyball PROGRAM] [--part path|cold|held|burst|limit|losses|services]...

path      what a hop costs with the gate off: Envoy, and Knative's queue-proxy
cold      40 requests at zero: from the moment that the pod answers to the first byte, and the same at Knative's activator
held      4,000 held at once and let go, and the same at the activator
burst     a thousand clients come at zero; pods take 3 s
limit     one request at a time for each of 10 pods, 100 clients, two Envoys; and the activator with the same pods
losses    requests just when services go to zero, and flyball killed while a thousand are held
services  1,000 idle services

Prints the table and keeps each part's last run, with its date and machine, in test/bench/results/front.json. Exit status 1 when
a goal is missed. Needs Go for Knative's proxies (test/peers/knative-front/build) and Envoy's wheel from PyPI.
"""

import argparse
import datetime
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "test" / "front")]
sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
from adapter_bench.report import machine
from front_bench import limits, losses, path, zero

RESULTS = HERE / "results" / "front.json"


def _row(work: str, unit: str, theirs, ours, required, at_least=False, ratio=None) -> dict:
    """`ratio`: what is compared with the goal, where that is not ours itself. `required` is None where there is no goal."""
    value = ours if ratio is None else ratio
    met = required is None or (value is not None and (value >= required if at_least else value <= required))
    return {"work": work, "unit": unit, "theirs": theirs, "flyball": ours, "value": value, "required": required, "at_least": at_least,
            "of_peer": ratio is not None, "met": met}


def of_path(found: dict) -> list:
    envoy, queue = found["envoy"], found["queue-proxy"]
    return [_row("gate off: added p50 at 1 connection", "ms", queue["added"] * 1e3, envoy["added"] * 1e3, 1, ratio=envoy["added"] / queue["added"]),
            _row("gate off: CPU of a request at 16 connections", "µs", queue["cpu"] * 1e6, envoy["cpu"] * 1e6, 1, ratio=envoy["cpu"] / queue["cpu"])]


def of_cold(found: dict) -> list:
    ours, theirs = found["flyball"], found["activator"]
    return [_row("cold start beyond the pod's own, p50", "ms", theirs["p50"] * 1e3, ours["p50"] * 1e3, 10),
            _row("cold start beyond the pod's own, p99", "ms", theirs["p99"] * 1e3, ours["p99"] * 1e3, 50)]


def of_held(found: dict) -> list:
    ours, theirs = found["flyball"], found["activator"]
    return [_row("4,000 held, then released: to the last answer", "s", theirs["seconds"], ours["seconds"], 2),
            _row("4,000 held, then released: lost", "requests", theirs["lost"], ours["lost"], 0),
            _row("4,000 held, then released: peak memory", "MB", sum(theirs["megabytes"]), sum(ours["megabytes"]), None)]


def of_burst(found: dict) -> list:
    # Knative's: its autoscaler with its defaults, a pod ready 3 s after it is made.
    return [_row("zero to 1,000 at once: all pods ready", "s", 9.7, found["seconds"], 5), _row("the same: lost", "requests", None, found["lost"], 0)]


def of_limit(found: dict) -> list:
    ours, theirs = found["flyball"], found["activator"]
    return [_row("one at a time, 10 pods, two Envoys: pods' time used", "%", theirs["used"] * 100, ours["used"] * 100, 95, at_least=True),
            _row("the same: most at once at a pod", "requests", theirs["most"], ours["most"], 1),
            _row("the same: lost", "requests", theirs["lost"], ours["lost"], 0)]


def of_losses(found: dict) -> list:
    cycles, killed = found["cycles"], found["killed"]
    return [_row(f"{cycles['asked']} requests around {cycles['wakes']:.0f} zeros: lost", "requests", None, cycles["lost"], 0),
            _row(f"flyball killed with {killed['held']:,} held: lost", "requests", None, killed["lost"], 0)]


def of_services(found: dict) -> list:
    one, every = found["one"], found["all"]
    return [_row("1,000 idle services: Envoy", "MB", None, every["envoy"]["megabytes"], 148),
            _row("1,000 idle services: Flyball, beyond one's", "MB", None, every["flyball"]["megabytes"] - one["flyball"]["megabytes"], 100),
            _row("1,000 idle services: CPU of Flyball", "% of a core", None, every["flyball"]["core"] * 100, 1),
            _row("1,000 idle services: CPU of Envoy", "% of a core", None, every["envoy"]["core"] * 100, None)]


PARTS = {"path": (path.measure, of_path), "cold": (zero.cold_starts, of_cold), "held": (zero.many_held, of_held),
         "burst": (zero.burst, of_burst), "limit": (limits.shared_limit, of_limit), "losses": (losses.measure, of_losses),
         "services": (limits.services, of_services)}


def _number(value) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def _goal(row: dict) -> str:
    if row["required"] is None:
        return "-"
    return (">= " if row["at_least"] else "<= ") + _number(row["required"]) + (" x" if row["of_peer"] else "")


def text(table: list) -> str:
    head = ("work", "unit", "knative", "flyball", "ratio", "goal", "")
    lines = [head] + [(r["work"], r["unit"], _number(r["theirs"]), _number(r["flyball"]),
                       _number(r["flyball"] / r["theirs"]) if r["theirs"] and r["flyball"] is not None else "-", _goal(r), "pass" if r["met"] else "FAIL")
                      for r in table]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def keep(part: str, run: dict):
    runs = json.loads(RESULTS.read_text())["parts"] if RESULTS.exists() else {}
    runs[part] = run
    RESULTS.write_text(json.dumps({"parts": {name: runs[name] for name in PARTS if name in runs}}, indent=1) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flyball", type=pathlib.Path, default=ROOT / "build" / "release" / "flyball", help="the program")
    parser.add_argument("--part", dest="parts", action="append", choices=PARTS, help="default: all")
    options = parser.parse_args()
    subprocess.run([ROOT / "test" / "peers" / "knative-front" / "build"], check=True)
    table = []
    for part, (measure, rows) in PARTS.items():
        if options.parts and part not in options.parts:
            continue
        print(f"bench: {part}", flush=True)
        on, found = machine(), measure(options.flyball.resolve())
        made = rows(found)
        keep(part, {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "machine": on,
                    "table": made, "measured": found})
        print(text(made), flush=True)
        table += made
    return 0 if all(row["met"] for row in table) else 1


if __name__ == "__main__":
    sys.exit(main())
