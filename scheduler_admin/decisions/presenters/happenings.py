"""What an event that is about no decision says, in one sentence, and the page with more of it."""

from datetime import datetime

from engine.explain import Message
from engine.model.message import plural_message
from scheduler_admin.core.links import application_url, pod_url, queue_url
from scheduler_admin.decisions.models import Happening
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.notifications.events.setbacks import AGAIN, STAYS, loop_message, refusal_message
from scheduler_admin.notifications.events.shortfalls import shortfall_message


def happening_told(cluster: str, row: Happening, redaction: Redaction) -> tuple[Message, str]:
    """The sentence, and the address of the page."""
    victim, facts = row.victim, row.facts
    if row.kind == Happening.Kind.BELOW:
        since = datetime.fromisoformat(facts["since"])
        return shortfall_message(facts["queue"], facts["pending_pods"], since), queue_url(cluster, facts["queue"])
    if row.kind == Happening.Kind.LOOP:
        seen = redaction.loop(row.turns)
        return loop_message(cluster, seen), application_url(seen.own[0].namespace, seen.own[0].application)
    assert victim is not None
    if row.kind == Happening.Kind.REFUSED:
        said = refusal_message(STAYS, victim.namespace, victim.name)
        return said, pod_url(cluster, victim.namespace, victim.name)
    said = plural_message(AGAIN, facts["times"], application=victim.application, namespace=victim.namespace)
    return said, application_url(victim.namespace, victim.application)
