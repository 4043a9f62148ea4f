"""What was decided and why, in one sentence."""

from collections.abc import Sequence

from engine.explain import Message, label, observed_sentence, sentence
from engine.model.decision import Decision as EngineDecision
from engine.observation.evictions import Observed
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.presenters.pods import event_sentence
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.decisions.selectors.decisions import read, read_observed
from scheduler_admin.decisions.selectors.pods import PodEvent, seen_by
from scheduler_admin.decisions.sentences import as_it_came, tense_of


def whole_sentence(
    row: Decision, engine: EngineDecision | None, observed: Observed | None, victims: Sequence[Victim]
) -> Message | None:
    """A decision for those who see everything; None where the stored document is of a kind that is not known here."""
    by = str(row.get_source_display())
    if observed is not None:
        return observed_sentence(observed, by=by)
    return sentence(as_it_came(engine, victims), tense_of(row, victims), by=by) if engine else None


def decision_sentence(
    redaction: Redaction, row: Decision, victims: Sequence[Victim], everyones: Sequence[Victim]
) -> Message:
    """A decision as its reader may see it: of another tenant's ask, why the first of the reader's ``victims`` goes.

    ``everyones``: all of its victims, which tell how far it has come.
    """
    if redaction.scope.everything:
        return whole_sentence(row, read(row), read_observed(row), victims) or label(row.reason)
    if redaction.owns(row):
        event, told = PodEvent(row, None), everyones
    else:
        event, told = PodEvent(row, victims[0]), victims[:1]
    return event_sentence(redaction, event, seen_by(redaction.scope, event), tense_of(row, told))
