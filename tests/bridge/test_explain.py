"""`cosim explain`: every key of the schema is found, under its path and under that of its kind."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from bridge.cli.main import main
from frontend.scenario.json_schema import schema
from frontend.scenario.reference import sections


def explained(key: str) -> list[dict[str, Any]]:
    answer = CliRunner().invoke(main, ["explain", key, "--json"])
    assert answer.exit_code == 0, answer.output
    found: list[dict[str, Any]] = json.loads(answer.stdout)
    return found


SECTIONS = list(sections(schema()))


@pytest.mark.parametrize("section", SECTIONS, ids=lambda one: f"{one.name}-{one.choice}")
def test_every_key_is_explained(section: Any) -> None:
    """One key of each kind of a block, without and with the name of the kind in its path."""
    row = section.rows[-1]
    path = row.key.replace("[]", "")
    assert row.meaning in [one["meaning"] for one in explained(path)]
    if section.choice:
        block, _, rest = path.partition(".")
        (found, *_) = explained(f"{block}.{section.choice}.{rest}")
        assert found["meaning"] == row.meaning
        assert found["of"] == f"{section.name}: {section.choice}"


def test_what_belongs_to_a_key_and_an_example() -> None:
    (ecn, *_) = explained("transport.ecn")
    assert ecn["see also"] == ["switches.ecn_threshold", "transport.variant"]
    assert ecn["default"] == "null"
    (threshold,) = explained("switches.ecn_threshold")
    assert "transport.ecn" in threshold["see also"]
    assert threshold["example"].startswith("switches.ecn_threshold: ")


def test_paths_as_other_commands_write_them() -> None:
    """Entries of lists count in paths, such as those of errors."""
    assert explained("jobs.0.share") == explained("jobs[].share")


def test_for_people() -> None:
    answer = CliRunner().invoke(main, ["explain", "links.mtu"])
    assert "links.mtu" in answer.stdout
    assert "9000B" in answer.stdout
    for block in ("", "topology", "workload.llm", "system"):
        assert CliRunner().invoke(main, ["explain", block]).exit_code == 0
