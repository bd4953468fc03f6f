"""Protocols other than plain HTTP/1.1, while they are held and under a hard limit."""

import base64
import os
import socket

import grpc

from harness import case


def websocket(port: int) -> socket.socket:
    """Asks for the upgrade; the answer is not read yet."""
    connection = socket.create_connection(("127.0.0.1", port), 30)
    key = base64.b64encode(os.urandom(16)).decode()
    connection.sendall(f"GET /socket HTTP/1.1\r\nhost: web\r\nupgrade: websocket\r\nconnection: Upgrade\r\n"
                       f"sec-websocket-version: 13\r\nsec-websocket-key: {key}\r\n\r\n".encode())
    return connection


def received(connection, until: bytes) -> bytes:
    data = b""
    while until not in data:
        more = connection.recv(4096)
        if not more:
            break
        data += more
    return data


class ProtocolsTest(case.FrontCase):
    def released(self, service, addresses, hard):
        (id,) = self.driver.await_held(service.name, 1)  # pylint: disable=redefined-builtin
        service.set_endpoints(addresses)
        self.driver.answer("release", id, *(addresses[:1] if hard else ()))
        return id

    def echo_over_websocket(self, name, hard):
        service = self.service(name, hard=hard).begin()
        with websocket(service.port) as connection:
            id = self.released(service, [self.pod().address], hard)  # pylint: disable=redefined-builtin
            self.assertIn(b"101", received(connection, b"\r\n\r\n").split(b"\r\n")[0])
            for word in (b"one", b"two"):
                connection.sendall(bytes([0x81, 0x80 | len(word), 0, 0, 0, 0]) + word)
                self.assertIn(word, received(connection, word))
            self.assertNotIn(id, self.driver.ended)
        if hard:
            self.driver.until(lambda: id in self.driver.ended, "the end of the socket")

    def test_a_websocket_is_held_and_passed(self):
        self.echo_over_websocket("shop/socket", hard=False)

    def test_a_websocket_has_its_slot_until_it_ends(self):
        self.echo_over_websocket("shop/hard-socket", hard=True)

    def test_a_timeout_ends_what_is_never_sent_whole(self):
        sockets = self.service("shop/timed-socket", hard=True, request_timeout=0.5).begin()
        uploads = self.service("shop/timed-upload", hard=True, request_timeout=0.5).begin()
        address = self.pod().address
        with websocket(sockets.port) as held:
            self.driver.await_held(sockets.name, 1)
            with socket.create_connection(("127.0.0.1", uploads.port), 30) as connection:
                connection.sendall(b"POST / HTTP/1.1\r\nhost: web\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n")
                upload = self.released(uploads, [address], True)
                self.assertIn(b" 408 ", received(connection, b"\r\n\r\n").split(b"\r\n")[0])
            # How long it was held does not count: that was longer than the timeout.
            upgraded = self.released(sockets, [address], True)
            self.assertIn(b"101", received(held, b"\r\n\r\n").split(b"\r\n")[0])
            self.assertEqual(received(held, b"never"), b"")
        self.driver.until(lambda: {upload, upgraded} <= self.driver.ended, "the ends of both")

    def test_a_websocket_that_no_pod_answers_is_asked_for_once(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            service = self.service("shop/silent-socket", request_timeout=0.5).begin(gated=False, addresses=[f"127.0.0.1:{silent.getsockname()[1]}"])
            with websocket(service.port) as connection:
                self.assertRegex(received(connection, b"\r\n\r\n").split(b"\r\n")[0], b" (408|504) ")
            silent.setblocking(False)
            silent.accept()[0].close()
            with self.assertRaises(BlockingIOError):
                silent.accept()

    def test_offers_of_other_protocols_are_ignored(self):
        service = self.service("shop/offers").begin(gated=False, addresses=[self.pod().address])
        for offer in ("upgrade: TLS/1.2\r\nconnection: Upgrade", "upgrade: TLS/1.3, TLS/1.2\r\nconnection: keep-alive, Upgrade",
                      "upgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAoAAA\r\nconnection: Upgrade, HTTP2-Settings"):
            with socket.create_connection(("127.0.0.1", service.port), 30) as connection:
                connection.sendall(f"GET / HTTP/1.1\r\nhost: web\r\n{offer}\r\n\r\n".encode())
                self.assertEqual(received(connection, b"\r\n\r\n").split(b"\r\n")[0], b"HTTP/1.1 200 OK", offer)

    def calls_of_grpc(self, name, hard):
        service = self.service(name, h2c=True, hard=hard).begin()
        address = self.pod("--grpc").address
        with grpc.insecure_channel(f"127.0.0.1:{service.port}") as channel:
            unary = channel.unary_unary("/test.Echo/Unary").future(b"hello", timeout=30)
            first = self.released(service, [address], hard)
            self.assertEqual(unary.result(), b"hello")
            stream = channel.stream_stream("/test.Echo/Stream")(iter([b"1", b"2", b"3"]), timeout=30)
            second = self.released(service, [address], hard)
            self.assertEqual(list(stream), [b"1", b"2", b"3"])
        if hard:
            self.driver.until(lambda: {first, second} <= self.driver.ended, "the ends of both calls")

    def test_grpc_is_held_and_passed(self):
        self.calls_of_grpc("shop/grpc", hard=False)

    def test_grpc_has_its_slot_until_it_ends(self):
        self.calls_of_grpc("shop/hard-grpc", hard=True)

    def test_grpc_gets_refusals_as_unavailable(self):
        service = self.service("shop/grpc-refused", h2c=True).begin()
        for word in ("timeout", "full", "failed"):
            with grpc.insecure_channel(f"127.0.0.1:{service.port}") as channel:
                call = channel.unary_unary("/test.Echo/Unary").future(b"hello", timeout=30)
                (id,) = self.driver.await_held(service.name, 1)  # pylint: disable=redefined-builtin
                self.driver.answer("refuse", id, word)
                self.assertEqual(call.code(), grpc.StatusCode.UNAVAILABLE, word)
                self.assertTrue(call.details())


class HardLimitTest(case.FrontCase):
    """Slots kept as simply as can be: a pod gets so many requests at once, others wait their turn."""

    def limited(self, name, pods, concurrency, clients, count):
        addresses = [self.pod().address for _ in range(pods)]
        used, of, waiting = dict.fromkeys(addresses, 0), {}, []

        def place():
            while waiting:
                pod = min(used, key=used.get)
                if used[pod] >= concurrency:
                    return
                used[pod] += 1
                of[waiting[0]] = pod
                self.driver.answer("release", waiting.pop(0), pod)

        def on_request(id, _):  # pylint: disable=redefined-builtin
            waiting.append(id)
            place()

        def on_end(id):  # pylint: disable=redefined-builtin
            if pod := of.pop(id, None):
                used[pod] -= 1
            place()
        self.driver.on_request, self.driver.on_end = on_request, on_end
        service = self.service(name, hard=True).begin(addresses=addresses)
        replies = self.crowd.closed_loop(service.port, "/?delay=0.05", clients, count).result(120)
        self.assertEqual({reply.status for reply in replies}, {200})
        most = {reply.json()["pod"]: 0 for reply in replies}
        for reply in replies:
            most[reply.json()["pod"]] = max(most[reply.json()["pod"]], reply.json()["most"])
        self.assertEqual(len(most), pods)
        self.assertLessEqual(max(most.values()), concurrency)
        self.driver.until(lambda: not any(used.values()), "all slots free")

    def test_one_at_a_time(self):
        self.limited("shop/one", pods=3, concurrency=1, clients=30, count=150)

    def test_ten_at_a_time(self):
        self.limited("shop/ten", pods=3, concurrency=10, clients=100, count=500)

    def test_two_envoys_share_a_limit(self):
        self.second_envoy()
        self.limited("shop/shared", pods=3, concurrency=2, clients=60, count=300)
        self.assertEqual({line[2] for line in self.driver.said("request") if line[3] == "shop/shared"}, {"front-1", "front-2"})

    def test_a_client_that_leaves_frees_its_slot(self):
        address = self.pod().address
        service = self.service("shop/leaves", hard=True).begin(addresses=[address])
        asked = self.crowd.get(service.port, "/?delay=30")
        (id,) = self.driver.await_held(service.name, 1)  # pylint: disable=redefined-builtin
        self.driver.answer("release", id, address)
        self.driver.until(lambda: any(float(words[5]) == 1 for words in self.driver.said("load", "front-1", service.name)), "it is at the pod")
        asked.cancel()
        self.driver.until(lambda: id in self.driver.ended, "its end")

    def test_requests_at_pods_outlive_the_server(self):
        address = self.pod().address
        service = self.service("shop/inflight", hard=True).begin(addresses=[address])
        asked = self.crowd.get(service.port, "/?delay=6")
        (id,) = self.driver.await_held(service.name, 1)  # pylint: disable=redefined-builtin
        self.driver.answer("release", id, address)
        self.driver.until(lambda: any(float(words[5]) == 1 for words in self.driver.said("load", "front-1", service.name)), "it is at the pod")
        waits = self.crowd.get(service.port)
        self.driver.await_held(service.name, 1)
        again = self.restart_driver(service)
        again.say("serve")
        (id,) = again.await_held(service.name, 1)
        again.answer("release", id, address)
        self.assertEqual((asked.result(30).status, waits.result(30).status), (200, 200))
