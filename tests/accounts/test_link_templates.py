"""Links of the site to other places: which templates are taken, and what addresses come of them."""

import re
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec
import pytest
from django.core.exceptions import ValidationError
from hypothesis import given
from hypothesis import strategies as st

from scheduler_admin.accounts.link_templates import (
    NODE,
    POD,
    SUPPORT,
    FilledLink,
    check_node_links,
    check_pod_links,
    check_support_links,
    complete_links,
    filled_links,
    read_lines,
    time_range,
    write_lines,
)

LOGS = {"label": "Logs", "url": "https://logs.example.com/?ns={namespace}&pod={pod}&from={from}&to={to}"}
FACTS = {"namespace": "search", "pod": "embed-1", "from": "1", "to": "2"}
TEXTS = st.text(st.characters(codec="utf-8"), min_size=1)
CHECKS = (check_support_links, check_pod_links, check_node_links)


class TestAddresses:
    """What becomes of a template."""

    @given(namespace=TEXTS, pod=TEXTS)
    def test_facts_come_back_from_the_address_as_they_were(self, namespace: str, pod: str) -> None:
        """Whatever they hold, no fact changes another part of the address."""
        (link,) = filled_links([LOGS], {**FACTS, "namespace": namespace, "pod": pod})
        parts = urlsplit(link.url)
        assert (parts.scheme, parts.netloc, parts.path, parts.fragment) == ("https", "logs.example.com", "/", "")
        assert parse_qs(parts.query) == {"ns": [namespace], "pod": [pod], "from": ["1"], "to": ["2"]}

    @given(pod=TEXTS)
    def test_addresses_hold_only_what_addresses_can_hold(self, pod: str) -> None:
        """In a path, too, where a slash would lead elsewhere."""
        (link,) = filled_links([{"label": "Pod", "url": "https://a.example.com/pods/{pod}/logs"}], {"pod": pod})
        found = re.fullmatch(r"https://a\.example\.com/pods/([A-Za-z0-9._~%-]+)/logs", link.url)
        assert found is not None
        assert unquote(found[1]) == pod

    def test_a_fact_that_looks_like_a_placeholder_is_not_filled_in_again(self) -> None:
        """One pass over the template, not over what came of it."""
        (link,) = filled_links([LOGS], {**FACTS, "namespace": "{pod}"})
        assert "ns=%7Bpod%7D&pod=embed-1" in link.url

    def test_links_that_lack_a_fact_are_left_out(self) -> None:
        """A pod without a node has no link to its node; the others stay in their order."""
        node, plain = {"label": "Node", "url": "https://a.example.com/{node}"}, {"label": "All", "url": "https://b/"}
        assert complete_links([node, LOGS, plain], {**FACTS, "node": ""}) == [
            FilledLink("Logs", "https://logs.example.com/?ns=search&pod=embed-1&from=1&to=2"),
            FilledLink("All", "https://b/"),
        ]

    def test_times_are_in_milliseconds(self) -> None:
        """As Grafana takes them."""
        at = datetime(2026, 1, 5, 12, 0, 0, 250_000, tzinfo=UTC)
        assert time_range(at, at) == {"from": "1767614400250", "to": "1767614400250"}


class TestChecks:
    """What is refused before it is stored."""

    @pytest.mark.parametrize(("check", "rules"), [*zip(CHECKS, (SUPPORT, POD, NODE), strict=True)])
    def test_every_placeholder_of_a_list_is_taken(self, check: object, rules: object) -> None:
        """And none of another list."""
        every = {*SUPPORT.placeholders, *POD.placeholders, *NODE.placeholders, ""}
        taken = set()
        for name in every:
            try:
                check([{"label": "A", "url": f"https://a.example.com/{{{name}}}"}])  # type: ignore[operator]
            except ValidationError:
                continue
            taken.add(name)
        assert taken == set(rules.placeholders)  # type: ignore[attr-defined]

    @pytest.mark.parametrize(
        "url",
        [
            "javascript:alert(1)",
            "data:text/html,x",
            "//example.com",
            "/pods",
            "https:///nowhere",
            "https://[open",
            "{cluster}://example.com",
            "https://example.com/a b",
            "https://example.com/a\tb",
            "",
            "https://example.com/" + "x" * 2000,
        ],
    )
    @pytest.mark.parametrize("check", CHECKS)
    def test_addresses_that_lead_nowhere_or_run_something_are_refused(self, check: object, url: str) -> None:
        """In every list."""
        with pytest.raises(ValidationError):
            check([{"label": "A", "url": url}])  # type: ignore[operator]

    def test_mail_is_for_help_alone(self) -> None:
        """Logs and dashboards are on the web."""
        mail = [{"label": "Mail", "url": "mailto:ops@example.com"}]
        check_support_links(mail)
        for check in (check_pod_links, check_node_links):
            with pytest.raises(ValidationError, match=r"must start with https:// or http:// and"):
                check(mail)

    @pytest.mark.parametrize("value", ["x", [1], [{"url": "https://a/"}], [{"label": "A"}], [LOGS] * 11])
    def test_what_is_no_list_of_links_is_refused(self, value: object) -> None:
        """Also more than ten."""
        with pytest.raises(ValidationError):
            check_pod_links(value)

    @given(st.lists(st.from_regex(r"[!-~]{1,20}( [!-~]{1,20})?", fullmatch=True)))
    def test_what_is_written_is_read_again(self, labels: list[str]) -> None:
        """The lines of the form hold all that is stored."""
        stored = [{"label": label, "url": "https://a.example.com/{pod}"} for label in labels]
        assert read_lines(write_lines(stored)) == stored


class TestExamplesOfTheDocument:
    """Those in docs/operations/links.md work as they stand there."""

    TEXT = (Path(__file__).parents[2] / "docs/operations/links.md").read_text(encoding="utf-8")
    BLOCKS = tuple(read_lines(block) for block in re.findall(r"```text\n(.*?)```", TEXT, re.DOTALL))

    def test_they_are_taken(self) -> None:
        """The first block is of pods, the second of nodes."""
        pods, nodes = self.BLOCKS
        check_pod_links(pods)
        check_node_links(nodes)
        assert len(pods) >= 3
        assert len(nodes) >= 2

    def test_the_one_of_loki_is_a_query_that_grafana_can_read(self) -> None:
        """The panes of Explore are JSON, and the query in them is LogQL with the names of the pod."""
        (template,) = [one for one in self.BLOCKS[0] if "explore" in one["url"]]
        (link,) = filled_links([template], FACTS)
        (panes,) = parse_qs(urlsplit(link.url).query)["panes"]
        (pane,) = msgspec.json.decode(panes).values()
        assert pane["queries"][0]["expr"] == '{namespace="search",pod="embed-1"}'
        assert pane["range"] == {"from": "1", "to": "2"}
