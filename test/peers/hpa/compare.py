#!/usr/bin/env python3
"""Compares what the controller and flyball made of the same scenarios: compare.py CONTROLLER FLYBALL [SHOWN]. Exit status 1 when they differ.

Queries are left out, and so is the text of a body that does not parse. A scenario that ends the controller by a nil pointer counts as none.
"""

import json
import sys


def errors(result: dict) -> list:
    """The controller's oracle has `message`, which begins with the value that is wrong; flyball `detail`, without it."""
    return sorted((e["type"], e.get("field", "")) for e in result["admission"]["errors"] if e["type"] != "decode")


def decodes(result: dict) -> bool:
    return all(e["type"] != "decode" for e in result["admission"]["errors"])


def differences(want: dict, got: dict) -> list:
    if "admission" not in got:
        return [("admission", want["admission"]["errors"], got)]
    found = [("admission.errors", errors(want), errors(got))] if errors(want) != errors(got) or decodes(want) != decodes(got) else []
    for error in want["admission"]["errors"]:
        details = [e["detail"] for e in got["admission"]["errors"] if e.get("field") == error.get("field")]
        if error["type"] != "decode" and details and not any(error["message"].endswith(detail) for detail in details):
            found.append(("admission.errors", error["message"], details))
    for field in ("spec", "generation"):
        if field in want["admission"] and field in got["admission"] and want["admission"][field] != got["admission"][field]:
            found.append((f"admission.{field}", want["admission"][field], got["admission"].get(field)))
    if len(want.get("ticks", [])) != len(got.get("ticks", [])):
        found.append(("ticks", len(want.get("ticks", [])), len(got.get("ticks", []))))
    for number, (theirs, ours) in enumerate(zip(want.get("ticks", []), got.get("ticks", []))):
        for key in sorted((theirs.keys() | ours.keys()) - {"queries"}):
            if theirs.get(key) != ours.get(key) and (theirs.get(key) or ours.get(key)):
                found.append((f"ticks[{number}].{key}", theirs.get(key), ours.get(key)))
        if found:
            break  # what follows follows from it
    return found


def main() -> int:
    shown = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with open(sys.argv[1], encoding="utf-8") as theirs, open(sys.argv[2], encoding="utf-8") as ours:
        pairs = [(json.loads(want), json.loads(got)) for want, got in zip(theirs, ours)]
    ended = [want for want, _ in pairs if "oracle" in want]
    different = [(want, found) for want, got in pairs if "oracle" not in want and (found := differences(want, got))]
    for want, found in different[:shown]:
        print(want["id"], *(f"\n  {what}\n    controller {json.dumps(a)[:600]}\n    flyball    {json.dumps(b)[:600]}" for what, a, b in found))
    ticks = sum(len(want.get("ticks", [])) for want, _ in pairs)
    print(f"{len(pairs)} scenarios, {ticks} ticks, {len(ended)} that end the controller, {len(different)} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
