"""The pod of an installed release, run on this machine: the container's arguments, its files as a kubelet mounts them, its rights.

A process in a mount namespace whose root is a folder with /usr, the program, and the volumes, all read-only but the emptyDirs. Only the
address of the API server comes from outside, as it does in a cluster. flyball is to listen on a free port of this machine: set
`listenPort` to it.
"""

import base64
import pathlib
import shlex
import shutil

from harness import kube, namespace, paths, processes, wait
from harness.client import Client, Identity

_LIBRARIES = {"lib": "usr/lib", "lib64": "usr/lib64", "bin": "usr/bin", "sbin": "usr/sbin"}
_SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"

kube.register_kind("Secret", "v1", "secrets", True)


class Pod:
    """One pod of a Deployment, made of what the cluster says now."""

    def __init__(self, cluster, namespace: str, deployment: str):
        self._cluster, self._namespace = cluster, namespace
        self._spec = kube.get(cluster.admin, "Deployment", namespace, deployment)["spec"]["template"]["spec"]
        self._container = self._spec["containers"][0]
        self._root = processes.fresh_folder("pod")
        self.port = self._container["ports"][0]["containerPort"]
        self.url = f"https://127.0.0.1:{self.port}"
        self.process = None

    def refresh(self):
        """What a kubelet does with mounted Secrets and ConfigMaps now and then: writes what has changed."""
        volumes = {v["name"]: v for v in self._spec["volumes"]}
        for mount in self._container["volumeMounts"]:
            volume, folder = volumes[mount["name"]], self._inside(mount["mountPath"])
            folder.mkdir(parents=True, exist_ok=True)
            if "secret" in volume:
                data = kube.get(self._cluster.admin, "Secret", self._namespace, volume["secret"]["secretName"])["data"]
                self._write(folder, {k: base64.b64decode(v) for k, v in data.items()})
            elif "configMap" in volume:
                data = kube.get(self._cluster.admin, "ConfigMap", self._namespace, volume["configMap"]["name"])["data"]
                self._write(folder, {k: v.encode() for k, v in data.items()})

    def start(self) -> "Pod":
        self.refresh()
        self._service_account()
        for name, target in _LIBRARIES.items():
            (self._root / name).symlink_to(target)
        for name in ("usr", "dev", "proc", "etc/ssl", "tmp"):
            (self._root / name).mkdir(parents=True, exist_ok=True)
        program = self._root / "program"  # with the modules that it loads beside it
        program.mkdir()
        shutil.copy(paths.flyball(), program)
        if (modules := paths.flyball().parent / "lib" / "flyball").exists():
            shutil.copytree(modules, program / "lib" / "flyball")
        self.process = processes.Process("pod", self._inside_with(self._container["args"]), env=self._variables())
        return self

    def run(self, *words: str):
        """`kubectl exec POD -- flyball WORDS`, with the same files and rights: the completed process."""
        return processes.run(self._inside_with(words), env=self._variables())

    def command(self) -> str:
        """The same as a line of a shell script, whose arguments are the words."""
        variables = (f"{name}={value}" for name, value in self._variables().items())
        return f'exec {shlex.join(["env", "--unset=KUBECONFIG", *variables, *self._inside_with(())])} "$@"'

    def _inside_with(self, words) -> list:
        """The command that runs flyball in the pod."""
        writable = [m["mountPath"] for m in self._container["volumeMounts"]
                    if any(v["name"] == m["name"] and "emptyDir" in v for v in self._spec["volumes"])]
        root = shlex.quote(str(self._root))
        script = [f"mount --bind {root} {root}", *(f"mount --rbind /{d} {root}/{d}" for d in ("usr", "dev", "proc")),
                  f"mount -o remount,bind,ro {root}", *(f"mount -t tmpfs none {root}{path}" for path in writable),
                  f'exec chroot {root} /program/{paths.flyball().name} "$@"']
        return [*namespace.entering(), "sh", "-ec", "\n".join(script), "sh", *words]

    def _variables(self) -> dict:
        given = {variable["name"]: variable["value"] for variable in self._container.get("env", []) if "value" in variable}
        return {**given, "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(self._cluster.port)}

    def wait_ready(self, timeout: float = 30.0):
        """Until the readiness probe of the Deployment passes."""
        probe = self._container["readinessProbe"]["httpGet"]["path"]
        wait.until(lambda: self.process.must_live() and self.client().get(probe).status == 200, f"GET {probe}", timeout)

    def client(self, identity: Identity = Identity()) -> Client:
        return Client(self.url, identity)

    def stop(self) -> int:
        return self.process.stop(20) if self.process else 0

    def _inside(self, path: str) -> pathlib.Path:
        return self._root / path.lstrip("/")

    def _service_account(self):
        folder = self._inside(_SERVICE_ACCOUNT)
        folder.mkdir(parents=True)
        account = self._spec["serviceAccountName"]
        kube.get(self._cluster.admin, "ServiceAccount", self._namespace, account)  # the chart has to make it
        (folder / "token").write_text(token_of(self._cluster.admin, self._namespace, account))
        (folder / "ca.crt").write_text(self._cluster.ca.pem())
        (folder / "namespace").write_text(self._namespace)

    @staticmethod
    def _write(folder: pathlib.Path, files: dict):
        """Each file is replaced whole, as through the symbolic link of a kubelet."""
        for name, data in files.items():
            new = folder / (".new-" + name)
            new.write_bytes(data)
            new.replace(folder / name)


def token_of(admin: Client, namespace: str, name: str) -> str:
    """A token of a service account that is there."""
    answer = admin.request("POST", kube.path("ServiceAccount", namespace, name, "token"), {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 7200}})
    return kube.expect(answer, 201)["status"]["token"]
