"""What is done to drafts: every act as a plain form, and the same for a script, which is told only what differs."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_POST

from engine.model.notes import ImportFailure
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.forms import Form
from scheduler_admin.queues.drafts import copies, edits, selectors
from scheduler_admin.queues.drafts import merge as draft_merging
from scheduler_admin.queues.drafts import undo as draft_undoing
from scheduler_admin.queues.drafts.edits import StaleError
from scheduler_admin.queues.drafts.storage import ConflictError
from scheduler_admin.queues.drafts.terms import set_term
from scheduler_admin.queues.drafts.tree_document import PLACEMENT
from scheduler_admin.queues.drafts.undo import OvertakenError
from scheduler_admin.queues.forms import (
    AddForm,
    ChooseForm,
    CopyForm,
    DeleteForm,
    EditForm,
    MoveForm,
    PublishForm,
    RenameForm,
    RulesForm,
    StartForm,
)
from scheduler_admin.queues.models import Draft, DraftQueue
from scheduler_admin.queues.notes import said
from scheduler_admin.queues.pages.drafts.views import editable, editor_page, find_editable, whole_page
from scheduler_admin.queues.pages.editor.address import Shown
from scheduler_admin.queues.pages.editor.draft_context import draft_page
from scheduler_admin.queues.pages.editor.placement_rules import read_rules_form
from scheduler_admin.queues.pages.editor.updates import news
from scheduler_admin.queues.presenters.forecasts import ORPHANING, Orphaned, orphaned
from scheduler_admin.queues.presenters.setting_words import setting_name, text_in_words
from scheduler_admin.queues.services.hierarchies import OrphansError, OutdatedError

View = Callable[[HttpRequest, str, int], HttpResponse]
Done = tuple[Draft, int | None]
Act = Callable[[Draft, User, Any], Done]
"""Does it to a draft as a form says; the draft after it, and which row to go on at. Raises what the services raise."""


_STALE = gettext_noop("The draft was changed since you read it. Look at it again.")
_OUTDATED = gettext_noop("Another revision came into force meanwhile. Merge first.")


class ClashError(Exception):
    """Settings that say something else by now than what was seen: setting -> (what was typed, what is there)."""

    def __init__(self, settings: dict[str, tuple[str, ConflictError]]) -> None:
        super().__init__(", ".join(settings))
        self.settings = settings


@require_POST
@login_required
def start(request: HttpRequest, name: str) -> HttpResponse:
    """A draft of the revision in force."""
    cluster, actor = editable(request, name)
    if cluster.hierarchy is None:
        raise Http404
    form = StartForm(request.POST)
    if not form.is_valid():
        return editor_page(request, cluster, form)
    try:
        made = edits.start(hierarchy=cluster.hierarchy, name=form.cleaned_data["name"], author=actor)
    except ValidationError as error:
        form.refuse(error)
        return editor_page(request, cluster, form)
    return redirect("web:draft", cluster.name, made.pk)


def _acting(form_class: type[Form]) -> Callable[[Act], View]:
    """Decorate an act that is done as a form says."""

    def decorate(act: Act) -> View:
        @require_POST
        @login_required
        @wraps(act)
        def view(request: HttpRequest, name: str, pk: int) -> HttpResponse:
            cluster, actor = editable(request, name)
            draft, form = find_editable(actor, cluster, pk), form_class(request.POST)
            if not form.is_valid():
                return _refused(request, cluster, draft, 422, form)
            try:
                after, row = act(draft, actor, form)
            except Draft.DoesNotExist as error:
                raise Http404 from error
            except ClashError as error:
                return _refused(request, cluster, draft, 409, form, _clash(error), settings=error.settings)
            except OvertakenError as error:
                return _refused(request, cluster, draft, 409, form, _overtaken(error))
            except ConflictError as error:
                text = _("%(who)s changed this meanwhile: %(now)s.") % {"who": _who(error), "now": error.now}
                return _refused(request, cluster, draft, 409, form, text)
            except DraftQueue.DoesNotExist:
                text = _("Somebody else deleted this queue meanwhile.")
                return _refused(request, cluster, draft, 410, form, text)
            except ValidationError as error:
                return _refused(request, cluster, draft, 422, form, " ".join(error.messages))
            return _done(request, cluster, after, row)

        return view

    return decorate


def _done(request: HttpRequest, cluster: Cluster, draft: Draft, row: int | None) -> HttpResponse:
    shown = Shown.read(request.GET)
    if not _scripted(request):
        at = f"#n{row}" if row else ""
        return redirect(f"{reverse('web:draft', args=[cluster.name, draft.pk])}{Shown(shown.resources).address()}{at}")
    return news(request, draft_page(request.user, cluster, draft, shown), focus=f"n{row}" if row else "")


def _refused(
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


def _clash(error: ClashError) -> str:
    return " ".join(
        _("%(who)s changed %(setting)s meanwhile: it says %(now)s, you typed %(typed)s.")
        % {
            "who": _who(found),
            "setting": setting_name(setting),
            "now": text_in_words(setting, found.now),
            "typed": text_in_words(setting, typed),
        }
        for setting, (typed, found) in error.settings.items()
    )


def _overtaken(error: OvertakenError) -> str:
    if not error.setting:
        return _("%(who)s changed this meanwhile: %(now)s. It stays so.") % {"who": _who(error), "now": error.queue}
    return _("%(who)s changed %(place)s meanwhile: it says %(now)s, and stays so.") % {
        "who": _who(error),
        "place": f"{error.queue}, {setting_name(error.setting)}",
        "now": text_in_words(error.setting, error.now),
    }


def _who(error: ConflictError) -> str:
    return error.by or _("Somebody else")


def _scripted(request: HttpRequest) -> bool:
    return request.headers.get("Accept", "") == "application/json"


@_acting(EditForm)
def edit(draft: Draft, actor: User, form: EditForm) -> Done:
    """Every setting of the form that was typed anew."""
    row, clashes = form.number, {}
    for setting, text, was in form.typed_anew():
        try:
            if form.of_terms:
                draft = set_term(draft=draft, setting=setting, text=text, was=was, actor=actor)
            else:
                draft = edits.edit(draft=draft, row=row, setting=setting, text=text, was=was, actor=actor)
        except ConflictError as error:
            clashes[setting] = (text, error)
    if clashes:
        raise ClashError(clashes)
    return draft, row or None


@_acting(AddForm)
def add(draft: Draft, actor: User, form: AddForm) -> Done:
    """A queue below another."""
    given = form.cleaned_data
    draft, made = edits.add(draft=draft, parent=given["row"], name=given["name"], actor=actor)
    return draft, made.pk


@_acting(RenameForm)
def rename(draft: Draft, actor: User, form: RenameForm) -> Done:
    """Another name for a queue."""
    return edits.rename(draft=draft, actor=actor, **form.cleaned_data), form.cleaned_data["row"]


@_acting(MoveForm)
def move(draft: Draft, actor: User, form: MoveForm) -> Done:
    """A queue below another parent."""
    return edits.move(draft=draft, actor=actor, **form.cleaned_data), form.cleaned_data["row"]


@_acting(CopyForm)
def copy(draft: Draft, actor: User, form: CopyForm) -> Done:
    """A queue with all below it once more, below a parent."""
    draft, made = copies.copy(draft=draft, actor=actor, **form.cleaned_data)
    return draft, made.pk


@_acting(DeleteForm)
def delete(draft: Draft, actor: User, form: DeleteForm) -> Done:
    """A queue with all below it."""
    rows = DraftQueue.objects.filter(draft=draft, pk=form.cleaned_data["row"])
    parent = rows.values_list("parent", flat=True).first()
    return edits.delete(draft=draft, actor=actor, **form.cleaned_data), parent


@_acting(Form)
def undo(draft: Draft, actor: User, form: Form) -> Done:
    """One's own last act taken back."""
    del form
    return draft_undoing.undo(draft=draft, actor=actor)


