#!/usr/bin/env python3
"""flyball against prometheus-adapter: one run, same machine, same Prometheus, same control plane.

  ./dev bench adapter [--seconds N] [--only-original]

The original runs with its defaults and with --client-qps/--client-burst 100000, flyball as it comes. 10 namespaces of
50 pods, 8 connections, token authentication, no errors allowed. Prints the table and writes
test/bench/results/adapter.json. Exit status 1 when a required ratio is missed.
"""

import argparse
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
from adapter_bench import measure, report, world
from harness import adapter, paths

UNTHROTTLED = ("--client-qps=100000", "--client-burst=100000")


def rates(program: measure.Program, seconds: int) -> dict:
    cells, rss = program.rates(seconds)
    for name, cell in cells.items():
        print(f"  {name}: {cell.requests_per_second:,.0f} requests/s, p99 {cell.p99_ms:.2f} ms, {cell.errors} errors", flush=True)
    return {"cells": cells, "rss": rss}


def large_listings(here: world.World, programs: dict, sides: dict):
    """Last, because a Prometheus with 100,000 series takes its time to start."""
    print(f"bench: {world.SERIES:,} series over {world.RULES} rules", flush=True)
    large = here.start_large()
    for name, program in programs.items():
        sides[name]["relist"], sides[name]["rss_large"] = program.large_listing(large, 5)
        print(f"  {name}: relist {sides[name]['relist']:.2f} s, peak RSS {sides[name]['rss_large']:.0f} MiB", flush=True)


def measured(here: world.World, kind: str, seconds: int) -> dict:
    """Everything, by program."""
    programs = {"original_default": measure.Program(here, adapter.ORIGINAL),
                "original": measure.Program(here, adapter.ORIGINAL, UNTHROTTLED), "flyball": measure.Program(here, kind)}
    sides = {}
    for name, program in programs.items():
        print(f"bench: {name}", flush=True)
        sides[name] = rates(program, seconds)
    del programs["original_default"]
    for name, program in programs.items():
        sides[name]["ready"] = program.seconds_to_first_answer(5)
    large_listings(here, programs, sides)
    return sides


def as_json(found: dict) -> dict:
    return {**found, "cells": {name: cell.as_dict() for name, cell in found["cells"].items()}}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flyball", type=pathlib.Path, help="the program (default build/release/flyball)")
    parser.add_argument("--seconds", type=int, default=8, help="length of one rate measurement")
    parser.add_argument("--only-original", action="store_true", help="the original in both places, to prove the benchmark")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    if options.flyball:
        os.environ["FLYBALL"] = str(options.flyball.resolve())
    subprocess.run([str(paths.PROJECT / "test" / "peers" / "build"), str(paths.PEERS)], check=True)

    started = time.monotonic()
    machine = report.machine()
    here = world.World()
    print(f"bench: 500 pods are up after {time.monotonic() - started:.0f} s", flush=True)
    sides = measured(here, adapter.ORIGINAL if options.only_original else adapter.FLYBALL, options.seconds)
    table = report.rows(sides["original_default"], sides["original"], sides["flyball"])
    print(f"\n{report.text(table)}\n\nbench: {time.monotonic() - started:.0f} s on {machine['cores']} cores of {machine['cpu']}")
    if not options.only_original:
        results = HERE / "results" / "adapter.json"
        results.parent.mkdir(exist_ok=True)
        results.write_text(json.dumps({"machine": machine, "seconds_per_cell": options.seconds, "table": table,
                                       "measured": {name: as_json(found) for name, found in sides.items()}}, indent=1) + "\n")
        print(f"bench: written to {results.relative_to(paths.PROJECT)}")
    missed = [r for r in table if not r["met"]]
    print(f"bench: {len(table) - len(missed)} of {len(table)} requirements met")
    return 1 if missed and not options.only_original else 0


if __name__ == "__main__":
    sys.exit(main())
