"""The server of Envoys dies, is refused, or learns the load; Envoys die."""

import re
import signal

from harness import case, clients, driver, wait


class FaultsTest(case.FrontCase):
    def test_a_thousand_held_requests_outlive_the_server(self):
        service = self.service("shop/outlives").begin()
        running = self.service("shop/running").begin(gated=False, addresses=[self.pod().address])
        asked = [self.crowd.get(service.port) for _ in range(1000)]
        self.driver.await_held(service.name, 1000, timeout=60)
        steady = clients.Crowd()
        self.addCleanup(steady.stop)
        load = steady.steady(running.port, "/", every=0.02, seconds=4)
        again = self.restart_driver(service, running)
        # Nothing is served yet, and what runs goes on running.
        self.assertEqual(self.crowd.get(running.port).result(30).status, 200)
        self.assertEqual([words for words in again.lines if words[0] != "load"], [])
        again.say("serve")
        again.await_held(service.name, 1000, timeout=60)
        again.until(lambda: again.nodes == {"front-1": "returning"}, "the stream, which may come after them")
        service.set_endpoints([self.pod().address])
        service.release_all()
        self.assertEqual([reply.status for reply in self.crowd.replies(asked, 120)], [200] * 1000)
        self.assertEqual([reply.status for reply in load.result(60)], [200] * 200)

    def test_who_asks_while_the_server_is_away_is_served_when_it_is_back(self):
        service = self.service("shop/away").begin()
        self.driver.kill()
        asked = self.crowd.get(service.port)
        again = self.restart_driver(service)
        again.say("serve")
        again.await_held(service.name, 1)
        service.set_endpoints([self.pod().address])
        service.release_all()
        self.assertEqual(asked.result(30).status, 200)

    def test_versions_that_it_has_are_acknowledged_at_once(self):
        service = self.service("shop/known").begin()
        versions = {kind: self.driver.acks["front-1", kind, service.name] for kind in ("cluster", "endpoints", "route", "listener")}
        self.driver.kill()
        again = type(self).driver = driver.Driver(self.server_port, self.folder / "driver.log")
        again.say("cluster", service.name, versions["cluster"])
        again.say("endpoints", service.name, versions["endpoints"])
        again.say("route", service.name, versions["route"], "on", 0)
        again.say("listener", service.name, versions["listener"], service.port)
        again.say("serve")
        for kind, version in versions.items():
            again.await_ack(kind, service.name, version)
        self.assertEqual(again.nodes, {"front-1": "returning"})

    def test_a_refused_listener_is_told_and_hurts_no_other(self):
        good = self.service("shop/good").begin(gated=False, addresses=[self.pod().address])
        taken = self.service("shop/taken")
        taken.port = good.port
        taken.put_all()
        other = self.service("shop/other").begin(gated=False, addresses=[self.pod().address])
        self.driver.until(lambda: self.driver.said("nack", "front-1", "listener", "shop/taken"), "the refusal")
        self.assertEqual(self.crowd.get(good.port).result(30).status, 200)
        self.assertEqual(self.crowd.get(other.port).result(30).status, 200)

    def test_a_get_whose_connection_breaks_is_tried_at_another_pod(self):
        service = self.service("shop/breaks").begin(gated=False, addresses=[self.pod("--breaks").address, self.pod().address])
        self.assertEqual([self.crowd.get(service.port).result(30).status for _ in range(20)], [200] * 20)

    def test_the_load_adds_up(self):
        service = self.service("shop/load.v2").begin(gated=False, addresses=[self.pod().address])
        self.crowd.closed_loop(service.port, "/", clients=10, count=300).result(60)

        def begun():
            return sum(float(words[4]) for words in self.driver.said("load", "front-1", service.name))
        self.driver.until(lambda: begun() >= 300, "300 requests in the reports")
        self.assertEqual(begun(), 300)
        asked = [self.crowd.get(service.port, "/?delay=60") for _ in range(7)]
        self.driver.until(lambda: any(words[3] == "7" and words[5] == "7" for words in self.driver.said("load", "front-1", service.name)),
                          "seven under way, and at pods")
        for future in asked:
            future.cancel()

    def test_held_requests_are_active_and_at_no_pod(self):
        service = self.service("shop/waiting").begin()
        asked = [self.crowd.get(service.port) for _ in range(5)]
        self.driver.await_held(service.name, 5)
        self.driver.until(lambda: any(words[3:6:2] == ["5", "0"] for words in self.driver.said("load", "front-1", service.name)), "five that wait")
        for future in asked:
            future.cancel()
        self.driver.until(lambda: not self.driver.held_of(service.name), "their ends")

    def test_the_end_of_an_envoy_is_told_with_its_requests(self):
        service = self.service("shop/two").begin()
        second = self.second_envoy()
        second.stop()
        self.driver.until(lambda: "front-2" not in self.driver.nodes, "its end")
        self.assertIn("front-1", self.driver.nodes)
        self.assertTrue(service)

    def test_a_server_that_is_silent_is_asked_again(self):
        service = self.service("shop/silent").begin()

        def calls():
            return sum(map(int, re.findall(r"flyball-owner::.*::rq_total::(\d+)", self.envoy.get("/clusters"))))
        before = calls()
        self.driver.process.send_signal(signal.SIGSTOP)
        try:
            asked = self.crowd.get(service.port)
            wait.until(lambda: calls() >= before + 2, "that it is asked again", 20)
        finally:
            self.driver.process.send_signal(signal.SIGCONT)
        service.set_endpoints([self.pod().address])
        self.driver.on_request = lambda id, _: self.driver.answer("release", id)
        service.release_all()
        self.assertEqual(asked.result(30).status, 200)

    def test_what_is_removed_is_gone_at_the_envoy(self):
        service = self.service("shop/gone").begin()
        service.end()

        # Its connections may be drained for minutes, but nothing new gets there.
        wait.until(lambda: "shop/gone" not in self.envoy.get("/clusters") + self.envoy.get("/listeners"), "that Envoy forgets it")
        with self.assertRaises(OSError):
            self.crowd.get(service.port).result(30)


class DrainTest(case.FrontCase):
    def test_held_requests_survive_the_drain_of_their_envoy(self):
        service = self.service("shop/drained").begin()
        asked = [self.crowd.get(service.port) for _ in range(50)]
        self.driver.await_held(service.name, 50)
        self.envoy.post("/drain_listeners?graceful")
        service.set_endpoints([self.pod().address])
        service.release_all()
        self.assertEqual([reply.status for reply in self.crowd.replies(asked)], [200] * 50)


class TwoCrowdsTest(case.FrontCase):
    def test_a_held_crowd_delays_no_other_service(self):
        crowded, other = self.service("shop/crowded").begin(), self.service("shop/quiet").begin()
        more = clients.Crowd()
        asked = [more.get(crowded.port) for _ in range(1000)]
        self.driver.await_held(crowded.name, 1000, timeout=60)
        one = self.crowd.get(other.port)
        self.driver.await_held(other.name, 1)
        other.set_endpoints([self.pod().address])
        other.release_all()
        self.assertEqual(one.result(30).status, 200)
        crowded.set_endpoints([self.pod().address])
        crowded.release_all()
        self.assertEqual({reply.status for reply in more.replies(asked, 120)}, {200})
        more.stop()
