"""rustdoc's data on the published crates, and the path by which a program names each item."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
#: A separate folder, because other builds cannot use code that was compiled with unstable options.
TARGET = ROOT / "target" / "rustdoc-json"
#: The version of rustdoc's JSON format that these tools read.
FORMAT = 57
#: The crates, and their features for programs: the others are for the project's own tests and tools. No
#: program names fencepost-models, but cargo combines a released fencepost with each later compatible version
#: of it.
CRATES = {
    "fencepost-core": ["serde"],
    "fencepost-models": ["std"],
    "fencepost": ["default", "zookeeper", "redis", "redis-tls", "tower", "tracing"],
}
#: Crates that programs use as std.
STANDARD = ("core", "alloc", "std")

#: Names that a program can use without a `use`.
PRELUDE = """
    AsMut AsRef AsyncFn AsyncFnMut AsyncFnOnce Box Clone Copy Default DoubleEndedIterator Drop Eq
    ExactSizeIterator Extend Fn FnMut FnOnce From FromIterator Future Into IntoFuture IntoIterator
    Iterator Option Ord PartialEq PartialOrd Result Send Sized String Sync ToOwned ToString TryFrom
    TryInto Unpin Vec
""".split()  # noqa: SIM905

#: An item, a type or another part of rustdoc's output.
Json = Any


def documented(manifest: Path, name: str, crates: dict[str, list[str]], target: Path) -> Json:
    """Runs rustdoc, and returns its output for one of the crates."""
    command = ["cargo", "rustdoc", "--quiet", "--locked", "--lib", f"--manifest-path={manifest}"]
    command += [f"--package={name}", f"--features={','.join(crates[name])}", f"--target-dir={target}"]
    command += ["--", "-Zunstable-options", "--output-format=json"]
    # Only these crates may use unstable features: the others are compiled as for programs.
    unstable = ",".join(each.replace("-", "_") for each in crates)
    subprocess.run(command, env={**os.environ, "RUSTC_BOOTSTRAP": unstable}, check=True)
    return json.loads((target / "doc" / f"{name.replace('-', '_')}.json").read_text())


def checked(crate: Json) -> Json:
    """Returns the data if it has the format that these tools read; otherwise raises an error."""
    if crate["format_version"] != FORMAT:
        sys.exit(
            f"tools/api: this rustdoc writes JSON of format {crate['format_version']}, but tools/api reads "
            f"format {FORMAT}, which Rust 1.95 writes: use that toolchain, or make tools/api read the other "
            "format, and change FORMAT in tools/api/rustdoc.py"
        )
    return crate


def kind(item: Json) -> tuple[str, Json]:
    """The kind of an item, and its data of that kind."""
    ((name, inner),) = item["inner"].items()
    return name, inner


@dataclass
class Crate:
    """A crate: its items, and their public paths."""

    data: Json
    #: The public paths of each item by its number, the shortest one first.
    public: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    #: Public paths whose items are those of another crate.
    others: dict[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        root = self.item(self.data["root"])
        self.public[root["id"]].append(root["name"])
        self.walk(root, root["name"], (root["id"],))
        for paths in self.public.values():
            paths.sort(key=lambda path: (path.count("::"), path))

    @property
    def name(self) -> str:
        """The name in paths."""
        return str(self.item(self.data["root"])["name"])

    def item(self, number: int) -> Json:
        """An item by its number; `None` if it is another crate's, or not public."""
        return self.data["index"].get(str(number))

    def walk(self, module: Json, path: str, above: tuple[int, ...]) -> None:
        """Records the public paths below a module, or of variants that a glob imports."""
        inner = kind(module)[1]
        for number in inner.get("items", inner.get("variants", ())):
            item = self.item(number)
            if item is None:
                continue
            name, used = item["name"], None
            if "use" in item["inner"]:
                used = item["inner"]["use"]
                name, item = used["name"], None if used["id"] is None else self.item(used["id"])
            if used is not None and item is None:
                self.others[f"{path}::{'*' if used['is_glob'] else name}"] = used
            elif used is not None and used["is_glob"]:
                self.walk(item, path, (*above, item["id"]))
            elif item["id"] not in above:
                self.public[item["id"]].append(f"{path}::{name}")
                if "module" in item["inner"]:
                    self.walk(item, f"{path}::{name}", (*above, item["id"]))

    def homes(self) -> Iterator[tuple[str, Json, list[str]]]:
        """Each item: its shortest public path, and the others."""
        for number, paths in self.public.items():
            yield paths[0], self.item(number), paths[1:]


class Library:
    """The crates, and the name of each item in all of them."""

    def __init__(self, crates: list[Crate]) -> None:
        self.crates = crates
        #: For each of our crates, the foreign crates whose items it uses.
        self.foreign: dict[str, set[str]] = defaultdict(set)
        #: The public path of an item, by the path of its definition.
        self.named: dict[str, str] = {}
        for crate in crates:
            for number, paths in crate.public.items():
                known = crate.data["paths"].get(str(number))
                if known is not None:
                    self.named["::".join(known["path"])] = paths[0]

    def name(self, crate: Crate, number: int | None, written: str) -> str:
        """The path by which a program names an item; `_::` if no program can name it."""
        if number in crate.public:
            return crate.public[number][0]
        known = crate.data["paths"].get(str(number))
        if known is None:
            return f"_::{written.rpartition('::')[2]}"
        path: list[str] = known["path"]
        if path[0] in STANDARD:
            prelude = known["kind"] != "type_alias" and path[-1] in PRELUDE
            return path[-1] if prelude else "::".join(["std", *path[1:]])
        shown = "::".join(path)
        if any(path[0] == each.name for each in self.crates):
            return self.named.get(shown, f"_::{path[-1]}")
        self.foreign[crate.name].add(path[0])
        return shown
