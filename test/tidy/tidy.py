#!/usr/bin/env python3
"""House rules that a compiler does not check: arrows between floors, banned calls, words and headers, names of files in comments and pages."""

import re
import sys

import families
import floors
import sources

# Files that may read the machine's clock or environment.
CLOCK_FILES = {"base/clock.cc"}
ENVIRONMENT_FILES = re.compile(r"^(cmd|serve)/")

BANNED = [
    (re.compile(r"\bstd::regex\b"), "std::regex: use RE2"),
    (re.compile(r"\busleep\(|\bsleep_for\(|\bSleepFor\("), "sleep: wait on a condition or the clock"),
    (re.compile(r"\b(TODO|FIXME|XXX)\b"), "unfinished work: finish it or say it in the change's note"),
]
# Headers are included by many; these libraries stay behind .cc files.
MAY_BE_HEAVY = {  # included by .cc files only
    "base/openssl_ptr.h",  # owns OpenSSL's objects
    "adapter/live/formats/wire_reader.h",  # inlines protobuf's stream
    "kube/objects/json_fields.h",  # templates over simdjson's values
    "kube/local/local_object_store.h",  # holds objects as nlohmann's values
    "kube/local/local_request.h",
}
HEAVY_HEADER = re.compile(r'#include [<"](nlohmann/json\.hpp|httplib\.h|yaml-cpp/|yaml\.h|re2/|openssl/|simdjson|spdlog/|CLI/|grpc/|grpcpp/|google/protobuf/)')

MAX_LINE = 100
NAMED_FILE = re.compile(r"(?<![\w./-])((?:[a-z0-9_]+/)*[a-z0-9][a-z0-9_]*\.(?:h|cc|py|md|cmake))\b(?!\.)")


def _named_files(line: str) -> list:
    """Files that the line's comment names."""
    begin = line.find("//")
    if begin < 0 or line[:begin].count('"') % 2 == 1:
        return []
    return NAMED_FILE.findall(line[begin:])


def _exists(name: str) -> bool:
    """At that path, or at the end of one: comments name neighbours without their folder."""
    return any(path == name or path.endswith("/" + name) for path in sources.tracked())


def check_line(path: str, line: str, test: bool):
    """The messages for one line."""
    for pattern, message in BANNED:
        if pattern.search(line):
            yield message
    for name in _named_files(line):
        if not _exists(name):
            yield f"the comment names {name}, which does not exist"
    if test:  # they hold documents as they are sent, and times as they are
        return
    if re.search(r"\babsl::Now\(|system_clock::now|steady_clock::now", line) and path not in CLOCK_FILES:
        yield "reads the machine's clock: take a Clock or a time"
    if "Clock::System()" in line and not path.startswith("cmd/") and path not in CLOCK_FILES:
        yield "takes the system's clock: it is given one"
    if "HpaDecider()" in line and not path.startswith("scaler/math/hpa/"):
        yield "names a decider: DeciderOf chooses it (scaler/math/hpa/decider_of.h)"
    if re.search(r"\bgetenv\(", line) and not ENVIRONMENT_FILES.match(path):
        yield "reads the environment: pass an option"
    if path.endswith(".h") and path not in MAY_BE_HEAVY and HEAVY_HEADER.search(line):
        yield "a third-party header in a header: keep it in the .cc"
    if len(line) > MAX_LINE:
        yield f"line of {len(line)} characters (limit {MAX_LINE})"


def check_file(path: str) -> list:
    test = sources.is_test(path)
    problems = floors.problems(path)
    if path.endswith(".h") and "#pragma once" not in sources.text(path):
        problems.append((1, "header without #pragma once"))
    if floors.of(path) is None and not path.startswith("test/"):
        problems.append((1, "belongs to no floor: no CMakeLists.txt above it says what it may include"))
    for number, line in enumerate(sources.text(path).splitlines(), 1):
        problems += [(number, message) for message in check_line(path, line, test)]
    return [f"{path}:{number}: {message}" for number, message in sorted(problems)]


def check_page(path: str) -> list:
    return [f"{path}:{number}: names {name}, which does not exist" for number, line in enumerate(sources.text(path).splitlines(), 1)
            for name in NAMED_FILE.findall(line) if not _exists(name)]


def main() -> int:
    files = sources.cpp()
    pages = sources.tracked("*.md")
    problems = [problem for path in files for problem in check_file(path)]
    problems += [problem for path in pages for problem in check_page(path)]
    problems += [f"floor {name} reaches itself by the arrows of the CMakeLists.txt files" for name in floors.cycles()]
    problems += [f"test/tidy/families.py: {pattern} means no file" for pattern in families.unused(files)]
    print("\n".join(problems))
    print(f"tidy: {len(files) + len(pages)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
