"""A shell for the commands of the documentation: the real helm, kubectl and flyball, in a cluster without nodes.

What a machine of this kind can't have is put in by shims: Prometheus is on loopback, also where a chart of the internet would bring it, the pod is a
process on a free port, so that `kubectl port-forward` has nothing to do and `kubectl exec` runs the program as that pod would, and kind and
docker have nothing to make, since the cluster and the program are there.
"""

import os
import shlex
import subprocess

import yaml

from harness import kube, paths, ports, processes, registration, wait
from helm import CHART, NAMESPACE
from pod import Pod

_HELM = """#!/bin/sh
case $* in *" oci://"*prometheus*) kubectl create namespace monitoring; exit ;; esac
case $1 in
  install|upgrade|template) exec {helm} "$@" --set listenPort={port},service.port={port},prometheus.url={host},prometheus.port={prometheus_port} \\
    --set metricsRelistInterval=1s,metricsMaxAge=60s,shutdownDelay=0s ;;
  *) exec {helm} "$@" ;;
esac
"""
_DOCKER = """#!/bin/sh
[ "$1" != build ] || [ -f "$3" ]
"""
_KUBECTL = """#!/bin/sh
[ "$1" = port-forward ] && exit 0
if [ "$1" = exec ]; then
  while [ "$1" != -- ]; do shift; done
  shift 2
  . {folder}/in-pod
fi
exec {kubectl} --kubeconfig={kubeconfig} "$@"
"""


class Shell:
    """Runs blocks in one folder. After each, what a cluster would do happens: a changed Deployment gets its pod."""

    def __init__(self, cluster, prometheus_url: str):
        self._cluster, self._pods = cluster, {}
        self.folder, self.port = processes.fresh_folder("docs"), ports.free()
        host, _, prometheus_port = prometheus_url.rpartition(":")
        programs = self._programs = processes.fresh_folder("programs")
        for name, text in (("helm", _HELM), ("kubectl", _KUBECTL), ("docker", _DOCKER), ("kind", "#!/bin/sh\n")):
            (programs / name).write_text(text.format(helm=paths.peer("helm"), kubectl=paths.peer("kubectl"), port=self.port, host=host, folder=programs,
                                                     prometheus_port=prometheus_port, kubeconfig=cluster.admin_kubeconfig))
            (programs / name).chmod(0o755)
        (programs / "flyball").symlink_to(paths.flyball().resolve())
        for name in ("charts", "packaging", "rules", "test"):
            (self.folder / name).symlink_to(paths.PROJECT / name)
        helm_home = {f"HELM_{kind}_HOME": str(self.folder / ".helm" / kind) for kind in ("CACHE", "CONFIG", "DATA")}
        self._env = {**os.environ, **helm_home, "KUBECONFIG": str(cluster.admin_kubeconfig), "PATH": f"{programs}:{os.environ['PATH']}"}

    def run(self, block: str, fails: bool = False) -> str:
        """What the block prints. It fails as soon as one of its commands does."""
        block = block.replace("localhost:6443", f"localhost:{self.port}")
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=self.folder, env=self._env, check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        if (done.returncode != 0) != fails:
            raise AssertionError(f"status {done.returncode} of:\n{block}\n{done.stdout[-3000:]}")
        self.settle()
        return done.stdout

    def settle(self):
        """Each of our Deployments has a pod with its present template, its Service leads there, and the API server agrees."""
        admin = self._cluster.admin
        wanted = {d["metadata"]["name"]: d["spec"]["template"] for d in kube.listed(admin, "Deployment", NAMESPACE)
                  if d["spec"]["template"]["spec"]["containers"][0]["name"] == "flyball"}
        for name in [n for n in self._pods if n not in wanted or self._pods[n][0] != wanted[n]]:
            self._pods.pop(name)[1].stop()
        for name, template in wanted.items():
            kube.patch(admin, "Service", NAMESPACE, name, {"spec": {
                "type": "ExternalName", "externalName": "127.0.0.1", "clusterIP": None, "clusterIPs": None, "ipFamilies": None,
                "ipFamilyPolicy": None, "internalTrafficPolicy": None}})
            if name not in self._pods:
                self._pods[name] = (template, Pod(self._cluster, NAMESPACE, name).start())
                self._pods[name][1].wait_ready()
                (self._programs / "in-pod").write_text(self._pods[name][1].command())
        services = [s["metadata"]["name"] for s in kube.listed(admin, "APIService") if (s["spec"].get("service") or {}).get("name") in wanted]
        registration.wait_available(admin, services)

    def begin(self, block: str) -> processes.Process:
        """A block that goes on until its caller ends it."""
        return processes.Process("block", ["bash", "-euc", f"cd {shlex.quote(str(self.folder))}\nexec {block}"], env=self._env)

    def until(self, block: str, text) -> str:
        """The output of a block that only looks, as soon as it has the text, or something that the pattern matches."""
        def look() -> str:
            out = self.run(block)
            if text in out if isinstance(text, str) else text.search(out):
                return out
            raise AssertionError(out[-1500:])
        return wait.until(look, f"{text} from:\n{block}")

    def stop(self):
        for _, pod in self._pods.values():
            pod.stop()


def stock_chart() -> str:
    """A chart that renders what prometheus-adapter's did, for a release to move away from."""
    folder = processes.fresh_folder("stock") / "prometheus-adapter"
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text(yaml.safe_dump({"apiVersion": "v1", "name": "prometheus-adapter", "version": "5.3.0"}))
    rendered = (CHART.parents[1] / "test" / "data" / "prometheus-adapter-chart" / "rendered.yaml").read_text()
    for old, new in (("namespace: default\n", f"namespace: {NAMESPACE}\n"), ('namespace: "default"\n', f"namespace: {NAMESPACE}\n")):
        rendered = rendered.replace(old, new)
    (folder / "templates" / "all.yaml").write_text(rendered)
    return shlex.quote(str(folder))
