"""What holds for the whole site: what victims learn of preemptors, who needs approval to publish, and links."""

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.accounts.link_templates import NODE, POD, SUPPORT
from scheduler_admin.accounts.models import Site
from scheduler_admin.accounts.selectors import site
from scheduler_admin.accounts.services.site import change_site
from scheduler_admin.core import limits
from scheduler_admin.core.entity_tags import entity_tag
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.bodies import read_body
from scheduler_admin.rest.etags import Tagged
from scheduler_admin.rest.fields import represent
from scheduler_admin.rest.parameters import ReasonParameters


class LinkTemplateSerializer(serializers.Serializer[dict[str, str]]):
    """A link whose address is made for each pod or node."""

    label = serializers.CharField(  # type: ignore[assignment]
        max_length=limits.LINK_LABEL, help_text="Text of the link."
    )
    url = serializers.CharField(
        max_length=limits.LINK_URL, help_text="Address. It can contain the placeholders of its list."
    )


class SiteSettingsSerializer(serializers.Serializer[Site]):
    """The settings of the site."""

    preemptor_visibility = serializers.ChoiceField(
        Site.Preemptor.choices, help_text="What the tenant of a victim can see of the preemptor.", source="preemptor"
    )
    approval_required_for_editors = serializers.BooleanField(
        help_text="True if another person must approve before editors of a subtree can publish.",
        source="second_for_editors",
    )
    approval_required_for_admins = serializers.BooleanField(
        help_text="True if another person must approve before admins can publish.", source="second_for_admins"
    )

    support_contact = serializers.CharField(
        allow_blank=True,
        max_length=limits.SUPPORT_CONTACT,
        help_text="Whom tenants can ask about a pod, as plain text. Shown on the page of each pod.",
    )
    support_links = LinkTemplateSerializer(
        many=True, help_text=f"Links for help on the page of each pod. Placeholders: {SUPPORT.known}."
    )
    pod_links = LinkTemplateSerializer(
        many=True, help_text=f"Links to other tools wherever a pod is shown. Placeholders: {POD.known}."
    )
    node_links = LinkTemplateSerializer(
        many=True, help_text=f"Links to other tools on the page of each node. Placeholders: {NODE.known}."
    )


class SiteSettingsView(ApiView, Tagged):
    """The site's settings: staff read them, admins write them."""

    actions = {"GET": "view", "PATCH": "administer"}
    queries = {"PATCH": ReasonParameters}
    staff_only = True
    tag = "site"
    etag_description = "ETag of the settings."
    if_match_description = "ETag of the settings as you read them."

    @extend_schema(operation_id="get_site_settings", responses=SiteSettingsSerializer)
    def get(self, request: Request) -> Response:
        """The settings of the site."""
        del request
        return self._answer(site())

    @extend_schema(
        operation_id="update_site_settings",
        request=SiteSettingsSerializer(partial=True),
        responses=SiteSettingsSerializer,
    )
    @transaction.atomic
    def patch(self, request: Request) -> Response:
        """Change the settings that are sent."""
        found = site()
        given = read_body(SiteSettingsSerializer(found, data=request.data, partial=True), request.data)
        self.check_read(found)
        return self._answer(change_site(**given, actor=self.actor("administer"), reason=self.asked["reason"]))

    def tag_of(self, found: Site) -> str:
        """Return the ETag of the settings."""
        return entity_tag(repr(list(SiteSettingsSerializer(found).data.items())))

    def _answer(self, found: Site) -> Response:
        return Response(represent(SiteSettingsSerializer, found), headers=self.headers_of(found))
