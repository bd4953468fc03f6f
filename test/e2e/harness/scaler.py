"""Flyball with its scaler, and the stock HPA controller, behind one face."""

import pathlib

from . import adapter, control_plane, kube, scaling
from .adapter import Adapter
from .control_plane import ControlPlane
from .client import Identity

NAMESPACE = "flyball-system"  # of leases and kept state


def _grant(cluster: ControlPlane, user: str):
    """The rights that the chart gives for --scaler-mode=act --scaler-hpa with front.enabled and widgets as a further kind, no more."""
    admin, me = cluster.admin, [kube.user(user)]
    kube.grant(admin, user, me, [
        {"apiGroups": [""], "resources": ["nodes", "namespaces", "pods", "services"], "verbs": ["get", "list", "watch"]}])
    kube.grant(admin, user + "-scaler", me, [
        {"apiGroups": ["autoscaling"], "resources": ["horizontalpodautoscalers"], "verbs": ["list", "watch"]},
        {"apiGroups": ["autoscaling"], "resources": ["horizontalpodautoscalers/status"], "verbs": ["patch"]},
        {"apiGroups": ["flyball.dev"], "resources": ["autoscalers"], "verbs": ["list", "watch"]},
        {"apiGroups": ["flyball.dev"], "resources": ["autoscalers/status"], "verbs": ["patch"]},
        {"apiGroups": [""], "resources": ["pods", "replicationcontrollers"], "verbs": ["list", "watch"]},
        {"apiGroups": ["apps"], "resources": ["deployments", "replicasets", "statefulsets"], "verbs": ["list", "watch"]},
        {"apiGroups": ["apps"], "resources": ["deployments/scale", "replicasets/scale", "statefulsets/scale"],
         "verbs": ["get", "update"]},
        {"apiGroups": [""], "resources": ["replicationcontrollers/scale"], "verbs": ["get", "update"]},
        {"apiGroups": ["example.com"], "resources": ["widgets/scale"], "verbs": ["get", "update"]},
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]},
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]},
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["get", "list", "create", "update"]}])
    kube.apply(admin, kube.make("Role", user, NAMESPACE, rules=[
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "update"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "create", "update", "patch"]}]))
    kube.apply(admin, kube.make("RoleBinding", user, NAMESPACE, subjects=me, roleRef={
        "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": user}))
    kube.bind(admin, user + "-delegator", "system:auth-delegator", me)
    kube.apply(admin, kube.make("RoleBinding", user + "-auth-reader", "kube-system", subjects=me, roleRef={
        "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "extension-apiserver-authentication-reader"}))


def kubeconfig(cluster: ControlPlane, user: str, server: str = None) -> pathlib.Path:
    """Credentials of a replica, named so that the audit log tells replicas apart. `server`: not straight to the API server."""
    path = cluster.folder / f"{user}.kubeconfig"
    if not path.exists() or server:
        kube.namespace(cluster.admin, NAMESPACE)
        _grant(cluster, user)
        cluster.kubeconfig(Identity(cert=cluster.ca.client(user)), user, server=server)
    return path


def flyball(cluster: ControlPlane, prometheus_url: str, scaler_args=(), user: str = "flyball", port: int = 0,
            server: str = None, elects: bool = False) -> Adapter:
    """Not started. Without scaler_args the adapter alone; without `elects` the scaler of a single replica."""
    args = []
    if scaler_args:
        args = [*control_plane.FAST, "--scaler", f"--scaler-lease-namespace={NAMESPACE}",
                "--scaler-trigger-allow-addresses=127.0.0.0/8",  # where the tests' servers are
                *([] if elects else ["--scaler-leader-elect=false"]), *scaler_args]
    return Adapter(adapter.FLYBALL, cluster, prometheus_url, scaling.CONFIG, args, port=port,
                   kubeconfig=kubeconfig(cluster, user, server))
