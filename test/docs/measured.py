#!/usr/bin/env python3
"""Measured figures that stand in the documentation: the lines between `<!-- measured: NAME -->` and `<!-- end of measured -->` are made of the
last whole runs of the benchmarks, test/bench/results/*.json. `./dev bench` writes both.

  test/docs/measured.py           says which tables are not as the results
  test/docs/measured.py --write   makes them so
"""

import json
import re
import sys

from made_pages import ROOT, check_or_write

RESULTS = ROOT / "test" / "bench" / "results"
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
STAR, POD, QUEUE = "pods/* of 50 pods", "one pod's metric", "an external metric"
_BLOCK = re.compile(r"(<!-- measured: (?P<name>[a-z-]+) -->\n).*?(<!-- end of measured -->\n)", re.DOTALL)


def results(name: str):
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def number(value: float) -> str:
    """Three digits at most behind a power of ten, and no more than are known."""
    if value >= 100:
        return f"{round(value):,}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2g}" if value < 1 else f"{value:.1f}"


def span(seconds: float) -> str:
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{number(seconds / size)} {unit}"
    return f"{number(seconds / 1e-9)} ns"


def times(ratio: float) -> str:
    return f"{number(ratio)} ×" if ratio < 10 else f"{round(ratio):,} ×"


def table(head: tuple, rows: list) -> str:
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, *rows)]
    lines.insert(1, "|---" * len(head) + "|")
    return "\n".join(lines) + "\n"


def adapter() -> str:
    """The metrics API server against the original."""
    found = results("adapter")["measured"]
    ours, theirs, throttled = found["flyball"], found["original"], found["original_default"]["cells"]
    rows = []
    for work, words in ((STAR, "`pods/*` by label selector, 50 pods"), (POD, "one pod's metric"), (QUEUE, "an external metric")):
        mine, other = (side["cells"][work]["requests_per_second"] for side in (ours, theirs))
        by_default = throttled[work]["requests_per_second"]
        slow = by_default < other / 2  # its default limits are on its requests to the API server, which only `*` makes
        rows.append((words, f"{number(other)} requests/s" + (f" ({number(by_default)} with its default limits)" if slow else ""),
                     f"{number(mine)} requests/s", times(mine / other) + (f" ({times(mine / by_default)})" if slow else "")))

    def of_three(side, field, unit=""):
        return ", ".join(number(side["cells"][work][field]) for work in (STAR, POD, QUEUE)) + unit
    rows += [("p99 of the three", of_three(theirs, "p99_ms", " ms"), of_three(ours, "p99_ms", " ms"), ""),
             ("CPU seconds for 1000 requests of the three", of_three(theirs, "cpu_seconds_per_1000"), of_three(ours, "cpu_seconds_per_1000"), ""),
             ("queries to Prometheus a second in the three", of_three(theirs, "queries_per_second"), of_three(ours, "queries_per_second"), "")]
    rows += [("peak RSS, 500 pods", f"{round(theirs['rss'])} MiB", f"{round(ours['rss'])} MiB", times(theirs["rss"] / ours["rss"])),
             ("peak RSS, 100,000 series over 40 rules", f"{round(theirs['rss_large'])} MiB", f"{round(ours['rss_large'])} MiB",
              times(theirs["rss_large"] / ours["rss_large"])),
             ("relist of those series", span(theirs["relist"]), span(ours["relist"]), times(theirs["relist"] / ours["relist"])),
             ("start to first answer", span(theirs["ready"]), span(ours["ready"]), times(theirs["ready"] / ours["ready"]))]
    return table(("work", "prometheus-adapter", "flyball", ""), rows)


def decisions() -> str:
    """The replica math against the controller's."""
    found = results("scaler")
    theirs, rows = found["theirs"] or {}, []  # without Go on the machine theirs are not measured
    for key, words in (("external", "one External metric"), ("resource/10", "Resource, 10 pods"), ("resource/100", "Resource, 100 pods"),
                       ("resource/1000", "Resource, 1000 pods"), ("five_metrics/50", "five metrics, 50 pods, full behavior")):
        mine = found["ours"][key]["ns"] * 1e-9
        other = theirs[key]["reconcile"]["ns"] * 1e-9 if key in theirs else None
        rows.append((words, span(other) if other else "", span(mine), times(other / mine) if other else ""))
    rows.append(("nothing changed, 1000 pods", "", span(found["ours"]["unchanged/resource/1000"]["ns"] * 1e-9), ""))
    return table(("decision", "controller", "flyball", ""), rows)


def loop() -> str:
    """The running scaler beside the running controller."""
    found = results("scaler_loop")
    if not found:
        return ""
    return table(("work", "", "controller", "flyball"), [
        (row["work"], row["unit"], "" if row["stock"] is None else number(row["stock"]), number(row["flyball"])) for row in found["table"]])


def sizing() -> str:
    found, math = results("adapter")["measured"], results("scaler")["ours"]
    ours, theirs, throttled = found["flyball"], found["original"], found["original_default"]["cells"]

    def both(mine, other, unit):
        return f"{number(mine)}{unit} ({number(other)}{unit})"

    def rate(work):
        return [side["cells"][work]["requests_per_second"] for side in (ours, theirs)]
    mine, other = rate(STAR)
    return table(("what", "amount"), [
        ("memory, 500 pods in 10 namespaces under load, peak", f"{round(ours['rss'])} MiB ({round(theirs['rss'])} MiB)"),
        ("memory, 100,000 series over 40 rules, peak", f"{round(ours['rss_large'])} MiB ({round(theirs['rss_large'])} MiB)"),
        ("a relist of those 100,000 series", f"{span(ours['relist'])} ({span(theirs['relist'])})"),
        ("requests for all of 50 pods' values", f"{number(mine)}/s ({number(other)}/s; {number(throttled[STAR]['requests_per_second'])}/s with its default limits)"),
        ("requests for one pod's value", both(*rate(POD), "/s")),
        ("requests for an external metric", both(*rate(QUEUE), "/s")),
        ("CPU for 1000 requests of 50 pods' values", both(*(side["cells"][STAR]["cpu_seconds_per_1000"] for side in (ours, theirs)), " s")),
        ("queries to Prometheus under that load", "one a second for each different query (one for each request)"),
        ("start to first answer", f"{span(ours['ready'])} ({span(theirs['ready'])})"),
        ("one decision of the scaler, 10 pods, CPU", span(math["resource/10"]["ns"] * 1e-9)),
        ("one decision of the scaler, 1000 pods, CPU", span(math["resource/1000"]["ns"] * 1e-9))])


