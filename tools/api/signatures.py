"""Types, bounds and functions as Rust text, from rustdoc's data."""

from __future__ import annotations

from dataclasses import dataclass

from rustdoc import Crate, Json, Library


@dataclass
class Signatures:
    """Writes the signatures of one crate."""

    library: Library
    crate: Crate

    def path(self, path: Json) -> str:
        """A type or trait with its arguments."""
        return self.library.name(self.crate, path["id"], path["path"]) + self.arguments(path["args"])

    def types(self, types: list[Json]) -> str:
        """Types in a list."""
        return ", ".join(self.type(each) for each in types)

    def type(self, given: Json) -> str:
        """A type."""
        if given == "infer":
            return "_"
        ((kind, inner),) = given.items()
        match kind:
            case "resolved_path":
                return self.path(inner)
            case "generic" | "primitive":
                return "!" if inner == "never" else str(inner)
            case "tuple":
                return f"({self.types(inner)}{',' if len(inner) == 1 else ''})"
            case "slice":
                return f"[{self.type(inner)}]"
            case "array":
                return f"[{self.type(inner['type'])}; {inner['len']}]"
            case "impl_trait":
                return f"impl {self.bounds(inner)}"
            case "dyn_trait":
                traits = [
                    self.forall(each["generic_params"]) + self.path(each["trait"]) for each in inner["traits"]
                ]
                return "dyn " + " + ".join(traits + ([inner["lifetime"]] if inner["lifetime"] else []))
            case "borrowed_ref":
                lifetime = f"{inner['lifetime']} " if inner["lifetime"] else ""
                several = set(inner["type"]) & {"dyn_trait", "impl_trait"} and " + " in self.type(
                    inner["type"]
                )
                to = f"({self.type(inner['type'])})" if several else self.type(inner["type"])
                return f"&{lifetime}{'mut ' if inner['is_mutable'] else ''}{to}"
            case "raw_pointer":
                return f"*{'mut' if inner['is_mutable'] else 'const'} {self.type(inner['type'])}"
            case "qualified_path":
                itself = self.type(inner["self_type"])
                trait = inner["trait"] and self.path(inner["trait"])
                start = f"<{itself} as {trait}>" if trait else itself
                return f"{start}::{inner['name']}{self.arguments(inner['args'])}"
            case "function_pointer":
                forall = self.forall(inner["generic_params"])
                return f"{forall}{self.header(inner['header'])}fn{self.call(inner['sig'])}"
        raise ValueError(f"a type of an unknown kind: {kind}")

    def arguments(self, given: Json) -> str:
        """The arguments of a path: between angle brackets, or the parameters and the result of `Fn`."""
        if given is None:
            return ""
        if "parenthesized" in given:
            inner = given["parenthesized"]
            output = f" -> {self.type(inner['output'])}" if inner["output"] else ""
            return f"({self.types(inner['inputs'])}){output}"
        inner = given["angle_bracketed"]
        shown = [self.argument(each) for each in inner["args"]]
        for each in inner["constraints"]:
            name = each["name"] + self.arguments(each["args"])
            binding = each["binding"]
            if "equality" in binding:
                shown.append(f"{name} = {self.argument(binding['equality'])}")
            else:
                shown.append(f"{name}: {self.bounds(binding['constraint'])}")
        return f"<{', '.join(shown)}>" if shown else ""

    def argument(self, given: Json) -> str:
        """A lifetime, a type or a constant."""
        if given == "infer":
            return "_"
        ((kind, inner),) = given.items()
        if kind == "type":
            return self.type(inner)
        return str(inner) if kind == "lifetime" else str(inner["expr"])

    def bounds(self, bounds: list[Json]) -> str:
        """The bounds of a type parameter."""
        shown = []
        for bound in bounds:
            ((kind, inner),) = bound.items()
            if kind == "trait_bound":
                modifier = {"none": "", "maybe": "?", "maybe_const": "~const "}[inner["modifier"]]
                shown.append(modifier + self.forall(inner["generic_params"]) + self.path(inner["trait"]))
            elif kind == "outlives":
                shown.append(inner)
            else:
                captured = ", ".join(
                    each if isinstance(each, str) else next(iter(each.values())) for each in inner
                )
                shown.append(f"use<{captured}>")
        return " + ".join(sorted(shown, key=lambda bound: (bound[0] == "'", bound)))

    def forall(self, parameters: list[Json]) -> str:
        """The `for<…>` lifetimes of a bound."""
        return f"for{self.parameters(parameters)} " if parameters else ""

    def parameters(self, parameters: list[Json]) -> str:
        """The generic parameters, with their bounds."""
        shown = []
        for each in parameters:
            ((kind, inner),) = each["kind"].items()
            if kind == "lifetime":
                shown.append(
                    each["name"] + (f": {' + '.join(inner['outlives'])}" if inner["outlives"] else "")
                )
            elif kind == "const":
                shown.append(f"const {each['name']}: {self.type(inner['type'])}")
            elif not inner["is_synthetic"]:
                bounds = f": {self.bounds(inner['bounds'])}" if inner["bounds"] else ""
                default = f" = {self.type(inner['default'])}" if inner["default"] else ""
                shown.append(each["name"] + bounds + default)
        return f"<{', '.join(shown)}>" if shown else ""

    def where(self, *generics: Json) -> str:
        """The `where` clause after a declaration."""
        shown = []
        for each in (each for given in generics for each in given["where_predicates"]):
            ((kind, inner),) = each.items()
            if kind == "bound_predicate":
                forall = self.forall(inner["generic_params"])
                shown.append(f"{forall}{self.type(inner['type'])}: {self.bounds(inner['bounds'])}")
            elif kind == "lifetime_predicate":
                shown.append(f"{inner['lifetime']}: {' + '.join(inner['outlives'])}")
            else:
                shown.append(f"{self.type(inner['lhs'])} = {self.argument(inner['rhs'])}")
        return f" where {', '.join(sorted(shown))}" if shown else ""

    @staticmethod
    def header(header: Json) -> str:
        """The keywords before `fn`."""
        abi = header["abi"]
        foreign = "" if abi == "Rust" else f'extern "{next(iter(abi)) if isinstance(abi, dict) else abi}" '
        words = [word for word in ("const", "async", "unsafe") if header[f"is_{word}"]]
        return "".join(f"{word} " for word in words) + foreign

    def call(self, signature: Json) -> str:
        """The parameters without their names, which programs cannot use, and the result."""
        shown = []
        for name, given in signature["inputs"]:
            text = self.type(given)
            if name != "self":
                shown.append(text)
            elif text == "Self" or (text.startswith("&") and text.rpartition(" ")[2].lstrip("&") == "Self"):
                shown.append(f"{text.removesuffix('Self')}self")
            else:
                shown.append(f"self: {text}")
        shown += ["..."] if signature["is_c_variadic"] else []
        output = f" -> {self.type(signature['output'])}" if signature["output"] else ""
        return f"({', '.join(shown)}){output}"

    def function(self, path: str, inner: Json, *around: Json) -> str:
        """A function or method; `around` has the parameters of its `impl`."""
        generics = inner["generics"]
        declared = self.parameters(generics["params"])
        start = f"{self.header(inner['header'])}fn {path}{declared}"
        return f"{start}{self.call(inner['sig'])}{self.where(*around, generics)}"
