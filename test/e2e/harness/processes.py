"""Child processes: started with a log file, ended by their own id, never left behind."""

import atexit
import os
import pathlib
import subprocess
import tempfile
import time

from machine.children import die_with_parent

_root = None


def workdir() -> pathlib.Path:
    """The folder of this run: logs, certificates and data of every process. Removed at exit unless E2E_KEEP is set."""
    global _root
    if _root is None:
        _root = pathlib.Path(tempfile.mkdtemp(prefix="flyball-e2e-"))
        if not os.environ.get("E2E_KEEP"):
            atexit.register(subprocess.run, ["rm", "-rf", str(_root)], check=False)
    return _root


def fresh_folder(name: str) -> pathlib.Path:
    """A new folder of this run, named after what it is for."""
    return pathlib.Path(tempfile.mkdtemp(prefix=name + "-", dir=workdir()))


class Process:
    """One child. Start it from the main thread: the kernel ends it together with the thread that started it."""

    def __init__(self, name: str, argv, env=None, cwd=None):
        self.name = name
        self.argv = [str(a) for a in argv]
        self.log = fresh_folder(name) / "log"
        with open(self.log, "wb") as out:
            self._child = subprocess.Popen(
                self.argv, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                env={**os.environ, **(env or {})}, cwd=cwd, preexec_fn=die_with_parent)
        self.pid = self._child.pid
        atexit.register(self.kill)

    def alive(self) -> bool:
        return self._child.poll() is None

    def send(self, number: int):
        self._child.send_signal(number)

    def wait(self, timeout: float) -> int:
        """Exit status; raises subprocess.TimeoutExpired."""
        return self._child.wait(timeout)

    def stop(self, timeout: float = 15.0) -> int:
        """SIGTERM, then SIGKILL when that was not enough. Returns the exit status."""
        if self.alive():
            self._child.terminate()
            try:
                return self._child.wait(timeout)
            except subprocess.TimeoutExpired:
                pass
        return self.kill()

    def kill(self) -> int:
        if self.alive():
            self._child.kill()
        return self._child.wait()

    def text(self) -> str:
        """Everything it wrote so far."""
        return self.log.read_text(errors="replace")

    def tail(self, lines: int = 30) -> str:
        return f"--- {self.name} (pid {self.pid}), end of log:\n" + "\n".join(self.text().splitlines()[-lines:])

    def must_live(self) -> bool:
        """True while it runs; fails with the end of its log when it has ended."""
        if not self.alive():
            raise SystemError(f"{self.name} ended with status {self._child.returncode}\n{self.tail()}")
        return True

    def cpu_seconds(self) -> float:
        """User and system time used so far, children not counted."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _status_kib(self, key: str) -> int:
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(key + ":"):
                return int(line.split()[1])
        raise KeyError(key)

    def rss_mib(self) -> float:
        return self._status_kib("VmRSS") / 1024

    def peak_rss_mib(self) -> float:
        return self._status_kib("VmHWM") / 1024

    def reset_peak_rss(self):
        """Peak counts from now on (Linux clear_refs)."""
        pathlib.Path(f"/proc/{self.pid}/clear_refs").write_text("5")


def run(argv, timeout: float = 60.0, env=None, stdin: bytes = None) -> subprocess.CompletedProcess:
    """Runs a program to its end and returns status, stdout and stderr as text."""
    done = subprocess.run([str(a) for a in argv], capture_output=True, timeout=timeout, input=stdin,
                          env={**os.environ, **(env or {})}, check=False)
    return subprocess.CompletedProcess(argv, done.returncode, done.stdout.decode(errors="replace"),
                                       done.stderr.decode(errors="replace"))


def timed(function):
    """(result, seconds) of a call."""
    started = time.monotonic()
    result = function()
    return result, time.monotonic() - started
