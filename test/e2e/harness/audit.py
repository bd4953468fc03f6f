"""Who wrote what: the audit log of kube-apiserver, read while it grows."""

import json
import pathlib
import threading
from dataclasses import dataclass
from datetime import datetime

_WRITES = ["create", "update", "patch"]
# Scale and lease writes with their bodies, the writes of autoscalers by name, nothing else.
POLICY = {
    "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived", "ResponseStarted"],
    "rules": [
        {"level": "RequestResponse", "verbs": _WRITES, "resources": [
            {"group": group, "resources": ["*/scale"]} for group in ("", "apps", "example.com")]},
        {"level": "RequestResponse", "verbs": _WRITES, "resources": [
            {"group": "coordination.k8s.io", "resources": ["leases"]}]},
        {"level": "Metadata", "verbs": _WRITES, "resources": [
            {"group": group} for group in ("autoscaling", "flyball.dev")]},
        {"level": "None"}],
}


def seconds(text: str) -> float:
    """Seconds since 1970 of a Kubernetes time, with or without fraction."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


@dataclass(frozen=True)
class Write:
    """One finished request. `received` and `done` are wall times; `sent` and `stored` are bodies, if the policy keeps them."""
    user: str
    verb: str
    resource: str  # "deployments/scale"
    namespace: str
    name: str
    code: int
    received: float
    done: float
    sent: dict
    stored: dict

    @property
    def good(self) -> bool:
        return self.code < 300

    @property
    def revision(self) -> int:
        """etcd's revision of the write: one count for all objects of the cluster. 0 when it is not known."""
        return int(self.stored.get("metadata", {}).get("resourceVersion", 0))


def _write(event: dict) -> Write:
    ref = event.get("objectRef", {})
    resource = "/".join(filter(None, (ref.get("resource"), ref.get("subresource"))))
    return Write(event["user"]["username"], event["verb"], resource, ref.get("namespace", ""), ref.get("name", ""),
                 event.get("responseStatus", {}).get("code", 0), seconds(event["requestReceivedTimestamp"]),
                 seconds(event["stageTimestamp"]), event.get("requestObject") or {}, event.get("responseObject") or {})


class Log:
    """`writes()` is all that the policy keeps, in the order of the log. Thread-safe."""

    def __init__(self, folder: pathlib.Path, policy: dict):
        self.policy, self.path = folder / "audit-policy.json", folder / "audit.log"
        self.policy.write_text(json.dumps(policy))
        self._lock, self._offset, self._seen = threading.Lock(), 0, []

    def writes(self) -> list:
        with self._lock:
            if self.path.exists():
                self._read()
            return self._seen

    def _read(self):
        with open(self.path, "rb") as log:
            log.seek(self._offset)
            for line in log:
                if not line.endswith(b"\n"):
                    break  # still being written
                self._offset += len(line)
                try:
                    event = json.loads(line)
                except ValueError:
                    continue  # cut off by the end of a killed API server
                self._seen.append(_write(event))

    def mark(self) -> int:
        """For `since`."""
        return len(self.writes())

    def since(self, mark: int, resource: str = "") -> list:
        """The writes after the mark whose resource ends so."""
        return [w for w in self.writes()[mark:] if w.resource.endswith(resource)]
