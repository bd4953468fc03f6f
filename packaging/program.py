"""How to run the program that is packaged: as it is, or under qemu where it was compiled for another machine.

FLYBALL_SYSROOT names the folder that packaging/sysroot made for that machine.
"""

import os
import pathlib
import subprocess

SYSROOT = os.environ.get("FLYBALL_SYSROOT", "")


def invocation(program) -> list:
    return ["qemu-aarch64", "-L", SYSROOT, str(program)] if SYSROOT else [str(program)]


def output(*words, check=True) -> str:
    done = subprocess.run([str(w) for w in words], check=check, capture_output=True, text=True)
    return done.stdout or ("" if check else done.stderr)


def libraries(*linked) -> list:
    """The paths by which the dynamic linker finds the libraries of these files. On this machine they are at SYSROOT + path."""
    loader = next(iter(sorted(pathlib.Path(SYSROOT, "lib").glob("ld-linux-*.so.*"))), None) if SYSROOT else None
    found = set()
    for file in linked:
        lines = output(*invocation(loader), "--list", file) if loader else output("ldd", file)
        found.update(path for path in (next((w for w in line.split() if w.startswith("/")), None) for line in lines.splitlines()) if path)
    return sorted({path.removeprefix(SYSROOT) for path in found})  # the loader names itself as it was called


if __name__ == "__main__":
    import sys
    print("\n".join(libraries(*sys.argv[1:])))
