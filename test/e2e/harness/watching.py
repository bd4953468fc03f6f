"""One resource of the cluster, followed by list and watch in a thread."""

import json
import threading

from .client import Client


class Watch:
    """`objects` is what there is, by (namespace, name); `on_change(type, object)` is called from the thread, with ADDED for
    what a list brings, MODIFIED and DELETED. It goes on by itself after any break. Changes between a break and the
    next list are seen as one."""

    def __init__(self, client: Client, path: str, on_change=lambda kind, item: None, selector: str = ""):
        self._client, self._path, self._on_change = client, path, on_change
        self._selector = f"&labelSelector={selector}" if selector else ""
        self._stop = threading.Event()
        self._connection = None
        self.objects, self.listed = {}, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def _run(self):
        while not self._stop.is_set():
            try:
                self._stream(self._list())
            except Exception:  # pylint: disable=broad-except
                self._stop.wait(0.1)  # the API server is restarting, or the test ends

    def _list(self) -> str:
        answer = self._client.get(f"{self._path}?limit=0{self._selector}")
        if answer.status != 200:
            raise OSError(str(answer))
        document = answer.json()
        found = {self._key(item): item for item in document["items"]}
        for key in [k for k in self.objects if k not in found]:
            self._on_change("DELETED", self.objects.pop(key))
        for key, item in found.items():
            before = self.objects.get(key)
            self.objects[key] = item
            if before is None or before["metadata"]["resourceVersion"] != item["metadata"]["resourceVersion"]:
                self._on_change("ADDED" if before is None else "MODIFIED", item)
        self.listed.set()
        return document["metadata"]["resourceVersion"]

    def _stream(self, version: str):
        self._connection = self._client.connect()
        try:
            self._connection.request("GET", f"{self._path}?watch=1&resourceVersion={version}&timeoutSeconds=600"
                                            f"&allowWatchBookmarks=true{self._selector}")
            answer = self._connection.getresponse()
            if answer.status != 200:
                raise OSError(answer.status)
            while not self._stop.is_set() and (line := answer.readline()):
                change = json.loads(line)
                if change["type"] == "ERROR":
                    return
                if change["type"] != "BOOKMARK":
                    self._take(change["type"], change["object"])
        finally:
            self._connection.close()

    def _take(self, kind: str, item: dict):
        if kind == "DELETED":
            self.objects.pop(self._key(item), None)
        else:
            self.objects[self._key(item)] = item
        self._on_change(kind, item)

    @staticmethod
    def _key(item: dict) -> tuple:
        return item["metadata"].get("namespace", ""), item["metadata"]["name"]

    def stop(self):
        self._stop.set()
        if (connection := self._connection) and connection.sock:
            try:
                connection.sock.shutdown(2)
            except OSError:
                pass
        self._thread.join(5)
