"""This machine as the cluster's network sees it."""

import socket

from machine import needs

_LOOPBACK_ALONE = "this machine has loopback alone: no pod can have an address"


def address() -> str:
    """An address of this machine that kube-apiserver's proxy goes to: it refuses those of loopback. The test can't be run where there is no other."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # chooses a source; nothing is sent
        except OSError:
            needs.missing(_LOOPBACK_ALONE)
        found = probe.getsockname()[0]
    if found.startswith("127."):
        needs.missing(_LOOPBACK_ALONE)
    return found
