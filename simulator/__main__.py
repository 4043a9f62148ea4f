"""Run a simulated cluster: `python -m simulator --manifests demo/manifests --script demo/day.yaml`."""

import argparse
import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from engine.formats.yaml.manifests import ManifestError
from simulator.api.server import AuditRecord
from simulator.cluster import SimulatedCluster
from simulator.control import FASTEST, SLOWEST
from simulator.kubeconfig import kubeconfig


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until interrupted. Returns the exit code: 0, or 1 after one sentence on what is wrong."""
    options = _parser().parse_args(arguments)
    try:
        with _audit_log(options.audit_log) as audit:
            asyncio.run(_run(options, audit))
    except (ManifestError, _StartError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


class _StartError(Exception):
    """Raised when the simulator can't start, with the reason in a sentence."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m simulator", description="Run a small simulated Kubernetes cluster."
    )
    add = parser.add_argument
    add(
        "--manifests",
        metavar="DIR",
        type=Path,
        action="append",
        default=[],
        help="Directory or file with the initial manifests. Can be repeated.",
    )
    add("--script", metavar="FILE", type=Path, help="Script of what happens in the cluster, round after round.")
    add("--host", default="127.0.0.1", help="Address to listen on. Default: %(default)s.")
    add("--port", type=int, default=0, help="Port to listen on. Default: any free port.")
    add("--kubeconfig", metavar="PATH", type=Path, help="Write a kubeconfig for the cluster to this file.")
    add("--token", help="Require this token with every request.")
    add("--seed", type=int, default=0, help="Seed of the random numbers. Default: %(default)s.")
    add(
        "--speed",
        type=_speed,
        default=1.0,
        help="Speed of the script. Grace periods are not affected. Default: %(default)s.",
    )
    add("--no-default-preemption", action="store_true", help="Turn off preemption by the simulated scheduler.")
    add("--audit-log", metavar="FILE", type=Path, help="Append one line of JSON per request to this file.")
    return parser


def _speed(text: str) -> float:
    speed = float(text)
    if not SLOWEST <= speed <= FASTEST:
        raise argparse.ArgumentTypeError(f"the speed must be from {SLOWEST} to {FASTEST:g}")
    return speed


@contextlib.contextmanager
def _audit_log(path: Path | None) -> Iterator[Callable[[AuditRecord], object] | None]:
    if path is None:
        yield None
        return
    try:
        file = path.open("ab", buffering=0)
    except OSError as error:
        raise _StartError(f"The audit log {path} cannot be written: {error.strerror}.") from error
    with file:
        yield lambda record: file.write(msgspec.json.encode(record) + b"\n")


async def _run(options: argparse.Namespace, audit: Callable[[AuditRecord], object] | None) -> None:
    cluster = SimulatedCluster(
        options.manifests,
        options.script,
        seed=options.seed,
        speed=options.speed,
        default_preemption=not options.no_default_preemption,
        token=options.token,
        audit=audit,
    )
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    try:
        await cluster.start()
        address = await _serve(cluster, options.host, options.port)
        if options.kubeconfig is not None:
            _write_kubeconfig(options.kubeconfig, kubeconfig(address, options.token))
        sys.stdout.write(f"{address}\n")
        sys.stdout.flush()
        await ended.wait()
    finally:
        await cluster.stop()


async def _serve(cluster: SimulatedCluster, host: str, port: int) -> str:
    try:
        return await cluster.serve(host, port)
    except (OSError, OverflowError) as error:
        why = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        raise _StartError(f"The simulator cannot listen on {host}:{port}: {why}.") from error


def _write_kubeconfig(path: Path, content: str) -> None:
    """Write a kubeconfig atomically, as others wait for it, and readable only by its owner: it holds the token."""
    begun = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(begun, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(content)
        begun.replace(path)
    except OSError as error:
        raise _StartError(f"The kubeconfig {path} cannot be written: {error.strerror}.") from error


if __name__ == "__main__":
    sys.exit(main())
