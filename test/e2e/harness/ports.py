"""Free ports on the loopback interface."""

import pathlib
import random
import socket

_given = set()


def free() -> int:
    """A port that nobody listens on and that was not given out before in this run."""
    while True:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port not in _given:
            _given.add(port)
            return port


def free_row(count: int) -> int:
    """The first of so many ports in a row, below those that the kernel gives to connections."""
    while True:
        row = range(first := random.randrange(20000, 32000), first + count)
        if _given.intersection(row):
            continue
        try:
            for port in row:
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        _given.update(row)
        return row[0]


def listening(port: int) -> set:
    """The addresses that something listens on at that port, as hexadecimal in /proc/net (127.0.0.1 is 0100007F)."""
    found = set()
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path("/proc/net", table).read_text().splitlines()[1:]:
            address, state = line.split()[1], line.split()[3]
            if state == "0A" and int(address.split(":")[1], 16) == port:
                found.add(address.split(":")[0])
    return found
