// Prints the public API in TypeScript: each name of each subpath, one member a line, without comments.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import ts from "typescript";

const here = fileURLToPath(new URL("..", import.meta.url));
const { exports } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
const entries = Object.entries(exports)
  .map(([subpath, { types }]) => [`fencepost${subpath.slice(1)}`, types?.require ?? types])
  .filter(([, types]) => types !== undefined)
  .map(([name, types]) => [name, join(here, types)]);

const program = ts.createProgram(
  entries.map(([, path]) => path),
  { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.Node16, strict: true, types: ["node"] },
);
const checker = program.getTypeChecker();
const printer = ts.createPrinter({ removeComments: true, omitTrailingSemicolon: true });
const line = (text) => text.replace(/\s+/g, " ").trim();
const print = (node) => line(printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile()));
const isPrivate = (node) =>
  (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Private) !== 0 || ts.isPrivateIdentifier(node.name ?? node);

/** The lines of a declaration. */
function* lines(path, node) {
  if (ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node)) {
    const heritage = (node.heritageClauses ?? []).map(print).join(" ");
    const parameters = (node.typeParameters ?? []).map(print).join(", ");
    const kind = ts.isClassDeclaration(node) ? "class" : "interface";
    yield line(`${kind} ${path}${parameters && `<${parameters}>`} ${heritage}`);
    for (const member of node.members.filter((member) => !isPrivate(member))) {
      yield `${path}: ${print(member)}`;
    }
  } else {
    const shown = ts.isVariableDeclaration(node) ? `const ${print(node)}` : print(node);
    yield `${path}: ${shown.replace(/^export /, "").replace(/^declare /, "")}`;
  }
}

const found = new Set();
/** The place where each symbol is printed in full: the first subpath that exports it. */
const described = new Map();
for (const [name, path] of entries) {
  const module = checker.getSymbolAtLocation(program.getSourceFile(path));
  for (const exported of module === undefined ? [] : checker.getExportsOfModule(module)) {
    const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
    const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
    const own = `${name} ${exported.name}`;
    const first = described.get(symbol) ?? own;
    described.set(symbol, first);
    for (const each of first === own
      ? symbol.declarations.flatMap((node) => [...lines(own, node)])
      : [`${own} = ${first}`]) {
      found.add(each);
    }
  }
}
console.log([...found].sort().join("\n"));
