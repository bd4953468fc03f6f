"""One Envoy, one driver that can be killed and started again, and services between them."""

import itertools
import pathlib
import shutil
import tempfile
import unittest

from harness import clients, driver, envoy, pods, wait
from harness.ports import free_port


class Service:
    """One service as the front would have it. Versions grow, also over restarts of the driver."""

    _versions = itertools.count(1)

    def __init__(self, world, name, h2c=False, hard=False, request_timeout=0):
        self.world, self.name, self.port = world, name, free_port()
        self.kind = {"h2c": h2c, "hard": hard}
        self.request_timeout = request_timeout
        self.addresses, self.gated = [], True
        self.hosts, self.headers = "", ""

    def _flags(self, *names):
        return [name for name in names if self.kind[name]]

    def say(self, kind: str) -> int:
        version = next(self._versions)
        words = {"cluster": [*self._flags("h2c", "hard"), self.request_timeout], "endpoints": self.addresses,
                 "route": ["on" if self.gated else "off", *self._flags("hard"), self.request_timeout],
                 "listener": [self.port],
                 "hostroute": ["on" if self.gated else "off", self.hosts or ",", self.headers or ",", *self._flags("hard"),
                               self.request_timeout]}[kind]
        self.world.driver.say(kind, self.name, version, *words)
        return version

    def put_all(self):
        return {kind: self.say(kind) for kind in ("cluster", "endpoints", "route", "listener")}

    def begin(self, gated=True, addresses=()):
        """Is served, and acknowledged by the Envoys."""
        self.gated, self.addresses = gated, list(addresses)
        for kind, version in self.put_all().items():
            for node in {"front-1", *self.world.driver.nodes}:
                self.world.driver.await_ack(kind, self.name, version, node)
        wait.listening(self.port)
        return self

    def set_hosts(self, hosts: str, headers=""):
        self.hosts, self.headers = hosts, headers
        self.world.driver.await_ack("hostroute", self.name, self.say("hostroute"))

    def set_endpoints(self, addresses):
        self.addresses = list(addresses)
        self.world.driver.await_ack("endpoints", self.name, self.say("endpoints"))

    def set_gate(self, gated: bool):
        self.gated = gated
        version = self.say("route")
        if self.hosts:
            self.world.driver.await_ack("hostroute", self.name, self.say("hostroute"))
        self.world.driver.await_ack("route", self.name, version)

    def await_workers(self):
        """An Envoy reports only after each of its workers has had its turn; the first report may have begun before."""
        def reports():
            return len(self.world.driver.said("load", "front-1", self.name))
        seen = reports()
        self.world.driver.until(lambda: reports() >= seen + 2, "two reports of the Envoy")

    def release_all(self):
        for id in self.world.driver.held_of(self.name):  # pylint: disable=redefined-builtin
            self.world.driver.answer("release", id)

    def end(self):
        for kind in ("listener", "hostroute", "route", "endpoints", "cluster"):
            self.world.driver.say("remove", kind, self.name)


class FrontCase(unittest.TestCase):
    """The Envoy and the driver are shared by the tests of a class."""

    program = None  # of Envoy, set by the runner

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="flyball-front-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.services = []
        cls.server_port = free_port()
        cls.driver = driver.Driver(cls.server_port, cls.folder / "driver.log")
        cls.addClassCleanup(lambda: cls.driver.stop())  # which may be another by then
        cls.driver.say("serve")
        cls.envoy = envoy.Envoy(cls.program, cls.folder, cls.server_port, free_port())
        cls.addClassCleanup(cls.envoy.stop)
        cls.driver.until(lambda: "front-1" in cls.driver.nodes, "the Envoy's stream")
        cls.crowd = clients.Crowd()
        cls.addClassCleanup(cls.crowd.stop)

    def tearDown(self):
        for service in self.services:
            service.end()
        self.services.clear()
        self.driver.on_request = self.driver.on_end = None

    def service(self, name=None, **how) -> Service:
        service = Service(self, name or "shop/" + self.id().split(".")[-1].lower().replace("_", "-")[-60:], **how)
        self.services.append(service)
        return service

    def pod(self, *arguments):
        pod = pods.Pod(*arguments)
        self.addClassCleanup(pod.stop)
        return pod

    def second_envoy(self) -> envoy.Envoy:
        """It listens on the same ports; the kernel gives each of the two some of the connections."""
        second = envoy.Envoy(self.program, self.folder, self.server_port, free_port(), node="front-2")
        self.addCleanup(lambda: self.driver.until(lambda: "front-2" not in self.driver.nodes, "its end"))
        self.addCleanup(second.stop)
        self.driver.until(lambda: "front-2" in self.driver.nodes, "the second Envoy")
        return second

    @classmethod
    def restart_driver(cls, *services):
        """Killed as by SIGKILL, and back with the same services; what is not said again is gone."""
        cls.driver.kill()
        cls.driver = driver.Driver(cls.server_port, cls.folder / "driver.log")
        for service in services:
            service.put_all()
        return cls.driver

    def evidence(self) -> str:
        return f"--- {self.folder}: the driver said last {self.driver.lines[-20:]}\n--- Envoy\n" + "\n".join(self.envoy.log().splitlines()[-30:])
