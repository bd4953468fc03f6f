"""helm of the pinned release, the chart, and what it renders."""

import pathlib

import yaml

from harness import paths, processes

CHART = paths.PROJECT / "charts" / "flyball"
STOCK = paths.PROJECT / "test" / "data" / "prometheus-adapter-chart"
CI = sorted((CHART / "ci").glob("*-values.yaml"))
NAMESPACE = "monitoring"


class Helm:
    """Runs helm with folders of its own; with a cluster as its admin."""

    def __init__(self, cluster=None):
        home = processes.fresh_folder("helm")
        self._env = {f"HELM_{kind}_HOME": str(home / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}
        self._env["KUBECONFIG"] = str(cluster.admin_kubeconfig) if cluster else "/dev/null"

    def __call__(self, *args, fails: bool = False) -> str:
        """stdout of `helm ARGS`; with `fails` stderr of a command that must fail."""
        done = processes.run([paths.peer("helm"), *args], env=self._env, timeout=120)
        if (done.returncode != 0) != fails:
            raise AssertionError(f"helm {' '.join(map(str, args))}: status {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr}")
        return done.stderr if fails else done.stdout

    def render(self, *args, release: str = "flyball", chart: pathlib.Path = CHART) -> list:
        """The objects of `helm template`."""
        return objects(self("template", release, chart, "--namespace", NAMESPACE, *args))


def objects(text: str) -> list:
    return [item for item in yaml.load_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) if item]


def values_file(values) -> pathlib.Path:
    """A file with these values: a dict or YAML text."""
    path = processes.fresh_folder("values") / "values.yaml"
    path.write_text(values if isinstance(values, str) else yaml.safe_dump(values))
    return path


def of_kind(items: list, kind: str) -> list:
    return [item for item in items if item["kind"] == kind]


def container(items: list) -> dict:
    """The container of the one Deployment."""
    deployment, = of_kind(items, "Deployment")
    return deployment["spec"]["template"]["spec"]["containers"][0]


def names(items: list) -> set:
    return {(item["kind"], item["metadata"]["name"]) for item in items}


# Rules of the roles that every cluster has, as far as the program uses them.
_EVERY_CLUSTERS = {
    "system:auth-delegator": [
        {"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"], "verbs": ["create"]},
        {"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]}],
    "extension-apiserver-authentication-reader": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]}]}


def bound(items: list) -> set:
    """"list deployments.apps in shop" of all that the rendered bindings, and the roles that they name, allow the program."""
    def place(item):
        return item["metadata"].get("namespace", "")
    rules = {(role["kind"], place(role), role["metadata"]["name"]): role["rules"] for kind in ("Role", "ClusterRole") for role in of_kind(items, kind)}
    found = set()
    for binding in of_kind(items, "RoleBinding") + of_kind(items, "ClusterRoleBinding"):
        ref, where = binding["roleRef"], place(binding)
        for rule in _EVERY_CLUSTERS.get(ref["name"]) or rules[ref["kind"], where if ref["kind"] == "Role" else "", ref["name"]]:
            found |= {f"{verb} {resource}{'.' * bool(group)}{group}{' in ' * bool(where)}{where}"
                      for group in rule.get("apiGroups", ()) for resource in rule["resources"] for verb in rule["verbs"]}
    return found


def granted(items: list, namespaced: bool = False) -> set:
    """(API group, resource, verb) of all that the rendered ClusterRoles, or Roles, allow the program."""
    found = set()
    for role in of_kind(items, "Role" if namespaced else "ClusterRole"):
        if role["metadata"]["name"].endswith((":metrics-reader", ":scrape", ":debug-pages")):
            continue  # for others, and for people
        for rule in role["rules"]:
            found |= {(group, resource, verb) for group in rule["apiGroups"] for resource in rule["resources"] for verb in rule["verbs"]}
    return found
