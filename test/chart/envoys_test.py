"""The chart's part front: Envoys as they are rendered, accepted, started from exactly what is rendered, and connected with the real flyball."""

import base64
import re
import shlex
import shutil

import yaml

from cluster import ClusterCase
from harness import carrying, case, kube, namespace, paths, ports, processes, wait
from helm import CHART, NAMESPACE, Helm, container, objects, of_kind, values_file
from pod import Pod
from workloads import workload

VALUES = CHART / "ci" / "front-values.yaml"
ADMIN, PROBES = 9901, 9902  # ports in the pod


def named(items: list, kind: str, name: str) -> dict:
    one, = [item for item in items if (item["kind"], item["metadata"]["name"]) == (kind, name)]
    return one


def files_of(config_map: dict, folder, tls, instead=()) -> dict:
    """The files of the ConfigMap below that folder, with paths of this machine, and `instead` of other texts."""
    written = {}
    for name, text in config_map["data"].items():
        for old, new in (("/etc/envoy", folder), ("/var/run/front", tls), *instead):
            text = text.replace(str(old), str(new))
        written[name] = folder / name
        written[name].write_text(text)
    return written


class Rendered(case.Case):
    @classmethod
    def setUpClass(cls):
        cls.helm = Helm()

    def render(self, *args, **front) -> list:
        values = {"replicas": 2, "scaler": {"enabled": True, "mode": "act"}, "front": {"enabled": True, **front}}
        return self.helm.render("--values", values_file(values), *args)

    def envoy(self, *args, **front) -> dict:
        return named(self.render(*args, **front), "Deployment", "flyball-front")["spec"]

    def test_without_it_nothing_is_rendered(self):
        items = self.helm.render("--set", "scaler.enabled=true,scaler.mode=act")
        self.assertEqual([i["metadata"]["name"] for i in items if "front" in i["metadata"]["name"] or "xds" in i["metadata"]["name"]], [])
        self.assertFalse([a for a in container(items)["args"] if a.startswith("--front")])
        self.assertFalse([r for role in of_kind(items, "ClusterRole") for r in role["rules"] if "endpointslices" in r.get("resources", ())])

    def test_the_image_is_pinned_by_what_is_given_and_no_digest_is_invented(self):
        def image(*args, **front):
            return self.envoy(*args, **front)["template"]["spec"]["containers"][0]["image"]
        digest = "sha256:" + "0123456789abcdef" * 4
        self.assertEqual(image(), "docker.io/envoyproxy/envoy:distroless-v1.40.0")
        self.assertEqual(image(image={"digest": digest}), f"docker.io/envoyproxy/envoy@{digest}")
        self.assertEqual(image("--set", "global.imageRegistry=mirror.example.com", image={"digest": digest}), f"mirror.example.com/envoyproxy/envoy@{digest}")
        self.assertNotRegex((CHART / "values.yaml").read_text(), "sha256:[0-9a-f]")

    def test_what_can_t_work_is_refused(self):
        good = {"scaler": {"enabled": True, "mode": "act"}, "front": {"enabled": True}}
        rows = (("no scaler", {"scaler": {"enabled": False}}, "scaler.enabled=true"), ("a shadow", {"scaler": {"enabled": True, "mode": "shadow"}}, "scaler.mode=act"),
                ("shards", {"scaler": {"enabled": True, "mode": "act", "shards": 2}}, "scaler.shards=1"),
                ("certificates that nobody makes", {"certificates": {"selfMade": "pod"}}, "front.tls"),
                ("one Secret of two", {"front": {"enabled": True, "tls": {"envoySecret": "a"}}}, "go together"),
                ("a digest that is a tag", {"front": {"enabled": True, "image": {"digest": "v1"}}}, "digest"),
                ("a typo", {"front": {"enabled": True, "replcias": 2}}, "replcias"),
                ("a port of applications", {"front": {"enabled": True, "hosts": {"port": 20000}}}, "port"),
                ("the port for probes", {"front": {"enabled": True, "hosts": {"port": 9902}}}, "port"),
                ("more than the most", {"front": {"enabled": True, "autoscaling": {"minReplicas": 12}}}, "minReplicas is greater"),
                ("a share of no CPU request", {"front": {"enabled": True, "resources": {"limits": {"memory": "1Gi"}}}}, "set front.resources.requests.cpu"),
                ("the same of no resources", {"front": {"enabled": True, "resources": None}}, "set front.resources.requests.cpu"))
        self.helm.render("--values", values_file(good))
        for resources, scaled in ({"limits": {"cpu": "1"}}, True), ({"requests": {"cpu": "1"}}, True), ({"requests": {"memory": "1Gi"}}, False):
            self.render(resources=resources, autoscaling={"enabled": scaled})
        for claim, wrong, words in rows:
            with self.subTest(claim):
                self.assertIn(words, self.helm("template", "f", CHART, "--values", values_file({**good, **wrong}), fails=True))
        secrets = {**good, "certificates": {"selfMade": "pod"}, "front": {"enabled": True, "tls": {"envoySecret": "a", "flyballSecret": "b"}}}
        items = self.helm.render("--values", values_file(secrets))
        self.assertEqual([v["secret"]["secretName"] for d in of_kind(items, "Deployment") for v in d["spec"]["template"]["spec"]["volumes"]
                          if v["name"] in ("tls", "front")], ["b", "a"] if of_kind(items, "Deployment")[0]["metadata"]["name"] == "flyball" else ["a", "b"])

    def test_how_an_envoy_runs(self):
        spec = self.envoy()
        pod, main = spec["template"]["spec"], spec["template"]["spec"]["containers"][0]
        self.assertNotIn("replicas", spec, "its HPA says how many")
        self.assertFalse(pod["automountServiceAccountToken"])
        self.assertEqual(pod["serviceAccountName"], "flyball-front")
        self.assertEqual((main["securityContext"]["capabilities"], main["securityContext"]["readOnlyRootFilesystem"], main["securityContext"]["runAsNonRoot"]),
                         ({"drop": ["ALL"]}, True, True))
        self.assertEqual(pod["securityContext"]["sysctls"], [{"name": "net.ipv4.ip_local_port_range", "value": "40000 65535"}])
        self.assertEqual(spec["strategy"]["rollingUpdate"], {"maxUnavailable": 0, "maxSurge": 1})
        hook = main["lifecycle"]["preStop"]["exec"]["command"]
        self.assertIn("/etc/envoy/front-drain.yaml", hook)
        self.assertGreater(pod["terminationGracePeriodSeconds"], int(main["args"][main["args"].index("--drain-time-s") + 1]))
        self.assertEqual(main["readinessProbe"]["httpGet"], {"path": "/ready", "port": "probes"})
        self.assertNotIn("httpGet", main["livenessProbe"], "one that waits for flyball is not killed")
        labels = spec["template"]["metadata"]["labels"]
        server, = [i for i in self.render() if i["kind"] == "Service" and i["metadata"]["name"] == "flyball"]
        self.assertFalse(server["spec"]["selector"].items() <= labels.items(), "metrics are not asked of it")
        self.assertEqual(self.envoy(autoscaling={"enabled": False}, replicas=3)["replicas"], 3)

    def test_its_security_context_may_have_nothing_else(self):
        ids = "podSecurityContext.fsGroup=null,podSecurityContext.seccompProfile=null,podSecurityContext.runAsUser=1000"
        pod = self.envoy("--set", f"{ids},global.compatibility.openshift.adaptSecurityContext=force")["template"]["spec"]
        self.assertEqual(pod["securityContext"], {"sysctls": [{"name": "net.ipv4.ip_local_port_range", "value": "40000 65535"}]})

    def test_flyball_listens_for_them(self):
        items = self.render(hosts={"port": 9000, "shared": True})
        main = named(items, "Deployment", "flyball")["spec"]["template"]["spec"]["containers"][0]
        labels = named(items, "Deployment", "flyball-front")["spec"]["template"]["metadata"]["labels"]
        self.assertIn("--front-shared-hosts", main["args"])
        flags = dict(arg.split("=", 1) for arg in main["args"] if arg.startswith("--front") and "=" in arg)
        self.assertEqual(flags["--front-listen"], "0.0.0.0:18000")
        self.assertLessEqual(dict(part.split("=") for part in flags["--front-pod-selector"].split(",")).items(), labels.items())
        self.assertEqual((flags["--front-peer-name"], flags["--front-hosts-port"]), ("flyball-front", "9000"))
        headless = named(items, "Service", "flyball-xds")["spec"]
        self.assertEqual((headless["clusterIP"], headless["ports"][0]["targetPort"], headless["publishNotReadyAddresses"]), ("None", "xds", True))
        self.assertIn({"name": "xds", "containerPort": 18000, "protocol": "TCP"}, main["ports"])

    def test_a_budget_a_scaler_and_the_hosts(self):
        items = self.render(hosts={"enabled": True})
        self.assertEqual(named(items, "PodDisruptionBudget", "flyball-front")["spec"]["maxUnavailable"], 1)
        hpa = named(items, "HorizontalPodAutoscaler", "flyball-front")["spec"]
        self.assertEqual((hpa["minReplicas"], hpa["metrics"][0]["resource"]["name"]), (2, "cpu"))
        self.assertEqual(named(items, "Service", "flyball-front")["spec"]["ports"][0]["port"], 8080)
        self.assertNotIn(("Service", "flyball-front"), {(i["kind"], i["metadata"]["name"]) for i in self.render()})

    def test_who_may_reach_what(self):
        items = objects(self.helm("template", "flyball", CHART, "--namespace", NAMESPACE, "--values", VALUES))
        front, server = (named(items, "NetworkPolicy", name)["spec"] for name in ("flyball-front", "flyball"))
        self.assertEqual(front["ingress"], [{"ports": [{"port": 20000, "endPort": 39999, "protocol": "TCP"}, {"port": "hosts", "protocol": "TCP"}],
                                             "from": [{"namespaceSelector": {}}]}])
        xds, = [rule for rule in server["ingress"] if rule["ports"][0]["port"] == "xds"]
        self.assertEqual(xds["from"], [{"podSelector": {"matchLabels": front["podSelector"]["matchLabels"]}}])

    def test_certificates_of_one_ca(self):
        items = self.render()
        folder = processes.fresh_folder("certificates")
        authority = base64.b64decode(named(items, "Secret", "flyball-front-ca")["data"]["tls.crt"])
        for secret, name in (("flyball-front-tls", "flyball-front"), ("flyball-xds-tls", "flyball-xds.monitoring.svc")):
            data = {key: base64.b64decode(value) for key, value in named(items, "Secret", secret)["data"].items()}
            self.assertEqual(data["ca.crt"], authority)
            (folder / "ca.crt").write_bytes(data["ca.crt"])
            (folder / "tls.crt").write_bytes(data["tls.crt"])
            done = processes.run([paths.debian("openssl", "openssl"), "verify", "-CAfile", folder / "ca.crt", "-verify_hostname", name, folder / "tls.crt"])
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        mounted = {v["secret"]["secretName"] for d in of_kind(items, "Deployment") for v in d["spec"]["template"]["spec"]["volumes"] if "secret" in v}
        self.assertNotIn("flyball-front-ca", mounted, "the CA's key is in no pod")
        managed = self.render("--set", "certManager.enabled=true,certManager.issuerRef.name=acme")
        issued = {c["spec"]["secretName"]: c["spec"] for c in of_kind(managed, "Certificate")}
        for secret, name in (("flyball-front-tls", "flyball-front"), ("flyball-xds-tls", "flyball-xds.monitoring.svc")):
            self.assertEqual((issued[secret]["dnsNames"], issued[secret]["issuerRef"]), ([name], {"name": "flyball-front-ca"}))
            self.assertLessEqual({"server auth", "client auth"}, set(issued[secret]["usages"]))
        for certificate in of_kind(self.render("--set", "certManager.enabled=true,fullnameOverride=" + "n" * 63), "Certificate"):
            self.assertLessEqual(len(certificate["spec"].get("commonName", "")), 64, "the most that a certificate may have")

    def test_an_envoy_knows_how_much_memory_it_may_have(self):
        for limits, most in (({}, 1 << 30), (None, 2**63 - 1), ({"memory": "600Mi"}, 600 << 20), ({"memory": "3Gi"}, 3 << 30), ({"memory": "1500M"}, 2**63 - 1), ({"cpu": "1"}, 2**63 - 1)):
            items = self.render(resources={"limits": limits, "requests": {"cpu": "1"}} if limits != {} else {})
            bootstrap = yaml.safe_load(named(items, "ConfigMap", "flyball-front")["data"]["front-bootstrap.yaml"])
            monitors = bootstrap["overload_manager"]["resource_monitors"]
            self.assertEqual([m["typed_config"]["max_heap_size_bytes"] for m in monitors if m["name"].endswith("fixed_heap")], [most])

    def test_its_probes_may_come_over_ipv6(self):
        for values, expected in (({}, {"address": "0.0.0.0", "port_value": 9902}),
                                 ({"ipv6": True}, {"address": "::", "ipv4_compat": True, "port_value": 9902})):
            bootstrap = yaml.safe_load(named(self.render(**values), "ConfigMap", "flyball-front")["data"]["front-bootstrap.yaml"])
            self.assertEqual(bootstrap["static_resources"]["listeners"][0]["address"]["socket_address"], expected)

    def test_envoy_takes_the_bootstrap(self):
        program, items = carrying.envoy_program(), self.render()
        folder, tls = processes.fresh_folder("bootstrap"), processes.fresh_folder("tls")
        for key, value in named(items, "Secret", "flyball-front-tls")["data"].items():
            (tls / key).write_bytes(base64.b64decode(value))
        files = files_of(named(items, "ConfigMap", "flyball-front"), folder, tls)
        for name in ("front-bootstrap.yaml", "front-drain.yaml"):
            self.assertNotRegex(files[name].read_text(), r"\$\{[A-Z]")
            done = processes.run([program, "--mode", "validate", "--service-node", "a", "--service-cluster", "b", "-c", files[name]])
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])
            self.assertIn("OK", done.stdout + done.stderr)


