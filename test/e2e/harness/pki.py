"""Certificate authorities and certificates of a run, made with the openssl program."""

import pathlib
from dataclasses import dataclass

from . import paths, processes


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, as PEM files."""
    cert: pathlib.Path
    key: pathlib.Path


def _openssl(*args):
    done = processes.run([paths.debian("openssl", "openssl"), *args])
    if done.returncode != 0:
        raise SystemError(f"openssl {args[0]}: {done.stderr}")


class Authority:
    """One CA. Keys are P-256: they are made in milliseconds."""

    def __init__(self, name: str):
        self.name = name
        self._folder = processes.fresh_folder("ca-" + name)
        self._made = 0
        self.pair = Pair(self._folder / "ca.crt", self._folder / "ca.key")
        _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "3",
                 "-subj", f"/CN={name}", "-addext", "keyUsage=critical,keyCertSign,digitalSignature",
                 "-keyout", self.pair.key, "-out", self.pair.cert)

    @property
    def cert(self) -> pathlib.Path:
        return self.pair.cert

    def pem(self) -> str:
        return self.pair.cert.read_text()

    def _issue(self, subject: str, usage: str, extra=(), days: int = 2) -> Pair:
        self._made += 1
        pair = Pair(self._folder / f"{self._made}.crt", self._folder / f"{self._made}.key")
        _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", str(days),
                 "-CA", self.pair.cert, "-CAkey", self.pair.key, "-subj", subject,
                 "-addext", "basicConstraints=critical,CA:FALSE", "-addext", f"extendedKeyUsage={usage}",
                 *extra, "-keyout", pair.key, "-out", pair.cert)
        return pair

    def client(self, user: str, groups=(), extra=()) -> Pair:
        """A client certificate: user is the CN, groups are the O values; `extra` are arguments of `openssl req`."""
        return self._issue("".join(f"/O={g}" for g in groups) + f"/CN={user}", "clientAuth", extra)

    def server(self, *names: str, days: int = 2) -> Pair:
        """A serving certificate for DNS names and addresses."""
        sans = ",".join(("IP:" if n.replace(".", "").isdigit() else "DNS:") + n for n in names)
        return self._issue(f"/CN={names[0]}", "serverAuth", ("-addext", f"subjectAltName={sans}"), days)


def key_pair(folder: pathlib.Path) -> Pair:
    """An RSA key and its public half, for signing service-account tokens."""
    pair = Pair(folder / "sa.pub", folder / "sa.key")
    _openssl("genrsa", "-out", pair.key, "2048")
    _openssl("rsa", "-in", pair.key, "-pubout", "-out", pair.cert)
    return pair
