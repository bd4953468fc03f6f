#!/usr/bin/python3
"""Clients that mean no good, and the probes that must be answered nevertheless: a process of its own for each, so that none
waits for another's interpreter.

  hostile_client.py PORT ATTACK JSON-OPTIONS

Writes one JSON line when the attack stands, and keeps what it holds until its standard input ends.
"""

import collections
import concurrent.futures
import itertools
import json
import os
import resource
import select
import socket
import ssl
import subprocess
import sys
import time

MEGABYTE = 1_000_000
SLOW_SECONDS = 1.0  # a kubelet's probe, by default
EXTERNAL = "/apis/external.metrics.k8s.io/v1beta1/namespaces/default/q"


def slow_in_a_row(took: list, limit: float) -> int:
    """The most answers one after the other that took `limit` seconds and more."""
    return max((len(list(run)) for slow, run in itertools.groupby(took, lambda seconds: seconds >= limit) if slow), default=0)


def tls_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class Attack:
    def __init__(self, port: int, options: dict):
        self.port, self.options = port, options
        self.count = options.get("count", 8)
        self.headers = "".join(f"{name}: {value}\r\n" for name, value in options.get("headers", []))
        self.held = []
        self.context = tls_context()
        if "weak" in options:  # it may show whatever keys there are
            self.context.set_ciphers("DEFAULT:@SECLEVEL=0")
        if "certificate" in options:
            self.context.load_cert_chain(*options["certificate"])  # and its key
        if "protocols" in options:  # 256 bytes of the first message for each
            self.context.set_alpn_protocols(["x" * 255] * options["protocols"])

    # ---- what attacks are made of ----

    def plain(self, receive_bytes: int = 0) -> socket.socket:
        sock = socket.socket()
        if receive_bytes:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        sock.settimeout(60)
        if "source" in self.options:
            sock.bind((self.options["source"], 0))
        sock.connect(("127.0.0.1", self.port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def connect(self, receive_bytes: int = 0) -> ssl.SSLSocket:
        return self.context.wrap_socket(self.plain(receive_bytes))

    def request(self, target: str, *headers: str) -> bytes:
        return (f"GET {target} HTTP/1.1\r\nHost: x\r\n{self.headers}" + "".join(h + "\r\n" for h in headers) + "\r\n").encode()

    @staticmethod
    def answer(sock) -> tuple:
        """Status and length of one answer, or the name of the error instead of both."""
        try:
            head = b""
            while b"\r\n\r\n" not in head:
                piece = sock.recv(65536)
                if not piece:
                    return ("closed", 0) if not head else ("cut", len(head))
                head += piece
            head, _, body = head.partition(b"\r\n\r\n")
            lines = head.decode().split("\r\n")
            length = next((int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length")), 0)
            while len(body) < length:
                piece = sock.recv(65536)
                if not piece:
                    break
                body += piece
            return int(lines[0].split()[1]), len(body)
        except OSError as error:
            return type(error).__name__, 0

    def at_once(self, function, count: int, threads: int = 0) -> list:
        with concurrent.futures.ThreadPoolExecutor(threads or count) as pool:
            return list(pool.map(function, range(count)))

    @staticmethod
    def told(answers: list) -> dict:
        return {"statuses": collections.Counter(str(status) for status, _ in answers),
                "longest": max((length for _, length in answers), default=0)}

    # ---- attacks ----

    def selectors(self):
        """Requests of a megabyte of bad values, a new selector each, `threads` connections at a time."""
        path, name = self.options.get("path", EXTERNAL), self.options.get("parameter", "labelSelector")
        values = ",-".join(f"x{i}" for i in range(self.options.get("bytes", MEGABYTE) // 9))

        def ask(number: int):
            sock = self.connect()
            try:
                sock.sendall(self.request(f"{path}?{name}=a+in+(-{number},-{values})"))
            except OSError:
                pass  # it may have answered before it read all
            answer = self.answer(sock)
            sock.close()
            return answer
        return self.told(self.at_once(ask, self.count, self.options.get("threads", 8)))

    def header_lines(self):
        """Header lines without end, the shortest that there are, until the server answers."""
        def send(_):
            sock, sent = self.connect(), 0
            lines = b"a:\r\n" * 4096
            try:
                sock.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n")
                while sent < 64 * MEGABYTE and not select.select([sock], [], [], 0)[0]:
                    sock.sendall(lines)
                    sent += len(lines)
            except OSError:
                pass
            answer = self.answer(sock)
            sock.close()
            return answer
        return self.told(self.at_once(send, self.count))

    def unread(self):
        """Asks for what is long and reads nothing of it; `{number}` in the path is another one each time. With `begun`: once the
        answer before has begun."""
        target = self.options.get("path") or "/" + "x" * 300_000
        for number in range(self.count):
            try:
                sock = self.connect(4096)
                sock.sendall(self.request(target.replace("{number}", str(number))))
                self.held.append(sock)
                if self.options.get("begun"):
                    select.select([sock], [], [], 30)
            except OSError:
                pass
        return {"held": len(self.held)}

    def asked(self):
        """Connections that were answered once, and wait."""
        def ask(_):
            try:
                sock = self.connect()
                sock.sendall(self.request("/healthz"))
                answer = self.answer(sock)
            except OSError as error:
                return type(error).__name__, 0
            self.held.append(sock)
            return answer
        return self.told(self.at_once(ask, self.count, 8))

    def tokens(self):
        """A token that nobody knows on each connection, which is a review each."""
        for number in range(self.count):
            try:
                sock = self.connect()
                target = ("/healthz", "/livez", EXTERNAL)[number % 3]
                sock.sendall(self.request(target, f"Authorization: Bearer unknown-{os.getpid()}-{number}"))
                self.held.append(sock)
            except OSError:
                pass
        return {"held": len(self.held)}

    def idle(self):
        """Connections that did their handshake, and nothing since."""
        def hold(_):
            try:
                self.held.append(self.connect())
            except OSError:
                pass
        self.at_once(hold, self.count, 4)
        return {"held": len(self.held)}

    def silent(self):
        """Connections that never sent a byte."""
        for _ in range(self.count):
            self.held.append(self.plain())
        return {"held": len(self.held)}

    def handshakes(self):
        """Handshakes that are begun and left: the server has done its part of the work."""
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        try:
            self.context.wrap_bio(incoming, outgoing).do_handshake()
        except ssl.SSLWantReadError:
            pass
        return self._begin_and_leave(outgoing.read())

    def long_hellos(self):
        """First messages of TLS that are nearly as long as one may be, and never whole."""
        hello = b"\x01" + (131_000).to_bytes(3, "big") + b"\x03\x03" + b"x" * 120_000
        pieces = (hello[at:at + 16_000] for at in range(0, len(hello), 16_000))
        return self._begin_and_leave(b"".join(b"\x16\x03\x01" + len(piece).to_bytes(2, "big") + piece for piece in pieces))

    def _begin_and_leave(self, begun: bytes):
        for _ in range(self.count):
            try:
                sock = self.plain()
                sock.sendall(begun)
                self.held.append(sock)
            except OSError:
                pass
        return {"held": len(self.held)}

    def heads(self):
        """Requests whose head is nearly a megabyte and never whole."""
        begin = b"GET /livez HTTP/1.1\r\nHost: x\r\nX: " + b"x" * self.options.get("bytes", 900_000)
        for _ in range(self.count):
            try:
                sock = self.connect()
                sock.sendall(begin)
                self.held.append(sock)
            except OSError:
                pass
        return {"held": len(self.held)}

    def records(self):
        """Half a record of TLS on each connection: the server has its buffer ready for the rest."""
        for _ in range(self.count):
            try:
                sock = self.connect()
                os.write(sock.fileno(), b"\x17\x03\x03\x40\x00" + b"x" * 100)
                self.held.append(sock)
            except OSError:
                pass
        return {"held": len(self.held)}

    def pipeline(self):
        """Many requests in one go on each connection; no answer is read until all were sent, if it lets us."""
        block = self.request(self.options.get("path", "/healthz")) * 2000

        def send(_):
            sock, sent = self.connect(4096), 0
            sock.settimeout(2)
            try:
                while sent < 20:
                    sock.sendall(block)
                    sent += 1
            except OSError:
                pass
            self.held.append(sock)
            return sent
        return {"blocks": sum(self.at_once(send, self.count))}

    def dear(self):
        """Connections that were answered once and then, all at the same moment, each send `each` requests that take long; nothing
        of the answers is read."""
        values = ",".join(f"v{i}" for i in range(200))  # as long as a selector of a stranger may be
        block = self.request(f"{EXTERNAL}?labelSelector=a+in+({values})") * self.options.get("each", 30)
        self.asked()
        sent = 0
        for sock in self.held:
            try:
                sock.sendall(block)
                sent += 1
            except OSError:
                pass
        return {"sent": sent}

    def key_updates(self):
        """Connections that change their keys as fast as it goes, for `seconds`, and send nothing else. Python's ssl can't."""
        command = f"nice -n 10 openssl s_client -tls1_3 -connect 127.0.0.1:{self.port} 2>&1 >/dev/null | grep -c KEYUPDATE"
        running = []
        for _ in range(self.count):
            # A line that begins with k asks for one, whatever comes with it in one read.
            lines = subprocess.Popen(["yes", "k"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            counting = subprocess.Popen(["sh", "-c", command], stdin=lines.stdout, stdout=subprocess.PIPE)
            lines.stdout.close()
            running.append((lines, counting))
        time.sleep(self.options.get("seconds", 5))
        for lines, _ in running:
            lines.kill()
        return {"updates": sorted(int(counting.communicate(timeout=30)[0]) for _, counting in running)}

    def churn(self):
        """Connections that are made and cut again as fast as it goes, for `seconds`."""
        until, made = time.monotonic() + self.options.get("seconds", 5), 0
        while time.monotonic() < until:
            try:
                sock = self.connect() if made % 2 else self.plain()
                sock.close()
                made += 1
            except OSError:
                pass
        return {"made": made}

    def probe(self):
        """What a kubelet does, more often: each path on a connection of its own, until the standard input ends."""
        took, bad = [], []
        print(json.dumps({"probing": True}), flush=True)
        while True:  # once at least, however short the attack is
            for path in ("/healthz", "/livez", "/readyz"):
                began = time.monotonic()
                try:
                    sock = self.connect()
                    sock.sendall(self.request(path, "Connection: close"))
                    status, _ = self.answer(sock)
                    sock.close()
                except OSError as error:
                    status = type(error).__name__
                took.append(time.monotonic() - began)
                if status != 200:
                    bad.append([path, str(status)])
            if select.select([sys.stdin], [], [], 0.02)[0]:
                break
        in_a_row = slow_in_a_row(took, SLOW_SECONDS)
        took.sort()
        return {"probes": len(took), "bad": bad[:20], "longest": took[-1], "slow in a row": in_a_row, "p99": took[int(len(took) * 0.99)]}


def main():
    port, attack, options = int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    run = Attack(port, options)
    print(json.dumps(getattr(run, attack)()), flush=True)
    if attack != "probe":  # which ends with its standard input
        sys.stdin.read()
    os._exit(0)  # thousands of sockets end with the process, not one after the other


if __name__ == "__main__":
    main()
