"""Scaling by requests in a real API server: Envoys carry them, a Deployment comes from zero and goes back, and what is not ours stays."""

import random
import signal
import socket
import threading
import time

from harness import carrying, kube, own_kind, ports, processes, scaler, scaling, wait
from harness.api_proxy import ApiProxy
from harness.case import Case, differs
from harness.client import Identity
from harness.scripted_prometheus import ScriptedPrometheus

NS = "carried"
WINDOW = {"window": "6s", "target": "10"}
OUTAGE = 30


def carried(name: str, bounds=(0, 10), **metadata) -> dict:
    return own_kind.autoscaler(NS, name, bounds, mode="Act", triggers=[{"type": "http", "metadata": {
        "service": metadata.pop("service", name), "targetPort": str(carrying.POD_PORT), **WINDOW, **metadata}}])


class Server:
    """One flyball that is connected with Envoys at `front`; where the API server is to go away, behind a proxy to it."""

    def __init__(self, cluster, prometheus, user: str, elects: bool, proxied: bool):
        self.front = ports.free()
        self.proxy = ApiProxy(cluster, Identity(cert=cluster.ca.client(user))) if proxied else None
        self._adapter = scaler.flyball(cluster, prometheus.url, (
            "--scaler-mode=act", f"--scaler-namespace={NS}", f"--front-listen=127.0.0.1:{self.front}", "--front-pod-selector=app=front-envoy"),
            user, server=self.proxy.url if proxied else None, elects=elects)

    def start(self) -> "Server":
        self._adapter.start()
        return self

    @property
    def process(self):
        return self._adapter.process

    def metric(self, line_start: str) -> float:
        return self._adapter.metric(line_start)

    def stop(self):
        if self.process:
            self.process.kill()
        if self.proxy:
            self.proxy.stop()


@differs("it carries no requests")
class Carried(Case):
    """The cluster, the kubelet and its pods; REPLICAS of flyball, and an Envoy that knows all of them."""

    REPLICAS, NETWORK, PROXIED = 1, 21, False

    @classmethod
    def setUpClass(cls):
        program = carrying.envoy_program()
        cluster = cls.cluster()
        cls.admin = cluster.admin
        kube.namespace(cls.admin, NS)
        kube.namespace(cls.admin, scaler.NAMESPACE)
        own_kind.install(cluster)
        cls.pods = carrying.Pods(cls.admin, NS, cls.NETWORK)
        cls.addClassCleanup(cls.pods.stop)
        prometheus = ScriptedPrometheus()
        cls.addClassCleanup(prometheus.stop)
        cls.crowd = carrying.clients.Crowd()
        cls.addClassCleanup(cls.crowd.stop)
        cls.servers = [Server(cluster, prometheus, f"front-{cls.__name__.lower()}-{i}", cls.REPLICAS > 1, cls.PROXIED) for i in range(cls.REPLICAS)]
        cls.made = []
        cls.prepare()
        for server in cls.servers:
            server.start()
            cls.addClassCleanup(server.stop)
            cls.watch(server.process)
        cls.envoy = carrying.Envoy(program, [server.front for server in cls.servers], cls.admin, scaler.NAMESPACE)
        cls.addClassCleanup(cls.envoy.process.kill)
        cls.addClassCleanup(cls.remove_all)
        cls.watch(cls.envoy.process)
        cls.envoy.join()

    @classmethod
    def prepare(cls):
        """What is there before flyball starts."""

    @classmethod
    def remove_all(cls):
        """While flyball runs, so that what it wrote is as it would be."""
        for kind, name in cls.made:
            kube.delete(cls.admin, kind, NS, name)
        kube.delete(cls.admin, "Pod", scaler.NAMESPACE, "front-1")

    @classmethod
    def put(cls, item: dict):
        kube.apply(cls.admin, item)
        cls.made.append((item["kind"], item["metadata"]["name"]))

    def begin(self, name: str, replicas: int = 0, ready: bool = True, after=0, **metadata) -> int:
        """A Deployment, its Service and its Autoscaler; the port of the Envoy, once that listens."""
        self.pods.after[name] = after
        self.put(scaling.workload("Deployment", NS, name, replicas))
        self.put(kube.make("Service", name, NS, spec={"ports": [{"name": "http", "port": 80}]}))
        self.put(carried(name, **metadata))
        if ready:
            wait.until(lambda: self.envoy.knows(f"{NS}/{name}"), f"the listener of {name}: {self.status(name)}", 40)
        return self.status(name).get("http", {}).get("port")

    def status(self, name: str) -> dict:
        return kube.get(self.admin, own_kind.KIND, NS, name).get("status", {})

    def condition(self, name: str, kind: str = "FrontReady") -> dict:
        return next((c for c in self.status(name).get("conditions", ()) if c["type"] == kind), {})

    def refused(self, name: str, reason: str, words: str):
        wait.until(lambda: self.condition(name).get("status") == "False" and self.condition(name)["reason"] == reason
                   and words in self.condition(name)["message"], f"FrontReady=False of {name}: {reason}, {words}: {self.status(name)}", 60)

    def replicas(self, name: str) -> int:
        return kube.get(self.admin, "Deployment", NS, name)["spec"]["replicas"]

    def reaches(self, name: str, count: int, timeout: float = 60):
        wait.until(lambda: self.replicas(name) == count, f"{name} at {count} replicas, {self.status(name)}", timeout)

    def events(self, name: str) -> set:
        return {event["reason"] for event in kube.listed(self.admin, "Event", NS) if event["involvedObject"]["name"] == name}

    def told(self, name: str, *reasons: str):
        wait.until(lambda: set(reasons) <= self.events(name), f"events {reasons} of {name}: {self.events(name)}", 40)

    def slices(self, service: str) -> list:
        return kube.listed(self.admin, "EndpointSlice", NS, f"kubernetes.io/service-name={service}")

    def holds(self, name: str, count: int):
        line = f'flyball_front_held{{service="{NS}/{name}"}}'
        wait.until(lambda: any(server.process.alive() and server.metric(line) >= count for server in self.servers), f"{count} held of {name}", 40)


