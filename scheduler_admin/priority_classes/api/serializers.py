"""A priority class as it is sent and received."""

from typing import Any

from rest_framework import serializers

from engine.formats.kubernetes.convert import NEVER
from scheduler_admin.core import limits
from scheduler_admin.priority_classes.selectors import Row
from scheduler_admin.rest.fields import UtcField

PREEMPTS = "PreemptLowerPriority"
POLICIES = [PREEMPTS, NEVER]


class PlaceSerializer(serializers.Serializer[Any]):
    """Pods of a class in one namespace and queue."""

    namespace = serializers.CharField()
    queue = serializers.CharField(allow_null=True, help_text="Null: in none.")
    running = serializers.IntegerField()
    waiting = serializers.IntegerField()


class UseSerializer(serializers.Serializer[Any]):
    """Who has a class."""

    running = serializers.IntegerField()
    waiting = serializers.IntegerField()
    places = PlaceSerializer(many=True, help_text="Those with the most pods first, at most fifty.")
    more = serializers.IntegerField(help_text="Places that are not listed.")


class PriorityClassSerializer(serializers.Serializer[Any]):
    """A class. The name, the value and the policy stay for life."""

    name = serializers.CharField(max_length=limits.OBJECT_NAME)
    value = serializers.IntegerField(help_text="32 bits, at most 1000000000.")
    preemption_policy = serializers.ChoiceField(POLICIES, required=False)
    global_default = serializers.BooleanField(required=False, help_text="For new pods that name no class.")
    description = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    allow_preemption = serializers.BooleanField(
        required=False, help_text='False: the annotation yunikorn.apache.org/allow-preemption: "false".'
    )
    may_preempt = serializers.BooleanField(
        required=False,
        help_text='True: the annotation scheduler-admin.io/may-preempt: "true", which counts with Never.',
    )
    labels = serializers.DictField(child=serializers.CharField(allow_blank=True, trim_whitespace=False), required=False)
    annotations = serializers.DictField(
        child=serializers.CharField(allow_blank=True, trim_whitespace=False), required=False
    )


class SeenClassSerializer(PriorityClassSerializer):
    """A class with what hangs on it."""

    kube_scheduler_preempts = serializers.BooleanField(
        help_text="Whether the cluster's own scheduler preempts for its pods in our queues, beside the engine."
    )
    use = UseSerializer()

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
            "use": instance.use,
        }
        return super().to_representation(members)


class ClassChangeSerializer(serializers.Serializer[Any]):
    """What may change of a class; labels and annotations are merged, null takes one away."""

    global_default = serializers.BooleanField(required=False)
    description = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    allow_preemption = serializers.BooleanField(required=False)
    may_preempt = serializers.BooleanField(required=False)
    labels = serializers.DictField(
        child=serializers.CharField(allow_blank=True, allow_null=True, trim_whitespace=False), required=False
    )
    annotations = serializers.DictField(
        child=serializers.CharField(allow_blank=True, allow_null=True, trim_whitespace=False), required=False
    )


class RuleSerializer(serializers.Serializer[Any]):
    """Of which classes a pod has to be."""

    operator = serializers.CharField(help_text="In, NotIn, Exists or DoesNotExist.")
    classes = serializers.ListField(child=serializers.CharField())


class QuotaSerializer(serializers.Serializer[Any]):
    """A ResourceQuota by priority class."""

    namespace = serializers.CharField()
    name = serializers.CharField()
    rules = RuleSerializer(many=True, help_text="All of them hold for a pod that counts.")
    scopes = serializers.ListField(child=serializers.CharField(), help_text="Within which it lies besides.")
    hard = serializers.DictField(child=serializers.CharField())
    used = serializers.DictField(child=serializers.CharField(), help_text="Empty until the quota was counted.")


class PriorityClassesSerializer(serializers.Serializer[Any]):
    """All classes of a cluster, the highest first."""

    results = SeenClassSerializer(many=True)
    without = UseSerializer(help_text="Pods that have no class.")
    gone = serializers.DictField(child=UseSerializer(), help_text="Names that pods have and no class has any more.")
    quotas = QuotaSerializer(many=True)
    quotas_error = serializers.CharField(help_text="Why quotas can't be read; empty when they can.")
    read_at = UtcField(allow_null=True)
