"""What Volcano says of a pod that it evicts.

Source: volcano's pkg/scheduler/cache/cache.go and, for the last word, what its actions hand to it. It deletes the pod
and leaves an Event with the reason ``Evict`` on it:

    Pod is evicted, because of <preempt | reclaim | gangpreempt | gangreclaim | shuffle | words of a plugin's>

For which job it did so, it tells nobody but its own log.
"""

import re

GROUP_ANNOTATIONS = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")
"""By which a pod names its PodGroup."""
PREEMPTABLE = "volcano.sh/preemptable"
"""The annotation, or label, by which a pod says that it is not to be taken."""
_WORDS = "Pod is evicted, because of {}"
_FORM = re.compile(_WORDS.format(r"(?P<why>[-\w ]{1,30})"), re.ASCII)
"""Anybody may write an Event: what is no word, or is too long for one, is kept out here."""


def evicted(why: str) -> str:
    """What it says, with the word for why."""
    return _WORDS.format(why)


def told(message: str) -> str | None:
    """The word for why; None where the message is about something else."""
    form = _FORM.fullmatch(message.strip())
    return form["why"] if form else None
