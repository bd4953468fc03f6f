"""Requests that come at zero: one, and four thousand at once, beside Knative's activator; a thousand who stay."""

import pathlib
import statistics
import threading
import time

from harness import case, wait, whole
from front_bench import world

COLD, STARTS_IN = 40, "300ms"
MANY, PODS, MANY_START_IN = 4000, 4, 6
BURST, BURST_STARTS_IN, BURST_SECONDS = 1000, 3, 14
BURST_PODS = 15  # 1000 requests at once, 70 for each


def beyond(log: pathlib.Path, report: dict) -> float:
    """Seconds from the moment that the pod answers to the first byte of the answer."""
    if world.lost(report):
        raise AssertionError(report)
    return report["first"] - world.began_to_listen(log)


def spread(taken: list) -> dict:
    ordered = sorted(taken)
    return {"count": len(ordered), "p50": statistics.median(ordered), "p99": ordered[min(int(0.99 * len(ordered)), len(ordered) - 1)],
            "longest": ordered[-1]}


def cold_starts(flyball) -> dict:
    logs = world.folder()
    with world.Processes() as here:
        webs = [whole.Web(f"cold-{n}", command=world.pod_command(after=STARTS_IN, log=logs / f"cold-{n}")) for n in range(COLD)]
        world.Carried(here, flyball, webs)
        ours = [beyond(logs / web.name, world.Clients("ask", f"http://127.0.0.1:{web.port}/", 1).report()) for web in webs]
    with world.Processes() as here:
        activator = world.Activator(here).start()
        theirs = []
        for n in range(COLD):
            name, port = f"web-{n}", case.free_port()
            activator.revision(name)
            held = world.Clients("ask", f"http://127.0.0.1:{activator.PORT}/", 1, headers=activator.headers(name))
            time.sleep(0.1)
            activator.endpoints(name, [port])
            here.add(world.pod(port, after=STARTS_IN, log=logs / name))
            theirs.append(beyond(logs / name, held.report()))
    return {"flyball": spread(ours), "activator": spread(theirs)}


def many_held(flyball) -> dict:
    """From the first pod that answers to the last of the answers, and the peak memory of who holds."""
    logs = world.folder()
    with world.Processes() as here:
        web = whole.Web("many", most=PODS, queue="5000", command=world.pod_command(after=f"{MANY_START_IN}s", log=logs / "ours"))
        carried = world.Carried(here, flyball, [web])
        asked = here.add(world.Clients("ask", f"http://127.0.0.1:{web.port}/", MANY))
        wait.until(lambda: carried.flyball.held(web) == MANY or (logs / "ours").exists(), "that all are held", 60)
        held = carried.flyball.held(web)
        report = asked.report()
        ours = {"held": held, "lost": world.lost(report), "seconds": report["last"] - world.began_to_listen(logs / "ours"),
                "megabytes": [world.megabytes(each, peak=True) for each in (carried.envoys[0].process, carried.flyball.process)]}
    with world.Processes() as here:
        activator = world.Activator(here).start()
        activator.revision("many")
        asked = here.add(world.Clients("ask", f"http://127.0.0.1:{activator.PORT}/", MANY, headers=activator.headers("many")))
        ports = [case.free_port() for _ in range(PODS)]
        activator.endpoints("many", ports)
        for port in ports:
            here.add(world.pod(port, after=f"{MANY_START_IN}s", log=logs / "theirs"))
        report = asked.report()
        theirs = {"lost": world.lost(report), "seconds": report["last"] - world.began_to_listen(logs / "theirs"),
                  "megabytes": [world.megabytes(activator.program.process, peak=True)], "began": report["last_began"]}
    return {"flyball": ours, "activator": theirs}


def burst(flyball) -> dict:
    """A thousand who come at zero and stay: when as many pods as they need are ready, counted from the first."""
    with world.Processes() as here:
        web = whole.Web("burst", most=20, window="60s", command=world.pod_command(after=f"{BURST_STARTS_IN}s", delay="1s"))
        carried = world.Carried(here, flyball, [web])
        seen, end = [], threading.Event()

        def watch():
            while not end.wait(0.05):
                wanted, ready = carried.flyball.processes(web)
                seen.append((time.time(), wanted, len(ready)))
        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        report = here.add(world.Clients("loop", f"http://127.0.0.1:{web.port}/", BURST, BURST_SECONDS)).report()
        end.set()
        watcher.join()
    began = report["began"]
    steps = [(round(at - began, 2), wanted, ready) for at, wanted, ready in seen]
    changes = [step for before, step in zip([(0, -1, -1)] + steps, steps) if step[1:] != before[1:]]
    ready_at = next((at for at, _, ready in steps if ready >= BURST_PODS), None)
    return {"seconds": ready_at, "lost": world.lost(report), "answered": report["count"], "steps": changes}
