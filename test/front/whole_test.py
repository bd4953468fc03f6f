"""Flyball itself with its processes, and two real Envoys before them: what their clients see."""

import pathlib
import shutil
import signal
import tempfile
import unittest
import unittest.mock

import grpc

from harness import case, clients, strangers, wait, whole
from machine import needs

NEVER = ["sleep", "1000"]  # as a pod: it never becomes ready


class WholeCase(unittest.TestCase):
    """Each test has services of its own; flyball and the Envoys are shared by the tests of a class."""

    WEBS: dict = {}  # name -> how it is made; {"waits": True}: its pods listen once the file of its name is in the folder
    NODES = ("front-1", "front-2")

    @classmethod
    def setUpClass(cls):
        if not whole.FLYBALL.exists():
            needs.missing(f"{whole.FLYBALL} is missing: build the target flyball first")
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="flyball-front-whole-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.webs = {name: cls.web(name, **how) for name, how in cls.WEBS.items()}
        cls.flyball = whole.Flyball(cls.folder, list(cls.webs.values()))
        cls.addClassCleanup(cls.flyball.stop)
        cls.flyball.start()
        cls.envoys = []
        for node in cls.NODES:
            cls.envoys.append(whole.start_envoy(case.FrontCase.program, cls.folder, cls.flyball, node))
            cls.addClassCleanup(cls.envoys[-1].stop)
        cls.crowd = clients.Crowd()
        cls.addClassCleanup(cls.crowd.stop)

    @classmethod
    def web(cls, name: str, waits=False, **how) -> whole.Web:
        return whole.Web(name, **({"command": whole.pod_command("--until", cls.folder / name)} if waits else {}), **how)

    def get(self, name: str, path="/"):
        return self.crowd.get(self.webs[name].port, path)

    def evidence(self) -> str:
        return f"--- {self.folder}\n--- flyball\n" + "\n".join(self.flyball.log().splitlines()[-40:])


class EmptyTest(WholeCase):
    def test_envoys_are_ready_before_there_is_a_service(self):
        for each in self.envoys:
            wait.until(each.is_ready, f"that {each.node} is ready", 30)


