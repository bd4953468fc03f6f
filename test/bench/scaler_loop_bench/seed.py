"""Objects written straight into etcd: a hundred thousand pods in seconds.

As JSON, which kube-apiserver reads as well as the protobuf that it writes itself. What the API server would have filled
in (uid, times, defaults) is given here.
"""

import base64
import functools
import http.client
import itertools
import json
import urllib.parse
import uuid

SINCE = "2026-01-01T00:00:00Z"
_BATCH = 500
# Storage path of a kind below /registry, and its stored version.
_WHERE = {"Namespace": ("namespaces", "v1"), "Pod": ("pods", "v1"), "Deployment": ("deployments", "apps/v1"),
          "HorizontalPodAutoscaler": ("horizontalpodautoscalers", "autoscaling/v2"),
          "Autoscaler": ("flyball.dev/autoscalers", "flyball.dev/v1alpha1")}


_uids = itertools.count(1)


def _uid() -> str:
    return str(uuid.UUID(int=next(_uids) | 4 << 76 | 2 << 62))


def made(kind: str, name: str, namespace: str = None, labels: dict = None, **fields) -> dict:
    """An object as stored."""
    meta = {"name": name, "uid": _uid(), "creationTimestamp": SINCE, "generation": 1, "labels": labels or {}}
    if namespace:
        meta["namespace"] = namespace
    return {"kind": kind, "apiVersion": _WHERE[kind][1], "metadata": meta, **fields}


@functools.cache
def _pod_text() -> str:
    return json.dumps(_pod("{namespace}", "{name}", "{app}"), separators=(",", ":"))


def pod(namespace: str, name: str, app: str) -> tuple:
    """Running and ready, with one container that asks for 100m and 64Mi; of a usual size. (storage key, JSON)"""
    text = _pod_text().replace("{namespace}", namespace).replace("{name}", name).replace("{app}", app)
    return f"/registry/pods/{namespace}/{name}", text.replace("{uid}", _uid(), 1)


def _pod(namespace: str, name: str, app: str) -> dict:
    conditions = [{"type": t, "status": "True", "lastProbeTime": None, "lastTransitionTime": SINCE}
                  for t in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")]
    container = {"name": "main", "image": "registry.example/team/web:1.2.3", "imagePullPolicy": "IfNotPresent",
                 "ports": [{"containerPort": 8080, "protocol": "TCP"}],
                 "env": [{"name": f"SETTING_{i}", "value": "some text that a service is given"} for i in range(4)],
                 "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}},
                 "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{app}-6c8f7d9b8", "uid": str(uuid.UUID(int=7)),
             "controller": True, "blockOwnerDeletion": True}
    item = made("Pod", name, namespace, {"app": app, "pod-template-hash": "6c8f7d9b8"}, spec={
        "containers": [container], "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
        "nodeName": "n1", "securityContext": {}, "schedulerName": "default-scheduler", "serviceAccountName": "default"},
        status={"phase": "Running", "startTime": SINCE, "qosClass": "Burstable", "podIP": "10.1.2.3", "hostIP": "10.0.0.1",
                "conditions": conditions, "containerStatuses": [{
                    "name": "main", "ready": True, "started": True, "restartCount": 0, "image": container["image"],
                    "imageID": "registry.example/team/web@sha256:" + "0" * 64, "containerID": "containerd://" + "0" * 64,
                    "lastState": {}, "state": {"running": {"startedAt": SINCE}}}]})
    item["metadata"].update(ownerReferences=[owner], uid="{uid}")
    return item


def namespace(name: str) -> dict:
    return made("Namespace", name, spec={"finalizers": ["kubernetes"]}, status={"phase": "Active"})


def deployment(namespace: str, name: str, replicas: int) -> dict:
    """Rolled out: as many replicas as it asks for."""
    return made("Deployment", name, namespace, {"app": name}, spec={
        "replicas": replicas, "selector": {"matchLabels": {"app": name}}, "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
        "template": {"metadata": {"creationTimestamp": None, "labels": {"app": name}}, "spec": {
            "containers": [{"name": "main", "image": "registry.example/team/web:1.2.3", "imagePullPolicy": "IfNotPresent",
                            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
                            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}],
            "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
            "securityContext": {}, "schedulerName": "default-scheduler"}}},
        status={"observedGeneration": 1, "replicas": replicas, "updatedReplicas": replicas, "readyReplicas": replicas,
                "availableReplicas": replicas})


def write(etcd_url: str, objects):
    """Puts all of them (objects, or pairs as of `pod`), a batch to a transaction. The API server may be running: it sees them as any other write."""
    url = urllib.parse.urlsplit(etcd_url)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
    batch = []
    for item in objects:
        batch.append(_put(item))
        if len(batch) == _BATCH:
            _send(connection, batch)
            batch = []
    if batch:
        _send(connection, batch)
    connection.close()


def _stored(item: dict) -> tuple:
    meta = item["metadata"]
    key = "/".join(filter(None, ("/registry", _WHERE[item["kind"]][0], meta.get("namespace"), meta["name"])))
    return key, json.dumps(item, separators=(",", ":"))


def _put(item) -> dict:
    key, text = _stored(item) if isinstance(item, dict) else item
    return {"requestPut": {"key": base64.b64encode(key.encode()).decode(), "value": base64.b64encode(text.encode()).decode()}}


def _send(connection, batch: list):
    connection.request("POST", "/v3/kv/txn", json.dumps({"success": batch}), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise SystemError(f"etcd: {answer.status} {body[:500]}")
