"""The texts of a decision in the words for a group of pods: where one names the pending pod, it names the group."""

from collections.abc import Mapping

from engine.model.message import Message, gettext_noop, ngettext_noop

TEXTS: Mapping[str, str] = {
    # Safety checks
    "The pod is pending, belongs to a leaf queue, and is allowed to preempt": gettext_noop(
        "The pods are pending, belong to a leaf queue, and are allowed to preempt"
    ),
    "The pod is pending, its rules are supported, and it is allowed to preempt": gettext_noop(
        "The pods are pending, their rules are supported, and they are allowed to preempt"
    ),
    "Each victim, or a pod of its whole group, runs on a node that a pending pod gets": gettext_noop(
        "Each victim, or a pod of its whole group, runs on a node that a pod of the pending group gets"
    ),
    "The pending pod fits on the node once the victims are gone": gettext_noop(
        "Every pod of the group fits on its node once the victims are gone"
    ),
    "Every pending pod fits on its node once the victims are gone": gettext_noop(
        "Every pod of the group fits on its node once the victims are gone"
    ),
    "The pending pod’s queues stay within their max": gettext_noop("The group’s queues stay within their max"),
    "The pending pod’s queues stay within their hard caps": gettext_noop(
        "The group’s queues stay within their hard caps"
    ),
    "The pending pod’s queue is below its guarantee in every resource it requests": gettext_noop(
        "For each pod of the group that needs evictions, the queue is below its guarantee in every requested resource"
    ),
    "The pending pod’s queue stays within its deserved share": gettext_noop(
        "The group’s queue stays within its deserved share"
    ),
    "Victims have a lower priority than the pending pod": gettext_noop("Victims have a lower priority than the group"),
    # Safety checks that failed
    "Rejected: the pod is not allowed to preempt.": gettext_noop(
        "Rejected: a pod of the group is not allowed to preempt."
    ),
    "Rejected: a victim runs on no node that a pending pod gets.": gettext_noop(
        "Rejected: a victim runs on no node that a pod of the group gets."
    ),
    "Rejected: the pending pod does not fit on the node even without the victims.": gettext_noop(
        "Rejected: a pod of the group does not fit on its node even without the victims."
    ),
    "Rejected: the pending pod would take a queue above its max.": gettext_noop(
        "Rejected: the group would take a queue above its max."
    ),
    "Rejected: the pending pod would take a queue above its hard cap.": gettext_noop(
        "Rejected: the group would take a queue above its hard cap."
    ),
    "Rejected: a victim is of the pending pod’s own application or queue.": gettext_noop(
        "Rejected: a victim is of the group’s own application or queue."
    ),
    "Rejected: a victim is in the pending pod’s own queue.": gettext_noop(
        "Rejected: a victim is in the group’s own queue."
    ),
    "Rejected: the pending pod’s queue is not below its guarantee in every resource it requests.": gettext_noop(
        "Rejected: for a pod of the group, the queue is not below its guarantee in every requested resource."
    ),
    "Rejected: a victim has a higher priority than the pending pod.": gettext_noop(
        "Rejected: a victim has a higher priority than the group."
    ),
    "Rejected: a victim’s priority is not lower than the pending pod’s.": gettext_noop(
        "Rejected: a victim’s priority is not lower than the group’s."
    ),
    "Rejected: a victim is outside the fence of the pending pod’s queue.": gettext_noop(
        "Rejected: a victim is outside the fence of the group’s queue."
    ),
    "Rejected: preemption is disabled in the queue of the pending pod or of a victim.": gettext_noop(
        "Rejected: preemption is disabled in the queue of the group or of a victim."
    ),
    "Rejected: the pending pod would take its queue above its deserved share.": gettext_noop(
        "Rejected: the group would take its queue above its deserved share."
    ),
    "Rejected: the queue of the pending pod or of a victim is paused.": gettext_noop(
        "Rejected: the queue of the group or of a victim is paused."
    ),
    "Rejected: the pending pod or a victim is outside the scope of Enforce.": gettext_noop(
        "Rejected: the group or a victim is outside the scope of Enforce."
    ),
    "The pending pod does not fit on the node even without the victims.": gettext_noop(
        "A pod of the group does not fit on its node even without the victims."
    ),
    "The pending pod takes a queue above its max.": gettext_noop("The group takes a queue above its max."),
    "A victim is of the pending pod’s own application or queue.": gettext_noop(
        "A victim is of the group’s own application or queue."
    ),
    "The pending pod’s queue is not below its guarantee in every resource it requests.": gettext_noop(
        "For a pod of the group, the queue is not below its guarantee in every requested resource."
    ),
    "A victim has a higher priority than the pending pod.": gettext_noop(
        "A victim has a higher priority than the group."
    ),
    "A victim is outside the fence of the pending pod’s queue.": gettext_noop(
        "A victim is outside the fence of the group’s queue."
    ),
    "Preemption is disabled in the queue of the pending pod or of a victim.": gettext_noop(
        "Preemption is disabled in the queue of the group or of a victim."
    ),
    # In place of the arithmetic of safety checks, or within it
    "the queues have no max for what the pod requests": gettext_noop(
        "the queues have no max for what the group requests"
    ),
    "the pending pod and all victims are in it": gettext_noop("the group and all victims are in it"),
    "a high-priority pod may exceed the deserved share": gettext_noop(
        "a high-priority group may exceed the deserved share"
    ),
    "a high-priority pod may also preempt other queues": gettext_noop(
        "a high-priority group may also preempt other queues"
    ),
    "a high-priority pod does not wait for the grace period": gettext_noop(
        "a high-priority group does not wait for the grace period"
    ),
    "without evicting %(pod)s, the pending pod does not fit: %(short)s": gettext_noop(
        "without evicting %(pod)s, the group does not fit: %(short)s"
    ),
    # Running pods
    "must stay: the pending pod can run only near it (pod affinity)": gettext_noop(
        "must stay: a pod of the group can run only near it (pod affinity)"
    ),
    "is in %(queue)s, like the pending pod": gettext_noop("is in %(queue)s, like the group"),
    "belongs to the pending pod’s own application": gettext_noop("belongs to the group’s own application"),
    "is in %(queue)s, whose guarantee the pending pod claims": gettext_noop(
        "is in %(queue)s, whose guarantee the group claims"
    ),
    "has priority %(priority)s, which is not lower than the pending pod’s": gettext_noop(
        "has priority %(priority)s, which is not lower than the group’s"
    ),
    "can be preempted, but was spared: the pending pod fits beside it": gettext_noop(
        "can be preempted, but was spared: the group fits beside it"
    ),
    "can be preempted, but was spared first because of the disruption budget %(budget)s: the pending pod fits beside "
    "it": gettext_noop(
        "can be preempted, but was spared first because of the disruption budget %(budget)s: the group fits beside it"
    ),
    "same queue as the pending pod": gettext_noop("same queue as the group"),
    # Nodes
    "taint %(detail)s, which the pending pod does not tolerate": gettext_noop(
        "taint %(detail)s, which the group’s pods do not tolerate"
    ),
    "lacks the label %(detail)s that the pending pod’s node selector requires": gettext_noop(
        "lacks the label %(detail)s that the node selector of the group’s pods requires"
    ),
    "does not match the pending pod’s node affinity": gettext_noop(
        "does not match the node affinity of the group’s pods"
    ),
    "the pending pod’s PersistentVolumeClaim %(detail)s is not bound to a volume": gettext_noop(
        "the PersistentVolumeClaim %(detail)s of a pod of the group is not bound to a volume"
    ),
    "lacks the label %(detail)s, which the pending pod is spread by": gettext_noop(
        "lacks the label %(detail)s, which the group’s pods are spread by"
    ),
    "its %(detail)s has no pod that the pending pod must be near": gettext_noop(
        "its %(detail)s has no pod that the group’s pods must be near"
    ),
    "its %(detail)s has a pod that the pending pod must avoid": gettext_noop(
        "its %(detail)s has a pod that the group’s pods must avoid"
    ),
    "its %(detail)s has a pod that must avoid the pending pod": gettext_noop(
        "its %(detail)s has a pod that must avoid the group’s pods"
    ),
    "reserved for another pending pod": gettext_noop("reserved for other pending pods"),
    # Safeguards
    "On hold: the queue of the pending pod or of a victim is paused.": gettext_noop(
        "On hold: the queue of the group or of a victim is paused."
    ),
    "On hold: the last decision for this pod did not help it, so the engine waits before the next one.": gettext_noop(
        "On hold: the last decision for this group did not help it, so the engine waits before the next one."
    ),
    "On hold: Enforce is limited to some queues and namespaces, and the pending pod or a victim is outside "
    "them.": gettext_noop(
        "On hold: Enforce is limited to some queues and namespaces, and the group or a victim is outside them."
    ),
    "On hold: %(queue)s is paused, and the pending pod does not fit without evicting its pods.": gettext_noop(
        "On hold: %(queue)s is paused, and the group does not fit without evicting its pods."
    ),
    # What became of it
    "The decision was made to free capacity on %(node)s.": gettext_noop(
        "The decision was made to free capacity for the whole group."
    ),
    "Its victims were evicted in vain: the pending pod was deleted before it could run.": gettext_noop(
        "Its victims were evicted in vain: too few pods of the group were left before it could run."
    ),
    "Its victims were evicted in vain: other pods took the room on %(node)s first. kube-scheduler does not reserve "
    "it.": gettext_noop(
        "Its victims were evicted in vain: other pods took the room first. kube-scheduler does not reserve it."
    ),
    "Its victims were evicted in vain: other pods took the room on %(node)s first. These started there since then, "
    "highest priority first: %(pods)s. kube-scheduler does not reserve the room.": gettext_noop(
        "Its victims were evicted in vain: other pods took the room first. These started on its nodes since then, "
        "highest priority first: %(pods)s. kube-scheduler does not reserve the room."
    ),
    # For whom a victim went
    "%(pod)s was chosen to make room for a pod of queue %(asker)s.": gettext_noop(
        "%(pod)s was chosen to make room for a group of pods of queue %(asker)s."
    ),
    "%(pod)s was chosen to make room for another pod.": gettext_noop(
        "%(pod)s was chosen to make room for a group of pods."
    ),
    "The room is needed for the pod with UID %(uid)s.": gettext_noop(
        "The room is needed for a group of pods. Its first pod has the UID %(uid)s."
    ),
    "The room is needed for pod %(pod)s in namespace %(namespace)s (UID %(uid)s).": gettext_noop(
        "The room is needed for a group of pods in namespace %(namespace)s. Its first pod is %(pod)s (UID %(uid)s)."
    ),
    "%(by)s preempted %(pod)s on %(node)s to make room for a pod of %(asker)s with a higher priority.": gettext_noop(
        "%(by)s preempted %(pod)s on %(node)s to make room for a group of pods of %(asker)s with a higher priority."
    ),
    "%(by)s preempted %(pod)s on %(node)s to make room for a pod of %(asker)s.": gettext_noop(
        "%(by)s preempted %(pod)s on %(node)s to make room for a group of pods of %(asker)s."
    ),
    "%(by)s preempted %(pod)s on %(node)s to make room for another pod.": gettext_noop(
        "%(by)s preempted %(pod)s on %(node)s to make room for a group of pods."
    ),
    # Why it ended so
    "It has scheduling rules that are not supported here (%(rules)s), so no decision is made for it.": gettext_noop(
        "The group or a pod of it has scheduling rules that are not supported here (%(rules)s), so no decision is made "
        "for the group."
    ),
    "It belongs to no queue: its label names no leaf queue, and no leaf queue claims the namespace "
    "%(namespace)s.": gettext_noop(
        "A pod of the group belongs to no queue: its label names no leaf queue, and no leaf queue claims the namespace "
        "%(namespace)s."
    ),
}
"""Text about a single pending pod -> the text about a group in its place."""
PLURALS: Mapping[str, tuple[str, str]] = {
    "its %(detail)s has a pod that the pending pod must avoid, even without the %(count)s pod that can be "
    "preempted": ngettext_noop(
        "its %(detail)s has a pod that the group’s pods must avoid, even without the %(count)s pod that can be "
        "preempted",
        "its %(detail)s has a pod that the group’s pods must avoid, even without the %(count)s pods that can be "
        "preempted",
    ),
    "its %(detail)s has a pod that must avoid the pending pod, even without the %(count)s pod that can be "
    "preempted": ngettext_noop(
        "its %(detail)s has a pod that must avoid the group’s pods, even without the %(count)s pod that can be "
        "preempted",
        "its %(detail)s has a pod that must avoid the group’s pods, even without the %(count)s pods that can be "
        "preempted",
    ),
    "without the %(count)s pod that can be preempted, its %(detail)s has none of the pods that the pending pod must be "
    "near; the search removes it first": ngettext_noop(
        "without the %(count)s pod that can be preempted, its %(detail)s has none of the pods that the group’s pods "
        "must be near; the search removes it first",
        "without the %(count)s pods that can be preempted, its %(detail)s has none of the pods that the group’s pods "
        "must be near; the search removes all of them first",
    ),
    "A victim has priority %(most)s, while %(count)s pod with a lower priority on the same node was spared (%(pods)s), "
    "because the pending pod fits beside it.": ngettext_noop(
        "A victim has priority %(most)s, while %(count)s pod with a lower priority on the same node was spared "
        "(%(pods)s), because the group fits beside it.",
        "A victim has priority %(most)s, while %(count)s pods with lower priorities on the same node were spared "
        "(%(pods)s), because the group fits beside them.",
    ),
    "The priority class %(classes)s gives the pending pod priority %(most)s, higher than every running pod except "
    "system pods, so %(count)s pod is preempted for it (%(pods)s). If it is not that important, recreate it with a "
    "lower priority class.": ngettext_noop(
        "The priority class %(classes)s gives the group priority %(most)s, higher than every running pod except system "
        "pods, so %(count)s pod is preempted for it (%(pods)s). If it is not that important, recreate it with a lower "
        "priority class.",
        "The priority class %(classes)s gives the group priority %(most)s, higher than every running pod except system "
        "pods, so %(count)s pods are preempted for it (%(pods)s). If it is not that important, recreate it with a "
        "lower priority class.",
    ),
    "Node %(nodes)s is not ready, possibly because it was just added. Once it is ready, the pending pod would fit "
    "there without preemption. kube-scheduler does not wait for that.": ngettext_noop(
        "Node %(nodes)s is not ready, possibly because it was just added. Once it is ready, pods of the group would "
        "fit there without preemption. kube-scheduler does not wait for that.",
        "Nodes such as %(nodes)s are not ready, possibly because they were just added. Once they are ready, pods of "
        "the group would fit there without preemption. kube-scheduler does not wait for that.",
    ),
}
"""The same for texts that count, by their singular."""


def for_group(message: Message) -> Message:
    """Return a message of a decision about a group in the words for a group; most messages are the same."""
    if message.count is not None:
        singular, plural = PLURALS.get(message.id, (message.id, message.plural))
        return _with(message, singular, plural)
    return _with(message, TEXTS.get(message.id, message.id), "")


def _with(message: Message, text: str, plural: str) -> Message:
    if text == message.id:
        return message
    params = {name: value for name, value in message.params.items() if f"%({name})s" in text or f"%({name})s" in plural}
    return Message(text, params, plural=plural, count=message.count)
