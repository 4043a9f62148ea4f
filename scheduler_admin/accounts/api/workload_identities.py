"""Workload identities: which pipelines sign in with the ID tokens of their platform, and as what."""

import json
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework import serializers

from scheduler_admin.accounts.api.administered import WITH_REASON, AdministeredViewSet
from scheduler_admin.accounts.models import ApiToken, User, WorkloadIdentity
from scheduler_admin.accounts.services.workload_identities import change_identity, create_identity, delete_identity
from scheduler_admin.core import limits
from scheduler_admin.core.entity_tags import entity_tag
from scheduler_admin.rest.fields import UtcField


class WorkloadIdentitySerializer(serializers.Serializer[WorkloadIdentity]):
    """Pipelines that act as a service account: those whose ID tokens have an issuer, an audience and some claims."""

    id = serializers.IntegerField(source="pk", read_only=True, help_text="Number of the workload identity.")
    name = serializers.CharField(max_length=limits.TOKEN_NAME, help_text="Name of the workload identity.")
    service_account = serializers.CharField(
        source="user.username",
        max_length=limits.USER_NAME,
        help_text="Name of the service account as which the pipelines act.",
    )
    issuer = serializers.CharField(
        max_length=limits.ISSUER,
        help_text="Issuer of the tokens, exactly as in their claim `iss`, such as "
        "`https://token.actions.githubusercontent.com`.",
    )
    audience = serializers.CharField(
        max_length=limits.ISSUER, help_text="Audience that a token must have in `aud`; use the address of this site."
    )
    claims = serializers.DictField(
        child=serializers.CharField(max_length=limits.CLAIM_PATTERN),
        help_text="Claims that a token must have, such as `sub`. In a value, `*` matches any characters.",
    )
    scopes = serializers.ListField(
        child=serializers.ChoiceField(ApiToken.Scope.choices),
        allow_empty=False,
        help_text="Scopes of the tokens, as those of an API token.",
    )
    subtree = serializers.CharField(
        required=False,
        default="",
        max_length=limits.QUEUE_PATH,
        allow_blank=True,
        help_text="Path of the queue that the tokens are limited to; empty for no limit.",
    )
    created_at = UtcField(read_only=True, help_text="Time when the workload identity was created.")


class WorkloadIdentityDetailSerializer(WorkloadIdentitySerializer):
    """A workload identity with its last use."""

    last_used_at = UtcField(read_only=True, allow_null=True, help_text="Time of the last request; null if none.")
    last_subject = serializers.CharField(
        read_only=True, help_text="Claim `sub` of the token that was last used; empty if none."
    )


class WorkloadIdentitiesSerializer(serializers.Serializer[Any]):
    """All workload identities, by name."""

    results = WorkloadIdentityDetailSerializer(many=True, help_text="Workload identities, by name.")


class WorkloadIdentityViewSet(AdministeredViewSet):
    """Pipelines that sign in with the ID tokens of their platform instead of a stored API token."""

    queries = WITH_REASON
    staff_only = True
    tag = "tokens"
    etag_description = "Changes with the settings, and not with the last use."
    resource = "workload_identity", "workload_identities"
    queryset = WorkloadIdentity.objects.all()
    serializer_class = WorkloadIdentityDetailSerializer
    body_class = WorkloadIdentitySerializer
    list_class = WorkloadIdentitiesSerializer

    def get_queryset(self) -> QuerySet[WorkloadIdentity]:
        """Return all identities: who does not see everything gets no further than the declaration."""
        return WorkloadIdentity.objects.select_related("user")

    def tag_of(self, found: WorkloadIdentity) -> str:
        """Return the ETag of an identity, which its use does not change, nor the order that a database gives claims."""
        return entity_tag(json.dumps(WorkloadIdentitySerializer(found).data, sort_keys=True))

    def make(self, given: dict[str, Any]) -> WorkloadIdentity:
        """Let the pipelines whose ID tokens have these claims act as a service account."""
        return create_identity(**_with_account(given), actor=self.user, reason=self.reason)

    def change(self, row: WorkloadIdentity, given: dict[str, Any]) -> WorkloadIdentity:
        """Change the members that are sent, for the next request of a pipeline; `claims` and `scopes` are replaced."""
        return change_identity(identity=row, values=_with_account(given), actor=self.user, reason=self.reason)

    def remove(self, row: WorkloadIdentity) -> None:
        """Delete a workload identity; the tokens of its pipelines are refused from the next request on."""
        delete_identity(identity=row, actor=self.user, reason=self.reason)


def _with_account(given: dict[str, Any]) -> dict[str, Any]:
    """Return what was sent with the service account that it names. Raises ValidationError where there is none."""
    if "user" not in given:
        return given
    name = given["user"]["username"]
    found = User.objects.filter(username=name, service=True).first()
    if found is None:
        sentence = _("Service account %(name)s does not exist.") % {"name": name}
        raise ValidationError({"service_account": sentence})
    return {**given, "user": found}
