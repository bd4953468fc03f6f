"""Where the programs under test and their peers are."""

import os
import pathlib
import shutil

PROJECT = pathlib.Path(__file__).resolve().parents[3]
PEERS = pathlib.Path(os.environ.get("FLYBALL_PEERS", PROJECT / "build" / "peers"))
DATA = PROJECT / "test" / "e2e" / "data"


def flyball() -> pathlib.Path:
    """The flyball program: $FLYBALL, else the release build."""
    return pathlib.Path(os.environ.get("FLYBALL", PROJECT / "build" / "release" / "flyball"))


def peer(name: str, version: str = "") -> pathlib.Path:
    """A program that test/peers/build made; of another than the usual version of Kubernetes where one is named."""
    path = PEERS / version / name
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: run test/peers/build")
    return path


def debian(name: str, package: str) -> str:
    """A program of a Debian package; not whatever else of that name stands in PATH."""
    for folder in ("/usr/bin", "/usr/sbin", "/usr/local/bin"):
        if (path := pathlib.Path(folder, name)).exists():
            return str(path)
    found = shutil.which(name)
    if not found:
        raise FileNotFoundError(f"{name} is missing: install Debian's package {package}")
    return found
