"""Ports of this machine for who is to listen later."""

import random
import socket

_GIVEN = set()  # ports that somebody may take later, which nobody else is to be given
_FROM = range(20000, 32000)


def use_half(which: int):
    """0 or 1: where two processes run tests, each has ports of its own."""
    global _FROM  # pylint: disable=global-statement
    middle = (_FROM.start + _FROM.stop) // 2
    _FROM = range(middle, _FROM.stop) if which else range(_FROM.start, middle)


def free_row(count: int) -> int:
    """The first of so many ports, one after the other, below those that the kernel gives to connections."""
    while True:
        first = random.randrange(_FROM.start, _FROM.stop - count)
        row = range(first, first + count)
        if _GIVEN.isdisjoint(row) and all(_is_free(port) for port in row):
            _GIVEN.update(row)
            return first


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False


def free_port() -> int:
    return free_row(1)
