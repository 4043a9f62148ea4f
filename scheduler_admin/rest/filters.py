"""Query parameters that filter a list, with django-filter. A value that cannot be right is an error, never ignored."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django_filters import Filter, FilterSet
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import serializers
from rest_framework.request import Request

from scheduler_admin.accounts.scopes import Who
from scheduler_admin.rest import problems


class _Reading(forms.Field):
    """A form field that reads a value as a serializer field does."""

    def __init__(self, *, reads: serializers.Field[Any, Any, Any, Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._reads = reads

    def clean(self, value: Any) -> Any:
        """Return the value, None where none was given. Raises ValidationError."""
        if value is None:
            return None
        try:
            return self._reads.run_validation(value)
        except serializers.ValidationError as error:
            raise ValidationError([str(each) for each in error.detail]) from error


class Parameter(Filter):
    """A query parameter that is read, and described in the OpenAPI document, by a serializer field.

    ``column`` is the lookup that its value goes into: ``at__gte``; or ``method`` names a method of the filter set,
    which gets the rows, the name of the parameter and the value.
    """

    field_class = _Reading

    def __init__(
        self,
        reads: serializers.Field[Any, Any, Any, Any],
        column: str = "",
        *,
        method: str | Callable[..., QuerySet[Any]] | None = None,
    ) -> None:
        super().__init__(field_name=column or None, method=method, reads=reads, required=False)
        self.reads = reads

    def filter(self, qs: QuerySet[Any], value: Any) -> QuerySet[Any]:
        """Return the rows that have the value; all of them where none was given."""
        return qs if value is None else qs.filter(**{str(self.field_name): value})


class Parameters(FilterSet):
    """The parameters of a list; all that are given must hold."""

    ranges: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Pairs of parameters: the second must be after the first."""

    @classmethod
    def described(cls) -> type[serializers.Serializer[Any]]:
        """Return the parameters as a serializer, as the OpenAPI document is made of those."""
        reads = {name: one.reads for name, one in cls.base_filters.items() if isinstance(one, Parameter)}

        class Described(serializers.Serializer[Any]):
            """The parameters, each of which may be left out."""

            def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
                """Return copies: a field belongs to one serializer."""
                found = deepcopy(reads)
                for field in found.values():
                    field.required = False
                return found

        return Described

    @property
    def reader(self) -> Who:
        """Whoever asks."""
        assert self.request is not None  # the backend passes it on
        return self.request.user

    def is_valid(self) -> bool:
        """Whether every value, and every range, can be right."""
        if not super().is_valid():
            return False
        for since, until in self.ranges:
            begins, ends = (self.form.cleaned_data.get(name) for name in (since, until))
            if begins is not None and ends is not None and begins >= ends:
                self.form.add_error(until, _("This must be later than %s.") % since)
        return not self.form.errors


class FilterBackend(DjangoFilterBackend):
    """Applies the ``filterset_class`` of a view set to its list."""

    def filter_queryset(self, request: Request, queryset: Any, view: Any) -> Any:  # type: ignore[override]  # as DRF has it
        """Return the rows for which all that is asked for holds. Raises WrongParameters."""
        found = self.get_filterset(request, queryset, view) if view.action == "list" else None
        if found is None:
            return queryset
        if not found.is_valid():
            raise problems.WrongParameters({name: list(map(str, errors)) for name, errors in found.errors.items()})
        return found.qs
