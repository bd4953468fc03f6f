"""An installed release with its one pod, for tests to ask and to upgrade."""

from cluster import Audit, ClusterCase
from harness import kube, ports
from harness.exporter import Exporter
from harness.prometheus import Prometheus
from helm import CHART, NAMESPACE, objects, of_kind, values_file
from pod import Pod

OWN = {k: {"resource": k} for k in ("namespace", "pod", "node", "service")}
SUM = "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"
USAGE = {"resources": {"overrides": OWN}, "containerLabel": "container"}


def rules(extra=()) -> dict:
    return {"default": False, "custom": [
        {"seriesQuery": '{__name__=~"load_.*"}', "resources": {"overrides": OWN}, "metricsQuery": SUM}, *extra],
        "external": [{"seriesQuery": "queue_len", "resources": {"namespaced": False},
                      "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (queue)"}],
        "resource": {"window": "1m", "cpu": {**USAGE, "containerQuery": SUM.replace("<<.Series>>", "container_cpu"),
                                             "nodeQuery": SUM.replace("<<.Series>>", "node_cpu")},
                     "memory": {**USAGE, "containerQuery": SUM.replace("<<.Series>>", "container_memory"),
                                "nodeQuery": SUM.replace("<<.Series>>", "node_memory")}}}


def all_samples() -> dict:
    return {'load_per_pod{namespace="shop",pod="a-1"}': 7, 'load_service{namespace="shop",service="front"}': 8,
            'load_namespace{namespace="shop"}': 9, 'queue_len{queue="mail"}': 10,
            'container_cpu{namespace="shop",pod="a-1",container="main"}': 0.25,
            'container_memory{namespace="shop",pod="a-1",container="main"}': 2**20, 'node_cpu{node="n1"}': 1.5, 'node_memory{node="n1"}': 2**30}


class Release(ClusterCase):
    """A release and its one pod, which is a process on this machine, beside a Prometheus that scrapes `samples`."""

    RELEASE = "flyball"
    MORE_VALUES = {}

    @classmethod
    def samples(cls) -> dict:
        return all_samples()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kube.node(cls.admin, "n1")
        kube.apply(cls.admin, kube.make("Service", "front", "shop", labels={"app": "shop"}, spec={"ports": [{"port": 80}]}))
        exporter = Exporter(cls.samples)
        cls.addClassCleanup(exporter.stop)
        prometheus = Prometheus({"all": exporter.address})
        cls.addClassCleanup(prometheus.stop)
        host, _, port = prometheus.url.rpartition(":")
        cls.port = ports.free()
        cls.values = {"listenPort": cls.port, "service": {"port": cls.port}, "prometheus": {"url": host, "port": int(port)},
                      "metricsRelistInterval": "1s", "metricsMaxAge": "60s", "shutdownDelay": "0", "rules": rules(),
                      **cls.MORE_VALUES}
        kube.pod(cls.admin, "kube-system", "warm-up", {})  # pods may be made
        kube.delete(cls.admin, "Pod", "kube-system", "warm-up")
        cls.before = cls.everything()
        cls.audit = Audit(cls.cluster(), cls.RELEASE)
        cls.upgrade("--install")
        cls.pod = Pod(cls.cluster(), NAMESPACE, cls.RELEASE).start()
        cls.addClassCleanup(lambda: cls.pod.stop())
        cls.watch(cls.pod.process)
        cls.pod.wait_ready()

    @classmethod
    def upgrade(cls, *args, **values):
        """helm upgrade; then the Service leads to this machine, as there is no proxy and no pod network."""
        cls.helm("upgrade", cls.RELEASE, CHART, "--namespace", NAMESPACE, "--values", values_file({**cls.values, **values}), *args)
        kube.patch(cls.admin, "Service", NAMESPACE, cls.RELEASE, {"spec": {
            "type": "ExternalName", "externalName": "127.0.0.1", "clusterIP": None, "clusterIPs": None, "ipFamilies": None,
            "ipFamilyPolicy": None, "internalTrafficPolicy": None}})

    def restart(self):
        self.pod.stop()
        type(self).pod = Pod(self.cluster(), NAMESPACE, self.RELEASE).start()
        self.watch(self.pod.process)

    def names_of(self, kind: str) -> list:
        return [i["metadata"]["name"] for i in self.manifest(kind)]

    def manifest(self, *kinds: str) -> list:
        items = objects(self.helm("get", "manifest", self.RELEASE, "--namespace", NAMESPACE))
        return [i for kind in kinds for i in of_kind(items, kind)] if kinds else items
