"""What is told early in a long run: the time that is left, and an estimate in the meantime."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import bridge
from bridge.batch import outlook
from bridge.batch.outlook import OutlookReporter
from bridge.cli.main import main
from bridge.present.progress import Reporter, seconds_left
from bridge.present.quantities import seconds_text, time_text
from frontend import load_scenario
from tests.bridge.test_progress import Made


@dataclass
class Notes(Reporter):
    """A reporter that remembers."""

    texts: list[str] = field(default_factory=list)
    updates: int = 0

    def update(self, progress: Any) -> None:
        self.updates += 1

    def note(self, text: str) -> None:
        self.texts.append(text)


def children() -> set[str]:
    """Return the processes that this thread has started and that have not ended."""
    thread = threading.get_native_id()
    return set(Path(f"/proc/self/task/{thread}/children").read_text().split())


def test_a_short_run_starts_nothing(small: dict[str, Any]) -> None:
    notes, before = Notes(), children()
    with OutlookReporter(notes, load_scenario(small), long_s=61) as reporter:
        for _ in range(3):
            reporter.update(Made())
            assert children() == before
    assert (notes.texts, notes.updates) == ([], 3)


def test_a_long_run_tells_what_is_left_and_the_estimate(small: dict[str, Any]) -> None:
    """The estimate is that of a run on the fabric, to the digits that are shown."""
    notes, before = Notes(), children()
    end = time.monotonic() + 60
    with OutlookReporter(notes, load_scenario(small)) as reporter:
        reporter.update(Made(wall_s=1))
        assert not notes.texts
        while len(notes.texts) < 2 and time.monotonic() < end:
            reporter.update(Made())
            time.sleep(0.05)
    left, estimate = notes.texts
    assert seconds_text(seconds_left(Made()) or 0) in left
    [iteration] = bridge.run(small, {"fabric": "flow"}).iterations
    assert time_text(iteration.time_ns) in estimate
    assert children() == before


def test_the_estimate_ends_with_the_run(small: dict[str, Any]) -> None:
    notes, before = Notes(), children()
    with OutlookReporter(notes, load_scenario(small)) as reporter:
        reporter.update(Made())
        [child] = children() - before
        assert os.getpriority(os.PRIO_PROCESS, int(child)) == 10
    assert children() == before
    assert len(notes.texts) == 1


def test_what_the_estimator_cannot_have_is_left_out(
    small: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outlook, "ESTIMATOR", "none")  # every scenario is refused
    notes, before = Notes(), children()
    with OutlookReporter(notes, load_scenario(small)) as reporter:
        reporter.update(Made())
        assert children() == before
    assert len(notes.texts) == 1


@pytest.mark.parametrize("as_json", [False, True])
def test_the_command_tells(
    small_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, as_json: bool
) -> None:
    """With --json, stderr stays empty."""
    told: list[str] = []
    monkeypatch.setattr(
        outlook.OutlookReporter, "update", lambda self, progress: told.append(str(progress))
    )
    words = ["run", str(small_file), "--out", str(tmp_path / "out"), "--set", "workload.bytes=64MB"]
    answer = CliRunner().invoke(main, [*words, *(["--json"] if as_json else [])])
    assert answer.exit_code == 0
    assert bool(told) != as_json
