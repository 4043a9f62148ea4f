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
from scheduler_admin.rest.bodies import named_as_sent, read_body
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.filters import Parameter, Parameters
from scheduler_admin.rest.pagination import NumberedPageParameters
from scheduler_admin.rest.parameters import ReasonParameters
from scheduler_admin.rest.viewsets import AsRead, Created, Destroyed, Listed, NumberedPages

_LONGEST = 3650


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    """A token without its secret."""

    user = serializers.CharField(source="user.username", help_text="Name of the user that the token belongs to.")
    prefix = serializers.CharField(help_text="First characters of the token.")
    scopes = serializers.ListField(
        child=serializers.ChoiceField(ApiToken.Scope.choices), help_text="Scopes of the token."
    )
    created_at = UtcField(help_text="Time when the token was created.")
    expires_at = UtcField(allow_null=True, help_text="Time when the token expires; null if never.")
    last_used_at = UtcField(allow_null=True, help_text="Time when the token was last used; null if never.")

    class Meta:
        model = ApiToken
        fields = ["id", "user", "name", "prefix", "scopes", "subtree", "created_at", "expires_at", "last_used_at"]
        extra_kwargs = {
            "id": {"help_text": "Number of the token."},
            "name": {"help_text": "Name of the token."},
            "subtree": {"help_text": "Path of the queue that the token is limited to; empty for no limit."},
        }


class CreatedTokenSerializer(TokenSerializer):
    """A new token with its secret, which is shown only once."""

    token = serializers.CharField(help_text="The token; it is shown only in this response.")

    class Meta(TokenSerializer.Meta):
        fields = [*TokenSerializer.Meta.fields, "token"]


class NewTokenSerializer(serializers.Serializer[Any]):
    """A token to create. With a token, you can create only tokens that can do no more and live no longer."""

    name = serializers.CharField(
        max_length=limits.TOKEN_NAME, help_text="Name of the token, such as what it is used for."
    )
    scopes = serializers.ListField(
        child=serializers.ChoiceField(ApiToken.Scope.choices),
        default=lambda: [ApiToken.Scope.READ],
        allow_empty=False,
        help_text="Scopes of the token; default is `read`.",
    )
    subtree = serializers.CharField(
        required=False,
        max_length=limits.QUEUE_PATH,
        allow_blank=True,
        help_text="Path of the queue that the token is limited to; empty for no limit.",
    )
    lifetime_days = serializers.IntegerField(
        source="days",
        required=False,
        allow_null=True,
        min_value=1,
        max_value=_LONGEST,
        help_text="Lifetime in days; default is 90, null for a token that never expires.",
    )


class TokensSerializer(serializers.Serializer[Any]):
    """A page of tokens, newest first."""

    next = serializers.URLField(allow_null=True, help_text="URL of the next page; null on the last page.")
    results = TokenSerializer(many=True, help_text="Tokens, newest first.")


class TokenFilters(Parameters):
    """Whose tokens."""

    user = Parameter(
        serializers.CharField(
            max_length=limits.USER_NAME, help_text="Name of a user whose tokens are listed, for admins; default is you."
        ),
        "user__username",
    )

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the tokens of one user: those of the reader where no other is named."""
        found: QuerySet[Any] = super().filter_queryset(queryset)
        return found.filter(user=self.reader) if self.form.cleaned_data["user"] is None else found


class TokenViewSet(AsRead, Listed, Created, Destroyed):
    """Your own tokens with their scopes and last use. Follow `next`."""

    actions = {"GET": "view", "POST": "view", "DELETE": "view"}
    queries = {"GET": NumberedPageParameters, "DELETE": ReasonParameters}
    tag = "tokens"
    resource = "token", "tokens"
    operations = {"destroy": "revoke_token"}
    queryset = ApiToken.objects.all()
    serializer_class = TokenSerializer
    list_class = TokensSerializer
    body_class = NewTokenSerializer
    filterset_class = TokenFilters
    pagination_class = NumberedPages
    unkept = frozenset({"POST"})
    deletes_unread = True

    def get_queryset(self) -> QuerySet[ApiToken]:
        """Return the tokens that the reader may know of."""
        return tokens_of(self.user)

    @extend_schema(responses={201: CreatedTokenSerializer})
    @sensitive_variables()
    def create(self, request: Request, **_place: Any) -> Response:
        """Create a token for yourself; it is shown only once. Not possible with a token of a cluster."""
        if request.auth is None and isinstance(request.successful_authenticator, TokenAuthentication):
            raise PermissionDenied
        sent = NewTokenSerializer(data=request.data)
        given = read_body(sent, request.data)
        days = given.pop("days", ...)
        lifetime = timedelta(days=days) if isinstance(days, int) else days
        with named_as_sent(sent):
            made, plaintext = make_own(user=self.user, lifetime=lifetime, **given)
        body = {**TokenSerializer(made).data, "token": plaintext}
        response = Response(body, status=201, headers=self.answer_headers(made, 201))
        patch_cache_control(response, no_store=True)
        return response

    def remove(self, row: ApiToken) -> None:
        """Revoke the token. A token can revoke itself and tokens that can do no more."""
        if not scope_of(self.user, "administer").everything and not covers(self.user.token, row):
            raise PermissionDenied
        revoke_token(token=row, actor=self.user, reason=self.asked["reason"])