class AnswersTest(WholeCase):
    WEBS = {
        "web": {},
        "never": {"command": NEVER, "activationTimeout": "2s"},
        "never-grpc": {"command": NEVER, "activationTimeout": "2s"},
        "full": {"command": NEVER, "queue": "3"},
        "crowded": {"command": NEVER, "queue": "5000", "activationTimeout": "10m"},
        "quiet": {},
        "named": {"command": NEVER},
        "other": {"command": NEVER},
        "late": {"command": ["sh", "-c", 'sleep 1.5 && exec "$@"', "sh", *whole.pod_command()], "probed": False},
    }

    def test_from_zero_and_back(self):
        web = self.webs["web"]
        for _ in range(2):
            self.assertEqual(self.get("web").result(30).status, 200)
            self.flyball.await_zero(web)
        self.assertEqual(self.flyball.metric("flyball_front_refused_total", service=web.key), 0)

    def test_a_pod_without_a_probe_gets_no_request_before_it_listens(self):
        asked = [self.get("late") for _ in range(10)]
        self.assertEqual([reply.status for reply in self.crowd.replies(asked)], [200] * 10)

    def test_pods_that_never_become_ready_are_a_504(self):
        asked = [self.get("never") for _ in range(10)]
        for reply in self.crowd.replies(asked):
            self.assertEqual((reply.status, reply.headers["x-flyball"], reply.headers["retry-after"]), (504, "activation-timeout", "5"))

    def test_and_status_14_for_grpc(self):
        with grpc.insecure_channel(f"127.0.0.1:{self.webs['never-grpc'].port}") as channel:
            call = channel.unary_unary("/test.Echo/Unary").future(b"hello", timeout=30)
            self.assertEqual(call.code(), grpc.StatusCode.UNAVAILABLE)

    def test_a_full_queue_refuses_and_who_leaves_makes_room(self):
        full = self.webs["full"]
        asked = [self.get("full") for _ in range(3)]
        self.flyball.await_held(full, 3)
        reply = self.get("full").result(30)
        self.assertEqual((reply.status, reply.headers["x-flyball"], reply.headers["retry-after"]), (503, "queue-full", "5"))
        asked.pop().cancel()
        self.flyball.await_held(full, 2)
        asked.append(self.get("full"))
        self.flyball.await_held(full, 3)
        for future in asked:
            self.assertFalse(future.done())
            future.cancel()
        self.flyball.await_held(full, 0)

    def test_a_held_crowd_delays_no_first_request_of_another(self):
        crowd = clients.Crowd()
        self.addCleanup(crowd.stop)
        asked = [crowd.get(self.webs["crowded"].port) for _ in range(3000)]
        self.flyball.await_held(self.webs["crowded"], 3000)
        self.assertEqual(self.get("quiet").result(30).status, 200)
        self.assertEqual(self.flyball.held(self.webs["crowded"]), 3000)
        for future in asked:
            future.cancel()
        self.flyball.await_held(self.webs["crowded"], 0)

    def test_headers_of_clients_name_no_service(self):
        named, other = self.webs["named"], self.webs["other"]
        with unittest.mock.patch.object(clients, "MORE_HEADERS", f"x-flyball-service: {other.key}\r\nx-flyball-node: front-9\r\n"):
            asked = self.get("named")
            self.flyball.await_held(named, 1)
        self.assertEqual(self.flyball.held(other), 0)
        asked.cancel()
        self.flyball.await_held(named, 0)

    def test_a_call_for_no_service_is_refused_and_one_of_no_envoy_is_never_let_go(self):
        call, channel = strangers.ask(self.flyball.front, {"x-flyball-service": "shop/none", "x-flyball-node": "front-1"})
        self.assertTrue(next(call).HasField("immediate_response"))
        channel.close()
        call, channel = strangers.ask(self.flyball.front, {"x-flyball-service": "shop/web"})
        self.assertEqual(call.code(), grpc.StatusCode.INVALID_ARGUMENT)
        channel.close()


class GrpcTest(WholeCase):
    """Pods that speak HTTP/2 alone."""

    WEBS = {"grpc": {"command": whole.grpc_command(), "app_protocol": "kubernetes.io/h2c"},
            "late": {"command": whole.grpc_command(), "app_protocol": "", "least": 1}}

    def call(self, name, timeout=30):
        with grpc.insecure_channel(f"127.0.0.1:{self.webs[name].port}") as channel:
            return channel.unary_unary("/test.Echo/Unary").future(b"hello", timeout=timeout).result()

    def test_calls_wake_pods_and_get_their_answers(self):
        self.assertEqual(self.call("grpc"), b"hello")
        with grpc.insecure_channel(f"127.0.0.1:{self.webs['grpc'].port}") as channel:
            stream = channel.stream_stream("/test.Echo/Stream")(iter([b"1", b"2", b"3"]), timeout=30)
            self.assertEqual(list(stream), [b"1", b"2", b"3"])
        self.flyball.await_zero(self.webs["grpc"])
        self.assertEqual(self.call("grpc"), b"hello")

    def test_a_service_may_say_it_later(self):
        with self.assertRaises(grpc.RpcError):
            self.call("late")
        self.webs["late"].objects[-1]["spec"]["ports"][0]["appProtocol"] = "grpc"
        self.flyball.write_objects()

        def answers() -> bool:
            try:
                return self.call("late", timeout=5) == b"hello"
            except grpc.RpcError:
                return False
        wait.until(answers, "an answer", 60)


