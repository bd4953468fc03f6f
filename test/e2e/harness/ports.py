"""Free ports on the loopback interface."""

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
