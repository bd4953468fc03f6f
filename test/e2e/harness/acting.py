"""Acting: scenarios as the stock HPA controller goes through them, on HPAs and on our own kind."""

import json
import time

from cases import scaling as cases
from . import adapter, kube, own_kind, ports, registration, scaler, scaling, scenario_run
from .case import Case, differs
from .kubelet import Kubelet

_CONDITIONS = ("AbleToScale", "ScalingActive", "ScalingLimited")
NAMESPACES = {"stock": "act-stock", "hpa": "act-hpa", "own": "act-own"}


class Acting(Case):
    """SCENARIOS in a cluster of VERSION. One scaler at a time goes through all of them, in a namespace of its own; what they told
    is compared."""

    SCENARIOS = ()
    WHO = ("stock", "hpa", "own")

    @classmethod
    def setUpClass(cls):
        cls.admin, cls._told = cls.cluster().admin, {}
        for namespace in NAMESPACES.values():
            kube.namespace(cls.admin, namespace)
        cls.cluster().stop_stock_scaler()
        cls.addClassCleanup(cls.cluster().start_stock_scaler)
        own_kind.install(cls.cluster())
        cls.widgets = scaling.Widgets(cls.admin)
        cls.addClassCleanup(cls.widgets.stop)
        cls.kubelet = Kubelet(cls.admin, *NAMESPACES.values())
        cls.addClassCleanup(cls.kubelet.stop)
        cls.metrics = scaling.Metrics(cls.kubelet)
        cls.addClassCleanup(cls.metrics.stop)
        cls.port = ports.free()
        registration.register(cls.admin, "scaler", cls.port)
        cls.addClassCleanup(registration.unregister, cls.admin)

    @classmethod
    def told(cls, who: str) -> dict:
        """Scenario name -> Told. The first asking runs it."""
        if who not in cls._told:
            for _ in range(2):  # a scrape that was missed is told in events, of this one alone
                began = time.monotonic()
                cls._told[who] = cls.run_through(who)
                if not cls.metrics.missed(time.monotonic() - began + 1):
                    break
        return cls._told[who]

    @classmethod
    def run_through(cls, who: str) -> dict:
        kind = own_kind.KIND if who == "own" else scenario_run.HPA
        scenarios = tuple(s for s in cls.SCENARIOS if who != "own" or not s.of_hpa)
        run = scenario_run.Run(cls.admin, cls.metrics, NAMESPACES[who], scenarios, kind)
        run.prepare()
        acting = () if who == "stock" or adapter.subject() == adapter.ORIGINAL else (
            "--scaler-mode=act", "--scaler-hpa", f"--scaler-namespace={NAMESPACES[who]}",
            "--scaler-status-interval=0s")  # each status, as the stock controller, that they can be compared
        server = scaler.flyball(cls.cluster(), cls.metrics.prometheus.url, acting, port=cls.port).start()
        try:
            cls.watch(server.process)
            for resource in ("pods/load_per_pod", "services/load_service"):
                server.wait_listed("custom.metrics.k8s.io/v1beta2", resource)
            server.wait_listed("external.metrics.k8s.io/v1beta1", "queue_len")
            registration.wait_available(cls.admin)
            cls.metrics.wait_scraped(NAMESPACES[who])
            if not acting:
                cls.cluster().start_stock_scaler()
            run.play()
        finally:
            cls.cluster().stop_stock_scaler()
            server.stop()
            run.remove()
        return run.told

    def as_it_should(self, who: str, scenario: cases.Scenario):
        told = self.told(who)[scenario.name]
        self.assertEqual(told.missed, "")
        self.assertIn(scenario.says, told.conditions())
        return told

    def check_events(self, ours, stock, what):
        """Who took long to get through the steps had its budget of warnings spent before the last of them."""
        mine, theirs = ([what(json.loads(event)) for event in told.events] for told in (ours, stock))
        if not ours.warned_out and not stock.warned_out:
            return self.assertEqual(mine, theirs)
        only_mine, only_theirs = ([e for e in a if e not in b] for a, b in ((mine, theirs), (theirs, mine)))
        self.assertEqual([e for e in only_mine if not stock.warned_out or e[0] != "Warning"], [])
        self.assertEqual([e for e in only_theirs if not ours.warned_out or e[0] != "Warning"], [])

    def check_stock(self, scenario: cases.Scenario):
        self.as_it_should("stock", scenario)

    def check_hpa(self, scenario: cases.Scenario):
        ours, stock = self.as_it_should("hpa", scenario), self.told("stock")[scenario.name]
        self.assertEqual(ours.steps, stock.steps)
        self.check_events(ours, stock, list)

    @differs("it has no kind of its own")
    def check_own(self, scenario: cases.Scenario):
        ours, stock = self.as_it_should("own", scenario), self.told("stock")[scenario.name]
        self.assertEqual([_as_of_hpa(step) for step in ours.steps], [_as_of_hpa(step) for step in stock.steps])
        self.check_events(ours, stock, lambda event: event[:3])


def _as_of_hpa(step: dict) -> dict:
    """What our own kind's status has in common with an HPA's."""
    def common(status):
        counts = {key: status.get(key, 0) for key in ("currentReplicas", "desiredReplicas")}
        return {**counts, "lastScaleTime": status.get("lastScaleTime"), "currentMetrics": status.get("currentMetrics"),
                "conditions": [c for c in status["conditions"] if c["type"] in _CONDITIONS]}
    return {"replicas": step["replicas"], "status": [common(s) for s in step["status"]]}


def _add(cls, check: str, scenario: cases.Scenario):
    def test(self):
        getattr(self, "check_" + check)(scenario)
    name = f"test_{check}_{scenario.name.replace('-', '_')}"
    test.__name__ = name
    setattr(cls, name, test)


def with_scenarios(cls):
    """Gives the class a test for each of its SCENARIOS and of WHO goes through it."""
    for scenario in cls.SCENARIOS:
        for check in cls.WHO:
            if check != "own" or not scenario.of_hpa:
                _add(cls, check, scenario)
    return cls
