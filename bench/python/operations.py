"""Operations of fencepost: an acquire claims a new key, a release completes it."""

from __future__ import annotations

import os
from itertools import count

import fencepost
import fencepost.asyncio
from addresses import Address

#: A digest as long as usual ones.
FINGERPRINT = "0123456789abcdef0123456789abcdef"
TAG = "bytes"
#: 1 KiB.
RESULT = b"r" * 1024
#: How long a claim and a result are kept, in seconds: short, because there are many.
KEPT = 10


class Keys:
    """The keys of this process: each is new."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def next(self) -> tuple[int, str]:
        """Returns the number of the next key, and the key."""
        number = next(self._numbers)
        return number, f"key-{os.getpid()}-{number}"


def _options(address: Address) -> dict[str, object]:
    codec = fencepost.Codec(TAG, bytes, bytes)
    # On ZooKeeper a claim lasts as long as its session.
    lease = {} if address.is_zookeeper else {"lease": KEPT}
    return {"codec": codec, "retention": KEPT, **lease}


class Operations:
    """For threads."""

    def __init__(self, address: Address, scope: str) -> None:
        self._client = fencepost.connect(address.url)
        self._scope = self._client.idempotency(scope, **_options(address))  # type: ignore[arg-type]
        self._keys = Keys()
        self._claim: fencepost.Claim | None = None

    def acquire(self) -> None:
        """Claims."""
        self._claim = self._scope.claim(self._keys.next()[1], fingerprint=FINGERPRINT)

    def release(self) -> None:
        """Completes."""
        assert self._claim is not None
        self._claim.complete(RESULT)
        assert not self._claim.replayed

    def close(self) -> None:
        """Hangs up."""
        self._client.close()


class OperationsAsync:
    """For asyncio."""

    def __init__(self, address: Address, scope: str) -> None:
        self._client = fencepost.asyncio.connect(address.url)
        self._scope = self._client.idempotency(scope, **_options(address))  # type: ignore[arg-type]
        self._keys = Keys()
        self._claim: fencepost.asyncio.Claim | None = None

    async def acquire(self) -> None:
        """Claims."""
        self._claim = await self._scope.claim(self._keys.next()[1], fingerprint=FINGERPRINT)

    async def release(self) -> None:
        """Completes."""
        assert self._claim is not None
        await self._claim.complete(RESULT)
        assert not self._claim.replayed

    async def close(self) -> None:
        """Hangs up."""
        await self._client.close()
