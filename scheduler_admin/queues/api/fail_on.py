"""What a sender rules out (``fail_on``): a tree that would do it is answered by 409, and not published."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from rest_framework import serializers


class Limit(StrEnum):
    """A word of ``fail_on``."""

    PREEMPTIONS = "preemptions"
    LOOPS = "loops"
    UNREACHABLE = "unreachable"
    UNKNOWN = "unknown"
    ORPHANS = "orphans"
    LINT_INFO = "lint:info"
    LINT_WARNING = "lint:warning"
    LINT_ERROR = "lint:error"


_SEVERITIES = {
    Limit.LINT_INFO: ("info", "warning"),
    Limit.LINT_WARNING: ("warning",),
    Limit.LINT_ERROR: (),  # a tree with an error is refused anyway: the word may be said
}


class LimitField(serializers.ChoiceField):
    """A word of ``fail_on``."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(list(Limit), **kwargs)

    def to_internal_value(self, data: Any) -> Limit:
        """Return the word. Raises ValidationError, with all words that there are."""
        if data not in set(Limit):
            said = _("%(word)s is not a valid value. Valid values: %(words)s.")
            raise serializers.ValidationError(said % {"word": data, "words": ", ".join(Limit)})
        return Limit(data)


def broken(outcome: Mapping[str, Any], limits: frozenset[Limit]) -> list[dict[str, Any]]:
    """Members of a problem's errors: all that an outcome, as it is answered, has in it of what is ruled out."""
    return [*_odd(outcome["findings"], limits), *_foretold(outcome["forecasts"], limits)]


def _odd(findings: Iterable[Mapping[str, Any]], limits: frozenset[Limit]) -> Iterator[dict[str, Any]]:
    refused = {severity for limit in limits for severity in _SEVERITIES.get(limit, ())}
    for found in findings:
        if found["severity"] in refused:
            place = {name: found[name] for name in ("queue", "line", "pointer", "remedy", "cluster") if found.get(name)}
            yield {"detail": found["sentence"], **place}


def _foretold(rows: Sequence[Mapping[str, Any]], limits: frozenset[Limit]) -> Iterator[dict[str, Any]]:
    if not rows and Limit.UNKNOWN in limits:
        yield {"detail": _("No cluster uses this hierarchy, so preemptions can't be forecast.")}
    for row in rows:
        told = [*(_unknown(row) if row["forecast"] is None else _known(row["cluster"], row["forecast"]))]
        told += [(Limit.ORPHANS, row["orphans"]["sentence"])] if row["orphans"] else []
        yield from ({"detail": sentence, "cluster": row["cluster"]} for limit, sentence in told if limit in limits)


def _unknown(row: Mapping[str, Any]) -> Iterator[tuple[Limit, str]]:
    said = _("The preemptions in %(cluster)s can't be forecast. %(reason)s")
    yield Limit.UNKNOWN, said % {"cluster": row["cluster"], "reason": row["reason"]}


def _known(cluster: str, found: Mapping[str, Any]) -> Iterator[tuple[Limit, str]]:
    if pods := found["caused_evictions"]["pods"]:
        said = ngettext(
            "The change would preempt %(pods)d pod in %(cluster)s.",
            "The change would preempt %(pods)d pods in %(cluster)s.",
            pods,
        )
        yield Limit.PREEMPTIONS, said % {"pods": pods, "cluster": cluster}
    if found["stability"] == "loop":
        yield Limit.LOOPS, _("The change would cause an endless preemption loop in %(cluster)s.") % {"cluster": cluster}
    for queue in dict.fromkeys(one["queue"] for one in found["unreachable_guarantees"]):
        said = _("%(queue)s would stay below its guarantee in %(cluster)s.")
        yield Limit.UNREACHABLE, said % {"queue": queue, "cluster": cluster}
