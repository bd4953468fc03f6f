"""What is required, and the table that says whether it is met."""

from adapter_bench.report import machine  # pylint: disable=unused-import


def _row(work: str, unit: str, stock, ours, required: float, at_least: bool, value=None, note: str = "") -> dict:
    """`value` is what is compared with `required`; without it our own number."""
    value = ours if value is None else value
    return {"work": work, "unit": unit, "stock": stock, "flyball": ours, "value": value, "required": required,
            "at_least": at_least, "met": value >= required if at_least else value <= required, "note": note}


def _ratio(work, unit, stock, ours, times, note="") -> dict:
    return _row(work, unit, stock, ours, times, True, stock / ours if ours else 0, note)


def of_many(stock, ours) -> list:
    """Outcomes of many_hpas."""
    per = [(o.scale_writes + o.status_writes) / o.writes for o in (stock, ours)]
    calls = [o.requests / o.writes for o in (stock, ours)]
    return [_ratio("500 HPAs: sample -> scale write, median", "s", stock.median, ours.median, 20),
            _row("the same, worst", "s", stock.worst, ours.worst, stock.worst, False),
            _row("the same: scale and status writes", "per decision", *per, per[0], False),
            _row("the same: all requests", "per decision", *calls, calls[0], False, None, "reads and events included"),
            _row("500 HPAs, nothing changes: requests", "1/s", stock.steady_requests_per_second,
                 ours.steady_requests_per_second, stock.steady_requests_per_second, False)]


def of_reaction(stock, cadence, on_sample) -> list:
    """Outcomes of reaction."""
    rows = []
    for name, ours in (("cadence 500 ms", cadence), ("onSample", on_sample)):
        what = f"load step -> scale write, {name}"
        rows += [_row(what + ", median", "s", stock.median, ours.median, 1.6, False, None, "1 s scrape"),
                 _row(what + f", worst of {ours.steps}", "s", stock.worst, ours.worst, 2.2, False, None, "1 s scrape")]
    return rows


def of_crowd(ours) -> list:
    what, source = f"{ours.autoscalers:,} autoscalers, {ours.pods:,} pods", "synthetic Prometheus"
    return [_row(what + ", all readings change: decisions", "1/s", None, ours.decisions_per_second, 0.99 * ours.autoscalers, True,
                 None, f"{source}, {ours.queries_per_second:,.0f} queries/s, {ours.cores_changing:.2f} cores"),
            _row("the same, slowest 2 s: part of a round a second", "", None, ours.slowest_second, 0.9, True),
            # Less than 5 would take a state machine of its own for autoscalers whose readings stay the same.
            _row("the same, nothing changes, decided each second", "% of a core", None, 100 * ours.cores_still, 5, False, None,
                 f"{ours.queries_still_per_second:,.0f} queries/s"),
            _row("the same, nothing changes, period 15 s", "% of a core", None, 100 * ours.cores_still_default, 3, False),
            _row(what + ", peak RSS", "MiB", None, ours.peak_rss_mib, 400 * 1e6 / 2**20, False, None, "initial list included"),
            _row("the same, start to all decided once", "s", None, ours.first_round_seconds, 10, False)]


def of_watched(plain, ours) -> list:
    """Outcomes of crowd.measure_watched; `stock` is the same program without."""
    what = f"{ours.autoscalers:,} autoscalers with gauges and decision log"
    lines = f"{ours.log_lines_per_second:,.0f} lines/s, {ours.cores:.2f} cores, without {plain.cores:.2f}"
    return [_row(what + ": peak RSS, times that without", "MiB", plain.peak_rss_mib, ours.peak_rss_mib, 1.05, False,
                 ours.peak_rss_mib / plain.peak_rss_mib, lines),
            _row("the same: writes to the API server, times those without", "1/s", plain.writes_per_second, ours.writes_per_second,
                 1.02, False, ours.writes_per_second / plain.writes_per_second, "each status changes every 5 minutes"),
            _row("the same: decisions", "1/s", plain.decisions_per_second, ours.decisions_per_second, 0.99 * ours.autoscalers, True)]


def _number(value) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def text(table: list) -> str:
    head = ("work", "unit", "stock", "flyball", "value", "required", "", "note")
    lines = [head] + [(r["work"], r["unit"], _number(r["stock"]), _number(r["flyball"]), _number(r["value"]),
                       (">= " if r["at_least"] else "<= ") + _number(r["required"]), "pass" if r["met"] else "FAIL", r["note"])
                      for r in table]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)