class SlowEnvoyTest(WholeCase):
    WEBS = {"known": {}, "unknown": {}}

    def test_an_envoy_that_does_not_acknowledge_blocks_zero(self):
        slow = strangers.SlowEnvoy(self.flyball.front, "slow", [self.webs["known"].key])
        self.addCleanup(slow.stop)
        wait.until(lambda: self.flyball.metric("flyball_front_envoys") == 3, "the third Envoy")
        for name in ("unknown", "known"):
            self.assertEqual(self.get(name).result(30).status, 200)
        # Which was asked last, and goes all the same.
        self.flyball.await_zero(self.webs["known"])
        self.assertIn("Envoy slow has not acknowledged the", self.flyball.log())
        self.assertEqual(self.flyball.processes(self.webs["unknown"])[0], 1)
        slow.stop()
        self.flyball.await_zero(self.webs["unknown"])


class SilentEnvoyTest(WholeCase):
    WEBS = {"asked": {}}

    def test_an_envoy_that_is_silent_keeps_no_other_waiting_and_loses_none(self):
        silent = self.envoys[1].process
        silent.send_signal(signal.SIGSTOP)
        self.addCleanup(silent.send_signal, signal.SIGCONT)
        asked = [self.get("asked") for _ in range(40)]
        wait.until(lambda: any(future.done() for future in asked), "an answer of the other")
        # It is counted out once it answers no ping; what it has stays with it.
        wait.until(lambda: self.flyball.metric("flyball_front_envoys") == 1, "that one Envoy is left")
        self.flyball.await_zero(self.webs["asked"])
        self.assertFalse(all(future.done() for future in asked), "none came to the silent one")
        silent.send_signal(signal.SIGCONT)
        self.assertEqual([reply.status for reply in self.crowd.replies(asked)], [200] * 40)


class TenThousandTest(WholeCase):
    WEBS = {"many": {"waits": True, "queue": "10000", "activationTimeout": "10m"}}

    def test_ten_thousand_are_held_and_none_is_lost(self):
        asked = [self.get("many") for _ in range(10000)]
        wait.until(lambda: self.flyball.held(self.webs["many"]) == 10000, "that all are held", 300)
        (self.folder / "many").touch()
        statuses = [reply.status for reply in self.crowd.replies(asked, 300)]
        self.assertEqual(statuses.count(200), 10000)


class KilledTest(WholeCase):
    """Processes end while a crowd is held."""

    WEBS = {"outlives": {"waits": True}, "stays": {"waits": True}, "half": {"command": NEVER}}

    def test_a_thousand_held_outlive_flyball(self):
        asked = [self.get("outlives") for _ in range(1000)]
        self.flyball.await_held(self.webs["outlives"], 1000)
        self.flyball.kill()
        self.flyball.start()
        self.flyball.await_held(self.webs["outlives"], 1000)
        (self.folder / "outlives").touch()
        self.assertEqual({reply.status for reply in self.crowd.replies(asked, 120)}, {200})

    def test_held_requests_outlive_an_orderly_end(self):
        asked = [self.get("stays") for _ in range(100)]
        self.flyball.await_held(self.webs["stays"], 100)
        self.flyball.stop()  # which has 20 s for it
        self.assertFalse(any(future.done() for future in asked), "held all the while")
        self.flyball.start()
        self.flyball.await_held(self.webs["stays"], 100)
        (self.folder / "stays").touch()
        self.assertEqual({reply.status for reply in self.crowd.replies(asked, 120)}, {200})

    def test_an_envoy_that_dies_takes_its_own_with_it_and_no_other(self):
        half = self.webs["half"]
        asked = [self.get("half") for _ in range(100)]
        self.flyball.await_held(half, 100)
        self.envoys[1].stop()
        wait.until(lambda: self.flyball.held(half) == sum(not future.done() for future in asked) < 100, "that its places are free")
        wait.until(lambda: self.flyball.metric("flyball_front_envoys") == 1, "that it is counted out")  # its streams end one by one
        self.assertGreater(self.flyball.held(half), 0)
        for future in asked:
            future.cancel()
        self.flyball.await_held(half, 0)
