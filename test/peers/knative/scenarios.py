#!/usr/bin/env python3
"""Random scenarios of the kinds that peer_test.go answers: scenarios.py SEED COUNT > FILE."""

import json
import random
import sys

DOMAIN = "autoscaling.knative.dev/"
CONFIG = {
    "container-concurrency-target-percentage": ["70", "1.0", "0.7", "50", "100", "0.5"],
    "container-concurrency-target-default": ["100", "1", "10", "2.5"],
    "requests-per-second-target-default": ["200", "1", "50"],
    "target-burst-capacity": ["211", "0", "-1", "10", "70.5"],
    "stable-window": ["60s", "6s", "61000ms", "30s", "1m40s"],
    "panic-window-percentage": ["10", "1", "100", "12.5", "33.3", "66"],
    "panic-threshold-percentage": ["200", "110", "0", "1000", "250.5"],
    "max-scale-up-rate": ["1000", "1.1", "2", "100", "inf"],
    "max-scale-down-rate": ["2", "1.0001", "3.3", "100"],
    "scale-down-delay": ["0s", "1s", "5s", "1m", "5m"],
    "activator-capacity": ["100", "1", "33.3"],
    "initial-scale": ["1", "3"],
    "allow-zero-initial-scale": ["true", "false", "T"],
    "min-scale": ["0", "2"],
    "max-scale": ["0", "10", "50"],
}
ANNOTATIONS = {
    "metric": ["concurrency", "rps", "rps"],
    "metric-aggregation-algorithm": ["linear", "weighted-exponential", "weightedExponential"],
    "metricAggregationAlgorithm": ["weightedExponential", "linear"],
    "target": ["1", "0.01", "7", "100", "12.5"],
    "target-utilization-percentage": ["1", "100", "90"],
    "targetUtilizationPercentage": ["55.5"],
    "target-burst-capacity": ["-1", "0", "300", "10"],
    "targetBurstCapacity": ["10"],
    "window": ["6s", "20s", "61s", "14s", "2m"],
    "panic-window-percentage": ["1", "50", "100", "25"],
    "panicWindowPercentage": ["7.5"],
    "panic-threshold-percentage": ["110", "400", "1000"],
    "min-scale": ["0", "1", "2"],
    "maxScale": ["0", "5", "50"],
    "initial-scale": ["0", "1", "4"],
    "activation-scale": ["2", "3", "7"],
    "scale-down-delay": ["0s", "3s", "30s", "5m"],
    "scaleDownDelay": ["6s"],
}
WRONG_CONFIG = {
    "container-concurrency-target-percentage": ["0", "-1", "100.1", "1e-9", "x", "NaN"],
    "target-burst-capacity": ["-2", "-1.0", "-0.5", "1e400", " 1"],
    "stable-window": ["5s", "3601s", "6500ms", "60", "1h", "3600000ms"],
    "panic-window-percentage": ["0.99", "100.01"],
    "max-scale-up-rate": ["1", "1.0", "0x1p4", "1_000"],
    "max-scale-down-rate": ["1", "-3"],
    "scale-down-delay": ["-1s", "1500ms", "2h", "0"],
    "scale-to-zero-grace-period": ["0s", "-1s", "1ms", "7"],
    "scale-to-zero-pod-retention-period": ["-1s", "1.5s"],
    "enable-scale-to-zero": ["yes", "1", "FALSE", "tRUE"],
    "allow-zero-initial-scale": ["true", "0"],
    "activator-capacity": ["0.99", "1"],
    "initial-scale": ["0", "-1", "+2", "2.0", "99999999999"],
    "min-scale": ["-1", "3", "007"],
    "max-scale": ["-1", "2", "5", "20"],
    "max-scale-limit": ["-1", "10", "4"],
    "pod-autoscaler-class": [" hpa.autoscaling.knative.dev ", "mine.example.com"],
    "requests-per-second-target-default": ["0.009", "0.01"],
    "container-concurrency-target-default": ["0.01", "0.0142", "0.02"],
}
WRONG_ANNOTATIONS = {
    "class": ["kpa.autoscaling.knative.dev", "hpa.autoscaling.knative.dev", "x.knative.dev", "mine", ".knative.dev", ""],
    "metric": ["memory", "", "cpu", "concurrency", "rps"],
    "metric-aggregation-algorithm": ["median", "", "linear"],
    "metricAggregationAlgorithm": ["median"],
    "target": ["0.009", "x", "", "1e-2", "inf"],
    "target-utilization-percentage": ["0.5", "101", "+1", "1e2"],
    "targetUtilizationPercentage": ["0"],
    "target-burst-capacity": ["-2", "-1.0", "0x", "x"],
    "window": ["5.9s", "61m", "6.5s", "x", "3600s", ""],
    "panic-window-percentage": ["0", "100.5", "x", "nan"],
    "panicWindowPercentage": ["0"],
    "panic-threshold-percentage": ["109.9", "1000.1", "110"],
    "min-scale": ["-1", "2147483648", "99999999999999999999", "x", "+3", "3"],
    "minScale": ["9"],
    "max-scale": ["0", "-1", "2", "1.0", "20"],
    "maxScale": ["0", "1"],
    "initial-scale": ["0", "-1", "x", "3000000000", "2"],
    "activation-scale": ["1", "-3", "0", "2", "x", "2147483648", "5"],
    "scale-down-delay": ["-1s", "1h1s", "1.5s", "x", "1h"],
    "scale-to-zero-pod-retention-period": ["-1s", "1h1ns", "1.5s", "x"],
    "scaleToZeroPodRetentionPeriod": ["-1s"],
}


