"""What the chart renders, without a cluster: each supported shape, what is refused, what is documented."""

import concurrent.futures
import json
import re
import shutil
import subprocess
import sys
import tarfile

import yaml

from harness import case, paths, processes
from helm import CHART, CI, STOCK, Helm, bound, container, granted, names, objects, of_kind, values_file

HERE = paths.PROJECT / "test" / "chart"

# Values that must be refused, and what the message has to name.
REFUSED = (
    ("a typo at the top", {"replcias": 2}, "replcias"),
    ("a typo below", {"prometheus": {"ulr": "http://p"}}, "ulr"),
    ("a typo in a rule", {"rules": {"custom": [{"seriesQuery": "a", "metricQuery": "b"}]}}, "metricQuery"),
    ("a typo in what a rule says of a failure", {"rules": {"external": [{"seriesQuery": "a", "onFailure": {"then": {"replica": 3}}}]}}, "replica"),
    ("a typo in resources", {"resources": {"limts": {"cpu": 1}}}, "limts"),
    ("a typo in a probe", {"livenessProbe": {"periodSecond": 1}}, "periodSecond"),
    ("a typo in a security context", {"securityContext": {"runAsUsr": 1}}, "runAsUsr"),
    ("a typo in a toleration", {"tolerations": [{"keys": "a"}]}, "keys"),
    ("a typo in an issuer", {"certManager": {"issuerRef": {"nmae": "a"}}}, "nmae"),
    ("a typo in a peer", {"networkPolicy": {"from": [{"podSelektor": {}}]}}, "podSelektor"),
    ("a filter of both kinds", {"rules": {"custom": [{"seriesQuery": "a", "seriesFilters": [{"is": "a", "isNot": "b"}]}]}}, "seriesFilters"),
    ("a number as text", {"replicas": "two"}, "replicas"),
    ("a duration without unit", {"metricsRelistInterval": "60"}, "metricsRelistInterval"),
    ("an unknown mode", {"scaler": {"mode": "dry-run"}}, "scaler/mode"),
    ("acting on HPAs while shadowing", {"scaler": {"enabled": True, "hpa": True}}, "scaler.hpa needs scaler.mode=act"),
    ("a Secret's use that is none", {"scaler": {"triggerSecrets": "some"}}, "scaler/triggerSecrets"),
    ("a name as an address", {"scaler": {"triggerAllowAddresses": ["localhost"]}}, "triggerAllowAddresses"),
    ("too many shards", {"scaler": {"shards": 257}}, "shards"),
    ("a port that is none", {"listenPort": 70000}, "listenPort"),
    ("a header without value", {"prometheus": {"headers": ["X-Scope-OrgID"]}}, "headers"),
    ("a digest that is a tag", {"image": {"digest": "v1"}}, "digest"),
    ("cpu alone", {"rules": {"resource": {"cpu": {"containerQuery": "a", "nodeQuery": "b"}}}}, "memory"),
    ("a certificate without its CA", {"tls": {"enable": True, "existingSecret": "s"}}, "tls.ca"),
    ("a certificate of others that is not turned on", {"tls": {"existingSecret": "s"}}, "tls.existingSecret needs tls.enable=true"),
    ("two certificates", {"tls": {"enable": True, "existingSecret": "s"}, "certManager": {"enabled": True}}, "one of them"),
    ("keys of no Secret", {"prometheus": {"existingSecret": {"tokenKey": "t"}}}, "its keys need its name"),
    ("half a client certificate", {"prometheus": {"existingSecret": {"name": "s", "caKey": "c", "certKey": "k"}}}, "go together"),
    ("a part set to nothing", {"networkPolicy": None}, "networkPolicy has no values"),
    ("a URL with a port beside the port", {"prometheus": {"url": "http://p.monitoring.svc:9091"}}, "prometheus.url has a port (9091) and prometheus.port is 9090"),
    ("the same with an IPv6 address", {"prometheus": {"url": "http://[fd00::1]:9091"}}, "prometheus.url has a port (9091)"),
    ("the same when it is templated", {"prometheus": {"url": "http://{{ .Release.Name }}:9091/x"}}, "prometheus.url has a port (9091)"),
    ("a URL without scheme", {"prometheus": {"url": "prometheus.monitoring.svc"}}, "has to begin with http:// or https://"),
    ("a processor that there is no program for", {"image": {"architectures": ["s390x"]}}, "architectures"),
    ("an unknown way with OpenShift", {"global": {"compatibility": {"openshift": {"adaptSecurityContext": "yes"}}}}, "adaptSecurityContext"),
    ("a certificate without its key", {"tls": {"enable": True, "ca": "c", "certificate": "c"}}, "tls.key"),
)

# Forms that prometheus-adapter's chart documents: values, and what they become.
RULE = {"seriesQuery": '{__name__=~"^some_metric_count$"}', "resources": {"template": "<<.Resource>>"},
        "name": {"matches": "", "as": "my_metric"}, "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"}
QUERY = {"containerQuery": "sum by (<<.GroupBy>>) (rate(c{<<.LabelMatchers>>}[3m]))\n", "nodeQuery": "sum by (<<.GroupBy>>) (n{<<.LabelMatchers>>})",
         "resources": {"overrides": {k: {"resource": k} for k in ("node", "namespace", "pod")}}, "containerLabel": "container"}
KUBELETS = {"metricSource": "live", "kubelets": {"scrapeInterval": "15s"}}
RESOURCE = {"cpu": QUERY, "memory": QUERY, "window": "3m"}
ANNOTATED = {"metricSource": "live", "scrapeAnnotatedPods": "1s"}


def on_failure(then, **more) -> dict:
    return {**RULE, "source": "prometheus", "onFailure": {"then": then, **more}}


# A feature as docs/security.md names it -> values with it, and the same without it.
NOTHING = {"rules": {"default": False}, "rbac": {"watchKinds": False}}
SHADOW = {**NOTHING, "scaler": {"enabled": True}}
ADVISE, ACT = ({**NOTHING, "scaler": {"enabled": True, "mode": mode}} for mode in ("advise", "act"))
FEATURES = {
    "`rbac.watchKinds`": ({**NOTHING, "rbac": {"watchKinds": True}}, NOTHING),
    "custom metrics": ({**NOTHING, "rules": {"default": True}}, NOTHING),
    "resource metrics": ({**NOTHING, "rules": {"default": False, "resource": RESOURCE}}, NOTHING),
    "external metrics": ({**NOTHING, "rules": {"default": False, "external": [RULE]}}, NOTHING),
    "external metrics, a rule with `onFailure` and `keepLast`, `replicas`, `max` or `min`; or `rbac.readAutoscalers`": (
        {**NOTHING, "rules": {"default": False, "external": [on_failure("max")]}}, NOTHING),
    "`live.scrapeAnnotatedPods`": ({**NOTHING, "live": ANNOTATED}, NOTHING),
    "`live.kubelets`": ({**NOTHING, "live": KUBELETS}, NOTHING),
    "scaler": (SHADOW, NOTHING),
    "scaler, `mode=advise` or `act`": (ADVISE, SHADOW),
    "scaler, `mode=act`": (ACT, ADVISE),
    "scaler, `hpa=true`": ({**ACT, "scaler": {**ACT["scaler"], "hpa": True}}, ACT),
    "scaler, `triggerSecrets=true` or `referenced`": ({**ACT, "scaler": {**ACT["scaler"], "triggerSecrets": True}}, ACT),
    "`front.enabled`": ({**ACT, "front": {"enabled": True}}, ACT),
}


