"""Clusters' limits in Django's admin site, for repairs. Mode and pause are changed where they are checked."""

from django.contrib import admin

from scheduler_admin.clusters.models import Cluster


@admin.register(Cluster)
class ClusterAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # the stubs' generics are not there at run time
    """How to reach a cluster, and its limits."""

    list_display = ("name", "hierarchy", "mode", "evictions_per_minute", "reserved_nodes")
    fields = (
        "name", "hierarchy", "kubeconfig", "context", "interval_ms", "evictions_per_minute", "reserved_nodes",
        "bind_margin_s", "protected_namespaces", "publish",
    )  # fmt: skip
    readonly_fields = ("kubeconfig", "context")  # whoever names a file here could run what it names
