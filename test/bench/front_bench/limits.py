"""A hard limit that two Envoys share, beside Knative's activator; a thousand idle services."""

import time

from harness import case, whole
from front_bench import world

PODS, CLIENTS, SECONDS, WORK = 10, 100, 12, 0.1
SERVICES, SETTLES, REST = 1000, 30, 15  # seconds; all are decided once in 15 s


def of_report(report: dict, pods: list) -> dict:
    """`used`: how much of the pods' time was somebody's, if each request took its 100 ms and no longer."""
    seconds = report["last"] - report["began"]
    return {"lost": world.lost(report), "used": report["count"] * WORK / (PODS * seconds), "p50": report["p50"], "p95": report["p95"],
            "most": max(world.most_of(port) for port in pods)}


def shared_limit(flyball) -> dict:
    with world.Processes() as here:
        web = whole.Web("one", most=PODS, least=PODS, containerConcurrency="1", command=world.pod_command(delay="100ms"))
        carried = world.Carried(here, flyball, [web], envoys=2)
        pods = [web.objects[0]["spec"]["port"] + n for n in range(PODS)]
        for port in pods:
            world.listens(port)
        before = [world.cpu_seconds(each.process) for each in carried.envoys]
        ours = of_report(here.add(world.Clients("loop", f"http://127.0.0.1:{web.port}/", CLIENTS, SECONDS)).report(), pods)
        ours["envoys"] = [world.cpu_seconds(each.process) - was for each, was in zip(carried.envoys, before)]
    with world.Processes() as here:
        activator = world.Activator(here).start()
        activator.revision("one", concurrency=1)
        pods = [case.free_port() for _ in range(PODS)]
        for port in pods:
            here.add(world.pod(port, delay="100ms"))
            world.listens(port)
        activator.endpoints("one", pods)
        url, headers = f"http://127.0.0.1:{activator.PORT}/", activator.headers("one")
        here.add(world.Clients("ask", url, 20, headers=headers)).report()  # it knows its pods now
        theirs = of_report(here.add(world.Clients("loop", url, CLIENTS, SECONDS, headers=headers)).report(), pods)
    return {"flyball": ours, "activator": theirs}


def at_rest(flyball, count: int) -> dict:
    """Megabytes, and the share of a core that is used, of flyball and Envoy with so many services without requests."""
    with world.Processes() as here:
        of_processes = case.free_port()
        # No process ever runs, so that all may name the same port for it.
        webs = [whole.Web(f"web-{n}", first=of_processes) for n in range(count)]
        carried = world.Carried(here, flyball, webs)
        time.sleep(SETTLES)  # a status is written of each, and once more when the Envoys have it
        processes = {"flyball": carried.flyball.process, "envoy": carried.envoys[0].process}
        before = {name: world.cpu_seconds(each) for name, each in processes.items()}
        time.sleep(REST)
        return {name: {"megabytes": world.megabytes(each), "core": (world.cpu_seconds(each) - before[name]) / REST}
                for name, each in processes.items()}


def services(flyball) -> dict:
    return {"one": at_rest(flyball, 1), "all": at_rest(flyball, SERVICES)}
