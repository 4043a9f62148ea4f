"""Users: a list, and pages on which an admin creates, changes and deletes them."""

from typing import Any

from django.contrib import messages
from django.db.models import Prefetch, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from scheduler_admin.accounts.forms.tokens import NewTokenForm
from scheduler_admin.accounts.forms.users import ChangeUserForm, DeleteForm, NewPasswordForm, NewUserForm
from scheduler_admin.accounts.models import Membership, Tenant, User
from scheduler_admin.accounts.pages.base import ServiceForm
from scheduler_admin.accounts.pages.people.base import AdminForm, StaffPage, StaffRowForm
from scheduler_admin.accounts.pages.tokens import curl_line
from scheduler_admin.accounts.selectors import UserFilters
from scheduler_admin.accounts.services.own_tokens import make_for_service, tokens_tag
from scheduler_admin.accounts.services.passwords import generated_password
from scheduler_admin.accounts.services.users import change_user, create_user, delete_user, user_tag
from scheduler_admin.core.forms import Form
from scheduler_admin.core.paging import numbered


class Users(StaffPage):
    """Everybody who signs in, people and programs."""

    template_name = "accounts/users.html"
    section = "users"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return the users that the address asks for."""
        filters = UserFilters.read(self.request.GET.dict())
        rows, paged = numbered(filters.rows(), self.request.GET)
        return super().get_context_data(
            **kwargs,
            filters=filters,
            users=rows,
            paged=paged,
            roles=User.Role.choices,
            origins=User.Origin.choices,
            tenants=Tenant.objects.order_by("name").values_list("name", flat=True),
        )


@method_decorator(sensitive_post_parameters("password"), name="dispatch")
class NewUser(AdminForm):
    """A form that creates a user."""

    template_name = "accounts/user_add.html"
    form_class = NewUserForm
    section = "users"

    def get_initial(self) -> dict[str, Any]:
        """Return the tenant from whose page somebody comes."""
        return {**super().get_initial(), "tenants": self.request.GET.getlist("tenant")}

    @sensitive_variables()
    def act(self, form: Any) -> HttpResponse:
        """Create the user. A generated password is shown in this one answer alone."""
        given = form.cleaned_data
        fresh = "" if given["service"] or given["password"] else generated_password()
        made = create_user(
            username=given["name"],
            password=None if given["service"] else given["password"] or fresh,
            role=given["role"],
            tenants=form.chosen("tenants"),
            edits=form.chosen("edits"),
            email=given["email"],
            service=given["service"],
            actor=self.actor,
            reason=given["reason"],
        )
        messages.success(self.request, _("User %(name)s was created.") % {"name": made})
        return _lead_on(self, made, fresh)


class OneUser(StaffRowForm[User]):
    """A page about one user."""

    section = "users"

    def rows(self) -> QuerySet[User]:
        """Return all users."""
        return User.objects.prefetch_related(
            Prefetch("memberships", Membership.objects.select_related("tenant").order_by("tenant__name"))
        )

    def tag_of(self, row: User) -> str:
        """Return what tells one state of a user from another."""
        return user_tag(row)


class UserPage(OneUser):
    """What a user is. POST changes it."""

    template_name = "accounts/user.html"
    form_class = ChangeUserForm

    def get_initial(self) -> dict[str, Any]:
        """Return the user's present values."""
        roles = [(one.tenant.name, one.role) for one in self.row.memberships.all()]
        members, editors = ([name for name, role in roles if role == one] for one in Membership.Role.values)
        now = {"email": self.row.email, "role": self.row.site_role, "active": self.row.is_active}
        return super().get_initial() | now | {"tenants": members, "edits": editors}

    def get_form(self, form_class: Any = None) -> Any:
        """Return the form without what nobody, or not this person, may change here."""
        form = super().get_form(form_class)
        if self.row.identity is not None:
            form.follow_groups()
        if self.row.pk == self.actor.pk:
            form.keep_own()
        return form

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return the user's tokens, too."""
        return super().get_context_data(**kwargs, tokens=self.row.api_tokens.order_by("-pk"))

    def act(self, form: Any) -> HttpResponse:
        """Change the user."""
        given = {name: form.cleaned_data[name] for name in ("email", "role", "active", "reason", "seen")}
        changed = change_user(user=self.row, memberships=form.memberships, actor=self.actor, **given)
        messages.success(self.request, _("Saved %(name)s.") % {"name": changed})
        return redirect("web:user", changed.pk)


@method_decorator(sensitive_post_parameters("password"), name="dispatch")
class UserPassword(OneUser):
    """A new password for a local user who cannot sign in any more."""

    template_name = "accounts/user_password.html"
    form_class = NewPasswordForm
    reading = "administer"

    @sensitive_variables()
    def act(self, form: Any) -> HttpResponse:
        """Set the password. A generated one is shown in this one answer alone."""
        given = form.cleaned_data
        fresh = "" if given["password"] else generated_password()
        changed = change_user(
            user=self.row,
            password=given["password"] or fresh,
            actor=self.actor,
            reason=given["reason"],
            seen=given["seen"],
        )
        messages.success(self.request, _("%(name)s has a new password.") % {"name": changed})
        return _lead_on(self, changed, fresh)


class DeleteUser(OneUser):
    """What goes with a user who is deleted. POST deletes them."""

    template_name = "accounts/user_delete.html"
    form_class = DeleteForm
    reading = "administer"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return how much goes with the user."""
        row = self.row
        counts = {
            "tokens": row.api_tokens.count(),
            "memberships": len(row.memberships.all()),
            "saved": row.saved_filters.count(),
            "workloads": row.workload_identities.count(),
        }
        return super().get_context_data(**kwargs, counts=counts)

    def act(self, form: Form) -> HttpResponse:
        """Delete the user."""
        given = form.cleaned_data
        delete_user(user=self.row, actor=self.actor, reason=given["reason"], seen=given["seen"])
        messages.success(self.request, _("Deleted %(name)s.") % {"name": self.row})
        return redirect("web:users")


class ServiceToken(OneUser):
    """A form that creates a token for a service account: people create their own."""

    template_name = "accounts/token_add.html"
    form_class = NewTokenForm
    reading = "administer"

    def rows(self) -> QuerySet[User]:
        """Return the service accounts."""
        return super().rows().filter(service=True)

    def tag_of(self, row: User) -> str:
        """Return what tells whether the account got a token meanwhile."""
        return tokens_tag(row)

    def get_form_kwargs(self) -> dict[str, Any]:
        """Return whose token it is, too."""
        return {**super().get_form_kwargs(), "owner": self.row}

    @sensitive_variables()
    def act(self, form: Any) -> HttpResponse:
        """Create the token, which is shown in this one answer alone."""
        made, plaintext = make_for_service(account=self.row, actor=self.actor, **form.token)
        context = {"token": made, "fresh": plaintext, "row": self.row, "example": curl_line(self.request, plaintext)}
        return self.show_once("accounts/token_fresh.html", context)


@sensitive_variables()
def _lead_on(page: ServiceForm, user: User, fresh: str) -> HttpResponse:
    """Lead on to the user, or show the password that was generated."""
    if not fresh:
        return redirect("web:user", user.pk)
    return page.show_once("accounts/user_fresh_password.html", {"row": user, "fresh": fresh})
