"""The table of who may preempt whom: thousands of cells, most of them alike."""

from collections.abc import Sequence

from django import template
from django.utils.formats import localize
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from scheduler_admin.core import translation
from scheduler_admin.fences.pairs import Cell, Line

register = template.Library()


@register.simple_tag
def pair_rows(lines: Sequence[Line]) -> SafeString:
    """A row for each; what two cells have alike is written once."""
    written = {cell: _cell(cell) for cell in {cell for line in lines for cell in line.cells}}
    return format_html_join(
        "\n",
        '<tr{}><th scope="row"><a class="rowlink" href="{}">{}</a></th>{}</tr>',
        (
            (
                SafeString(' class="chosen"' if line.chosen else ""),
                line.url,
                line.name,
                SafeString("".join([written[cell] for cell in line.cells])),
            )
            for line in lines
        ),
    )


def _cell(cell: Cell) -> SafeString:
    label, pods = translation.html(cell.label), localize(cell.pods)
    if cell.kind == "self":
        return format_html('<td class="self"><span class="vh">{}</span></td>', label)
    if cell.kind == "open":
        return format_html("<td><b>{}</b></td>", pods) if cell.pods else SafeString("<td>0</td>")
    if cell.kind == "odd":
        warned = format_html(
            '<span class="st warn"><span class="vh">{}</span> {}</span>', gettext("preempted anyway:"), pods
        )
        return format_html('<td class="no">{} {}</td>', label, warned)
    return format_html('<td class="no">{}{}</td>', label, format_html(" <b>{}</b>", pods) if cell.pods else "")
