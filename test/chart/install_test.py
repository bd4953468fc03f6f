"""The chart in a real cluster: its objects are accepted, the program runs with exactly its arguments and rights, upgrade, uninstall."""

import base64
import shutil
import time

import yaml

from cluster import Audit, ClusterCase, dry_run
from harness import kube, paths, processes, registration, wait
from harness.client import Identity
from helm import CHART, CI, NAMESPACE, granted, objects, values_file
from pod import Pod, token_of
from release import OWN, SUM, Release, rules

CUSTOM, EXTERNAL, METRICS = ("/apis/custom.metrics.k8s.io/v1beta2", "/apis/external.metrics.k8s.io/v1beta1", "/apis/metrics.k8s.io/v1beta1")
DAY = 86400  # seconds
# What the API server warns of in two shapes, and why that is right.
EXPECTED_WARNINGS = {
    "everything": "hostNetwork",  # which no restricted pod may have
    "certificate-inline": "failed to find any PEM data",  # the certificate there is none
}


class Accepted(ClusterCase):
    """The API server takes what the chart renders."""

    def test_every_shape_is_accepted_and_restricted(self):
        for values in CI:
            with self.subTest(values.name):
                file = processes.fresh_folder("rendered") / "all.yaml"
                file.write_text(self.helm("template", "flyball", CHART, "--namespace", NAMESPACE, "--values", values, "--skip-tests"))
                items = objects(file.read_text())
                self.assertEqual(len(items), len({(i["kind"], i["metadata"].get("namespace"), i["metadata"]["name"]) for i in items}))
                warnings = dry_run(self.cluster(), file)
                expected = EXPECTED_WARNINGS.get(values.name.removesuffix("-values.yaml"))
                self.assertIn(expected or "", warnings)
                self.assertEqual("Warning" in warnings, expected is not None, warnings)


    def test_plain_manifests_are_accepted(self):
        for file in ("install.yaml", "scaler/flyball.yaml"):
            self.assertNotIn("Warning", dry_run(self.cluster(), paths.PROJECT / "deploy" / file))


