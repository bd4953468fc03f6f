"""What is shipped beside the chart and the image: man page, completion, unit, package."""

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import yaml

import image
from harness import case, paths, processes
from helm import container, objects, of_kind, values_file

PACKAGING = paths.PROJECT / "packaging"
UNIT = (PACKAGING / "systemd" / "flyball.service").read_text()


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


class Manifests(case.Case):
    """deploy/, for those who don't use Helm."""

    def test_they_are_as_the_chart_renders_them(self):
        tool("manifests", "--helm", paths.peer("helm"))

    def test_kustomize_builds_all_of_them(self):
        for base in ("base", "scaler"):
            built = processes.run([paths.peer("kubectl"), "kustomize", paths.PROJECT / "deploy" / base])
            self.assertEqual(built.returncode, 0, built.stderr)
            def by_name(text):
                return {(i["kind"], i["metadata"].get("namespace"), i["metadata"]["name"]): i for i in yaml.safe_load_all(text)}
            self.assertEqual(by_name(built.stdout), by_name((paths.PROJECT / "deploy" / base / "flyball.yaml").read_text()))


class Overlay(case.Case):
    """examples/kustomize, on top of deploy/base."""

    def test_it_changes_what_it_says(self):
        built = processes.run([paths.peer("kubectl"), "kustomize", paths.PROJECT / "examples" / "kustomize"])
        self.assertEqual(built.returncode, 0, built.stderr)
        items = objects(built.stdout)
        self.assertEqual([a for a in container(items)["args"] if "prometheus-url" in a], ["--prometheus-url=http://prometheus-k8s.monitoring.svc:9090"])
        config, = [i["data"]["config.yaml"] for i in of_kind(items, "ConfigMap")]
        done = processes.run([paths.flyball(), "check", "rules", "--strict", values_file(config)])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Workflows(case.Case):
    """.github, as far as it can be read without GitHub."""

    def test_the_release_is_the_script(self):
        job, = yaml.safe_load((paths.PROJECT / ".github/workflows/release.yaml").read_text())["jobs"].values()
        self.assertEqual([step["run"].rpartition("&& ")[2] for step in job["steps"] if "packaging" in step.get("run", "")], ["packaging/release release"])
        self.assertEqual(job["container"]["image"], "debian:12")

    def test_each_change_is_tested_by_the_script(self):
        workflow = yaml.safe_load((paths.PROJECT / ".github/workflows/test.yaml").read_text())
        self.assertEqual(set(workflow[True]), {"push", "pull_request"})  # `on` is a boolean in YAML 1.1
        job, = workflow["jobs"].values()
        self.assertEqual([step["run"].rpartition("&& ")[2] for step in job["steps"] if ".ci" in step.get("run", "")], [".ci/run"])
        self.assertTrue(os.access(paths.PROJECT / ".ci" / "run", os.X_OK))
        self.assertEqual((job["container"]["image"], workflow["permissions"]), ("debian:12", {"contents": "read"}))

    def test_hooks_for_pre_commit_run_commands_that_there_are(self):
        examples = {"flyball-check-rules": "web.yaml", "flyball-test-rules": "web_test.yaml"}
        for hook in yaml.safe_load((paths.PROJECT / ".pre-commit-hooks.yaml").read_text()):
            command = hook["entry"].split()
            self.assertEqual(command.pop(0), "flyball")
            done = processes.run([paths.flyball(), *command, paths.PROJECT / "rules" / "examples" / examples.pop(hook["id"])])
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertRegex("deploy/rules.yaml" if "check" in hook["id"] else "deploy/rules_test.yaml", hook["files"])
        self.assertEqual(examples, {})

    def test_the_action_checks_rules_and_runs_their_tests(self):
        step, = yaml.safe_load((paths.PROJECT / "action.yml").read_text())["runs"]["steps"]
        examples = paths.PROJECT / "rules" / "examples"
        bad = values_file({"rules": [{"seriesQuery": "up", "metricsQuery": "sum("}]})

        def run(rules, tests=""):
            return processes.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                                 env={"RULES": str(rules), "TESTS": str(tests), "STRICT": "true", "FLYBALL": str(paths.flyball())})

        good = run(examples / "web.yaml", examples / "web_test.yaml")
        self.assertEqual(good.returncode, 0, good.stdout + good.stderr)
        self.assertIn(": ok: 10 passed", good.stdout)
        done = run(bad)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"::error file={bad},line=", done.stdout)

    def test_forms_ask_by_unique_names(self):
        for form in (paths.PROJECT / ".github/ISSUE_TEMPLATE").glob("*.yaml"):
            told = yaml.safe_load(form.read_text())
            self.assertLessEqual({"name", "description", "body"}, set(told))
            names = [part["id"] for part in told["body"]]
            self.assertEqual(len(names), len(set(names)))
            for part in told["body"]:
                self.assertIn(part["type"], {"input", "textarea", "dropdown", "checkboxes"})
                self.assertTrue(part["attributes"]["label"])


