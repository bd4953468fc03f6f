"""Plays the kubelet: every pod of its namespaces is running and ready shortly after it appears."""

import queue
import threading

from . import kube
from .client import Client
from .watching import Watch


class Kubelet:
    """Follows the pods until `stop`. `pods` is the latest list of names by their `app` label, over all namespaces;
    `names(namespace, app)` tells them apart. All pods get `address`, as on a network of the host."""

    def __init__(self, admin: Client, *namespaces: str, address: str = ""):
        self._admin, self._namespaces, self._address = admin, set(namespaces), address
        self._new = queue.SimpleQueue()
        path = kube.path("Pod", namespaces[0]) if len(namespaces) == 1 else "/api/v1/pods"
        self._watch = Watch(admin, path, self._seen)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _seen(self, change: str, pod: dict):
        meta = pod["metadata"]
        if change != "DELETED" and meta["namespace"] in self._namespaces and "deletionTimestamp" not in meta \
                and pod["status"].get("phase") not in ("Running", "Succeeded", "Failed"):
            self._new.put((meta["namespace"], meta["name"]))

    def _run(self):
        while (key := self._new.get()) is not None:
            try:
                kube.run_pod(self._admin, *key, self._address)
            except AssertionError:
                continue  # it vanished
            except OSError:
                self._new.put(key)  # an API server that is restarting
                threading.Event().wait(0.1)

    @property
    def pods(self) -> dict:
        found = {}
        for (_, app), names in self._by_app().items():
            found.setdefault(app, []).extend(names)
        return found

    def names(self, namespace: str, app: str) -> list:
        return self._by_app().get((namespace, app), [])

    def _by_app(self) -> dict:
        found = {}
        for (namespace, name), pod in list(self._watch.objects.items()):
            meta = pod["metadata"]
            if namespace in self._namespaces and "deletionTimestamp" not in meta:
                found.setdefault((namespace, meta.get("labels", {}).get("app", "")), []).append(name)
        return found

    def stop(self):
        self._watch.stop()
        self._new.put(None)
        self._thread.join(5)
