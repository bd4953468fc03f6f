"""The definition of our own kind in a cluster."""

from . import kube, paths, wait
from .control_plane import ControlPlane
from .kubectl import Kubectl

DEFINITION = paths.PROJECT / "charts" / "flyball" / "files" / "crds" / "autoscalers.flyball.dev.yaml"


def install(cluster: ControlPlane):
    """Applies it as a user would, and returns when objects of the kind can be written. Idempotent."""
    Kubectl(cluster)("apply", "-f", str(DEFINITION))
    kube.register_kind("Autoscaler", "flyball.dev/v1alpha1", "autoscalers", True)
    wait.until(lambda: cluster.admin.get(kube.path("Autoscaler", "default")).status == 200, "the kind is served")
