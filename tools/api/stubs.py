"""The API of the Python package: the public names of its public modules, with their signatures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import griffe

ROOT = Path(__file__).resolve().parents[2]


#: Only this module of the drivers is for programs.
INTERNAL, EXCEPT = "fencepost.drivers", "fencepost.drivers.kazoo_handler"


def parameters(function: griffe.Function) -> str:
    """A function's parameters, as they are written."""
    shown: list[str] = []
    kinds = griffe.ParameterKind
    before = None
    for each in function.parameters:
        if before == kinds.positional_only and each.kind != kinds.positional_only:
            shown.append("/")
        if each.kind == kinds.keyword_only and before not in (kinds.keyword_only, kinds.var_positional):
            shown.append("*")
        star = {kinds.var_positional: "*", kinds.var_keyword: "**"}.get(each.kind, "")
        typed = f": {each.annotation}" if each.annotation is not None else ""
        default = f" = {each.default}" if each.default is not None and not star else ""
        shown.append(f"{star}{each.name}{typed}{default}")
        before = each.kind
    return ", ".join(shown)


def is_internal(function: griffe.Function, offered: set[str]) -> bool:
    """Whether a constructor needs an argument that programs cannot make themselves."""
    for each in function.parameters:
        if isinstance(each.annotation, griffe.Expr):
            for part in each.annotation.iterate():
                path = part.canonical_path if isinstance(part, griffe.ExprName) else ""
                if path.startswith("fencepost.") and path not in offered:
                    return True
    return False


def items(path: str, thing: griffe.Object | griffe.Alias, offered: set[str]) -> Iterator[str]:
    """The lines of a name, and of the public members of a class."""
    if isinstance(thing, griffe.Alias):
        if not thing.target_path.startswith("fencepost."):
            yield f"{path} = {thing.target_path}"
            return
        thing = thing.final_target
    if isinstance(thing, griffe.Function):
        if thing.name == "__init__" and is_internal(thing, offered):
            return
        for each in thing.overloads or [thing]:
            yield f"{path}({parameters(each)}) -> {each.returns}"
    elif isinstance(thing, griffe.Attribute):
        yield f"{path}: {thing.annotation}" if thing.annotation is not None else path
    elif isinstance(thing, griffe.Class):
        bases = ", ".join(str(base) for base in thing.bases)
        yield f"class {path}({bases})" if bases else f"class {path}"
        for name, member in thing.all_members.items():
            if not name.startswith("_") or name == "__init__":
                yield from items(f"{path}.{name}", member, offered)


def public(module: griffe.Module) -> Iterator[griffe.Module]:
    """A module, and its submodules without an underscore."""
    if not module.path.startswith(INTERNAL) or module.path == EXCEPT:
        yield module
    for name, below in module.modules.items():
        if not name.startswith("_"):
            yield from public(below)


def own(module: griffe.Module) -> list[str]:
    """The names that a module offers."""
    if module.exports is not None:
        return [str(name) for name in module.exports if str(name) not in module.modules]
    return [
        name
        for name, each in module.members.items()
        if not (each.is_alias or each.is_module or name[0] == "_")
    ]


def modules() -> list[griffe.Module]:
    """The public modules."""
    package = griffe.load("fencepost", search_paths=[ROOT / "bindings-py" / "python"], resolve_aliases=True)
    assert isinstance(package, griffe.Module)
    return list(public(package))


def lines() -> list[str]:
    """All that a program in Python can use."""
    names = {f"{module.path}.{name}": module[name] for module in modules() for name in own(module)}
    offered = {thing.canonical_path for thing in names.values()}
    found = {line for path, thing in names.items() for line in items(path, thing, offered)}
    return sorted(found)
