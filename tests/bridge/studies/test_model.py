"""Statements: what they say, and how they are written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.studies.framework.model import Experiment, Findings, Statement, Unit, quantity_text
from bridge.studies.framework.report import HEADINGS, cells, summary
from bridge.studies.framework.runner import Chapter
from bridge.studies.framework.scoring import bound, number


def test_ratio() -> None:
    assert number("1", "x", paper=4, ours=3, unit="count").ratio == 0.75
    assert number("1", "x", paper=0, ours=3, unit="count").ratio is None
    assert Statement("1", "x", True).ratio is None


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2.9, "times", "2.90×"),
        (0.5, "share", "50.0 %"),
        (12, "count", "12"),
        (1500, "ns", "1.500 µs"),
    ],
)
def test_units(value: float, unit: Unit, text: str) -> None:
    assert quantity_text(value, unit) == text


def test_a_line_of_the_table() -> None:
    line = cells(number("13", "x", paper=2, ours=3, unit="times", evidence="why"))
    assert dict(zip(HEADINGS, line, strict=True)) == {
        "figure": "13",
        "claim": "x",
        "paper": "2.00×",
        "here": "3.00×, why",
        "direction": "right",
        "effect": "2.00",
        "holds": "yes",
        "basis": "",
        "why": "agrees within a factor of 1.50",
    }


def test_a_summary_counts_predictions_and_equal_numbers_apart() -> None:
    claims = [
        number("1", "a", paper=4, ours=4.1, unit="count"),
        number("1", "b", paper=4, ours=5, unit="count", basis="fitted"),
        number("1", "c", paper=0, ours=1, unit="count", basis="quotient"),
        bound("1", "d", at_most=4, ours=1, unit="count"),
        Statement("1", "e", None),
    ]
    chapter = Chapter(Experiment("x", ("1",), lambda *_: [], lambda *_: Findings()), [], None)
    assert summary([replace(chapter, findings=Findings(claims))]) == (
        "3 of 4 claims hold. Without those that are no predictions, 2 of 2 hold. Of the 2 numbers "
        "that hold, 1 are within 5%. 1 more cannot be tested by a simulation here."
    )
