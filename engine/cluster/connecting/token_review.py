"""Identifies the owner of a token by a TokenReview of the API server that issued it."""

from dataclasses import dataclass

import msgspec

from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.credentials import ConnectionSettings
from engine.cluster.connecting.identity import LIMIT_S, api_error, run_with_timeout, unreachable_error
from engine.cluster.errors import ApiFailure, ConnectionFailure
from engine.cluster.inspection.rights import REVIEWING
from engine.formats.undecodable import UNDECODABLE

_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"


@dataclass(frozen=True)
class Bearer:
    """The owner of a token."""

    username: str
    groups: tuple[str, ...]


class _User(msgspec.Struct, frozen=True):
    username: str = ""
    groups: tuple[str, ...] = ()


class _Status(msgspec.Struct, frozen=True):
    authenticated: bool = False
    user: _User = _User()
    audiences: tuple[str, ...] = ()


class _Review(msgspec.Struct, frozen=True):
    status: _Status = _Status()


def review(
    settings: ConnectionSettings, token: str, audiences: tuple[str, ...], *, limit_s: float = LIMIT_S
) -> Bearer | None:
    """Return the owner of a token; None where the cluster did not issue it, or not for one of these audiences.

    Raises ClusterError, never later than after ``limit_s`` seconds; no error contains the token.
    """

    def work() -> Bearer | None:
        connection = Connection(settings)
        body = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token, "audiences": list(audiences)},
        }
        try:
            answer = connection.request("POST", _REVIEWS, body=body).body
            status = msgspec.json.decode(answer, type=_Review).status
        except ApiFailure as error:
            raise api_error(connection, error, str(REVIEWING[0])) from None
        except ConnectionFailure as error:
            raise unreachable_error(connection, error) from None
        except UNDECODABLE:
            failure = ConnectionFailure("the response of the API server can't be read")
            raise unreachable_error(connection, failure) from None
        # An API server without support for audiences returns none: then the token may be meant for any service.
        if not status.authenticated or not status.user.username or set(audiences).isdisjoint(status.audiences):
            return None
        return Bearer(status.user.username, status.user.groups)

    return run_with_timeout(work, limit_s)
