"""One's own tokens: listed, made (and told once), revoked."""

from datetime import timedelta
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.utils.cache import patch_cache_control
from django.views.decorators.debug import sensitive_variables
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.accounts.api.authentication import TokenAuthentication
from scheduler_admin.accounts.models import ApiToken
from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.accounts.services.own_tokens import covers, make_own, tokens_of
from scheduler_admin.accounts.services.tokens import revoke_token
from scheduler_admin.core import limits
from scheduler_admin.rest.bodies import read_body
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.filters import Parameter, Parameters
from scheduler_admin.rest.pagination import NumberedPageParameters
from scheduler_admin.rest.parameters import ReasonParameters
from scheduler_admin.rest.viewsets import Created, Destroyed, Listed, NumberedPages

_LONGEST = 3650


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    """A token, without what is secret of it."""

    user = serializers.CharField(source="user.username")
    begins = serializers.CharField(source="prefix", help_text="How it begins, to tell it by.")
    scopes = serializers.ListField(child=serializers.ChoiceField(ApiToken.Scope.choices))
    created_at = UtcField()
    expires_at = UtcField(allow_null=True, help_text="Null: never.")
    last_used_at = UtcField(allow_null=True)

    class Meta:
        model = ApiToken
        fields = ["id", "user", "name", "begins", "scopes", "subtree", "created_at", "expires_at", "last_used_at"]


class MadeTokenSerializer(TokenSerializer):
    """A new token: it is told here, and never again."""

    token = serializers.CharField()

    class Meta(TokenSerializer.Meta):
        fields = [*TokenSerializer.Meta.fields, "token"]


class NewTokenSerializer(serializers.Serializer[Any]):
    """What a token is to be good for. Made by a token, it may do no more than that one, and live no longer."""

    name = serializers.CharField(max_length=limits.TOKEN_NAME, help_text="What it is for: ci.")
    scopes = serializers.ListField(
        child=serializers.ChoiceField(ApiToken.Scope.choices), default=lambda: [ApiToken.Scope.READ], allow_empty=False
    )
    subtree = serializers.CharField(
        required=False,
        max_length=limits.QUEUE_PATH,
        allow_blank=True,
        help_text="Path of a queue: good for it and below.",
    )
    days = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=_LONGEST, help_text="Left out: 90; null: it never ends."
    )


class TokensSerializer(serializers.Serializer[Any]):
    """A page of tokens, the newest first."""

    next = serializers.URLField(allow_null=True, help_text="The next page; null on the last.")
    results = TokenSerializer(many=True)


class TokenFilters(Parameters):
    """Whose tokens."""

    user = Parameter(
        serializers.CharField(
            max_length=limits.USER_NAME, help_text="Of this user: for who administers the site. Left out: your own."
        ),
        "user__username",
    )

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the tokens of one user: those of the reader where no other is named."""
        found: QuerySet[Any] = super().filter_queryset(queryset)
        return found.filter(user=self.reader) if self.form.cleaned_data["user"] is None else found


class TokenViewSet(Listed, Created, Destroyed):
    """Your own tokens, with what each is good for and when it was last used. Follow `next`."""

    actions = {"GET": "view", "POST": "view", "DELETE": "view"}
    queries = {"GET": NumberedPageParameters, "DELETE": ReasonParameters}
    tag = "tokens"
    resource = "token", "tokens"
    operations = {"create": "make_token", "destroy": "revoke_token"}
    queryset = ApiToken.objects.all()
    serializer_class = TokenSerializer
    list_class = TokensSerializer
    body_class = NewTokenSerializer
    filterset_class = TokenFilters
    pagination_class = NumberedPages
    unkept = frozenset({"POST"})

    def get_queryset(self) -> QuerySet[ApiToken]:
        """Return the tokens that the reader may know of."""
        return tokens_of(self.user)

    @extend_schema(responses={201: MadeTokenSerializer})
    @sensitive_variables()
    def create(self, request: Request, **_place: Any) -> Response:
        """Make one for yourself; it is told this once. Not with a cluster's token, whose life is short on purpose."""
        if request.auth is None and isinstance(request.successful_authenticator, TokenAuthentication):
            raise PermissionDenied
        given = read_body(NewTokenSerializer(data=request.data), request.data)
        days = given.pop("days", ...)
        lifetime = timedelta(days=days) if isinstance(days, int) else days
        made, plaintext = make_own(user=self.user, lifetime=lifetime, **given)
        response = Response({**TokenSerializer(made).data, "token": plaintext}, status=201)
        patch_cache_control(response, no_store=True)
        return response

    def remove(self, row: ApiToken) -> None:
        """The next request with it is refused. A token revokes itself, and those that may do no more than it."""
        if not scope_of(self.user, "administer").everything and not covers(self.user.token, row):
            raise PermissionDenied
        revoke_token(token=row, actor=self.user, reason=self.asked["reason"])
