"""Tags that every page shares: amounts, bars, standings, times, words of state."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from django import template
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from engine.model.message import format_amount_list
from engine.model.queue_tree import GuaranteeStatus
from scheduler_admin.core import words
from scheduler_admin.core.forms import MomentInput
from scheduler_admin.core.translation import marked_up
from scheduler_admin.queues.selectors.queues import Figure
from scheduler_admin.site import bars
from scheduler_admin.usage.selectors import Point, Series

register = template.Library()


register.simple_tag(words.comma)
register.simple_tag(words.list_comma)
register.simple_tag(words.semicolon)
register.simple_tag(words.colon)


@register.simple_tag
def amount(resource: str, value: int | None) -> SafeString:
    """``32Gi`` as people type it, the unit in lighter ink; a dash for nothing."""
    if value is None:
        return SafeString("–")
    digits, unit = words.readable(resource, value)
    return SafeString(f'{digits}<i class="u">{escape(unit)}</i>' if unit else digits)


@register.simple_tag
def promise(resource: str, guaranteed: int | None, limit: int | None) -> SafeString:
    """What a queue is guaranteed of a resource and may have at most: ``guaranteed 8, max 16``."""
    if guaranteed is None and limit is None:
        text = gettext("no guarantee, no max")
    elif guaranteed is None:
        text = gettext("no guarantee, max %(limit)s")
    elif limit is None:
        text = gettext("guarantee %(promised)s, no max")
    else:
        text = gettext("guarantee %(promised)s, max %(limit)s")
    return marked_up(text, promised=amount(resource, guaranteed), limit=amount(resource, limit))


@register.filter
def amounts(of: Mapping[str, int]) -> str:
    """Amounts in a row, as a manifest lists them: ``cpu 8, memory 64Gi``."""
    return format_amount_list(of)


@register.simple_tag
def amount_in(unit: words.Unit, value: int | None) -> SafeString:
    """The amount in its column's unit, so that digits line up; a dash for nothing."""
    if value is None:
        return format_html('<span class="dim">{}</span>', "–")
    whole, fraction = unit.split(value)
    tail = format_html('<i class="u">{}</i>', unit.name) if unit.name else ""
    if not unit.decimals:
        return format_html("{}{}", whole, tail)
    return format_html('{}<i class="frac d{}">{}</i>{}', whole, unit.decimals, fraction, tail)


@register.simple_tag
def column_head(word: str, unit: words.Unit) -> SafeString:
    """The head of a column of amounts, with the room that their fractions take."""
    room = format_html('<i class="frac d{}"></i>', unit.decimals) if unit.decimals and not unit.name else ""
    return format_html("<span>{}{}</span>", word, room)


@register.simple_tag(takes_context=True)
def amount_head(context: template.Context, kind: str, word: str, unit: words.Unit) -> SafeString:
    """The same as a link that sorts by it; ``kind``: which amount of the resource it is."""
    return column_head(sorting(context, f"{kind}:{unit.resource}", word), unit)


@register.simple_tag
def bar(used: int, guaranteed: int | None, limit: int | None) -> SafeString:
    """The bar of one queue and resource; None as guarantee: not granted; None as max: not limited."""
    return bars.bar(used, guaranteed, limit)


@register.simple_tag
def bar_of(figure: Figure) -> SafeString:
    """The bar of one queue and resource, against what it deserves where that is worked out."""
    if figure.deserved is None:
        return bars.bar(figure.used, figure.guaranteed, figure.max)
    return bars.bar(figure.used, figure.deserved, figure.max, figure.guaranteed or 0)


@register.simple_tag
def share_bar(used: int, guaranteed: int, capacity: int) -> SafeString:
    """The bar of a whole cluster: its scale is the capacity."""
    return bars.share_bar(used, guaranteed, capacity)


@register.simple_tag
def sparkline(counts: Sequence[int], label: str) -> SafeString:
    """Counts as a row of small bars, with their meaning as text."""
    return bars.sparkline(counts, label)


