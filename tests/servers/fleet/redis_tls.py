"""A Redis that accepts only TLS."""

from __future__ import annotations

import ssl
from pathlib import Path

from . import certificates
from .ports import HOST
from .redis import Redis

#: An address on which it also listens, but without a certificate for it.
UNCERTIFIED = "127.0.0.2"


class RedisTls(Redis):
    """A Redis with a password, whose certificate is for localhost and 127.0.0.1."""

    @property
    def ca(self) -> Path:
        """The certificate of the authority that has signed the server's."""
        return self.directory / "ca.pem"

    @property
    def other_ca(self) -> Path:
        """The certificate of an authority that has signed nothing."""
        return self.directory / "other-ca.pem"

    def prepare(self) -> None:
        certificates.authority(self.directory, self.other_ca.stem)
        authority = certificates.authority(self.directory, self.ca.stem)
        certificates.signed(self.directory, "server", authority, f"DNS:localhost, IP:{HOST}")
        super().prepare()

    def listening(self) -> list[str]:
        certificate = self.directory / "server.pem"
        return [
            f"bind {HOST} {UNCERTIFIED}",
            "port 0",
            f"tls-port {self.port}",
            f"tls-cert-file {certificate}",
            f"tls-key-file {certificates.key_of(certificate)}",
            f"tls-ca-cert-file {self.ca}",
            "tls-auth-clients no",
        ]

    def tls(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.ca))