class EnvoyPod(Pod):
    """The Envoy of an installed release: its arguments, files and Secret. Only the two fixed ports are others, and where Flyball's Service
    leads to stands in /etc/hosts, as there is no cluster DNS."""

    def __init__(self, cluster, program, name: str):
        super().__init__(cluster, NAMESPACE, "flyball-front")
        self._program, self._name = program, name
        self.admin_port, self.probe_port = ports.free(), ports.free()

    def refresh(self):
        super().refresh()
        for file in self._inside("/etc/envoy").iterdir():
            file.write_text(file.read_text().replace(str(ADMIN), str(self.admin_port)).replace(str(PROBES), str(self.probe_port)))

    def start(self) -> "EnvoyPod":
        self.refresh()
        for name, target in (("lib", "usr/lib"), ("lib64", "usr/lib64")):
            (self._root / name).symlink_to(target)
        for name in ("usr", "dev", "proc"):
            (self._root / name).mkdir()
        (self._root / "etc" / "hosts").write_text(f"127.0.0.1 localhost\n127.0.0.1 flyball-xds.{NAMESPACE}.svc\n")
        (self._root / "etc" / "resolv.conf").write_text("nameserver 127.0.0.1\n")
        (self._root / "etc" / "nsswitch.conf").write_text("hosts: files\n")
        shutil.copy(self._program, self._root / "envoy")
        args = [arg.replace("$(POD_NAME)", self._name) for arg in self._container["args"]]
        self.process = processes.Process("envoy", self._in_the_pod(args))
        return self

    def _in_the_pod(self, args) -> list:
        root = shlex.quote(str(self._root))
        script = [f"mount --bind {root} {root}", *(f"mount --rbind /{d} {root}/{d}" for d in ("usr", "dev", "proc")),
                  f"mount -o remount,bind,ro {root}", f"exec chroot {root} {shlex.join(['/envoy', *map(str, args)])}"]
        return [*namespace.entering(), "sh", "-ec", "\n".join(script)]

    def pre_stop(self):
        """What the kubelet runs first when the pod ends."""
        command = self._container["lifecycle"]["preStop"]["exec"]["command"]
        return processes.Process("pre-stop", self._in_the_pod(command[1:]))

    def get(self, path: str, port: int = 0):
        return carrying.Client(f"http://127.0.0.1:{port or self.probe_port}").get(path)


