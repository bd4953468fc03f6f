"""Clients that mean no good, and what they may cost: the memory of Flyball and the Envoys, and the requests of others."""

import contextlib
import pathlib
import socket
import time

import whole_test
from harness import case, raw_http2, wait, whole


def memory_mib(process, what="VmRSS") -> float:
    """VmHWM: the most that there was."""
    lines = pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(what))


class HostileTest(whole_test.WholeCase):
    WEBS = {"long": {"command": whole_test.NEVER, "queue": "2000", "activationTimeout": "10m"}, "web": {}}
    NODES = ("front-1",)

    def setUp(self):
        for web in self.webs.values():
            wait.listening(web.port)

    def test_long_headers_of_held_requests_stay_with_the_envoy(self):
        rest = memory_mib(self.flyball.process)
        asked = [self.crowd.get(self.webs["long"].port, host="h" * 55_000) for _ in range(2000)]
        self.flyball.await_held(self.webs["long"], 2000)
        self.assertLess(memory_mib(self.flyball.process, "VmHWM") - rest, 2000 * 40_000 / 2**20)
        for future in asked:
            future.cancel()
        self.flyball.await_held(self.webs["long"], 0)

    def test_headers_that_never_end_are_given_up(self):
        with socket.create_connection(("127.0.0.1", self.webs["web"].port), 30) as slow:
            slow.sendall(b"GET / HTTP/1.1\r\nho")
            self.assertIn(b"408", slow.recv(100))

    def test_one_connection_has_a_thousand_streams_at_most(self):
        with raw_http2.connect(self.webs["web"].port) as connection:
            self.assertEqual(raw_http2.settings(connection)[raw_http2.MAX_CONCURRENT_STREAMS], 1000)


class FullEnvoyTest(whole_test.WholeCase):
    """An Envoy that may have so little memory that a few thousand requests fill it."""

    WEBS = {"waits": {"waits": True, "activationTimeout": "10m"}, "crowded": {"command": whole_test.NEVER, "queue": "10000", "activationTimeout": "10m"}}
    NODES = ()
    MOST = 200 << 20

    def test_it_turns_new_requests_away_and_loses_none(self):
        envoy = whole.start_envoy(case.FrontCase.program, self.folder, self.flyball, "front-1", memory=self.MOST)
        self.addCleanup(envoy.stop)
        asked = [self.get("waits") for _ in range(100)]
        self.flyball.await_held(self.webs["waits"], 100)
        get = raw_http2.head(**{"x-more": "y" * 30_000})
        pieces = [get[i:i + 16_000] for i in range(0, len(get), 16_000)]
        with contextlib.ExitStack() as open_ones:
            for _ in range(20):
                connection = open_ones.enter_context(raw_http2.connect(self.webs["crowded"].port))
                with contextlib.suppress(OSError):
                    for stream in range(1, 1000, 2):
                        connection.sendall(raw_http2.frame(raw_http2.HEADERS, raw_http2.END_STREAM, stream, pieces[0]) + b"".join(
                            raw_http2.frame(raw_http2.CONTINUATION, raw_http2.END_HEADERS if piece is pieces[-1] else 0, stream, piece)
                            for piece in pieces[1:]))
                time.sleep(0.1)  # it looks at its memory many times a second, unless the machine is busy
            time.sleep(2)  # until it has read them
            # Beyond it go those that are read until it looks again; without a limit it took four times as much.
            self.assertLess(memory_mib(envoy.process, "VmHWM") * 2**20, 2.5 * self.MOST)
            self.assertEqual(self.flyball.held(self.webs["waits"]), 100)
        (self.folder / "waits").touch()
        self.assertEqual({reply.status for reply in self.crowd.replies(asked)}, {200})
