"""A way to a cluster as a form sends it."""

from collections.abc import Mapping

from django.views.decorators.debug import sensitive_variables

from engine.cluster.connecting.kubeconfig import LONGEST
from engine.cluster.errors import SettingsError
from engine.model.message import gettext_noop
from scheduler_admin.clusters.connections.access_methods import Way
from scheduler_admin.clusters.connections.sealing import unseal

SEALED_S = 3600
"""So long a form with something sealed in it can be sent."""


@sensitive_variables()
def given_way(sent: Mapping[str, str]) -> Way:
    """Something pasted, sealed or not, or a file that is offered. Raises SettingsError."""
    text = given_text(sent)
    if text is not None:
        return text
    return Way.by_choice(sent.get("kubeconfig", ""), sent.get("context", ""))


@sensitive_variables()
def given_text(sent: Mapping[str, str]) -> Way | None:
    """Something pasted: a kubeconfig, or an address with a token; None where nothing is. Raises SettingsError."""
    context = sent.get("context", "").strip()
    if sent.get("sealed"):
        return Way(text=unseal(sent["sealed"], within_s=SEALED_S), context=context)
    if sent.get("text", "").strip():
        if len(sent["text"]) > LONGEST:
            raise SettingsError(gettext_noop("This is too long for a kubeconfig."))
        return Way(text=sent["text"], context=context)
    if sent.get("address", "").strip() or sent.get("token", "").strip():
        if not sent.get("token", "").strip():
            raise SettingsError(gettext_noop("An address needs a token."))
        return Way.by_token(sent.get("address", ""), sent["token"], sent.get("ca", ""))
    return None
