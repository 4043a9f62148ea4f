"""A priority class as it is sent and received."""

from typing import Any

from rest_framework import serializers

from engine.formats.kubernetes.convert import NEVER
from scheduler_admin.core import limits
from scheduler_admin.priority_classes.selectors import Row
from scheduler_admin.rest.fields import UtcField

PREEMPTS = "PreemptLowerPriority"
POLICIES = [PREEMPTS, NEVER]


class PriorityClassPlaceSerializer(serializers.Serializer[Any]):
    """Pods of a priority class in one namespace and queue."""

    namespace = serializers.CharField(help_text="Namespace of the pods.")
    queue = serializers.CharField(
        allow_null=True, help_text="Path of the pods' queue; null if they belong to no queue."
    )
    running_pods = serializers.IntegerField(source="running", help_text="Number of running pods.")
    pending_pods = serializers.IntegerField(source="waiting", help_text="Number of pending pods.")


class PriorityClassUsageSerializer(serializers.Serializer[Any]):
    """The pods that use a priority class."""

    running_pods = serializers.IntegerField(source="running", help_text="Number of running pods.")
    pending_pods = serializers.IntegerField(source="waiting", help_text="Number of pending pods.")
    places = PriorityClassPlaceSerializer(
        many=True, help_text="Namespaces and queues with most pods first; at most fifty."
    )
    omitted_places = serializers.IntegerField(
        help_text="Number of namespaces and queues that are not listed.", source="more"
    )


class PriorityClassRequestSerializer(serializers.Serializer[Any]):
    """A priority class. Its name, value and preemption policy cannot be changed."""

    name = serializers.CharField(max_length=limits.OBJECT_NAME, help_text="Name of the priority class.")
    value = serializers.IntegerField(help_text="Priority value, at most 1000000000.")
    preemption_policy = serializers.ChoiceField(
        POLICIES, required=False, help_text="Kubernetes preemption policy of the class."
    )
    global_default = serializers.BooleanField(
        required=False, help_text="True if the class applies to new pods that name no class."
    )
    description = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False, help_text="Description of the class."
    )
    allow_preemption = serializers.BooleanField(
        required=False,
        help_text="False if the annotation `yunikorn.apache.org/allow-preemption` protects its pods from preemption.",
    )
    may_preempt = serializers.BooleanField(
        required=False,
        help_text="True if an annotation lets its pods preempt through Scheduler Admin despite policy `Never`.",
    )
    labels = serializers.DictField(
        child=serializers.CharField(allow_blank=True, trim_whitespace=False),
        required=False,
        help_text="Labels of the class.",
    )
    annotations = serializers.DictField(
        child=serializers.CharField(allow_blank=True, trim_whitespace=False),
        required=False,
        help_text="Annotations of the class.",
    )


class PriorityClassSerializer(PriorityClassRequestSerializer):
    """A priority class with the pods that use it."""

    kube_scheduler_preempts = serializers.BooleanField(
        help_text="True if kube-scheduler also preempts for pods of the class in managed queues."
    )
    usage = PriorityClassUsageSerializer(help_text="Pods that use the class.")

    def to_representation(self, instance: Row) -> dict[str, Any]:
        """Return the members of a class and of what hangs on it."""
        one = instance.one
        members = {
            "name": one.name,
            "value": one.value,
            "preemption_policy": NEVER if one.never_preempts else PREEMPTS,
            "global_default": one.global_default,
            "description": one.description,
            "allow_preemption": not one.opted_out,
            "may_preempt": one.may_preempt,
            "labels": one.labels,
            "annotations": one.annotations,
            "kube_scheduler_preempts": instance.rival,
            "usage": instance.use,
        }
        return super().to_representation(members)


class PriorityClassUpdateSerializer(serializers.Serializer[Any]):
    """Changes to a priority class; labels and annotations are merged, and null removes one."""

    global_default = serializers.BooleanField(
        required=False, help_text="True if the class applies to new pods that name no class."
    )
    description = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False, help_text="Description of the class."
    )
    allow_preemption = serializers.BooleanField(
        required=False,
        help_text="False if the annotation `yunikorn.apache.org/allow-preemption` protects its pods from preemption.",
    )
    may_preempt = serializers.BooleanField(
        required=False,
        help_text="True if an annotation lets its pods preempt through Scheduler Admin despite policy `Never`.",
    )
    labels = serializers.DictField(
        child=serializers.CharField(allow_blank=True, allow_null=True, trim_whitespace=False),
        required=False,
        help_text="Labels to change; null removes a label.",
    )
    annotations = serializers.DictField(
        child=serializers.CharField(allow_blank=True, allow_null=True, trim_whitespace=False),
        required=False,
        help_text="Annotations to change; null removes an annotation.",
    )


class ResourceQuotaRuleSerializer(serializers.Serializer[Any]):
    """A rule for the priority class of a pod."""

    operator = serializers.CharField(help_text="`In`, `NotIn`, `Exists` or `DoesNotExist`.")
    priority_classes = serializers.ListField(
        child=serializers.CharField(), source="classes", help_text="Priority classes that the operator applies to."
    )


class ResourceQuotaSerializer(serializers.Serializer[Any]):
    """A ResourceQuota that selects pods by priority class."""

    namespace = serializers.CharField(help_text="Namespace of the ResourceQuota.")
    name = serializers.CharField(help_text="Name of the ResourceQuota.")
    rules = ResourceQuotaRuleSerializer(
        many=True, help_text="Rules for the priority class of a pod; all of them must match."
    )
    scopes = serializers.ListField(child=serializers.CharField(), help_text="Further scopes of the ResourceQuota.")
    hard = serializers.DictField(child=serializers.CharField(), help_text="Hard limits by resource.")
    used = serializers.DictField(
        child=serializers.CharField(), help_text="Usage by resource; empty until Kubernetes has counted it."
    )


class PriorityClassesSerializer(serializers.Serializer[Any]):
    """All priority classes of a cluster, highest value first."""

    results = PriorityClassSerializer(many=True, help_text="Priority classes, highest value first.")
    pods_without_class = PriorityClassUsageSerializer(help_text="Pods that have no priority class.")
    deleted_classes = serializers.DictField(
        child=PriorityClassUsageSerializer(),
        help_text="Usage of class names that pods refer to but that no longer exist.",
    )
    resource_quotas = ResourceQuotaSerializer(many=True, help_text="ResourceQuotas that select pods by priority class.")
    resource_quotas_error = serializers.CharField(help_text="Why ResourceQuotas cannot be read; empty if they can.")
    read_at = UtcField(allow_null=True, help_text="Time when data was last received from the cluster; null if never.")