def rights_page() -> dict:
    """Feature -> (resource, verb) of the rights that the table of docs/security.md names for it. A clause has verbs, then resources."""
    said = {}
    section = (paths.PROJECT / "docs" / "security.md").read_text().partition("## Rights of Flyball\n")[2].partition("\n## ")[0]
    for feature, rights in re.findall(r"^\| (.*?) \| (.*?) \| ", section, re.MULTILINE):
        for clause in rights.split("; "):
            verbs = re.findall(r"\b(?:get|list|watch|create|update|patch)\b", clause.partition("`")[0])
            said.setdefault(feature, set()).update((resource, verb) for resource in re.findall(r"`([a-z]+(?:/[a-z]+)?)`", clause) for verb in verbs)
    return {feature: rights for feature, rights in said.items() if feature not in ("feature", "always", "`rbac.debugPages`")}


def dashboard() -> dict:
    return json.loads((CHART / "files" / "dashboard.json").read_text())


def config_of(items: list) -> dict:
    return yaml.safe_load(of_kind(items, "ConfigMap")[0]["data"]["config.yaml"])


class Rendering(case.Case):
    @classmethod
    def setUpClass(cls):
        cls.helm = Helm()

    def test_every_shape_passes_lint(self):
        self.helm("lint", "--strict", CHART)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda values: self.helm("lint", "--strict", CHART, "--values", values), CI))

    def test_what_is_wrong_is_refused_by_name(self):
        for claim, values, named in REFUSED:
            with self.subTest(claim):
                message = self.helm("template", "f", CHART, "--values", values_file(values), fails=True)
                self.assertIn(named, message)

    def test_an_old_cluster_can_do_without_our_kind(self):
        old = ("template", "f", CHART, "--kube-version", "1.28.0", "--set", "scaler.enabled=true")
        self.assertIn("needs Kubernetes 1.29", self.helm(*old, fails=True))
        self.assertFalse(of_kind(objects(self.helm(*old, "--set", "crds.install=false")), "CustomResourceDefinition"))

    def test_triggers_are_limited_as_they_are_told(self):
        told = {"scaler": {"enabled": True, "mode": "act", "triggerSecrets": "referenced", "triggerAllowAddresses": ["127.0.0.0/8", "::1"]}}
        items = objects(self.helm("template", "f", CHART, "--values", values_file(told)))
        self.assertLessEqual({"--scaler-trigger-secrets=referenced", "--scaler-trigger-allow-addresses=127.0.0.0/8,::1"},
                             set(container(items)["args"]))
        self.assertIn("secrets", {r for role in of_kind(items, "ClusterRole") for rule in role["rules"] for r in rule.get("resources", ())})
        for secrets in (True, False):
            items = objects(self.helm("template", "f", CHART, "--values", values_file({"scaler": {**told["scaler"], "triggerSecrets": secrets}})))
            self.assertNotIn("--scaler-trigger-secrets=referenced", container(items)["args"])

    def test_a_pod_that_is_stopped_serves_until_nothing_is_routed_to_it(self):
        for told, delay in ((), "5s"), (("--set", "shutdownDelay=8s"), "8s"):
            items = self.helm.render(*told)
            self.assertIn(f"--shutdown-delay-duration={delay}", container(items)["args"])
            self.assertGreater(of_kind(items, "Deployment")[0]["spec"]["template"]["spec"]["terminationGracePeriodSeconds"], 30)

    def test_a_mode_may_be_written_as_an_autoscaler_has_it(self):
        """In any case; the flag, the rights and the groups are those of the mode."""
        for mode in ("Act", "ADVISE", "Shadow"):
            with self.subTest(mode):
                written, usual = (self.helm.render("--set", f"scaler.enabled=true,scaler.mode={m}") for m in (mode, mode.lower()))
                self.assertIn(f"--scaler-mode={mode.lower()}", container(written)["args"])
                self.assertEqual((bound(written), names(written)), (bound(usual), names(usual)))
        self.helm.render("--set", "scaler.enabled=true,scaler.mode=Act,scaler.hpa=true")

    def test_every_value_is_in_the_schema_and_the_table(self):
        subprocess.run([sys.executable, HERE / "values_table.py"], check=True)

    def test_old_defaults_render_and_keep_their_meaning(self):
        theirs = objects((STOCK / "rendered.yaml").read_text())
        ours = self.helm.render("--values", STOCK / "values.yaml", release="prometheus-adapter")
        self.assertEqual(config_of(ours), config_of(theirs))
        image = container(ours)["image"]
        self.assertNotIn("prometheus-adapter", image)
        args = set(container(ours)["args"])
        for arg in container(theirs)["args"]:
            if not arg.startswith(("/adapter", "--cert-dir")):  # the program is in the image; the certificate is made by Helm
                self.assertIn(arg, args)
        groups = {name for kind, name in names(theirs) if kind == "APIService"}
        self.assertEqual({name for kind, name in names(ours) if kind == "APIService"} - groups, {"v1beta2.custom.metrics.k8s.io"})

    def test_what_the_old_chart_took_in_other_types(self):
        """Numbers in quotes, empty maps for lists and lists for maps, nothing for a map: each rendered there, so it does here."""
        empty = ({}, [], None)
        rows = [dict.fromkeys((
            "env", "extraArguments", "extraContainers", "extraVolumes", "extraVolumeMounts", "extraManifests", "tolerations", "topologySpreadConstraints",
            "customLabels", "customAnnotations", "podLabels", "podAnnotations", "deploymentAnnotations", "nodeSelector", "affinity", "dnsConfig",
            "podSecurityContext", "securityContext", "livenessProbe", "readinessProbe", "startupProbe", "strategy", "resources"), value) for value in empty]
        rows.append({"replicas": "2", "logLevel": "99", "listenPort": "8443", "service": {"port": "8443"}, "revisionHistoryLimit": "3", "runAsUser": "99",
                     "image": {"tag": 1.2}, "prometheus": {"port": "80"}, "global": None})
        rows += [{"image": {"pullSecrets": value}, "rules": {"custom": value, "external": value}} for value in empty]
        rule = {"seriesQuery": "a", "seriesFilters": None, "name": None, "resources": None, "metricsQuery": None}
        more = {"seriesQuery": "a", "seriesFilters": [{"is": "", "isNot": "b"}], "name": {"matches": None, "as": None},
                "resources": {"template": None, "overrides": {"ns": {"group": None, "resource": "namespace"}}}}
        rows.append({"rules": {"custom": [rule, more], "external": [rule, {**rule, "onFailure": None}], "resource": {"cpu": {"containerQuery": "a"}, "memory": {"containerQuery": "b"}}}})
        rows.append({"rules": {"external": [rule]}, "rbac": {"objects": None, "customMetrics": {"resources": None}, "externalMetrics": {"resources": []}}})
        rows.append({"extraManifests": {"one": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}}})
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            rendered = list(pool.map(lambda row: (row, self.helm.render("--values", values_file(row))), rows))
        for row, items in rendered:
            with self.subTest(row):
                deployment, = of_kind(items, "Deployment")
                self.assertTrue(deployment["spec"]["template"]["spec"]["containers"][0]["args"])
                for rule in (rule for role in of_kind(items, "ClusterRole") for rule in role["rules"] or ()):
                    self.assertTrue(rule.get("resources") or rule.get("nonResourceURLs"), "the API server refuses a rule without either")
        last = {json.dumps(row): items for row, items in rendered}
        numbers = next(items for row, items in last.items() if "runAsUser" in row)
        self.assertEqual((of_kind(numbers, "Deployment")[0]["spec"]["replicas"], of_kind(numbers, "Service")[0]["spec"]["ports"][0]["port"],
                          container(numbers)["ports"][0]["containerPort"], container(numbers)["securityContext"]["runAsUser"]), (2, 8443, 8443, 99))

    def test_values_are_not_mixed_with_defaults_that_contradict_them(self):
        def budget(**values):
            return lambda spec: ({"podDisruptionBudget": {"enabled": True, **values}}, lambda i: {
                k: v for k, v in of_kind(i, "PodDisruptionBudget")[0]["spec"].items() if k != "selector"}, spec)
        main = container
        rows = {
            "resources": ({"resources": {"limits": {"memory": "32Mi"}}}, lambda i: main(i)["resources"], {"limits": {"memory": "32Mi"}}),
            "resources that are not given": ({"resources": {}}, lambda i: main(i)["resources"]["limits"], {"memory": "512Mi"}),
            "no resources": ({"resources": None}, lambda i: main(i).get("resources"), None),
            "a probe of another kind": ({"startupProbe": {"tcpSocket": {"port": "https"}}}, lambda i: main(i)["startupProbe"].get("httpGet"), None),
            "a container of others runs as it likes": ({"extraContainers": [{"name": "a", "image": "b"}]}, lambda i: of_kind(
                i, "Deployment")[0]["spec"]["template"]["spec"]["securityContext"].get("runAsNonRoot"), None),
            "a tag of prometheus-adapter alone": ({"image": {"tag": "v0.12.0"}}, lambda i: "v0.12.0" in main(i)["image"], False),
            "a tag of flyball": ({"image": {"tag": "0.0.9"}}, lambda i: main(i)["image"].rpartition(":")[2], "0.0.9"),
            "a port that the URL has, and none as text": ({"prometheus": {"url": "http://p:9091", "port": "0"}}, lambda i: [
                a for a in main(i)["args"] if a.startswith("--prometheus-url")], ["--prometheus-url=http://p:9091"]),
            "a budget by what must stay": budget(minAvailable="50%")({"minAvailable": "50%"}),
            "a budget whose other half is empty": budget(minAvailable="", maxUnavailable=1)({"maxUnavailable": 1}),
            "a budget of zero beside the default": budget(minAvailable=0)({"maxUnavailable": 1}),
            "a budget that lets nothing go": budget(maxUnavailable=0)({"maxUnavailable": 0}),
            "a budget without numbers": budget(maxUnavailable=None)({"minAvailable": 0}),
            "rights in namespaces on what lies in none": ({"rbac": {"namespaces": ["a"], "objects": [{"apiGroups": [""], "resources": ["namespaces"]}]}},
                                                          lambda i: [r["resources"] for r in of_kind(i, "Role")[0]["rules"]], [["pods"]]),
        }
        for claim, (values, found, wanted) in rows.items():
            with self.subTest(claim):
                self.assertEqual(found(self.helm.render("--values", values_file(values))), wanted)

    def test_two_renders_are_equal(self):
        """What Argo CD and Flux compare. Only the certificate that Helm makes without a cluster is a new one each time."""
        for values in CI:
            with self.subTest(values.name):
                one, two = (self.helm("template", "flyball", CHART, "--values", values) for _ in range(2))
                told = yaml.safe_load(values.read_text())
                made = not (told.get("certManager") or told.get("tls") or told.get("certificates", {}).get("selfMade") == "pod")
                different = [a for a, b in zip(one.splitlines(), two.splitlines(), strict=True) if a != b]
                self.assertEqual({line.split(":")[0].strip() for line in different} - {"caBundle", "ca.crt", "tls.crt", "tls.key", "flyball.dev/made-at", "flyball.dev/ends-at"}, set())
                self.assertEqual(bool(different), made)

    def test_where_it_runs(self):
        def spec(values, *args):
            return of_kind(self.helm.render("--values", values_file(values), *args), "Deployment")[0]["spec"]["template"]["spec"]
        def processors(values):
            term, = spec(values)["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
            return term["matchExpressions"][0]["values"]
        self.assertEqual((processors({}), processors({"image": {"architectures": ["arm64"]}})), (["amd64", "arm64"], ["arm64"]))
        self.assertNotIn("affinity", spec({"image": {"architectures": []}}))
        self.assertEqual(spec({})["nodeSelector"], {"kubernetes.io/os": "linux"})
        rows = (({}, None), ({"hostNetwork": {"enabled": True}}, "ClusterFirstWithHostNet"),
                ({"hostNetwork": {"enabled": True}, "dnsPolicy": "Default"}, "Default"), ({"dnsPolicy": "None"}, "None"))
        for values, policy in rows:
            self.assertEqual(spec(values).get("dnsPolicy"), policy)

    def test_openshift_gives_the_ids(self):
        def ids(*args, **values):
            items = self.helm.render("--values", values_file(values), *args)
            pods = [of_kind(items, "Deployment")[0]["spec"]["template"]["spec"], of_kind(items, "Pod")[0]["spec"]]
            return {key for pod in pods for context in (pod["securityContext"], pod["containers"][0]["securityContext"])
                    for key in context if key in ("runAsUser", "runAsGroup", "fsGroup")}
        def told(how):
            return {"global": {"compatibility": {"openshift": {"adaptSecurityContext": how}}}}
        fixed, there = {"runAsUser", "runAsGroup", "fsGroup"}, ("--api-versions", "security.openshift.io/v1")
        self.assertEqual((ids(), ids(*there), ids(**told("force")), ids(*there, **told("disabled"))), (fixed, set(), set(), fixed))

    def test_the_doctor_s_pod_is_like_the_server_s(self):
        items = self.helm.render("--values", values_file({
            "prometheus": {"url": "https://p", "existingSecret": {"name": "s", "caKey": "c"}, "headers": ["A=b c"]},
            "extraArguments": ["--prometheus-token-file=/t", "--max-requests-inflight=1"], "image": {"pullSecrets": ["r"]},
            "tolerations": [{"key": "a"}], "serviceAccount": {"name": "sa"}}))
        pod, = of_kind(items, "Pod")
        server = of_kind(items, "Deployment")[0]["spec"]["template"]
        self.assertEqual(pod["metadata"]["annotations"]["helm.sh/hook"], "test")
        for key in ("serviceAccountName", "automountServiceAccountToken", "imagePullSecrets", "securityContext", "nodeSelector", "affinity", "tolerations"):
            self.assertEqual(pod["spec"][key], server["spec"][key], key)
        mine, theirs = pod["spec"]["containers"][0], container(items)
        for key in ("image", "securityContext", "resources"):
            self.assertEqual(mine[key], theirs[key], key)
        self.assertEqual(mine["args"][:2], ["doctor", "--config=/etc/adapter/config.yaml"])
        self.assertEqual(mine["args"][2:], [arg for arg in theirs["args"] if arg.startswith("--prometheus-")])
        selector = of_kind(items, "Service")[0]["spec"]["selector"]
        self.assertFalse(selector.items() <= pod["metadata"]["labels"].items(), "no request is sent to it")

    def test_with_the_live_source_alone_there_need_be_no_prometheus(self):
        """The server would ask the default address for earlier samples, and the doctor would miss it."""
        def asked(*values):
            items = self.helm.render("--set", ",".join(("live.metricSource=live", *values)))
            pod, = of_kind(items, "Pod")
            return [[a for a in args if "prometheus" in a] for args in (container(items)["args"], pod["spec"]["containers"][0]["args"])]
        self.assertEqual(asked(), [[], []])
        server, doctor = asked("prometheus.urls[0]=http://other:9090")
        self.assertIn("--prometheus-url=http://other:9090", server)
        server, doctor = asked("prometheus.url=http://p")
        self.assertIn("--prometheus-url=http://p:9090", server)
        self.assertEqual(doctor, [], "it is asked for the past alone")

    def test_the_package(self):
        folder = processes.fresh_folder("package")
        self.helm("package", CHART, "--destination", folder)
        with tarfile.open(next(folder.glob("flyball-*.tgz"))) as package:
            files = {name.partition("/")[2] for name in package.getnames()}
            self.assertEqual(package.extractfile("flyball/LICENSE").read(), (paths.PROJECT / "LICENSE").read_bytes())
        self.assertLessEqual({"Chart.yaml", "README.md", "LICENSE", "icon.svg", "values.schema.json", "templates/tests/doctor.yaml"}, files)
        self.assertFalse({f for f in files if f.startswith("ci/")})
        meta = yaml.safe_load((CHART / "Chart.yaml").read_text())
        self.assertTrue(meta["icon"].endswith("/charts/flyball/icon.svg"))
        notes = {key.partition("/")[2]: yaml.safe_load(text) for key, text in meta["annotations"].items()}
        self.assertEqual(notes["images"][0]["image"], container(self.helm.render())["image"])
        self.assertEqual([crd["name"] for crd in notes["crds"]], [file.name.removesuffix(".yaml") for file in (CHART / "files" / "crds").glob("*")])
        self.assertEqual({change["kind"] for change in notes["changes"]} - {"added", "changed", "deprecated", "removed", "fixed", "security"}, set())

    def test_prometheus_verifies_where_the_ca_is_known(self):
        rows = (({}, True), ({"certManager": {"enabled": True}}, True), ({"certificates": {"selfMade": "pod"}}, False),
                ({"certManager": {"enabled": True, "issuerRef": {"name": "acme"}}}, False),
                ({"tls": {"enable": True, "ca": "a", "existingSecret": "s"}}, False))
        for values, verified in rows:
            with self.subTest(values):
                items = self.helm.render("--values", values_file({**values, "serviceMonitor": {"enabled": True}}))
                tls = of_kind(items, "ServiceMonitor")[0]["spec"]["endpoints"][0]["tlsConfig"]
                trusted = {"serverName": "flyball.monitoring.svc", "ca": {"secret": {"name": "flyball-tls", "key": "ca.crt"}}}
                self.assertEqual(tls, trusted if verified else {"insecureSkipVerify": True})

    def test_documented_values_of_the_old_chart(self):
        rows = (
            ("custom rules", {"rules": {"default": False, "custom": [RULE]}}, lambda i: config_of(i) == {"rules": [RULE]}),
            ("default and custom rules", {"rules": {"custom": [RULE]}}, lambda i: len(config_of(i)["rules"]) == 7),
            ("external rules", {"rules": {"default": False, "external": [RULE]}}, lambda i: config_of(i) == {"externalRules": [RULE]}
             and ("APIService", "v1beta1.external.metrics.k8s.io") in names(i)),
            ("resource rules", {"rules": {"default": False, "resource": RESOURCE}}, lambda i: config_of(i) == {"resourceRules": RESOURCE}
             and {("APIService", "v1beta1.metrics.k8s.io"), ("APIService", "v1.metrics.k8s.io")} <= names(i)),
            ("an existing ConfigMap", {"rules": {"existing": "mine"}}, lambda i: not of_kind(i, "ConfigMap")
             and of_kind(i, "Deployment")[0]["spec"]["template"]["spec"]["volumes"][0]["configMap"]["name"] == "mine"),
            ("where Prometheus is", {"prometheus": {"url": "https://p.{{ .Release.Namespace }}.svc", "port": 0, "path": "/prom"}},
             lambda i: "--prometheus-url=https://p.monitoring.svc/prom" in container(i)["args"]),
            ("a relist interval and a log level", {"metricsRelistInterval": "90s", "logLevel": 6},
             lambda i: {"--metrics-relist-interval=90s", "--v=6"} <= set(container(i)["args"])),
            ("a port", {"listenPort": 8443}, lambda i: container(i)["ports"][0]["containerPort"] == 8443),
            ("extra arguments, environment and volumes", {
                "extraArguments": ["--tls-private-key-file=/etc/tls/tls.key"], "env": [{"name": "A", "value": "b"}],
                "extraVolumes": [{"name": "ssl", "hostPath": {"path": "/etc/ssl"}}], "extraVolumeMounts": [{"name": "ssl", "mountPath": "/ssl"}]},
             lambda i: container(i)["args"][-1] == "--tls-private-key-file=/etc/tls/tls.key" and container(i)["env"][0]["name"] == "A"),
            ("a certificate of theirs by arguments, which nobody verifies", {"extraArguments": ["--tls-cert-file=/t/tls.crt", "--tls-private-key-file=/t/tls.key"]},
             lambda i: of_kind(i, "APIService")[0]["spec"]["insecureSkipTLSVerify"] and not of_kind(i, "Secret")
             and sum("--tls-cert-file" in a for a in container(i)["args"]) == 1),
            ("a certificate in the values", {"tls": {"enable": True, "ca": "a", "key": "b", "certificate": "c"}},
             lambda i: of_kind(i, "APIService")[0]["spec"]["caBundle"] == "YQ==" and of_kind(i, "Secret")[0]["data"]["tls.crt"] == "Yw=="),
            ("cert-manager", {"certManager": {"enabled": True, "caCertDuration": "43800h0m0s", "certDuration": "8760h0m0s"}},
             lambda i: len(of_kind(i, "Certificate")) == 2),
            ("names that are given", {"nameOverride": "other", "fullnameOverride": "full", "namespaceOverride": "ns"},
             lambda i: ("Deployment", "full") in names(i) and of_kind(i, "Service")[0]["metadata"]["namespace"] == "ns"),
            ("a disruption budget", {"podDisruptionBudget": {"enabled": True, "minAvailable": None, "maxUnavailable": 1}},
             lambda i: of_kind(i, "PodDisruptionBudget")[0]["spec"]["maxUnavailable"] == 1),
            ("host network and DNS", {"hostNetwork": {"enabled": True}, "dnsPolicy": "ClusterFirstWithHostNet"},
             lambda i: of_kind(i, "Deployment")[0]["spec"]["template"]["spec"]["hostNetwork"]),
            ("extra manifests", {"extraManifests": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "{{ .Release.Name }}-x"}}]},
             lambda i: ("ConfigMap", "flyball-x") in names(i)),
            ("a service account of others", {"serviceAccount": {"create": False, "name": "sa"}}, lambda i: not of_kind(i, "ServiceAccount")
             and of_kind(i, "ClusterRoleBinding")[0]["subjects"][0]["name"] == "sa"),
            ("no RBAC", {"rbac": {"create": False}}, lambda i: not granted(i) and not of_kind(i, "ClusterRoleBinding")),
            ("the authentication reader as a ClusterRole", {"rbac": {"useAuthReaderClusterRole": True}}, lambda i: not of_kind(i, "RoleBinding")),
        )
        for claim, values, holds in rows:
            with self.subTest(claim):
                self.assertTrue(holds(self.helm.render("--values", values_file(values))))

    def test_each_other_value_of_the_old_chart_reaches_its_place(self):
        """As the chart's own values.yaml and README show them, those of older releases included."""
        probe = {"httpGet": {"path": "/healthz", "port": "https", "scheme": "HTTPS"}, "initialDelaySeconds": 30}
        spread = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]
        affinity = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname"}}]}}
        items = self.helm.render("--values", values_file({
            "enabled": True, "global": {"team": "x"},  # of a chart that has this one among its dependencies
            "psp": {"create": True}, "runAsUser": 1234,  # of chart 2 to 4
            "affinity": affinity, "topologySpreadConstraints": spread, "nodeSelector": {"kubernetes.io/os": "linux"},
            "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule"}], "priorityClassName": "system-cluster-critical",
            "image": {"repository": "registry.example.com/mine", "tag": "v1", "pullPolicy": "Always", "pullSecrets": ["foo"]},
            "customAnnotations": {"role": "custom-metrics"}, "customLabels": {"monitoring": "prometheus-adapter"},
            "replicas": 2, "podSecurityContext": {"fsGroup": 2000}, "securityContext": {"runAsUser": 10001, "readOnlyRootFilesystem": True},
            "automountServiceAccountToken": False,
            "serviceAccount": {"create": True, "name": "sa", "annotations": {"eks.amazonaws.com/role-arn": "arn"}, "automountServiceAccountToken": False},
            "rbac": {"create": True, "externalMetrics": {"resources": ["a"]}, "customMetrics": {"resources": ["pods/b"]}},
            "dnsConfig": {"nameservers": ["1.2.3.4"], "options": [{"name": "edns0"}]}, "dnsPolicy": "ClusterFirstWithHostNet",
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"cpu": "100m", "memory": "128Mi"}},
            "livenessProbe": probe, "readinessProbe": {**probe, "periodSeconds": 7}, "startupProbe": {**probe, "failureThreshold": 3},
            "rules": {"external": [RULE], "resource": {}}, "metricsRelistInterval": "30s",
            "service": {"annotations": {"a": "b"}, "port": 8443, "type": "NodePort", "clusterIP": "1.2.3.4",
                        "ipDualStack": {"enabled": True, "ipFamilies": ["IPv6", "IPv4"], "ipFamilyPolicy": "PreferDualStack"}},
            "prometheus": {"url": "http://p", "port": "80"},
            "extraArguments": ["--prometheus-header=X-Scope-OrgID=a", "--prometheus-token-file", "/etc/token"],
            "extraContainers": [{"name": "side", "image": "i"}], "podLabels": {"mesh": "off"}, "podAnnotations": {"inject": "none"},
            "deploymentAnnotations": {"p": "q"}, "strategy": {"type": "Recreate"}, "revisionHistoryLimit": 3,
            "podDisruptionBudget": {"enabled": True, "minAvailable": 1, "unhealthyPodEvictionPolicy": "AlwaysAllow"},
            "certManager": {"enabled": True, "caCertDuration": "43800h", "certDuration": "8760h", "caCertRevisionHistoryLimit": 2,
                            "certRevisionHistoryLimit": 3}}))
        deployment, = of_kind(items, "Deployment")
        template, main = deployment["spec"]["template"], container(items)
        service, = of_kind(items, "Service")
        reader, = [r for r in of_kind(items, "ClusterRole") if r["metadata"]["name"].endswith(":metrics-reader")]
        root, serving = of_kind(items, "Certificate")
        rows = (
            ("a policy of pods, which no cluster has any more", [i for i in items if "PodSecurity" in i["kind"]], []),
            ("user", main["securityContext"]["runAsUser"], 1234),
            ("affinity", template["spec"]["affinity"], affinity), ("spread", template["spec"]["topologySpreadConstraints"], spread),
            ("nodes", template["spec"]["nodeSelector"], {"kubernetes.io/os": "linux"}), ("tolerations", template["spec"]["tolerations"][0]["key"], "a"),
            ("priority", template["spec"]["priorityClassName"], "system-cluster-critical"),
            ("image", (main["image"], main["imagePullPolicy"], template["spec"]["imagePullSecrets"]),
             ("registry.example.com/mine:v1", "Always", [{"name": "foo"}])),
            ("labels of all", {i["metadata"]["labels"]["monitoring"] for i in items}, {"prometheus-adapter"}),
            ("annotations of all", {i["metadata"]["annotations"]["role"] for i in items}, {"custom-metrics"}),
            ("replicas", deployment["spec"]["replicas"], 2), ("pod security", template["spec"]["securityContext"]["fsGroup"], 2000),
            ("token", (template["spec"]["automountServiceAccountToken"], of_kind(items, "ServiceAccount")[0]["automountServiceAccountToken"]), (False, False)),
            ("account", of_kind(items, "ServiceAccount")[0]["metadata"]["annotations"]["eks.amazonaws.com/role-arn"], "arn"),
            ("metrics that may be read", [r["resources"] for r in reader["rules"]], [["pods/b"], ["a"]]),
            ("DNS", (template["spec"]["dnsConfig"]["nameservers"], template["spec"]["dnsPolicy"]), (["1.2.3.4"], "ClusterFirstWithHostNet")),
            ("resources", main["resources"]["limits"]["cpu"], "100m"),
            ("probes", (main["livenessProbe"]["initialDelaySeconds"], main["readinessProbe"]["periodSeconds"], main["startupProbe"]["failureThreshold"]), (30, 7, 3)),
            ("rules", {k: len(v) for k, v in config_of(items).items()}, {"rules": 6, "externalRules": 1}),
            ("service", (service["spec"]["type"], service["spec"]["clusterIP"], service["spec"]["ports"][0]["port"], service["spec"]["ipFamilyPolicy"],
                         service["spec"]["ipFamilies"], service["metadata"]["annotations"]["a"]),
             ("NodePort", "1.2.3.4", 8443, "PreferDualStack", ["IPv6", "IPv4"], "b")),
            ("Prometheus", [a for a in main["args"] if "prometheus-url" in a], ["--prometheus-url=http://p:80"]),
            ("arguments", main["args"][-3:], ["--prometheus-header=X-Scope-OrgID=a", "--prometheus-token-file", "/etc/token"]),
            ("containers", [c["name"] for c in template["spec"]["containers"]], ["flyball", "side"]),
            ("labels and annotations of the pod", (template["metadata"]["labels"]["mesh"], template["metadata"]["annotations"]["inject"]), ("off", "none")),
            ("annotations of the Deployment", deployment["metadata"]["annotations"]["p"], "q"),
            ("strategy", (deployment["spec"]["strategy"], deployment["spec"]["revisionHistoryLimit"]), ({"type": "Recreate"}, 3)),
            ("budget", {k: v for k, v in of_kind(items, "PodDisruptionBudget")[0]["spec"].items() if k != "selector"},
             {"minAvailable": 1, "unhealthyPodEvictionPolicy": "AlwaysAllow"}),
            ("certificates", [(c["spec"]["duration"], c["spec"]["revisionHistoryLimit"]) for c in (root, serving)], [("43800h", 2), ("8760h", 3)]),
        )
        for claim, found, wanted in rows:
            with self.subTest(claim):
                self.assertEqual(found, wanted)

    def test_every_name_of_the_old_chart_is_known(self):
        """Also those that only some release had. Nothing but our own chart may be asked for a name that theirs has."""
        def leaves(node, schema, path):
            for key, value in node.items():
                self.assertIn(key, schema["properties"], path)
                if isinstance(value, dict) and "properties" in schema["properties"][key]:
                    leaves(value, schema["properties"][key], f"{path}.{key}")
        schema = json.loads((CHART / "values.schema.json").read_text())
        leaves({**yaml.safe_load((STOCK / "values.yaml").read_text()), "psp": {}, "runAsUser": 1, "dnsPolicy": ""}, schema, "values")

    def test_image(self):
        rows = (
            ("the chart's", {}, "ghcr.io/flyball-autoscaler/flyball:"),
            ("a mirror", {"repository": "mirror.example.com/flyball", "tag": "2"}, "mirror.example.com/flyball:2"),
            ("a registry of all charts", {"tag": "2"}, "mirror.example.com:5000/flyball-autoscaler/flyball:2", "mirror.example.com:5000"),
            ("the same in the place of a repository without registry", {"repository": "flyball", "tag": "2"}, "m/flyball:2", "m/"),
            ("a digest wins", {"tag": "2", "digest": "sha256:" + "a" * 64}, "ghcr.io/flyball-autoscaler/flyball@sha256:" + "a" * 64),
            *(("left over from the old chart, tag and all", {"repository": old, "tag": "v0.12.0"}, "ghcr.io/flyball-autoscaler/flyball:0") for old in (
                "registry.k8s.io/prometheus-adapter/prometheus-adapter", "k8s.gcr.io/prometheus-adapter/prometheus-adapter",
                "directxman12/k8s-prometheus-adapter-amd64", "mirror.example.com/k8s/prometheus-adapter")),
        )
        for claim, image, start, *registry in rows:
            with self.subTest(claim):
                values = {"image": image, **({"global": {"imageRegistry": registry[0]}} if registry else {})}
                self.assertTrue(container(self.helm.render("--values", values_file(values)))["image"].startswith(start))
        secrets = of_kind(self.helm.render("--values", values_file({
            "image": {"pullSecrets": ["a"]}, "global": {"imagePullSecrets": ["b", {"name": "a"}]}})), "Deployment")[0]["spec"]["template"]["spec"]
        self.assertEqual(secrets["imagePullSecrets"], [{"name": "a"}, {"name": "b"}])

    def test_rights_grow_with_what_is_on(self):
        pods = {("", "pods", verb) for verb in ("list", "watch")}
        kinds = {("", kind, verb) for kind in ("namespaces", "services") for verb in ("list", "watch")}
        nodes = {("", "nodes", verb) for verb in ("list", "watch")}
        definitions = {("apiextensions.k8s.io", "customresourcedefinitions", verb) for verb in ("list", "watch")} | {
            ("apiregistration.k8s.io", "apiservices", verb) for verb in ("list", "watch")}
        askers = {("autoscaling", "horizontalpodautoscalers", "list"), ("", "replicationcontrollers/scale", "get")} | {
            ("apps", f"{kind}/scale", "get") for kind in ("deployments", "replicasets", "statefulsets")}
        rows = (
            ("custom metrics list objects", {}, pods | kinds | definitions),
            ("external metrics need none", {"rules": {"default": False, "external": [RULE]}}, definitions),
            ("nor those that have a value for a failure", {"rules": {"default": False, "external": [on_failure({"value": 5})]}}, definitions),
            ("for kept answers it is asked who asks",
             {"rules": {"default": False, "external": [on_failure("fail", keepLast="5m")]}}, definitions | askers),
            ("for replicas too", {"rules": {"default": False, "external": [RULE, on_failure({"replicas": 3})]}}, definitions | askers),
            ("for max and min too", {"rules": {"default": False, "external": [on_failure("max")]}}, definitions | askers),
            ("for rules that the chart does not see too, when it is told so", {"rules": {"default": False, "existing": "theirs"},
                                                                               "rbac": {"readAutoscalers": True}}, definitions | askers),
            ("not where it is forbidden", {"rules": {"default": False, "external": [on_failure("max")]}, "rbac": {"readAutoscalers": False}}, definitions),
            ("resource metrics list pods and nodes", {"rules": {"default": False, "resource": RESOURCE}}, pods | nodes | definitions),
            ("kubelets are asked for what they measure", {"rules": {"default": False}, "live": KUBELETS},
             pods | nodes | definitions | {("", "nodes/metrics", "get")}),
            ("also where others have their API", {"rules": {"default": False}, "live": KUBELETS, "apiServices": {"resource": False}},
             pods | nodes | definitions | {("", "nodes/metrics", "get")}),
            ("no objects of all namespaces when some are given", {"rbac": {"namespaces": ["shop"]}}, definitions),
            ("definitions need not be watched", {"rbac": {"namespaces": ["shop"], "watchKinds": False}}, set()),
        )
        for claim, values, wanted in rows:
            with self.subTest(claim):
                self.assertEqual(granted(self.helm.render("--values", values_file(values))), wanted)
        scaler = {mode: granted(self.helm.render("--values", values_file({"scaler": {"enabled": True, "mode": mode}, "rules": {"default": False}})))
                  for mode in ("shadow", "advise", "act")}
        self.assertEqual({v for _, _, v in scaler["shadow"]}, {"list", "watch"}, "a shadow writes nothing")
        self.assertEqual({(r, v) for _, r, v in scaler["advise"] - scaler["shadow"]},
                         {("autoscalers/status", "patch"), ("events", "create"), ("events", "patch")})
        more = scaler["act"] - scaler["advise"]
        self.assertEqual({(r, v) for _, r, v in more if not r.endswith("/scale")},
                         {("horizontalpodautoscalers", "get"), ("autoscalers", "get")}, "whether one still stands is asked before a write")

    def test_people_may_read_each_group_that_is_served(self):
        """Nobody else grants that: no role of Kubernetes itself has metrics.k8s.io, which metrics-server's own role does."""
        custom, external = ((f"{group}.metrics.k8s.io", "*") for group in ("custom", "external"))
        usage = {("metrics.k8s.io", kind) for kind in ("pods", "nodes")}
        none = {"rules": {"default": False}}
        rows = (
            ("custom metrics", {}, {custom}),
            ("external metrics", {"rules": {"default": False, "external": [RULE]}}, {external}),
            ("resource metrics alone", {"rules": {"default": False, "resource": RESOURCE}}, usage),
            ("those of kubelets", {**none, "live": KUBELETS}, usage),
            ("all of them", {"rules": {"external": [RULE], "resource": RESOURCE}}, {custom, external} | usage),
            ("not those that another server serves", {**none, "live": KUBELETS, "apiServices": {"resource": False}}, set()),
            ("nothing where others see to it", {"rules": {"resource": RESOURCE}, "rbac": {"metricsReader": False}}, set()),
        )
        for claim, values, wanted in rows:
            with self.subTest(claim):
                roles = [role for role in of_kind(self.helm.render("--values", values_file(values)), "ClusterRole")
                         if role["metadata"]["labels"].get("rbac.authorization.k8s.io/aggregate-to-view") == "true"]
                rules = [rule for role in roles for rule in role["rules"]]
                self.assertEqual({(group, kind) for rule in rules for group in rule["apiGroups"] for kind in rule["resources"]}, wanted)
                self.assertTrue(all(rule["verbs"] == ["get", "list"] for rule in rules), "the server answers no others")

    def test_each_right_is_on_the_page(self):
        """Feature by feature, and none of any shape is missing but on kinds that the values name."""
        def rights(values, *foreign):
            items = self.helm.render("--values", values, "--api-versions", "security.openshift.io/v1")
            return {(r, v) for group, r, v in granted(items) | granted(items, namespaced=True) if group not in foreign}
        said = rights_page()
        self.assertEqual(set(said), set(FEATURES))
        rendered = {json.dumps(values): values_file(values) for pair in FEATURES.values() for values in pair}
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = dict(zip(rendered, pool.map(rights, rendered.values())))
            shapes = list(pool.map(lambda values: rights(values, "argoproj.io", "networking.k8s.io"), CI))
        for feature, (values, without) in FEATURES.items():
            with self.subTest(feature):
                self.assertEqual(said[feature], found[json.dumps(values)] - found[json.dumps(without)])
        for values, shape in zip(CI, shapes):
            with self.subTest(values.name):
                self.assertLessEqual(shape, set().union(*said.values()))

    def test_annotated_pods_are_scraped_only_where_pods_may_be_watched(self):
        annotated = {"live": ANNOTATED, "rules": {"default": False}}
        for more in ({"rbac": {"namespaces": []}}, {"rbac": {"namespaces": ["a"]}, "scaler": {"enabled": True}}):
            self.assertIn(("", "pods", "watch"), granted(self.helm.render("--values", values_file({**annotated, **more}))))
        self.helm.render("--values", values_file({**annotated, "rbac": {"namespaces": ["a"], "create": False}}))  # others grant
        for more in ({}, {"scaler": {"enabled": True, "namespaces": ["a"]}}):
            message = self.helm("template", "f", CHART, "--values", values_file({**annotated, "rbac": {"namespaces": ["a"]}, **more}), fails=True)
            self.assertIn("live.scrapeAnnotatedPods watches the pods of all namespaces, and rbac.namespaces grants no such right", message)

    def test_the_rights_are_those_that_doctor_asks_for(self):
        """test/data/rights.json says them for both; doctor's half is doctor/rights_test.cc. `more` is what a value adds for single autoscalers."""
        for row in json.loads((paths.PROJECT / "test" / "data" / "rights.json").read_text()):
            with self.subTest(row["name"]):
                self.assertEqual(bound(self.helm.render("--values", values_file(row["values"]))), {*row["rights"], *row["more"]})

    def test_groups_that_are_registered(self):
        rows = (
            ("default rules", {}, {"custom"}),
            ("nothing", {"rules": {"default": False}}, set()),
            ("kubelets are an API of their own", {"rules": {"default": False}, "live": KUBELETS}, {"metrics"}),
            ("advice is an external metric", {"rules": {"default": False}, "scaler": {"enabled": True, "mode": "advise"}}, {"external"}),
            ("rules of others, as told", {"rules": {"existing": "theirs", "default": False}, "apiServices": {"resource": True}}, {"metrics"}),
            ("none although there are rules", {"apiServices": {"custom": False}}, set()),
            ("none at all", {"apiServices": {"create": False}}, set()),
        )
        for claim, values, wanted in rows:
            with self.subTest(claim):
                items = self.helm.render("--values", values_file(values))
                self.assertEqual({name.split(".")[1] for kind, name in names(items) if kind == "APIService"}, wanted)

    def alerts(self, *args) -> list:
        """The groups of alerts as the chart renders them."""
        rule, = of_kind(self.helm.render("--set", "prometheusRule.enabled=true", "--show-only", "templates/monitoring.yaml", *args), "PrometheusRule")
        return rule["spec"]["groups"]

    def test_alerts_are_tested_and_have_a_runbook(self):
        groups = self.alerts("--namespace", "m")
        links = {rule["alert"]: rule["annotations"].pop("runbook_url") for group in groups for rule in group["rules"]}
        folder = processes.fresh_folder("alerts")
        (folder / "rendered.yaml").write_text(yaml.safe_dump({"groups": groups}))
        shutil.copy(HERE / "alerts_test.yaml", folder)
        promtool = paths.debian("promtool", "prometheus")
        done = processes.run([promtool, "check", "rules", "--lint=all", "--lint-fatal", folder / "rendered.yaml"])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = processes.run([promtool, "test", "rules", folder / "alerts_test.yaml"])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        tests = (HERE / "alerts_test.yaml").read_text()
        sections = re.split(r"^## ", (paths.PROJECT / "docs" / "runbook.md").read_text(), flags=re.MULTILINE)[1:]
        self.assertEqual(list(links), [section.split()[0] for section in sections])
        for section in sections:
            self.assertIn("`flyball explain", section)
        for alert, link in links.items():
            self.assertTrue(link.endswith(f"/runbook.md#{alert.lower()}"), link)
            self.assertGreaterEqual(len(re.findall(rf"alertname: {alert}\b", tests)), 3, f"{alert}: fires, does not, and does not for others")
        for rule in (rule for group in groups for rule in group["rules"]):
            self.assertRegex(tests, rf"alertname: {rule['alert']}\n    exp_alerts:\n(    .*\n)*?    - exp_labels: {{severity: {rule['labels']['severity']}[,}}]")

    def test_alerts_name_what_the_release_holds(self):
        def registered(*args):
            return [re.search(r'name=~"(.*)"', rule["expr"])[1].replace("[.]", ".") for group in self.alerts(*args) for rule in group["rules"]
                    if rule["alert"] == "FlyballNotAvailable"]
        self.assertEqual(registered(), ["v1beta1.custom.metrics.k8s.io|v1beta2.custom.metrics.k8s.io"])
        self.assertEqual(registered("--set", "rules.default=false,apiServices.external=true,apiServices.resource=true"),
                         ["v1beta1.external.metrics.k8s.io|v1beta1.metrics.k8s.io|v1.metrics.k8s.io"])
        self.assertEqual(registered("--set", "apiServices.create=false"), [])
        self.assertIn('{namespace="monitoring",deployment="other"}', str(self.alerts("--set", "fullnameOverride=other")))

    def test_what_others_export_too_is_asked_of_our_pods_alone(self):
        """A series without our prefix is one of ours only together with what identifies its scrape target."""
        queries = [rule["expr"] for group in self.alerts() for rule in group["rules"]] + [
            target["expr"] for panel in dashboard()["panels"] for target in panel.get("targets", [])]
        shared = 0
        for query in queries:
            for name in re.findall(r"\b((?:apiserver|prometheus_adapter|authentication|authorization|process)_[a-z_]+)\{?", query):
                with self.subTest(name, query=query):
                    self.assertRegex(query, rf"(rate\()?{name}(\{{[^}}]*\}})?(\[[^]]*\]\))?\s+and on \(job, instance\) flyball_server_workers\b")
                    shared += 1
            guards = len(re.findall(r"and on \(job, instance\) flyball_server_workers", query))
            self.assertEqual(len(re.findall(r"\b(?:apiserver|prometheus_adapter|authentication|authorization|process)_[a-z_]+", query)), guards, query)
        self.assertGreater(shared, 15)

    def test_the_dashboard_of_inference_servers(self):
        """It asks for the series that the rules of these servers name, and is there when it is wanted."""
        board = json.loads((CHART / "files" / "dashboard-inference.json").read_text())
        queries = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
        rules = [{"record": f"q:{n}", "expr": q.replace("$__rate_interval", "5m")} for n, q in enumerate(queries)]
        done = processes.run([paths.debian("promtool", "prometheus"), "check", "rules", values_file({"groups": [{"name": "dashboard", "rules": rules}]})])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        asked = set(re.findall(r"\b(?:vllm|sglang):[a-z_]+|\b(?:tgi|nv|inference_pool)_[a-z_]+|DCGM_[A-Z_]+", " ".join(queries)))
        recipes = paths.PROJECT / "rules" / "examples" / "recipes"
        tested = "".join((recipes / f"{name}_test.yaml").read_text() for name in ("vllm", "sglang", "tgi", "triton", "endpoint-picker", "gpu"))
        beyond = {"inference_pool_ready_pods", "vllm:time_to_first_token_seconds_bucket", "sglang:time_to_first_token_seconds_bucket"}
        self.assertEqual({name for name in asked if name not in tested}, beyond)
        for panel in board["panels"]:
            self.assertTrue(panel["type"] == "row" or len(panel["description"]) > 30, panel["title"])
        for wanted in (True, False):
            items = self.helm.render("--set", f"dashboard.enabled=true,dashboard.inferenceServers={str(wanted).lower()}")
            data, = [i["data"] for i in of_kind(items, "ConfigMap") if i["metadata"]["name"] == "flyball-dashboard"]
            self.assertEqual(set(data), {"flyball.json", *(["flyball-inference.json"] if wanted else [])})

    def test_dashboard_asks_what_prometheus_understands(self):
        queries = [target["expr"] for panel in dashboard()["panels"] for target in panel.get("targets", [])] + [
            note["expr"] for note in dashboard()["annotations"]["list"] if "expr" in note]
        rules = [{"record": f"q:{n}", "expr": q.replace("$__rate_interval", "5m").replace("$__interval", "1m")} for n, q in enumerate(queries)]
        file = values_file({"groups": [{"name": "dashboard", "rules": rules}]})
        done = processes.run([paths.debian("promtool", "prometheus"), "check", "rules", file])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_dashboard_explains_itself(self):
        """Each panel says what it shows, legends name the quantile that is computed, and what is bad leads to its part of the runbook."""
        board = dashboard()
        titles = {f"flyball{line.split()[1].removeprefix('Flyball').lower()}" for line in (paths.PROJECT / "docs" / "runbook.md").read_text().splitlines()
                  if line.startswith("## ")}
        self.assertEqual(len({p["id"] for p in board["panels"]}), len(board["panels"]))
        self.assertEqual({v["name"] for v in board["templating"]["list"]}, {"datasource", "cluster", "namespace", "job"})
        places = [(x, y) for at in (p["gridPos"] for p in board["panels"]) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])]
        self.assertEqual(len(places), len(set(places)), "panels overlap")
        for panel in board["panels"]:
            with self.subTest(panel["title"]):
                if panel["type"] == "row":
                    continue
                self.assertGreater(len(panel["description"]), 30)
                for link in panel.get("links", []):
                    self.assertIn(link["url"].partition("#")[2], titles)
                for target in panel["targets"]:
                    for quantile in re.findall(r"histogram_quantile\(([0-9.]+),", target["expr"]):
                        self.assertIn(f"p{float(quantile) * 100:g}", target["legendFormat"].split())
                    for selector in re.findall(r"\bflyball_[a-z_]+(\{[^}]*\})?", target["expr"]):
                        self.assertIn('cluster=~"$cluster",namespace=~"$namespace",job=~"$job"', selector, target["expr"])

    def test_every_metric_that_is_asked_for_exists(self):
        asked = set()
        for file in ("alerts.yaml", "dashboard.json"):
            asked |= set(re.findall(r"\b((?:flyball|apiserver|prometheus_adapter|authentication|authorization|process)_[a-z_]+)\b",
                                    (CHART / "files" / file).read_text()))
        source = "".join(path.read_text() for folder in ("adapter", "apiservice", "scaler", "serve") for path in (paths.PROJECT / folder).rglob("*.cc")
                         if not path.name.endswith("_test.cc"))
        self.assertGreater(len(asked), 25)
        missing = {name for name in asked if f'"{name.removesuffix("_bucket")}"' not in source}
        self.assertFalse(missing)

    def test_every_field_of_an_autoscaler_says_what_it_is(self):
        """As `kubectl explain` shows it; the parts of label selectors are Kubernetes's."""
        version, = yaml.safe_load((CHART / "files" / "crds" / "autoscalers.flyball.dev.yaml").read_text())["spec"]["versions"]

        def silent(schema: dict, path: str) -> list:
            found = [] if path.endswith("[]") or schema.get("description", "").endswith((".", "…")) else [path]
            if path.endswith(".selector"):
                return found
            below = [(f"{path}.{name}", part) for name, part in schema.get("properties", {}).items()]
            below += [(f"{path}[]", schema["items"])] if "items" in schema else []
            return found + [field for at, part in below for field in silent(part, at)]

        whole = version["schema"]["openAPIV3Schema"]["properties"]
        self.assertEqual(silent(whole["spec"], "spec") + silent(whole["status"], "status"), [])

    def test_default_rules_are_good(self):
        config = values_file(config_of(self.helm.render()))
        done = processes.run([paths.flyball(), "check", "rules", config])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
