"""Requests that are held and released, and what their clients get."""

import subprocess
import time

from harness import case


class HoldTest(case.FrontCase):
    def test_a_held_request_is_served_once_its_pod_is_known(self):
        service = self.service().begin()
        asked = self.crowd.get(service.port)
        self.driver.await_held(service.name, 1)
        service.set_endpoints([self.pod().address])
        service.release_all()
        self.assertEqual(asked.result(30).status, 200)

    def test_with_the_gate_off_nobody_is_asked(self):
        service = self.service().begin(gated=False, addresses=[self.pod().address])
        replies = self.crowd.replies([self.crowd.get(service.port) for _ in range(50)])
        self.assertEqual([reply.status for reply in replies], [200] * 50)
        self.assertEqual([line for line in self.driver.said("request") if line[3] == service.name], [])

    def test_after_the_acknowledgement_no_release_fails(self):
        pod = self.pod()
        service = self.service().begin()
        for _ in range(25):
            asked = [self.crowd.get(service.port) for _ in range(10)]
            self.driver.await_held(service.name, 10)
            began = time.monotonic()
            service.set_endpoints([pod.address])
            # Envoy's workers know of endpoints later than the thread that acknowledges them.
            self.assertGreater(time.monotonic() - began, 0.025)
            service.release_all()
            replies = self.crowd.replies(asked)
            self.assertEqual([reply.status for reply in replies], [200] * 10, [reply.body for reply in replies])
            service.set_endpoints([])

    def test_twelve_times_to_zero_under_load(self):
        pod = self.pod()
        service = self.service().begin(gated=False, addresses=[pod.address])
        load = self.crowd.steady(service.port, "/", every=0.01, seconds=12)
        held = 0
        for _ in range(12):
            self.driver.on_request = None
            service.set_gate(True)
            service.set_endpoints([])
            time.sleep(0.2)  # requests come all the while
            held += len(self.driver.held_of(service.name))
            service.set_endpoints([pod.address])
            self.driver.on_request = lambda id, _: self.driver.answer("release", id)
            service.release_all()
            service.set_gate(False)
            service.await_workers()  # none is late, and what was released is at the pod
        replies = load.result(120)
        self.assertEqual({reply.status for reply in replies}, {200})
        self.assertEqual(len(replies), 1200)
        self.assertGreater(held, 20)

    def test_refusals_as_clients_see_them(self):
        service = self.service().begin()
        for word, status, name, more in (("timeout", 504, "activation-timeout", ()), ("full", 503, "queue-full", ()),
                                         ("failed", 503, "activation-failed", ("Paused",))):
            asked = self.crowd.get(service.port)
            (id,) = self.driver.await_held(service.name, 1)  # pylint: disable=redefined-builtin
            self.driver.answer("refuse", id, word, *more)
            reply = asked.result(30)
            self.assertEqual((reply.status, reply.headers["x-flyball"]), (status, name))
            self.assertEqual(reply.headers.get("retry-after"), None if more else "5")
            self.assertIn(more[0] if more else "", reply.body.decode())

    def test_headers_of_pods_pass_but_ours(self):
        service = self.service().begin(gated=False, addresses=[self.pod().address])
        reply = self.crowd.get(service.port).result(30)
        self.assertEqual(reply.headers["server"], "pod")
        self.assertNotIn("x-flyball", reply.headers)
        self.assertFalse([name for name in reply.headers if name.startswith("x-envoy")])

    def test_a_client_that_leaves_gives_its_place_back(self):
        service = self.service().begin()
        asked = self.crowd.get(service.port)
        (id,) = self.driver.await_held(service.name, 1)  # pylint: disable=redefined-builtin
        asked.cancel()
        self.driver.until(lambda: id in self.driver.ended, "the end of the request")
        self.driver.say("release", id)  # too late, and no harm
        later = self.crowd.get(service.port)
        self.driver.await_held(service.name, 1)
        service.set_endpoints([self.pod().address])
        service.release_all()
        self.assertEqual(later.result(30).status, 200)

    def test_pods_that_refuse_connections_are_a_503(self):
        service = self.service().begin(gated=False, addresses=[f"127.0.0.1:{case.free_port()}"])
        self.assertEqual(self.crowd.get(service.port).result(30).status, 503)

    def test_a_pod_that_refuses_connections_costs_no_request_while_another_answers(self):
        refuses = [f"127.0.0.1:{case.free_port()}" for _ in range(3)]
        service = self.service().begin(gated=False, addresses=[*refuses, self.pod().address])
        # The one that answers is always the busiest, so that the others are chosen before it.
        replies = self.crowd.closed_loop(service.port, "/?delay=0.02", clients=10, count=500).result(60)
        self.assertEqual([reply.status for reply in replies], [200] * 500)

    def test_connections_that_stay_open_keep_no_other_waiting(self):
        service = self.service().begin(gated=False, addresses=[self.pod().address])
        asked = [self.crowd.get(service.port, "/?delay=10") for _ in range(300)]
        self.driver.until(lambda: any(float(words[5]) == 300 for words in self.driver.said("load", "front-1", service.name)), "300 at the pod")
        self.assertEqual(self.crowd.get(service.port).result(4).status, 200)
        self.assertEqual([reply.status for reply in self.crowd.replies(asked)], [200] * 300)

    def test_a_timeout_of_requests_is_a_504(self):
        service = self.service(request_timeout=0.3).begin(gated=False, addresses=[self.pod().address])
        self.assertEqual(self.crowd.get(service.port, "/?delay=5").result(30).status, 504)

    def upload(self, *how):
        """100 MB that a client wants to send while it is held; what the pod says of it, and what Envoy's memory grew by."""
        service = self.service(f"shop/upload{len(how)}").begin()
        before = self.envoy.resident_bytes()
        with subprocess.Popen(["sh", "-c", f"head -c 100000000 /dev/zero | curl -sS {' '.join(how)} -T - http://127.0.0.1:{service.port}/"],
                              stdout=subprocess.PIPE, text=True) as curl:
            self.driver.await_held(service.name, 1)
            time.sleep(1)  # it would send more, if it could
            grown = self.envoy.resident_bytes() - before
            service.set_endpoints([self.pod().address])
            service.release_all()
            said = curl.communicate(timeout=120)[0]
        self.assertIn('"bytes": 100000000', said)
        self.assertLess(grown, 40_000_000)

    def test_an_upload_waits_at_the_client(self):
        self.upload("-H", "Expect:")

    def test_an_upload_over_http2_waits_at_the_client(self):
        self.upload("--http2-prior-knowledge")
