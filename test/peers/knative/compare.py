#!/usr/bin/env python3
"""Compares what Knative and flyball made of the same scenarios: compare.py KNATIVE FLYBALL [SHOWN]. Exit status 1 when they differ.

Knative's results may lack members that its peer does not compute; averages are equal within 1e-9 of their size.
"""

import json
import sys


def difference(want, got, path=""):
    if isinstance(want, bool) or isinstance(got, bool) or want is None or isinstance(want, str):
        return None if want == got else f"{path}: want {want!r}, got {got!r}"
    if isinstance(want, (int, float)):
        same = isinstance(got, (int, float)) and abs(want - got) <= 1e-9 * max(abs(want), abs(got))
        return None if same else f"{path}: want {want!r}, got {got!r}"
    if isinstance(want, dict):
        if not isinstance(got, dict):
            return f"{path}: want an object, got {got!r}"
        for key in want:
            if key not in got:
                return f"{path}.{key} is missing"
            if key != "error":
                found = difference(want[key], got[key], f"{path}.{key}")
                if found:
                    return found
        if ("error" in got or "poke" in got or "nodata" in got) and not set(got) & {"error", "poke", "nodata"} <= set(want):
            return f"{path}: too much in {got}"
        return None
    if len(want) != len(got):
        return f"{path}: {len(want)} wanted, {len(got)} got"
    return next(filter(None, (difference(a, b, f"{path}[{i}]") for i, (a, b) in enumerate(zip(want, got)))), None)


def main():
    shown = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    bad = count = unheard = 0
    with open(sys.argv[1], encoding="utf-8") as wants, open(sys.argv[2], encoding="utf-8") as gots:
        for want_line, got_line in zip(wants, gots, strict=True):
            want, got = json.loads(want_line), json.loads(got_line)
            count += 1
            if want["out"].get("error") == "not finite":  # JSON has no word for it
                unheard += 1
                continue
            if set(want["out"]) == {"id", "kind", "error"} and "error" in got:  # settings that both refuse
                continue
            found = "an error: " + got["error"] if "error" in got else difference(want["out"], got["out"])
            if found:
                bad += 1
                if bad <= shown:
                    print(want["id"], found[:300])
    print(f"{count} scenarios, {bad} differ, {unheard} not comparable")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
