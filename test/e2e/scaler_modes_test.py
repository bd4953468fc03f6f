"""Who is scaled: flags, annotation and the object's own mode; advice that a stock HPA follows; what `flyball explain` tells."""

import re
import time

from harness import kube, own_kind, paths, pki, ports, processes, registration, scaler, scaling, wait
from harness.case import Case, differs, side_by_side
from harness.kubelet import Kubelet

NS = "modes"
HPA = "HorizontalPodAutoscaler"
QUICK = {"scaleDown": {"stabilizationWindowSeconds": 0}}


class ModeCase(Case):
    """One flyball with ARGS; each test has a Deployment of 2 replicas and one queue of its own."""

    ARGS = ()

    @classmethod
    def setUpClass(cls):
        cluster = cls.cluster()
        cls.admin = cluster.admin
        cluster.stop_stock_scaler()
        cls.addClassCleanup(cluster.start_stock_scaler)
        kube.namespace(cls.admin, NS)
        own_kind.install(cluster)
        cls.kubelet = Kubelet(cls.admin, NS)
        cls.addClassCleanup(cls.kubelet.stop)
        cls.metrics = scaling.Metrics(cls.kubelet)
        cls.addClassCleanup(cls.metrics.stop)
        cls.port = ports.free()
        cls.server = scaler.flyball(cluster, cls.metrics.prometheus.url, (*cls.ARGS, f"--scaler-namespace={NS}"),
                                    port=cls.port).start()
        cls.addClassCleanup(cls.server.stop)
        cls.watch(cls.server.process)

    def begin(self, kind: str, name: str, annotations: dict = None, **more):
        kube.apply(self.admin, scaling.workload("Deployment", NS, name, 2))
        self.addCleanup(kube.delete, self.admin, "Deployment", NS, name)
        self.metrics.set(NS, name, queue=35)
        item = own_kind.autoscaler(NS, name, (1, 6), metrics=[scaling.queue(name)], **more)
        item = kube.make(kind, name, NS, spec=item["spec"])
        item["metadata"]["annotations"] = annotations or {}
        self.mark = self.cluster().audit.mark()
        kube.apply(self.admin, item)
        self.addCleanup(kube.delete, self.admin, kind, NS, name)

    def replicas(self, name: str) -> int:
        return kube.get(self.admin, "Deployment", NS, name)["spec"]["replicas"]

    def reaches(self, name: str, count: int):
        wait.until(lambda: self.replicas(name) == count, f"{name} at {count}", 40)

    def is_left_alone(self, kind: str, name: str, seconds: float = 4):
        """Its target and its status; something else is scaled meanwhile, so the scaler is at work."""
        self.begin(own_kind.KIND, name + "-beside", annotations={"flyball.dev/mode": "act"})
        self.reaches(name + "-beside", 4)
        time.sleep(seconds)
        self.assertEqual(self.replicas(name), 2)
        written = [w for w in self.cluster().audit.since(0) if w.name == name and w.namespace == NS and w.user == "flyball"]
        self.assertEqual([w for w in written if kind == HPA or w.resource.endswith("/scale")], [])


@differs("it has no modes")
@side_by_side
class Acting(ModeCase):
    """--scaler-mode=act alone: our own kind, not HPAs."""

    ARGS = ("--scaler-mode=act",)

    def test_own_kind_is_scaled(self):
        self.begin(own_kind.KIND, "own")
        self.reaches("own", 4)

    def test_hpa_is_left_alone(self):
        self.begin(HPA, "hpa")
        self.is_left_alone(HPA, "hpa")

    def test_hpa_is_left_alone_whatever_its_annotation_says(self):
        self.begin(HPA, "annotated-hpa", {"flyball.dev/mode": "act"})
        self.is_left_alone(HPA, "annotated-hpa")

    def test_decisions_are_told_to_those_who_may_see_them(self):
        self.begin(own_kind.KIND, "told")
        self.reaches("told", 4)
        path = f"/debug/decisions?namespace={NS}&name=told"
        wait.until(lambda: (answer := self.server.admin.get(path)).status == 200 and "queue_len" in answer.text(),
                   "the decision, which is told once its write is answered")
        self.assertIn(self.server.anonymous.get(path).status, (401, 403))

    def test_own_kind_in_shadow_is_left_alone(self):
        self.begin(own_kind.KIND, "own-shadow", mode="Shadow")
        self.is_left_alone(own_kind.KIND, "own-shadow")

    def test_annotation_wins(self):
        self.begin(own_kind.KIND, "own-annotated", {"flyball.dev/mode": "shadow"}, mode="Act")
        self.is_left_alone(own_kind.KIND, "own-annotated")


