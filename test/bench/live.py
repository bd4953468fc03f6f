#!/usr/bin/env python3
"""The live source against Prometheus: one run, same machine, same samples.

  ./dev bench live [--flyball PROGRAM] [--part ingest|memory|query|latency]...

ingest   samples for each second of the server's CPU time: 8 targets of 10,000 samples scraped twice a second, and remote write
         of 20,000 series in requests of 2,000 samples, both behind TLS
memory   100,000 series of 600 samples: bytes of a sample beyond its series' first one, and the whole process
query    sum by (pod) (rate(x[1m])) over 10,000 series, through both HTTP APIs and by the engines alone
latency  1,000 autoscalers, 10,000 series: from a push to the decision, and to the scale write at a real kube-apiserver

Prints the table and keeps each part's last run, with its date and machine, in test/bench/results/live.json. Exit status 1 when
a requirement is missed. Needs Go for the engine of Prometheus alone.
"""

import argparse
import datetime
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
from adapter_bench.report import machine
from live_bench import ingest, latency, memory, query

RESULTS = HERE / "results" / "live.json"


def _row(work: str, unit: str, theirs, ours, value: float, required: float, at_least: bool = True) -> dict:
    return {"work": work, "unit": unit, "prometheus": theirs, "flyball": ours, "value": value, "required": required,
            "at_least": at_least, "met": value >= required if at_least else value <= required}


def of_ingest(found: dict) -> list:
    return [_row(work, "samples a CPU second", of["prometheus"], of["flyball"], of["flyball"] / of["prometheus"], times)
            for work, of, times in (("scraped text", found["text"], 2), ("remote write", found["remote_write"], 6))]


def of_memory(found: dict) -> list:
    ours, theirs = found["flyball"], found["prometheus"]
    grown = [(side["rss_mib"] - side["first_mib"]) * 2**20 / side["samples"] for side in (theirs, ours)]
    counted = (ours["counted_bytes"] - ours["first_counted_bytes"]) / ours["samples"]
    rss = [side["rss_mib"] * 2**20 / 1e6 for side in (theirs, ours)]
    return [_row("100,000 series, 600 samples each", "bytes a sample, RSS", *grown, grown[1], 2, False),
            _row("the same", "bytes a sample, as counted", None, counted, counted, 2, False),
            _row("the same: whole process", "RSS MB", *rss, rss[1], 200, False)]


def of_query(found: dict) -> list:
    return [_row(f"sum by (pod) of 10,000 rates, {work}", "ms", of["prometheus"], of["flyball"], of["prometheus"] / of["flyball"], times)
            for work, of, times in (("HTTP API", found["api"], 5), ("engine alone", found["engine"], 2))]


def of_latency(found: dict) -> list:
    decided, written = found["decided"], found["written"]
    return [_row("push -> decision, p50", "ms beyond the debounce", None, decided["p50_ms"], decided["p50_ms"], 5, False),
            _row("push -> decision, p99", "ms beyond the debounce", None, decided["p99_ms"], decided["p99_ms"], 50, False),
            _row("push -> scale write, p99", "ms", None, written["p99_ms"], written["p99_ms"], 100, False)]


PARTS = {"ingest": (ingest.measure, of_ingest), "memory": (memory.measure, of_memory), "query": (query.measure, of_query),
         "latency": (latency.measure, of_latency)}


def _number(value) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def text(table: list) -> str:
    head = ("work", "unit", "prometheus", "flyball", "value", "required", "")
    lines = [head] + [(r["work"], r["unit"], _number(r["prometheus"]), _number(r["flyball"]), _number(r["value"]),
                       (">= " if r["at_least"] else "<= ") + _number(r["required"]), "pass" if r["met"] else "FAIL") for r in table]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def keep(part: str, run: dict):
    runs = json.loads(RESULTS.read_text())["parts"] if RESULTS.exists() else {}
    runs[part] = run
    RESULTS.write_text(json.dumps({"parts": {name: runs[name] for name in PARTS if name in runs}}, indent=1) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flyball", type=pathlib.Path, help="the program (default build/release/flyball)")
    parser.add_argument("--part", dest="parts", action="append", choices=PARTS, help="default: all")
    options = parser.parse_args()
    if options.flyball:
        os.environ["FLYBALL"] = str(options.flyball.resolve())
    table = []
    for part, (measure, rows) in PARTS.items():
        if options.parts and part not in options.parts:
            continue
        print(f"bench: {part}", flush=True)
        on, found = machine(), measure()
        made = rows(found)
        keep(part, {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "machine": on,
                    "table": made, "measured": found})
        print(text(made), flush=True)
        table += made
    return 0 if all(row["met"] for row in table) else 1


if __name__ == "__main__":
    sys.exit(main())
