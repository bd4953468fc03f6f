#!/usr/bin/env python3
"""Random queries, answered by `flyball query` and by Prometheus 2.42 on the same samples; every difference is printed.

    test/e2e/promql/compare.py --flyball build/release/flyball --count 1000 --seed 7

Needs Debian's prometheus and promtool. Values are equal when they differ by 1e-9 of their size at most, errors when their types
and positions are.
"""

import argparse
import gzip
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from random_queries import Queries

DATA = pathlib.Path(__file__).resolve().parents[2] / "data" / "promql"
FILES = ["crowd", "edges", "joins", "latency", "pods", "requests", "resets", "sensors"]
STEPS = ["7.25", "15", "30", "60", "90", "300"]


def start_prometheus(folder: pathlib.Path, port: int) -> subprocess.Popen:
    blocks = folder / "tsdb"
    for name in FILES:
        subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", folder / f"{name}.om", blocks], check=True,
                       capture_output=True)
    (folder / "prometheus.yml").write_text("global: {}\n")
    server = subprocess.Popen(
        ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={blocks}",
         "--storage.tsdb.retention.time=100y", f"--web.listen-address=127.0.0.1:{port}"],
        stdout=subprocess.DEVNULL, stderr=(folder / "prometheus.log").open("w"))
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=5).close()
            return server
        except OSError:
            time.sleep(0.2)
    server.kill()
    sys.exit(f"prometheus did not start: {(folder / 'prometheus.log').read_text()}")


def ask_prometheus(port: int, query: dict) -> dict:
    path = "query_range" if "start" in query else "query"
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(query)}", timeout=60) as answer:
            return json.load(answer)["data"]
    except urllib.error.HTTPError as error:
        return json.load(error)


def ask_flyball(flyball: str, file: pathlib.Path, query: dict) -> dict:
    flags = [f"--{name}={value}" for name, value in query.items() if name != "query"]
    run = subprocess.run([flyball, "query", "--file", file, "--promql-dialect=2", "-o", "json", *flags, "--", query["query"]],
                         capture_output=True, text=True, timeout=60)
    try:
        return json.loads(run.stdout)
    except ValueError:
        return {"status": "crashed", "error": f"exit status {run.returncode}: {run.stdout}{run.stderr}"}


def equal_values(a: str, b: str) -> bool:
    x, y = float(a), float(b)
    return a == b or math.isnan(x) and math.isnan(y) or math.isclose(x, y, rel_tol=1e-9)


def rows(data: dict) -> list:
    result = data["result"]
    if data["resultType"] in ("scalar", "string"):
        return [("", [result])]
    return sorted((json.dumps(s["metric"], sort_keys=True), s["values"] if "values" in s else [s["value"]]) for s in result)


def position(error: str) -> str:
    found = re.search(r"\b(\d+:\d+): parse error", error)
    return found.group(1) if found else ""


def equal(ours: dict, theirs: dict) -> bool:
    if "status" in ours or "status" in theirs:
        return (ours.get("errorType"), position(ours.get("error", ""))) == (theirs.get("errorType"), position(theirs.get("error", "")))
    if ours["resultType"] != theirs["resultType"]:
        return False
    a, b = rows(ours), rows(theirs)
    return len(a) == len(b) and all(
        m == n and len(p) == len(q) and all(s[0] == t[0] and equal_values(s[1], t[1]) for s, t in zip(p, q))
        for (m, p), (n, q) in zip(a, b))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flyball", required=True)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port", type=int, default=19090)
    options = parser.parse_args()
    different = errors = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file in FILES:
            (folder / f"{file}.om").write_bytes(gzip.decompress((DATA / f"{file}.om.gz").read_bytes()))
        server = start_prometheus(folder, options.port)
        try:
            makers = [(f, Queries((folder / f"{f}.om").read_text(), options.seed)) for f in FILES]
            for i in range(options.count):
                file, maker = makers[i % len(makers)]
                query = {"query": maker.query()}
                at = maker.moment()
                if maker.random.random() < 0.35:
                    step = maker.pick(STEPS)
                    query |= {"start": at, "end": round(at + float(step) * maker.random.randrange(9), 3), "step": step}
                else:
                    query["time"] = at
                theirs = ask_prometheus(options.port, query)
                ours = ask_flyball(options.flyball, folder / f"{file}.om", query)
                errors += "status" in theirs
                if not equal(ours, theirs):
                    different += 1
                    print(f"{file} {query}\n  flyball    {json.dumps(ours)[:600]}\n  prometheus {json.dumps(theirs)[:600]}")
        finally:
            server.terminate()
            server.wait()
    print(f"{options.count} queries, {errors} of them refused by Prometheus, {different} answered differently")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
