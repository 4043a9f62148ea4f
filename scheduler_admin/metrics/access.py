"""Who reads metrics: they name queues of every tenant."""

from django.conf import settings
from django.utils.crypto import constant_time_compare
from django.views.decorators.debug import sensitive_variables


@sensitive_variables()
def allowed(authorization: str) -> bool:
    """Whether an ``Authorization`` header bears METRICS_TOKEN; never, where there is none."""
    scheme, _space, given = authorization.partition(" ")
    return (
        bool(settings.METRICS_TOKEN)
        and scheme.lower() == "bearer"
        and constant_time_compare(given.strip(), settings.METRICS_TOKEN)
    )
