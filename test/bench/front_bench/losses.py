"""Requests that come just when a service goes to zero, and while flyball is killed: how many are not answered."""

import random
import threading
import time

from harness import wait, whole
from front_bench import world

SERVICES, SECONDS, WINDOW = 12, 45, 6
HELD, STARTS_IN = 1000, 3


def zero_cycles(flyball) -> dict:
    """Each service is asked about when its last pod goes, again and again."""
    with world.Processes() as here:
        webs = [whole.Web(f"web-{n}", command=world.pod_command(delay="20ms")) for n in range(SERVICES)]
        carried = world.Carried(here, flyball, webs)
        asked, failed, end = [], [], time.monotonic() + SECONDS

        def client(web, chance):
            while time.monotonic() < end:
                try:
                    world.ask(web.port)
                    asked.append(web.name)
                except OSError as error:
                    failed.append(f"{web.name}: {error}")
                time.sleep(WINDOW + chance.uniform(0, 2.5))
        threads = [threading.Thread(target=client, args=(web, random.Random(n))) for n, web in enumerate(webs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return {"asked": len(asked) + len(failed), "lost": len(failed), "why": failed[:3],
                "wakes": carried.flyball.metric("flyball_front_wakes_total")}


def killed(flyball) -> dict:
    with world.Processes() as here:
        web = whole.Web("killed", command=world.pod_command(after=f"{STARTS_IN}s"))
        carried = world.Carried(here, flyball, [web])
        asked = here.add(world.Clients("ask", f"http://127.0.0.1:{web.port}/", HELD))
        carried.flyball.await_held(web, HELD)
        carried.flyball.kill()
        began = time.monotonic()
        carried.flyball.start()
        wait.until(lambda: carried.flyball.held(web) == HELD or asked.process.poll() is not None, "that all are held again", 60)
        again = time.monotonic() - began
        return {"held": HELD, "held_again": again, "lost": world.lost(asked.report())}


def measure(flyball) -> dict:
    return {"cycles": zero_cycles(flyball), "killed": killed(flyball)}
