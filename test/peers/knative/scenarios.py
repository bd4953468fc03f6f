#!/usr/bin/env python3
"""Random scenarios of the kinds that peer_test.go answers, or of those named: scenarios.py SEED COUNT [KIND...] > FILE."""

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


# What Knative's admission would take, though nobody writes it.
EXTREME_CONFIG = {
    "container-concurrency-target-default": ["1e9", "0.02", "3000000000"],
    "requests-per-second-target-default": ["1e12", "0.01", "NaN", "inf"],
    "target-burst-capacity": ["1e10", "2147483647", "0.1", "NaN", "inf"],
    "container-concurrency-target-percentage": ["NaN"],
    "panic-threshold-percentage": ["NaN", "inf", "-1"],
    "max-scale-up-rate": ["1.0001", "1e300", "NaN"],
    "max-scale-down-rate": ["1.0001", "1e300", "NaN", "inf"],
    "activator-capacity": ["1", "1e15", "NaN", "inf"],
    "scale-down-delay": ["1h", "1000h"],
    "stable-window": ["1h", "6s"],
}
EXTREME_ANNOTATIONS = {
    "target": ["1e9", "3000000000", "1e300", "inf", "nan"],
    "target-utilization-percentage": ["nan", "1.5"],
    "panic-threshold-percentage": ["nan"],
    "target-burst-capacity": ["1e10", "2147483648", "0.5", "0.0", "nan", "inf"],
    "window": ["1h", "3600s"],
    "max-scale": ["2147483647"],
    "activation-scale": ["70"],
    "scale-down-delay": ["1h"],
}


def pick(rng, table, most):
    names = rng.sample(sorted(table), rng.randint(0, most))
    return {name: rng.choice(table[name]) for name in names}


def annotations(rng, table, most):
    return {DOMAIN + name: value for name, value in pick(rng, table, most).items()}


def settings(rng, config, notes):
    """The members config and annotations: of the tables named, now and then with what is extreme, or wrong and so ignored."""
    made = {"config": pick(rng, CONFIG, config), "annotations": annotations(rng, ANNOTATIONS, notes)}
    if rng.random() < 0.15:
        made["config"] |= pick(rng, EXTREME_CONFIG, 3)
    if rng.random() < 0.15:
        made["annotations"] |= annotations(rng, EXTREME_ANNOTATIONS, 3)
    if rng.random() < 0.1:
        wrong = annotations(rng, WRONG_ANNOTATIONS, 3)
        for name in ("class", "window"):  # of another class, or a window of no whole seconds: admission lets none of these come so far
            wrong.pop(DOMAIN + name, None)
        made["annotations"] |= wrong
    return made


def load(rng, length):
    level = rng.choice([0, 0.3, 1, 5, 70, 100, 350, 5000, 1e9, 1e300] if rng.random() < 0.1 else [0, 0.3, 1, 5, 70, 100, 350, 5000])
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
        change = settings(rng, 4, 5)
        if rng.random() < 0.3:
            change["reach"] = rng.choice(["Reachable", "Unreachable", ""])
        if rng.random() < 0.7:
            del change["config"]
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
            "ready": rng.choice([0, 1, 1, 2, 5, -1]), "events": events, "series": series,
            "ticks": [rng.choice([0, 700, 2000]), length * 1000 + rng.choice([0, 70000]), rng.choice([2000, 2000, 3000, 500])]} | settings(rng, 5, 6)


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


CONTROLLER_CONFIG = {
    "enable-scale-to-zero": ["true", "true", "true", "false"],
    "scale-to-zero-grace-period": ["30s", "1s", "5s", "10s", "45s", "2m", "1500ms"],
    "scale-to-zero-pod-retention-period": ["0s", "1s", "5s", "20s", "1m", "3m", "2500ms"],
    "allow-zero-initial-scale": ["true"],
    "initial-scale": ["1", "2", "5", "0"],
    "min-scale": ["0", "1", "3"],
    "max-scale": ["0", "3", "10"],
}
CONTROLLER_ANNOTATIONS = {
    "scale-to-zero-pod-retention-period": ["0s", "1s", "20s", "45s", "2m"],
    "scaleToZeroPodRetentionPeriod": ["7s"],
    "min-scale": ["0", "1", "2", "3"],
    "max-scale": ["0", "1", "5", "12"],
    "initial-scale": ["0", "1", "3", "5"],
    "window": ["6s", "12s", "20s", "45s", "1m1s"],
    "target-burst-capacity": ["-1", "0", "10", "70.5", "211"],
}


