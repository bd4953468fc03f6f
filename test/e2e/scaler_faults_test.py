"""Three replicas of flyball while everything around them breaks, with the load going on.

Short by default; SCALER_LONG=1 is the long form: 20 kills, etcd paused for 20 s, each fault for longer.
"""

import os
import random
import signal
import sysconfig
import threading
import time
import unittest

from harness import adapter, kube, own_kind, ports, processes, registration, replicas, scaler, scaling, wait
from harness.case import Case, differs
from harness.kubelet import Kubelet
from harness.watchman import Unknown, Watchman
from machine import needs

ORIGINAL = adapter.subject() == adapter.ORIGINAL
LONG = bool(os.environ.get("SCALER_LONG"))
NAMESPACES = ("faults-a", "faults-b")
APPS = [(namespace, f"app-{i}") for namespace in NAMESPACES for i in range(6)]
LOW, HIGH = 1, 9
REMEMBERS = ("faults-a", "remembers")
FAKETIME = f"/usr/lib/{sysconfig.get_config_var('MULTIARCH')}/faketime/libfaketime.so.1"


class Load(threading.Thread):
    """Gives each app a new total now and then; 10 are one replica."""

    def __init__(self, metrics: scaling.Metrics):
        super().__init__(daemon=True)
        self._metrics, self._random = metrics, random.Random(6)
        self._going, self._ended = threading.Event(), threading.Event()
        self.want = {}
        for app in APPS:
            self.give(app)
        self._going.set()
        self.start()

    def give(self, app: tuple):
        replicas_wanted = self._random.randint(LOW, HIGH)
        self.want[app] = replicas_wanted
        self._metrics.set(*app, queue=10 * replicas_wanted - 0.5)

    def run(self):
        while not self._ended.wait(0.25):
            if self._going.is_set():
                self.give(self._random.choice(APPS))

    def pause(self):
        self._going.clear()

    def go_on(self):
        self._going.set()

    def stop(self):
        self._ended.set()
        self.join(5)


class World(Case):
    """The order of the tests does not matter: each begins and ends with everything well."""

    SHARDS = 1
    ENV = None

    @classmethod
    def setUpClass(cls):
        cluster = cls.cluster()
        cls.admin = cluster.admin
        cluster.stop_stock_scaler()
        cls.addClassCleanup(cluster.start_stock_scaler)
        own_kind.install(cluster)
        for namespace in NAMESPACES:
            kube.namespace(cls.admin, namespace)
        cls.kubelet = Kubelet(cls.admin, *NAMESPACES)
        cls.addClassCleanup(cls.kubelet.stop)
        cls.metrics = scaling.Metrics(cls.kubelet)
        cls.addClassCleanup(cls.metrics.stop)
        cls.load = Load(cls.metrics)
        cls.addClassCleanup(cls.load.stop)
        for app in APPS:
            cls.begin(*app)
        if ORIGINAL:
            cls.replicas = cls.stock()
        else:
            cls.replicas = replicas.Flyball(cluster, cls.metrics.prometheus.url, 3, (
                "--scaler-mode=act", "--scaler-hpa", *(f"--scaler-namespace={n}" for n in NAMESPACES),
                f"--scaler-shards={cls.SHARDS}"), cls.started, cls.ENV)
        cls.addClassCleanup(cls.replicas.stop)
        cls.watchman = Watchman(cluster.audit, dict.fromkeys([*APPS, REMEMBERS], (LOW, HIGH)), cls.replicas.users, memory=not ORIGINAL)
        cls.addClassCleanup(cls.watchman.stop)
        cls.replicas.start()

    @classmethod
    def stock(cls) -> replicas.Stock:
        """Reads its metrics from a flyball that does not scale."""
        port = ports.free()
        server = scaler.flyball(cls.cluster(), cls.metrics.prometheus.url, port=port).start()
        cls.addClassCleanup(server.stop)
        server.wait_listed("external.metrics.k8s.io/v1beta1", "queue_len")
        registration.register(cls.admin, "scaler", port)
        cls.addClassCleanup(registration.unregister, cls.admin)
        registration.wait_available(cls.admin)
        return replicas.Stock(cls.cluster(), 3, cls.started)

    @classmethod
    def started(cls, name, process):
        cls.watchman.follow(name, process)
        cls.watch(process)

    @classmethod
    def begin(cls, namespace: str, name: str):
        """Half of them HPAs, half of our own kind."""
        kube.apply(cls.admin, scaling.workload("Deployment", namespace, name, 3))
        metrics = [scaling.queue(name)]
        item = own_kind.autoscaler(namespace, name, (LOW, HIGH), metrics=metrics, cadence={"interval": "500ms"})
        if ORIGINAL or int(name[-1]) % 2:
            item["spec"].pop("cadence")
            item = kube.make("HorizontalPodAutoscaler", name, namespace, spec=item["spec"])
        kube.apply(cls.admin, item)
        cls.addClassCleanup(kube.delete, cls.admin, item["kind"], namespace, name)
        cls.addClassCleanup(kube.delete, cls.admin, "Deployment", namespace, name)

    def setUp(self):
        self.load.go_on()
        self.recovers()

    def tearDown(self):
        self.assertEqual(self.watchman.violations(), [])

    def recovers(self, timeout: float = 60.0):
        """With the load held still every app comes to the replicas that it asks for, then the load goes on."""
        self.load.pause()
        self.replicas.revive()
        wait.until(self._all_as_wanted, "every app at the replicas that its load asks for", timeout, every=0.2)
        self.load.go_on()

    def _all_as_wanted(self) -> bool:
        off = {app: (kube.get(self.admin, "Deployment", *app)["spec"]["replicas"], want)
               for app, want in self.load.want.items()}
        off = {"/".join(app): pair for app, pair in off.items() if pair[0] != pair[1]}
        if off:
            raise AssertionError(f"(is, wanted): {off}")
        return True

    def leader(self, *namespaces) -> int:
        """A replica that scales in one of them: nobody would see who takes over a shard without autoscalers, or one that it never used."""
        def found() -> list:
            last = {w.namespace: w.user for w in self.watchman.scale_writes()}
            wrote = {last.get(namespace) for namespace in namespaces or NAMESPACES}
            return [i for i in sorted(self.replicas.holders()) if self.replicas.users[i] in wrote]
        return wait.until(found, "a replica that scales holds a lease", 30, every=0.05)[0]

    def given_back(self) -> int:
        """How many leases of shards were given back so far."""
        return sum(user == "" for name, history in self.watchman.leases().items() if "member" not in name for _, user in history)

    def still_scales(self, seconds: float):
        """There are scale writes in that time."""
        self.replicas.revive()
        before = len(self.watchman.scale_writes())
        wait.until(lambda: len(self.watchman.scale_writes()) > before + 2, "scale writes go on", seconds, every=0.2)

    def unknown(self, seconds: float):
        """From now on nothing can be known, whatever was asked for last."""
        time.sleep(4)  # what was read just before may still be decided on, and its write may be late
        begin = time.time()
        time.sleep(seconds * (4 if LONG else 1))
        self.watchman.unknown.append(Unknown(begin, time.time(), frozenset(name for _, name in APPS)))


