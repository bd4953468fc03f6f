"""kubectl of the pinned Kubernetes release."""

from . import paths, processes
from .control_plane import ControlPlane


class Kubectl:
    """Runs kubectl as the cluster's admin with a cache folder of its own."""

    def __init__(self, cluster: ControlPlane):
        self._kubeconfig = cluster.admin_kubeconfig
        self._cache = processes.fresh_folder("kubectl-cache")

    def __call__(self, *args: str, fails: bool = False) -> str:
        """stdout of `kubectl ARGS`; with `fails` stderr of a command that must fail."""
        done = processes.run([paths.peer("kubectl"), f"--kubeconfig={self._kubeconfig}",
                              f"--cache-dir={self._cache}", *args])
        if (done.returncode != 0) != fails:
            raise AssertionError(f"kubectl {' '.join(args)}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stderr if fails else done.stdout

    def forget(self):
        """Drops cached discovery."""
        processes.run(["rm", "-rf", self._cache])
