"""The documentation is true: its commands work in the order in which they stand, its examples are accepted, its links lead somewhere."""

import datetime
import http.server
import re
import subprocess
import sys
import threading
import time

import yaml

import pages
import references
from cluster import POLICY, Audit, ClusterCase
from harness import case, control_plane, kube, machine, paths, ports, processes, wait
from harness.client import Client
from harness.exporter import Exporter
from harness.kubelet import Kubelet
from harness.prometheus import Prometheus
from harness.watching import Watch
from helm import CHART, NAMESPACE, Helm, values_file
from shell import Shell, stock_chart

# A reason of a condition or an event where the code says it.
REASON = re.compile(r'(?:\breason = |\b(?:refuse|Warn)\(|Record\([^;]*?(?:true|warning), |return \{|\bk\w+\[\] = |^ +\{)'
                    r'(?:\w+ \? )?"([A-Z][a-z]+(?:[A-Z][a-z]+)+)"(?:\s*: "(\w+)")?', re.MULTILINE)

# Which test runs the commands of a page.
RUN_BY = {"quick-start.md": "QuickStart", "security.md": "Looking", "troubleshooting.md": "Looking",
          "from-prometheus-adapter.md": "Moving", "rules-by-example.md": "Examples", "scale-to-zero.md": "Requests", "scaling.md": "Requests"}
SAFE = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
CUSTOM = "v1beta1.custom.metrics.k8s.io"