class FromZero(Carried):
    """One replica, without a Lease."""

    def test_a_request_wakes_it_and_it_goes_back(self):
        port = self.begin("web")
        self.assertGreaterEqual(port, 20000)
        self.assertEqual(self.crowd.get(port).result(60).status, 200)
        self.told("web", "Woken")
        wait.until(lambda: self.condition("web").get("status") == "True", "FrontReady", 40)
        self.assertEqual(self.condition("web")["reason"], "Carried")
        one, = wait.until(lambda: self.slices("web"), "its slice", 40)
        self.assertEqual(one["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"], "flyball.dev")
        self.assertEqual([e["addresses"] for e in one["endpoints"]], [[self.envoy.address]])
        self.assertEqual([(p["name"], p["port"]) for p in one["ports"]], [("http", port)])
        owner, = one["metadata"]["ownerReferences"]
        self.assertEqual((owner["kind"], owner["name"]), ("Service", "web"))
        self.reaches("web", 0, 60)
        self.assertEqual(self.crowd.get(port).result(60).status, 200)

    def test_a_crowd_at_zero_loses_none_and_gets_what_it_needs(self):
        port = self.begin("crowd")
        mark = self.cluster().audit.mark()
        asked = [self.crowd.get(port, "/?delay=3") for _ in range(60)]
        replies = self.crowd.replies(asked, 90)
        self.assertEqual({reply.status for reply in replies}, {200})
        self.reaches("crowd", 0, 90)
        # One pod is to have 7 at once, and for 3 s there were 60.
        wanted = [w.sent["spec"].get("replicas", 0) for w in self.cluster().audit.since(mark, "/scale") if w.name == "crowd"]
        self.assertGreater(max(wanted, default=0), 1, wanted)

    def test_pods_that_never_become_ready(self):
        port = self.begin("broken", after=None, activationTimeout="5s")
        began = time.monotonic()
        reply = self.crowd.get(port).result(60)
        self.assertEqual((reply.status, reply.headers.get("x-flyball"), reply.headers.get("retry-after")), (504, "activation-timeout", "5"))
        self.assertGreater(time.monotonic() - began, 4.5)
        self.told("broken", "Woken", "ActivationFailed")

    def test_the_last_pod_is_lost_with_its_node(self):
        port = self.begin("lost", bounds=(0, 1))
        self.assertEqual(self.crowd.get(port).result(60).status, 200)
        name, = self.pods.of("lost")
        # Flyball finds by itself that the pod answers, often before its kubelet has said that it is ready. What the kubelet says late
        # would undo the patch below.
        wait.until(lambda: self.pods.ready(name), f"that {name} is called ready", 40)
        asked = []
        def keep_asking():  # so that zero is never wanted
            while len(asked) < 1000 and not done.wait(0.05):
                asked.append(self.crowd.get(port))
        done = threading.Event()
        thread = threading.Thread(target=keep_asking)
        thread.start()
        try:
            # The kubelet is silent, so the node controller calls the pod not ready, and evicts it later.
            kube.patch(self.admin, "Pod", NS, name, {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}, "status")
            self.holds("lost", 1)
            self.pods.kill(name)
            kube.delete(self.admin, "Pod", NS, name)
            wait.until(lambda: any(pod != name for pod in self.pods.of("lost")), "another pod", 30)
        finally:
            done.set()
            thread.join()
        self.assertEqual([r.status for r in self.crowd.replies(asked, 90) if r.status != 200], [])
        self.assertEqual(self.replicas("lost"), 1)