@_acting(Form)
def redo(draft: Draft, actor: User, form: Form) -> Done:
    """What was taken back last, done again."""
    del form
    return draft_undoing.redo(draft=draft, actor=actor)


@_acting(RulesForm)
def rules(draft: Draft, actor: User, form: RulesForm) -> Done:
    """The placement rules of the form, with what its button does to them."""
    try:
        text = read_rules_form(form.data)
        return set_term(draft=draft, setting=PLACEMENT, text=text, was=form.cleaned_data["was"], actor=actor), None
    except ConflictError as error:
        error.now = text_in_words(PLACEMENT, error.now)
        raise


@_acting(Form)
def merge(draft: Draft, actor: User, form: Form) -> Done:
    """The revision in force under the draft."""
    del form
    return draft_merging.merge_draft(draft=draft, actor=actor), None


@_acting(ChooseForm)
def choose(draft: Draft, actor: User, form: ChooseForm) -> Done:
    """One of the two texts that a merge found."""
    given = form.cleaned_data
    chosen = draft_merging.choose(
        draft=draft,
        queue=given["queue"],
        setting=given["setting"],
        side="theirs" if given["side"] == "theirs" else "mine",
        actor=actor,
    )
    return chosen, None


@require_POST
@login_required
def publish(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Put a draft in force as it was read; what keeps it back is said on its page, with the reason still there."""
    cluster, actor = editable(request, name)
    draft = find_editable(actor, cluster, pk)
    form = PublishForm(request.POST)
    if not form.is_valid():
        return _refused(request, cluster, draft, 422, form)
    try:
        with transaction.atomic():
            revision = edits.publish_draft(draft=draft, actor=actor, **form.cleaned_data)
    except Draft.DoesNotExist as error:
        raise Http404 from error
    except StaleError:
        return _refused(request, cluster, draft, 412, form, _(_STALE))
    except OutdatedError:
        return _refused(request, cluster, draft, 412, form, _(_OUTDATED))
    except OrphansError as error:
        lost = orphaned(error.found, scope_of(actor, "view"))
        return _refused(request, cluster, draft, 409, form, _(ORPHANING), orphans=lost)
    except ImportFailure as error:
        return _refused(request, cluster, draft, 422, form, " ".join(said(note) for note in error.notes))
    except ValidationError as error:
        return _refused(request, cluster, draft, 422, form, " ".join(error.messages))
    messages.success(request, _("Revision %(number)s is in force.") % {"number": revision.number})
    if not scope_of(actor, "view").everything:  # which a revision shows
        return redirect("web:queues", cluster.name)
    return redirect("web:revision", cluster.name, revision.number)


@require_POST
@login_required
def approve(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Say that it may be published as it was read."""
    cluster, actor = editable(request, name)
    draft = find_editable(actor, cluster, pk)
    form = PublishForm(request.POST)
    if not form.is_valid():
        return _refused(request, cluster, draft, 422, form)
    try:
        edits.approve(draft=draft, version=form.cleaned_data["version"], actor=actor)
    except Draft.DoesNotExist as error:
        raise Http404 from error
    except StaleError:
        return _refused(request, cluster, draft, 412, form, _(_STALE))
    except ValidationError as error:
        return _refused(request, cluster, draft, 422, form, " ".join(error.messages))
    messages.success(request, _("Approved: somebody else may publish it now."))
    return redirect("web:draft", cluster.name, pk)


@require_POST
@login_required
def discard(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Throw a draft away."""
    cluster, actor = editable(request, name)
    draft = find_editable(actor, cluster, pk)
    try:
        edits.discard(draft=draft, actor=actor)
    except Draft.DoesNotExist as error:
        raise Http404 from error
    messages.success(request, _("Draft %(name)s is discarded.") % {"name": draft.name})
    return redirect("web:editor", cluster.name)
