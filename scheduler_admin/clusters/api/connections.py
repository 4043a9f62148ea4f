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
from scheduler_admin.rest.fields import represent
from scheduler_admin.rest.parameters import ReasonParameters
from scheduler_admin.worker.cluster_check import check_cluster


class ClusterCredentialsSerializer(serializers.Serializer[Any]):
    """How the site connects to a cluster, without secrets."""

    credential_source = serializers.ChoiceField(
        ["stored", "kubeconfig", "service-account"],
        help_text="Origin of the credentials: stored, a kubeconfig file, or the service account of the worker.",
    )
    kubeconfig_file = serializers.CharField(
        allow_null=True, help_text="Path of the kubeconfig file; null if none is used or hidden."
    )
    context = serializers.CharField(allow_null=True, help_text="Context of the kubeconfig; null if none or hidden.")  # type: ignore[assignment]  # DRF takes fields off the class
    address = serializers.CharField(
        allow_null=True, help_text="Address of the API server; null unless credentials are stored."
    )
    kind = serializers.ChoiceField(
        Credentials.Kind.choices, allow_null=True, help_text="Type of the stored credentials; null if none are stored."
    )
    set_at = serializers.DateTimeField(
        allow_null=True, help_text="Time when the stored credentials were set; null if none are stored."
    )
    set_by = serializers.CharField(
        allow_null=True, help_text="Name of the user who set the stored credentials; null if none are stored."
    )
    expires_at = serializers.DateTimeField(
        allow_null=True, help_text="Expiry of the stored credentials; null if unknown or none are stored."
    )