class Faults(World):
    """What breaks for good or for a while, with all readings to be had."""

    def test_leader_killed_at_random_moments(self):
        moments = random.Random(9)
        for _ in range(20 if LONG else 3):
            time.sleep(moments.uniform(0, 2))
            leader = self.leader()
            mark = len(self.watchman.takeovers())
            self.replicas.process(leader).send(signal.SIGKILL)
            wait.until(lambda m=mark: len(self.watchman.takeovers()) > m, "another replica writes",
                       replicas.LEASE_SECONDS + 30, every=0.1)
            self.replicas.start_one(leader)
        self.recovers()

    @differs("a leader that was frozen writes on beside the next one when it thaws")
    def test_leader_frozen_longer_than_its_lease(self):
        for _ in range(5 if LONG else 2):
            leader = self.leader()
            mark = len(self.watchman.takeovers())
            self.replicas.process(leader).send(signal.SIGSTOP)
            try:
                wait.until(lambda m=mark: len(self.watchman.takeovers()) > m, "another replica writes",
                           replicas.LEASE_SECONDS + 30, every=0.1)
            finally:
                self.replicas.process(leader).send(signal.SIGCONT)
            self.still_scales(30)
        self.recovers()

    @differs("it keeps its lease when it ends")
    def test_leader_stopped_in_order_hands_over_at_once(self):
        leader = self.leader()
        mark, given_back = len(self.watchman.takeovers()), self.given_back()
        self.replicas.process(leader).stop()
        wait.until(lambda: len(self.watchman.takeovers()) > mark, "another replica writes", 30, every=0.1)
        self.assertGreater(self.given_back(), given_back, "its lease ran out instead")
        self.replicas.start_one(leader)
        self.recovers()

    @differs("it forgets when the leader changes")
    def test_what_was_done_is_remembered(self):
        """One replica less in ten minutes: so it is after a hand-over too."""
        namespace, name = REMEMBERS
        self.metrics.set(namespace, name, queue=45)
        kube.apply(self.admin, scaling.workload("Deployment", namespace, name, 5))
        self.addCleanup(kube.delete, self.admin, "Deployment", namespace, name)
        one = {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 600}], "stabilizationWindowSeconds": 0}
        kube.apply(self.admin, own_kind.autoscaler(namespace, name, (LOW, HIGH), metrics=[scaling.queue(name)],
                                                   behavior={"scaleDown": one}, cadence={"interval": "500ms"}))
        self.addCleanup(kube.delete, self.admin, own_kind.KIND, namespace, name)

        def replicas_now():
            return kube.get(self.admin, "Deployment", namespace, name)["spec"]["replicas"]
        self.metrics.set(namespace, name, queue=9)
        wait.until(lambda: replicas_now() == 4, "one replica less")
        leader = self.leader(namespace)
        mark = len(self.watchman.takeovers())
        self.replicas.process(leader).stop()
        wait.until(lambda: len(self.watchman.takeovers()) > mark, "another replica writes", 15, every=0.1)
        self.replicas.start_one(leader)
        time.sleep(3)
        self.assertEqual(replicas_now(), 4)

    def test_api_server_restarted(self):
        for _ in range(3 if LONG else 1):
            self.cluster().stop_apiserver()
            time.sleep(3)
            self.cluster().start_apiserver()
            self.still_scales(30)
        self.recovers()

    def test_etcd_paused(self):
        self.cluster().pause_etcd(True)
        try:
            time.sleep(20 if LONG else 6)
        finally:
            self.cluster().pause_etcd(False)
        self.still_scales(30)
        self.recovers()

    def test_watches_cut(self):
        cut = 0
        for _ in range(30 if LONG else 6):
            cut += sum(proxy.cut_watches() for proxy in self.replicas.proxies)
            time.sleep(0.5)
        self.assertGreater(cut, 6, "no watch was open")
        self.recovers()

    def spoil(self, seconds: float, errors: tuple, after: bool = False):
        """Half of all writes fail in that time, those of leases included."""
        for proxy in self.replicas.proxies:
            proxy.after, proxy.errors = after, errors
        try:
            time.sleep(seconds * (4 if LONG else 1))
        finally:
            for proxy in self.replicas.proxies:
                proxy.errors = ()
        self.assertGreater(sum(proxy.spoiled for proxy in self.replicas.proxies), 5)
        self.recovers()

    def test_writes_answered_with_409_429_500(self):
        self.spoil(6, (409, 429, 500))

    def test_writes_done_but_answered_with_500(self):
        self.spoil(6, (500,), after=True)


