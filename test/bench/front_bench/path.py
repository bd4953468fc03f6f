"""What a hop costs: Envoy with the gate off, and Knative's queue-proxy, before the same kind of pod."""

import statistics

from harness import case, whole
from front_bench import world

ROUNDS, ALONE, CROWDED = 3, 2, 3  # seconds at 1 connection and at 16
CONNECTIONS = 16


def measure(flyball) -> dict:
    with world.Processes() as here:
        web = whole.Web("path", command=world.pod_command(), least=1)
        carried = world.Carried(here, flyball, [web])
        carried.await_gate_off(web)
        direct, behind = case.free_port(), case.free_port()
        for port in (direct, behind):
            here.add(world.pod(port))
            world.listens(port)
        queue = here.add(world.QueueProxy(behind))
        paths = {"direct": (direct, ()), "envoy": (web.port, (carried.envoys[0].process, carried.flyball.process)),
                 "queue-proxy": (queue.port, (queue.process,))}
        return of_rounds([{name: once(*of) for name, of in paths.items()} for _ in range(ROUNDS)])


def once(port, processes) -> dict:
    alone = world.wrk(port, 1, ALONE)
    before = [world.cpu_seconds(each) for each in processes]
    crowded = world.wrk(port, CONNECTIONS, CROWDED)
    spent = [world.cpu_seconds(each) - was for each, was in zip(processes, before)]
    return {"p50": alone["p50"], "rate": crowded["rate"], "cpu": sum(spent) / (crowded["rate"] * CROWDED)}


def of_rounds(rounds) -> dict:
    """The median of each, and of what a hop adds to the direct way in the same round."""
    found = {name: {key: statistics.median(each[name][key] for each in rounds) for key in ("p50", "rate", "cpu")} for name in rounds[0]}
    for name in ("envoy", "queue-proxy"):
        found[name]["added"] = statistics.median(each[name]["p50"] - each["direct"]["p50"] for each in rounds)
    return found
