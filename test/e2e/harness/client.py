"""A plain HTTPS client: no redirects, no retries, every answer is an answer."""

import http.client
import json
import socket
import ssl
import urllib.parse
from dataclasses import dataclass, field


@dataclass
class Answer:
    """What came back. `headers` has lower-case names; repeated ones are joined with a comma."""
    status: int
    headers: dict
    body: bytes

    def json(self):
        return json.loads(self.body)

    def text(self) -> str:
        return self.body.decode(errors="replace")

    def __str__(self):
        return f"{self.status} {self.headers.get('content-type', '')} {self.text()[:1500]}"


@dataclass(frozen=True)
class Identity:
    """How a caller proves who it is: a client certificate, a bearer token, headers; or nothing."""
    cert: object = None  # pki.Pair
    token: str = ""
    headers: tuple = field(default_factory=tuple)  # ((name, value), ...)


ANONYMOUS = Identity()


def tls_context(identity: Identity = ANONYMOUS) -> ssl.SSLContext:
    """A context that does not verify the server: what is tested with it is the answer, not the trust."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if identity.cert:
        context.load_cert_chain(identity.cert.cert, identity.cert.key)
    return context


def tls_socket(port: int, identity: Identity = ANONYMOUS, timeout: float = 20.0) -> ssl.SSLSocket:
    """A bare connection to a port of this machine. Without TCP_NODELAY the first request would wait for an ACK."""
    plain = socket.create_connection(("127.0.0.1", port), timeout)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return tls_context(identity).wrap_socket(plain)


class Client:
    """Speaks to one base URL with one identity. Each request has its own connection unless `keep` is given."""

    def __init__(self, url: str, identity: Identity = ANONYMOUS, timeout: float = 70.0):
        self.url = urllib.parse.urlsplit(url)
        self.identity = identity
        self.timeout = timeout
        self._context = tls_context(identity) if self.url.scheme == "https" else None

    def connect(self) -> http.client.HTTPConnection:
        """A connection for `request(..., keep=...)`."""
        if self._context:
            return http.client.HTTPSConnection(self.url.hostname, self.url.port, timeout=self.timeout,
                                               context=self._context)
        return http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=self.timeout)

    def request(self, method: str, path: str, body=None, headers=(), keep=None) -> Answer:
        """`path` is sent as it stands, percent escapes included. `headers` are added to the identity's."""
        connection = keep or self.connect()
        sent = list(self.identity.headers) + list(dict(headers).items() if isinstance(headers, dict) else headers)
        if self.identity.token:
            sent.append(("Authorization", "Bearer " + self.identity.token))
        data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        try:
            connection.putrequest(method, self.url.path.rstrip("/") + path, skip_accept_encoding=True)
            for name, value in sent:
                connection.putheader(name, value)
            if data is not None:
                if not any(n.lower() == "content-type" for n, _ in sent):
                    connection.putheader("Content-Type", "application/json")
                connection.putheader("Content-Length", str(len(data)))
            connection.endheaders(data)
            got = connection.getresponse()
            merged = {}
            for name, value in got.getheaders():
                key = name.lower()
                merged[key] = f"{merged[key]}, {value}" if key in merged else value
            return Answer(got.status, merged, got.read())
        finally:
            if keep is None:
                connection.close()

    def get(self, path: str, headers=(), keep=None) -> Answer:
        return self.request("GET", path, headers=headers, keep=keep)


def quote(segment: str) -> str:
    """A path segment as kube-apiserver's proxy writes it."""
    return urllib.parse.quote(segment, safe="+:$&=@,;")


def query(**parameters) -> str:
    """`?a=b&c=d` with keys sorted; empty when there are none."""
    return "?" + urllib.parse.urlencode(sorted(parameters.items())) if parameters else ""
