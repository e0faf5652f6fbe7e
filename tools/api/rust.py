"""The API of the published crates: each public item with its signature.

If a line is removed, the change breaks programs. So the line of an enum, a struct or a trait contains
everything that a program must list completely: all variants or fields, unless some are private or it is
`#[non_exhaustive]`; and the required items of a trait, unless it is sealed.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from rustdoc import CRATES, ROOT, TARGET, Crate, Json, Library, checked, documented, kind
from signatures import Signatures

#: The sort key of a line, and the line.
Line = tuple[str, str]
#: The automatic traits whose absence can prevent that a program compiles.
AUTOMATIC = ("Send", "Sync")
#: A derived `PartialEq` adds this trait; no program can name it.
UNSTABLE = "std::marker::StructuralPartialEq"


def is_open(item: Json) -> bool:
    """Whether a new version can add members without breaking a program."""
    return "non_exhaustive" in item["attrs"]


def mark(item: Json) -> str:
    """The start of the line of an item that is open."""
    return "#[non_exhaustive] " if is_open(item) else ""


class Items:
    """The lines of one crate."""

    def __init__(self, library: Library, crate: Crate) -> None:
        self.library, self.crate = library, crate
        self.write = Signatures(library, crate)

    def lines(self) -> Iterator[Line]:
        """All of them."""
        for path, item, others in self.crate.homes():
            for line in self.item(path, item):
                yield path, line
            for other in others:
                yield other, f"use {other} = {path}"
        for path, used in self.crate.others.items():
            yield path, f"use {path} = {self.library.name(self.crate, used['id'], used['source'])}"
        for item in self.crate.data["index"].values():
            if "impl" in item["inner"] and item["crate_id"] == 0:
                yield from self.implementation(item["inner"]["impl"])

    def item(self, path: str, item: Json) -> Iterator[str]:
        """The lines of an item, without its implementations."""
        what, inner = kind(item)
        write = self.write
        match what:
            case "module":
                yield f"mod {path}"
            case "function":
                yield write.function(path, inner)
            case "constant":
                yield f"const {path}: {write.type(inner['type'])}"
            case "static":
                yield f"static {'mut ' if inner['is_mutable'] else ''}{path}: {write.type(inner['type'])}"
            case "macro":
                yield f"macro {path}!"
            case "type_alias":
                generics = inner["generics"]
                start = f"type {path}{write.parameters(generics['params'])}"
                yield f"{start} = {write.type(inner['type'])}{write.where(generics)}"
            case "struct" | "union":
                yield from self.structure(
                    f"{what} {path}", path, item, inner.get("kind", inner), inner["generics"]
                )
            case "enum":
                yield from self.enumeration(path, item, inner)
            case "variant":
                yield from self.variant(path, item, inner)
            case "trait":
                yield from self.trait(path, inner)
            case _:
                raise ValueError(f"{path} is of an unknown kind: {what}")

    def structure(self, start: str, path: str, item: Json, has: Json, generics: Json | None) -> Iterator[str]:
        """A struct, or a variant with its fields."""
        start = f"{mark(item)}{start}{self.write.parameters(generics['params']) if generics else ''}"
        where = self.write.where(generics) if generics else ""
        if has == "unit" or has == "plain":
            yield f"{start}{where}"
            return
        numbers = has.get("tuple")
        if numbers is None:
            has = has.get("plain", has.get("struct", has))
            numbers, private = has["fields"], has["has_stripped_fields"]
            opening, closing = " { ", " }"
        else:
            private = None in numbers
            opening, closing = "(", ")"
        fields = [self.crate.item(number) for number in numbers if number is not None]
        names = [str(field["name"]) for field in fields if field is not None]
        whole = not (private or None in fields or is_open(item))
        if whole and opening == "(":
            yield f"{start}({self.write.types([kind(field)[1] for field in fields])}){where}"
            return
        yield f"{start}{opening}{', '.join(sorted(names)) if whole else '..'}{closing}{where}"
        for field in fields:
            if field is not None:
                yield f"field {path}.{field['name']}: {self.write.type(kind(field)[1])}"

    def enumeration(self, path: str, item: Json, inner: Json) -> Iterator[str]:
        """An enum and its variants."""
        variants = [self.crate.item(number) for number in inner["variants"]]
        known = [each for each in variants if each is not None]
        names = sorted(each["name"] for each in known)
        hidden = inner["has_stripped_variants"] or is_open(item)
        generics = inner["generics"]
        start = f"{mark(item)}enum {path}{self.write.parameters(generics['params'])}"
        yield f"{start} {{ {'..' if hidden else ', '.join(names)} }}{self.write.where(generics)}"
        for each in known:
            yield from self.variant(f"{path}::{each['name']}", each, kind(each)[1])

    def variant(self, path: str, item: Json, inner: Json) -> Iterator[str]:
        """A variant, with its number if the source gives one."""
        number = f" = {inner['discriminant']['value']}" if inner["discriminant"] else ""
        for line in self.structure(f"variant {path}", path, item, inner["kind"], None):
            yield line if line.startswith("field") else f"{line}{number}"

    def trait(self, path: str, inner: Json) -> Iterator[str]:
        """A trait: its required items, and all its items."""
        write, needed, members = self.write, [], []
        for number in inner["items"]:
            item = self.crate.item(number)
            if item is None:
                continue
            what, has = kind(item)
            name = f"{path}::{item['name']}"
            if what == "function":
                members.append(write.function(name, has))
                optional = has["has_body"]
            elif what == "assoc_const":
                members.append(f"const {name}: {write.type(has['type'])}")
                optional = has["value"] is not None
            else:
                bounds = f": {write.bounds(has['bounds'])}" if has["bounds"] else ""
                members.append(f"type {name}{write.parameters(has['generics']['params'])}{bounds}")
                optional = has["type"] is not None
            if not optional:
                needed.append(item["name"])
        above = write.bounds(inner["bounds"])
        shown = ".." if "_::" in above else ", ".join(sorted(needed))
        words = "unsafe trait" if inner["is_unsafe"] else "trait"
        generics = inner["generics"]
        start = f"{words} {path}{write.parameters(generics['params'])}{f': {above}' if above else ''}"
        yield f"{start} {{ {shown} }}{write.where(generics)}".replace("{  }", "{}")
        yield from members

    def implementation(self, inner: Json) -> Iterator[Line]:
        """The methods of a type, or a trait that it implements. Omits the blanket implementations of std."""
        if inner["blanket_impl"]:
            return
        write, generics = self.write, inner["generics"]
        owner = write.type(inner["for"])
        trait = inner["trait"] and write.path(inner["trait"])
        if "_::" in owner or (trait and "_::" in trait):
            return
        members = [self.crate.item(number) for number in inner["items"]]
        known = [each for each in members if each is not None]
        if trait is None:
            for item in known:
                what, has = kind(item)
                path = f"{owner}::{item['name']}"
                around = {"where_predicates": [*self.conditions(generics), *generics["where_predicates"]]}
                if what == "function":
                    yield path, write.function(path, has, around)
                else:
                    yield path, f"const {path}: {write.type(has['type'])}{write.where(around)}"
            return
        if trait == UNSTABLE or inner["is_negative"] or (inner["is_synthetic"] and trait not in AUTOMATIC):
            return
        start = f"{'unsafe ' if inner['is_unsafe'] else ''}impl{write.parameters(generics['params'])}"
        yield owner, f"{start} {trait} for {owner}{write.where(generics)}"
        for item in known:
            what, has = kind(item)
            if what == "assoc_type":
                declared = f"{item['name']}{write.parameters(has['generics']['params'])}"
                yield owner, f"type <{owner} as {trait}>::{declared} = {write.type(has['type'])}"

    @staticmethod
    def conditions(generics: Json) -> Iterator[Json]:
        """The bounds of an `impl`'s parameters, as conditions of its methods."""
        for each in generics["params"]:
            bounds = each["kind"].get("type", {}).get("bounds")
            if bounds:
                yield {
                    "bound_predicate": {
                        "type": {"generic": each["name"]},
                        "bounds": bounds,
                        "generic_params": [],
                    }
                }


