"""An installed tree, from `make install` or from an archive: the tests move, check, use and uninstall it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parent.parent
ROOT = SOURCES.parent
PREFIX = "/opt/fencepost"


def version() -> str:
    """The version of the project."""
    found = re.search(r'^\[workspace\.package\]\nversion = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.M)
    assert found is not None
    return found[1]


VERSION = version()


def environment(**more: str) -> dict[str, str]:
    """The environment, without the variables that a calling make passes to another make."""
    return {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))
    } | more


def tried(*command: str | Path, cwd: Path = SOURCES, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a command. Returns its exit code and its output."""
    return subprocess.run(
        command,
        cwd=cwd,
        env=environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def run(*command: str | Path, cwd: Path = SOURCES, **variables: str) -> str:
    """Runs a command that has to succeed."""
    done = tried(*command, cwd=cwd, **variables)
    assert done.returncode == 0, f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout


def make(*arguments: str, cwd: Path = SOURCES) -> subprocess.CompletedProcess[str]:
    """Runs make without a compiler: it may only copy."""
    return tried(
        "make",
        "--no-print-directory",
        *arguments,
        *(f"{tool}=false" for tool in ("CC", "CARGO", "PYTHON")),
        cwd=cwd,
    )


def files(folder: Path) -> set[str]:
    """All files and links below a folder."""
    return {
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_symlink() or path.is_file()
    }


@dataclass
class Tree:
    """The tree that the tests share."""

    #: The folder of the build; or the archive of a release, which the tests unpack.
    build: Path
    #: The folder for all files that the tests write.
    scratch: Path

    @property
    def prefix(self) -> Path:
        """The folder of the moved tree."""
        return self.scratch / "moved"

    @property
    def lib(self) -> Path:
        """The libraries."""
        return self.prefix / "lib"

    @property
    def is_release(self) -> bool:
        """Whether the tree comes from an archive."""
        return self.build.is_file()

    def unpack(self) -> None:
        """Unpacks the archive."""
        self.prefix.mkdir()
        run("tar", "-xf", self.build, "--strip-components=1", "-C", self.prefix)

    def install(self, destination: Path, *more: str) -> subprocess.CompletedProcess[str]:
        """Installs below a folder."""
        return make("install", f"BUILD={self.build}", f"DESTDIR={destination}", f"PREFIX={PREFIX}", *more)

    def libraries(self) -> list[str]:
        """The names of the built libraries."""
        lib = self.lib if self.is_release else self.build / "lib"
        return sorted(path.name[3:-2] for path in lib.glob("libfencepost*.a"))

    def pkg_config(self, *arguments: str) -> list[str]:
        """The flags of the installed tree, each as an argument."""
        return shlex.split(run("pkg-config", *arguments, PKG_CONFIG_PATH=str(self.lib / "pkgconfig")))

    def static_archives(self) -> Path:
        """A copy of the tree that has archives only: the linker prefers libraries."""
        copy = self.scratch / "archives"
        if not copy.exists():
            shutil.copytree(self.prefix, copy, symlinks=True)
            for library in (copy / "lib").glob("*.so*"):
                library.unlink()
        return copy


def readme_blocks(tag: str) -> list[str]:
    """The snippets of the README in one language."""
    text = (SOURCES / "README.md").read_text()
    return re.findall(rf"^```{tag}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def shop(url: str) -> str:
    """The README's first program, on a server of this address."""
    (program, *_) = readme_blocks("c")
    assert "memory:" in program
    return program.replace("memory:", url)
