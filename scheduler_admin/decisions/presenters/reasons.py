"""Why a pod waits, by the newest decision about it."""

from engine import explain
from scheduler_admin.accounts.scopes import Scope
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.selectors.decisions import read_observed
from scheduler_admin.decisions.selectors.pods import PodEvent, seen_by


def reasons(scope: Scope, row: Decision) -> list[explain.Message]:
    """Return why a pod waits; only the name of the reason where the trace cannot be read."""
    decision, others = seen_by(scope, PodEvent(row, None)), read_observed(row)
    if others is not None:
        return [explain.observed_preemptor(others, by=str(row.get_source_display()))]
    if decision is None:
        return [explain.label(row.reason)]
    said = explain.scheduler_message(decision)
    return [explain.reason(decision), *([said] if said else [])]
