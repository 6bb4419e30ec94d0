"""Runs commands in the process of a test, as a shell would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from bridge.cli.main import main


def invoke(*words: str | Path) -> Result:
    """Return what a command prints, which has to succeed; a text may have several words."""
    arguments = [part for word in words for part in str(word).split()]
    answer = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    return answer


def answer_of(*words: str | Path) -> dict[str, Any]:
    """Return what a command prints with --json: nothing else."""
    printed = invoke(*words, "--json")
    assert printed.stderr == ""
    answer: dict[str, Any] = json.loads(printed.stdout)
    return answer
