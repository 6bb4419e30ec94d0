"""The comparison that the regression rests on."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.regression.comparison import SHOWN, difference, measured

STORED: dict[str, Any] = {
    "iterations": [{"time_ns": 200.125}, {"time_ns": 300}],
    "network": {"drops": 4, "rtt_mean_ns": 3.0, "link_utilization_mean": 0.5},
}


@pytest.fixture
def now() -> dict[str, Any]:
    return copy.deepcopy(STORED)


def test_nothing_differs(now: dict[str, Any]) -> None:
    assert difference(STORED, now) == ""


def test_a_picosecond_counts(now: dict[str, Any]) -> None:
    now["iterations"][0]["time_ns"] += 0.001
    table = difference(STORED, now).splitlines()
    assert table[0].split() == ["key", "stored", "now", "change"]
    assert table[1].split() == ["iterations[0].time_ns", "200.125", "200.126", "+0.000%"]
    assert len(table) == 2


def test_relative_change(now: dict[str, Any]) -> None:
    now["network"]["drops"] = 3
    assert difference(STORED, now).endswith("network.drops  4       3    -25.000%")


def test_rounding_of_derived_values_is_forgiven(now: dict[str, Any]) -> None:
    now["network"]["link_utilization_mean"] *= 1 + 1e-12
    assert difference(STORED, now) == ""
    now["network"]["link_utilization_mean"] *= 1 + 1e-6
    assert "link_utilization_mean" in difference(STORED, now)


def test_keys_and_entries_that_come_and_go(now: dict[str, Any]) -> None:
    del now["network"]["drops"]
    now["iterations"].append({"time_ns": 1})
    now["status"] = "complete"
    table = difference(STORED, now)
    for line in ("network.drops  4       absent", "iterations[2]  absent  {1 keys}", "'complete'"):
        assert line in table


def test_long_tables_are_cut() -> None:
    table = difference(
        dict.fromkeys(map(str, range(1000)), 1), dict.fromkeys(map(str, range(1000)), 2)
    )
    assert len(table.splitlines()) == SHOWN + 2
    assert table.endswith(f"and {1000 - SHOWN} more")


def test_what_is_compared() -> None:
    document = {
        "time_ns": 1,
        "scenario": {},
        "simulator": {"events": 5, "seed": 1, "wall_s": 0.1, "versions": {}},
    }
    assert measured(document) == {"time_ns": 1, "simulator": {"events": 5, "seed": 1}}
