"""One cluster for the suites of the chart: its audit log has every request of the program's service accounts."""

import json

import yaml

from harness import case, control_plane, kube, paths, processes
from harness.kubectl import Kubectl
from helm import NAMESPACE, Helm

# Requests of service accounts, watches as soon as they begin; nothing else.
POLICY = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [
    {"level": "Metadata", "userGroups": [f"system:serviceaccounts:{namespace}" for namespace in (NAMESPACE, "kube-metrics")]}, {"level": "None"}]}
RESTRICTED = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn", "audit")}
# Kinds of others that the chart makes objects of.
FOREIGN = ("monitoring.coreos.com_servicemonitors", "monitoring.coreos.com_podmonitors", "monitoring.coreos.com_prometheusrules",
           "cert-manager.io_issuers", "cert-manager.io_certificates")

_cluster = None


def _shared():
    global _cluster
    if _cluster is None:
        _cluster = control_plane.ControlPlane(POLICY).start()
        for name in (NAMESPACE, "shop", "web", "kube-metrics"):
            kube.apply(_cluster.admin, kube.make("Namespace", name, labels=RESTRICTED))
        for name in FOREIGN:
            kube.apply(_cluster.admin, yaml.load(paths.peer(f"definitions/{name}.yaml").read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    return _cluster


class ClusterCase(case.Case):
    """A test in the cluster, with helm and kubectl of its admin."""

    @classmethod
    def cluster(cls):
        return _shared()

    @classmethod
    def setUpClass(cls):
        cls.admin, cls.helm, cls.kubectl = cls.cluster().admin, Helm(cls.cluster()), Kubectl(cls.cluster())

    @classmethod
    def everything(cls) -> set:
        """All objects that there are by kind and name, but what controllers make by themselves."""
        kinds = sorted(cls.kubectl("api-resources", "--verbs=list", "-o", "name").split())
        kinds = [k for k in kinds if not k.startswith(("events", "endpoints", "componentstatuses"))
                 and not k.endswith("metrics.k8s.io") and k not in ("pods", "replicasets.apps", "controllerrevisions.apps")]
        lines = cls.kubectl("get", ",".join(kinds), "-A", "--ignore-not-found", "--no-headers",
                             "-o", "custom-columns=K:.kind,NS:.metadata.namespace,N:.metadata.name").splitlines()
        found = {" ".join(line.split()) for line in lines}
        return {line for line in found if not line.startswith(("EndpointSlice ", "ServiceAccount kube-system ", "Lease kube-"))}


    def delete_what_the_scaler_made(self):
        """As docs/quick-start.md says: Helm does not know of it."""
        self.kubectl("delete", "leases,configmaps", "--all-namespaces", "--selector", "app.kubernetes.io/managed-by=flyball")


class Audit:
    """What one service account did: from a mark on, read while the log grows."""

    def __init__(self, cluster, account: str, namespace: str = NAMESPACE):
        self._path, self._user = cluster.audit.path, f"system:serviceaccount:{namespace}:{account}"
        self._offset = self._path.stat().st_size if self._path.exists() else 0

    def _events(self) -> list:
        with open(self._path, "rb") as log:
            log.seek(self._offset)
            lines = [line for line in log.read().split(b"\n")[:-1] if line]
        return [e for e in map(json.loads, lines) if e["user"]["username"] == self._user and "objectRef" in e]

    def _done(self, allowed: bool) -> set:
        found = set()
        for event in self._events():
            ref = event["objectRef"]
            if (event.get("responseStatus", {}).get("code") == 403) != allowed:
                resource = "/".join(filter(None, (ref.get("resource"), ref.get("subresource"))))
                found.add((ref.get("apiGroup", ""), resource, event["verb"]))
        return found

    def used(self) -> set:
        """(API group, resource, verb) of what it was allowed to do and did."""
        return self._done(True)

    def refused(self) -> set:
        """The same of what it tried and was not allowed."""
        return self._done(False)


def dry_run(cluster, file) -> str:
    """What the API server says to these objects without keeping them: an error raises, warnings are returned."""
    done = processes.run([paths.peer("kubectl"), f"--kubeconfig={cluster.admin_kubeconfig}", "apply", "--dry-run=server",
                          "--validate=strict", "-f", file], timeout=120)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stderr
