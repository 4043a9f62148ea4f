"""Findings for people, for JUnit's readers, and as annotations of GitHub."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree as ET

import click

from scheduler_admin_client.findings import Finding, of_problem
from scheduler_admin_client.site import Refused

_COLOURS = {"error": "red", "warning": "yellow", "info": "cyan"}
_ANNOTATIONS = {"error": "error", "warning": "warning", "info": "notice"}
_OF_CLUSTERS = ("forecast", "orphans")
_UNSAID = str.maketrans("", "", "".join(map(chr, {*range(32)} - {9, 10, 13})))
"""Characters that XML can't hold, and that a terminal would obey."""


def plain(text: str) -> str:
    """Text from afar without what a terminal would obey."""
    return text.translate(_UNSAID).replace("\x7f", "")


def lines(file: str, findings: Iterable[Finding]) -> str:
    """A finding a line, as compilers tell them: ``queues.yaml:10: warning: ...``."""
    return "".join(f"{_head(file, one)} {plain(one.text)}\n" for one in findings)


def _head(file: str, finding: Finding) -> str:
    where = finding.about if finding.kind in _OF_CLUSTERS else ":".join(filter(None, (file, finding.place)))
    about = f" {finding.about}:" if finding.about and finding.kind not in _OF_CLUSTERS else ""
    return plain(f"{where}: ") + click.style(f"{finding.level}:", fg=_COLOURS[finding.level]) + plain(about)


def refusal(refused: Refused, file: str = "") -> str:
    """A no, and all that is wrong, each at its place."""
    errors = of_problem(refused.problem) if refused.problem.get("errors") else ()
    return plain(f"{refused}\n") + lines(file if refused.of_document else "", errors)


def github_annotations(file: str, findings: Iterable[Finding]) -> str:
    """``::warning file=queues.yaml,line=10::...`` for each."""
    return "".join(_annotation(file, one) for one in findings)


def _annotation(file: str, finding: Finding) -> str:
    line = f",line={finding.line}" if finding.line else ""
    title = _property(" ".join(filter(None, (finding.kind, finding.about))))
    said = _escaped(plain(finding.text))
    return f"::{_ANNOTATIONS[finding.level]} file={_property(file)}{line},title={title}::{said}\n"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(plain(text)).replace(":", "%3A").replace(",", "%2C")


def junit(file: str, findings: Iterable[Finding]) -> str:
    """A case for each; it fails where the answer is no because of it."""
    all_ = list(findings)
    counted = {"tests": str(len(all_)), "failures": str(sum(one.failed for one in all_))}
    suites = ET.Element("testsuites", counted)
    suite = ET.SubElement(suites, "testsuite", {"name": file, "errors": "0", **counted})
    for one in all_:
        about = plain(" ".join(filter(None, (one.about, one.place))) or file)
        case = ET.SubElement(suite, "testcase", {"classname": one.kind, "name": about, "file": file})
        if one.failed:
            ET.SubElement(case, "failure", {"message": plain(one.text), "type": one.level})
        else:
            ET.SubElement(case, "system-out").text = plain(f"{one.level}: {one.text}")
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"
