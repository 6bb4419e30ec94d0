"""What the commands refuse, in their words: a golden file of `refusals` for each command.

To add a case, add its line ``$ cosim …`` to the file of its command. Then
``pytest tests/bridge/test_refusals.py --force-regen`` writes the sentences; read their diff.
"""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from pytest_regressions.file_regression import FileRegressionFixture

from bridge.cli.main import main

GOLDEN = Path(__file__).parent / "refusals"
PROMPT = "$ cosim "


@pytest.mark.parametrize("golden", sorted(GOLDEN.glob("*.txt")), ids=lambda file: file.stem)
def test_refusals(
    golden: Path,
    small_file: Path,
    scenarios: Path,
    monkeypatch: pytest.MonkeyPatch,
    file_regression: FileRegressionFixture,
) -> None:
    """Each is one sentence on stderr, with exit status 2; nothing is printed or written."""
    folder = small_file.parent
    shutil.copytree(GOLDEN / "files", folder, dirs_exist_ok=True)
    (folder / "scenarios").symlink_to(scenarios)
    monkeypatch.chdir(folder)
    before = sorted(os.listdir())
    answers = []
    for line in golden.read_text(encoding="utf-8").splitlines():
        if not line.startswith(PROMPT):
            continue
        answer = CliRunner().invoke(main, shlex.split(line.removeprefix(PROMPT)))
        assert (answer.exit_code, answer.stdout) == (2, ""), line
        assert answer.stderr.startswith("cosim: "), line
        assert answer.stderr.count("\n") == 1, line
        assert sorted(os.listdir()) == before, line
        answers.append(f"{line}\n{answer.stderr}".replace(f"{folder}/", ""))
    file_regression.check("\n".join(answers), fullpath=golden, encoding="utf-8")