@differs("it has no modes")
@side_by_side
class ActingOnHpas(ModeCase):
    """--scaler-hpa: HPAs too, but for those that say otherwise."""

    ARGS = ("--scaler-mode=act", "--scaler-hpa")

    def test_hpa_is_scaled(self):
        self.begin(HPA, "hpa-acted")
        self.reaches("hpa-acted", 4)

    def test_annotated_hpa_is_left_alone(self):
        self.begin(HPA, "hpa-shadow", {"flyball.dev/mode": "shadow"})
        self.is_left_alone(HPA, "hpa-shadow")


class BesideStock(ModeCase):
    """With the stock controller, which reads its metrics from flyball."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        registration.register(cls.admin, "scaler", cls.port)
        cls.addClassCleanup(registration.unregister, cls.admin)
        registration.wait_available(cls.admin)
        cls.cluster().start_stock_scaler()
        cls.addClassCleanup(cls.cluster().stop_stock_scaler)


@differs("it has no modes")
@side_by_side
class Advising(BesideStock):
    """--scaler-mode=advise: a stock HPA scales as it is told, with our cadence and triggers."""

    ARGS = ("--scaler-mode=advise",)

    def test_stock_hpa_follows(self):
        self.begin(own_kind.KIND, "advised")
        path = f"/apis/external.metrics.k8s.io/v1beta1/namespaces/{NS}/flyball_desired_replicas?labelSelector=autoscaler%3Dadvised"
        found = wait.until(lambda: self.admin.get(path).json()["items"], "the advice as an external metric")
        self.assertEqual([i["value"] for i in found], ["4"])
        self.assertEqual(found[0]["metricLabels"]["namespace"], NS)
        self.assertEqual(self.replicas("advised"), 2)
        follower = {"type": "External", "external": {
            "metric": {"name": "flyball_desired_replicas", "selector": {"matchLabels": {"autoscaler": "advised"}}},
            "target": {"type": "AverageValue", "averageValue": "1"}}}
        kube.apply(self.admin, kube.make(HPA, "follower", NS, spec={
            "scaleTargetRef": scaling.target_ref("Deployment", "advised"), "minReplicas": 1, "maxReplicas": 6,
            "metrics": [follower], "behavior": QUICK}))
        self.addCleanup(kube.delete, self.admin, HPA, NS, "follower")
        self.reaches("advised", 4)
        self.metrics.set(NS, "advised", queue=15)
        self.reaches("advised", 2)
        by = {w.user for w in self.cluster().audit.since(self.mark, "/scale") if w.name == "advised"}
        self.assertEqual(by, {"system:serviceaccount:kube-system:horizontal-pod-autoscaler"})


@differs("it has no modes")
@side_by_side
class Explaining(BesideStock):
    """`flyball explain` beside the stock controller, in shadow."""

    ARGS = ("--scaler-mode=shadow",)

    def explain(self, *args, user: pki.Pair = None):
        user = user or self.cluster().admin_cert
        return processes.run([paths.flyball(), "explain", *args, f"--server={self.server.url}", "--insecure-skip-tls-verify",
                              f"--client-certificate={user.cert}", f"--client-key={user.key}"])

    def tells(self, *args) -> str:
        done = wait.until(lambda: (d := self.explain(*args)).returncode == 0 and d, f"explain {' '.join(args)}")
        return done.stdout

    def test_own_kind(self):
        self.begin(own_kind.KIND, "explained", {"flyball.dev/mode": "act"})
        self.reaches("explained", 4)
        text = wait.until(lambda: re.search(r"from 2 to 4|2 (->|→) 4", told := self.tells("autoscaler/explained", "-n", NS, "--all")) and told,
                          "the decision, which is told once its write is answered")
        self.assertIn(f"{NS}/explained: Deployment explained", text)
        self.assertIn("queue_len", text)

    def test_hpa_and_report(self):
        self.begin(HPA, "explained-hpa")
        self.reaches("explained-hpa", 4)
        text = self.tells("hpa/explained-hpa", "-n", NS)
        self.assertIn(f"{NS}/explained-hpa: Deployment explained-hpa", text)
        self.assertIn("queue_len", text)
        report = wait.until(lambda: f"{NS}/explained-hpa" in (t := self.tells("--shadow-report", "-n", NS)) and t,
                            "the stock controller's decisions compared")
        self.assertIn("statuses of the stock controller compared", report)

    def test_what_is_not_there(self):
        done = self.explain("hpa/nobody", "-n", NS)
        self.assertEqual(done.returncode, 1)
        self.assertIn("this server has decided nothing for it", done.stderr)
        done = self.explain("pod/nobody", "-n", NS)
        self.assertEqual(done.returncode, 2)
        self.assertIn("expected hpa/NAME or autoscaler/NAME", done.stderr)

    def test_who_may_not_see_it_is_told_so(self):
        done = self.explain("hpa/nobody", "-n", NS, user=self.cluster().ca.client("mallory"))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertIn("answered 403: it answers only users who may `get` the path /debug/decisions", done.stderr)
