"""The terms of the glossary that a page links to."""

from django import template

from scheduler_admin.site.glossary import Term, terms_of

register = template.Library()


@register.simple_tag(takes_context=True)
def page_terms(context: template.Context) -> list[Term]:
    """Return the terms of the page, in the words of the cluster's policy where the page says ``by_shares``."""
    return terms_of(context.get("page") or "", by_shares=bool(context.get("by_shares")))
