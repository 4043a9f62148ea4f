"""Tags of the pages that explain: messages in the reader's language."""

from django import template
from django.utils.safestring import SafeString

from engine.explain import Message
from scheduler_admin.core import translation

register = template.Library()


@register.filter
def said(message: Message) -> SafeString:
    """A message with its names and moments marked up."""
    return translation.html(message)


@register.filter
def said_plain(message: Message) -> str:
    """A message as plain text, for titles and attributes."""
    return translation.text(message)


@register.filter
def short_resource(resource: str) -> str:
    """A resource without its vendor, for the head of a column: ``gpu``."""
    return resource.rpartition("/")[2]
