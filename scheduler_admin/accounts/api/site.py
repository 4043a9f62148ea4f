"""What holds for the whole site: what victims learn of preemptors, and whose trees somebody else has to approve."""

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.accounts.models import Site
from scheduler_admin.accounts.selectors import site
from scheduler_admin.accounts.services.site import change_site
from scheduler_admin.core.entity_tags import entity_tag
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.bodies import read_body
from scheduler_admin.rest.etags import Tagged
from scheduler_admin.rest.parameters import ReasonParameters


class SiteSerializer(serializers.Serializer[Site]):
    """The site's settings."""

    preemptor = serializers.ChoiceField(
        Site.Preemptor.choices, help_text="What a victim's tenant learns of the preemptor; each includes those before."
    )
    second_for_editors = serializers.BooleanField(
        help_text="Whether somebody else has to approve what editors of a subtree publish."
    )
    second_for_admins = serializers.BooleanField(help_text="Likewise what admins publish.")


class SiteView(ApiView, Tagged):
    """The site's settings: staff read them, admins write them."""

    actions = {"GET": "view", "PATCH": "administer"}
    queries = {"PATCH": ReasonParameters}
    staff_only = True
    tag = "site"
    etag_description = "Of the settings."
    if_match_description = "The ETag of the settings that this changes."

    @extend_schema(operation_id="get_site", responses=SiteSerializer)
    def get(self, request: Request) -> Response:
        """What holds for the whole site."""
        del request
        return self._answer(site())

    @extend_schema(operation_id="patch_site", request=SiteSerializer(partial=True), responses=SiteSerializer)
    @transaction.atomic
    def patch(self, request: Request) -> Response:
        """Change it."""
        found = site()
        given = read_body(SiteSerializer(found, data=request.data, partial=True), request.data)
        self.check_read(found)
        return self._answer(change_site(**given, actor=self.actor("administer"), reason=self.asked["reason"]))

    def tag_of(self, found: Site) -> str:
        """Return the ETag of the settings."""
        return entity_tag(repr([found.preemptor, found.second_for_editors, found.second_for_admins]))

    def _answer(self, found: Site) -> Response:
        return Response(SiteSerializer(found).data, headers=self.headers_of(found))
