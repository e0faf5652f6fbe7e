"""The site, built once for all tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, newly built."""
    destination = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, ROOT / "site" / "build.py", destination], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return destination
