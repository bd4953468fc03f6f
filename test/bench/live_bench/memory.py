"""What 100,000 series of ten minutes at one second take: bytes of a sample, and the whole process."""

import re
import time

from . import servers

SERIES, STEPS = 100_000, 600


def filled(server) -> dict:
    idle = server.process.rss_mib()
    sent = servers.send(server, SERIES, (int(time.time()) - STEPS) * 1000, 1000, STEPS)
    time.sleep(6)  # what is pruned each five seconds, is
    return {"idle_mib": idle, "rss_mib": server.process.rss_mib(), "samples": sent["samples"], "seconds": sent["seconds"]}


def measure() -> dict:
    ours = servers.flyball((), f"--live-keep={servers.ANYTHING}", "--live-retention=20m")
    found = {"flyball": filled(ours)}
    counted = float(re.search(r"^flyball_live_bytes (\S+)", ours.client.get("/metrics").text(), re.M).group(1))
    found["flyball"]["counted_bytes"] = counted
    ours.stop()
    theirs = servers.prometheus()
    found["prometheus"] = filled(theirs)
    theirs.stop()
    return found
