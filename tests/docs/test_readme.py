"""The README shows what its first scenario prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from bridge.cli.main import main

#: The table that may differ: wall time, memory, and how many events a version of cosim needs.
VARYING = "\nsimulator"


@pytest.mark.slow
def test_the_first_tables(repository: Path, scenarios: Path, tmp_path: Path) -> None:
    page = (repository / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```\n(dlrm_hier: .*?)```$", page, re.DOTALL | re.MULTILINE)
    arguments = ["run", str(scenarios / "dlrm_hier.yaml"), "--out", str(tmp_path)]
    answer = CliRunner().invoke(main, arguments, env={"COLUMNS": "120"}, catch_exceptions=False)
    printed = [line.rstrip() for line in answer.stdout.partition(VARYING)[0].splitlines()]
    assert printed == shown.partition(VARYING)[0].splitlines()
