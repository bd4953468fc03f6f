"""Which floor a file belongs to, and which floors that one may include: CMake's word, so that there is no second list.

A floor is a folder whose CMakeLists.txt calls flyball_floor(NAME [SMALL] DEPS …), or makes a library flyball_NAME by itself and says
by target_link_libraries what it needs; with the folders below it that are no floors.
"""

import functools
import re

import sources

_FLOOR = re.compile(r"flyball_floor\(\s*([a-z0-9_]+)(.*?)\)", re.DOTALL)
_LIBRARY = re.compile(r"add_library\(\s*flyball_([a-z0-9_]+) STATIC")
_LINK = re.compile(r"target_link_libraries\(\s*flyball_([a-z0-9_]+)\s(.*?)\)", re.DOTALL)
_WORDS = ("SMALL", "SHARDS", "DEPS", "LIBS", "TEST_LIBS")


class Floor:
    def __init__(self, name: str, folder: str, dependencies: set, of_tests: set):
        self.name = name
        self.folder = folder
        self.dependencies = dependencies  # names of floors
        self.of_tests = of_tests


def _flyball(words) -> set:
    return {word.removeprefix("flyball_") for word in words if word.startswith("flyball_")}


def _floors_in(path: str) -> list:
    text, folder = sources.text(path), sources.folder(path)
    found = []
    for name, rest in _FLOOR.findall(text):
        lists, key = {word: [] for word in _WORDS}, None
        for word in rest.split():
            key = word if word in _WORDS else key
            if word != key:
                lists[key].append(word)
        found.append(Floor(name, folder, set(lists["DEPS"]), _flyball(lists["TEST_LIBS"])))
    if not found:
        found = [Floor(name, folder, _flyball(rest.split()), set()) for name, rest in _LINK.findall(text) if name in _LIBRARY.findall(text)]
    return found


@functools.cache
def floors() -> dict:
    """By folder."""
    every = [floor for path in sources.tracked("*CMakeLists.txt") for floor in _floors_in(path)]
    return {floor.folder: floor for floor in every if not floor.folder.startswith("test")}


def of(path: str):
    """The floor that a file belongs to; None for what no floor's CMakeLists.txt builds."""
    folder = sources.folder(path)
    while folder and folder not in floors():
        folder = sources.folder(folder)
    return floors().get(folder)


def problems(path: str) -> list:
    """(line, message) of each include that no arrow allows. Tests may use what their floor's dependencies use."""
    floor = of(path)
    if floor is None:
        return []
    allowed = {floor.name} | floor.dependencies
    if sources.is_test(path):
        allowed = _reach(allowed | floor.of_tests)
    found = []
    for line, header in sources.includes(path):
        other = of(header)
        if other is not None and other.name not in allowed:
            found.append((line, f"{floor.name} must not include {other.name}: {floor.folder}/CMakeLists.txt does not name it in DEPS"))
    return found


@functools.cache
def _by_name() -> dict:
    return {floor.name: floor for floor in floors().values()}


def _reach(names: set) -> set:
    seen, left = set(), list(names)
    while left:
        name = left.pop()
        if name in seen or name not in _by_name():
            continue
        seen.add(name)
        left += _by_name()[name].dependencies
    return seen


def cycles() -> list:
    """Floors that reach themselves."""
    return [name for name, floor in _by_name().items() if name in _reach(floor.dependencies)]
