"""What went wrong with a cluster, in the reader's language."""

from django.utils.translation import gettext as _

from engine.cluster.errors import ClusterError


def told(error: ClusterError) -> str:
    """The sentence, translated where it is one of ours."""
    return _(error.message) % error.params if error.params else _(error.message)
