"""Ports of this machine for programs that can't choose one themselves."""

import random
import socket

LOWEST, HIGHEST = 20_000, 32_000
"""Below those that connections take for themselves: one of these would be gone before the program listens at it."""
_TRIES = 100


def free_port() -> int:
    """A port that nobody listens at. Raises OSError where none was found."""
    for _ in range(_TRIES):
        port = random.SystemRandom().randint(LOWEST, HIGHEST)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError(f"no port from {LOWEST} to {HIGHEST} is free")
