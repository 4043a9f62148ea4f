"""What the pages of people and access share: who may open them, and forms that call a service."""

from abc import abstractmethod
from typing import Any, ClassVar, Generic, TypeVar

from django.contrib.auth.mixins import LoginRequiredMixin
from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.views.generic import FormView, TemplateView
from django.views.generic.base import ContextMixin, View

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import Action, acting, scope_of
from scheduler_admin.core.forms import Form

M = TypeVar("M", bound=Model)


class StaffAccess(LoginRequiredMixin, ContextMixin, View):
    """A page for those who see everything, which is not there for others. Admins alone send its forms."""

    section: ClassVar[str] = ""
    """The entry of the navigation that leads here."""
    reading: ClassVar[Action] = "view"
    """What one has to be allowed to open the page."""
    actor: User

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Raise Http404 for those who do not see everything, PermissionDenied for those who may not do this."""
        if (request.method or "").lower() not in self.http_method_names:
            return self.http_method_not_allowed(request)
        if request.user.is_authenticated:
            if not scope_of(request.user, "view").everything:
                raise Http404
            self.actor = acting(request.user, "administer" if request.method == "POST" else self.reading)
        return super().dispatch(request, *args, **kwargs)

    def shell(self) -> dict[str, Any]:
        """Return what all of these pages show: the navigation of this part of the site."""
        may_administer = scope_of(self.actor, "administer").everything
        sections = [(name, label, reverse(f"web:{name}")) for name, label in _sections(may_administer=may_administer)]
        return {"sections": sections, "section": self.section, "may_administer": may_administer}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return the context of the page."""
        return super().get_context_data(**self.shell() | kwargs)


def _sections(*, may_administer: bool) -> list[tuple[str, str]]:
    """Return name and title of each page of the navigation."""
    del may_administer
    return [
        ("users", _("Users")),
        ("tenants", _("Tenants")),
        ("roles", _("Roles")),
        ("group_mappings", _("Group mappings")),
    ]


class StaffPage(StaffAccess, TemplateView):
    """A page that is only read."""

    http_method_names = ["get", "head"]


class StaffForm(StaffAccess, FormView):  # type: ignore[type-arg]  # the stubs' generics are not there at run time
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

    def refused(self, form: Form, error: ValidationError, status: int = 422) -> HttpResponse:
        """Show what a service found wrong."""
        form.refuse(error)
        return self.form_invalid(form, status)

    def show_once(self, template: str, context: dict[str, Any]) -> HttpResponse:
        """Show a secret in this one answer alone, which no cache keeps."""
        response = render(self.request, template, self.shell() | context)
        response["Cache-Control"] = "private, no-store"
        return response


class AdminForm(StaffForm):
    """A form that others than admins do not even see."""

    reading = "administer"


class RowForm(StaffForm, Generic[M]):
    """A form about one row, which nobody changes from what they have not seen."""

    @abstractmethod
    def rows(self) -> QuerySet[M]:
        """Return the rows of which the address names one."""

    @abstractmethod
    def tag_of(self, row: M) -> str:
        """Return what tells one state of a row from another."""

    @cached_property
    def row(self) -> M:
        """Return the row as it is now. Raises Http404."""
        found: M = get_object_or_404(self.rows(), pk=self.kwargs["pk"])
        return found

    def get_initial(self) -> dict[str, Any]:
        """Return the state that the form is about."""
        return {**super().get_initial(), "seen": self.tag_of(self.row)}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return the row, too."""
        return super().get_context_data(**kwargs, row=self.row)

    def refused(self, form: Form, error: ValidationError, status: int = 422) -> HttpResponse:
        """Show what is wrong. After a clash, the form can be sent again: its sender knows of it now."""
        if getattr(error, "code", None) == "clash":
            del self.row
            form.show(seen=self.tag_of(self.row))
            status = 409
        return super().refused(form, error, status)


class AdminRowForm(RowForm[M]):
    """The same, for admins alone."""

    reading = "administer"
