"""The client libraries that the drivers use, and the versions of them that the drivers work with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module

from ..errors import DriverMissing

_WITHOUT_METADATA = "99.99.99"
"""The version that redis-py reports in a frozen program, which has no package metadata."""


@dataclass(frozen=True)
class Library:
    """A client library. The extra in ``pyproject.toml`` has the same versions."""

    module: str
    extra: str
    """The extra of fencepost that installs it."""
    first: str
    """The first version that works."""
    beyond: str
    """The first version that is not tested."""

    @property
    def needed(self) -> str:
        """The requirement in pip's syntax."""
        return f"{self.module}>={self.first},<{self.beyond}"

    def works(self, version: str) -> bool:
        """Whether the drivers work with a version."""
        return _numbers(self.first) <= _numbers(version) < _numbers(self.beyond)


KAZOO = Library("kazoo", "zookeeper", "2.8", "2.12")
REDIS = Library("redis", "redis", "5.0.1", "9")


def _numbers(version: str) -> list[int]:
    found = re.match(r"[\d.]*", version)
    return [int(part) for part in found[0].split(".") if part] if found else []


@contextmanager
def needing(library: Library) -> Iterator[None]:
    """Its body imports a driver. Raises DriverMissing if the client library is missing, or if it has a
    version with which the driver does not work.
    """
    remedy = f"pip install 'fencepost[{library.extra}]'"
    try:
        version = str(getattr(import_module(library.module), "__version__", "of an unknown version"))
        if version != _WITHOUT_METADATA and not library.works(version):
            raise DriverMissing(
                f"{library.module} {version} is installed, and fencepost needs {library.needed}: {remedy}",
                509,
                "driver-unsupported",
            )
        yield
    except DriverMissing:
        raise
    except ImportError as error:
        text = f"this needs the package {library.module}, which cannot be imported ({error}): {remedy}"
        raise DriverMissing(text) from error
