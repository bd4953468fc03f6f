"""The server of Envoys under remote control (driver.cc), and the least of a front that tests need."""

import collections
import os
import pathlib
import signal
import subprocess
import threading
import time

from machine.children import die_with_parent

PROJECT = pathlib.Path(__file__).resolve().parents[3]
DRIVER = pathlib.Path(os.environ.get("FRONT_DRIVER", PROJECT / "build" / "release" / "bin" / "front_driver"))


class Never(AssertionError):
    """What was waited for did not happen in time."""


class Driver:
    """One process of the driver. What it says is kept, and waited for, under one condition."""

    def __init__(self, port: int, log: pathlib.Path, *tls):
        self.changed = threading.Condition()
        self.lines = []
        self.acks = {}                       # (node, kind, name) -> newest version
        self.nodes = {}                      # node -> "new" or "returning"
        self.held = collections.OrderedDict()  # id -> (node, name): neither answered nor ended
        self.ended = set()
        self.on_request = None               # called for each in the reader's thread
        self.on_end = None
        self._log = open(log, "a")  # pylint: disable=consider-using-with,unspecified-encoding
        self.process = subprocess.Popen([str(DRIVER), f"127.0.0.1:{port}", *map(str, tls)], stdin=subprocess.PIPE,  # pylint: disable=consider-using-with
                                        stdout=subprocess.PIPE, stderr=self._log, text=True, preexec_fn=die_with_parent)
        first = self.process.stdout.readline().split()
        if not first:
            raise AssertionError(f"the driver did not start: {log.read_text()}")
        self.port = int(first[1])
        self._writing = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def say(self, *words):
        with self._writing:
            self.process.stdin.write(" ".join(map(str, words)) + "\n")
            self.process.stdin.flush()

    def _read(self):
        for line in self.process.stdout:
            words = line.split()
            with self.changed:
                self._note(words)
                self.lines.append(words)
                self.changed.notify_all()
            # Their answers are written here, in the order in which requests came.
            on_request, on_end = self.on_request, self.on_end  # a test may take them away
            if words[0] == "request" and on_request:
                on_request(int(words[1]), words[3])
            elif words[0] == "end" and on_end:
                on_end(int(words[1]))

    def _note(self, words):
        if words[0] == "ack":
            self.acks[words[1], words[2], words[3]] = int(words[4])
        elif words[0] == "envoy":
            self.nodes[words[1]] = words[2]
        elif words[0] == "gone":
            self.nodes.pop(words[1], None)
        elif words[0] == "request":
            self.held[int(words[1])] = (words[2], words[3])
        elif words[0] == "end":
            self.held.pop(int(words[1]), None)
            self.ended.add(int(words[1]))

    def until(self, check, what: str, timeout=30.0):
        """Waits until check() says something true, and returns that."""
        deadline = time.monotonic() + timeout
        with self.changed:
            while not (seen := check()):
                left = deadline - time.monotonic()
                if left <= 0 or self.process.poll() is not None:
                    raise Never(f"{what}: not within {timeout:g} s; said last: {self.lines[-5:]}")
                self.changed.wait(min(left, 1))
            return seen

    def said(self, *words) -> list:
        """All lines that begin so."""
        return [line for line in self.lines if line[:len(words)] == list(map(str, words))]

    def held_of(self, name: str) -> list:
        with self.changed:  # reentrant
            return [id for id, (_, of) in self.held.items() if of == name]

    def await_held(self, name: str, count: int, timeout=30.0) -> list:
        self.until(lambda: len(self.held_of(name)) >= count, f"{count} held of {name}", timeout)
        return self.held_of(name)

    def await_ack(self, kind: str, name: str, version: int, node="front-1", timeout=30.0):
        self.until(lambda: self.acks.get((node, kind, name), 0) >= version, f"ack of {kind} {name} {version} by {node}", timeout)

    def answer(self, word: str, id: int, *more):  # pylint: disable=redefined-builtin
        with self.changed:
            self.held.pop(id, None)
        self.say(word, id, *more)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
        self._log.close()
