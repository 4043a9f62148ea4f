"""Why room is made, as Events and conditions on pods say it: in English, as all that is written to clusters."""

from engine.policies import priority
from scheduler_admin.history.models import Decision, Victim
from scheduler_admin.history.redaction import Preemptor


def told_ask(row: Decision) -> str:
    """Why room is made for the ask, told to it."""
    if row.policy == priority.POLICY:
        return f"as their priority is below its {row.ask_priority}"
    return f"as queue {row.ask_queue} is below its guarantee"


def told_victim(row: Decision, victim: Victim, asker: Preemptor) -> str:
    """Why room is made for the ask, told to a victim."""
    if row.policy == priority.POLICY:
        higher = f"the higher priority {row.ask_priority}" if asker.queue else "a higher priority"
        why = f"as a pod of {higher} needs the room"
    else:
        queue = f"queue {asker.queue}" if asker.queue else "another queue"
        why = f"as {queue} is below its guarantee and queue {victim.queue} above its own"
    name = f"{asker.namespace}/{asker.name}" if asker.name else f"with UID {asker.uid}" if asker.uid else ""
    return f"{why}; the room is for the pod {name}" if name else why


def condition_reason(reason: str) -> str:
    """As Kubernetes writes the reasons of conditions: ``over-guarantee`` -> ``OverGuarantee``."""
    return "".join(part.capitalize() for part in reason.split("-"))