class Unreadable(World):
    """Nothing is written on what is not known."""

    def test_prometheus_down(self):
        self.metrics.prometheus.stop()
        self.unknown(6)
        self.load.pause()
        self.metrics.prometheus.start()
        self.recovers()

    def test_prometheus_flapping(self):
        for _ in range(12 if LONG else 3):
            self.metrics.prometheus.stop()
            time.sleep(1)
            self.metrics.prometheus.start()
            time.sleep(1)
        self.recovers()

    def test_prometheus_hanging(self):
        self.metrics.prometheus.process.send(signal.SIGSTOP)
        try:
            self.unknown(6)
        finally:
            self.metrics.prometheus.process.send(signal.SIGCONT)
        self.recovers()

    def test_series_gone(self):
        self.metrics.silent = True
        time.sleep(2.5)  # the scrape that finds nothing marks them stale
        self.unknown(5)
        self.metrics.silent = False
        self.recovers()


@unittest.skipUnless(LONG, "only in the long form")
class ShardedFaults(Faults):
    """The same with the autoscalers shared out over the replicas."""

    SHARDS = 1 if ORIGINAL else 6

    @differs("it has no shards")
    def test_every_replica_takes_part(self):
        wait.until(lambda: len(self.replicas.holders()) == 3, "each replica holds a shard", 40, every=0.2)


@differs("Go reads the clock past the C library")
class ClockJumps(World):
    """The wall clock of one replica after the other jumps; who leads goes by the monotonic clock."""

    @classmethod
    def setUpClass(cls):
        if not os.path.exists(FAKETIME):
            needs.missing("Debian package libfaketime is not installed")
        cls.clock = processes.fresh_folder("clock") / "offset"
        cls.clock.write_text("+0")
        cls.ENV = {"LD_PRELOAD": FAKETIME, "FAKETIME_TIMESTAMP_FILE": str(cls.clock), "FAKETIME_NO_CACHE": "1",
                   "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        super().setUpClass()

    def test_jumps(self):
        for offset in ("+60", "+0", "-60", "+0", "+7200", "+0"):
            self.clock.write_text(offset)
            time.sleep(10 if LONG else 3)
        self.recovers()
