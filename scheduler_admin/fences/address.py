"""What the address of the page asks for: whence it is seen, which time, what is open, folded, and drawn alone."""

from collections.abc import Container
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

SINCE_TEXTS = {"24h": _("last 24 hours"), "7d": _("last 7 days"), "30d": _("last 30 days"), "none": _("none")}
SINCE = tuple(SINCE_TEXTS)
NEVER, DEFAULT_SINCE = "none", "7d"


@dataclass(frozen=True)
class Choice:
    """What the address asks for. Unknown queues and words count as not said.

    ``inside``: the queue that is drawn alone, with all that is in it.
    """

    queue: str = ""
    since: str = DEFAULT_SINCE
    opened: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()
    inside: str = ""

    @classmethod
    def read(cls, query: QueryDict, seen: Container[str]) -> "Choice":
        """From a page's query and the queues that its reader may see."""

        def one(name: str) -> str:
            return path if (path := query.get(name, "")) in seen else ""

        def some(name: str) -> tuple[str, ...]:
            return tuple(dict.fromkeys(path for path in query.getlist(name) if path in seen))

        since = query.get("since", "")
        return cls(one("queue"), since if since in SINCE else DEFAULT_SINCE, some("open"), some("fold"), one("in"))

    @property
    def since_text(self) -> str:
        """The time in words, empty if what happened is not drawn."""
        return "" if self.since == NEVER else str(SINCE_TEXTS[self.since])

    @property
    def plain(self) -> bool:
        """Whether it asks for nothing but a time."""
        return self == Choice(since=self.since)

    def address(self, **changed: Any) -> str:
        """The query of this page with something else chosen."""
        to = replace(self, **changed)
        given = [("queue", to.queue), ("since", to.since)]
        query = [(name, value) for name, value in given if value not in ("", DEFAULT_SINCE)]
        query += [("open", path) for path in to.opened] + [("fold", path) for path in to.folded]
        return "?" + urlencode([*query, *([("in", to.inside)] if to.inside else [])])

    def opening(self, path: str) -> str:
        """The address where a queue is open as well."""
        return self.address(opened=(*self.opened, path), folded=tuple(one for one in self.folded if one != path))

    def folding(self, path: str) -> str:
        """The address where it is folded, with all that was opened in it."""
        opened = tuple(one for one in self.opened if not f"{one}.".startswith(f"{path}."))
        return self.address(opened=opened, folded=(*self.folded, path))
