"""The progress display of a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from io import StringIO

import pytest
from rich.console import Console

from bridge.present.progress import (
    BarReporter,
    LineReporter,
    PointBars,
    PointLines,
    Reporter,
    details,
    points_display,
    reporter_for,
    seconds_left,
)


@dataclass
class Made:
    """A snapshot with numbers that are made up."""

    time_ns: float = 1_500_000.0
    wall_s: float = 20.0
    events: int = 90_000_000
    packets: int = 40_000_000
    delivered_bytes: int = 250_000_000
    total_bytes: int = 1_000_000_000


def test_details() -> None:
    assert details(Made()) == ["25.0 % of 1 GB", "2 M packets/s", "20.0 s", "1 min 00 s left"]
    estimate = Made(packets=0)
    assert details(estimate)[1] == "12.5 MB of messages/s"


def test_without_bytes_there_is_no_estimate() -> None:
    snapshot = Made(total_bytes=0, delivered_bytes=0)
    assert seconds_left(snapshot) is None
    assert details(snapshot) == ["2 M packets/s", "20.0 s"]


def test_nothing_is_divided_by_zero() -> None:
    assert details(Made(0, 0, 0, 0, 0, 0)) == ["0.0 s"]


def test_lines_come_at_an_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((100.0, 101.0, 109.0, 110.0, 111.0, 119.9, 120.5))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    stream = StringIO()
    reporter = LineReporter(Console(file=stream, width=40), interval_s=10)
    for _ in range(6):
        reporter.update(Made())
    lines = stream.getvalue().splitlines()
    # At 110 and 120.5 s, each one line however narrow the log is.
    assert len(lines) == 2
    assert lines[0].startswith("simulated 1.500 ms, 25.0 % of 1 GB, 2 M packets/s, 20.0 s")


def test_bar_shows_stages_and_progress() -> None:
    stream = StringIO()
    console = Console(file=stream, force_terminal=True, width=80)
    with BarReporter(console) as reporter:
        reporter.stage("building")
        reporter.update(Made())
    assert "1.500 ms" in stream.getvalue()
    assert "25.0 % of 1 GB" in stream.getvalue()


@pytest.mark.parametrize(
    ("width", "shown", "hidden"),
    [
        (90, ["25.0 % of 1 GB", "2 M packets/s", "20.0 s", "1 min 00 s left"], []),
        (80, ["25.0 % of 1 GB", "2 M packets/s", "1 min 00 s left"], [", 20.0 s"]),
        (60, ["25.0 %", "1 min 00 s left"], ["packets/s", ", 20.0 s"]),
        (46, ["1 min 00 s left"], ["25.0 %"]),
    ],
)
def test_a_narrow_bar_shows_the_time_left(width: int, shown: list[str], hidden: list[str]) -> None:
    stream = StringIO()
    with BarReporter(Console(file=stream, force_terminal=True, width=width)) as reporter:
        reporter.update(Made(total_bytes=1_000_000_000))
    text = stream.getvalue()
    assert all(one in text for one in shown)
    assert not any(one in text for one in hidden)


def test_bar_on_a_terminal_lines_in_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    terminal = Console(file=StringIO(), force_terminal=True)
    assert isinstance(reporter_for(terminal), BarReporter)
    assert isinstance(reporter_for(Console(file=StringIO())), LineReporter)
    monkeypatch.setenv("CI", "true")
    assert isinstance(reporter_for(terminal), LineReporter)


def test_silence() -> None:
    with Reporter() as reporter:
        reporter.stage("building")
        reporter.update(Made())


def test_bars_of_the_points_that_run() -> None:
    stream = StringIO()
    with PointBars(Console(file=stream, force_terminal=True, width=80), total=2) as display:
        display.running("ranks=4", Made())
        display.running("ranks=8", Made(delivered_bytes=500_000_000))
        display.done("ranks=4", "[1/2] ranks=4: done")
    text = stream.getvalue()
    for expected in ("0 of 2", "ranks=8", "50.0 %", "[1/2] ranks=4: done", "1 of 2"):
        assert expected in text


def test_lines_of_the_points_that_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first line of a point comes after the interval, the next one after another interval."""
    clock = iter((0.0, 0.0, 10.0, 11.0, 20.0))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    stream = StringIO()
    display = PointLines(Console(file=stream, width=40), interval_s=10)
    for name in ("a", "b", "a", "a", "a"):
        display.running(name, Made())
    display.done("a", "[1/2] a: done")
    lines = stream.getvalue().splitlines()
    start = "a: simulated 1.500 ms, 25.0 % of 1 GB, "
    assert [line.startswith(start) for line in lines] == [True, True, False]
    assert lines[-1] == "[1/2] a: done"


def test_points_on_a_terminal_and_in_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    terminal = Console(file=StringIO(), force_terminal=True)
    assert isinstance(points_display(terminal, 3), PointBars)
    assert isinstance(points_display(Console(file=StringIO()), 3), PointLines)
