#!/usr/bin/env python3
"""House rules that a compiler does not check: arrows between floors, banned calls, words and headers."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A floor may include itself and these.
MAY_INCLUDE = {
    "base": set(),
    "rules": {"base"},
    "kube": {"base"},
    "adapter": {"base", "rules", "kube"},
    "apiservice": {"base", "kube", "adapter"},
    "scaler": {"base", "kube", "adapter"},
    "doctor": {"base", "rules", "kube", "adapter", "scaler"},
    "cmd": {"base", "rules", "kube", "adapter", "apiservice", "scaler", "doctor"},
}
# Within the scaler: the pure part knows nothing of metrics servers or networks.
PURE_SCALER = ("scaler/math/", "scaler/spec/")

# Files that may read the machine's clock or environment.
CLOCK_FILES = {"base/clock.cc"}
ENVIRONMENT_FILES = re.compile(r"^cmd/")

BANNED = [
    (re.compile(r"\bstd::regex\b"), "std::regex: use RE2"),
    (re.compile(r"\busleep\(|\bsleep_for\(|\bSleepFor\("), "sleep: wait on a condition or the clock"),
    (re.compile(r"\b(TODO|FIXME|XXX)\b"), "unfinished work: finish it or say it in the change's note"),
]
# Headers are included by many; these libraries stay behind .cc files.
MAY_BE_HEAVY = {  # included by .cc files only
    "base/openssl_ptr.h",  # owns OpenSSL's objects
    "kube/json_fields.h",  # templates over simdjson's values
}
HEAVY_HEADER = re.compile(r'#include [<"](nlohmann/json\.hpp|httplib\.h|yaml-cpp/|yaml\.h|re2/|openssl/|simdjson|spdlog/|CLI/|grpc/|grpcpp/|google/protobuf/)')

MAX_LINE = 120


def tracked():
    out = subprocess.run(["git", "ls-files", "*.h", "*.cc"], cwd=ROOT, check=True, capture_output=True, text=True)
    return [line for line in out.stdout.splitlines() if (ROOT / line).exists()]


def floor_of(path):
    return path.split("/", 1)[0]


def check_file(path):
    text = (ROOT / path).read_text()
    floor = floor_of(path)
    problems = []

    def complain(number, message):
        problems.append(f"{path}:{number}: {message}")

    is_test = path.endswith("_test.cc") or floor == "test" or path.rpartition("/")[2].startswith(("test_", "fake_"))
    if path.endswith(".h") and "#pragma once" not in text:
        complain(1, "header without #pragma once")
    for number, line in enumerate(text.splitlines(), 1):
        include = re.match(r'#include "([a-z_]+)/', line)
        if include and floor in MAY_INCLUDE and not is_test:
            other = include.group(1)
            if other in MAY_INCLUDE and other != floor and other not in MAY_INCLUDE[floor]:
                complain(number, f"{floor} must not include {other}")
            if path.startswith(PURE_SCALER) and other == "adapter":
                complain(number, "the replica math must not include adapter")
        for pattern, message in BANNED:
            if pattern.search(line):
                complain(number, message)
        if not is_test:
            if re.search(r"\babsl::Now\(|system_clock::now|steady_clock::now", line) and path not in CLOCK_FILES:
                complain(number, "reads the machine's clock: take a Clock or a time")
            if re.search(r"\bgetenv\(", line) and not ENVIRONMENT_FILES.match(path):
                complain(number, "reads the environment: pass an option")
            if path.endswith(".h") and path not in MAY_BE_HEAVY and HEAVY_HEADER.search(line):
                complain(number, "a third-party header in a header: keep it in the .cc")
        if len(line) > MAX_LINE and not is_test:  # tests hold documents as they are sent
            complain(number, f"line of {len(line)} characters (limit {MAX_LINE})")
    return problems


def main():
    files = tracked()
    problems = [problem for path in files for problem in check_file(path)]
    print("\n".join(problems))
    print(f"tidy: {len(files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
