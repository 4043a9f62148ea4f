"""The answer to an act on a draft: a page, or what changed of it for a script."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.forms import Form
from scheduler_admin.core.words import comma
from scheduler_admin.queues.drafts import selectors
from scheduler_admin.queues.drafts.storage import ConflictError
from scheduler_admin.queues.drafts.undo import OvertakenError
from scheduler_admin.queues.drafts.unstarted import begin, is_unstarted
from scheduler_admin.queues.forms import renumber
from scheduler_admin.queues.models import Draft, DraftQueue
from scheduler_admin.queues.pages.drafts.views import editable, find_editable, whole_page
from scheduler_admin.queues.pages.editor.address import Shown
from scheduler_admin.queues.pages.editor.draft_context import draft_page
from scheduler_admin.queues.pages.editor.updates import Started, news
from scheduler_admin.queues.presenters.forecasts import Orphaned
from scheduler_admin.queues.presenters.setting_words import setting_name, text_in_words

View = Callable[[HttpRequest, str, int], HttpResponse]
Done = tuple[Draft, int | None]
Act = Callable[[Draft, User, Any], Done]
"""Changes a draft as a form says; returns the draft after it and the row to continue at. Raises what services raise."""


class CarriedOut(NamedTuple):
    """What an act came to: the draft after it, the row to continue at, and the keys of all rows if it stored them."""

    draft: Draft
    row: int | None
    rows: Sequence[int] = ()


class ClashError(Exception):
    """Settings that say something else by now than what was seen: setting -> (what was typed, what is there)."""

    def __init__(self, settings: dict[str, tuple[str, ConflictError]]) -> None:
        super().__init__(", ".join(settings))
        self.settings = settings


def acting(form_class: type[Form]) -> Callable[[Act], View]:
    """Decorate an act that is done as a form says."""

    def decorate(act: Act) -> View:
        @require_POST
        @login_required
        @wraps(act)
        def view(request: HttpRequest, name: str, pk: int) -> HttpResponse:
            cluster, actor = editable(request, name)
            draft, form = find_editable(actor, cluster, pk), form_class(request.POST)
            if not form.is_valid():
                return refused(request, cluster, draft, 422, form)
            try:
                done = _carry_out(act, draft, actor, form)
            except Draft.DoesNotExist as error:
                raise Http404 from error
            except ClashError as error:
                return refused(request, cluster, draft, 409, form, _clash(error), settings=error.settings)
            except OvertakenError as error:
                return refused(request, cluster, draft, 409, form, _overtaken(error))
            except ConflictError as error:
                text = _overtaken(error) if error.setting else _changed(error)
                return refused(request, cluster, draft, 409, form, text)
            except DraftQueue.DoesNotExist:
                text = _("Someone else deleted this queue in the meantime.")
                return refused(request, cluster, draft, 410, form, text)
            except ValidationError as error:
                return refused(request, cluster, draft, 422, form, " ".join(error.messages))
            return _answer(request, cluster, pk, done)

        return view

    return decorate


def _carry_out(act: Act, draft: Draft, actor: User, form: Form) -> CarriedOut:
    """Do an act. A draft that nobody changed yet is stored with it, unless the act changes nothing."""
    if not is_unstarted(draft):
        return CarriedOut(*act(draft, actor, form))
    with transaction.atomic():
        begun, rows = begin(draft=draft, actor=actor)
        before = begun.version, begun.name
        renumber(form, rows)
        after, row = act(begun, actor, form)
        if (after.version, after.name) == before:
            transaction.set_rollback(True)
            return CarriedOut(draft, None)
        return CarriedOut(after, row, rows)


def _answer(request: HttpRequest, cluster: Cluster, pk: int, done: CarriedOut) -> HttpResponse:
    draft, row, shown = done.draft, done.row, Shown.read(request.GET)
    now = reverse("web:draft", args=[cluster.name, draft.pk])
    if not _scripted(request):
        at = f"#n{row}" if row else ""
        return redirect(f"{now}{Shown(shown.resources).address()}{at}")
    started = None
    if done.rows:
        shown = shown.renumbered(done.rows)
        started = Started(reverse("web:draft", args=[cluster.name, pk]), now, done.rows)
    page = draft_page(request.user, cluster, draft, shown)
    return news(request, page, focus=f"n{row}" if row else "", started=started)


def refused(
    request: HttpRequest,
    cluster: Cluster,
    draft: Draft,
    status: int,
    form: Form,
    problem: str = "",
    *,
    settings: dict[str, tuple[str, ConflictError]] | None = None,
    orphans: Orphaned | None = None,
) -> HttpResponse:
    """For a script the sentence, for its place; else the page with what was typed still in its form."""
    if problem:
        form.refuse(problem)
    if _scripted(request):
        now = next((found.now for _typed, found in (settings or {}).values()), "")
        context = {"problem": form.all_errors, "clash": settings is not None, "now": now}
        html = render_to_string("queues/_draft_problem.html", context, request)
        return JsonResponse({"html": html, "now": now}, status=status)
    draft = selectors.find(request.user, cluster.hierarchy, draft.pk)
    page = draft_page(request.user, cluster, draft, Shown.read(request.GET), refused=form)
    return whole_page(request, page, status, orphans)


def _changed(error: ConflictError) -> str:
    return _("%(who)s changed this in the meantime (now: %(now)s).") % {"who": _who(error), "now": error.now}


def _clash(error: ClashError) -> str:
    return " ".join(
        _("%(who)s changed %(setting)s in the meantime. The current value is %(now)s; you entered %(typed)s.")
        % {
            "who": _who(found),
            "setting": setting_name(setting),
            "now": text_in_words(setting, found.now),
            "typed": text_in_words(setting, typed),
        }
        for setting, (typed, found) in error.settings.items()
    )


def _overtaken(error: ConflictError) -> str:
    if not error.setting:
        return _("%(who)s changed this in the meantime (now: %(now)s). Nothing was overwritten.") % {
            "who": _who(error),
            "now": error.queue,
        }
    return _("%(who)s changed %(place)s in the meantime. The current value %(now)s was kept.") % {
        "who": _who(error),
        "place": comma().join((error.queue, setting_name(error.setting))),
        "now": text_in_words(error.setting, error.now),
    }


def _who(error: ConflictError) -> str:
    return error.by or _("Someone else")


def _scripted(request: HttpRequest) -> bool:
    return request.headers.get("Accept", "") == "application/json"
