"""The image: its tree of files is all that the program needs, equal inputs make equal trees, and the Dockerfile makes that tree.

FLYBALL_IMAGE=1 also runs the whole Dockerfile, step by step, on a Debian that debootstrap makes (as root; half an hour on 2 cores).
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import yaml

import image
from harness import case, namespace, paths, ports, processes, wait
from harness.client import Client

PACKAGING = paths.PROJECT / "packaging"
MOST_BYTES = 60 * 2**20
MODULES = ("usr/lib/flyball/external_scaler.so", "usr/lib/flyball/front.so")
MIRROR = os.environ.get("FLYBALL_DEBIAN_MIRROR", "http://deb.debian.org/debian")
RULES = paths.PROJECT / "rules" / "examples" / "web.yaml"


def make_tree(root: pathlib.Path):
    subprocess.run([PACKAGING / "rootfs", paths.flyball(), root], check=True)


class Tree(case.Case):
    """What a tree must be, wherever it came from. `root` is the tree."""

    root: pathlib.Path = None

    def check_size_and_programs(self):
        self.assertLess(image.size(self.root), MOST_BYTES)
        programs = [f.relative_to(self.root) for f in image.files_of(self.root) if os.access(f, os.X_OK) and ".so" not in f.name]
        self.assertEqual([str(p) for p in programs], ["usr/bin/flyball"])

    def check_it_serves(self):
        """As the entry point, with the image's user, no rights, a read-only root, and no network but its own port."""
        here = processes.fresh_folder("served")
        shutil.copy(RULES, here / "config.yaml")
        (here / "objects").mkdir()
        (here / "objects" / "pod.yaml").write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "shop"}}))
        for path in (here, here / "objects"):
            path.chmod(0o755)
        copy = here.parent / (here.name + "-root")
        shutil.copytree(self.root, copy, symlinks=True, copy_function=os.link)
        (copy / "etc" / "adapter").mkdir()  # as a runtime does for a volume
        port = ports.free()
        command = [*image.entrypoint(), "serve", "--config=/etc/adapter/config.yaml", "--objects=/etc/adapter/objects", "--cert-dir=/tmp/cert",
                   f"--secure-port={port}", "--prometheus-url=http://127.0.0.1:1"]
        process = processes.Process("image", image.as_container(copy, command, {"/etc/adapter": here}))
        self.addCleanup(process.kill)
        client = Client(f"https://127.0.0.1:{port}")

        def ready():
            process.must_live()
            try:
                return client.get("/readyz").status == 200
            except OSError:
                return False
        wait.until(ready, "ready")
        self.assertEqual(client.get("/apis/custom.metrics.k8s.io/v1beta2").json()["kind"], "APIResourceList")
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        self.assertRegex(status, r"CapEff:\s0+\n")
        if os.geteuid() == 0:
            self.assertRegex(status, rf"Uid:\s{image.USER}\s{image.USER}\s")
        self.assertRegex(pathlib.Path(f"/proc/{process.pid}/mountinfo").read_text(), r" / ro[, ]")
        self.assertEqual(process.stop(20), 0)