def share() -> str:
    """What the questions of a cluster's HPAs take, by the figure of the table above it."""
    seconds, asked = results("adapter")["measured"]["flyball"]["cells"][STAR]["cpu_seconds_per_1000"], 1000 * 2 / 15
    return (f"- An HPA asks once for each metric in each sync. 1000 HPAs with two metrics are {asked:.0f} requests a second: {span(asked / 1000 * seconds)} of CPU a second by the\n"
            "  figure above for 50 pods. The chart's `requests` (50m, 64Mi) cover that; its memory limit of 512Mi is far above what any run here used.\n")


def picture() -> str:
    """The picture of reaction_plot.py, in words."""
    found = results("scaler_loop")["parts"]["reaction"]["measured"]
    theirs, ours = (f"{found[key]['median']:.1f} s" for key in ("stock", "cadence"))
    return f"![From a load step to the written scale: {theirs} by the HPA controller, {ours} by Flyball (medians)](docs/images/reaction.svg)\n"


def reaction() -> str:
    found, math = results("adapter")["measured"], results("scaler")["ours"]
    mine, other = (found[side]["cells"][STAR]["p99_ms"] * 1e-3 for side in ("flyball", "original"))
    rows = [("the answer, 99th percentile, 8 callers asking for 50 pods at once", f"{span(mine)} (prometheus-adapter: {span(other)})"),
            ("the decision, a Resource metric of 10 pods", span(math["resource/10"]["ns"] * 1e-9))]
    if whole := results("scaler_loop"):
        rows += [(row["work"], span(row["flyball"]) + (f" (the controller: {span(row['stock'])})" if row["stock"] else ""))
                 for row in whole["table"] if row["work"].startswith("load step")]
    return table(("step", "measured"), rows)


def _loads(found: dict) -> str:
    return "\nLoad averages of the machine before each part: " + ", ".join(
        f"{part['machine']['load_before']:.0f} ({name})" for name, part in found["parts"].items()) + ".\n"


def live() -> str:
    """The live source beside Prometheus."""
    found = results("live")
    if not found:
        return ""
    rows = [row for part in found["parts"].values() for row in part["table"]]
    return table(("work", "", "Prometheus 2.42", "flyball", "wanted"), [
        (row["work"], row["unit"], "" if row["prometheus"] is None else number(row["prometheus"]), number(row["flyball"]),
         ("at least " if row["at_least"] else "at most ") + (times(row["required"]) if row["at_least"] else number(row["required"]))
         + ("" if row["met"] else " (missed)")) for row in rows]) + _loads(found)


def front() -> str:
    """Scaling by requests beside Knative's proxies."""
    found = results("front")
    if not found:
        return ""
    rows = [row for part in found["parts"].values() for row in part["table"]]

    def goal(row):
        if row["required"] is None:
            return ""
        value = times(row["required"]) + " of it" if row["of_peer"] else number(row["required"])
        return ("at least " if row["at_least"] else "at most ") + value + ("" if row["met"] else " (missed)")
    return table(("work", "", "Knative 0.48", "flyball", "wanted"), [
        (row["work"], row["unit"], "" if row["theirs"] is None else number(row["theirs"]), number(row["flyball"]), goal(row)) for row in rows]) + _loads(found)


def envoys() -> str:
    """What the Envoys of `./dev bench front` cost."""
    parts = results("front")["parts"]
    hop, idle = parts["path"]["measured"], parts["services"]["measured"]
    all_of, one = idle["all"], idle["one"]["envoy"]["megabytes"]

    def of_hop(side):
        return f"{span(hop[side]['added'])}, {span(hop[side]['cpu'])} of CPU"

    def core(side):
        return f"{number(100 * all_of[side]['core'])} % of a core"
    return table(("what", "cost"), [
        ("a request through an Envoy, in addition to the pod's time", of_hop("envoy")),
        ("for comparison: Knative's queue-proxy 0.48, which runs in every pod", of_hop("queue-proxy")),
        ("1,000 idle services", f"{round(all_of['envoy']['megabytes'])} MB and {core('envoy')} of each Envoy; {core('flyball')} of Flyball"),
        ("an Envoy with one service", f"{round(one)} MB")]) + (
            f"\nSo two Envoys cost about {round(2 * one, -1):.0f} MB, and a core carries about {round(1 / hop['envoy']['cpu'], -2):,.0f} requests a second.\n")


MAKERS = {make.__name__: make for make in (adapter, decisions, loop, sizing, share, picture, reaction, live, front, envoys)}


def as_it_should_be(page: str) -> str:
    return _BLOCK.sub(lambda m: m[1] + MAKERS[m["name"]]() + m[3], page)


def main() -> int:
    return check_or_write(PAGES, as_it_should_be, "a table is not as test/bench/results: test/docs/measured.py --write")


if __name__ == "__main__":
    sys.exit(main())
