"""What tenants and users share: admins write them, as they were read, and say why."""

from scheduler_admin.rest.parameters import ReasonParameters
from scheduler_admin.rest.viewsets import AsRead, Changed, Created, Destroyed, Listed

WITH_REASON = {"POST": ReasonParameters, "PATCH": ReasonParameters, "DELETE": ReasonParameters}
"""What the queries of writing methods hold."""


class AdministeredViewSet(AsRead, Listed, Created, Changed, Destroyed):
    """Rows that admins create, change and delete. Nobody else writes one between its check and its change."""

    actions = {"GET": "view", "POST": "administer", "PATCH": "administer", "DELETE": "administer"}
    tag = "site"

    @property
    def reason(self) -> str:
        """Why, for the audit log."""
        given: str = self.asked["reason"]
        return given
