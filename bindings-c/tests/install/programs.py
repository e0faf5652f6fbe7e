"""Programs that are built against the installed tree, by pkg-config and by CMake, shared and static."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

from tree import SOURCES, VERSION, Tree, readme_blocks, run, shop, tried

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
#: The examples that need no server, with a part of the output of each.
EXAMPLES = {
    "blocking": "under fence",
    "contenders": "under fence",
    "poll_loop": "under fence",
    "read_write": "under fence",
    "stock": "",
    "withdraw": "",
}
#: The examples that need a server.
OTHERS = {"hub"}


def examples() -> dict[str, Path]:
    """The examples that these tests run, by their names."""
    found = {path.stem: path for path in (SOURCES / "examples").glob("*.c")}
    assert set(found) == set(EXAMPLES) | OTHERS
    return {name: found[name] for name in sorted(EXAMPLES)}


def packages(example: Path) -> list[str]:
    """The packages that an example's comment names."""
    (named,) = re.findall(r"pkg-config --cflags --libs ([a-z -]+)\)", example.read_text())
    return str(named).split()


def servers() -> dict[str, str]:
    """The addresses of the test servers, by the names of their libraries."""
    given = {"redis": ("redis", "FENCEPOST_REDIS"), "zookeeper": ("zk", "FENCEPOST_ZOOKEEPER")}
    found = {
        name: f"{scheme}://{os.environ[server]}"
        for name, (scheme, server) in given.items()
        if server in os.environ
    }
    if "zookeeper" in found:
        found["zookeeper-st"] = found["zookeeper"]
    return found


def works(tree: Tree, program: Path, *, static: bool) -> None:
    """Runs an example, with the libraries of the tree or with none, and checks its output."""
    needed = run("readelf", "--dynamic", program)
    assert ("libfencepost" in needed) != static, needed
    if not static:
        assert "FENCEPOST_0" in run("readelf", "--version-info", program)
    assert EXAMPLES.get(program.name.removeprefix("static-"), "under fence") in run(program, cwd=tree.scratch)


def readme_programs(tree: Tree) -> None:
    """The README's commands compile its first program."""
    commands = [
        line
        for block in readme_blocks("sh")
        for line in block.splitlines()
        if line.startswith("cc ") and "pkg-config" in line
    ]
    assert len(commands) == 3, commands
    folder = tree.scratch / "readme"
    folder.mkdir()
    for command in commands:
        for url, code, said in (
            ("memory:", 0, "sold under fence"),
            ("redis://127.0.0.1:1", 1, "not sold: unreachable"),
        ):
            (folder / "shop.c").write_text(shop(url))
            prefix = tree.static_archives() if "--static" in command else tree.prefix
            run("sh", "-ec", command, cwd=folder, PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig"))
            unfound = tried("./shop", cwd=folder, LD_LIBRARY_PATH="")
            if "rpath" in command or "--static" in command:
                assert "loading shared libraries" not in unfound.stdout
            else:
                assert "error while loading shared libraries" in unfound.stdout
            ended = tried("./shop", cwd=folder, LD_LIBRARY_PATH=str(tree.lib))
            assert (ended.returncode, said in ended.stdout) == (code, True), ended.stdout


def pkg_config_programs(tree: Tree) -> None:
    """All examples work, and so does a static program for each library, on its server if there is one."""
    folder = tree.scratch / "pkg-config"
    folder.mkdir()
    for name, source in examples().items():
        flags = tree.pkg_config("--cflags", "--libs", *packages(source))
        run("cc", *STRICT, source, "-o", folder / name, *flags, f"-Wl,-rpath,{tree.lib}")
        works(tree, folder / name, static=False)
    archives = tree.static_archives()
    for library in tree.libraries():
        if library in ("fencepost", "fencepost-redis-tls"):
            continue
        program = folder / f"static-{library}"
        flags_text = run(
            "pkg-config",
            "--static",
            "--cflags",
            "--libs",
            library,
            PKG_CONFIG_PATH=str(archives / "lib/pkgconfig"),
        )
        run("cc", *STRICT, examples()["blocking"], "-o", program, *shlex.split(flags_text))
        works(tree, program, static=True)
        url = servers().get(library.removeprefix("fencepost-"))
        assert url is None or "under fence" in run(program, url, "install/static")


#: A program for each example, with the libraries and with the archives, after the README's own lines.
PROJECT = """cmake_minimum_required(VERSION 3.16)
project(shop C)
set(CMAKE_C_STANDARD 99)
{readme}
foreach(example {examples})
  add_executable(${{example}} {sources}/${{example}}.c)
  target_link_libraries(${{example}} PRIVATE fencepost::client)
  add_executable(static-${{example}} {sources}/${{example}}.c)
  target_link_libraries(static-${{example}} PRIVATE fencepost::client-static)
endforeach()
foreach(library {libraries})
  add_executable(static-${{library}} {sources}/blocking.c)
  target_link_libraries(static-${{library}} PRIVATE fencepost::${{library}}-static)
endforeach()
"""

#: CMake refuses these requests for another version or library, with these texts.
REFUSED = {
    "find_package(fencepost 9.1 REQUIRED)": f"fencepost-config.cmake, version: {VERSION}",
    "find_package(fencepost 0.1...0.2 REQUIRED COMPONENTS nats)": "has no library for the component nats",
}


def cmake_programs(tree: Tree) -> None:
    """The targets of the package work for all examples, shared and static, and in the README's lines."""
    folder = tree.scratch / "cmake"
    folder.mkdir()
    (folder / "shop.c").write_text(shop("memory:"))
    (lines,) = readme_blocks("cmake")
    libraries = [name.removeprefix("fencepost-") for name in tree.libraries() if name != "fencepost"]
    project = PROJECT.format(
        readme=lines,
        examples=" ".join(examples()),
        libraries=" ".join(set(libraries) - {"client"}),
        sources=SOURCES / "examples",
    )
    (folder / "CMakeLists.txt").write_text(project)
    build = folder / "build"
    run("cmake", "-S", folder, "-B", build, f"-DCMAKE_PREFIX_PATH={tree.prefix}")
    run("cmake", "--build", build)
    assert "sold under fence" in run(build / "shop")
    for name in examples():
        works(tree, build / name, static=False)
        works(tree, build / f"static-{name}", static=True)
    for library in set(libraries) - {"client"}:
        works(tree, build / f"static-{library}", static=True)
        url = servers().get(library)
        assert url is None or "under fence" in run(build / f"static-{library}", url, "install/static")
    for line, said in REFUSED.items():
        (folder / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.19)\nproject(shop C)\n{line}\n"
        )
        ended = tried("cmake", "-S", folder, "-B", folder / "refused", f"-DCMAKE_PREFIX_PATH={tree.prefix}")
        assert ended.returncode != 0
        assert said in " ".join(ended.stdout.split()), ended.stdout
