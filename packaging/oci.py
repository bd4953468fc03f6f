"""Makes the image as one file: an OCI image layout in a tar, which `docker load`, podman, skopeo and crane read. Equal trees give equal files.

The layout holds manifest.json as well, so that `kind load image-archive` and older versions of docker take it.
"""

import hashlib
import io
import json
import pathlib
import tarfile

USER = "10001:10001"
CREATED = "1970-01-01T00:00:00Z"  # as the files in it: equal programs make an equal image


def json_bytes(value) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member


def tar_of(root: pathlib.Path, top: str = "") -> bytes:
    """A tar of all files below a folder, sorted by name, without owners and times."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in sorted(root.rglob("*")):
            tar.add(path, arcname=f"{top}{path.relative_to(root)}", recursive=False, filter=_plain)
    return out.getvalue()


def archive(root: pathlib.Path, architecture: str, name: str) -> bytes:
    """The archive of an image `name` (with its tag) whose files are those below root."""
    layer = tar_of(root)
    blobs = {}

    def blob(data: bytes, kind: str) -> dict:
        digest = hashlib.sha256(data).hexdigest()
        blobs[digest] = data
        return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(data)}
    layer_blob = blob(layer, "application/vnd.oci.image.layer.v1.tar")
    config = blob(json_bytes({
        "architecture": architecture, "os": "linux", "created": CREATED,
        "config": {"User": USER, "Entrypoint": ["/usr/bin/flyball"], "ExposedPorts": {"6443/tcp": {}},
                   "Labels": {"org.opencontainers.image.title": "flyball", "org.opencontainers.image.licenses": "Apache-2.0"}},
        "rootfs": {"type": "layers", "diff_ids": [layer_blob["digest"]]},
        "history": [{"created": CREATED, "created_by": "packaging/release"}]}), "application/vnd.oci.image.config.v1+json")
    manifest = blob(json_bytes({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config, "layers": [layer_blob]}),
                    "application/vnd.oci.image.manifest.v1+json")
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [{
        **manifest, "platform": {"architecture": architecture, "os": "linux"},
        "annotations": {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name.rpartition(":")[2]}}]}
    def path(part: dict) -> str:
        return "blobs/sha256/" + part["digest"].partition(":")[2]
    files = {"oci-layout": json_bytes({"imageLayoutVersion": "1.0.0"}), "index.json": json_bytes(index),
             "manifest.json": json_bytes([{"Config": path(config), "RepoTags": [name], "Layers": [path(layer_blob)]}]),
             **{f"blobs/sha256/{digest}": data for digest, data in blobs.items()}}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for file, data in sorted(files.items()):
            member = tarfile.TarInfo(file)
            member.size, member.mode = len(data), 0o644
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()
