"""Real ZooKeeper and Redis servers for tests. See README.md."""

from __future__ import annotations

import argparse
import sys

from fleet import jars, packages
from fleet.client import do
from fleet.fleet import Settings
from fleet.run import complain, run


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="python3 tests/servers", description=__doc__)
    commands = top.add_subparsers(dest="action", required=True)

    start = commands.add_parser(
        "run",
        help="start servers, run a command with their addresses in its environment, and remove everything",
        usage="%(prog)s [options] [-- CMD ARGS...]",
        description="Without --zookeeper, --ensemble, --redis, --redis-password and --redis-tls, starts all. "
        "Without CMD, prints the addresses as JSON and runs until SIGTERM, SIGINT or the end of its input.",
    )
    start.add_argument("--zookeeper", action="store_true", help="a single ZooKeeper")
    start.add_argument("--ensemble", action="store_true", help="a ZooKeeper ensemble of three")
    start.add_argument(
        "--zookeeper-version",
        choices=[*jars.VERSIONS, *jars.OLD],
        default=jars.DEBIAN,
        help="the version of all ZooKeepers (3.8)",
    )
    start.add_argument(
        "--namespaces",
        action="store_true",
        help="each member of the ensemble in its own network namespace",
    )
    start.add_argument("--redis", type=count, metavar="N", help="N Redis servers (default: 2)")
    start.add_argument("--redis-password", action="store_true", help="a Redis that requires a password")
    start.add_argument("--redis-tls", action="store_true", help="a Redis with TLS that requires a password")
    start.add_argument(
        "--optimise",
        action="store_true",
        help="use the JVM's optimising compiler, for benchmarks",
    )
    start.add_argument(
        "--tick", type=count, default=50, metavar="MS", help="ZooKeeper's tickTime (default: 50)"
    )

    client = commands.add_parser("do", help="send one command to the servers of a run (FENCEPOST_SERVERS)")
    client.add_argument("verb", help="for example: list")
    client.add_argument("arguments", nargs=argparse.REMAINDER)

    commands.add_parser("install", help="install the Debian packages that are missing (as root)")
    return top


def count(text: str) -> int:
    """A positive number."""
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"not a positive number: {text!r}")
    return int(text)


def wanted(options: argparse.Namespace) -> Settings:
    """The servers that the options select."""
    redis = options.redis or options.redis_password or options.redis_tls
    if not (options.zookeeper or options.ensemble or redis):
        return Settings(
            tick_ms=options.tick,
            zookeeper_version=options.zookeeper_version,
            optimise=options.optimise,
            namespaces=options.namespaces,
        )
    return Settings(
        zookeeper=options.zookeeper,
        ensemble=options.ensemble or options.namespaces,
        redis=options.redis or 0,
        redis_password=options.redis_password,
        redis_tls=options.redis_tls,
        tick_ms=options.tick,
        zookeeper_version=options.zookeeper_version,
        optimise=options.optimise,
        namespaces=options.namespaces,
    )


def split_command(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The script's arguments, and the command after the first `--`."""
    if "--" not in arguments:
        return arguments, []
    where = arguments.index("--")
    return arguments[:where], arguments[where + 1 :]


def main(arguments: list[str]) -> int:
    """Runs the command line, and returns the exit code."""
    ours, command = split_command(arguments)
    options = parser().parse_args(ours)
    if options.action == "run":
        return run(wanted(options), command)
    if options.action == "do":
        return do([options.verb, *options.arguments])
    try:
        packages.ensure([packages.REDIS, packages.OPENSSL, packages.ZOOKEEPER])
    except packages.MissingPackage as error:
        return complain(str(error), 1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