def manifests(manifest: Path, asked: dict[str, list[str]], library: Library) -> Iterator[Line]:
    """The features for programs, the features that each turns on, and the crates whose items are in our API.

    A program must use the same major version of such a crate, so the line has the version.
    """
    command = [
        "cargo",
        "metadata",
        "--locked",
        "--no-deps",
        "--format-version=1",
        f"--manifest-path={manifest}",
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    for package in json.loads(done.stdout)["packages"]:
        name, known = package["name"], package["features"]
        if name not in asked:
            continue
        for feature in asked[name]:
            for line in (feature, *(f"{feature} = {each}" for each in known[feature] if each in known)):
                yield f"{name}/{line}", f"feature {name}/{line}"
        shown = library.foreign[name.replace("-", "_")]
        for each in package["dependencies"]:
            crate = each["name"].replace("-", "_")
            # The items of serde are defined in serde_core.
            if each["kind"] is None and not shown.isdisjoint((crate, f"{crate}_core")):
                yield f"{name}/{each['name']}", f"crate {name}/{each['name']} {major(each['req'])}"


def major(requirement: str) -> str:
    """The part of a version that all compatible versions share."""
    numbers = re.findall(r"\d+", requirement)
    return ".".join(numbers[: 1 if numbers[0] != "0" else 2])


def listed(manifest: Path, crates: dict[str, list[str]], target: Path) -> list[str]:
    """The API of the crates of a workspace."""
    data = [checked(documented(manifest, name, crates, target)) for name in crates]
    library = Library([Crate(each) for each in data])
    found = {line for crate in library.crates for line in Items(library, crate).lines()}
    return [line for _, line in sorted(found | set(manifests(manifest, crates, library)))]


def lines() -> list[str]:
    """All that a program in Rust can use."""
    return listed(ROOT / "Cargo.toml", CRATES, TARGET)
