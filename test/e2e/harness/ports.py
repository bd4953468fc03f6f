"""Ports on the loopback interface: those that are free, and who listens on one."""

import pathlib

from machine.own_ports import free, free_row  # pylint: disable=unused-import


def listening(port: int) -> set:
    """The addresses that something listens on at that port, as hexadecimal in /proc/net (127.0.0.1 is 0100007F)."""
    found = set()
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path("/proc/net", table).read_text().splitlines()[1:]:
            address, state = line.split()[1], line.split()[3]
            if state == "0A" and int(address.split(":")[1], 16) == port:
                found.add(address.split(":")[0])
    return found
