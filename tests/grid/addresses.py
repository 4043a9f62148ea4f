"""Every address that the product answers, read off its URLconf."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.regex_helper import normalize


@dataclass(frozen=True)
class Route:
    """An address with places for its parameters: ``clusters/%(name)s/queues/``."""

    name: str
    """As ``reverse`` takes it: ``web:queues``; where a pattern has no name, its form."""
    namespace: str
    form: str
    parameters: tuple[str, ...]

    def address(self, values: Mapping[str, object]) -> str:
        """The address with its parameters filled in."""
        return "/" + self.form % {name: quote(str(values[name])) for name in self.parameters}

    def __str__(self) -> str:
        return self.name


def routes() -> list[Route]:
    """All of the root URLconf; a pattern with optional parts is one route for each of its forms."""
    return list(_below(get_resolver(), "", ()))


def _below(resolver: URLResolver, prefix: str, namespaces: tuple[str, ...]) -> Iterator[Route]:
    for pattern in resolver.url_patterns:
        expression = prefix + pattern.pattern.regex.pattern.removeprefix("^")
        if isinstance(pattern, URLPattern):
            for form, parameters in normalize(expression):
                name = ":".join((*namespaces, pattern.name)) if pattern.name else form
                yield Route(name, ":".join(namespaces), form, tuple(parameters))
        else:
            inner = (*namespaces, pattern.namespace) if pattern.namespace else namespaces
            yield from _below(pattern, expression, inner)
