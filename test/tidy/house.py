#!/usr/bin/env python3
"""What the house weighs: each measure as it is, as it was before the rebuild, and as it should be. Run from anywhere.

  test/tidy/house.py [--where]      --where: also where each one is
"""

import argparse
import collections
import re
import sys

import families
import floors
import sources

VAGUE = ("Entry", "Parts", "Slot", "Known", "Told", "Group", "Take", "Settle")
LONG = 90
_NO_FUNCTION = re.compile(r" *(if|for|while|switch|do|else|namespace|class|struct|enum|\})\b")


def _production_lines():
    return [(path, sources.text(path).count("\n")) for path in sources.production()]


def lines():
    """All of them, and where they came from."""
    counted = _production_lines()
    of = collections.Counter()
    for path, count in counted:
        of[families.family(path) or "what was rebuilt"] += count
    return sum(of.values()), [f"{name} {count}" for name, count in of.most_common()]


def rebuilt_lines():
    counted = [row for row in _production_lines() if not families.family(row[0])]
    largest = sorted(counted, key=lambda row: -row[1])[:10]
    return sum(count for _, count in counted), [f"{path} {count}" for path, count in largest]


def fullest_folder():
    folders = collections.Counter(sources.folder(path) for path in sources.production())
    return max(folders.values()), [f"{folder} {count}" for folder, count in folders.most_common() if count > 40]


def both_ways():
    """Pairs of folders of which each includes the other."""
    arrows = collections.defaultdict(set)
    for path in sources.production():
        for _, header in sources.includes(path):
            if not sources.is_test(header):
                arrows[sources.folder(path)].add(sources.folder(header))
    pairs = sorted((a, b) for a in arrows for b in arrows[a] if a < b and a in arrows.get(b, ()))
    return len(pairs), [f"{a} <-> {b}" for a, b in pairs]


def system_clock():
    found = collections.Counter()
    for path in sources.production():
        if not path.startswith("cmd/") and path != "base/clock.cc":  # which defines it
            found[path] = sources.text(path).count("Clock::System()")
    return sum(found.values()), [f"{path} {count}" for path, count in sorted(found.items()) if count]


def vague_structs():
    pattern = re.compile(rf"^\s*(?:struct|class) (?:\w+::)*({'|'.join(VAGUE)})\b[^;]*$", re.MULTILINE)
    found = [f"{path} {name}" for path in sources.production() for name in pattern.findall(sources.text(path))]
    return len(found), found


def long_functions():
    """By indentation, as clang-format lays code out: a body ends with the brace in the column where its statement begins."""
    found = []
    for path in sources.production():
        body, statement, begins = None, "", True
        for number, line in enumerate(sources.text(path).splitlines(), 1):
            if body is not None:
                if line.startswith(body[1] + "}"):
                    if number - body[0] > LONG:
                        found.append(f"{path}:{body[0]} {number - body[0]} lines")
                    body, begins = None, True
                continue
            if begins:
                statement = line
            if re.search(r"\)[^()]*\{$", line) and not _NO_FUNCTION.match(statement):
                body = (number, re.match(" *", statement)[0])
            begins = line.endswith((";", "{", "}", ":")) or not line or line.lstrip().startswith(("//", "#"))
    return len(found), found


def _lines_of(page: str):
    """A measure: how long that page is."""
    return lambda: (sources.text(page).count("\n"), [])


def include_cycles():
    """Headers that include themselves by others."""
    state, found = {}, []

    def visit(path, way):
        state[path] = "open"
        for _, header in sources.includes(path):
            if state.get(header) == "open":
                found.append(" -> ".join(way + [path, header]))
            elif header not in state:
                visit(header, way + [path])
        state[path] = "done"
    for path in sources.cpp():
        if path not in state:
            visit(path, [])
    return len(found), found


def arrows():
    """Includes that the CMakeLists.txt files do not allow, and floors that reach themselves."""
    found = [f"{path}:{line} {message}" for path in sources.cpp() for line, message in floors.problems(path)] + floors.cycles()
    return len(found), found


# What is measured, what it was before the rebuild began, the most that it should be (None: what the features ask for).
MEASURES = [
    ("production lines of C++", lines, 63_500, None),
    ("of which the house that was rebuilt, without the files of later features", rebuilt_lines, 63_500, 63_500),
    ("production files in one folder, most", fullest_folder, 87, 40),
    ("pairs of folders with arrows both ways", both_ways, 4, 0),
    ("includes against the arrows of CMake", arrows, None, 0),
    ("Clock::System outside of cmd and tests", system_clock, 35, 0),
    (f"structs named {', '.join(VAGUE)}", vague_structs, 40, 0),
    (f"functions over {LONG} lines", long_functions, 0, 0),
    ("include cycles", include_cycles, 0, 0),
    ("lines of ARCHITECTURE.md", _lines_of("ARCHITECTURE.md"), None, 199),
    ("lines of README.md", _lines_of("README.md"), None, 199),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--where", action="store_true", help="also where each one is")
    where = parser.parse_args().where
    print("| measure | before | now | goal | |\n|---|---|---|---|---|")
    places = []
    for name, measure, before, goal in MEASURES:
        now, found = measure()
        met = "" if goal is None else "yes" if now <= goal else "no"
        print(f"| {name} | {'' if before is None else f'{before:,}'} | {now:,} | {'' if goal is None else f'{goal:,}'} | {met} |")
        places += [f"\n{name}:"] + ["  " + place for place in found] if found else []
    if where:
        print("\n".join(places))
    return 0


if __name__ == "__main__":
    sys.exit(main())
