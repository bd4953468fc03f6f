#!/usr/bin/env python3
"""Random PromQL through `flyball query` and through Prometheus, on the same samples.

Dialect 2 is compared with Debian's prometheus over its HTTP API, dialect 3 with the engine of the Go module that
oracle/go.mod names. Values must be equal to nine digits, labels, time stamps and the type of an error exactly, and an
error's position too. Two things are no difference in dialect 2: what only Prometheus 3 can parse, which is understood in
both, and the order of equal elements, which Prometheus 2's sort leaves to chance. Exit status 1 if something differs;
each difference is printed.
"""
import argparse
import concurrent.futures
import gzip
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from queries import Generator, SELECTORS

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.dirname(HERE))

from machine import own_ports  # pylint: disable=wrong-import-position


def read_samples():
    """All files as one, and the first and last second of each."""
    lines, spans = [], {}
    for file in sorted(SELECTORS):
        with gzip.open(os.path.join(ROOT, "test/data/promql", file + ".om.gz"), "rt", newline="\n") as samples:
            text = samples.read()
        stamps = [float(s) for s in re.findall(r"(?m)^[^#\n].* ([\d.]+)$", text)]
        spans[file] = (int(min(stamps)), int(max(stamps)) + 1)
        lines.append(text.replace("# EOF\n", ""))
    return "".join(lines) + "# EOF\n", spans


