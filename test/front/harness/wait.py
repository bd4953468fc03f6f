"""Waiting for a state instead of for a time."""

import socket
import time


def until(check, what: str, timeout=30.0):
    deadline = time.monotonic() + timeout
    while not check():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {timeout:g} s")
        time.sleep(0.05)


def listening(port: int):
    """A listener is acknowledged before its sockets are open in all workers."""
    def connects() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0
    until(connects, f"that something listens on {port}")
