"""The base of every suite: shared cluster, logs of what took part when a test fails."""

import concurrent.futures
import fnmatch
import unittest

from . import adapter, control_plane

patterns = []  # of `run -k`


def differs(why: str):
    """A test of behaviour that only flyball has: left out when the suite is proven on the original."""
    return unittest.skipIf(adapter.subject() == adapter.ORIGINAL, "the original differs: " + why)


def side_by_side(cls):
    """Runs all tests of a class at once, each in a thread: for tests that mostly wait and share nothing. `setUpClass` comes
    first as ever; outcomes are told in turn. A process that a test starts lives as long as the class."""
    tests = {name: getattr(cls, name) for name in dir(cls) if name.startswith("test")}
    set_up = cls.setUpClass.__func__

    def run(name):
        test = cls(name)
        try:
            test.setUp()
            try:
                tests[name](test)
            finally:
                test.tearDown()
        finally:
            test.doCleanups()

    def set_up_class(klass):
        set_up(klass)
        chosen = [name for name in tests if not patterns or any(
            fnmatch.fnmatchcase(f"{klass.__module__}.{klass.__qualname__}.{name}", f"*{p}*") for p in patterns)]
        pool = concurrent.futures.ThreadPoolExecutor(max(len(chosen), 1))
        klass.addClassCleanup(pool.shutdown)
        klass.outcomes = {name: pool.submit(run, name) for name in chosen}

    cls.setUpClass = classmethod(set_up_class)
    for name in tests:
        setattr(cls, name, lambda self, name=name: type(self).outcomes[name].result())
    return cls


class Case(unittest.TestCase):
    """`watched` holds processes whose log ends are shown when a test of the class fails."""

    maxDiff = None
    watched = ()
    VERSION = ""  # of the cluster: a folder of the peers

    @classmethod
    def cluster(cls):
        return control_plane.shared(cls.VERSION)

    @classmethod
    def watch(cls, *processes):
        cls.watched = (*cls.watched, *processes)

    def evidence(self) -> str:
        return "\n".join(p.tail() for p in self.watched)