def controller_settings(rng):
    """Settings with what bears on the scale to zero."""
    made = settings(rng, 4, 4)
    config = made["config"]
    config |= pick(rng, CONTROLLER_CONFIG, rng.choice([0, 2, 4]))
    if config.get("initial-scale") == "0":
        config["allow-zero-initial-scale"] = "true"
    if int(config.get("max-scale", 0)) > 0 and int(config.get("min-scale", 0)) > int(config["max-scale"]):
        del config["min-scale"]
    made["annotations"] |= annotations(rng, CONTROLLER_ANNOTATIONS, rng.choice([0, 1, 3]))
    if rng.random() < 0.2:
        made["annotations"]["serving.knative.dev/progress-deadline"] = rng.choice(["1s", "30s", "45s", "10m", "x", "1.5s"])
    made["cc"] = rng.choice([0, 0, 1, 2, 8, 50, 100])
    if rng.random() < 0.7:
        made["reach"] = rng.choice(["Reachable", "Reachable", "Reachable", "Unreachable"])
    return made


def kpa(rng):
    now, wanted, excess, pods, steps = 0, rng.choice([-1, 0, 1, 3]), -1, [0, 0, 0, 0], []
    idle = rng.random() < 0.4
    for _ in range(rng.randint(3, 60)):
        step = {"t": now}
        if rng.random() < 0.3:
            wanted = rng.choice([0, 0, 0, -1] if idle else [-1, 0, 0, 0, 1, 2, 3, 20, 2000])
        if rng.random() < 0.5:
            excess = rng.choice([-200, -1, 0, 5, 100])
        if rng.random() < 0.5:
            pods = [rng.choice([0, 1, 1, 2, 3, 5]), rng.choice([0, 0, 1, 2]), rng.choice([0, 0, 1]), rng.choice([0, 0, 1])]
        step |= {"d": wanted, "ebc": excess, "pods": pods}
        if rng.random() < 0.25:
            step["probe"] = rng.choice(["ok", "no", "error"])
        if rng.random() < 0.06:
            step["reach"] = rng.choice(["Reachable", "Unreachable"])
        steps.append(step)
        now += rng.choice([0, 1, 300, 500, 999, 1000, 1000, 2000, 3000, 5000, 10000, 19000, 29000, 30000, 31000, 60000, 61000, 89500, 120000,
                           180000, 629000, 630000, 631000])
    made = controller_settings(rng) | {"replicas": rng.choice([0, 1, 2, 5]), "steps": steps}
    if rng.random() < 0.3:
        made["progress_deadline"] = rng.choice(["1s", "30s", "60s", "600s", "120s", "1m30s"])
    return made


def offered(rng):
    """A load with times of silence, one number for each second."""
    level, values = rng.choice([0, 0.3, 1, 2, 7, 60, 140]), []
    for _ in range(rng.choice([1, 1, 2, 3, 6])):
        values += [level] * rng.choice([1, 3, 10, 20, 40, 70])
        level = rng.choice([0, 0, 0, 0.5, 1, 1, 4, 12.25, 90, 300, 1500])
    if rng.random() < 0.2:
        values = [round(value * rng.uniform(0, 2), 3) for value in values]
    if rng.random() < 0.15:
        values = [value if rng.random() < 0.3 else 0 for value in values]
    return values


def loop(rng):
    made = controller_settings(rng)
    values = offered(rng)
    if max(values) > 10 and DOMAIN + "max-scale" not in made["annotations"]:
        made["annotations"].pop(DOMAIN + "target", None)  # thousands of pods show nothing more
        made["config"].pop("container-concurrency-target-default", None)
        made["annotations"].pop(DOMAIN + "target-utilization-percentage", None)
    until = len(values) * 1000 + rng.choice([0, 500, 30000, 80000, 150000, 300000, 700000])
    return made | {
        "load": values, "replicas": rng.choice([0, 1, 1, 1, 2, 5]), "startup_ms": rng.choice([0, 1, 300, 1500, 2500, 4200, 8000, 33000, 90000]),
        "route_ms": rng.choice([0, 0, 1, 500, 3000, 12000, 44000, 50000]), "phase_ms": rng.choice([0, 1, 300, 700, 1000, 1999]),
        "until_ms": until}


