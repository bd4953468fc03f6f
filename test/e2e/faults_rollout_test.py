"""A rolling update under load: whoever reads notices nothing, through kube-apiserver or not."""

import conformance_fixture as fixture
from conformance_fixture import C2, E, M, N
from harness import registration, wait
from harness.case import Case, differs
from harness.client import Client, Identity
from harness.load import Load
from harness.service import Service

# Longer than the service's lag and its probes together, on a machine that is busy. The chart's is 5 s.
DELAY_SECONDS = 12
LAG_SECONDS = 1.0


@differs("it has no flag for a delay: its port closes while connections are still sent there")
class Rollout(Case):
    """Two adapters behind a Service, registered with the aggregator."""

    @classmethod
    def setUpClass(cls):
        cls.admin = cls.cluster().admin
        fixture.objects(cls.admin)
        cls.prometheus = fixture.prometheus()
        cls.addClassCleanup(cls.prometheus.stop)
        cls.service = Service(LAG_SECONDS)
        cls.addClassCleanup(cls.service.stop)

    def start(self):
        one = fixture.start(self.cluster(), self.prometheus, (f"--shutdown-delay-duration={DELAY_SECONDS}s",))
        self.addCleanup(one.process.kill)
        self.watch(one.process)
        self.service.add(one.port)
        wait.until(lambda: one.port in self.service.endpoints(), "the new one is an endpoint", 20)
        return one

    def replace(self, old):
        """As a Deployment does it with maxSurge 1 and maxUnavailable 0."""
        new = self.start()
        self.assertEqual(old.stop(DELAY_SECONDS + 15), 0)
        self.service.remove(old.port)
        return new

    def test_no_read_fails_during_a_rolling_update(self):
        running = [self.start(), self.start()]
        registration.register(self.admin, "rollout", self.service.port)
        self.addCleanup(registration.unregister, self.admin)
        registration.wait_available(self.admin)
        # The aggregator keeps its connections, the other opens one for each read.
        straight = Client(f"https://127.0.0.1:{self.service.port}", Identity(cert=self.cluster().admin_cert))
        loads = [Load(client, path, 2) for client in (self.admin, straight)
                 for path in (f"{C2}{N}/pods/*/m", f"{E}{N}/q", f"{M}/nodes")]
        try:
            for _ in range(2):
                running = [self.replace(old) for old in running]
        finally:
            for load in loads:
                load.stop()
        for load in loads:
            self.assertEqual(load.bad[:3], [], f"{len(load.bad)} of {load.good + len(load.bad)} reads failed")
            self.assertGreater(load.good, 50)
