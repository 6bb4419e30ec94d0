"""Statements: what they say, and how they are written."""

from __future__ import annotations

import pytest

from bridge.studies.framework.model import Statement, Unit, quantity_text
from bridge.studies.framework.report import HEADINGS, cells
from bridge.studies.framework.scoring import number


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
        "why": "agrees",
    }
