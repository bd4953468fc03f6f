"""Looks on while things break, and says afterwards what must never have happened.

Everything is taken from kube-apiserver's audit log and from etcd's one count of revisions, not from flyball.
"""

import threading
from dataclasses import dataclass

from .audit import Log

GROWTH_MIB = 24.0  # of a replica's memory between the first and the last third of a watch


@dataclass(frozen=True)
class Unknown:
    """From `begin` to `end` (wall time) no reading of these autoscalers could be known."""
    begin: float
    end: float
    names: frozenset


class Watchman:
    """`bounds`: (min, max) of a target by (namespace, name). Scale writes of others than `writers` are not looked at."""

    def __init__(self, log: Log, bounds: dict, writers: tuple, memory: bool = True):
        self._log, self._bounds, self._writers = log, bounds, frozenset(writers)
        self._mark = log.mark()
        self.unknown = []
        self._look_at_memory, self._processes, self._memory = memory, {}, {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def follow(self, name: str, process):
        """Memory of that process from now on; a restarted one begins anew."""
        self._processes[name] = process

    def _sample(self):
        while not self._stop.wait(0.5):
            for name, process in list(self._processes.items()):
                try:
                    if process.alive():
                        self._memory.setdefault((name, process.pid), []).append(process.rss_mib())
                except (OSError, KeyError):
                    continue

    def stop(self):
        self._stop.set()
        self._thread.join(5)

    def scale_writes(self) -> list:
        """Those that were done and changed something, in the order in which etcd took them."""
        found = {}
        for write in self._log.since(self._mark, "/scale"):
            if write.user in self._writers and write.good and write.verb in ("update", "patch"):
                found.setdefault(write.revision, write)  # a write that changes nothing keeps the old revision
        return [found[revision] for revision in sorted(found)]

    def violations(self) -> list:
        writes = self.scale_writes()
        return self._out_of_bounds(writes) + self._shrunk_unknown(writes) + self._second_writers(writes) + self._grown()

    def _out_of_bounds(self, writes: list) -> list:
        found = []
        for w in writes:
            low, high = self._bounds[w.namespace, w.name]
            if not low <= w.stored["spec"].get("replicas", 0) <= high:
                found.append(f"{w.namespace}/{w.name}: {w.stored['spec']['replicas']} replicas outside of {low}..{high}")
        return found

    def _shrunk_unknown(self, writes: list) -> list:
        found, last = [], {}
        for w in writes:
            now, before = w.stored["spec"].get("replicas", 0), last.get((w.namespace, w.name))
            last[w.namespace, w.name] = now
            if before is not None and now < before:
                found += [f"{w.name}: {before} -> {now} by {w.user}, {w.done - u.begin:.1f} s after its readings became unknown"
                          for u in self.unknown if w.name in u.names and u.begin < w.received < u.end]
        return found

    def leases(self) -> dict:
        """name -> [(revision, holder's user)] in order. A lease given back has the user ""."""
        found = {}
        for w in self._log.since(0, "leases"):
            if w.good and w.user in self._writers:
                held = bool(w.stored.get("spec", {}).get("holderIdentity"))
                found.setdefault(w.name, {})[w.revision] = w.user if held else ""
        return {name: sorted(history.items()) for name, history in found.items()}

    def _second_writers(self, writes: list) -> list:
        """Each namespace must have one lease whose holder, at the revision of the write, was always the writer."""
        found, leases = [], self.leases()
        for namespace in sorted({w.namespace for w in writes}):
            wrong = {name: [w for w in writes if w.namespace == namespace and _holder(history, w.revision) != w.user]
                     for name, history in leases.items()}
            if not wrong:
                found.append(f"{namespace}: written without any lease")
            elif all(wrong.values()):
                name, fewest = min(wrong.items(), key=lambda item: len(item[1]))
                found += [f"{w.namespace}/{w.name}: {w.user} wrote at revision {w.revision} while "
                          f"{_holder(leases[name], w.revision) or 'nobody'} held {name}" for w in fewest]
        return found

    def _grown(self) -> list:
        found = []
        for (name, pid), samples in self._memory.items() if self._look_at_memory else ():
            third = len(samples) // 3
            if third >= 20 and (more := max(samples[-third:]) - max(samples[:third])) > GROWTH_MIB:
                found.append(f"{name} (pid {pid}) grew by {more:.0f} MiB in {len(samples) / 2:.0f} s")
        return found

    def takeovers(self) -> list:
        """(namespace, old writer, new writer, seconds from the last write of the old to the first of the new)."""
        found, last = [], {}
        for w in self.scale_writes():
            before = last.get(w.namespace)
            if before and before.user != w.user:
                found.append((w.namespace, before.user, w.user, w.done - before.done))
            last[w.namespace] = w
        return found


def _holder(history: list, revision: int) -> str:
    """Who held the lease when etcd counted that revision."""
    user = ""
    for at, who in history:
        if at > revision:
            break
        user = who
    return user
