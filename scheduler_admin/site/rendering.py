"""Django's templates, whose contexts are gone as soon as a page is drawn."""

from typing import Any

from django.http import HttpRequest
from django.template import TemplateDoesNotExist
from django.template.backends import django
from django.template.context import make_context
from django.utils.safestring import SafeString


class Template(django.Template):
    """A template that forgets what it was given to draw a page of.

    A context refers to itself, so all that a page was made of would stay until the garbage collector looks at it.
    """

    def render(self, context: dict[str, Any] | None = None, request: HttpRequest | None = None) -> SafeString:
        """Return the page. Raises TemplateDoesNotExist, as Django does, if a template that it includes is missing."""
        made = make_context(context, request, autoescape=self.backend.engine.autoescape)
        try:
            return self.template.render(made)
        except TemplateDoesNotExist as error:
            django.reraise(error, self.backend)
        finally:
            made.dicts.clear()


class Templates(django.DjangoTemplates):
    """The backend of all pages."""

    def from_string(self, template_code: str) -> Template:
        """Return a template of this text."""
        return Template(self.engine.from_string(template_code), self)

    def get_template(self, template_name: str) -> Template:
        """Return a template by its name. Raises TemplateDoesNotExist if there is none."""
        return Template(super().get_template(template_name).template, self)
