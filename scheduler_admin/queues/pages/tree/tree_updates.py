"""The table of the tree, and what of it is news to a page that shows it: the rows that differ, where nothing else does.

A page says what it shows in ``X-Rows-Shown``: the digest of where that is, of all that is around its rows and of their
order, then each row's. Answers tell the first in ``X-Rows-Frame``.
"""

import hashlib
from dataclasses import dataclass

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from scheduler_admin.queues.pages.tree.tree_rows import Drawn, Place, draw
from scheduler_admin.site.live import Context

_ROWS = SafeString("<!-- rows -->")
"""Where the rows stand; no text of anybody's is put in unescaped."""


@dataclass(frozen=True)
class Table:
    """The table as a page shows it."""

    frame: str
    rows: list[Drawn]
    around: SafeString

    @property
    def html(self) -> SafeString:
        """All of it."""
        return SafeString(self.around.replace(_ROWS, "".join(row.html for row in self.rows), 1))

    def news(self, shown: str) -> list[Drawn] | None:
        """The rows that a page shows otherwise; None where it needs all anew."""
        frame, *digests = shown.split()
        if frame != self.frame or len(digests) != len(self.rows):
            return None
        changed = [row for row, had in zip(self.rows, digests, strict=True) if row.digest != had]
        return changed if 2 * len(changed) <= len(self.rows) else None


def table(request: HttpRequest, cluster: str, context: Context) -> Table:
    """The part of the page that changes; ``context`` is the page's."""
    tree = context["tree"]
    place = Place.here(cluster, request.GET, flat=bool(tree.sift.order))
    rows = draw(tree.rows, place)
    around = render_to_string("queues/_queues.html", {**context, "rows": _ROWS}, request)
    frame = hashlib.sha256(repr((around, place, [row.tree.path for row in tree.rows])).encode()).hexdigest()
    return Table(frame[:32], rows, around)


def drawn(request: HttpRequest, cluster: str, context: Context) -> Context:
    """What the templates of the page, and of its news, put in."""
    made = table(request, cluster, context)
    shown = request.headers.get("X-Rows-Shown", "")
    changed = made.news(shown) if shown.strip() else None
    # The rows replace those that stand there, one by one; nothing else of the page is touched.
    kept = {} if changed is None else {"HX-Reswap": "none"}
    whole = made.html if changed is None else None
    return {"drawn": whole, "frame": made.frame, "changed": changed, "headers": {"X-Rows-Frame": made.frame} | kept}
