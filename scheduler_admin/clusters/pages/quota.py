"""Kueue's quota on pages: in the units that people type, each share as a number that explains itself."""

from dataclasses import dataclass

from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from engine.explain import Message, share_sentence
from engine.model.quantities import format_amount
from engine.model.quota import FlavorStatus
from scheduler_admin.clusters.status.quota import Entry, Quota
from scheduler_admin.core.translation import html, marked_up
from scheduler_admin.core.words import listed


@dataclass(frozen=True)
class QuotaLine:
    """One resource in one flavor, as a row shows it; an empty limit is none."""

    flavor: str
    resource: str
    total: str
    lending: str
    borrowing: str
    used: str
    borrowed: str
    lent: str
    available: str

    @classmethod
    def of(cls, line: FlavorStatus) -> "QuotaLine":
        """Nothing borrowed and nothing lent is left empty: what is there stands out."""

        def told(amount: int | None) -> str:
            return "" if amount is None else format_amount(line.resource, amount)

        return cls(
            flavor=line.flavor,
            resource=line.resource,
            total=told(line.total),
            lending=told(line.lending_limit),
            borrowing=told(line.borrowing_limit),
            used=told(line.used),
            borrowed=told(line.borrowed or None),
            lent=told(line.lent or None),
            available=told(line.available),
        )


@dataclass(frozen=True)
class QuotaBlock:
    """A ClusterQueue or Cohort."""

    name: str
    cohort: bool
    above: str
    active: bool
    lines: tuple[QuotaLine, ...]
    share: Message | None
    """None where Kueue does not share fairly, and at the top."""

    @property
    def summary(self) -> SafeString:
        """What it is, in what, and what is special about it."""
        kind = _("Cohort") if self.cohort else _("ClusterQueue")
        above = _("in %(name)s") % {"name": self.above}
        parts = [f"{kind}, {above}" if self.above else kind]
        if not self.active:
            parts.append(_("not admitting workloads"))
        if self.share:
            parts.append(marked_up(_("share %(share)s"), share=html(self.share)))
        if not self.lines:
            parts.append(_("no quota"))
        return format_html_join("; ", "{}", ((part,) for part in parts))


def fair_sharing(quota: Quota | None) -> str:
    """Whether and how Kueue shares fairly, in a sentence; empty where there is no Kueue."""
    if quota is None:
        return ""
    if quota.fair is None:
        return _("Whether Kueue uses fair sharing is unknown: its configuration can’t be read.")
    if not quota.fair:
        return _("Kueue does not use fair sharing.")
    if not quota.strategies:
        return _("Kueue uses fair sharing.")
    return _("Kueue uses fair sharing with these preemption strategies, in this order: %(strategies)s.") % {
        "strategies": listed(quota.strategies)
    }


def block(quota: Quota | None, path: str) -> QuotaBlock | None:
    """That of a queue of the tree; None where it is none of Kueue's."""
    entry = quota.of(path) if quota else None
    return _block(quota, entry) if quota and entry else None


def elsewhere(quota: Quota | None) -> list[QuotaBlock]:
    """What has no queue in the tree."""
    return [_block(quota, entry) for entry in quota.elsewhere] if quota else []


def _block(quota: Quota, entry: Entry) -> QuotaBlock:
    one = entry.standing
    return QuotaBlock(
        name=one.name,
        cohort=one.cohort,
        above=one.above,
        active=one.active,
        lines=tuple(map(QuotaLine.of, one.lines)),
        share=share_sentence(one.share) if one.share and quota.fair is not False else None,
    )
