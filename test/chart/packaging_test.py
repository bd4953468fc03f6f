"""What is shipped beside the chart: the image's file tree runs with nothing else, the list of its parts, man page, completion, unit, package."""

import json
import os
import re
import subprocess
import sys

from harness import case, paths, processes

PACKAGING = paths.PROJECT / "packaging"
MOST_BYTES = 60 * 2**20


def tool(name: str, *args) -> str:
    return subprocess.run([sys.executable, PACKAGING / name, *map(str, args)], check=True, capture_output=True, text=True).stdout


class Image(case.Case):
    """The last stage of the Dockerfile, made by the command that the Dockerfile runs."""

    @classmethod
    def setUpClass(cls):
        cls.root = processes.fresh_folder("image") / "rootfs"
        subprocess.run([PACKAGING / "rootfs", paths.flyball(), cls.root], check=True)

    def inside(self, *args) -> str:
        done = processes.run(["unshare", "--user", "--map-root-user", "chroot", self.root, "/usr/bin/flyball", *args])
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_it_runs_with_what_is_in_it(self):
        self.assertRegex(self.inside("version"), r"^flyball \d+\.\d+\.\d+")
        (self.root / "tmp" / "rules.yaml").write_text((paths.PROJECT / "rules" / "examples" / "web.yaml").read_text())
        self.assertIn("ok", self.inside("check", "rules", "/tmp/rules.yaml"))

    def test_it_is_small_and_has_no_shell(self):
        files = [f for f in self.root.rglob("*") if f.is_file()]
        self.assertLess(sum(f.stat().st_size for f in files), MOST_BYTES)
        programs = [f.relative_to(self.root) for f in files if os.access(f, os.X_OK) and ".so" not in f.name]
        self.assertEqual([str(p) for p in programs], ["usr/bin/flyball"])

    def test_equal_inputs_make_equal_trees(self):
        again = self.root.parent / "again"
        subprocess.run([PACKAGING / "rootfs", paths.flyball(), again], check=True)
        (self.root / "tmp" / "rules.yaml").unlink(missing_ok=True)
        command = "find . -type f -exec sha256sum {} + | sort; find . ! -type d -printf '%P %m %T@\\n' | sort"
        listing = [subprocess.run(command, shell=True, check=True, cwd=root, capture_output=True, text=True).stdout
                   for root in (self.root, again)]
        self.assertEqual(*listing)

    def test_the_dockerfile_says_the_same(self):
        text = (PACKAGING / "Dockerfile").read_text()
        build, last = text.split("FROM scratch\n")
        self.assertIn("RUN packaging/rootfs build/release/flyball /rootfs\n", build)
        self.assertIn("COPY --from=build /rootfs /\n", last)
        self.assertRegex(last, r"USER (?!0)\d+")
        self.assertIn('ENTRYPOINT ["/usr/bin/flyball"]', last)
        for image in re.findall(r"^FROM (\S+)", text, re.MULTILINE):
            self.assertTrue(image == "scratch" or ":" in image and not image.endswith(":latest"), image)
        user = re.search(r"USER (\d+)", last)[1]
        self.assertIn(f":{user}:", (self.root / "etc" / "passwd").read_text())

    def test_each_library_is_in_the_list_of_parts(self):
        bom = json.loads((self.root / "usr/share/sbom/flyball.cdx.json").read_text())
        listed = {p["value"].rpartition("/")[2] for c in bom["components"] for p in c["properties"] if p["name"] == "file"}
        loaded = {os.path.basename(os.path.realpath(line.split()[2])) for line in
                  subprocess.run(["ldd", paths.flyball()], check=True, capture_output=True, text=True).stdout.splitlines() if "=> /" in line}
        self.assertGreater(len(loaded), 5)
        self.assertLessEqual(loaded, listed)
        for part in bom["components"]:
            self.assertRegex(part["purl"], r"^pkg:deb/debian/[a-z0-9.+-]+@[^?]+\?arch=\w+$")
        self.assertEqual(tool("sbom.py", paths.flyball()), tool("sbom.py", paths.flyball()))


