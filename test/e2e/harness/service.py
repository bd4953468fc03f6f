"""A Service in front of several adapters, as kube-proxy plays it: each new connection goes to one that is ready.

Connections that are open stay where they are. Nobody is told of an endpoint before its /readyz says so, and whatever
changes counts only after a lag, as the way over kubelet, EndpointSlice and kube-proxy takes it.
"""

import random
import select
import socket
import threading
import time

from .client import Client

_PROBE_SECONDS = 0.25


class Service:
    """`lag`: seconds from a change of an endpoint's readiness to the first connection that goes by it."""

    def __init__(self, lag: float):
        self._lag = lag
        self._probes = {}  # port -> its client
        self._ready = {}  # port -> what the last probe said
        self._changes = []  # (when it counts, port, ready)
        self._endpoints = set()
        self._random = random.Random(1)
        self._stopped = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self._listener.getsockname()[1]
        for work in (self._accept, self._look):
            threading.Thread(target=work, daemon=True).start()

    def add(self, port: int):
        self._probes[port] = Client(f"https://127.0.0.1:{port}", timeout=10)

    def remove(self, port: int):
        """The pod is gone for good: its address means nothing any more."""
        self._probes.pop(port)

    def endpoints(self) -> set:
        """Ports that new connections go to now."""
        return set(self._endpoints)

    def stop(self):
        self._stopped.set()
        self._listener.close()

    def _look(self):
        while not self._stopped.wait(_PROBE_SECONDS):
            for port, probe in list(self._probes.items()):
                try:
                    ready = probe.get("/readyz").status == 200
                except OSError:
                    ready = False
                if ready != self._ready.get(port, False):
                    self._ready[port] = ready
                    self._changes.append((time.monotonic() + self._lag, port, ready))
            while self._changes and self._changes[0][0] <= time.monotonic():
                _, port, ready = self._changes.pop(0)
                (self._endpoints.add if ready else self._endpoints.discard)(port)

    def _accept(self):
        while not self._stopped.is_set():
            try:
                caller, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(caller,), daemon=True).start()

    def _serve(self, caller: socket.socket):
        """What the kernel does for kube-proxy: nothing is retried, a refused connection is refused."""
        with caller:
            endpoints = sorted(self._endpoints)
            if not endpoints:
                return
            try:
                with socket.create_connection(("127.0.0.1", self._random.choice(endpoints)), 5) as server:
                    self._pump(caller, server)
            except OSError:
                return

    @staticmethod
    def _pump(caller: socket.socket, server: socket.socket):
        other = {caller: server, server: caller}
        open_ends = {caller, server}
        while open_ends:
            for one in select.select(list(open_ends), [], [])[0]:
                data = one.recv(65536)
                if data:
                    other[one].sendall(data)
                else:
                    open_ends.discard(one)
                    other[one].shutdown(socket.SHUT_WR)
