"""Attacks on a server, each a process of its own (hostile_client.py), and what the server must keep up meanwhile."""

import contextlib
import json
import pathlib
import select
import subprocess
import sys

from . import processes

CLIENT = pathlib.Path(__file__).with_name("hostile_client.py")
MOST_MIB = 128
MOST_SLOW_PROBES = 2  # in a row: at three a kubelet acts


class Attacker:
    """`told` is what it said when its attack stood. What it holds, it holds until `end`."""

    def __init__(self, port: int, attack: str, timeout: float = 600.0, nice: int = 0, **options):
        """`nice`: so that many attackers on this machine do not take the processors from server and probes."""
        self._child = subprocess.Popen(["nice", "-n", str(nice), sys.executable, CLIENT, str(port), attack, json.dumps(options)],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.told = self._line(timeout)

    def _line(self, timeout: float) -> dict:
        if not select.select([self._child.stdout], [], [], timeout)[0]:
            self._child.kill()
            raise AssertionError(f"{self._child.args}: nothing said in {timeout:g} s")
        return json.loads(self._child.stdout.readline())

    def end(self) -> dict:
        """Lets go of everything; what it has to say at the end, if anything."""
        said, _ = self._child.communicate(timeout=60)
        return json.loads(said) if said.strip() else {}


@contextlib.contextmanager
def watched(case, process: processes.Process, port: int, what: str):
    """While the body attacks, kubelets are answered; the process takes no more memory than it may, and goes on."""
    process.reset_peak_rss()
    before = process.peak_rss_mib()
    probe = Attacker(port, "probe")
    try:
        yield
    finally:
        seen = probe.end()
    peak = process.peak_rss_mib()
    print(f"hostile: {what}: {seen['probes']} probes, p99 {seen['p99'] * 1000:.0f} ms, longest {seen['longest'] * 1000:.0f} ms, "
          f"RSS {before:.0f} MiB before, at its peak {peak:.0f} MiB", flush=True)
    case.assertTrue(process.must_live())
    case.assertEqual(seen["bad"], [])
    case.assertLessEqual(seen["slow in a row"], MOST_SLOW_PROBES)
    case.assertLess(peak, MOST_MIB)