class Manual(case.Case):
    def test_man_page_has_every_command_and_flag(self):
        page = tool("manual.py", paths.flyball(), "man")
        shown = subprocess.run([paths.flyball(), "serve", "--help"], check=True, capture_output=True, text=True).stdout
        for flag in re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+)", shown, re.MULTILINE):
            self.assertIn(flag.replace("-", "\\-"), page)
        for command in ("serve", "check", "test", "decide", "version"):
            self.assertIn(f".B {command}\n", page)

    def test_completion_completes(self):
        script = processes.fresh_folder("completion") / "flyball"
        script.write_text(tool("manual.py", paths.flyball(), "completion"))
        rows = (
            (["flyball", "ser"], "serve"),
            (["flyball", "serve", "--prometheus-u"], "--prometheus-url"),
            (["flyball", "serve", "--config=x", "--query-f"], "--query-freshness"),
            (["flyball", "check", ""], "rules"),
        )
        for words, wanted in rows:
            with self.subTest(words):
                line = f"source {script}; COMP_WORDS=({' '.join(repr(w) for w in words)}); COMP_CWORD={len(words) - 1}; _flyball; echo ${{COMPREPLY[*]}}"
                self.assertIn(wanted, subprocess.run(["bash", "-c", line], check=True, capture_output=True, text=True).stdout.split())


class Unit(case.Case):
    def test_systemd_unit_starts_what_there_is(self):
        unit = (PACKAGING / "systemd" / "flyball.service").read_text()
        command = re.search(r"^ExecStart=/usr/bin/flyball serve (.*) \$FLYBALL_FLAGS$", unit, re.MULTILINE)[1].split()
        shown = subprocess.run([paths.flyball(), "serve", "--help"], check=True, capture_output=True, text=True).stdout
        for flag in command:
            self.assertIn(flag.split("=")[0] + " ", shown)
        verify = processes.run(["systemd-analyze", "--version"]) if os.path.exists("/usr/bin/systemd-analyze") else None
        if verify and verify.returncode == 0:
            root = processes.fresh_folder("unit")
            (root / "flyball.service").write_text(unit.replace("/usr/bin/flyball", str(paths.flyball().resolve())))
            done = processes.run(["systemd-analyze", "verify", "--man=no", root / "flyball.service"])
            self.assertNotIn("flyball.service:", done.stderr)


class Package(case.Case):
    """The .deb that `cpack` makes in the build folder of the program."""

    def test_what_is_in_it(self):
        config = paths.flyball().resolve().parent / "CPackConfig.cmake"
        if not config.exists():
            self.skipTest(f"{paths.flyball()} is not in a build folder of CMake")
        folder = processes.fresh_folder("deb")
        done = processes.run(["cpack", "--config", config, "-B", folder], timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        package, = folder.glob("*.deb")
        subprocess.run(["dpkg-deb", "--extract", package, folder / "root"], check=True)
        files = {str(f.relative_to(folder / "root")) for f in (folder / "root").rglob("*") if f.is_file()}
        self.assertEqual(files, {"usr/bin/flyball", "etc/flyball/rules.yaml", "usr/lib/systemd/system/flyball.service",
                                 "usr/share/man/man1/flyball.1.gz", "usr/share/bash-completion/completions/flyball",
                                 "usr/share/doc/flyball/copyright"})
        ours, packed = (processes.run([p, "version"]).stdout for p in (paths.flyball(), folder / "root" / "usr" / "bin" / "flyball"))
        self.assertEqual(ours, packed)
        depends = subprocess.run(["dpkg-deb", "--field", package, "Depends"], check=True, capture_output=True, text=True).stdout
        self.assertIn("libssl3", depends)
        # The rules that are installed are good, so that the unit starts.
        self.assertEqual(processes.run([paths.flyball(), "check", "rules", "--strict", folder / "root/etc/flyball/rules.yaml"]).returncode, 0)
