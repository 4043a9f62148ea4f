"""The demo's buttons."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from scheduler_admin.clusters import selectors
from scheduler_admin.demo import simulator_client
from scheduler_admin.demo.forms import SpeedForm


def _ask(request: HttpRequest, name: str, act: Callable[[], str]) -> HttpResponse:
    if not simulator_client.offered(request.user, selectors.get(request.user, name)):
        raise Http404
    try:
        messages.success(request, act())
    except simulator_client.SimulatorError as error:
        messages.error(request, str(error))
    return redirect("web:queues", name)


@require_POST
@login_required
def surge(request: HttpRequest, name: str) -> HttpResponse:
    """Makes a preemption happen."""
    return _ask(request, name, simulator_client.surge)


@require_POST
@login_required
def speed(request: HttpRequest, name: str) -> HttpResponse:
    """Sets how fast the simulated cluster lives."""
    form = SpeedForm(request.POST)

    def act() -> str:
        if not form.is_valid():
            raise simulator_client.SimulatorError(form.all_errors)
        chosen = form.cleaned_data["speed"]
        simulator_client.set_speed(float(chosen))
        return _("The demo cluster now runs at %(speed)s× speed.") % {"speed": chosen}

    return _ask(request, name, act)


@require_POST
@login_required
def reset(request: HttpRequest, name: str) -> HttpResponse:
    """Lets the simulated cluster begin again."""

    def act() -> str:
        simulator_client.reset()
        return _("The demo cluster was reset.")

    return _ask(request, name, act)
