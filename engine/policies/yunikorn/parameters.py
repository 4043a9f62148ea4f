"""The parameters of policy ``fence`` in dialect ``yunikorn``."""

import msgspec


class Parameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a revision may set for this dialect: what a partition of queues.yaml says of preemption.

    Source: PartitionPreemptionConfig of yunikorn-core (pkg/common/configs/config.go).
    """

    preemption: bool = True
    "Whether pending pods can preempt at all."
    check_delay: bool = True
    """Whether asks wait for their queue's delay; off only to ask what would happen."""
