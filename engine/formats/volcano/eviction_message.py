"""The message that Volcano writes about a pod that it evicts.

Source: volcano's pkg/scheduler/cache/cache.go and, for the last word, the reasons that its actions pass to it. Volcano
deletes the pod and records an Event with the reason ``Evict`` on it:

    Pod is evicted, because of <preempt | reclaim | gangpreempt | gangreclaim | shuffle | a plugin's own words>

The job for which the pod was evicted appears only in Volcano's log.
"""

import re

GROUP_ANNOTATIONS = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")
"""Annotations in which a pod names its PodGroup."""
PREEMPTABLE = "volcano.sh/preemptable"
"""Annotation, or label, in which a pod states whether it may be preempted."""
_WORDS = "Pod is evicted, because of {}"
_FORM = re.compile(_WORDS.format(r"(?P<why>[-\w ]{1,30})"), re.ASCII)
"""Anybody may write an Event, so a reason that is not a word or is too long is rejected."""


def format_eviction(why: str) -> str:
    """Return Volcano's eviction message with a reason."""
    return _WORDS.format(why)


def parse_eviction_reason(message: str) -> str | None:
    """Return the reason in an eviction message; None if the message is about something else."""
    form = _FORM.fullmatch(message.strip())
    return form["why"] if form else None
