"""All API tokens, for admins."""

from typing import Any

from scheduler_admin.accounts.pages.people.base import StaffPage
from scheduler_admin.accounts.selectors import TokenFilters
from scheduler_admin.core.paging import numbered


class Tokens(StaffPage):
    """Every token with its owner, what it is good for, and when it was used last."""

    template_name = "accounts/tokens.html"
    section = "tokens"
    reading = "administer"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return the tokens that the address asks for, the newest first."""
        filters = TokenFilters.read(self.request.GET.dict())
        rows, paged = numbered(filters.rows(), self.request.GET)
        return super().get_context_data(**kwargs, filters=filters, tokens=rows, paged=paged)
