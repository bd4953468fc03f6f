"""What is required, and the table that says whether it is met."""

import datetime
import os
import pathlib
import platform

STAR, POD, QUEUE = "pods/* of 50 pods", "one pod's metric", "an external metric"


def _row(work: str, unit: str, default, original, ours, ratio: float, required: float, at_least: bool, against: str) -> dict:
    return {"work": work, "unit": unit, "original_default": default, "original": original, "flyball": ours, "ratio": ratio,
            "required": required, "at_least": at_least, "against": against, "met": ratio >= required if at_least else ratio <= required}


def _more(work, unit, default, original, ours, times, against="unthrottled") -> dict:
    base = default if against == "default" else original
    return _row(work, unit, default, original, ours, ours / base if base else 0, times, True, against)


def _less(work, unit, default, original, ours, part) -> dict:
    return _row(work, unit, default, original, ours, ours / original if original else 0, part, False, "unthrottled")


def rows(default: dict, original: dict, ours: dict) -> list:
    """Each argument: {"cells": {work: Cell}, "rss", "ready", "relist", "rss_large"} (the default without the last three)."""
    def of(field, work):
        return [getattr(side["cells"][work], field) for side in (default, original, ours)]
    table = [_more(f"{STAR}", "requests/s", *of("requests_per_second", STAR), 60),
             _more(f"{STAR}", "requests/s", *of("requests_per_second", STAR), 1000, "default")]
    table += [_more(work, "requests/s", *of("requests_per_second", work), 10) for work in (POD, QUEUE)]
    table += [_less(work, "p99 ms", *of("p99_ms", work), 0.1) for work in (STAR, POD, QUEUE)]
    table.append(_less(STAR, "CPU s/1000 requests", *of("cpu_seconds_per_1000", STAR), 0.02))
    for work in (STAR, POD, QUEUE):
        different = ours["cells"][work].different_queries
        cell = ours["cells"][work]
        row = _less(work, "queries/s", *of("queries_per_second", work), 1)
        # At most one a second for each different query: a run of n seconds and a bit sees the start of n + 1 of them.
        row.update(ratio=cell.queries_per_second / different, required=(int(cell.seconds) + 1) / cell.seconds,
                   against=f"{different} different queries")
        row["met"] = row["ratio"] <= row["required"]
        table.append(row)
    table.append(_less("500 pods", "peak RSS MiB", default["rss"], original["rss"], ours["rss"], 1 / 3))
    table.append(_less("100,000 series, 40 rules", "peak RSS MiB", None, original["rss_large"], ours["rss_large"], 1 / 3))
    table.append(_less("100,000 series, 40 rules", "relist s", None, original["relist"], ours["relist"], 0.5))
    table.append(_less("start to first answer", "s", None, original["ready"], ours["ready"], 1 / 3))
    errors = [sum(c.errors for c in side["cells"].values()) for side in (default, original, ours)]
    table.append(_row("errors", "count", *errors, errors[2], 0, False, "none"))
    return table


def _number(value) -> str:
    if value is None:
        return "-"
    if 0.99 < value < 2:
        return f"{value:.2f}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def text(table: list) -> str:
    head = ("work", "unit", "original", "unthrottled", "flyball", "ratio", "required", "against", "")
    lines = [head] + [(r["work"], r["unit"], _number(r["original_default"]), _number(r["original"]), _number(r["flyball"]),
                       _number(r["ratio"]), (">= " if r["at_least"] else "<= ") + _number(r["required"]), r["against"],
                       "pass" if r["met"] else "FAIL") for r in table]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def machine() -> dict:
    cpu = next((line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                if line.startswith("model name")), platform.machine())
    memory = int(pathlib.Path("/proc/meminfo").read_text().split()[1]) // 1024
    return {"cpu": cpu, "cores": os.cpu_count(), "memory_mib": memory, "kernel": platform.release(),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "load_before": os.getloadavg()[0]}