@register.simple_tag
def standing(used: int, promised: int | None, resource: str, *, shared: bool = False) -> SafeString:
    """Below, at or above the guarantee or deserved share: word, shape, colour, and by how much as people type it."""
    said = words.standing_text(used, promised, lambda value: words.amount_text(resource, value), shared=shared)
    return state_word(GuaranteeStatus.of(used, promised).value, said)


@register.simple_tag
def standing_in(unit: words.Unit, figure: Figure) -> SafeString:
    """The same against what is promised, with what of that is lent, in its column's unit."""
    used, promised = figure.used, figure.promised
    said = words.standing_text(used, promised, unit.text, figure.lent, shared=figure.deserved is not None)
    return state_word(GuaranteeStatus.of(used, promised).value, said)


@register.simple_tag
def short_standing_in(unit: words.Unit, figure: Figure) -> SafeString:
    """The same, with the one word that is shown instead where there is no room beside the amounts."""
    status = GuaranteeStatus.of(figure.used, figure.promised)
    said = words.standing_text(figure.used, figure.promised, unit.text, figure.lent)
    pattern = '<span class="st {}"><i aria-hidden="true">{}</i><span>{}</span></span>'
    return format_html(pattern, status.value, words.standing_word(status), said)


@register.simple_tag
def state_word(kind: str, word: str) -> SafeString:
    """A word of state with its shape. Kinds: ok, wait, shut, stop, warn, none, below, at, above."""
    return format_html('<span class="st {}">{}</span>', kind, word)


@register.simple_tag
def clock(at: datetime | None) -> SafeString:
    """A time of day; the browser writes it in the viewer's zone, the exact UTC time is on hover."""
    if at is None:
        return SafeString("–")
    return SafeString(_clock(at, timezone.now()))


_CLEAR = timedelta(hours=12)
"""As far away a time of day leaves no doubt which it is."""


def _clock(at: datetime, now: datetime) -> str:
    """Of a time nothing needs escaping; a table has hundreds."""
    iso = at.astimezone(UTC).isoformat()
    day, time = iso[:10], iso[11:19]
    text = time if abs(now - at) < _CLEAR else f"{day} {time[:5]}"
    return f'<time datetime="{iso}" title="{day} {time} UTC" data-clock>{text}</time>'


@register.simple_tag
def usage_rows(series: Series) -> SafeString:
    """The rows of a table of usage, the newest first. Put together here: there are hundreds, and most amounts recur."""
    known: dict[int | None, SafeString] = {}
    now = timezone.now()

    def cell(value: int | None) -> str:
        if value not in known:
            known[value] = amount(series.resource, value)
        return f'<td class="n">{known[value]}</td>'

    def row(point: Point) -> str:
        used = cell(point.used) + (cell(point.highest) if series.rolled else "")
        promised = (cell(point.deserved) if series.shared else "") + cell(point.guaranteed) + cell(point.max)
        return f'<tr><th scope="row">{_clock(point.at, now)}</th>{used}{promised}<td class="n">{point.asks}</td></tr>'

    return SafeString("".join(map(row, reversed(series.points))))


@register.simple_tag
def ago(at: datetime | None) -> SafeString:
    """How long ago, counting on in the browser."""
    if at is None:
        return SafeString("–")
    text = words.ago((timezone.now() - at).total_seconds())
    return _counting(at, "ago", text)


@register.simple_tag
def lasting(at: datetime | int | None) -> SafeString:
    """How long something lasts since ``at`` (a time, or milliseconds since 1970): ``6 min``, counting on."""
    if at is None:
        return SafeString("–")
    since = datetime.fromtimestamp(at / 1000, UTC) if isinstance(at, int) else at
    return _counting(since, "for", words.duration((timezone.now() - since).total_seconds()))


@register.simple_tag
def left(at: datetime) -> SafeString:
    """How long until then, counting down in the browser; without a script it stands as it was."""
    at = at.astimezone(UTC)
    text = words.duration((at - timezone.now()).total_seconds())
    return format_html(
        '<time role="timer" datetime="{}" title="{}" data-left>{}</time>', at.isoformat(), words.exact(at), text
    )


def _counting(at: datetime, kind: str, text: str) -> SafeString:
    at = at.astimezone(UTC)
    attribute = SafeString(f"data-{kind}")
    return format_html('<time datetime="{}" title="{}" {}>{}</time>', at.isoformat(), words.exact(at), attribute, text)


