#!/usr/bin/env python3
"""What a program is made of, as CycloneDX 1.5 JSON: its modules, the Debian packages of the libraries that they are linked with, and of those
whose headers or sources are compiled into them.

  packaging/sbom.py PROGRAM
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import urllib.parse
import uuid

from program import SYSROOT, invocation, libraries, output

HEADERS = ("nlohmann-json3-dev", "libcli11-dev", "node-llhttp")  # libraries without a .so
QUERY = ("dpkg-query", *([f"--admindir={SYSROOT}/var/lib/dpkg"] if SYSROOT else []))


def modules_of(program: str) -> list:
    """The modules that the program loads when it needs them."""
    said = output(*invocation(program), "version", "--modules")
    return [pathlib.Path(path) for path in re.findall(r"^(?:external|http) triggers: (.+)$", said, re.MULTILINE)]


def here(path: str) -> str:
    """The real path, without SYSROOT before it, of the library that the dynamic linker finds at this path."""
    return str(pathlib.Path(SYSROOT + path).resolve()).removeprefix(SYSROOT)


def by_package(files: list) -> dict:
    """Package -> its files. Debian's merged /usr leaves some files in the database under their old names."""
    asked = {SYSROOT + name: f for f in files for name in (f, f.removeprefix("/usr"))}
    found = {}
    for line in output(*QUERY, "--search", *asked, check=False).splitlines():  # 1: some name is not known
        package, _, name = line.partition(": ")
        found.setdefault(package, []).append(asked[name])
    if missing := set(files) - {f for listed in found.values() for f in listed}:
        raise SystemExit(f"sbom: of no package: {', '.join(map(str, sorted(missing)))}")
    return found


def component(package: str, files: list) -> dict:
    show = ("--show", "--showformat=${Package}\t${Version}\t${Architecture}\t${source:Package}\t${Homepage}", package)
    try:
        fields = output(*QUERY, *show)
    except subprocess.CalledProcessError:  # sources that are the same for each architecture are those of this machine
        fields = output("dpkg-query", *show)
    name, version, architecture, source, homepage = fields.split("\t")
    # The form of a purl: libstdc++6 is libstdc%2B%2B6, and an epoch's colon stays.
    purl = f"pkg:deb/debian/{urllib.parse.quote(name, safe='')}@{urllib.parse.quote(version, safe=':')}?arch={architecture}"
    result = {"type": "library", "name": name, "version": version, "bom-ref": purl, "purl": purl,
              "properties": [{"name": "debian:source", "value": source}] + [{"name": "file", "value": str(f)} for f in files]}
    if homepage:
        result["externalReferences"] = [{"type": "website", "url": homepage}]
    return result


def digest_of(path) -> str:
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def main() -> int:
    program = sys.argv[1]
    modules = modules_of(program)
    linked = by_package(sorted({here(path) for path in libraries(program, *modules)}))
    components = [component(package, sorted(set(linked.get(package, [])))) for package in sorted({*linked, *HEADERS})]
    version = output(*invocation(program), "version").split()[1]
    digest = digest_of(program)
    json.dump({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}",
        "metadata": {"component": {"type": "application", "name": "flyball", "version": version, "bom-ref": f"flyball@{version}",
                                   "hashes": [{"alg": "SHA-256", "content": digest}], "licenses": [{"license": {"id": "Apache-2.0"}}],
                                   "components": [{"type": "file", "name": module.name, "version": version, "bom-ref": module.name,
                                                   "hashes": [{"alg": "SHA-256", "content": digest_of(module)}]} for module in modules]}},
        "components": components,
        "dependencies": [{"ref": f"flyball@{version}", "dependsOn": [c["bom-ref"] for c in components]}],
    }, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
