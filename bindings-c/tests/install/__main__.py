#!/usr/bin/env python3
"""Installs a build, moves it, uses it like a user's program, and uninstalls it: install BUILD.

If BUILD is the archive of a release, the tests unpack it and use it. The last line has the number of tests
that passed.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

from programs import cmake_programs, pkg_config_programs, readme_programs
from tree import HERE, PREFIX, ROOT, VERSION, Tree, files, make, run

CXX = ["c++", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers"]
CC = ["cc", "-std=c99", "-D_POSIX_C_SOURCE=200809L", "-pedantic-errors", "-Wall", "-Wextra", "-Werror"]
#: The compilers of all languages that the headers support.
LANGUAGES = {"c99": CC} | {f"c++{year}": [*CXX, f"-std=c++{year}", "-x", "c++"] for year in (11, 14, 17, 20)}


def nothing_built_is_an_error(tree: Tree) -> None:
    """If nothing was built, `make install` fails, and installs nothing."""
    for built in ([], [f"lib/libfencepost.so.{VERSION}"]):
        empty = tree.scratch / f"built-{len(built)}"
        for name in built:
            (empty / name).parent.mkdir(parents=True)
            (empty / name).touch()
        destination = tree.scratch / "never"
        ended = make("install", f"BUILD={empty}", f"DESTDIR={destination}")
        assert ended.returncode != 0
        assert "nothing to install" in ended.stdout, ended.stdout
        assert "Run `make` first" in ended.stdout, ended.stdout
        assert not destination.exists()


def install_copies_what_was_built(tree: Tree) -> None:
    """`make install` needs no compiler. The test then moves the tree."""
    staged = tree.scratch / "staged"
    ended = tree.install(staged)
    assert ended.returncode == 0, ended.stdout
    assert "ldconfig" in ended.stdout
    assert "-rpath" in ended.stdout
    (staged / PREFIX[1:]).rename(tree.prefix)
    has_all_files(tree)


def a_release_is_unpacked(tree: Tree) -> None:
    """An archive may be unpacked anywhere. It also has the licences of its dependencies."""
    tree.unpack()
    has_all_files(tree)
    assert {f"share/doc/fencepost/{name}" for name in ("THIRD-PARTY.txt", "README.md")} <= files(tree.prefix)


def has_all_files(tree: Tree) -> None:
    """Each library has its archive, the names of its shared library, and its package."""
    there = files(tree.prefix)
    assert {
        "share/doc/fencepost/LICENSE",
        "include/fencepost.h",
        "share/man/man3/fencepost_acquire.3",
    } <= there
    assert {"fencepost", "fencepost-client", "fencepost-zookeeper", "fencepost-redis"} <= set(
        tree.libraries()
    )
    for library in tree.libraries():
        assert {
            f"lib/lib{library}.a",
            f"lib/lib{library}.so.{VERSION}",
            f"lib/pkgconfig/{library}.pc",
        } <= there
        assert os.readlink(tree.lib / f"lib{library}.so") == f"lib{library}.so.0"
        assert os.readlink(tree.lib / f"lib{library}.so.0") == f"lib{library}.so.{VERSION}"


def libraries_are_stripped_and_versioned(tree: Tree) -> None:
    """Libraries export only public names, with a version, and have no debugging information."""
    for library in tree.libraries():
        shared = tree.lib / f"lib{library}.so.{VERSION}"
        dynamic = run("readelf", "--dynamic", "--wide", shared)
        assert f"soname: [lib{library}.so.0]" in dynamic
        assert set(re.findall(r"R(?:UN)?PATH\).*\[(.*)\]", dynamic)) <= {"$ORIGIN"}, dynamic
        symbols = run("readelf", "--dyn-syms", "--wide", shared)
        rows = [line.split() for line in symbols.splitlines() if re.match(r" *\d+:", line)]
        defined = {row[7] for row in rows if row[4] != "LOCAL" and row[6] not in ("UND", "ABS")}
        assert defined, symbols
        assert all(re.fullmatch(r"fencepost_\w+@@FENCEPOST_0", name) for name in defined), defined
        assert ".symtab" not in run("readelf", "--sections", "--wide", shared)
        assert ".debug_" not in run("readelf", "--sections", "--wide", tree.lib / f"lib{library}.a")


def nothing_names_the_folder_of_the_sources(tree: Tree) -> None:
    """Nor the folder of the first installation: the tree may be moved."""
    for pattern in ("lib/pkgconfig/*", "lib/cmake/*/*", "include/*", "share/man/man3/*"):
        for path in tree.prefix.glob(pattern):
            for place in (str(ROOT), PREFIX, str(tree.scratch)):
                assert place not in path.read_text(), f"{path} has {place}"


def headers_are_clean(tree: Tree) -> None:
    """Each header compiles alone, in each language."""
    headers = sorted(path.name for path in (tree.prefix / "include").glob("*.h"))
    assert len(headers) == 9
    for compiler in LANGUAGES.values():
        for header in headers:
            source = tree.scratch / "header.c"
            source.write_text(f"#include <{header}>\nint main(void) {{ return 0; }}\n")
            flags = tree.pkg_config("--cflags", "fencepost-zookeeper")
            run(*compiler, *flags, "-fsyntax-only", source)


def every_macro_works(tree: Tree) -> None:
    """The test uses every macro, in each language."""
    source = HERE / "macros.c"
    flags = tree.pkg_config("--cflags", "--libs", "fencepost-zookeeper", "fencepost-redis")
    defined = run(*CC, *tree.pkg_config("--cflags", "fencepost-zookeeper"), "-dM", "-E", source)
    macros = set(re.findall(r"^#define (FENCEPOST_\w+)", defined, re.MULTILINE))
    assert "FENCEPOST_OPTIONS" in macros
    assert {
        name for name in macros - set(re.findall(r"\w+", source.read_text())) if not name.endswith("_H")
    } == set()
    for language, compiler in LANGUAGES.items():
        program = tree.scratch / "macros"
        run(*compiler, source, "-x", "none", "-o", program, *flags, f"-Wl,-rpath,{tree.lib}")
        assert run(program) == "all macros are right\n", language


def man_pages_are_right(tree: Tree) -> None:
    """Each function has a page, without warnings."""
    pages = sorted((tree.prefix / "share/man/man3").glob("*.3"))
    headers = "".join(path.read_text() for path in (tree.prefix / "include").glob("*.h"))
    declared = set(re.findall(r"\bfencepost_\w+(?=\()", headers))
    assert declared == {page.stem for page in pages if "_" in page.stem}
    assert run("groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-z", *pages) == ""


def another_folder_for_libraries(tree: Tree) -> None:
    """LIBDIR as in distributions: the flags still name the folder of the headers."""
    staged = tree.scratch / "multiarch"
    libdir = f"{PREFIX}/lib/x86_64-linux-gnu"
    assert tree.install(staged, f"LIBDIR={libdir}", "STRIP=").returncode == 0
    flags = run("pkg-config", "--cflags", "fencepost", PKG_CONFIG_PATH=f"{staged}{libdir}/pkgconfig")
    (include,) = shlex.split(flags)
    assert Path(include[2:]).resolve() == staged / PREFIX[1:] / "include"
    assert ".symtab" in run("readelf", "--sections", f"{staged}{libdir}/libfencepost-client.so")
    ended = make("uninstall", f"DESTDIR={staged}", f"PREFIX={PREFIX}", f"LIBDIR={libdir}")
    assert ended.returncode == 0, ended.stdout
    assert files(staged) == set()


def uninstall_leaves_nothing(tree: Tree) -> None:
    """Except for files of other packages."""
    others = {"include/other.h", "lib/libother.so", "lib/libfencepost-mine.so", "share/man/man3/other.3"}
    for name in others:
        (tree.prefix / name).touch()
    ended = make("uninstall", f"BUILD={tree.scratch / 'cleaned'}", f"PREFIX={tree.prefix}")
    assert ended.returncode == 0, ended.stdout
    assert files(tree.prefix) == others
    assert [path for path in tree.prefix.rglob("fencepost*") if path.is_dir()] == []
    assert make("uninstall", f"PREFIX={tree.prefix}").returncode == 0, "a second time"


Tests = list[Callable[[Tree], None]]
USED: Tests = [
    libraries_are_stripped_and_versioned,
    nothing_names_the_folder_of_the_sources,
    headers_are_clean,
    every_macro_works,
    man_pages_are_right,
    readme_programs,
    pkg_config_programs,
    cmake_programs,
]
BUILT: Tests = [
    nothing_built_is_an_error,
    install_copies_what_was_built,
    *USED,
    another_folder_for_libraries,
    uninstall_leaves_nothing,
]
RELEASED: Tests = [a_release_is_unpacked, *USED]


def main() -> int:
    """Runs the tests in their order: each one uses the files that the previous one left."""
    failed = 0
    with tempfile.TemporaryDirectory(prefix="fencepost-install-") as scratch:
        tree = Tree(Path(sys.argv[1]).resolve(), Path(scratch).resolve())
        tests = RELEASED if tree.is_release else BUILT
        for test in tests:
            try:
                test(tree)
                print(f"ok     {test.__name__}", flush=True)
            except Exception:
                failed += 1
                print(f"FAILED {test.__name__}\n{traceback.format_exc()}", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