def throttle(rng):
    """Where requests are let in at the same time at several pods, which of them is the oldest is chance: "" only where no pod counts."""
    limited = rng.random() < 0.75
    made = {"cc": rng.choice([1, 1, 2, 3, 4, 5, 10]) if limited else 0}
    if limited and rng.random() < 0.4:
        made |= {"depth": rng.choice([1, 5, 10]), "limit": rng.choice([1, 2, 5, 8, 100])}
    now, number, events, known = 0, 0, [], ["10.0.0.9:8012"]
    few = [f"10.0.0.{i}:8012" for i in range(1, rng.choice([3, 6, 30]))]
    proxies = [f"10.1.0.{i}" for i in range(1, 8)]
    for _ in range(rng.randint(5, 80)):
        now += rng.choice([0, 1, 5, 20, 100])
        what = rng.choice(["pods"] * 3 + ["clusterip"] + ["activators"] * 2 + ["start"] * 8 + ["finish"] * 6 + ["abandon"] * 2)
        if what == "pods":
            pods = rng.sample(few, rng.randint(0, min(len(few), 9)))
            events.append([now, "pods", pods])
            known = known[:1] + pods if rng.random() < 0.5 else known + pods
        elif what == "clusterip":
            events.append([now, "clusterip", "10.9.9.9:80", rng.sample(few, rng.randint(0, min(len(few), 9)))])
            known = known + ["10.9.9.9:80"]
        elif what == "activators":
            members = rng.sample(proxies, rng.randint(0, 7))
            events.append([now, "activators", members, rng.choice(members + ["10.1.0.1"])])
        elif what == "start":
            for _ in range(rng.choice([1, 1, 2, 5])):
                number += 1
                events.append([now, "start", str(number)])
        elif what == "finish":
            for _ in range(rng.choice([1, 1, 3])):
                events.append([now, "finish", rng.choice(known) if limited else ""])
        else:
            events.append([now, "abandon"])
    return made | {"events": events}


def reporter(rng):
    now, number, running, events, last = 0, 0, [], [], 0
    for _ in range(rng.randint(3, 80)):
        now += rng.choice([0, 1, 10, 50, 120, 400, 1100])
        while rng.random() < 0.9 and last + 1000 <= now:
            last += 1000
            events.append([last, "report"])
        if rng.random() < 0.05:
            events.append([now, "report"])
        elif running and rng.random() < 0.5:
            events.append([now, "out", running.pop(rng.randrange(len(running)))])
        else:
            number += 1
            running.append(str(number))
            events.append([now, "in", str(number), rng.choice(["rev-a", "rev-a", "rev-b", "rev-c"])])
        last = max(last, now // 1000 * 1000)
    events.sort(key=lambda event: event[0])
    return {"events": events + [[now // 1000 * 1000 + (i + 1) * 1000, "report"] for i in range(rng.randint(0, 3))]}


def scrape(rng):
    window = rng.choice([6, 10, 60, 120])
    old, young = ([rng.randint(0, 40) / 4 for _ in range(4)] for _ in range(2))
    share, failing = rng.choice([0, 0.1, 0.5, 0.9, 1]), rng.choice([0, 0, 0, 0.1, 0.5, 1])
    pods = []
    for _ in range(rng.choice([0, 1, 2, 3, 4, 5, 10, 16, 20, 100, 300])):
        age = rng.choice([window, window + rng.randint(0, 50)]) if rng.random() < share else rng.randint(0, window - 1)
        pod = [age, *(old if age >= window else young)]
        if rng.random() < failing:
            pod.append(rng.choice(["broken", "mesh"]))
        pods.append(pod)
    return {"window_s": window, "pods": pods}


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    kinds = [scale] * 5 + [config] * 3 + [loop] * 3 + [throttle] * 2 + [kpa] * 2 + [reqstats, subset, reporter, scrape]
    kinds = [each for each in kinds if each.__name__ in sys.argv[3:]] or kinds
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
