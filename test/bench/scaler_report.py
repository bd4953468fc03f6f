#!/usr/bin/env python3
"""Makes the table and the JSON of run_scaler.sh from what the two programs printed.

  scaler_report.py FOLDER RESULT.json

FOLDER holds before.json and after.json of google-benchmark and, when it ran, peer.jsonl of peers/replica_math. All times
are CPU time. Exit status 1 when a goal is missed.
"""

import datetime
import json
import os
import pathlib
import platform
import sys

SCENARIOS = ["external", "resource/10", "resource/100", "resource/1000", "five_metrics/50"]
MORE = ["unchanged/resource/10", "unchanged/resource/1000", "unchanged/five_metrics/50", "read_answer/1000"]
RATIO_GOAL = 20


def read_ours(folder: pathlib.Path) -> dict:
    """name -> the fastest of all repetitions."""
    best = {}
    for name in ("before.json", "after.json"):
        for row in json.loads((folder / name).read_text())["benchmarks"]:
            if row.get("run_type") == "aggregate" or row.get("error_occurred"):
                continue
            key = row["name"].split("/repeats:")[0]
            ns = row["cpu_time"] * {"ns": 1, "us": 1e3, "ms": 1e6}[row["time_unit"]]
            if key not in best or ns < best[key]["ns"]:
                best[key] = {"ns": ns, "allocs": row.get("allocs")}
    return best


def read_peer(folder: pathlib.Path) -> dict:
    """scenario -> {"calculator": …, "reconcile": …}, the copies of its canned answers taken off."""
    path = folder / "peer.jsonl"
    if not path.exists():
        return {}
    rows = {}
    for line in path.read_text().splitlines():
        row = json.loads(line)
        rows.setdefault(row["scenario"], {})[row["what"]] = row
    out = {}
    for scenario, whats in rows.items():
        copies = whats["copies"]["cpu_ns_per_op"]
        out[scenario] = {
            what: {"ns": whats[what]["cpu_ns_per_op"] - copies, "allocs": whats[what]["allocs_per_op"]}
            for what in ("calculator", "reconcile")
        }
    return out


def pods_of(scenario: str) -> int:
    tail = scenario.rsplit("/", 1)[-1]
    return int(tail) if tail.isdigit() else 0


def machine() -> dict:
    model = ""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return {
        "cpu": model or platform.machine(),
        "cores": os.cpu_count(),
        "load_average": os.getloadavg()[0],
        "kernel": platform.release(),
    }


def cell(value, digits=0) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def print_table(ours: dict, peer: dict):
    head = ("scenario", "ours ns", "decisions/s", "ns/pod", "allocs", "Go reconcile ns", "allocs", "ratio", "Go calculator ns", "ratio")
    rows = []
    for scenario in SCENARIOS + MORE:
        if scenario not in ours:
            continue
        ns, allocs, pods = ours[scenario]["ns"], ours[scenario]["allocs"], pods_of(scenario)
        row = [scenario, cell(ns, 1), cell(1e9 / ns), cell(ns / pods, 1) if pods else "-", cell(allocs, 1)]
        theirs = peer.get(scenario)
        for what in ("reconcile", "calculator"):
            if theirs is None:
                row += ["-", "-", "-"] if what == "reconcile" else ["-", "-"]
                continue
            row.append(cell(theirs[what]["ns"]))
            if what == "reconcile":
                row.append(cell(theirs[what]["allocs"]))
            row.append(f"{theirs[what]['ns'] / ns:,.1f}x")
        rows.append(row)
    widths = [max(len(str(line[i])) for line in [head, *rows]) for i in range(len(head))]
    for line in [head, *rows]:
        print("  ".join(str(text).ljust(width) if i == 0 else str(text).rjust(width)
                        for i, (text, width) in enumerate(zip(line, widths))).rstrip())
    print("\nOurs is a whole decision: proposals, window, rules, status, conditions, events, state. \"Go reconcile\" is the same of the")
    print("controller with everything outside it in memory; \"Go calculator\" is only its way from one metric to a count, called for")
    print("each metric. Both without the copies of the samples that the benchmark's canned answers need. CPU time, garbage collection included.")


def goals(ours: dict, peer: dict) -> list:
    out = [
        ("1,000,000 External decisions/s", 1e9 / ours["external"]["ns"] >= 1e6),
        ("100,000 decisions/s with 10 pods", 1e9 / ours["resource/10"]["ns"] >= 1e5),
        ("15 ns a pod with 1000 pods", ours["resource/1000"]["ns"] / 1000 <= 15),
        ("no allocation for each pod", (ours["resource/1000"]["allocs"] or 0) < 100),
    ]
    for scenario in SCENARIOS:
        if scenario in peer:
            ratio = peer[scenario]["reconcile"]["ns"] / ours[scenario]["ns"]
            out.append((f"{RATIO_GOAL}x of Go's reconcile, {scenario}", ratio >= RATIO_GOAL))
    return out


def main():
    folder, result = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    ours, peer = read_ours(folder), read_peer(folder)
    print_table(ours, peer)
    print()
    judged = goals(ours, peer)
    for goal, met in judged:
        print(f"{'met   ' if met else 'MISSED'}  {goal}")
    result.parent.mkdir(parents=True, exist_ok=True)
    result.write_text(json.dumps({
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": machine(),
        "peer": "Kubernetes v1.34.4" if peer else None,
        "ours": ours,
        "theirs": peer,
        "goals": {goal: met for goal, met in judged},
    }, indent=1) + "\n")
    sys.exit(0 if all(met for _, met in judged) else 1)


if __name__ == "__main__":
    main()
