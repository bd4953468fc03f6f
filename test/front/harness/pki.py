"""Certificate authorities and certificates, made with the openssl program."""

import pathlib
import shutil
import subprocess

_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")


class Authority:
    """One CA, with a folder of its own."""

    def __init__(self, folder: pathlib.Path, name: str):
        self.folder = folder / name
        self.folder.mkdir(parents=True)
        self._run(*_KEY, "-subj", f"/CN={name}", "-addext", "keyUsage=critical,keyCertSign,digitalSignature",
                  "-keyout", self.folder / "ca.key", "-out", self.folder / "ca.crt")

    @staticmethod
    def _run(*arguments):
        subprocess.run(["openssl", "req", "-x509", *map(str, arguments)], check=True, capture_output=True)

    def issue(self, folder: pathlib.Path, name: str) -> pathlib.Path:
        """tls.crt of that DNS name, tls.key and ca.crt in the folder, as a Secret has them."""
        folder.mkdir(parents=True, exist_ok=True)
        self._run(*_KEY, "-CA", self.folder / "ca.crt", "-CAkey", self.folder / "ca.key", "-subj", f"/CN={name}",
                  "-addext", "basicConstraints=critical,CA:FALSE", "-addext", f"subjectAltName=DNS:{name}",
                  "-keyout", folder / "tls.key.new", "-out", folder / "tls.crt.new")
        shutil.copy(self.folder / "ca.crt", folder / "ca.crt.new")
        for file in ("tls.key", "tls.crt", "ca.crt"):
            (folder / (file + ".new")).rename(folder / file)
        return folder
