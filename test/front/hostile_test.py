"""Clients that mean no good, and what they may cost: the memory of Flyball, and the requests of others."""

import pathlib

import whole_test


class HostileTest(whole_test.WholeCase):
    WEBS = {"long": {"command": whole_test.NEVER, "queue": "2000", "activationTimeout": "10m"}, "web": {}}
    NODES = ("front-1",)

    def of_flyball(self, what: str) -> float:
        """MiB of its memory: VmRSS, or VmHWM for the most that there was."""
        lines = pathlib.Path(f"/proc/{self.flyball.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(what))

    def test_long_headers_of_held_requests_stay_with_the_envoy(self):
        rest = self.of_flyball("VmRSS")
        asked = [self.crowd.get(self.webs["long"].port, host="h" * 55_000) for _ in range(2000)]
        self.flyball.await_held(self.webs["long"], 2000)
        self.assertLess(self.of_flyball("VmHWM") - rest, 2000 * 40_000 / 2**20)
        for future in asked:
            future.cancel()
        self.flyball.await_held(self.webs["long"], 0)
