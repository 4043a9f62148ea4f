"""plotly's own JavaScript bundle as a static file, straight out of the installed package."""

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

_BUNDLE = "plotly.min.js"


def _folder() -> Path:
    spec = find_spec("plotly")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "package_data"


class PlotlyFinder(BaseFinder):
    """Finds ``plotly.min.js``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.storage = FileSystemStorage(location=_folder())
        super().__init__(*args, **kwargs)

    def check(self, **kwargs: Any) -> list[Any]:
        """Nothing to configure, nothing to check."""
        del kwargs
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        """The bundle's place, as Django's finders answer."""
        del kwargs
        if path != _BUNDLE:
            return []
        found = str(_folder() / _BUNDLE)
        return [found] if find_all else found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterable[Any]:
        """The one file, for collectstatic."""
        del ignore_patterns
        yield _BUNDLE, self.storage