class Pages(case.Case):
    """All pages, without a cluster."""

    def test_every_command_is_run_by_a_test(self):
        self.assertEqual({p.name for p in pages.DOCS.glob("*.md") if pages.shell(p.name)}, set(RUN_BY))

    def test_files_stand_there_as_they_are(self):
        subprocess.run([sys.executable, paths.PROJECT / "test" / "docs" / "embedded.py"], check=True)

    def test_links_lead_somewhere(self):
        for page in (*pages.DOCS.glob("*.md"), *(paths.PROJECT / f for f in ("README.md", "SECURITY.md", "CONTRIBUTING.md", "GOVERNANCE.md", "CODE_OF_CONDUCT.md", "charts/flyball/README.md", "examples/README.md"))):
            text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
            for target in re.findall(r"\]\(([^)]+)\)", text):
                with self.subTest(f"{page.name}: {target}"):
                    file, _, anchor = target.partition("#")
                    if "://" in file:
                        continue
                    found = (page.parent / file if file else page).resolve()
                    self.assertTrue(found.exists())
                    titles = re.findall(r"^#+ (.*)$", found.read_text(), re.MULTILINE)
                    self.assertTrue(not anchor or anchor in [re.sub(r"[^\w -]", "", t.lower()).replace(" ", "-") for t in titles])

    def test_measured_figures_are_those_of_the_results(self):
        for made in ("measured.py", "reaction_plot.py"):
            subprocess.run([sys.executable, paths.PROJECT / "test" / "docs" / made], check=True)

    def test_references_are_what_the_program_says(self):
        subprocess.run([sys.executable, paths.PROJECT / "test" / "docs" / "references.py", paths.flyball()], check=True)

    def test_metrics_are_named_as_promtool_wants_them(self):
        """But for two names that kube-apiserver has given them."""
        page = references.metrics_page(str(paths.flyball()))
        done = processes.run([paths.debian("promtool", "prometheus"), "check", "metrics"], stdin=page.encode())
        found = set((done.stdout + done.stderr).strip().splitlines())
        self.assertEqual(found, {f'{name} counter metrics should have "_total" suffix' for name in ("authentication_attempts", "authenticated_user_requests")
                                 if f"\n{name}{{" in page})
        for line in re.findall(r"^# HELP flyball_.*", page, re.MULTILINE):
            self.assertGreater(len(line.split()), 6, f"{line} says too little")

    def test_the_log_tells_what_the_pages_say_it_does(self):
        """At start what it serves and from where; at level 3 each request with its user; at 6 each query to Prometheus."""
        prometheus = http.server.ThreadingHTTPServer(("127.0.0.1", 0), references.Prometheus)
        threading.Thread(target=prometheus.serve_forever, daemon=True).start()
        self.addCleanup(prometheus.shutdown)
        folder = processes.fresh_folder("log")
        (folder / "objects").mkdir()
        (folder / "rules.yaml").write_text(references.RULES)
        url = f"http://127.0.0.1:{prometheus.server_port}"
        for level, requests, queries in ((0, False, False), (3, True, False), (6, True, True)):
            with self.subTest(level=level):
                port = ports.free()
                server = processes.Process("flyball", [
                    paths.flyball(), "serve", f"--config={folder}/rules.yaml", f"--prometheus-url={url}", f"--objects={folder}/objects", "--bind-address=::1",
                    f"--secure-port={port}", f"--cert-dir={folder}/cert", "--metrics-max-age=10m", f"--v={level}"])
                self.addCleanup(server.stop)
                client = Client(f"https://[::1]:{port}")
                path = "/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/queue_depth"
                wait.until(lambda: server.must_live() and client.get(path).status == 200, path)  # pylint: disable=cell-var-from-loop
                server.stop()
                log = server.text()
                self.assertRegex(log, rf"flyball \d+\.\d+\.\d+ \(commit .*\); .*rules.yaml: 0 rules, 2 external rules; Prometheus at {url}; no scaler\n")
                self.assertRegex(log, r"relist: 2 rules found 2 series .*, 2 metrics offered\n")
                self.assertIn(f"serving on [::1]:{port}\n", log)
                self.assertEqual(bool(re.search(rf"GET {path} 200 .* by system:\S+ \(.*\)\n", log)), requests, log)
                self.assertEqual(bool(re.search(rf"{url}/api/v1/query .*max\(queue_depth", log)), queries, log)

    def test_the_readme_is_short_and_names_every_page(self):
        text = (paths.PROJECT / "README.md").read_text()
        self.assertLessEqual(len(text.splitlines()), 120)
        self.assertEqual([p.name for p in pages.DOCS.glob("*.md") if f"(docs/{p.name}" not in text], [])

    def test_each_reason_of_a_condition_is_explained(self):
        told = {word for page in ("troubleshooting.md", "scale-to-zero.md") for word in re.findall(r"`(\w+)`", (pages.DOCS / page).read_text())}
        said = set()
        for folder in ("scaler/math/hpa", "scaler/steps", "scaler/triggers", "serve/front"):
            for file in (paths.PROJECT / folder).rglob("*.cc"):
                if not file.name.endswith("_test.cc"):
                    said |= {word for found in REASON.findall(file.read_text()) for word in found if word}
        said |= {word for found in REASON.findall((paths.PROJECT / "scaler" / "math" / "reconcile.cc").read_text()) for word in found if word}
        self.assertLessEqual({"TriggerError", "HostsTaken", "InvalidSpec", "ScaleDownStabilized", "ReplicasAdvised", "ScaleUpLimit", "FailedRescale"}, said)
        self.assertEqual(said - told, set())

    def test_words_are_those_of_the_glossary(self):
        """CRD instead of a kind of our own, and stabilization as Kubernetes spells it."""
        made_by_the_program = {"flags.md", "metrics.md"}
        for page in (*pages.DOCS.glob("*.md"), paths.PROJECT / "README.md", paths.PROJECT / "CHANGELOG.md", CHART / "README.md", CHART / "values.yaml"):
            if page.name not in made_by_the_program:
                self.assertNotRegex(page.read_text(), r"(?i)\bown\s+kind\b|kind\s+of\s+our\s+own|stabilis", page.name)

    def test_the_chart_of_the_gitops_examples_renders_the_same_twice(self):
        helm, folder = Helm(), paths.PROJECT / "examples" / "gitops"
        argo, = yaml.safe_load_all((folder / "argocd.yaml").read_text())
        flux = list(yaml.safe_load_all((folder / "flux.yaml").read_text()))[1]
        source = argo["spec"]["source"]
        self.assertEqual((source["path"], flux["spec"]["chart"]["spec"]["chart"]), ("charts/flyball", "charts/flyball"))
        args = ("template", "flyball", CHART, "--values", values_file(source["helm"]["valuesObject"]))
        self.assertEqual(helm(*args), helm(*args))
        helm("template", "flyball", CHART, "--values", values_file(flux["spec"]["values"]))

    def test_the_comparison_names_every_type_of_trigger(self):
        kind = yaml.safe_load((CHART / "files" / "crds" / "autoscalers.flyball.dev.yaml").read_text())
        spec = kind["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        types = spec["triggers"]["items"]["properties"]["type"]["enum"]
        text = (pages.DOCS / "comparison.md").read_text()
        self.assertIn(f"{len(set(types) - {'http'})} of KEDA's types", text)
        for name in types:
            self.assertIn(f"`{name}`", text)


class InCluster(ClusterCase):
    """A Deployment `web` in `shop` whose pods answer requests, Prometheus that scrapes them, and a shell."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        labels = {"app": "web"}
        kube.apply(cls.admin, kube.make("Deployment", "web", "shop", spec={
            "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": {
                "securityContext": SAFE, "containers": [{"name": "main", "image": "none.invalid/none", "securityContext": {
                    "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}}]}}}))
        # Not applied: the autoscaler's alone.
        kube.patch(cls.admin, "Deployment", "shop", "web", {"spec": {"replicas": 2}}, "scale")
        cls.kubelet = Kubelet(cls.admin, "shop", NAMESPACE, address=machine.address())
        cls.addClassCleanup(cls.kubelet.stop)
        cls.requests = 0
        exporter = Exporter(cls.samples)
        cls.addClassCleanup(exporter.stop)
        prometheus = Prometheus({"web": exporter.address})
        cls.addClassCleanup(prometheus.stop)
        cls.shell = Shell(cls.cluster(), prometheus.url)
        cls.addClassCleanup(cls.shell.stop)
        prometheus.wait_for("rate(http_requests_total[30s])", 2)

    @classmethod
    def tearDownClass(cls):
        kube.delete(cls.admin, "Deployment", "shop", "web")
        for kind in ("ReplicaSet", "Pod"):  # nobody else does: the cluster has no garbage collector
            for left in kube.listed(cls.admin, kind, "shop"):
                kube.delete(cls.admin, kind, "shop", left["metadata"]["name"])

    def tearDown(self):
        for release in ("flyball", "prometheus-adapter"):  # also what a failed test left behind
            self.helm("uninstall", release, "--namespace", NAMESPACE, "--ignore-not-found")
        for kind, name in (("RoleBinding", "dev-metrics"), ("HorizontalPodAutoscaler", "web")):
            kube.delete(self.admin, kind, "shop", name)
        self.shell.settle()

    @classmethod
    def samples(cls) -> dict:
        cls.requests += 10
        return {f'http_requests_total{{namespace="shop",pod="{pod}"}}': cls.requests for pod in cls.kubelet.names("shop", "web")}


class QuickStart(ClusterCase):
    """A cluster of its own, as empty as a new one, whose HPA controller has the period that everybody's has."""

    PAGE = "quick-start.md"
    LOAD = 330  # requests a second, as long as the pod `load` runs

    @classmethod
    def cluster(cls):
        if "_own" not in cls.__dict__:
            cls._own = control_plane.ControlPlane(POLICY).start()
            cls._own.stop_stock_scaler()
            cls._own.start_stock_scaler(())
            cls.addClassCleanup(cls._own.stop)
        return cls._own

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kubelet = Kubelet(cls.admin, "shop", NAMESPACE, address=machine.address())
        cls.addClassCleanup(cls.kubelet.stop)
        cls.requests, cls.counted = {}, time.monotonic()
        exporter = Exporter(cls.samples)
        cls.addClassCleanup(exporter.stop)
        cls.prometheus = Prometheus({"web": exporter.address})
        cls.addClassCleanup(cls.prometheus.stop)
        cls.shell = Shell(cls.cluster(), cls.prometheus.url)
        cls.addClassCleanup(cls.shell.stop)

    @classmethod
    def samples(cls) -> dict:
        """What the pods of `web` have counted: the load is shared by all that there are."""
        now = time.monotonic()
        passed, cls.counted = now - cls.counted, now
        pods, load = cls.kubelet.names("shop", "web"), cls.LOAD if "load" in cls.kubelet.names("shop", "") else 0
        cls.requests = {pod: cls.requests.get(pod, 0) + load * passed / len(pods) for pod in pods}
        return {f'http_requests_total{{namespace="shop",pod="{pod}"}}': count for pod, count in cls.requests.items()}

    def steps(self):
        """Runs all blocks in their order, and yields each with what it printed, which is as the page shows it."""
        for block, shown in pages.shown(self.PAGE):
            if not shown:
                yield block, self.shell.run(block)
            elif "kubectl run" in block:  # and once only; the status that the last line prints may follow a second later
                first, last = block.rstrip("\n").rsplit("\n", 1)
                shown_first, header, shown_last = shown.partition("NAME ")
                printed = self.shell.run(first)
                self.assertRegex(printed, pages.pattern(shown_first))
                yield block, printed + self.shell.until(last, pages.pattern(header + shown_last))
            else:
                yield block, self.shell.until(block, pages.pattern(shown))

    def kinds_that_hold(self, kind: str) -> bool:
        return any(c["type"] == "ScalingActive" and c["status"] == "True"
                   for c in kube.get(self.admin, kind, "shop", "web").get("status", {}).get("conditions", []))

    def test_1_every_command_in_its_order(self):
        kube.register_kind("Autoscaler", "flyball.dev/v1alpha1", "autoscalers", True)
        audit, refused, seconds = None, None, []
        for block, printed in self.steps():
            if audit and "helm uninstall" not in block:  # which takes the rights before the pod, that gives its Lease back, has ended
                refused = audit.refused()
            if "kind: HorizontalPodAutoscaler" in block:
                wait.until(lambda: self.kinds_that_hold("HorizontalPodAutoscaler"), "the HPA reads the metric")
            elif "kubectl delete pod load" in block:
                self.prometheus.wait_for("sum(rate(http_requests_total[10s])) == 0")
            elif "kind: Autoscaler" in block:
                audit = Audit(self.cluster(), "flyball")
                wait.until(lambda: self.kinds_that_hold("Autoscaler"), "the Autoscaler reads the metric")
            elif "date +%T" in block:
                begin, end = (datetime.datetime.strptime(text, "%H:%M:%S") for text in re.findall(r"\d\d:\d\d:\d\d", printed))
                seconds.append((end - begin).seconds)
        print(f"quick start: replicas changed after {seconds[0]} s by the cluster's controller, after {seconds[1]} s by the scaler")
        self.assertLessEqual({("autoscaling", "horizontalpodautoscalers", "watch"), ("coordination.k8s.io", "leases", "update"),
                              ("flyball.dev", "autoscalers/status", "patch"), ("apps", "deployments/scale", "update")}, audit.used())
        self.assertEqual(refused, set(), "it has the rights that it needs")
        self.assertNotIn("autoscalers.flyball.dev", self.kubectl("get", "customresourcedefinitions", "-o", "name"))
        self.assertFalse([s for s in kube.listed(self.admin, "APIService") if "metrics.k8s.io" in s["metadata"]["name"]])
        self.assertFalse([n for n in kube.listed(self.admin, "Namespace") if n["metadata"]["name"] == "shop"])

    def test_2_without_a_cluster(self):
        """The command for the eye, of another Prometheus at another port."""
        block, = (b.text for b in pages.blocks(self.PAGE) if b.kind == "console")
        port = ports.free()
        self.assertIn("http://localhost:9090", block)
        server = self.shell.begin(block.replace("http://localhost:9090", self.prometheus.url).replace("--secure-port 6443", f"--secure-port {port}"))
        self.addCleanup(server.stop)
        wait.until(lambda: server.must_live() and Client(f"https://127.0.0.1:{port}").get("/readyz").status == 200, "it serves")


class Looking(InCluster):
    def test_security_and_troubleshooting(self):
        blocks = pages.shell("quick-start.md")
        self.shell.run(next(b for b in blocks if "helm install flyball" in b))
        self.shell.run(next(b for b in blocks if "kind: HorizontalPodAutoscaler" in b))
        able, give = pages.shell("security.md")
        self.assertEqual(self.shell.run(able).split("\n")[:2], ["yes", "no"])
        wait.until(lambda: "custom.metrics.k8s.io" in str(kube.get(self.admin, "ClusterRole", None, "view")["rules"]), "view has the metrics")
        self.assertIn("MetricValueList", self.shell.run(give))
        doctor, inside, available, fate, why = pages.shell("troubleshooting.md")
        self.assertIn(f"system:serviceaccount:{NAMESPACE}:flyball has the ", self.shell.until(doctor, "no problems"))
        for text in ("pods/http_requests_per_second", '"seriesQuery": "http_requests_total', "/namespaces/shop/pods/*/http_requests_per_second\n"):
            self.shell.until(inside, text)
        self.shell.until(available, "pods/http_requests_per_second")
        self.assertIn("  pods/http_requests_per_second\n", self.shell.run(fate))
        self.shell.until(why, "shop/web")


class Moving(InCluster):
    """From a release of prometheus-adapter's chart. Its group is always registered, as the watch on it shows."""

    def setUp(self):
        (self.shell.folder / "old-values.yaml").write_text("rules:\n  default: true\n")
        self.helm("install", "prometheus-adapter", stock_chart(), "--namespace", NAMESPACE)
        self.gone = []
        watch = Watch(self.admin, "/apis/apiregistration.k8s.io/v1/apiservices", lambda change, item: self.gone.append(
            item["metadata"]["name"]) if change == "DELETED" else None)
        self.addCleanup(watch.stop)
        watch.listed.wait(10)

    def registered(self) -> dict:
        return kube.get(self.admin, "APIService", None, CUSTOM)["spec"]

    def identity(self) -> list:
        return [kube.get(self.admin, kind, NAMESPACE, "prometheus-adapter")["metadata"]["uid"] for kind in ("Deployment", "Service")]

    def test_the_same_release(self):
        first, second = pages.shell("from-prometheus-adapter.md", "Helm, the same release")
        before = self.identity()
        self.shell.run(first)
        self.assertEqual(self.identity(), before, "the Deployment is rolled over and the Service stays")
        self.assertTrue(self.registered()["insecureSkipTLSVerify"])
        pods = kube.get(self.admin, "Deployment", NAMESPACE, "prometheus-adapter")["spec"]["template"]
        self.shell.run(second)
        self.assertEqual(kube.get(self.admin, "Deployment", NAMESPACE, "prometheus-adapter")["spec"]["template"], pods, "no pod is replaced")
        self.assertIn("caBundle", self.registered())
        self.assertEqual(self.gone, [])
        self.helm("rollback", "prometheus-adapter", "1", "--namespace", NAMESPACE)
        self.assertEqual(self.identity(), before)

    def test_the_same_release_under_other_names(self):
        self.shell.run(f"helm upgrade prometheus-adapter charts/flyball --namespace {NAMESPACE} --values old-values.yaml --wait")
        self.assertEqual(self.registered()["service"]["name"], "prometheus-adapter-flyball")
        self.assertEqual(self.gone, [])

    def test_two_releases(self):
        beside, over, remove = pages.shell("from-prometheus-adapter.md", "Helm, two releases")
        self.shell.run(beside)
        self.assertEqual(self.registered()["service"]["name"], "prometheus-adapter")
        self.shell.run(over)
        self.assertEqual(self.registered()["service"]["name"], "flyball")
        self.assertIn("caBundle", self.registered())
        self.shell.run(remove)
        self.assertEqual(self.gone, [])
        self.assertEqual(self.registered()["service"]["name"], "flyball")
        self.assertFalse([line for line in self.everything() if line.endswith("prometheus-adapter") or " prometheus-adapter-" in line])
        self.shell.until("kubectl get --raw /apis/custom.metrics.k8s.io/v1beta2", "http_requests")


class Requests(InCluster):
    """The ways to the Envoys and back. There are neither Knative nor KEDA nor Envoys, but their objects, and the cluster's own writers of slices."""

    PAGE = "scale-to-zero.md"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        writers = cls.cluster().start_more("slice-writers", (
            "endpoints-controller", "endpointslice-controller", "endpointslice-mirroring-controller", "garbage-collector-controller"))
        cls.addClassCleanup(writers.kill)
        # They take a pod for an endpoint only where its node is known.
        cls.shell.run("kubectl apply -f - <<'EOF'\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nEOF")
        cls.addClassCleanup(kube.delete, cls.admin, "Node", None, "n1")
        for name in cls.kubelet.names("shop", "web"):
            kube.expect(cls.admin.request("POST", f"/api/v1/namespaces/shop/pods/{name}/binding", {
                "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": {"kind": "Node", "name": "n1"}}), 201)
        definition = CHART / "files" / "crds" / "autoscalers.flyball.dev.yaml"
        cls.shell.run(f"kubectl apply --server-side -f {definition}")
        for group, plural, kind in (("serving.knative.dev", "services", "Service"), ("serving.knative.dev", "routes", "Route"),
                                    ("serving.knative.dev", "configurations", "Configuration"),
                                    ("networking.internal.knative.dev", "ingresses", "Ingress"), ("http.keda.sh", "httpscaledobjects", "HTTPScaledObject"),
                                    ("http.keda.sh", "interceptorroutes", "InterceptorRoute"), ("keda.sh", "scaledobjects", "ScaledObject"),
                                    ("keda.sh", "triggerauthentications", "TriggerAuthentication")):
            version = "v1alpha1" if "keda" in group or "internal" in group else "v1"
            short = "{shortNames: [ksvc]}" if (group, plural) == ("serving.knative.dev", "services") else "{}"
            names = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": kind + "List", **yaml.safe_load(short)}
            crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{group}"}, "spec": {
                "group": group, "scope": "Namespaced", "names": names, "versions": [{"name": version, "served": True, "storage": True, "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
            cls.shell.run(f"kubectl apply -f - <<'EOF'\n{yaml.safe_dump(crd)}EOF")
        cls.shell.run("kubectl wait --for=condition=established --timeout=30s crd --all")
        kube.register_kind("EndpointSlice", "discovery.k8s.io/v1", "endpointslices", True)

    def tearDown(self):
        for what in ("autoscalers", "services", "endpointslices", "services.serving.knative.dev", "routes.serving.knative.dev",
                     "configurations.serving.knative.dev", "httpscaledobjects", "scaledobjects", "triggerauthentications"):
            self.shell.run(f"kubectl delete {what} --all --namespace shop")
        super().tearDown()

    def slices(self) -> dict:
        """Addresses of each slice of the Service web."""
        return {s["metadata"]["name"]: [a for e in s.get("endpoints") or [] for a in e["addresses"]]
                for s in kube.listed(self.admin, "EndpointSlice", "shop") if s["metadata"]["labels"].get("kubernetes.io/service-name") == "web"}

    def as_flyball(self):
        """What it writes of Service web."""
        self.shell.run("kubectl apply -f - <<'EOF'\n" + yaml.safe_dump({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "metadata": {"name": "web-flyball-4", "namespace": "shop", "labels": {
                "kubernetes.io/service-name": "web", "endpointslice.kubernetes.io/managed-by": "flyball.dev"}},
            "endpoints": [{"addresses": ["10.9.9.9"], "conditions": {"ready": True}}], "ports": [{"name": "http2", "port": 20000}]}) + "EOF")

    def test_a_service_becomes_the_fronts_without_a_gap(self):
        self.shell.run("kubectl create service clusterip web --tcp=80:8080 --namespace shop")
        uid = kube.get(self.admin, "Service", "shop", "web")["metadata"]["uid"]
        wait.until(lambda: any(self.slices().values()), "the cluster's slices")
        before = self.slices()
        first, second = pages.shell(self.PAGE, "Who calls the service")
        self.shell.run(first)
        self.assertEqual(self.slices(), before, "the pods are still led to")
        self.as_flyball()
        self.shell.run(second)
        self.assertEqual(self.slices(), {"web-flyball-4": ["10.9.9.9"]})
        self.assertEqual(kube.get(self.admin, "Service", "shop", "web")["metadata"]["uid"], uid)
        for block in pages.blocks(self.PAGE):
            if block.kind == "yaml" and block.section == "Who calls the service":
                self.shell.run(f"kubectl apply --dry-run=server --validate=strict --filename - <<'EOF'\n{block.text}EOF\n")

    def test_from_knative_and_back(self):
        kube.delete(self.admin, "Deployment", "shop", "web")  # the converted one has another selector
        self.shell.run("kubectl apply -f test/data/convert/ksvc-web.yaml")
        uid = kube.get(self.admin, "Service", "shop", "web")["metadata"]["uid"]
        beside, orphans, over, rest = pages.shell(self.PAGE, "From Knative")
        self.shell.run(beside)
        self.assertEqual(kube.get(self.admin, "Service", "shop", "web")["spec"]["type"], "ExternalName")
        self.shell.run(orphans)
        self.as_flyball()
        self.shell.run(over)
        service = kube.get(self.admin, "Service", "shop", "web")
        self.assertEqual((service["metadata"]["uid"], service["spec"]["type"], service["spec"].get("externalName")), (uid, "ClusterIP", None))
        self.assertEqual([port["name"] for port in service["spec"]["ports"]], ["http2"], "as the slice has it")
        self.assertEqual(self.slices(), {"web-flyball-4": ["10.9.9.9"]})
        self.shell.run(rest)
        up, selector = pages.shell(self.PAGE, "The way back")
        self.shell.run(up)
        patch, slices, autoscaler = selector.strip().splitlines()
        self.shell.run(patch)
        wait.until(lambda: len(self.slices()) == 2, "the cluster's slices beside Flyball's")
        self.shell.run(f"{slices}\n{autoscaler}")
        self.assertNotIn("web-flyball-4", self.slices())

    def test_from_the_http_add_on(self):
        self.shell.run("kubectl create service clusterip web --tcp=80:8080 --namespace shop")
        self.shell.run("kubectl apply -f - <<'EOF'\napiVersion: http.keda.sh/v1alpha1\nkind: HTTPScaledObject\nmetadata: {name: web, namespace: shop}\n"
                       "spec: {hosts: [shop.example.com], scaleTargetRef: {name: web, service: web, port: 80}}\nEOF")
        convert, over = pages.shell(self.PAGE, "From KEDA")
        self.shell.run(convert)
        self.assertIn('"targetPort":"8080"', self.shell.run("kubectl get autoscaler web --namespace shop --output jsonpath='{.spec.triggers[0].metadata}'"))
        self.shell.run(over)

    def test_from_keda(self):
        self.shell.run("kubectl apply -f - <<'EOF'\napiVersion: keda.sh/v1alpha1\nkind: TriggerAuthentication\nmetadata: {name: login, namespace: shop}\n"
                       "spec: {secretTargetRef: [{parameter: bearerToken, name: prometheus-token, key: token}]}\n"
                       "---\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: web, namespace: shop}\n"
                       "spec:\n  scaleTargetRef: {name: web}\n  triggers:\n  - type: prometheus\n    authenticationRef: {name: login}\n"
                       "    metadata: {serverAddress: 'https://p:9090', query: sum(q), threshold: '5', authModes: bearer}\nEOF")
        kube.register_kind("Autoscaler", "flyball.dev/v1alpha1", "autoscalers", True)
        convert, over = pages.shell("scaling.md", "The Autoscaler")
        self.shell.run(convert)
        spec = kube.get(self.admin, "Autoscaler", "shop", "web")["spec"]
        self.assertEqual((spec["mode"], spec["triggers"][0]["authenticationSecretRefs"]),
                         ("Shadow", [{"parameter": "bearerToken", "name": "prometheus-token", "key": "token"}]))
        self.shell.run(over)
        self.assertEqual(kube.get(self.admin, "Autoscaler", "shop", "web")["spec"]["mode"], "Act")


class Examples(InCluster):
    def test_commands(self):
        for block in pages.shell("rules-by-example.md"):
            self.shell.run(block)

    def test_metrics_are_what_an_hpa_takes(self):
        snippets = [b.text for b in pages.blocks("rules-by-example.md") if b.kind == "yaml" and b.text.startswith("- type:")]
        self.assertEqual(len(snippets), 12)
        for number, text in enumerate(snippets):
            with self.subTest(text):
                hpa = kube.make("HorizontalPodAutoscaler", f"e{number}", "shop", spec={"maxReplicas": 2, "metrics": yaml.safe_load(text),
                                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}})
                kube.expect(self.admin.request("POST", kube.path("HorizontalPodAutoscaler", "shop") + "?dryRun=All&fieldValidation=Strict", hpa), 201)

    def test_examples_are_accepted(self):
        definition = CHART / "files" / "crds" / "autoscalers.flyball.dev.yaml"
        self.kubectl("apply", "--server-side", "-f", str(definition))
        self.addCleanup(self.kubectl, "delete", "-f", str(definition))
        self.kubectl("wait", "--for", "condition=established", "crd/autoscalers.flyball.dev", "--timeout=30s")
        self.kubectl("create", "namespace", "ai")
        self.addCleanup(self.kubectl, "delete", "namespace", "ai", "--wait=false")
        for file in sorted((paths.PROJECT / "examples").glob("*.yaml")):
            with self.subTest(file.name):
                self.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", str(file))

    def test_manifests_of_other_pages_are_accepted(self):
        for page in ("reaction-time.md",):
            for block in pages.blocks(page):
                if block.kind == "yaml":
                    self.shell.run(f"kubectl apply --dry-run=server --filename - <<'EOF'\n{block.text}EOF\n")
