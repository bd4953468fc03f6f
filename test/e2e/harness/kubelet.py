"""Plays the kubelet: every pod of a namespace is running and ready shortly after it appears."""

import threading

from . import kube
from .client import Client


class Kubelet:
    """One thread until `stop`. `pods` is the latest list of names by their `app` label."""

    def __init__(self, admin: Client, namespace: str):
        self._admin, self._namespace = admin, namespace
        self._stop = threading.Event()
        self.pods = {}
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stop.wait(0.2):
            try:
                self._round()
            except (AssertionError, OSError):
                continue  # a pod that vanished between list and patch, or an API server that is restarting

    def _round(self):
        pods = {}
        for pod in kube.listed(self._admin, "Pod", self._namespace):
            meta = pod["metadata"]
            if "deletionTimestamp" in meta:
                continue
            if pod["status"].get("phase") != "Running":
                kube.run_pod(self._admin, self._namespace, meta["name"])
            pods.setdefault(meta.get("labels", {}).get("app", ""), []).append(meta["name"])
        self.pods = pods

    def stop(self):
        self._stop.set()
        self._thread.join()
