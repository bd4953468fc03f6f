"""Callers that read all the time."""

import threading


class Load:
    """Callers that go on until `stop`, each request on a connection of its own; `bad` holds what was not 200."""

    def __init__(self, client, path: str, callers: int = 4):
        self.bad, self.good = [], 0
        self._client, self._path = client, path
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(callers)]
        for thread in self._threads:
            thread.start()

    def _run(self):
        while not self._stop.is_set():
            try:
                answer = self._client.get(self._path)
                if answer.status != 200:
                    self.bad.append(str(answer))
                self.good += 1
            except OSError as error:
                self.bad.append(repr(error))

    def stop(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()