class NotOurs(Carried):
    """What is somebody else's is refused in a condition, and stays as it is."""

    NETWORK = 22

    def test_a_service_with_a_selector(self):
        self.put(kube.make("Service", "theirs", NS, spec={"selector": {"app": "theirs"}, "ports": [{"port": 80}]}))
        self.put(scaling.workload("Deployment", NS, "theirs", 0))
        self.put(carried("theirs"))
        self.refused("theirs", "ServiceNotLed", "has a selector")
        self.told("theirs", "ServiceNotLed")
        self.assertEqual(self.slices("theirs"), [])
        self.assertEqual(kube.get(self.admin, "Service", NS, "theirs")["spec"]["selector"], {"app": "theirs"})
        # Once it is taken away the Service is led.
        kube.patch(self.admin, "Service", NS, "theirs", {"spec": {"selector": None}})
        wait.until(lambda: self.slices("theirs") and self.condition("theirs")["status"] == "True", "that it is led", 90)

    def test_another_writer_of_the_slices(self):
        other = kube.make("EndpointSlice", "shared-of-others", NS, labels={
            "kubernetes.io/service-name": "shared", "endpointslice.kubernetes.io/managed-by": "others.example.com"},
            addressType="IPv4", endpoints=[{"addresses": ["10.1.2.3"]}], ports=[{"name": "http", "port": 81}])
        self.put(other)
        self.begin("shared", ready=False)
        self.refused("shared", "ServiceNotLed", "is written by others.example.com")
        self.assertEqual([s["metadata"]["name"] for s in self.slices("shared")], ["shared-of-others"])

    def test_a_slice_of_our_name_that_is_another_s(self):
        self.put(kube.make("EndpointSlice", "named-flyball-4", NS, labels={"kubernetes.io/service-name": "elsewhere"}, addressType="IPv4",
                           endpoints=[{"addresses": ["10.1.2.3"]}], ports=[{"name": "http", "port": 81}]))
        self.begin("named", ready=False)
        self.refused("named", "ServiceNotLed", "is there and not Flyball's")
        self.assertEqual(kube.get(self.admin, "EndpointSlice", NS, "named-flyball-4")["endpoints"][0]["addresses"], ["10.1.2.3"])

    def test_a_service_of_two_autoscalers(self):
        self.begin("first")
        self.put(scaling.workload("Deployment", NS, "second", 0))
        wait.until(lambda: self.slices("first"), "the slice of the first", 40)
        self.put(carried("second", service="first"))
        self.refused("second", "ServiceNotLed", "Service first is that of Autoscaler first already")
        port, = {p["port"] for p in self.slices("first")[0]["ports"]}
        self.assertEqual(port, self.status("first")["http"]["port"])

    def test_no_service_at_all(self):
        self.put(scaling.workload("Deployment", NS, "alone", 0))
        self.put(carried("alone"))
        self.refused("alone", "ServiceNotLed", "not found")


class PortInUse(Carried):
    """Another program of the Envoy's pod has the port of a service, which stands in its status since an earlier flyball."""

    NETWORK = 25

    @classmethod
    def prepare(cls):
        cls.other = socket.socket()
        cls.addClassCleanup(cls.other.close)
        while True:
            cls.taken = random.randrange(32000, 32700)  # the kernel gives none of these to connections
            try:
                cls.other.bind(("0.0.0.0", cls.taken))
                break
            except OSError:
                continue
        cls.other.listen()
        cls.put(scaling.workload("Deployment", NS, "inuse", 0))
        cls.put(kube.make("Service", "inuse", NS, spec={"ports": [{"name": "http", "port": 80}]}))
        cls.put(carried("inuse"))
        kube.patch(cls.admin, own_kind.KIND, NS, "inuse", {"status": {"http": {"port": cls.taken}}}, "status")

    def test_it_is_told_and_hurts_no_other(self):
        self.refused("inuse", "FrontNotReady", "has not acknowledged the listener")
        self.assertEqual(self.status("inuse")["http"]["port"], self.taken)
        self.told("inuse", "RefusedByEnvoy", "FrontNotReady")
        self.assertEqual(self.crowd.get(self.begin("other")).result(60).status, 200)