@register.simple_tag
def read_ago(at: datetime) -> SafeString:
    """When a cluster was last heard of; the refresh moves it on even where nothing else changed."""
    text = words.ago((timezone.now() - at).total_seconds())
    return format_html(
        '<time datetime="{}" title="{}" data-ago data-read>{}</time>', at.isoformat(), words.exact(at), text
    )


@register.simple_tag(takes_context=True)
def sorting(context: template.Context, order: str, words: str) -> SafeString:
    """The head of a column as a link that sorts by it, and the other way round where it is sorted so."""
    query = context["request"].GET.copy()
    now = query.get("sort", "")
    query["sort"] = f"-{order}" if now == order else order
    if now.removeprefix("-") != order:
        return format_html('<a class="sort" href="?{}">{}</a>', query.urlencode(), words)
    mark = format_html('<span aria-hidden="true">{}</span>', "▾" if now == order else "▴")  # aria-sort says it
    return format_html('<a class="sort by" href="?{}">{}{}</a>', query.urlencode(), words, mark)


_ASCENDING = frozenset({"name", "application", "node", "queue", "below", "wait"})
"""Orders that begin with the least; the others begin with the most."""


@register.simple_tag(takes_context=True)
def sort_state(context: template.Context, *columns: str) -> SafeString:
    """The attribute of a head that says how the table is sorted by it: by an order, or by amounts of a resource."""
    query = context["request"].GET.get("sort", "")
    order = query.removeprefix("-")
    if not any(order and column in (order, order.partition(":")[2]) for column in columns):
        return SafeString("")
    rising = (order in _ASCENDING) != query.startswith("-")
    return format_html(' aria-sort="{}"', "ascending" if rising else "descending")


_PAGES_BELOW = {
    "queues": ("queue", "application"),
    "nodes": ("node",),
    "history": ("repeats", "decision"),
    "editor": ("draft", "import", "revisions", "revision", "revision_export", "copies", "snapshots", "snapshot"),
    "compare": ("comparison",),
    "settings": ("connection", "priority_classes", "priority_class"),
    "pods": ("pod",),
}
"""Page of the navigation -> the pages below it."""


@register.simple_tag(takes_context=True)
def nav_link(context: template.Context, name: str, label: str, *, key: str, cluster: str = "") -> SafeString:
    """A page in the navigation, to which ``g`` ``key`` leads: current on itself, and lit on the pages below it."""
    try:
        url = reverse(f"web:{name}", args=[cluster] if cluster else [])
    except NoReverseMatch:  # an installation may leave a page out
        return SafeString("")
    page = context.get("page", "")
    current = "page" if page == name else "true" if page in _PAGES_BELOW.get(name, ()) else ""
    lit = format_html(' aria-current="{}"', current) if current else ""
    return format_html('<li><a href="{}" data-go="{}"{}>{}</a></li>', url, key, lit, label)


@register.simple_tag
def moment(name: str, at: datetime | None) -> SafeString:
    """Return a control for a date and a time of day, named and identified so."""
    return MomentInput({"id": f"f-{name}"}).render(name, at)


@register.simple_tag
def source(path: str | None, own: str) -> str:
    """Where a setting comes from: the queue itself, one above, or nowhere."""
    if path is None:
        return gettext("default")
    return gettext("this queue") if path == own else words.queue_name(path)


@register.filter
def queue_names(paths: Sequence[str]) -> str:
    """``queue-1, queue-2 and training``; of more than eight the first eight and how many more."""
    return words.names(paths, word=words.queue_name)


@register.filter
def milliseconds(value: int) -> str:
    """A delay in words: ``30 s``."""
    return words.duration(value / 1000)


@register.filter
def last_part(path: str) -> str:
    """The name of a queue from its path."""
    return words.queue_name(path)


@register.filter
def took(microseconds: int) -> str:
    """How long a pass took: ``41 ms``."""
    return words.took(microseconds)


@register.filter
def item(mapping: dict[str, object], key: str) -> object:
    """``mapping[key]``, None where it is missing."""
    return mapping.get(key)
