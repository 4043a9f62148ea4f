"""What the pages of accounts share: forms that call a service, and that overwrite nothing that was not seen."""

from typing import Any, Generic, TypeVar

from django.contrib.auth.mixins import LoginRequiredMixin
from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils.functional import cached_property
from django.views.generic import FormView
from django.views.generic.base import ContextMixin, View

from scheduler_admin.accounts.models import User
from scheduler_admin.core.forms import Form

M = TypeVar("M", bound=Model)


class SignedIn(LoginRequiredMixin, ContextMixin, View):
    """A page for everybody who is signed in."""

    http_method_names = ["get", "head"]
    actor: User

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Refuse other methods before anything else, and admit the user."""
        if (request.method or "").lower() not in self.http_method_names:
            return self.http_method_not_allowed(request)
        if isinstance(request.user, User):
            self.actor = request.user
            self.admit()
        return super().dispatch(request, *args, **kwargs)

    def admit(self) -> None:
        """Raise Http404 or PermissionDenied for those for whom the page is not."""

    def shell(self) -> dict[str, Any]:
        """Return what the page shows around its own content."""
        return {}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return the context of the page."""
        return super().get_context_data(**self.shell() | kwargs)


class ServiceForm(SignedIn, FormView):  # type: ignore[type-arg]  # the stubs' generics are not there at run time
    """A page with a form that calls a service: what that finds wrong is shown at the field that it names."""

    http_method_names = ["get", "head", "post"]

    def act(self, form: Any) -> HttpResponse:
        """Call the service and lead on. Raises ValidationError."""
        raise NotImplementedError

    def form_valid(self, form: Any) -> HttpResponse:
        """Do what the form says. What is not there any more is not found."""
        try:
            return self.act(form)
        except ObjectDoesNotExist:
            raise Http404 from None
        except ValidationError as error:
            return self.refused(form, error)

    def form_invalid(self, form: Any, status: int = 422) -> HttpResponse:
        """Show what was typed, and what is wrong with it."""
        return self.render_to_response(self.get_context_data(form=form), status=status)

    def refused(self, form: Form, error: ValidationError) -> HttpResponse:
        """Show what a service found wrong. After a clash, the form can be sent again: its sender knows of it now."""
        form.refuse(error)
        if getattr(error, "code", None) != "clash":
            return self.form_invalid(form)
        form.show(seen=self.seen())
        return self.form_invalid(form, 409)

    def seen(self) -> str:
        """Return what tells the state that the page shows from another."""
        return ""

    def get_initial(self) -> dict[str, Any]:
        """Return the state that the form is about."""
        return {**super().get_initial(), "seen": self.seen()}

    def show_once(self, template: str, context: dict[str, Any]) -> HttpResponse:
        """Show a secret in this one answer alone, which no cache keeps."""
        response = render(self.request, template, self.shell() | context)
        response["Cache-Control"] = "private, no-store"
        return response


class RowForm(ServiceForm, Generic[M]):
    """A form about one row, which nobody changes from what they have not seen."""

    def rows(self) -> QuerySet[M]:
        """Return the rows of which the address names one."""
        raise NotImplementedError

    def tag_of(self, row: M) -> str:
        """Return what tells one state of a row from another: nothing, where a row does not change."""
        del row
        return ""

    @cached_property
    def row(self) -> M:
        """Return the row as it is now. Raises Http404."""
        found: M = get_object_or_404(self.rows(), pk=self.kwargs["pk"])
        return found

    def seen(self) -> str:
        """Return the tag of the row."""
        return self.tag_of(self.row)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return the row, too."""
        return super().get_context_data(**kwargs, row=self.row)

    def refused(self, form: Form, error: ValidationError) -> HttpResponse:
        """Show the row as it is now, and what is wrong."""
        del self.row
        return super().refused(form, error)
