"""Expositions as Prometheus would read them."""

from collections.abc import Mapping

from prometheus_client.parser import text_string_to_metric_families

Samples = dict[str, list[tuple[dict[str, str], float]]]
"""Name of a sample -> its labels and its value, each."""


def read(text: str) -> Samples:
    """Every sample of an exposition; a family without any is there, too."""
    found: Samples = {}
    for family in text_string_to_metric_families(text):
        found.setdefault(family.name, [])
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def value(samples: Samples, name: str, **labels: str) -> float:
    """The one sample with these labels. Fails where there is none, or more."""
    (found,) = [each for has, each in samples[f"scheduler_admin_{name}"] if _contains(has, labels)]
    return found


def _contains(has: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    return labels.items() <= has.items()
