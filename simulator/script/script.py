"""Reads and checks the day's script: the steps of a round, and the possible surges. Errors have line numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.formats.yaml.manifests import ManifestDocument, ManifestError, line_of, read_yaml
from simulator.controllers.kubelet import parse_duration
from simulator.objects import Object
from simulator.script.manifests import is_template


@dataclass(frozen=True, slots=True)
class Scale:
    """Set the number of replicas of a ReplicaSet (`namespace/name`)."""

    target: str
    replicas: int


@dataclass(frozen=True, slots=True)
class StartJobs:
    """Start Jobs from a template, unless `at_most` of them are unfinished already."""

    template: Object
    count: int
    at_most: int


@dataclass(frozen=True, slots=True)
class ScriptStep:
    """A step of the script, `at` a second of the round."""

    at: float
    action: Scale | StartJobs
    message: str = ""


@dataclass(frozen=True, slots=True)
class Surge:
    """Add a replica of `target` while it has less than `up_to`; other ReplicaSets' pods are preempted for it.

    `takes_from` says how many running pods each of those ReplicaSets keeps at least.
    """

    target: str
    up_to: int
    takes_from: Mapping[str, int]
    message: str = ""


@dataclass(frozen=True, slots=True)
class Script:
    """A round that repeats: its length, its steps, and the most by which a step is early or late, in seconds."""

    length: float
    steps: tuple[ScriptStep, ...]
    jitter: float = 0.0
    surges: tuple[Surge, ...] = ()
    source: str = ""


def load_script(path: Path, documents: Sequence[ManifestDocument]) -> Script:
    """Read a script whose steps refer to the given manifests. Raises ManifestError."""
    contents = read_yaml(path)
    if len(contents) != 1:
        raise ManifestError(f"{path}: a script must be one YAML document, but this file has {len(contents)}.")
    return _Reader(path, documents).script(contents[0][0])


class _Reader:
    """Reads one file; every error names the line."""

    def __init__(self, path: Path, documents: Sequence[ManifestDocument]) -> None:
        self._path = path
        self._documents = documents

    def script(self, data: Any) -> Script:
        self._fields(data, required=("round", "steps"), optional=("jitter", "surges"))
        length = self._seconds(data, "round")
        if length <= 0:
            raise self._error(data, "round must be longer than 0 seconds")
        steps = tuple(sorted((self._step(item, length) for item in self._list(data, "steps")), key=_at))
        surges = tuple(self._surge(item) for item in self._list(data, "surges"))
        jitter = self._seconds(data, "jitter") if "jitter" in data else 0.0
        return Script(length, steps, jitter, surges, str(self._path))

    def _step(self, item: Any, length: float) -> ScriptStep:
        action = "run" if isinstance(item, Mapping) and "run" in item else "scale"
        if action == "run":
            self._fields(item, required=("at", "run"), optional=("count", "at-most", "say"))
        else:
            self._fields(item, required=("at", "scale", "replicas"), optional=("say",))
        at = self._seconds(item, "at")
        if at >= length:
            raise self._error(item, f"at {item['at']} is after the end of the round")
        return ScriptStep(at, self._run(item) if action == "run" else self._scale(item), str(item.get("say", "")))

    def _scale(self, item: Any) -> Scale:
        return Scale(self._replica_set(item, item["scale"]), self._whole(item, "replicas"))

    def _run(self, item: Any) -> StartJobs:
        place = str(item["run"])
        template = next(
            (document for document in self._documents if document.names("Job", place) and is_template(document)), None
        )
        if template is None:
            raise self._error(item, f"the manifests contain no Job template {place}")
        count = self._whole(item, "count") if "count" in item else 1
        return StartJobs(template.obj, count, self._whole(item, "at-most") if "at-most" in item else count)

    def _surge(self, item: Any) -> Surge:
        self._fields(item, required=("scale", "up-to", "takes-from"), optional=("say",))
        takes_from = item["takes-from"]
        if not isinstance(takes_from, Mapping) or not takes_from:
            raise self._error(item, "takes-from must map ReplicaSets to the number of pods that each keeps")
        keeps = {self._replica_set(item, place): self._whole(takes_from, place) for place in takes_from}
        target = self._replica_set(item, item["scale"])
        return Surge(target, self._whole(item, "up-to"), keeps, str(item.get("say", "")))

    def _replica_set(self, item: Any, place: Any) -> str:
        if not any(document.names("ReplicaSet", str(place)) for document in self._documents):
            raise self._error(item, f"the manifests contain no ReplicaSet {place}")
        return str(place)

    def _fields(self, item: Any, required: Sequence[str], optional: Sequence[str]) -> None:
        if not isinstance(item, Mapping):
            raise self._error(item, f"expected fields such as {', '.join(required)}")
        for field in required:
            if field not in item:
                raise self._error(item, f"{field} is missing")
        for field in item:
            if field not in (*required, *optional):
                raise self._error(item, f"unknown field {field}; the fields are {', '.join((*required, *optional))}")

    def _list(self, item: Any, field: str) -> Sequence[Any]:
        value = item.get(field, [])
        if not isinstance(value, list):
            raise self._error(item, f"{field} must be a list")
        return value

    def _seconds(self, item: Any, field: str) -> float:
        try:
            return parse_duration(item[field])
        except ValueError as error:
            raise self._error(item, f"{field}: {error}") from error

    def _whole(self, item: Any, field: str) -> int:
        value = item[field]
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self._error(item, f"{field} must be a whole number from 0, not {value}")
        return int(value)

    def _error(self, item: Any, why: str) -> ManifestError:
        return ManifestError(f"{self._path}, line {line_of(item)}: {why}.")


def _at(step: ScriptStep) -> float:
    return step.at