class Upgraded(ClusterCase):
    """From a chart of before: what clients and other programs rely on stays, what is new comes, what is gone goes."""

    VALUES = ("--set", "replicas=2,scaler.enabled=true,scaler.mode=act,podDisruptionBudget.enabled=true")

    def earlier(self):
        """This chart as an earlier release could have been: another version, a definition with a field less, an object more."""
        chart = processes.fresh_folder("earlier") / "flyball"
        shutil.copytree(CHART, chart)
        meta = yaml.safe_load((chart / "Chart.yaml").read_text())
        (chart / "Chart.yaml").write_text(yaml.safe_dump({**meta, "version": "0.0.9", "appVersion": "0.0.9"}))
        definition, = (chart / "files" / "crds").glob("*.yaml")
        text = yaml.safe_load(definition.read_text())
        del self.fields(text)["paused"]
        definition.write_text(yaml.safe_dump(text))
        (chart / "templates" / "gone.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: gone}\n")
        return chart

    @staticmethod
    def fields(definition: dict) -> dict:
        return definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]

    def test_upgrade_and_uninstall(self):
        kube.register_kind("Autoscaler", "flyball.dev/v1alpha1", "autoscalers", True)
        before = self.everything()
        self.helm("install", "flyball", self.earlier(), "--namespace", NAMESPACE, *self.VALUES)
        scaled = kube.make("Autoscaler", "web", "shop", spec={"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 3})
        wait.until(lambda: kube.apply(self.admin, scaled) or True, "the kind is served")
        kept = (("Deployment", NAMESPACE, "flyball"), ("Service", NAMESPACE, "flyball"), ("Autoscaler", "shop", "web"),
                ("CustomResourceDefinition", None, "autoscalers.flyball.dev"), ("APIService", None, "v1beta1.custom.metrics.k8s.io"))
        ids = [kube.get(self.admin, *thing)["metadata"]["uid"] for thing in kept]

        self.helm("upgrade", "flyball", CHART, "--namespace", NAMESPACE, *self.VALUES)
        self.assertEqual([kube.get(self.admin, *thing)["metadata"]["uid"] for thing in kept], ids, "nothing is deleted and made anew")
        self.assertIn("paused", self.fields(kube.get(self.admin, *kept[3])))
        self.assertIn(f"ConfigMap {NAMESPACE} flyball", self.everything())
        self.assertNotIn(f"ConfigMap {NAMESPACE} gone", self.everything())
        self.helm("rollback", "flyball", "1", "--namespace", NAMESPACE)
        self.assertEqual([kube.get(self.admin, *thing)["metadata"]["uid"] for thing in kept], ids)

        self.helm("uninstall", "flyball", "--namespace", NAMESPACE)
        self.assertEqual(kube.get(self.admin, *kept[2])["metadata"]["uid"], ids[2], "autoscalers are kept with their kind")
        kube.delete(self.admin, *kept[3])
        wait.until(lambda: self.assertEqual(self.everything() - before, set()) is None, "nothing left")

    def delete_the_kind(self):
        kube.delete(self.admin, "CustomResourceDefinition", None, "autoscalers.flyball.dev")
        wait.until(lambda: "autoscalers.flyball.dev" not in self.kubectl("api-resources", "-o", "name"), "the kind is gone")

    def test_what_replicas_have_made_is_in_no_upgrade_s_way(self):
        """A pod that ends may make its Lease, or save what it remembers, once more: after Helm has taken both from it."""
        release = ("flyball", CHART, "--namespace", NAMESPACE, "--set")
        self.delete_what_the_scaler_made()
        self.addCleanup(self.delete_what_the_scaler_made)
        self.addCleanup(self.delete_the_kind)
        self.addCleanup(self.helm, "uninstall", "flyball", "--namespace", NAMESPACE)
        self.helm("install", *release, "scaler.enabled=true,scaler.shards=3,replicas=3")
        self.helm("upgrade", *release, "scaler.enabled=false")
        labels = {"app.kubernetes.io/managed-by": "flyball"}
        made = [kube.make("ConfigMap", "flyball-scaler-state-0", NAMESPACE, labels=labels, data={"state": "remembered"}),
                *(kube.make("Lease", f"flyball-scaler-{name}", NAMESPACE, labels=labels, spec={"holderIdentity": "a-pod"})
                  for name in ("0", "2", "shards", "member-3"))]
        for item in made:
            kube.apply(self.admin, item)
        self.helm("rollback", "flyball", "1", "--namespace", NAMESPACE)
        self.helm("upgrade", *release, "scaler.enabled=true,scaler.shards=1,replicas=1")
        self.helm("upgrade", *release, "scaler.enabled=true,scaler.shards=3,replicas=3")
        for item in made:
            found = kube.get(self.admin, item["kind"], NAMESPACE, item["metadata"]["name"])
            self.assertEqual([found.get(key) for key in ("data", "spec")], [item.get(key) for key in ("data", "spec")], "it is the replicas' alone")

    def test_a_second_scaler_in_one_namespace_is_refused(self):
        """Leases and ConfigMaps have fixed names, so the two would be replicas of each other, with rules and modes of their own."""
        scaler = "apiServices.create=false,scaler.enabled=true"
        first, other = (("--namespace", NAMESPACE, "--set", values) for values in (scaler, f"{scaler},crds.install=false"))
        self.addCleanup(self.delete_the_kind)
        self.helm("install", "flyball", CHART, *first)
        self.addCleanup(self.helm, "uninstall", "flyball", "--namespace", NAMESPACE)
        said = "Deployment monitoring/flyball, which is not of this release, runs the scaler too"
        self.assertIn(said, self.helm("install", "other", CHART, *other, fails=True))
        self.helm("install", "other", CHART, "--namespace", NAMESPACE, "--set", "apiServices.create=false")
        self.addCleanup(self.helm, "uninstall", "other", "--namespace", NAMESPACE)
        self.assertIn(said, self.helm("upgrade", "other", CHART, *other, fails=True))
        self.helm("upgrade", "flyball", CHART, *first)
        self.helm("upgrade", "flyball", CHART, "--namespace", NAMESPACE, "--set", f"{scaler},fullnameOverride=renamed")
        self.helm("install", "other", CHART, "--namespace", "kube-metrics", "--set", f"{scaler},crds.install=false", "--dry-run=server")

    def test_a_deployment_that_is_there_keeps_its_selector(self):
        """With fullnameOverride the object of prometheus-adapter's chart is the same and its selector is not; it can't be changed."""
        kube.register_kind("Deployment", "apps/v1", "deployments", True)
        chart = processes.fresh_folder("old") / "prometheus-adapter"
        shutil.copytree(CHART, chart)
        meta = yaml.safe_load((chart / "Chart.yaml").read_text())
        (chart / "Chart.yaml").write_text(yaml.safe_dump({**meta, "name": "prometheus-adapter"}))
        release = ("--namespace", NAMESPACE, "--set", "fullnameOverride=metrics,podDisruptionBudget.enabled=true")
        self.helm("install", "old", chart, *release)
        self.addCleanup(self.helm, "uninstall", "old", "--namespace", NAMESPACE)
        selector = kube.get(self.admin, "Deployment", NAMESPACE, "metrics")["spec"]["selector"]["matchLabels"]
        self.assertEqual(selector["app.kubernetes.io/name"], "prometheus-adapter")
        self.helm("upgrade", "old", CHART, *release)
        deployment = kube.get(self.admin, "Deployment", NAMESPACE, "metrics")
        self.assertEqual(deployment["metadata"]["labels"]["helm.sh/chart"], f"flyball-{meta['version']}")
        for found in (deployment["spec"]["selector"]["matchLabels"], kube.get(self.admin, "Service", NAMESPACE, "metrics")["spec"]["selector"]):
            self.assertEqual(found, selector)
        self.assertLessEqual(selector.items(), deployment["spec"]["template"]["metadata"]["labels"].items())

    def test_a_ca_that_only_the_cluster_has_is_in_no_upgrade_s_way(self):
        """cert-manager writes it into the APIServices, of which Helm's record knows nothing; the API server refuses it beside insecureSkipTLSVerify."""
        name = "v1beta1.custom.metrics.k8s.io"
        release = ("flyball", CHART, "--namespace", NAMESPACE, "--set")
        self.helm("install", *release, "certManager.enabled=true")
        self.addCleanup(self.helm, "uninstall", "flyball", "--namespace", NAMESPACE)
        ca = base64.b64encode(self.cluster().ca.pem().encode()).decode()
        kube.patch(self.admin, "APIService", None, name, {"spec": {"caBundle": ca}})
        for verify, trust in (("false", (True, None)), ("false", (True, None)), ("true", (None, None))):
            self.helm("upgrade", *release, f"certManager.enabled=true,certificates.verify={verify}")
            spec = kube.get(self.admin, "APIService", None, name)["spec"]
            self.assertEqual((spec.get("insecureSkipTLSVerify"), spec.get("caBundle")), trust)

    def test_notes_lead_on(self):
        notes = self.helm("install", "flyball", CHART, "--namespace", NAMESPACE, "--dry-run=server")
        for line in ("It asks Prometheus at http://prometheus.default.svc:9090.", f"kubectl rollout status deployment/flyball --namespace {NAMESPACE}",
                     f"helm test flyball --namespace {NAMESPACE} --logs", "/docs/quick-start.md", "WARNING: prometheus.url is the chart's default."):
            self.assertIn(line, notes)
        notes = self.helm("install", "flyball", CHART, "--namespace", NAMESPACE, "--dry-run=server", "--set", "prometheus.url=http://p")
        self.assertNotIn("WARNING", notes)
        notes = self.helm("install", "flyball", CHART, "--namespace", NAMESPACE, "--dry-run=server", "--set", "live.metricSource=live")
        self.assertIn("namespace monitoring. It asks no Prometheus.\n\n1.", notes)
        self.assertNotIn("WARNING", notes)

    def test_what_old_values_no_longer_do_is_said(self):
        notes = self.helm("install", "flyball", CHART, "--namespace", NAMESPACE, "--dry-run=server", "--set", "psp.create=false",
                          "--set", "image.repository=k8s.gcr.io/prometheus-adapter/prometheus-adapter")
        self.assertIn("psp has no effect", notes)
        self.assertIn("image.repository names prometheus-adapter: ghcr.io/flyball-autoscaler/flyball", notes)


class Installed(Release):
    """The metrics APIs."""

    MORE_VALUES = {"serviceMonitor": {"enabled": True}}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.make_workload()

    @classmethod
    def make_workload(cls):
        spec = {"securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}, "containers": [{
            "name": "main", "image": "none.invalid/none",
            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}}]}
        kube.apply(cls.admin, kube.make("Pod", "a-1", "shop", labels={"app": "shop"}, spec=spec))
        kube.run_pod(cls.admin, "shop", "a-1")

    def ask(self, path: str):
        """Through the API server, whose trust in the certificate the chart set up."""
        return self.admin.get(path)

    def value(self, path: str) -> str:
        return wait.until(lambda: kube.expect(self.ask(path), 200)["items"], path)[0]["value"]

    def ask_everything(self):
        registration.wait_available(self.admin, self.names_of("APIService"))
        self.assertEqual(self.value(f"{CUSTOM}/namespaces/shop/pods/*/load_per_pod?labelSelector=app%3Dshop"), "7")
        self.assertEqual(self.value(f"{CUSTOM}/namespaces/shop/services/*/load_service"), "8")
        self.assertEqual(self.value(f"{CUSTOM}/namespaces/*/metrics/load_namespace"), "9")
        self.assertEqual(self.value(f"{EXTERNAL}/namespaces/shop/queue_len"), "10")
        pods = wait.until(lambda: kube.expect(self.ask(f"{METRICS}/namespaces/shop/pods"), 200)["items"], "the usage of pods")
        self.assertEqual(pods[0]["containers"][0]["usage"]["cpu"], "250m")
        nodes = wait.until(lambda: kube.expect(self.ask(f"{METRICS}/nodes"), 200)["items"], "the usage of nodes")
        self.assertEqual(nodes[0]["usage"]["memory"], "1Gi")

    def test_1a_helm_test_is_the_doctor(self):
        hook, = objects(self.helm("get", "hooks", self.RELEASE, "--namespace", NAMESPACE))
        file = processes.fresh_folder("hook") / "pod.yaml"
        file.write_text(yaml.safe_dump(hook))
        self.assertNotIn("Warning", dry_run(self.cluster(), file), "a restricted namespace takes it")
        words = hook["spec"]["containers"][0]["args"]
        registration.wait_available(self.admin, self.names_of("APIService"))
        done = self.pod.run(*words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        for line in ("held by Service monitoring/flyball and Available", "this pod's account has the ", "no problems"):
            self.assertIn(line, done.stdout)
        broken = [word.replace("127.0.0.1", "127.0.0.254") for word in words]
        self.assertEqual(self.pod.run(*broken).returncode, 1, "Prometheus is not there")

    def test_1_answers_with_its_own_rights_and_no_others(self):
        self.ask_everything()
        delegated = {("authorization.k8s.io", "subjectaccessreviews", "create"), ("authentication.k8s.io", "tokenreviews", "create")}
        configmap = {("", "configmaps", verb) for verb in ("get", "list", "watch")}
        scrape = token_of(self.admin, NAMESPACE, "flyball-scrape")  # as the controller of such Secrets writes into the Secret
        client = self.pod.client(Identity(token=scrape))
        self.assertIn("flyball_rules_metrics", client.get("/metrics").text())
        self.assertEqual(client.get("/debug/rules").status, 403)
        wanted = granted(self.manifest())
        self.assertTrue(wanted)
        wait.until(lambda: wanted <= self.audit.used(), f"the use of {wanted}")
        self.assertEqual(self.audit.refused(), set(), "a right is missing")
        self.assertLessEqual(self.audit.used() - delegated - configmap, wanted)
        self.assertLessEqual(delegated, self.audit.used())

    def test_2_each_right_is_needed(self):
        objects_role, = [r for r in self.manifest("ClusterRole") if r["metadata"]["name"].endswith(":objects")]

        def without(resource, verbs):
            left = [{**rule, "verbs": [v for v in rule["verbs"] if resource not in rule["resources"] or v not in verbs]}
                    for rule in objects_role["rules"]]
            return [rule for rule in left if rule["verbs"]]

        rows = (
            ("pods can't be listed", without("pods", ("list", "watch")), f"{CUSTOM}/namespaces/shop/pods/*/load_per_pod", ("", "pods", "list")),
            ("pods can't be watched", without("pods", ("watch",)), f"{CUSTOM}/namespaces/shop/pods/*/load_per_pod", ("", "pods", "watch")),
            ("services can't be listed", without("services", ("list", "watch")), f"{CUSTOM}/namespaces/shop/services/*/load_service",
             ("", "services", "list")),
            ("nodes can't be listed", without("nodes", ("list", "watch")), f"{METRICS}/nodes", ("", "nodes", "list")),
        )
        name = objects_role["metadata"]["name"]
        for claim, left, path, missing in rows:
            with self.subTest(claim):
                kube.patch(self.admin, "ClusterRole", None, name, {"rules": left})
                audit = Audit(self.cluster(), self.RELEASE)
                self.restart()
                self.pod.wait_ready()
                admin = self.pod.client(Identity(cert=self.cluster().admin_cert))

                def refused(ask=admin.get, path=path, missing=missing, audit=audit):
                    answer = ask(path)
                    return answer if missing in audit.refused() else None
                answer = wait.until(refused, f"{missing} refused")
                if missing[2] == "list":
                    self.assertNotIn(b'"value"', answer.body)
        kube.patch(self.admin, "ClusterRole", None, name, {"rules": objects_role["rules"]})

    def test_3_without_the_right_to_ask_who_may_nothing_is_answered(self):
        for suffix in (":auth-delegator", ":auth-reader"):
            with self.subTest(suffix):
                binding, = [b for b in self.manifest("ClusterRoleBinding", "RoleBinding") if b["metadata"]["name"].endswith(suffix)]
                kube.delete(self.admin, binding["kind"], binding["metadata"].get("namespace"), binding["metadata"]["name"])
                self.pod.stop()
                type(self).pod = Pod(self.cluster(), NAMESPACE, self.RELEASE).start()
                if suffix == ":auth-reader":
                    wait.until(lambda: not self.pod.process.alive(), "the end of a pod that can't read whom to trust")
                    self.assertIn("extension-apiserver-authentication-reader", self.pod.process.text())
                else:
                    self.pod.wait_ready()
                    proxied = Identity(cert=self.cluster().front_proxy, headers=(("X-Remote-User", "somebody"),))
                    self.assertIn(self.pod.client(proxied).get(CUSTOM).status, (403, 500))
                kube.apply(self.admin, binding)
        self.restart()
        self.pod.wait_ready()

    def secret(self) -> dict:
        return kube.get(self.admin, "Secret", NAMESPACE, self.RELEASE + "-tls")["data"]

    def test_4_upgrade_keeps_the_certificate_until_it_is_old(self):
        first = self.secret()
        self.upgrade(logLevel=3)
        self.assertEqual(self.secret(), first)
        self.upgrade(certificates={"renewAfterDays": 0})
        second = self.secret()
        self.assertEqual(second["ca.crt"], first["ca.crt"])
        self.assertNotEqual(second["tls.crt"], first["tls.crt"])
        for service in self.manifest("APIService"):
            self.assertEqual(service["spec"]["caBundle"], first["ca.crt"])
        self.wait_until_it_is_served()
        self.ask_everything()

    def test_4a_a_certificate_ends_no_later_than_its_ca(self):
        """Else nobody would be told that the CA ends, which upgrades keep."""
        name, renew = self.RELEASE + "-ca", {"certificates": {"renewAfterDays": 0}}
        file = processes.fresh_folder("certificate") / "tls.crt"

        def ends_within(days: int) -> bool:
            file.write_bytes(base64.b64decode(self.secret()["tls.crt"]))
            return processes.run([paths.debian("openssl", "openssl"), "x509", "-noout", "-checkend", str(days * DAY), "-in", file]).returncode != 0

        def let_the_ca_end_in(days: int):
            kube.patch(self.admin, "Secret", NAMESPACE, name, {"metadata": {"annotations": {"flyball.dev/ends-at": str(int(time.time()) + days * DAY)}}})

        self.assertFalse(ends_within(3600))
        let_the_ca_end_in(10)
        self.upgrade(**renew)
        self.assertEqual((ends_within(11), ends_within(8)), (True, False))
        let_the_ca_end_in(0)
        self.assertIn(f"the CA in Secret monitoring/{name} ends within a day: delete that Secret", self.helm(
            "upgrade", self.RELEASE, CHART, "--namespace", NAMESPACE, "--values", values_file({**self.values, **renew}), fails=True))
        before = self.secret()["ca.crt"]
        kube.delete(self.admin, "Secret", NAMESPACE, name)
        self.upgrade()
        self.assertNotEqual(self.secret()["ca.crt"], before)
        self.assertFalse(ends_within(3600))
        self.wait_until_it_is_served()
        self.ask_everything()

    def wait_until_it_is_served(self):
        """By the pod that runs, since it reads its files again."""
        self.pod.refresh()
        text = "\n".join(base64.b64decode(self.secret()["tls.crt"]).decode().split())
        wait.until(lambda: "\n".join(self.served_certificate().split()) == text, "the new certificate is served")

    def served_certificate(self) -> str:
        import ssl  # pylint: disable=import-outside-toplevel
        return ssl.get_server_certificate(("127.0.0.1", self.port))

    def test_5_upgrade_brings_new_rules_without_a_restart(self):
        renamed = {"seriesQuery": "load_per_pod", "resources": {"overrides": OWN}, "name": {"as": "load_anew"}, "metricsQuery": SUM}
        self.upgrade(rules=rules([renamed]))
        self.pod.refresh()
        self.assertEqual(self.value(f"{CUSTOM}/namespaces/shop/pods/*/load_anew"), "7")

    def test_6_a_group_that_another_server_holds_is_left_to_it(self):
        name = "v1beta1.external.metrics.k8s.io"
        values = {"fullnameOverride": "other", "rules": {"default": False, "external": rules()["external"]}}
        other = ("other", CHART, "--namespace", "kube-metrics", "--values", values_file(values))
        held = kube.get(self.admin, "APIService", None, name)["spec"]
        self.assertIn("is held by Service monitoring/flyball. To leave it: apiServices.external=false", self.helm("install", *other, fails=True))
        self.helm("install", *other, "--set", "apiServices.external=false")
        self.assertEqual(kube.get(self.admin, "APIService", None, name)["spec"], held)
        taken = processes.fresh_folder("taken") / "apiservices.yaml"
        taken.write_text(self.helm("template", *other, "--dry-run=server", "--set", "apiServices.takeOver=true",
                                   "--show-only", "templates/apiservices.yaml"))
        self.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(taken))
        self.assertEqual(kube.get(self.admin, "APIService", None, name)["spec"]["service"], {
            "name": "other", "namespace": "kube-metrics", "port": 443})
        self.helm("upgrade", *other, "--take-ownership")
        self.helm("upgrade", *other)  # from now on as always
        self.assertEqual(kube.get(self.admin, "APIService", None, name)["spec"]["caBundle"],
                         kube.get(self.admin, "Secret", "kube-metrics", "other-tls")["data"]["ca.crt"])
        self.assertIn("is held by Service kube-metrics/other", self.helm("upgrade", self.RELEASE, CHART, "--namespace", NAMESPACE, fails=True,
                                                                          *("--values", values_file(self.values))))
        self.helm("uninstall", "other", "--namespace", "kube-metrics")

    def test_6a_nor_is_one_taken_back_whose_annotations_still_name_the_release(self):
        """Somebody's manifest over ours leaves Helm's annotations in place."""
        name = "v1beta1.metrics.k8s.io"
        ours = kube.get(self.admin, "APIService", None, name)["spec"]["service"]
        kube.apply(self.admin, kube.make("Service", "theirs", "kube-metrics", spec={"ports": [{"port": 443}]}))
        kube.patch(self.admin, "APIService", None, name, {"spec": {"service": {"name": "theirs", "namespace": "kube-metrics"}}})
        again = ("upgrade", self.RELEASE, CHART, "--namespace", NAMESPACE, "--values", values_file(self.values))
        self.assertIn("is held by Service kube-metrics/theirs", self.helm(*again, fails=True))
        kube.delete(self.admin, "Service", "kube-metrics", "theirs")
        self.helm(*again)  # nobody is there any more
        kube.patch(self.admin, "APIService", None, name, {"spec": {"service": ours}})  # Helm sends what changed since its last upgrade: nothing

    def test_6b_rights_in_some_namespaces_only(self):
        self.upgrade(rbac={"namespaces": ["shop"], "watchKinds": False}, rules={**rules(), "resource": None})
        self.assertEqual(granted(self.manifest()), set())
        audit = Audit(self.cluster(), self.RELEASE)
        self.restart()
        self.pod.wait_ready()
        registration.wait_available(self.admin, self.names_of("APIService"))
        self.assertEqual(self.value(f"{CUSTOM}/namespaces/shop/pods/*/load_per_pod"), "7")
        self.assertEqual(self.value(f"{CUSTOM}/namespaces/shop/services/*/load_service"), "8")
        self.assertEqual(self.ask(f"{CUSTOM}/namespaces/web/pods/*/load_per_pod").status, 500)
        self.assertLessEqual(granted(self.manifest(), namespaced=True), audit.used())

    def test_7_uninstall_leaves_nothing(self):
        self.pod.stop()
        self.helm("uninstall", self.RELEASE, "--namespace", NAMESPACE)
        for kind, name in (("Pod", "a-1"), ("Service", "front")):
            kube.delete(self.admin, kind, "shop", name)
        wait.until(lambda: self.assertEqual(self.everything() - self.before, set()) is None, "nothing left")