class Made(case.Case):
    """What `packaging/release` makes of one processor's files."""

    @classmethod
    def setUpClass(cls):
        cls.packages = processes.fresh_folder("packages")
        here = subprocess.run(["dpkg", "--print-architecture"], check=True, capture_output=True, text=True).stdout.strip()
        (cls.packages / here).mkdir()
        subprocess.run([PACKAGING / "rootfs", paths.flyball(), cls.packages / here / "rootfs"], check=True)
        cls.here = here
        cls.out = cls.release("one")
        cls.version = re.search(r"project\(flyball VERSION (\S+)", (paths.PROJECT / "CMakeLists.txt").read_text())[1]

    @classmethod
    def release(cls, name: str, *more):
        out = processes.fresh_folder("release") / name
        tool("release", out, "--arch", cls.here, "--packages", cls.packages, "--helm", paths.peer("helm"), *more)
        return out

    def file(self, name: str):
        return self.out / name.format(v=self.version, arch=self.here)

    def test_everything_is_there_and_summed(self):
        names = {f.name for f in self.out.iterdir()}
        self.assertEqual(names, {self.file(n).name for n in (
            "flyball-{v}-linux-{arch}.tar.gz", "flyball-{v}-image-{arch}.tar", "flyball-{v}-sbom-{arch}.cdx.json", "flyball-{v}.tgz",
            "flyball-{v}-kustomize.tar.gz", "install.yaml", "flyball.krew.yaml", "SHA256SUMS")})
        subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=self.out, check=True)
        self.assertEqual(len((self.out / "SHA256SUMS").read_text().splitlines()), len(names) - 1)

    def test_equal_programs_make_equal_files_which_may_be_signed(self):
        folder = processes.fresh_folder("keys")
        key, public, raw = folder / "key.pem", folder / "public.pem", folder / "signature"
        subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key], check=True, capture_output=True)
        subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", public], check=True)
        again = self.release("two", "--sign", key)
        raw.write_bytes(base64.b64decode((again / "SHA256SUMS.sig").read_text()))
        subprocess.run(["openssl", "dgst", "-sha256", "-verify", public, "-signature", raw, again / "SHA256SUMS"], check=True, capture_output=True)
        for name in ("flyball-{v}-linux-{arch}.tar.gz", "flyball-{v}-image-{arch}.tar", "flyball-{v}-kustomize.tar.gz", "flyball.krew.yaml"):
            self.assertEqual(self.file(name).read_bytes(), (again / self.file(name).name).read_bytes(), name)

    def test_the_program_runs_from_its_folder_alone(self):
        """Also through a link in another folder, as `kubectl krew` makes one, and with its module."""
        folder = processes.fresh_folder("portable")
        subprocess.run(["tar", "--extract", "--file", self.file("flyball-{v}-linux-{arch}.tar.gz"), "--directory", folder], check=True)
        tree = folder / self.file("flyball-{v}-linux-{arch}").name
        (folder / "kubectl-flyball").symlink_to(tree / "flyball")
        done = processes.run([folder / "kubectl-flyball", "version", "--modules"])
        lines = done.stdout.splitlines()
        self.assertEqual((lines[0], *lines[-2:]), (f"flyball {self.version}", f"external triggers: {tree}/lib/flyball/external_scaler.so",
                                                    f"http triggers: {tree}/lib/flyball/front.so"), done.stderr)
        plugin = yaml.safe_load((self.out / "flyball.krew.yaml").read_text())["spec"]["platforms"][0]
        self.assertEqual(plugin["files"], [{"from": f"{tree.name}/*", "to": "."}])
        self.assertTrue((tree / plugin["bin"]).exists())

    def test_the_image_is_an_oci_layout(self):
        folder = processes.fresh_folder("oci")
        subprocess.run(["tar", "--extract", "--file", self.file("flyball-{v}-image-{arch}.tar"), "--directory", folder], check=True)

        def blob(part: dict) -> bytes:
            data = (folder / "blobs" / "sha256" / part["digest"].removeprefix("sha256:")).read_bytes()
            self.assertEqual((len(data), hashlib.sha256(data).hexdigest()), (part["size"], part["digest"].removeprefix("sha256:")))
            return data
        index = json.loads((folder / "index.json").read_text())
        manifest = json.loads(blob(index["manifests"][0]))
        config, (layer,) = json.loads(blob(manifest["config"])), manifest["layers"]
        self.assertEqual(config["rootfs"]["diff_ids"], [layer["digest"]])
        self.assertEqual((config["architecture"], config["config"]["User"], config["config"]["Entrypoint"]), (self.here, "10001:10001", image.entrypoint()))
        blob(layer)
        docker, = json.loads((folder / "manifest.json").read_text())
        self.assertEqual(docker["Layers"], ["blobs/sha256/" + layer["digest"].removeprefix("sha256:")])
        files = subprocess.run(["tar", "--list", "--file", folder / docker["Layers"][0]], check=True, capture_output=True, text=True).stdout.split()
        self.assertLessEqual({"usr/bin/flyball", "usr/lib/flyball/external_scaler.so", "usr/lib/flyball/front.so", "etc/ssl/certs/ca-certificates.crt"}, set(files))


