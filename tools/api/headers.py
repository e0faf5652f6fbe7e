"""The declarations of the C headers: functions, types with the position of each member, and macros."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "bindings-c" / "include"
#: Not listed, because it changes with each release.
VERSION = "FENCEPOST_VERSION"


def own_lines() -> list[str]:
    """The lines of fencepost's headers after the preprocessor, with the definitions of macros."""
    program = "".join(f"#include <{path.name}>\n" for path in sorted(INCLUDE.glob("*.h")))
    command = ["cc", "-std=c99", "-DTHREADED", "-E", "-dD", "-x", "c", f"-I{INCLUDE}", "-"]
    text = subprocess.run(command, input=program, capture_output=True, text=True, check=True).stdout
    lines, ours = [], False
    for line in text.splitlines():
        marker = re.match(r'# \d+ "(.*?)"', line)
        if marker:
            ours = Path(marker[1]).parent == INCLUDE
        elif ours and line.strip():
            lines.append(line)
    return lines


def declarations(text: str, separator: str) -> Iterator[str]:
    """The parts of a text between separators outside of brackets."""
    depth, part = 0, ""
    for character in text:
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(character, 0)
        if character == separator and depth == 0:
            yield part.strip()
            part = ""
        else:
            part += character
    if part.strip():
        yield part.strip()


def enumerators(body: str) -> Iterator[str]:
    """The constants of an enumeration, with their values."""
    value = -1
    for constant in declarations(body, ","):
        name, _, given = constant.partition(" = ")
        value = int(given, 0) if given else value + 1
        yield f"{name} = {value}"


def without_names(declaration: str) -> str:
    """A function without the names of its parameters, which programs cannot use."""
    function = re.fullmatch(r"(.*\bfencepost_\w+)\((.*)\)", declaration)
    if function is None:
        return declaration
    given = [
        each if "(" in each else re.sub(r"(?<=[ *])\w+$", "", each).strip()
        for each in declarations(function[2], ",")
    ]
    return f"{function[1]}({', '.join(given)})"


def items(declaration: str) -> Iterator[str]:
    """The lines of a declaration: one for each member of a type, with its position as a number."""
    body = re.fullmatch(r"(?:typedef )?(enum|struct) (\w+) \{(.*)\} ?\w*", declaration)
    if body is None:
        yield without_names(declaration)
    elif body[1] == "enum":
        yield from (f"enum {body[2]}: {each}" for each in enumerators(body[3]))
    else:
        members = declarations(body[3], ";")
        yield from (f"struct {body[2]} {place}: {each}" for place, each in enumerate(members, 1))


def lines() -> list[str]:
    """All that a program in C can use."""
    code = own_lines()
    macros = [re.sub(r"^#define ", "macro ", line) for line in code if line.startswith("#define FENCEPOST_")]
    found = [macro for macro in macros if not re.match(rf"macro (\w+_H|{VERSION})\b", macro)]
    text = re.sub(r"\s+", " ", " ".join(line for line in code if not line.startswith("#")))
    for declaration in declarations(text, ";"):
        found.extend(items(declaration))
    return sorted(found)
