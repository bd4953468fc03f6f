"""This machine as the cluster's network sees it."""

import socket
import unittest


def address() -> str:
    """An address of this machine that kube-apiserver's proxy goes to: it refuses those of loopback. Skips the test where there is no other."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # chooses a source; nothing is sent
        except OSError as error:
            raise unittest.SkipTest("this machine has loopback alone: no pod can have an address") from error
        found = probe.getsockname()[0]
    if found.startswith("127."):
        raise unittest.SkipTest("this machine has loopback alone: no pod can have an address")
    return found
