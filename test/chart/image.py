"""The Dockerfile as steps, and a tree of files as a container runtime would run it."""

import json
import os
import pathlib
import shlex
import subprocess
from dataclasses import dataclass, field

from harness import paths

DOCKERFILE = paths.PROJECT / "packaging" / "Dockerfile"
USER = 10001


@dataclass
class Stage:
    """FROM image AS name; then (WORD, rest of the line)."""
    image: str
    name: str
    steps: list = field(default_factory=list)

    def all(self, word: str) -> list:
        return [text for step, text in self.steps if step == word]


def stages(text: str = None) -> list:
    found = []
    for line in (DOCKERFILE.read_text() if text is None else text).replace("\\\n", " ").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        word, _, rest = line.partition(" ")
        if word == "FROM":
            image, _, name = rest.partition(" AS ")
            found.append(Stage(image.split()[-1], name.strip()))  # before the image may stand where it runs
        else:
            found[-1].steps.append((word, rest.strip()))
    return found


def context(folder: pathlib.Path):
    """What `docker build` sends: all files of the work tree but those that .dockerignore and git leave out."""
    files = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=paths.PROJECT, check=True,
                           capture_output=True).stdout
    there = b"\0".join(f for f in files.split(b"\0") if f and (paths.PROJECT / os.fsdecode(f)).exists())
    folder.mkdir(parents=True, exist_ok=True)
    packed = subprocess.run(["tar", "--create", "--null", "--files-from=-"], cwd=paths.PROJECT, input=there, check=True, capture_output=True).stdout
    subprocess.run(["tar", "--extract", "--directory", folder], input=packed, check=True)


class Builder:
    """Does what `docker build` does with one stage, by chroot into a tree that is already there."""

    def __init__(self, root: pathlib.Path, log: pathlib.Path, arguments: dict):
        """`arguments`: those of the build, with those that docker itself sets."""
        self.root, self._log, self._arguments = root, log, arguments
        self._folder = "/"
        self._variables = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}

    def do(self, word: str, text: str):
        getattr(self, "_" + word.lower())(text)

    def _workdir(self, text: str):
        self._folder = text
        (self.root / text.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def _arg(self, text: str):
        self._variables[text] = self._arguments[text]

    def _env(self, text: str):
        self._variables.update(word.split("=", 1) for word in shlex.split(text))

    def _copy(self, text: str):
        if text != ". .":
            raise AssertionError(f"COPY {text}: only the whole context is known here")
        context(self.root / self._folder.lstrip("/"))

    def _run(self, text: str):
        script = f"mount -t proc none {self.root}/proc; mount --rbind /dev {self.root}/dev; exec chroot {self.root} sh -c " + shlex.quote(
            f"cd {shlex.quote(self._folder)} && {text}")
        with open(self._log, "ab") as log:
            log.write(f"RUN {text}\n".encode())
            log.flush()
            done = subprocess.run(["unshare", "--mount", "--pid", "--kill-child", "sh", "-ec", script], env=self._variables, stdout=log, stderr=subprocess.STDOUT,
                                  check=False)
        if done.returncode != 0:
            raise AssertionError(f"RUN {text}: status {done.returncode}\n{self._log.read_text(errors='replace')[-3000:]}")


def as_container(root: pathlib.Path, argv: list, mounts: dict) -> list:
    """A command that runs `argv` in this tree: the user of the image and no rights, everything read-only but /tmp, which is empty.
    `mounts`: folder inside -> folder here."""
    tree, main = shlex.quote(str(root)), shlex.join(argv)
    script = [f"mount --bind {tree} {tree}", *(f"mount --bind {shlex.quote(str(here))} {tree}{inside}" for inside, here in mounts.items()),
              f"mount -o remount,bind,ro {tree}", f"mount -t tmpfs -o mode=1777,size=16m none {tree}/tmp"]
    if os.geteuid() == 0:
        enter = ["unshare", "--mount"]
        script.append(f"exec setpriv --no-new-privs --bounding-set=-all,+sys_chroot,+setuid,+setgid chroot --userspec={USER}:{USER} --groups= {tree} {main}")
    else:
        enter = ["unshare", "--user", "--map-root-user", "--mount"]
        script.append(f"exec unshare --user --map-user={USER} --map-group={USER} --root={tree} {main}")
    return [*enter, "sh", "-ec", "\n".join(script)]


def entrypoint() -> list:
    return json.loads(stages()[-1].all("ENTRYPOINT")[0])


def files_of(root: pathlib.Path) -> list:
    return [f for f in root.rglob("*") if f.is_file() and not f.is_symlink()]


def size(root: pathlib.Path) -> int:
    return sum(f.stat().st_size for f in files_of(root))
