"""What signs in to a cluster: told without its secrets, replaced, forgotten."""

from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_variables
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from engine.cluster.connecting.kubeconfig import LONGEST
from engine.cluster.errors import ClusterError
from engine.cluster.inspection.check import CheckLevel, CheckResult
from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.clusters import selectors
from scheduler_admin.clusters.connections.access_methods import Way
from scheduler_admin.clusters.connections.credentials import remove_credentials, set_credentials
from scheduler_admin.clusters.connections.error_messages import told, told_line
from scheduler_admin.clusters.models import Cluster, Credentials
from scheduler_admin.core import limits
from scheduler_admin.rest import problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.bodies import read_body
from scheduler_admin.rest.parameters import ReasonParameters
from scheduler_admin.worker.cluster_check import check_cluster


class ConnectionSerializer(serializers.Serializer[Any]):
    """How a cluster is reached. No secret is in it."""

    by = serializers.ChoiceField(
        ["stored", "kubeconfig", "service account"], help_text="Credentials kept here, a file, or the worker's own pod."
    )
    kubeconfig = serializers.CharField(allow_null=True, help_text="The file, where it is one.")
    context = serializers.CharField(allow_null=True)  # type: ignore[assignment]  # DRF takes fields off the class
    address = serializers.CharField(allow_null=True, help_text="Of the API server; known of what is stored.")
    kind = serializers.ChoiceField(Credentials.Kind.choices, allow_null=True, help_text="What is stored.")
    set_at = serializers.DateTimeField(allow_null=True)
    set_by = serializers.CharField(allow_null=True)
    expires_at = serializers.DateTimeField(allow_null=True, help_text="Of what is stored, if it says so.")


class GivenSerializer(serializers.Serializer[Any]):
    """Credentials: a kubeconfig, or an address with a token. Never read back."""

    kubeconfig = serializers.CharField(
        required=False, write_only=True, max_length=LONGEST, help_text="It may name neither programs nor files."
    )
    context = serializers.CharField(  # type: ignore[assignment]  # as above
        required=False, max_length=limits.CONTEXT, help_text="Of the kubeconfig; default: its current one."
    )
    address = serializers.CharField(required=False, max_length=limits.ADDRESS)
    token = serializers.CharField(required=False, write_only=True, max_length=limits.TOKEN)
    ca = serializers.CharField(
        required=False, max_length=limits.CERTIFICATES, help_text="PEM. Default: the system's authorities."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """One of both, whole."""
        by_token = {"address", "token"} <= attrs.keys()
        if ("kubeconfig" in attrs) == by_token or (not by_token and {"address", "token", "ca"} & attrs.keys()):
            raise serializers.ValidationError(_("Give a kubeconfig, or an address and a token."))
        return attrs


class WrongCredentials(problems.Refusal):
    """Credentials that can't be used."""

    status_code = 422
    default_detail = gettext_lazy("These credentials can't be used.")


class CheckParameters(serializers.Serializer[Any]):
    """For what."""

    mode = serializers.ChoiceField(
        Cluster.Mode.choices, required=False, help_text="One that the cluster is not in yet, if need be."
    )


class LineSerializer(serializers.Serializer[Any]):
    """One thing that was found."""

    subject = serializers.CharField()
    level = serializers.ChoiceField([(level.value, level.value) for level in CheckLevel])
    text = serializers.SerializerMethodField()

    def get_text(self, line: CheckResult) -> str:
        """For people."""
        return told_line(line)


class ReportSerializer(serializers.Serializer[Any]):
    """What works, what is forbidden, what is odd."""

    mode = serializers.ChoiceField(Cluster.Mode.choices)
    well = serializers.BooleanField(help_text="Whether the mode can work.")
    lines = LineSerializer(many=True)


class CheckView(ApiView):
    """Whether a cluster can be used as a mode wants."""

    actions = {"GET": "connect"}
    queries = {"GET": CheckParameters}
    staff_only = True
    tag = "clusters"

    @extend_schema(operation_id="check_cluster", responses=ReportSerializer)
    def get(self, request: Request, name: str) -> Response:
        """Sign in and try everything; nothing is changed. It takes some seconds, twenty at most. For admins."""
        del request
        report = check_cluster(cluster=self.cluster(name), mode=self.asked.get("mode", ""), actor=self.user)
        return Response(ReportSerializer(report).data)


class CredentialsView(ApiView):
    """What signs in to a cluster."""

    actions = {"GET": "view", "PUT": "connect", "DELETE": "connect"}
    queries = {"PUT": ReasonParameters, "DELETE": ReasonParameters}
    staff_only = True
    tag = "clusters"

    @extend_schema(operation_id="get_credentials", responses=ConnectionSerializer)
    def get(self, request: Request, name: str) -> Response:
        """How the cluster is reached: never the credentials themselves."""
        cluster = self.cluster(name)
        return Response(connection_of(cluster, whole=scope_of(request.user, "connect").everything))

    @extend_schema(operation_id="put_credentials", request=GivenSerializer, responses=ConnectionSerializer)
    @sensitive_variables()
    def put(self, request: Request, name: str) -> Response:
        """Try credentials, then keep them, encrypted, instead of those that the cluster had."""
        cluster = self.cluster(name)
        sent = read_body(GivenSerializer(data=request.data), request.data, WrongCredentials)
        try:
            set_credentials(cluster=cluster, way=way_of(sent), actor=self.user, reason=self.asked["reason"])
        except ClusterError as error:
            raise WrongCredentials([{"detail": told(error)}]) from None
        except ValidationError as error:
            raise WrongCredentials([{"detail": message} for message in error.messages]) from None
        return Response(connection_of(cluster, whole=True))

    @extend_schema(operation_id="delete_credentials", responses={204: None})
    def delete(self, request: Request, name: str) -> Response:
        """Forget what is kept: the kubeconfig on the machine is used again, or the worker's own service account."""
        del request
        remove_credentials(cluster=self.cluster(name), actor=self.user, reason=self.asked["reason"])
        return Response(status=204)


@sensitive_variables()
def way_of(sent: dict[str, Any]) -> Way:
    """The way that was given, in the shape of GivenSerializer. Raises SettingsError."""
    if "token" in sent:
        return Way.by_token(sent["address"], sent["token"], sent.get("ca", ""))
    return Way.by_text(sent["kubeconfig"], sent.get("context", ""))


def connection_of(cluster: Cluster, *, whole: bool) -> dict[str, Any]:
    """Return how a cluster is reached; paths and contexts on the machine only of the ``whole``, for admins."""
    stored = selectors.credentials_of(cluster)
    found: dict[str, Any] = dict.fromkeys(ConnectionSerializer().fields)
    if stored is not None:
        names = ("context", "address", "kind", "set_at", "set_by", "expires_at")
        found |= {name: getattr(stored, name) for name in names} | {"by": "stored"}
    else:
        found |= {"by": "kubeconfig" if cluster.kubeconfig else "service account"}
        found |= {name: getattr(cluster, name) or None for name in ("kubeconfig", "context") if whole}
    return dict(ConnectionSerializer(found).data)