class ClusterCredentialsRequestSerializer(serializers.Serializer[Any]):
    """Credentials: a kubeconfig, or an address with a token. They are never returned."""

    kubeconfig = serializers.CharField(
        required=False,
        write_only=True,
        max_length=LONGEST,
        help_text="Content of a kubeconfig; it must not refer to programs or files.",
    )
    context = serializers.CharField(  # type: ignore[assignment]  # as above
        required=False,
        max_length=limits.CONTEXT,
        help_text="Context of the kubeconfig; default is the current context.",
    )
    address = serializers.CharField(
        required=False, max_length=limits.ADDRESS, help_text="Address of the API server, to be sent with `token`."
    )
    token = serializers.CharField(
        required=False, write_only=True, max_length=limits.TOKEN, help_text="Bearer token for the API server."
    )
    ca = serializers.CharField(
        required=False,
        max_length=limits.CERTIFICATES,
        help_text="Certificate authorities in PEM format; default is those of the system.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """One of both, whole."""
        by_token = {"address", "token"} <= attrs.keys()
        if ("kubeconfig" in attrs) == by_token or (not by_token and {"address", "token", "ca"} & attrs.keys()):
            raise serializers.ValidationError(_("Provide either a kubeconfig or an address with a token."))
        return attrs


class WrongCredentials(problems.Refusal):
    """Credentials that can't be used."""

    kind = "invalid-credentials"
    status_code = 422
    default_detail = gettext_lazy("These credentials can't be used.")


class CheckParameters(serializers.Serializer[Any]):
    """For what."""

    mode = serializers.ChoiceField(
        Cluster.Mode.choices, required=False, help_text="Mode to check; default is the current mode of the cluster."
    )


class CheckResultSerializer(serializers.Serializer[Any]):
    """The result of a single check."""

    subject = serializers.CharField(help_text="What was checked.")
    level = serializers.ChoiceField(
        [(level.value, level.value) for level in CheckLevel], help_text="Result: ok, warning or error."
    )
    sentence = serializers.SerializerMethodField(help_text="The result in words, in the language of the request.")

    def get_sentence(self, line: CheckResult) -> str:
        """For people."""
        return told_line(line)


class ClusterCheckSerializer(serializers.Serializer[Any]):
    """The results of a check of connection and permissions."""

    mode = serializers.ChoiceField(Cluster.Mode.choices, help_text="Mode that was checked.")
    passed = serializers.BooleanField(help_text="True if the cluster can be used in this mode.", source="well")
    results = CheckResultSerializer(many=True, source="lines", help_text="Results of the single checks.")


class CheckView(ApiView):
    """Whether a cluster can be used as a mode wants."""

    actions = {"GET": "connect"}
    queries = {"GET": CheckParameters}
    staff_only = True
    tag = "clusters"

    @extend_schema(operation_id="check_cluster", responses=ClusterCheckSerializer)
    def get(self, request: Request, name: str) -> Response:
        """Connect to the cluster and check everything that a mode needs; nothing is changed. For admins.

        This takes some seconds, twenty at most.
        """
        del request
        report = check_cluster(cluster=self.cluster(name), mode=self.asked.get("mode", ""), actor=self.user)
        return Response(represent(ClusterCheckSerializer, report))


class CredentialsView(ApiView):
    """What signs in to a cluster."""

    actions = {"GET": "view", "PUT": "connect", "DELETE": "connect"}
    queries = {"PUT": ReasonParameters, "DELETE": ReasonParameters}
    staff_only = True
    tag = "clusters"

    @extend_schema(operation_id="get_credentials", responses=ClusterCredentialsSerializer)
    def get(self, request: Request, name: str) -> Response:
        """How the site connects to the cluster, without the credentials themselves."""
        cluster = self.cluster(name)
        return Response(connection_of(cluster, whole=scope_of(request.user, "connect").everything))

    @extend_schema(
        operation_id="replace_credentials",
        request=ClusterCredentialsRequestSerializer,
        responses=ClusterCredentialsSerializer,
    )
    @sensitive_variables()
    def put(self, request: Request, name: str) -> Response:
        """Try new credentials, then store them encrypted in place of the previous ones."""
        cluster = self.cluster(name)
        sent = read_body(ClusterCredentialsRequestSerializer(data=request.data), request.data, WrongCredentials)
        try:
            set_credentials(cluster=cluster, way=way_of(sent), actor=self.user, reason=self.asked["reason"])
        except ClusterError as error:
            raise WrongCredentials([{"detail": told(error)}]) from None
        except ValidationError as error:
            raise WrongCredentials([{"detail": message} for message in error.messages]) from None
        return Response(connection_of(cluster, whole=True))

    @extend_schema(operation_id="delete_credentials", responses={204: None})
    def delete(self, request: Request, name: str) -> Response:
        """Delete stored credentials; the kubeconfig file or the service account of the worker is used again."""
        del request
        remove_credentials(cluster=self.cluster(name), actor=self.user, reason=self.asked["reason"])
        return Response(status=204)


@sensitive_variables()
def way_of(sent: dict[str, Any]) -> Way:
    """The way that was given, in the shape of ClusterCredentialsRequestSerializer. Raises SettingsError."""
    if "token" in sent:
        return Way.by_token(sent["address"], sent["token"], sent.get("ca", ""))
    return Way.by_text(sent["kubeconfig"], sent.get("context", ""))


def connection_of(cluster: Cluster, *, whole: bool) -> dict[str, Any]:
    """Return how a cluster is reached; paths and contexts on the machine only of the ``whole``, for admins."""
    stored = selectors.credentials_of(cluster)
    found: dict[str, Any] = dict.fromkeys(ClusterCredentialsSerializer().fields)
    if stored is not None:
        names = ("context", "address", "kind", "set_at", "set_by", "expires_at")
        found |= {name: getattr(stored, name) for name in names} | {"credential_source": "stored"}
    else:
        found |= {"credential_source": "kubeconfig" if cluster.kubeconfig else "service-account"}
        if whole:
            found |= {"kubeconfig_file": cluster.kubeconfig or None, "context": cluster.context or None}
    return represent(ClusterCredentialsSerializer, found)
