"""Identifies the owner of a token by a TokenReview of the API server that issued it."""

from dataclasses import dataclass

from kubernetes import client

from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.credentials import ConnectionSettings
from engine.cluster.connecting.identity import LIMIT_S, api_error, run_with_timeout, unreachable_error
from engine.cluster.connecting.kubernetes_client import KubernetesClient
from engine.cluster.errors import ApiFailure, ConnectionFailure
from engine.cluster.inspection.rights import REVIEWING


@dataclass(frozen=True)
class Bearer:
    """The owner of a token."""

    username: str
    groups: tuple[str, ...]


def review(
    settings: ConnectionSettings, token: str, audiences: tuple[str, ...], *, limit_s: float = LIMIT_S
) -> Bearer | None:
    """Return the owner of a token; None where the cluster did not issue it, or not for one of these audiences.

    Raises ClusterError, never later than after ``limit_s`` seconds; no error contains the token.
    """

    def work() -> Bearer | None:
        connection = Connection(settings)
        asked = client.V1TokenReview(
            api_version="authentication.k8s.io/v1",
            kind="TokenReview",
            spec=client.V1TokenReviewSpec(token=token, audiences=list(audiences)),
        )
        try:
            status = client.AuthenticationV1Api(KubernetesClient(connection)).create_token_review(asked).status
        except ApiFailure as error:
            raise api_error(connection, error, str(REVIEWING[0])) from None
        except ConnectionFailure as error:
            raise unreachable_error(connection, error) from None
        return _bearer(status or client.V1TokenReviewStatus(), audiences)

    return run_with_timeout(work, limit_s)


def _bearer(status: "client.V1TokenReviewStatus", audiences: tuple[str, ...]) -> Bearer | None:
    user = status.user or client.V1UserInfo()
    # An API server without support for audiences returns none: then the token may be meant for any service.
    if not status.authenticated or not user.username or set(audiences).isdisjoint(status.audiences or ()):
        return None
    return Bearer(user.username, tuple(user.groups or ()))
