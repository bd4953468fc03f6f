"""kubectl of the pinned Kubernetes releases."""

from . import paths, processes
from .control_plane import ControlPlane


class Kubectl:
    """Runs kubectl as the cluster's admin with a cache folder of its own."""

    def __init__(self, cluster: ControlPlane, version: str = ""):
        """`version`: as paths.peer has it."""
        self._program = paths.peer("kubectl", version)
        self._kubeconfig = cluster.admin_kubeconfig
        self._cache = processes.fresh_folder("kubectl-cache")

    def __call__(self, *args: str, fails: bool = False) -> str:
        """stdout of `kubectl ARGS`; with `fails` stderr of a command that must fail."""
        done = self._run(*args)
        if (done.returncode != 0) != fails:
            raise AssertionError(f"kubectl {' '.join(args)}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stderr if fails else done.stdout

    def told(self, *args: str) -> str:
        """stderr of a command that succeeds."""
        done = self._run(*args)
        if done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(args)}: status {done.returncode}\n{done.stderr}")
        return done.stderr

    def _run(self, *args: str):
        return processes.run([self._program, f"--kubeconfig={self._kubeconfig}", f"--cache-dir={self._cache}", *args])

    def forget(self):
        """Drops cached discovery."""
        processes.run(["rm", "-rf", self._cache])
