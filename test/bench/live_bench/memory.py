"""What 100,000 series of ten minutes at one second take: bytes of a sample, of a series, and the whole process.

A sample's bytes are what the process grows by from each series' first sample to its last, by the kernel's count: the compressed samples,
and what the allocator loses between them. What a series takes with one sample (its labels and its places in the index) is told apart.
"""

import re
import time

from . import servers

SERIES, STEPS = 100_000, 600
PRUNED = 6  # seconds: what is pruned each five seconds, is


def _counted(server) -> float:
    """What flyball itself counts as held; 0 for the other."""
    found = re.search(r"^flyball_live_bytes (\S+)", server.client.get("/metrics").text(), re.M)
    return float(found.group(1)) if found else 0.0


def filled(server) -> dict:
    idle, start = server.process.rss_mib(), (int(time.time()) - STEPS) * 1000
    servers.send(server, SERIES, start, 1000, 1)
    time.sleep(PRUNED)
    first = {"first_mib": server.process.rss_mib(), "first_counted_bytes": _counted(server)}
    sent = servers.send(server, SERIES, start + 1000, 1000, STEPS - 1)
    time.sleep(PRUNED)
    return {"idle_mib": idle, **first, "rss_mib": server.process.rss_mib(), "counted_bytes": _counted(server),
            "samples": sent["samples"], "seconds": sent["seconds"]}


def measure() -> dict:
    found = {}
    for make in (lambda: servers.flyball((), f"--live-keep={servers.ANYTHING}", "--live-retention=20m"), servers.prometheus):
        server = make()
        found[server.name] = filled(server)
        server.stop()
    return found
