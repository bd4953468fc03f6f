"""Ports of this machine for who is to listen later.

Each process of tests takes a block of ports, so that several run side by side. All are below those that the kernel gives to connections
and above those that flyball gives to its first services: an Envoy listens on these as soon as it is told, whoever else does.
"""

import fcntl
import os
import pathlib
import socket
import tempfile
import threading

_FIRST, _IN_A_BLOCK, _BLOCKS = 20_700, 600, 20
_locks = {}  # process -> the open file that says whose block it is; a fork takes another one
_next = 0  # in the block: where it begins anew, the ports given out first are long in use or done with
# Tests of one process run in threads. Two gRPC servers on the same port would both listen, and share its connections.
_one_at_a_time = threading.Lock()


def free() -> int:
    return free_row(1)


def free_row(count: int) -> int:
    """The first of so many ports, one after the other, that nobody listens on and that were not given out a short while before."""
    global _next  # pylint: disable=global-statement
    with _one_at_a_time:
        block = _own_block()
        for _ in block:
            if _next + count > len(block):
                _next = 0
            row = block[_next:_next + count]
            if all(_is_free(port) for port in row):
                _next += count
                return row.start
            _next += 1
    raise SystemError(f"no {count} ports in a row are free from {block.start} to {block.stop}")


def _own_block() -> range:
    if os.getpid() not in _locks:
        _locks[os.getpid()] = _take_block()
    first = _FIRST + _IN_A_BLOCK * int(pathlib.Path(_locks[os.getpid()].name).name)
    return range(first, first + _IN_A_BLOCK)


def _take_block():
    folder = pathlib.Path(tempfile.gettempdir(), f"flyball-ports-{os.getuid()}")
    folder.mkdir(exist_ok=True)
    for number in range(_BLOCKS):
        lock = (folder / str(number)).open("w", encoding="utf-8")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # until the process has ended
            return lock
        except BlockingIOError:
            lock.close()
    raise SystemError(f"{_BLOCKS} processes have taken all ports of {folder}")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False