def make_job(rng, spans):
    file = rng.choice(sorted(spans))
    first, last = spans[file]
    job = {"query": Generator(rng, first, last).query(file)}
    at = rng.choice([rng.randint(first, last), round(rng.uniform(first, last + 400), 3), first + (last - first) // 2])
    if rng.random() < 0.6:
        job["time"] = at
    else:
        step = rng.choice([15, 30, 60, 90, 7.25, 0.5, 300])
        job.update(start=at, end=round(at + rng.randint(0, 12) * step + rng.choice([0, 0, 0.2]), 3), step=step)
    return job


class Debian:
    """Debian's Prometheus over a block that promtool made."""

    def __init__(self, folder, samples):
        data = os.path.join(folder, "tsdb")
        subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", samples, data], check=True,
                       stdout=subprocess.DEVNULL)
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w", encoding="utf-8") as out:
            out.write("{}\n")
        self.address = "127.0.0.1:%d" % own_ports.free()
        self.process = subprocess.Popen(
            ["prometheus", "--config.file=" + config, "--storage.tsdb.path=" + data,
             "--storage.tsdb.retention.time=100y", "--web.listen-address=" + self.address],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen("http://%s/-/ready" % self.address, timeout=5):
                    return
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def answers(self, jobs):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return list(pool.map(self.answer, jobs))

    def answer(self, job):
        path = "query_range" if "start" in job else "query"
        form = urllib.parse.urlencode(job).encode()
        try:
            with urllib.request.urlopen("http://%s/api/v1/%s" % (self.address, path), form, timeout=120) as reply:
                return json.load(reply)["data"]
        except urllib.error.HTTPError as error:
            return json.load(error)

    def stop(self):
        self.process.terminate()
        self.process.wait()


class GoEngine:
    """The engine of Prometheus 3 alone."""

    def __init__(self, folder, samples):
        self.program = os.path.join(folder, "oracle")
        self.samples = samples
        subprocess.run(["go", "build", "-o", self.program, "."], cwd=os.path.join(HERE, "oracle"), check=True)

    def answers(self, jobs):
        done = subprocess.run([self.program, self.samples], input="".join(json.dumps(j) + "\n" for j in jobs),
                              capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def stop(self):
        pass


def flyball_answers(program, samples, dialect, jobs):
    def answer(job):
        words = [program, "query", "--file", samples, "--promql-dialect", dialect, "-o", "json"]
        for name in ("time", "start", "end", "step"):
            if name in job:
                words += ["--" + name, str(job[name])]
        done = subprocess.run(words + ["--", job["query"]], capture_output=True, text=True, check=False)
        return json.loads(done.stdout) if done.stdout else {"error": "status %d: %s" % (done.returncode, done.stderr)}

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(answer, jobs))


def near(a, b):
    x, y = float(a), float(b)
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or math.isinf(y):
        return x == y or (math.isnan(x) and math.isnan(y))
    return abs(x - y) <= 1e-9 * max(abs(x), abs(y), 1e-9)


def points_near(a, b):
    return len(a) == len(b) and all(abs(p[0] - q[0]) < 1e-6 and near(p[1], q[1]) for p, q in zip(a, b))


def position(error):
    found = re.search(r"\b(\d+:\d+): parse error", error)
    return found.group(1) if found else None


def difference(query, expected, got, dialect):
    """What differs, in a word; None: nothing."""
    if "error" in expected or "error" in got:
        if "error" not in got:
            return "accepted"
        if "error" not in expected:
            return "refused"
        if expected["errorType"] != got.get("errorType"):
            return "type of the error"
        return None if position(expected["error"]) == position(got["error"]) else "place of the error"
    if expected["resultType"] != got["resultType"]:
        return "type"
    a, b = expected["result"], got["result"]
    if expected["resultType"] in ("scalar", "string"):
        same = a == b if expected["resultType"] == "string" else points_near([a], [b])
        return None if same else "value"
    if re.match(r"\s*(sort|sort_desc|topk|bottomk)\b", query):
        if dialect == "2":
            a, b = ordered(a), ordered(b)
    else:
        a, b = (sorted(x, key=lambda s: sorted(s["metric"].items())) for x in (a, b))
    if [s["metric"] for s in a] != [s["metric"] for s in b]:
        return "series"
    for s, t in zip(a, b):
        if not points_near(s.get("values", [s.get("value")]), t.get("values", [t.get("value")])):
            return "values"
    return None


def ordered(series):
    """The elements of an ordered vector, equal ones by their labels."""
    runs = []
    for element in series:
        if runs and "value" in element and near(runs[-1][-1]["value"][1], element["value"][1]):
            runs[-1].append(element)
        else:
            runs.append([element])
    return [element for run in runs for element in sorted(run, key=lambda s: sorted(s["metric"].items()))]


def newer_syntax(folder, samples, found):
    """Those of the differences that come from Prometheus 2 not being able to parse what Prometheus 3 can, at all or as far."""
    refused = [f for f in found if f[0] and f[2].get("errorType") == "bad_data"]
    answers = GoEngine(folder, samples).answers([job for _, job, _, _ in refused]) if refused else []

    def parsed_until(answer):
        return position(answer["error"]) if answer.get("errorType") == "bad_data" else "its end"
    return [f for f, answer in zip(refused, answers) if parsed_until(answer) == parsed_until(f[3])]


def main():
    flags = argparse.ArgumentParser(description=__doc__)
    flags.add_argument("--flyball", default=os.path.join(ROOT, "build/release/flyball"))
    flags.add_argument("--count", type=int, default=1000, help="queries for each dialect")
    flags.add_argument("--seed", type=int, default=1)
    flags.add_argument("--dialects", default="23")
    flags.add_argument("--show", type=int, default=20, help="print so many differences")
    options = flags.parse_args()
    text, spans = read_samples()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        samples = os.path.join(folder, "samples.om")
        with open(samples, "w", encoding="utf-8", newline="\n") as out:
            out.write(text)
        for dialect in options.dialects:
            rng = random.Random("%d %s" % (options.seed, dialect))
            jobs = [make_job(rng, spans) for _ in range(options.count)]
            if dialect == "3":  # has renamed it; both names are understood here
                for job in jobs:
                    job["query"] = job["query"].replace("holt_winters", "double_exponential_smoothing")
            peer = (Debian if dialect == "2" else GoEngine)(folder, samples)
            try:
                expected = peer.answers(jobs)
            finally:
                peer.stop()
            got = flyball_answers(options.flyball, samples, dialect, jobs)
            found = [(difference(j["query"], e, g, dialect), j, e, g) for j, e, g in zip(jobs, expected, got)]
            newer = newer_syntax(folder, samples, found) if dialect == "2" else []
            differing = [f for f in found if f[0] and f not in newer]
            errors = sum("error" in e for e in expected)
            empty = sum("error" not in e and not e["result"] for e in expected)
            print("dialect %s: %d queries (%d errors, %d without a result, %d of newer syntax), %d differ" %
                  (dialect, len(jobs), errors, empty, len(newer), len(differing)))
            for what, job, e, g in differing[:options.show]:
                print("%s: %s\n  expected %.600s\n  got      %.600s" % (what, json.dumps(job), json.dumps(e),
                                                                      json.dumps(g)))
            failed = failed or bool(differing)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
