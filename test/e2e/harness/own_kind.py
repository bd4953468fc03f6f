"""Our own kind: its definition in a cluster, and objects of it."""

from . import kube, paths, scaling, wait
from .control_plane import ControlPlane
from .kubectl import Kubectl

DEFINITION = paths.PROJECT / "charts" / "flyball" / "files" / "crds" / "autoscalers.flyball.dev.yaml"
KIND = "Autoscaler"


def install(cluster: ControlPlane):
    """Applies it as a user would, and returns when objects of the kind can be written. Idempotent."""
    Kubectl(cluster)("apply", "-f", str(DEFINITION))
    kube.register_kind(KIND, "flyball.dev/v1alpha1", "autoscalers", True)
    wait.until(lambda: cluster.admin.get(kube.path(KIND, "default")).status == 200, "the kind is served")


def autoscaler(namespace: str, name: str, bounds=(0, 5), **spec) -> dict:
    """Of the Deployment of that name; scales down without a window unless `behavior` says otherwise."""
    return kube.make(KIND, name, namespace, spec={
        "scaleTargetRef": scaling.target_ref("Deployment", name), "minReplicas": bounds[0], "maxReplicas": bounds[1],
        "behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}}, **spec})
