"""The C++ files of the tree, which of them are tests, and what they include."""

import functools
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
_INCLUDE = re.compile(r'^\s*#include "([a-z0-9_/]+\.h)"', re.MULTILINE)


@functools.cache
def tracked(*patterns: str) -> list:
    """Paths from the root of the tree; those that git does not ignore but does not know yet as well."""
    out = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns], cwd=ROOT, check=True,
                         capture_output=True, text=True)
    return sorted({line for line in out.stdout.splitlines() if (ROOT / line).exists()})


def cpp() -> list:
    return tracked("*.h", "*.cc")


@functools.cache
def text(path: str) -> str:
    return (ROOT / path).read_text()


def folder(path: str) -> str:
    return path.rpartition("/")[0]


@functools.cache
def includes(path: str) -> list:
    """Of the tree's own headers: (line number, path)."""
    return [(text(path).count("\n", 0, m.start()) + 1, m[1]) for m in _INCLUDE.finditer(text(path)) if (ROOT / m[1]).exists()]


def _plainly_test(path: str) -> bool:
    return path.endswith("_test.cc") or path.startswith("test/") or "/testing/" in path


@functools.cache
def _in_production() -> set:
    """What is not plainly a test, without the headers that only tests include."""
    files = {path for path in cpp() if not _plainly_test(path)}
    while True:
        included = {header for path in files for _, header in includes(path)}
        helpers = {path for path in files if path.endswith(".h") and path not in included and _helper_name(path)}
        if not helpers:
            return files
        files -= helpers


def _helper_name(path: str) -> bool:
    return path.rpartition("/")[2].startswith(("test_", "fake_"))


def is_test(path: str) -> bool:
    return path not in _in_production()


def production() -> list:
    return [path for path in cpp() if not is_test(path)]
