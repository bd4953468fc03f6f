"""kubeconfig files."""

import json
import pathlib

from .client import Identity


def write_kubeconfig(path: pathlib.Path, server: str, ca: pathlib.Path, identity: Identity) -> pathlib.Path:
    """Writes one context with one cluster and one user. JSON is YAML, so no YAML writer is needed."""
    user = {}
    if identity.cert:
        user = {"client-certificate": str(identity.cert.cert), "client-key": str(identity.cert.key)}
    if identity.token:
        user["token"] = identity.token
    path.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "it",
        "clusters": [{"name": "it", "cluster": {"server": server, "certificate-authority": str(ca)}}],
        "users": [{"name": "it", "user": user}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
    }, indent=1))
    return path
