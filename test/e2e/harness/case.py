"""The base of every suite: shared cluster, logs of what took part when a test fails."""

import unittest

from . import adapter, control_plane


def differs(why: str):
    """A test of behaviour that only flyball has: left out when the suite is proven on the original."""
    return unittest.skipIf(adapter.subject() == adapter.ORIGINAL, "the original differs: " + why)


class Case(unittest.TestCase):
    """`watched` holds processes whose log ends are shown when a test of the class fails."""

    maxDiff = None
    watched = ()

    @classmethod
    def cluster(cls):
        return control_plane.shared()

    @classmethod
    def watch(cls, *processes):
        cls.watched = (*cls.watched, *processes)

    def evidence(self) -> str:
        return "\n".join(p.tail() for p in self.watched)
