"""Static files that come out of installed packages: plotly's bundle and the typeface."""

from collections.abc import Iterable
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

from scheduler_admin.site.typeface import FILE, typeface_folder


class OneFileFinder(BaseFinder):
    """Finds one file, in a folder that only whoever looks for the file needs to know."""

    file: ClassVar[str]

    @cached_property
    def storage(self) -> FileSystemStorage:
        """The file's folder."""
        return FileSystemStorage(location=self.folder())

    def folder(self) -> Path:
        """Return the folder; the file is in it afterwards."""
        raise NotImplementedError

    def check(self, **kwargs: Any) -> list[Any]:
        """Find no mistakes: there is nothing to configure."""
        del kwargs
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        """Return the file's place, as Django's finders answer."""
        del kwargs
        if path != self.file:
            return []
        found = self.storage.path(self.file)
        return [found] if find_all else found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterable[Any]:
        """Yield the one file, for collectstatic."""
        del ignore_patterns
        yield self.file, self.storage


class PlotlyFinder(OneFileFinder):
    """Finds plotly's own bundle of JavaScript."""

    file = "plotly.min.js"

    def folder(self) -> Path:
        """Return the folder of the package."""
        spec = find_spec("plotly")
        assert spec is not None
        assert spec.origin is not None
        return Path(spec.origin).parent / "package_data"


class TypefaceFinder(OneFileFinder):
    """Finds the typeface of the pages."""

    file = FILE

    def folder(self) -> Path:
        """Return the folder in which it is kept after it was made."""
        return typeface_folder(settings.BASE_DIR / "var")
