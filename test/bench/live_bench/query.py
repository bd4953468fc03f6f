"""`sum by (pod) (rate(x[1m]))` over 10,000 series: through both HTTP APIs, and by the engines alone."""

import re
import statistics
import subprocess
import time
import urllib.parse

from harness import paths, processes

from . import servers

SERIES, STEPS = 10_000, 120
QUERY = "sum by (pod) (rate(http_requests_total[1m]))"
ORACLE = paths.PROJECT / "test" / "promql" / "oracle"


def through_api(server, start: int) -> dict:
    servers.send(server, SERIES, start, 1000, STEPS)
    path = "/api/v1/query?" + urllib.parse.urlencode({"query": QUERY, "time": start / 1000 + STEPS - 1})
    connection, took = server.client.connect(), []
    result = None
    for _ in range(30):
        begin = time.perf_counter()
        answer = server.client.request("GET", path, keep=connection)
        took.append(time.perf_counter() - begin)
        assert answer.status == 200, str(answer)
        result = answer.json()["data"]["result"]
    server.stop()
    values = {row["metric"]["pod"]: float(row["value"][1]) for row in result}
    assert len(values) == SERIES / 100, f"{server.name}: {len(values)} pods"
    return {"ms": statistics.median(took) * 1000, "values": values}


def engines() -> dict:
    """Milliseconds of each engine for an instant query over samples in memory, parsed beforehand."""
    ours = processes.run([paths.PROJECT / "build" / "release" / "bin" / "promql_bench",
                          "--benchmark_filter=sum_by_pod_of_rates$", "--benchmark_min_time=2"], timeout=120).stdout
    theirs = subprocess.run(["go", "test", "-run", "none", "-bench", "BenchmarkInstant", "-benchtime", "2s", "."], cwd=ORACLE,
                            capture_output=True, text=True, timeout=900, check=True).stdout
    return {"flyball": float(re.search(r"sum_by_pod_of_rates\s+([\d.]+) ms", ours).group(1)),
            "prometheus": float(re.search(r"BenchmarkInstant\S*\s+\d+\s+([\d.]+) ns/op", theirs).group(1)) / 1e6}


def measure() -> dict:
    start = (int(time.time()) - STEPS) * 1000
    # In the dialect of the Prometheus beside it, so that both answer the same.
    ours = through_api(servers.flyball((), f"--live-keep={servers.ANYTHING}", "--promql-dialect=2"), start)
    theirs = through_api(servers.prometheus(), start)
    for pod, value in theirs.pop("values").items():  # the answers that are timed are equal
        other = ours["values"][pod]
        assert abs(value - other) <= 1e-9 * max(abs(value), abs(other)), f"{pod}: {value} and {other}"
    del ours["values"]
    return {"api": {"flyball": ours["ms"], "prometheus": theirs["ms"]}, "engine": engines()}