class Image(Tree):
    """The last stage of the Dockerfile, made by the command that the Dockerfile runs, of the program under test."""

    @classmethod
    def setUpClass(cls):
        cls.root = processes.fresh_folder("image") / "rootfs"
        make_tree(cls.root)

    def test_it_runs_with_what_is_in_it(self):
        done = processes.run([*namespace.entering(), "chroot", self.root, "/usr/bin/flyball", "version", "--modules"])
        # The last lines: gRPC with all that it is linked with. Nothing else in these tests loads it from this tree.
        self.assertRegex(done.stdout, r"^flyball \d+\.\d+\.\d+\ncommit: .+\nlibraries: .+\nexternal triggers: /usr/lib/flyball/external_scaler\.so\n"
                         r"http triggers: /usr/lib/flyball/front\.so\n$", done.stderr)

    def test_it_serves_as_nobody_from_a_read_only_root(self):
        self.check_it_serves()

    def test_it_is_small_and_has_no_shell(self):
        self.check_size_and_programs()

    def test_equal_inputs_make_equal_trees(self):
        again = self.root.parent / "again"
        make_tree(again)
        command = "find . -type f -exec sha256sum {} + | sort; find . ! -type d -printf '%P %m %T@\\n' | sort"
        listing = [subprocess.run(command, shell=True, check=True, cwd=root, capture_output=True, text=True).stdout
                   for root in (self.root, again)]
        self.assertEqual(*listing)

    def test_no_path_of_the_machine_that_built_it_is_in_the_program(self):
        text = b"".join((self.root / name).read_bytes() for name in ("usr/bin/flyball", *MODULES))
        for folder in {f"{paths.PROJECT}/", os.path.expanduser("~/"), "/root/"}:
            self.assertFalse(folder.encode() in text, folder)

    def test_the_dockerfile_says_the_same(self):
        build, last = image.stages()
        self.assertIn('./dev package --arch "$TARGETARCH" /packages', build.all("RUN"))
        self.assertEqual((last.image, last.all("COPY")), ("scratch", ["--from=build /packages/rootfs /"]))
        self.assertEqual(last.all("USER"), [f"{image.USER}:{image.USER}"])
        self.assertEqual(image.entrypoint(), ["/usr/bin/flyball"])
        self.assertIn(f":{image.USER}:", (self.root / "etc" / "passwd").read_text())
        self.assertRegex(build.image, r"^debian:\d+-slim$")
        for word, _ in build.steps + last.steps:
            self.assertIn(word, ("RUN", "ARG", "COPY", "ENV", "WORKDIR", "USER", "EXPOSE", "ENTRYPOINT"))

    def test_each_step_of_the_dockerfile_finds_what_it_runs(self):
        """Programs of the project are there, and none but `dev` says which packages a build needs."""
        build, _ = image.stages()
        packages = []
        for text in build.all("RUN"):
            program = text.split()[0]
            if program == "apt-get":
                install = next(part.split() for part in text.split(" && ") if "install" in part)
                packages += [word for word in install[2:] if not word.startswith("-")]
            else:
                self.assertTrue(os.access(paths.PROJECT / program, os.X_OK), program)
        # What packaging/ takes from the machine: CA certificates, time zones, Python for the list of parts.
        self.assertEqual(set(packages), {"ca-certificates", "python3", "tzdata"})
        ignored = (PACKAGING / "Dockerfile.dockerignore").read_text().split()
        self.assertEqual(ignored, [".git", "build", "**/__pycache__"])

    def test_each_library_is_in_the_list_of_parts(self):
        bom = json.loads((self.root / "usr/share/sbom/flyball.cdx.json").read_text())
        listed = {p["value"].rpartition("/")[2] for c in bom["components"] for p in c["properties"] if p["name"] == "file"}
        modules = [self.root / name for name in MODULES]
        loaded = {os.path.basename(os.path.realpath(line.split()[2])) for line in
                  subprocess.run(["ldd", paths.flyball(), *modules], check=True, capture_output=True, text=True).stdout.splitlines()
                  if "=> /" in line}
        self.assertLessEqual({"libssl", "libgrpc++"}, {name.split(".so")[0] for name in loaded})
        self.assertLessEqual(loaded, listed)
        for part in bom["components"]:
            self.assertRegex(part["purl"], r"^pkg:deb/debian/(?:[a-z0-9.-]|%2B)+@[^?+]+\?arch=\w+$")
        program = self.root / "usr" / "bin" / "flyball"
        described = bom["metadata"]["component"]
        for part, file in zip((described, *described["components"]), (program, *modules), strict=True):
            self.assertEqual(part["hashes"][0]["content"], hashlib.sha256(file.read_bytes()).hexdigest())
        again = subprocess.run([sys.executable, PACKAGING / "sbom.py", program], check=True, capture_output=True, text=True).stdout
        self.assertEqual(json.loads(again), bom)


@unittest.skipUnless(os.environ.get("FLYBALL_IMAGE"), "half an hour: FLYBALL_IMAGE=1 asks for it")
class FromNothing(Tree):
    """Every step of the Dockerfile in its order, as it stands there, on a Debian of the release that it names."""

    @classmethod
    def setUpClass(cls):
        folder = processes.fresh_folder("docker")
        base, log = folder / "build", folder / "log"
        suite = {"12": "bookworm"}[re.match(r"debian:(\d+)-slim", image.stages()[0].image)[1]]
        with open(log, "wb") as out:
            subprocess.run(["debootstrap", "--variant=minbase", suite, base, MIRROR], stdout=out, stderr=subprocess.STDOUT, check=True)
        (base / "etc" / "apt" / "sources.list").write_text("".join(f"deb {url} {release} main\n" for url, release in (  # as the official image has
            (MIRROR, suite), (MIRROR, suite + "-updates"), (MIRROR + "-security", suite + "-security"))))
        for name in ("/etc/resolv.conf", *map(str, pathlib.Path("/etc/apt/apt.conf.d").glob("99*"))):  # how this machine reaches the mirror
            shutil.copy(name, base / name.lstrip("/"))
        build, last = image.stages()
        builder = image.Builder(base, log, cls.build_arguments())
        for word, text in build.steps:
            builder.do(word, text)
        _, inside, _ = last.all("COPY")[0].split()
        cls.root = base / inside.lstrip("/")
        cls.log = log

    @staticmethod
    def build_arguments() -> dict:
        """For the program that is under test here."""
        def told(*command):
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout
        commit = re.search(r"^commit: (\S+) of (\S+)$", told(paths.flyball(), "version"), re.MULTILINE)
        return {"TARGETARCH": told("dpkg", "--print-architecture").strip(), "FLYBALL_COMMIT": commit[1], "FLYBALL_COMMIT_DATE": commit[2]}

    def test_it_is_a_good_image(self):
        self.check_size_and_programs()
        self.check_it_serves()
        print(f"image: {image.size(self.root) / 2**20:.1f} MiB", flush=True)

    def test_the_program_is_the_one_that_was_built_here(self):
        """Bit for bit, if both machines have the same Debian packages."""
        ours = processes.fresh_folder("ours") / "rootfs"
        make_tree(ours)
        parts = [json.loads((r / "usr/share/sbom/flyball.cdx.json").read_text()) for r in (ours, self.root)]
        if parts[0]["components"] != parts[1]["components"]:
            self.skipTest("other versions of libraries here")
        for name in ("usr/bin/flyball", *MODULES):
            digests = [hashlib.sha256((root / name).read_bytes()).hexdigest() for root in (ours, self.root)]
            self.assertEqual(*digests, name)
