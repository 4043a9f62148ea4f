"""Tags of empty pages: what the reader may do about it, and whom a tenant can ask."""

from django import template

from scheduler_admin.accounts.scopes import Action, scope_of
from scheduler_admin.accounts.selectors import site

register = template.Library()


@register.simple_tag(takes_context=True)
def may(context: template.Context, action: Action) -> bool:
    """Whether the reader may do this everywhere."""
    return scope_of(context["user"], action).everything


@register.simple_tag
def contact_for_tenants() -> str:
    """Return whom tenants can ask, as the settings of the site say. Empty where they say nothing."""
    return site().support_contact
