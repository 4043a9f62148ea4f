"""The audit log: who did what, when and why, with what was before and after; and the same as CSV and JSON."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from django.http import HttpRequest, StreamingHttpResponse

from scheduler_admin.accounts.audit_log import COLUMNS, audit_line, facts
from scheduler_admin.accounts.forms.audit_log import AuditFilterForm
from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.accounts.pages.people.base import StaffAccess, StaffPage
from scheduler_admin.core.paging import PAGE, Cursor, newest
from scheduler_admin.decisions.exports import csv_lines, json_lines

_CHUNK = 1000


class AuditLog(StaffPage):
    """The events that the address asks for, the newest first."""

    template_name = "accounts/audit_log.html"
    section = "audit_log"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return a page of events, and the query of the one below it."""
        form = AuditFilterForm(self.request.GET)
        rows, place = newest(form.filters.rows(), Cursor.of(self.request.GET.get("before", "")), PAGE, number="pk")
        asked = self.request.GET.copy()
        asked.pop("before", None)
        return super().get_context_data(
            **kwargs,
            form=form,
            lines=[audit_line(row) for row in rows],
            address=asked.urlencode(),
            older=str(place) if place else "",
            paged="before" in self.request.GET,
        )


class Export(StaffAccess):
    """The same events as a file, without the pages."""

    ending: ClassVar[str]
    content_type: ClassVar[str]

    def get(self, request: HttpRequest) -> StreamingHttpResponse:
        """Send a row at a time."""
        rows = AuditFilterForm(request.GET).filters.rows().order_by("-at", "-pk").iterator(_CHUNK)
        response = StreamingHttpResponse(self.lines(rows), content_type=self.content_type)
        response["Content-Disposition"] = f'attachment; filename="audit-log.{self.ending}"'
        response["Cache-Control"] = "private, no-store"
        return response

    def lines(self, rows: Iterable[AuditEvent]) -> Iterator[str]:
        """Yield the lines of the file."""
        raise NotImplementedError


class AsCsv(Export):
    """A row for each event, its details as JSON."""

    ending = "csv"
    content_type = "text/csv; charset=utf-8"

    def lines(self, rows: Iterable[AuditEvent]) -> Iterator[str]:
        """Yield the header, and a line for each event."""
        each = (facts(row) for row in rows)
        return csv_lines(COLUMNS, (row | {"details": json.dumps(row["details"], ensure_ascii=False)} for row in each))


class AsJson(Export):
    """A list, an object for each event."""

    ending = "json"
    content_type = "application/json"

    def lines(self, rows: Iterable[AuditEvent]) -> Iterator[str]:
        """Yield the list, an object a line."""
        return json_lines(map(facts, rows))
