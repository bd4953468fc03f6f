"""What is shipped beside the chart and the image: man page, completion, unit, package."""

import os
import re
import subprocess
import sys

from harness import case, paths, processes

PACKAGING = paths.PROJECT / "packaging"


def tool(name: str, *args) -> str:
    return subprocess.run([sys.executable, PACKAGING / name, *map(str, args)], check=True, capture_output=True, text=True).stdout


class Manual(case.Case):
    def test_man_page_has_every_command_and_flag(self):
        page = tool("manual.py", paths.flyball(), "man")
        def shown(*command):
            return subprocess.run([paths.flyball(), *command, "--help"], check=False, capture_output=True, text=True).stdout

        commands = re.findall(r"^  ([a-z]+)  ", shown(), re.MULTILINE)
        self.assertLessEqual({"serve", "check", "test", "decide", "explain", "doctor", "convert", "version"}, set(commands))
        for command in commands:
            self.assertIn(f".B {command}\n", page)
            _, _, below = shown(command).partition("Subcommands:\n")
            for words in ([command], *([command, sub] for sub in re.findall(r"^  ([a-z]+)", below, re.MULTILINE))):
                for flag in re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+)", shown(*words), re.MULTILINE):
                    self.assertIn(flag.replace("-", "\\-"), page, words)

    def test_completion_completes(self):
        script = processes.fresh_folder("completion") / "flyball"
        script.write_text(tool("manual.py", paths.flyball(), "completion"))
        rows = (
            (["ser"], "serve"),
            (["serve", "--prometheus-u"], "--prometheus-url"),
            (["serve", "--config=x", "--query-f"], "--query-freshness"),
            (["check", ""], "rules"),
        )
        for words, wanted in rows:
            with self.subTest(words):
                words = [str(paths.flyball().resolve()), *words]
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
        folder, again = processes.fresh_folder("deb"), processes.fresh_folder("again")
        for out in (folder, again):
            done = processes.run(["cpack", "--config", config, "-B", out], timeout=300)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        package, = folder.glob("*.deb")
        self.assertEqual(package.read_bytes(), (again / package.name).read_bytes(), "equal programs make equal packages")
        subprocess.run(["dpkg-deb", "--extract", package, folder / "root"], check=True)
        files = {str(f.relative_to(folder / "root")) for f in (folder / "root").rglob("*") if f.is_file()}
        self.assertEqual(files, {"usr/bin/flyball", "usr/lib/flyball/external_scaler.so", "etc/flyball/rules.yaml", "usr/lib/systemd/system/flyball.service",
                                 "usr/share/man/man1/flyball.1.gz", "usr/share/bash-completion/completions/flyball",
                                 "usr/share/doc/flyball/copyright"})
        packed = processes.run([folder / "root" / "usr" / "bin" / "flyball", "version", "--modules"])
        self.assertEqual(packed.stdout, processes.run([paths.flyball(), "version"]).stdout +
                         f"external triggers: {folder}/root/usr/lib/flyball/external_scaler.so\n", packed.stderr)
        depends = subprocess.run(["dpkg-deb", "--field", package, "Depends"], check=True, capture_output=True, text=True).stdout
        for library in ("libssl3", "libgrpc++"):
            self.assertIn(library, depends)
        self.scripts_may_run_twice(package, folder / "control")
        # The rules that are installed are good, so that the unit starts.
        self.assertEqual(processes.run([paths.flyball(), "check", "rules", "--strict", folder / "root/etc/flyball/rules.yaml"]).returncode, 0)

    def scripts_may_run_twice(self, package, folder):
        """Where there is no systemd, as in an image, and with one that notes what it is told."""
        subprocess.run(["dpkg-deb", "--control", package, folder], check=True)
        self.assertEqual((folder / "conffiles").read_text(), "/etc/flyball/rules.yaml\n")
        rows = (("postinst", ("configure", ""), ["daemon-reload"]), ("postinst", ("configure", "0.0.9"), ["daemon-reload", "try-restart flyball.service"]),
                ("prerm", ("upgrade", "0.2.0"), []), ("prerm", ("remove",), ["disable --now flyball.service"]),
                ("postrm", ("remove",), ["daemon-reload"]), ("postrm", ("purge",), ["daemon-reload", "rm -rf /var/lib/flyball /var/lib/private/flyball"]))
        self.assertEqual({f.name for f in folder.iterdir()} & {"preinst", "postinst", "prerm", "postrm"}, {name for name, _, _ in rows})
        for name, words, told in rows:
            with self.subTest(name, words=words):
                script, log = folder / name, folder / "told"
                text = script.read_text().replace("[ -d /run/systemd/system ]", "[ -d \"$BOOTED\" ]")
                watched = f"systemctl() {{ echo \"$@\" >>{log}; }}\nrm() {{ echo rm \"$@\" >>{log}; }}\n"
                for booted, wanted in ((folder, told), (folder / "none", [t for t in told if t.startswith("rm ")])):
                    log.write_text("")
                    run = ["sh", "-c", watched + text, name, *words]
                    for _ in range(2):
                        self.assertEqual(subprocess.run(run, check=False, env={**os.environ, "BOOTED": str(booted)}).returncode, 0)
                    self.assertEqual(sorted(set(log.read_text().splitlines())), sorted(wanted))
