"""Acts that change the queues of a draft, each done as a form says."""

from scheduler_admin.accounts.models import User
from scheduler_admin.core.forms import Form
from scheduler_admin.queues.drafts import copies, edits
from scheduler_admin.queues.drafts import merge as draft_merging
from scheduler_admin.queues.drafts import undo as draft_undoing
from scheduler_admin.queues.drafts.storage import ConflictError
from scheduler_admin.queues.drafts.terms import set_term
from scheduler_admin.queues.drafts.tree_document import PLACEMENT
from scheduler_admin.queues.forms import (
    AddForm,
    CellsForm,
    ChooseForm,
    CopyForm,
    DeleteForm,
    DraftNameForm,
    EditForm,
    MoveForm,
    RenameForm,
    RulesForm,
)
from scheduler_admin.queues.models import Draft, DraftQueue
from scheduler_admin.queues.pages.drafts.acting import ClashError, Done, acting
from scheduler_admin.queues.pages.editor.placement_rules import read_rules_form
from scheduler_admin.queues.presenters.setting_words import text_in_words


@acting(EditForm)
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


@acting(CellsForm)
def cells(draft: Draft, actor: User, form: CellsForm) -> Done:
    """Many settings at once: what was pasted, filled down or cleared."""
    return edits.edit_cells(draft=draft, cells=form.cleaned_data["cells"], actor=actor), None


@acting(AddForm)
def add(draft: Draft, actor: User, form: AddForm) -> Done:
    """A queue below another."""
    given = form.cleaned_data
    draft, made = edits.add(draft=draft, parent=given["row"], name=given["name"], actor=actor)
    return draft, made.pk


@acting(RenameForm)
def rename(draft: Draft, actor: User, form: RenameForm) -> Done:
    """Another name for a queue."""
    return edits.rename(draft=draft, actor=actor, **form.cleaned_data), form.cleaned_data["row"]


@acting(MoveForm)
def move(draft: Draft, actor: User, form: MoveForm) -> Done:
    """A queue below another parent."""
    return edits.move(draft=draft, actor=actor, **form.cleaned_data), form.cleaned_data["row"]


@acting(CopyForm)
def copy(draft: Draft, actor: User, form: CopyForm) -> Done:
    """A queue with all below it once more, below a parent."""
    draft, made = copies.copy(draft=draft, actor=actor, **form.cleaned_data)
    return draft, made.pk


@acting(DeleteForm)
def delete(draft: Draft, actor: User, form: DeleteForm) -> Done:
    """A queue with all below it."""
    rows = DraftQueue.objects.filter(draft=draft, pk=form.cleaned_data["row"])
    parent = rows.values_list("parent", flat=True).first()
    return edits.delete(draft=draft, actor=actor, **form.cleaned_data), parent


@acting(Form)
def undo(draft: Draft, actor: User, form: Form) -> Done:
    """One's own last act taken back."""
    del form
    return draft_undoing.undo(draft=draft, actor=actor)


@acting(Form)
def redo(draft: Draft, actor: User, form: Form) -> Done:
    """What was taken back last, done again."""
    del form
    return draft_undoing.redo(draft=draft, actor=actor)


@acting(RulesForm)
def rules(draft: Draft, actor: User, form: RulesForm) -> Done:
    """The placement rules of the form, with what its button does to them."""
    try:
        text = read_rules_form(form.data)
        return set_term(draft=draft, setting=PLACEMENT, text=text, was=form.cleaned_data["was"], actor=actor), None
    except ConflictError as error:
        error.now = text_in_words(PLACEMENT, error.now)
        raise


@acting(DraftNameForm)
def name_draft(draft: Draft, actor: User, form: DraftNameForm) -> Done:
    """Another name for the draft."""
    return edits.name_draft(draft=draft, name=form.cleaned_data["name"], actor=actor), None


@acting(Form)
def merge(draft: Draft, actor: User, form: Form) -> Done:
    """The revision in force under the draft."""
    del form
    return draft_merging.merge_draft(draft=draft, actor=actor), None


@acting(ChooseForm)
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