class ApiServerAway(Carried):
    """For 30 s nothing is known of the cluster, with the Lease as in a cluster."""

    REPLICAS, NETWORK, PROXIED = 2, 23, True

    def cut_off(self, away: bool):
        for server in self.servers:
            server.proxy.errors, server.proxy.share = ((500,), 1.0) if away else ((), 0.5)
            server.proxy.match = lambda method, path: True
            server.proxy.cut_watches()

    def test_at_zero_and_at_ten(self):
        asleep = self.begin("asleep")
        busy = self.begin("busy", bounds=(0, 10), target="0.5")
        self.assertEqual(self.crowd.get(busy).result(60).status, 200)
        # How long ten pods take is the machine's affair, so the load that lasts through the outage begins with them.
        growing = self.crowd.steady(busy, "/?delay=0.1", every=0.02, seconds=120)
        wait.until(lambda: len(self.pods.of("busy")) >= 10, "ten pods", 60)
        loaded_until = time.time() + OUTAGE + 40
        load = self.crowd.steady(busy, "/?delay=0.1", every=0.02, seconds=OUTAGE + 40)
        growing.cancel()
        before = {server.process.pid for server in self.servers}
        mark = self.cluster().audit.mark()
        self.cut_off(True)
        began = time.monotonic()
        held = [self.crowd.get(asleep) for _ in range(20)]
        while time.monotonic() - began < OUTAGE:
            self.assertFalse(any(f.done() for f in held), "held")
            time.sleep(1)
        self.cut_off(False)
        self.assertEqual([r.status for r in self.crowd.replies(held, 90)], [200] * 20)
        print(f"  held for {time.monotonic() - began:.1f} s, of them {OUTAGE} s without the API server", flush=True)
        statuses = [r.status for r in load.result(120)]
        self.assertEqual((len(statuses) > 1000, set(statuses)), (True, {200}))
        zeros = [w for w in self.cluster().audit.since(mark, "/scale") if w.name == "busy" and w.sent["spec"].get("replicas", 0) == 0
                 and w.received < loaded_until]
        self.assertEqual(zeros, [], "no zero while it had requests")
        self.assertEqual(before, {server.process.pid for server in self.servers})


class TakeOver(Carried):
    """Two replicas; one has the Lease and answers the Envoys."""

    REPLICAS, NETWORK = 2, 24

    def owner(self) -> int:
        """Which of them carries: that to whom the Envoy is connected."""
        return wait.until(lambda: [i for i, s in enumerate(self.servers) if s.process.alive() and s.metric("flyball_front_envoys") >= 1], "an owner", 60)[0]

    def test_held_requests_outlive_the_owner(self):
        port, steady = self.begin("takeover", after=None, activationTimeout="60s"), self.begin("running", replicas=1, bounds=(1, 3))
        self.assertEqual(self.crowd.get(steady).result(60).status, 200)
        first = self.owner()
        mark = self.cluster().audit.mark()
        held = [self.crowd.get(port) for _ in range(200)]
        self.holds("takeover", 200)
        load = self.crowd.steady(steady, "/", every=0.02, seconds=20)
        self.servers[first].process.send(signal.SIGKILL)
        killed = time.monotonic()
        other = self.servers[1 - first]
        wait.until(lambda: other.metric(f'flyball_front_held{{service="{NS}/takeover"}}') >= 200, "all held by the other", 60, every=0.02)
        took = time.monotonic() - killed
        # Only now its pods can run.
        self.pods.after["takeover"] = 0
        for name in self.pods.of("takeover"):
            kube.delete(self.admin, "Pod", NS, name)
        self.assertEqual({r.status for r in self.crowd.replies(held, 90)}, {200})
        self.assertEqual({r.status for r in load.result(90)}, {200})
        print(f"  taken over after {took:.1f} s with 200 held", flush=True)
        self.assertLess(took, 30)  # 8 s on a quiet machine: up to 7 s until the Lease has run out for the other, and what it takes to begin
        writers = [w.user for w in self.cluster().audit.since(mark, "/scale") if w.namespace == NS]
        self.assertEqual(writers, sorted(writers, key=lambda user: user != f"front-takeover-{first}"), "the old one wrote first, and never again")
        self.assertEqual(self.crowd.get(port).result(30).status, 200)