def pick(rng, table, most):
    names = rng.sample(sorted(table), rng.randint(0, most))
    return {name: rng.choice(table[name]) for name in names}


def annotations(rng, table, most):
    return {DOMAIN + name: value for name, value in pick(rng, table, most).items()}


def load(rng, length):
    level = rng.choice([0, 0.3, 1, 5, 70, 100, 350, 5000])
    shape = rng.choice(["flat", "steps", "noise", "gaps", "burst"])
    values = []
    for i in range(length):
        value = level
        if shape == "steps" and rng.random() < 0.1:
            level = rng.choice([0, 1, 10, 100, 400])
        if shape == "noise":
            value = round(level * rng.uniform(0, 2), rng.choice([0, 1, 3]))
        if shape == "burst" and i % 37 > 30:
            value = level * 10 + 3
        if shape == "gaps" and rng.random() < 0.4:
            value = None
        values.append(value)
    return values


def scale(rng):
    length = rng.choice([10, 40, 90, 150])
    events = []
    for _ in range(rng.randint(0, 8)):
        events.append(["ready", rng.randint(0, length * 1000), rng.choice([-1, 0, 1, 2, 3, 5, 10, 30])])
    for _ in range(rng.randint(0, 6)):
        events.append(["push", rng.randint(0, length * 1000), rng.choice([0, 1, 2.5, 50]), rng.choice([0, 0, 1]),
                       rng.choice([0, 3, 7.25]), 0, rng.choice([0, 0, 1, 3, 7, 20, 70, -1, -3])][:rng.randint(3, 7)])
    for _ in range(rng.choice([0, 0, 1, 2])):
        change = {"annotations": annotations(rng, ANNOTATIONS, 5)}
        if rng.random() < 0.3:
            change["reach"] = rng.choice(["Reachable", "Unreachable", ""])
        if rng.random() < 0.3:
            change["config"] = pick(rng, CONFIG, 4)
        events.append(["update", rng.randint(0, length * 1000), change])
    if rng.random() < 0.2:
        events.append(["restart", rng.randint(0, length * 1000)])
    for _ in range(rng.randint(0, 5)):
        events.append(["tick", rng.randint(0, length * 1000)])
    series = []
    for _ in range(rng.randint(0, 3)):
        one = {"op": rng.choice(["scrape", "push"]), "from": rng.choice([0, 300, 500, 20000]), "step": rng.choice([1000, 1000, 990, 2500]),
               "conc": load(rng, rng.randint(1, length))}
        if rng.random() < 0.5:
            one["pconc"] = [rng.choice([0, value or 0]) for value in one["conc"]]
        if rng.random() < 0.7:
            one["rps"] = [value or 0 for value in load(rng, len(one["conc"]))]
        series.append(one)
    return {"cc": rng.choice([0, 0, 1, 2, 8, 100]), "reach": rng.choice(["", "Reachable", "Unreachable"]),
            "config": pick(rng, CONFIG, 5), "annotations": annotations(rng, ANNOTATIONS, 6), "ready": rng.choice([0, 1, 1, 2, 5, -1]),
            "events": events, "series": series,
            "ticks": [rng.choice([0, 700, 2000]), length * 1000 + rng.choice([0, 70000]), rng.choice([2000, 2000, 3000, 500])]}


def config(rng):
    good, bad = pick(rng, CONFIG, 3), pick(rng, WRONG_CONFIG, 2)
    more = annotations(rng, ANNOTATIONS, 3)
    more.update(annotations(rng, WRONG_ANNOTATIONS, 3))
    return {"config": good | (bad if rng.random() < 0.4 else {}), "annotations": more, "cc": rng.choice([0, 1, 100])}


def reqstats(rng):
    now, open_requests, events = 0, [], []
    for _ in range(rng.randint(5, 60)):
        now += rng.choice([0, 1, 10, 120, 400, 1000])
        kind = rng.choice(["in", "pin", "out", "report"])
        if kind == "out":
            if not open_requests:
                continue
            kind = {"in": "out", "pin": "pout"}[open_requests.pop(rng.randrange(len(open_requests)))]
        elif kind != "report":
            open_requests.append(kind)
        events.append([now, kind])
    return {"events": events}


def subset(rng):
    if rng.random() < 0.5:
        return {"buckets": rng.randint(1, 10), "keys": [f"ns-{rng.randint(0, 20)}/rev-{rng.randint(0, 999):05}" for _ in range(20)]}
    members = [f"10.{rng.randint(0, 3)}.{rng.randint(0, 16)}.{rng.randint(1, 254)}" for _ in range(rng.choice([0, 1, 5, 20, 200, 900]))]
    return {"from": members, "n": rng.choice([0, 1, 2, 5, 100]), "target": f"rev-{rng.randint(0, 999):05}"}


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    kinds = [scale] * 5 + [config] * 3 + [reqstats, subset]
    for i in range(count):
        rng = random.Random(f"{seed}-{i}")
        make = rng.choice(kinds)
        head = {"id": f"{make.__name__}-{seed}-{i:05}", "kind": make.__name__,
                "t0": rng.randint(1767225600000, 1798761600000) // rng.choice([1, 1000]) }
        if head["t0"] < 1e12:
            head["t0"] *= 1000
        print(json.dumps({"in": head | make(rng)}))


if __name__ == "__main__":
    main()
