"""Static files that come out of installed packages: plotly's bundle and the typeface."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

from scheduler_admin.site import typeface


def _plotly() -> Path:
    spec = find_spec("plotly")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "package_data"


def _typeface() -> Path:
    return typeface.typeface_folder(settings.BASE_DIR / "var")


class PackageFinder(BaseFinder):
    """Finds single files in folders that hold more than the pages need."""

    folders: ClassVar[Mapping[str, Callable[[], Path]]] = {"plotly.min.js": _plotly, typeface.FILE: _typeface}
    """What makes sure of a file's folder, by the file's name."""

    def check(self, **kwargs: Any) -> list[Any]:
        """Find no mistakes: there is nothing to configure."""
        del kwargs
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        """Return a file's place, as Django's finders answer."""
        del kwargs
        if path not in self.folders:
            return []
        found = _storage(self.folders[path]).path(path)
        return [found] if find_all else found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterable[Any]:
        """Yield the files, for collectstatic."""
        del ignore_patterns
        for file, folder in self.folders.items():
            yield file, _storage(folder)


@cache
def _storage(folder: Callable[[], Path]) -> FileSystemStorage:
    return FileSystemStorage(location=folder())
