"""Who may be connected: certificates both ways, whose they must be, and new ones."""

import pathlib
import re
import shutil
import socket
import ssl
import tempfile
import unittest

import grpc

from harness import case, driver, envoy, pki, strangers, wait


def is_open(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def settings_of(connection: ssl.SSLSocket) -> bool:
    """Whether the server speaks HTTP/2 on this connection."""
    try:
        return connection.recv(9)[3:4] == b"\x04"
    except OSError:
        return False


class TlsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="flyball-front-tls-"))
        self.ca = pki.Authority(self.folder, "ca")
        self.tls = self.ca.issue(self.folder / "server", "flyball")
        self.driver = driver.Driver(case.free_port(), self.folder / "driver.log",
                                    self.tls / "tls.crt", self.tls / "tls.key", self.tls / "ca.crt", "front")
        self.driver.say("serve")
        self.envoys = []

    def tearDown(self):
        for each in self.envoys:
            each.stop()
        self.driver.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def envoy(self, node: str, authority, name: str) -> envoy.Envoy:
        tls = authority.issue(self.folder / node, name)
        self.envoys.append(envoy.Envoy(case.FrontCase.program, self.folder / "envoys", self.driver.port, case.free_port(), node=node, tls=tls))
        return self.envoys[-1]

    def assert_kept_out(self, kept_out, why: str):
        wait.until(lambda: re.search(why, kept_out.log()), f"that the Envoy says {why}")
        self.assertNotIn(kept_out.node, self.driver.nodes)

    def test_the_front_is_let_in(self):
        self.envoy("front-1", self.ca, "front")
        self.driver.until(lambda: "front-1" in self.driver.nodes, "the Envoy's stream")

    def test_another_name_of_the_same_authority_is_kept_out(self):
        self.assert_kept_out(self.envoy("other", self.ca, "web"), "stream to flyball closed.*(TLS|connection)")

    def test_nothing_is_read_of_who_has_another_name(self):
        for name, begins in (("front", True), ("web", False)):
            tls = self.ca.issue(self.folder / f"reads-{name}", name)
            context = ssl.create_default_context(cafile=tls / "ca.crt")
            context.load_cert_chain(tls / "tls.crt", tls / "tls.key")
            context.set_alpn_protocols(["h2"])
            with socket.create_connection(("127.0.0.1", self.driver.port), 10) as plain, context.wrap_socket(plain, server_hostname="flyball") as connection:
                self.assertEqual(settings_of(connection), begins, name)

    def test_who_has_shown_its_certificate_may_connect_again_and_again(self):
        tls = self.ca.issue(self.folder / "again", "front")
        context = ssl.create_default_context(cafile=tls / "ca.crt")
        context.load_cert_chain(tls / "tls.crt", tls / "tls.key")
        context.set_alpn_protocols(["h2"])
        for number in range(40):
            plain = socket.create_connection(("127.0.0.1", self.driver.port), 10)
            self.addCleanup(plain.close)
            connection = context.wrap_socket(plain, server_hostname="flyball")
            self.addCleanup(connection.close)
            self.assertTrue(settings_of(connection), f"the connection after {number}")

    def test_headers_count_for_nothing_without_the_certificate_of_the_front(self):
        names = {"x-flyball-service": "shop/web", "x-flyball-node": "front-1"}
        for name, code in (("web", grpc.StatusCode.UNAVAILABLE), ("front", None)):
            call, channel = strangers.ask(self.driver.port, names, self.ca.issue(self.folder / f"client-{name}", name))
            if code is None:
                self.driver.await_held("shop/web", 1)
            else:
                self.assertEqual(call.code(), code)
                self.assertEqual(self.driver.held_of("shop/web"), [])
            channel.close()

    def test_another_authority_is_kept_out(self):
        stranger = pki.Authority(self.folder, "stranger")
        self.assert_kept_out(self.envoy("stranger-1", stranger, "front"), "stream to flyball closed.*(TLS|connection)")

    def test_new_certificates_count_for_new_connections(self):
        self.envoy("front-1", self.ca, "front")
        self.driver.until(lambda: "front-1" in self.driver.nodes, "the Envoy's stream")
        renewed = pki.Authority(self.folder, "renewed")
        renewed.issue(self.tls, "flyball")
        self.envoy("front-2", renewed, "front")
        self.driver.until(lambda: "front-2" in self.driver.nodes, "the stream of one that knows the new authority only", timeout=60)
        self.assertIn("front-1", self.driver.nodes)  # it was let in before

    def test_a_crowd_that_shows_no_certificate_is_not_kept_and_keeps_nobody_out(self):
        crowd = []
        for _ in range(300):
            crowd.append(socket.create_connection(("127.0.0.1", self.driver.port), source_address=("127.0.0.2", 0)))
            self.addCleanup(crowd[-1].close)
            crowd[-1].setblocking(False)
        wait.until(lambda: sum(map(is_open, crowd)) <= 16, "that one address has no more than its share")
        self.envoy("front-1", self.ca, "front")
        self.driver.until(lambda: "front-1" in self.driver.nodes, "the Envoy's stream")
        wait.until(lambda: not any(map(is_open, crowd)), "that the others are given up", 20)
