"""Connection pools whose connections read more bytes at once than Python's do by default."""

from http.client import HTTPResponse
from typing import Any

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

BUFFER = 64 * 1024
"""The bytes that are read at once. By default these are 8 kB, or 128 kB from Python 3.14 on.

A thread that reads from a connection releases the interpreter, and waits for it again while a pass runs. With 8 kB it
would get it back for two changed pods at a time, and fall behind.
"""


class _Response(HTTPResponse):
    def __init__(self, sock: Any, *args: Any, **settings: Any) -> None:
        super().__init__(sock, *args, **settings)
        small, self.fp = self.fp, sock.makefile("rb", BUFFER)
        small.close()  # nothing was read from it


class _HttpConnection(HTTPConnection):
    response_class = _Response


class _HttpsConnection(HTTPSConnection):
    response_class = _Response


class _HttpPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _HttpConnection


class _HttpsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _HttpsConnection


def with_large_buffers(manager: urllib3.PoolManager) -> urllib3.PoolManager:
    """Return the manager, set to open connections that read ``BUFFER`` bytes at once."""
    manager.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}
    return manager
