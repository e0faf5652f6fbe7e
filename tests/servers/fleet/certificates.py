"""Certificates for servers with TLS, new for every run: an authority, and the certificates that it signs."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .server import ServerError

#: Longer than any run; no other program trusts the authority.
DAYS = "7"

SETTINGS = """
[req]
prompt = no
distinguished_name = name
x509_extensions = {extensions}
[name]
CN = {name}
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = {places}
"""


def authority(directory: Path, name: str) -> Path:
    """A certificate authority `name`. The file of its key is beside the certificate."""
    return make(directory, name, "authority", [])


def signed(directory: Path, name: str, by: Path, places: str) -> Path:
    """A server's certificate for `places` (such as `DNS:localhost, IP:127.0.0.1`), with its key beside it."""
    signer = ["-CA", str(by), "-CAkey", str(key_of(by))]
    return make(directory, name, "server", signer, places)


def key_of(certificate: Path) -> Path:
    """The path of a certificate's private key."""
    return certificate.with_suffix(".key")


def make(directory: Path, name: str, extensions: str, signer: list[str], places: str = "DNS:none") -> Path:
    """A key and a certificate."""
    certificate, settings = directory / f"{name}.pem", directory / f"{name}.cnf"
    settings.write_text(SETTINGS.format(extensions=extensions, name=name, places=places))
    command = ["openssl", "req", "-x509", "-config", str(settings), "-days", DAYS, "-nodes"]
    command += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", *signer]
    command += ["-out", str(certificate), "-keyout", str(key_of(certificate))]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise ServerError(f"openssl made no certificate {name}:\n{done.stderr}")
    return certificate
