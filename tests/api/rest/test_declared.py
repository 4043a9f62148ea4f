"""Authorization cannot be forgotten: a view answers nothing that it does not declare."""

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

import pytest
from django.urls import URLPattern
from rest_framework.test import APIRequestFactory, force_authenticate

from scheduler_admin.accounts.models import User
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.urls import urlpatterns
from scheduler_admin.rest.viewsets import ResourceViewSet

SAMPLES = {"name": "east", "pk": 1, "number": 1}


def views() -> Iterator[tuple[str, type[ApiView], URLPattern]]:
    """Yield each address with its view class, and its pattern."""
    for pattern in urlpatterns:
        assert isinstance(pattern, URLPattern)
        view: Any = pattern.callback
        yield str(pattern.pattern), getattr(view, "cls", None) or view.view_class, pattern


def declared() -> list[Any]:
    """Return every method of every view, with its pattern."""
    return [
        pytest.param(view, method, pattern, id=f"{method} {address}")
        for address, view, pattern in views()
        for method in view.actions
        if not issubclass(view, ResourceViewSet) or method.lower() in pattern.callback.actions  # type: ignore[attr-defined]
    ]


@pytest.mark.parametrize(("view", "method", "pattern"), declared())
def test_a_view_whose_declaration_is_removed_is_closed(
    view: type[ApiView], method: str, pattern: URLPattern, monkeypatch: pytest.MonkeyPatch, db: None
) -> None:
    """Even to an admin: the method is not there."""
    rest = {name: action for name, action in view.actions.items() if name != method}
    monkeypatch.setattr(view, "actions", rest)
    with pytest.raises(TypeError, match=f"does not declare the actions of {method}"):
        declare_again(view, pattern)
    request = APIRequestFactory().generic(method, "/")
    force_authenticate(request, User.objects.create_user("ada", role=User.Role.ADMIN))
    kwargs = {name: SAMPLES.get(name, "x") for name in pattern.pattern.converters or pattern.pattern.regex.groupindex}
    handled = [*map(str.lower, rest), "options"]
    monkeypatch.setattr(view, "http_method_names", handled)
    answer = pattern.callback(request, **kwargs)
    assert answer.status_code == HTTPStatus.METHOD_NOT_ALLOWED


def declare_again(view: type[ApiView], pattern: URLPattern) -> None:
    """Do what loading the module does: make a class of its own, or the view of its methods."""
    if issubclass(view, ResourceViewSet):
        view.as_view(pattern.callback.actions)  # type: ignore[attr-defined]
    else:
        type(view)("Copy", (view,), {})


def test_a_handler_without_a_declaration_is_an_error() -> None:
    """As soon as its module is loaded."""

    def post(self: Any, request: Any) -> None:
        """Do something."""

    handlers: Mapping[str, Any] = {"post": post}
    with pytest.raises(TypeError, match="Forgetful does not declare the actions of POST"):
        type("Forgetful", (ApiView,), dict(handlers))


def test_every_address_of_the_api_is_a_view_that_declares_something() -> None:
    """But for the one that answers every other address with 404."""
    assert [address for address, view, _pattern in views() if not view.actions] == [r"^(?P<rest>[\s\S]*)\Z"]
