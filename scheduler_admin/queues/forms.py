"""Forms of drafts, imports and revisions. The editor's cells are read by EditForm alone: there are hundreds of them."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from engine.formats.registry import LARGEST, Format
from scheduler_admin.accounts.models import User
from scheduler_admin.core import limits
from scheduler_admin.core.forms import CODE, PLAIN, Form, KeyField, ReasonField
from scheduler_admin.core.numbers import read_number
from scheduler_admin.queues.drafts.edits import LONGEST_TEXT, Cell
from scheduler_admin.queues.presenters.setting_words import format_name
from scheduler_admin.queues.services.previews import kept_document

_OFF = {"autocomplete": "off"}
_KEPT = gettext_lazy("Reason (kept with the revision)")
MOST_CELLS = 5_000
"""That may be changed at once."""
TERMS = "draft"
"""What EditForm has as its row where how a draft decides is edited."""


def key_at(rows: Sequence[int], place: int) -> int:
    """Return the key of the queue at a place of a draft that was just stored; 0, which none has, for no such place."""
    return rows[place - 1] if 0 < place <= len(rows) else 0


def renumber(form: Form, rows: Sequence[int]) -> None:
    """Have a form name queues by their keys (``rows``, in order) instead of by their places, from one.

    Until a draft is stored its queues have no keys.
    """
    if isinstance(form, EditForm | CellsForm):
        form.renumber(rows)
    for name, field in form.fields.items():
        if isinstance(field, RowField):
            form.cleaned_data[name] = key_at(rows, form.cleaned_data[name])


class RowField(KeyField):
    """The key of a queue of a draft."""


class RowForm(Form):
    """An act on a queue of a draft."""

    row = RowField()


class EditForm(Form):
    """Change settings of a queue, or how the draft decides. ``was:`` and a setting's name is what was seen there."""

    row = forms.CharField(required=False, widget=forms.HiddenInput)

    def renumber(self, rows: Sequence[int]) -> None:
        """Name the queue by its key instead of by its place."""
        if not self.of_terms:
            self.cleaned_data["row"] = str(key_at(rows, self.number))

    @property
    def of_terms(self) -> bool:
        """Return whether it is about how the draft decides."""
        return bool(self.cleaned_data["row"] == TERMS)

    @property
    def number(self) -> int:
        """Return which queue it is about, 0 for none."""
        return read_number(self.cleaned_data["row"])

    def typed_anew(self) -> Iterator[tuple[str, str, str]]:
        """Yield each setting whose text is another than what was seen: its name, the text, and what was seen."""
        for name in [name for name in self.data if name.startswith("was:")]:
            setting = name.removeprefix("was:")
            text, was = self.data.get(setting, ""), self.data[name]
            if text.strip() != was.strip():
                yield setting, text, was


class CellsForm(Form):
    """Change many settings at once: a JSON list of ``[queue, setting, text, what was seen]``."""

    cells = forms.CharField(max_length=MOST_CELLS * LONGEST_TEXT, widget=forms.HiddenInput)

    def clean_cells(self) -> list[Cell]:
        """Return the cells. Raises ValidationError."""
        try:
            found = msgspec.json.decode(self.cleaned_data["cells"], type=list[tuple[int, str, str, str]])
        except msgspec.DecodeError as error:
            raise ValidationError(_("These cells can’t be read.")) from error
        if len(found) > MOST_CELLS:
            raise ValidationError(_("Change at most %(most)s cells at once.") % {"most": MOST_CELLS})
        return [Cell(*one) for one in found]

    def renumber(self, rows: Sequence[int]) -> None:
        """Name the queues by their keys instead of by their places."""
        cells = self.cleaned_data["cells"]
        self.cleaned_data["cells"] = [cell._replace(row=key_at(rows, cell.row)) for cell in cells]


class NameForm(RowForm):
    """A name for a queue; the service says what is wrong with one, also with an empty one."""

    name = forms.CharField(
        required=False,
        max_length=limits.QUEUE_NAME,
        widget=forms.TextInput(attrs={**_OFF, **PLAIN, "id": "act-name", "required": True}),
    )


class AddForm(NameForm):
    """Add a queue below another."""


class RenameForm(NameForm):
    """Give a queue another name than the one that was seen."""

    was = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)


class MoveForm(RowForm):
    """Put a queue below another parent than the one that was seen."""

    parent = RowField()
    was = RowField()


class CopyForm(RowForm):
    """Copy a queue with all below it."""

    parent = RowField()


class DeleteForm(RowForm):
    """Delete a queue with all below it, as they were in a version."""

    version = KeyField()


class RulesForm(Form):
    """Change the placement rules, whose fields the page reads by itself."""

    was = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)


