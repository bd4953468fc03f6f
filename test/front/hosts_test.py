"""The listener for hosts, which several services share."""

import time

from harness import case, wait


class HostsTest(case.FrontCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.port = case.free_port()
        cls.driver.say("listener", "hosts", 1, cls.port)

    def led(self, name, hosts, headers="", **how):
        """A service with a pod, an open gate and these hosts."""
        pod = self.pod()
        service = self.service(f"shop/{name}", **how).begin(gated=how.get("hard", False), addresses=[pod.address])
        service.set_hosts(hosts, headers)
        wait.listening(self.port)
        return service, int(pod.address.rsplit(":", 1)[1])

    def close(self, service, pod, host):
        """No request to it passes any more, in any of Envoy's workers; and its pods are away."""
        self.leads(pod, host)  # of a service without a request Envoy reports nothing that could be waited for
        service.set_gate(True)
        service.await_workers()
        service.set_endpoints([])

    def where(self, host, path="/", *headers):
        """The port of the pod that such a request comes to; its status if that is not 200."""
        reply = self.crowd.get(self.port, path, host, headers).result(30)
        return reply.json()["pod"] if reply.status == 200 else reply.status

    def leads(self, want, host, path="/", *headers):
        """Asserts what `where` says. Envoy acknowledges a route before all of its workers use it."""
        wait.until(lambda: self.where(host, path, *headers) == want, f"{host}{path} {headers} leads to {want}", 10)

    def test_host_path_and_headers_say_whose_a_request_is(self):
        _, one = self.led("one", "shop.example.com,Upper.Example.COM")
        _, api = self.led("api", "shop.example.com/api")
        _, acme = self.led("acme", "shop.example.com/api", "x-tenant=acme")
        _, beta = self.led("beta", "shop.example.com", "x-beta")
        _, many = self.led("many", "*.example.com/v1")
        _, more = self.led("more", "*.b.example.com")
        for want, *request in (
                (one, "shop.example.com"), (one, "SHOP.example.com:8080", "/x?y=/api"), (one, "upper.example.com"),
                (one, "shop.example.com", "/apis"), (api, "shop.example.com", "/api"), (api, "shop.example.com", "/api/x"),
                (api, "shop.example.com", "/api?x"), (acme, "shop.example.com", "/api", "x-tenant: acme"),
                (api, "shop.example.com", "/api", "X-Tenant: other"), (beta, "shop.example.com", "/", "X-Beta: anything"),
                (one, "shop.example.com", "/v2"), (many, "other.example.com", "/v1/x"), (404, "other.example.com", "/v2"),
                (more, "a.b.example.com"), (more, "a.b.example.com", "/v1"), (404, "example.com", "/v1"), (404, "example.org")):
            self.leads(want, *request)
        _, rest = self.led("rest", "*")
        self.leads(rest, "example.org")
        self.leads(rest, "other.example.com", "/v2")
        self.leads(more, "a.b.example.com")

    def test_the_gate_is_each_services_own(self):
        asleep, pod = self.led("asleep", "asleep.example.com")
        _, awake = self.led("awake", "awake.example.com")
        self.close(asleep, pod, "asleep.example.com")
        asked = [self.crowd.get(self.port, "/", "asleep.example.com") for _ in range(20)]
        self.driver.await_held(asleep.name, 20)
        self.leads(awake, "awake.example.com")
        self.assertEqual(self.driver.held_of("shop/awake"), [])
        asleep.set_endpoints([f"127.0.0.1:{pod}"])
        asleep.release_all()
        self.assertEqual([reply.status for reply in self.crowd.replies(asked)], [200] * 20)

    def test_a_service_of_both_ways_is_held_on_both(self):
        service, pod = self.led("both", "both.example.com")
        self.close(service, pod, "both.example.com")
        asked = [self.crowd.get(self.port, "/", "both.example.com"), self.crowd.get(service.port)]
        self.driver.await_held(service.name, 2)
        service.set_endpoints([f"127.0.0.1:{pod}"])
        service.release_all()
        self.assertEqual([reply.status for reply in self.crowd.replies(asked)], [200] * 2)

    def test_six_times_to_zero_under_load(self):
        """Gates and pods change right after each other, and the stream keeps their order."""
        service, pod = self.led("cycles", "cycles.example.com")
        _, steady = self.led("steady", "steady.example.com")
        load = self.crowd.steady(self.port, "/", every=0.01, seconds=6, host="cycles.example.com")
        beside = self.crowd.steady(self.port, "/", every=0.02, seconds=6, host="steady.example.com")
        held = 0
        for _ in range(6):
            self.driver.on_request = None
            service.gated, service.addresses = True, []
            for kind in ("route", "hostroute", "endpoints"):
                version = service.say(kind)
            self.driver.await_ack("endpoints", service.name, version)
            time.sleep(0.3)
            held += len(self.driver.held_of(service.name))
            service.gated, service.addresses = False, [f"127.0.0.1:{pod}"]
            # Pods first: who comes between an open gate and its pods has none.
            versions = {kind: service.say(kind) for kind in ("endpoints", "route", "hostroute")}
            self.driver.await_ack("endpoints", service.name, versions["endpoints"])
            self.driver.on_request = lambda id, _: self.driver.answer("release", id)
            service.release_all()
            self.driver.await_ack("hostroute", service.name, versions["hostroute"])
            service.await_workers()
        self.assertEqual({reply.status for reply in load.result(60)}, {200})
        self.assertEqual({reply.json()["pod"] for reply in beside.result(60)}, {steady})
        self.assertGreater(held, 20)

    def test_the_load_by_hosts_is_at_the_pods(self):
        service, _ = self.led("load", "load.example.com")
        self.crowd.closed_loop(self.port, "/", clients=10, count=300, host="load.example.com").result(60)

        def begun():
            return sum(float(words[7]) for words in self.driver.said("load", "front-1", service.name))
        self.driver.until(lambda: begun() >= 300, "300 requests in the reports")
        self.assertEqual(begun(), 300)
        asked = [self.crowd.get(self.port, "/?delay=60", "load.example.com") for _ in range(7)]
        self.driver.until(lambda: any(words[3] == "0" and words[5] == "7" for words in self.driver.said("load", "front-1", service.name)),
                          "seven at pods, and none at the service's own listener")
        for future in asked:
            future.cancel()

    def test_a_hard_limit_learns_the_end_of_requests_by_hosts(self):
        service, pod = self.led("limited", "limited.example.com", hard=True)
        asked = self.crowd.get(self.port, "/?delay=3", "limited.example.com")
        (id,) = self.driver.await_held(service.name, 1)  # pylint: disable=redefined-builtin
        self.driver.answer("release", id, f"127.0.0.1:{pod}")
        self.assertNotIn(id, self.driver.ended)
        self.assertEqual(asked.result(30).status, 200)
        self.driver.until(lambda: id in self.driver.ended, "the end of the request")

    def test_held_requests_outlive_the_server(self):
        service, pod = self.led("outlives", "outlives.example.com")
        self.close(service, pod, "outlives.example.com")
        asked = [self.crowd.get(self.port, "/", "outlives.example.com") for _ in range(100)]
        self.driver.await_held(service.name, 100)
        again = self.restart_driver(service)
        service.say("hostroute")
        again.say("listener", "hosts", 2, self.port)
        again.say("serve")
        again.await_held(service.name, 100, timeout=60)
        service.set_endpoints([f"127.0.0.1:{pod}"])
        service.release_all()
        self.assertEqual([reply.status for reply in self.crowd.replies(asked)], [200] * 100)

    def test_a_route_that_envoys_refuse_costs_no_other_service_its_hosts(self):
        good, good_pod = self.led("good", "good.example.com")
        bad, bad_pod = self.service("shop/bad"), self.pod()
        bad.gated, bad.addresses, bad.hosts = False, [bad_pod.address], "bad.example.com"
        bad.put_all()
        bad.request_timeout = 1e10
        bad.say("route")
        bad.say("hostroute")
        self.driver.until(lambda: self.driver.said("nack", "front-1", "route", "shop/bad"), "the refusal")
        _, late_pod = self.led("late", "late.example.com")
        for name, want in (("good", good_pod), ("late", late_pod), ("bad", 404)):
            self.leads(want, f"{name}.example.com")
        # An Envoy that begins gets all but that one.
        self.second_envoy()
        good.set_gate(False)
        self.driver.await_ack("hostroute", "shop/late", self.driver.acks["front-1", "hostroute", "shop/late"], "front-2")
        bad.request_timeout = 0
        bad.say("route")
        bad.set_hosts("bad.example.com")
        self.leads(int(bad_pod.address.rsplit(":", 1)[1]), "bad.example.com")

    def test_hosts_that_are_taken_away_are_nobodys(self):
        service, pod = self.led("gone", "gone.example.com")
        self.leads(pod, "gone.example.com")
        service.set_hosts("")
        self.leads(404, "gone.example.com")


class ThousandHostsTest(case.FrontCase):
    def test_a_thousand_routes(self):
        port = case.free_port()
        pod = self.pod()
        first = self.service("shop/s0").begin(gated=False, addresses=[pod.address])
        versions = []
        for i in range(1000):
            for kind, words in (("cluster", []), ("endpoints", [pod.address]), ("hostroute", ["off", f"h{i}.example.com,h{i}.example.org/api", ","])):
                self.driver.say(kind, f"shop/s{i}", 10_000 + i, *words)
            versions.append(10_000 + i)
        # The first table has gates that are still on if it is sent before the pods: the front lets go what comes until the next.
        self.driver.on_request = lambda id, _: self.driver.answer("release", id)
        began = time.monotonic()
        self.driver.say("listener", "hosts", 1, port)
        for i, version in enumerate(versions):
            for kind in ("hostroute", "endpoints"):
                self.driver.await_ack(kind, f"shop/s{i}", version, timeout=60)
        known = time.monotonic() - began
        wait.listening(port)
        self.assertEqual(self.crowd.get(port, "/", "h999.example.com").result(30).status, 200)
        self.assertEqual(self.crowd.get(port, "/api/x", "h500.example.org").result(30).status, 200)
        self.assertEqual(self.crowd.get(port, "/", "h500.example.org").result(30).status, 404)
        # Each gate sends the whole table.
        took = []
        first.hosts, versions = "h0.example.com", 20_000
        for gated in (True, False) * 5:
            versions += 1
            began = time.monotonic()
            self.driver.say("hostroute", "shop/s0", versions, "on" if gated else "off", first.hosts, ",")
            self.driver.await_ack("hostroute", "shop/s0", versions)
            took.append(time.monotonic() - began)
        print(f"      1,000 routes known within {known:.2f} s; a gate with all of them {sorted(took)[5] * 1000:.0f} ms (median of 10)")
        for i in range(1000):
            for kind in ("hostroute", "cluster", "endpoints"):
                self.driver.say("remove", kind, f"shop/s{i}")
