"""One's own tokens: listed, made (and told once), revoked."""

from datetime import timedelta
from typing import Any

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from django.utils.cache import patch_cache_control
from django.views.decorators.debug import sensitive_variables
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.accounts.api.authentication import TokenAuthentication
from scheduler_admin.accounts.models import ApiToken, User
from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.accounts.services.own_tokens import covers, make_own, tokens_of
from scheduler_admin.accounts.services.tokens import revoke_token
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.bodies import REFUSED, read_body
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.openapi.parts import PROBLEM
from scheduler_admin.rest.pagination import NumberedPageParameters, next_link
from scheduler_admin.rest.parameters import ReasonParameters

_LONGEST = 3650


class TokensParameters(NumberedPageParameters):
    """Whose tokens."""

    user = serializers.CharField(
        required=False, max_length=150, help_text="Of this user: for who administers the site. Left out: your own."
    )


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

    name = serializers.CharField(max_length=100, help_text="What it is for: ci.")
    scopes = serializers.ListField(
        child=serializers.ChoiceField(ApiToken.Scope.choices), default=lambda: [ApiToken.Scope.READ], allow_empty=False
    )
    subtree = serializers.CharField(
        required=False, max_length=500, allow_blank=True, help_text="Path of a queue: good for it and below."
    )
    days = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=_LONGEST, help_text="Left out: 90; null: it never ends."
    )


class TokensSerializer(serializers.Serializer[Any]):
    """A page of tokens, the newest first."""

    next = serializers.URLField(allow_null=True, help_text="The next page; null on the last.")
    results = TokenSerializer(many=True)


class _TokensView(ApiView):
    """What both share."""

    def user(self) -> User:
        """Who asks."""
        user = self.request.user
        assert isinstance(user, User)
        return user


class TokensView(_TokensView):
    """Tokens."""

    actions = {"GET": "view", "POST": "view"}

    unkept = frozenset({"POST"})

    queries = {"GET": TokensParameters}

    @extend_schema(
        operation_id="list_tokens",
        tags=["tokens"],
        parameters=[TokensParameters],
        responses={200: TokensSerializer, **PROBLEM},
    )
    def get(self, request: Request) -> Response:
        """Your own, with what each is good for and when it was last used. Follow `next`."""
        user, limit = self.user(), self.asked["limit"]
        rows = tokens_of(user).filter(user__username=self.asked.get("user", user.username))
        if "cursor" in self.asked:
            rows = rows.filter(pk__lt=self.asked["cursor"])
        found = list(rows[: limit + 1])
        place = found[limit - 1].pk if len(found) > limit else None
        return Response(TokensSerializer({"next": next_link(request, place), "results": found[:limit]}).data)

    @extend_schema(
        operation_id="make_token",
        tags=["tokens"],
        request=NewTokenSerializer,
        responses={201: MadeTokenSerializer, **PROBLEM, **REFUSED},
    )
    @sensitive_variables()
    def post(self, request: Request) -> Response:
        """Make one for yourself; it is told this once. Not with a cluster's token, whose life is short on purpose."""
        user = self.user()
        if request.auth is None and isinstance(request.successful_authenticator, TokenAuthentication):
            raise PermissionDenied
        given = read_body(NewTokenSerializer(data=request.data), request.data)
        days = given.pop("days", ...)
        lifetime = timedelta(days=days) if isinstance(days, int) else days
        made, plaintext = make_own(user=user, lifetime=lifetime, **given)
        response = Response({**TokenSerializer(made).data, "token": plaintext}, status=201)
        patch_cache_control(response, no_store=True)
        return response


class TokenView(_TokensView):
    """One token."""

    actions = {"DELETE": "view"}

    queries = {"DELETE": ReasonParameters}

    @extend_schema(
        operation_id="revoke_token",
        tags=["tokens"],
        parameters=[ReasonParameters],
        responses={204: None, **PROBLEM, **REFUSED},
    )
    def delete(self, request: Request, pk: int) -> Response:
        """The next request with it is refused. A token revokes itself, and those that may do no more than it."""
        del request
        user = self.user()
        found = get_object_or_404(tokens_of(user), pk=pk)
        if not scope_of(user, "administer").everything and not covers(user.token, found):
            raise PermissionDenied
        revoke_token(token=found, actor=user, reason=self.asked["reason"])
        return Response(status=204)