class Unit(case.Case):
    def test_systemd_unit_starts_what_there_is(self):
        command = re.search(r"^ExecStart=/usr/bin/flyball serve (.*) \$FLYBALL_FLAGS$", UNIT, re.MULTILINE)[1].split()
        shown = subprocess.run([paths.flyball(), "serve", "--help"], check=True, capture_output=True, text=True).stdout
        for flag in command:
            self.assertIn(flag.split("=")[0] + " ", shown)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed; ./dev test service does that")
    def test_systemd_takes_the_unit(self):
        root = processes.fresh_folder("unit")
        (root / "flyball.service").write_text(UNIT.replace("/usr/bin/flyball", str(paths.flyball().resolve())))
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
        self.assertEqual(files, {"usr/bin/flyball", "usr/lib/flyball/external_scaler.so", "usr/lib/flyball/front.so", "etc/flyball/rules.yaml", "usr/lib/systemd/system/flyball.service",
                                 "usr/share/man/man1/flyball.1.gz", "usr/share/bash-completion/completions/flyball",
                                 "usr/share/doc/flyball/copyright"})
        packed = processes.run([folder / "root" / "usr" / "bin" / "flyball", "version", "--modules"])
        self.assertEqual(packed.stdout, processes.run([paths.flyball(), "version"]).stdout +
                         f"external triggers: {folder}/root/usr/lib/flyball/external_scaler.so\nhttp triggers: {folder}/root/usr/lib/flyball/front.so\n", packed.stderr)
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