class ChooseForm(Form):
    """Choose one of the two texts that a merge found."""

    queue = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)
    setting = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)
    side = forms.ChoiceField(required=False, choices=[("mine", "mine"), ("theirs", "theirs")])


class NewsForm(Form):
    """What the editor's script has already, and how much of the answer it wants."""

    only = forms.CharField(required=False)
    shown = forms.CharField(required=False)
    inherited = forms.CharField(required=False)

    @property
    def rows_alone(self) -> bool:
        """Return whether the script asks for the rest later."""
        return bool(self.cleaned_data.get("only") == "rows")

    @property
    def had(self) -> dict[str, str]:
        """Return the digest of every row that the script has."""
        return dict(one.split(".", 1) for one in self.cleaned_data.get("shown", "").split() if "." in one)


def _reason(**attributes: Any) -> ReasonField:
    """Return the field of a reason; the services say when one is missing, after what is worse."""
    control = forms.Textarea(attrs={"rows": 2, **attributes})
    return ReasonField(label=_KEPT, required=False, max_length=limits.REVISION_REASON, widget=control)


class PublishForm(Form):
    """Put a draft in force as it was read in a version, or approve it."""

    renamed = {NON_FIELD_ERRORS: "reason"}  # which is the only field that is always seen
    version = KeyField()
    reason = _reason(id="reason", required=True)
    allow_orphans = forms.BooleanField(required=False)


class BackForm(Form):
    """Put a former revision in force again, onto the one that was seen in force."""

    renamed = {NON_FIELD_ERRORS: "reason"}
    onto = KeyField()
    reason = _reason(id="reason", required=True)
    allow_orphans = forms.BooleanField(required=False)


class RestoreForm(Form):
    """Put a queue of a revision back."""

    path = forms.CharField(max_length=limits.QUEUE_PATH, widget=forms.HiddenInput)


class DraftNameForm(Form):
    """Give a draft another name."""

    renamed = {NON_FIELD_ERRORS: "name"}
    name = forms.CharField(
        label=gettext_lazy("Draft name"),
        max_length=limits.DRAFT_NAME,
        widget=forms.TextInput(attrs={**_OFF, "id": "draft-name"}),
    )


class ImportForm(Form):
    """Look at a document, and make a draft or the first revision of it."""

    kept = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)
    text = forms.CharField(
        label=gettext_lazy("Paste the document"),
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={**CODE, **_OFF, "rows": 16, "id": "import-text"}),
        help_text=gettext_lazy(
            "Content without a matching field in Scheduler Admin is kept, and written back on export."
        ),
    )
    file = forms.FileField(
        label=gettext_lazy("Or upload a file (used instead of the text)"),
        required=False,
        allow_empty_file=True,
        widget=forms.FileInput(attrs={"id": "import-file", "accept": ".yaml,.yml,.json,text/yaml,application/json"}),
    )
    format = forms.ChoiceField(
        label=gettext_lazy("Format"),
        required=False,
        choices=lambda: [("", _("Detect automatically")), *((form.value, format_name(form)) for form in Format)],
        widget=forms.Select(attrs={"id": "import-format"}),
    )
    seen = forms.CharField(required=False, widget=forms.HiddenInput)
    name = forms.CharField(
        label=gettext_lazy("Draft name"),
        required=False,
        max_length=limits.DRAFT_NAME,
        widget=forms.TextInput(attrs={**_OFF, "id": "import-name", "required": True}),
    )
    reason = _reason(id="import-reason", required=True)

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        """``user``: who sends it, for whom the document of a preview is kept."""
        super().__init__(*args, **kwargs)
        self._user = user
        self.expired = False
        """Whether the document that it names is no longer kept."""

    def clean_text(self) -> str:
        """Return the document: of the file where there is one, else what was pasted, else the one of the preview.

        Raises ValidationError.
        """
        file = self.files.get("file")
        if (key := self.cleaned_data.get("kept")) and not file and not self.cleaned_data["text"].strip():
            document = kept_document(self._user, key)
            self.expired = document is None
            if document is not None:
                return document[0]
        raw = file.read(LARGEST + 1) if file else self.cleaned_data["text"].encode(errors="replace")
        if len(raw) > LARGEST:
            raise ValidationError(_("The document is longer than %(most)s MiB.") % {"most": LARGEST // 2**20})
        try:
            text: str = raw.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise ValidationError(_("The document is not valid UTF-8.")) from error
        if not text.strip():
            raise ValidationError(_("Paste a document or upload a file."))
        return text

    @property
    def asked(self) -> Format | None:
        """Return the format that was chosen; None for the one that the document shows."""
        chosen = self.cleaned_data["format"]
        return Format(chosen) if chosen else None