class Installed(ClusterCase):
    """flyball and an Envoy of one release, each from its Deployment, connected by their certificates."""

    def test_they_find_each_other_and_requests_wake_a_service(self):
        program = carrying.envoy_program()
        listen = ports.free()
        front = {**yaml.safe_load(VALUES.read_text())["front"], "listenPort": listen}
        values = {"listenPort": ports.free(), "prometheus": {"url": "http://127.0.0.1", "port": 9}, "shutdownDelay": "0s", "apiServices": {"create": False},
                  "front": front, "crds": {"keep": False}, "extraArguments": ["--horizontal-pod-autoscaler-sync-period=1s"]}
        self.helm("install", "flyball", CHART, "--namespace", NAMESPACE, "--values", VALUES, "--values", values_file(values))
        self.addCleanup(self.helm, "uninstall", "flyball", "--namespace", NAMESPACE)
        pods = carrying.Pods(self.admin, "shop", 31)
        self.addCleanup(pods.stop)
        made = [workload("Deployment", "woken"), kube.make("Service", "woken", "shop", spec={"ports": [{"port": 80}]}),
                kube.make("Autoscaler", "woken", "shop", spec={
                    "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "woken"}, "minReplicas": 0, "maxReplicas": 2, "mode": "Act",
                    "triggers": [{"type": "http", "metadata": {"service": "woken", "targetPort": str(carrying.POD_PORT), "window": "6s"}}]})]
        made[0]["spec"]["replicas"] = 0
        for item in made:
            wait.until(lambda item=item: kube.apply(self.admin, item) or True, item["metadata"]["name"])
            self.addCleanup(kube.delete, self.admin, item["kind"], "shop", item["metadata"]["name"])
        # The Envoy of another suite would share the first port of services without a word.
        kube.patch(self.admin, "Autoscaler", "shop", "woken", {"status": {"http": {"port": ports.free()}}}, "status")
        server = Pod(self.cluster(), NAMESPACE, "flyball").start()
        self.addCleanup(server.stop)
        envoy = EnvoyPod(self.cluster(), program, "flyball-front-1").start()
        self.addCleanup(envoy.process.kill)
        self.watch(server.process, envoy.process)
        wait.until(lambda: envoy.process.must_live() and envoy.get("/ready").status == 200, "the Envoy's readiness probe", 60)
        self.assertEqual(envoy.get("/quitquitquit").status, 404, "nothing else is answered there")
        port = kube.get(self.admin, "Autoscaler", "shop", "woken")["status"]["http"]["port"]
        wait.until(lambda: envoy.get("/", port).status == 200, "a request through it", 60)
        self.assertRegex(server.process.text(), r"shop/woken.*Woken|Woken")
        # It ends: what is under way goes on, and new connections are refused in the end.
        crowd = carrying.clients.Crowd()
        self.addCleanup(crowd.stop)
        slow = [crowd.get(port, "/?delay=12") for _ in range(20)]
        wait.until(lambda: re.search(r"upstream_rq_active: 20\b", carrying.Client(f"http://127.0.0.1:{envoy.admin_port}").get("/stats").text()), "20 under way", 30)
        hook = envoy.pre_stop()
        self.addCleanup(hook.kill)
        reply = wait.until(lambda: (r := envoy.get("/", port)) and r.headers.get("connection") == "close" and r, "that clients are told to close", 60)
        self.assertEqual(reply.status, 200)
        self.assertEqual({r.status for r in crowd.replies(slow, 60)}, {200})
        envoy.process.must_live()
        hook.must_live()
