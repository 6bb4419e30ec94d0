"""Statements: what they say, and how they are written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.studies.framework.figure import Figure, Findings, Statement, Unit, quantity_text
from bridge.studies.framework.model import Chapter, Experiment
from bridge.studies.framework.report import HEADINGS, cells, summary


def test_ratio() -> None:
    assert Figure("1").count("x", 4, 3).ratio == 0.75
    assert Figure("1").count("x", 0, 3).ratio is None
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
    line = cells(Figure("13").times("x", 2, 3, evidence="why"))
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
        Figure("1").count("a", 4, 4.1),
        Figure("1").count("b", 4, 5, basis="fitted"),
        Figure("1").count("c", 0, 1, basis="quotient"),
        Figure("1").at_most("d", 4, 1, "count"),
        Statement("1", "e", None),
    ]
    chapter = Chapter(Experiment("x", (Figure("1"),), lambda *_: []), [], None)
    assert summary([replace(chapter, findings=Findings(claims))]) == (
        "3 of 4 claims hold. Without those that are no predictions, 2 of 2 hold. Of the 2 numbers "
        "that hold, 1 are within 5%. 1 more cannot be tested by a simulation here."
    )
