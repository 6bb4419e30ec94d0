"""The summary of a result on the terminal."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from bridge.present.report import MANY_COLLECTIVES, print_report
from bridge.results.result import Result


def summary(result: Result, width: int = 80) -> str:
    stream = StringIO()
    print_report(result, Console(file=stream, width=width))
    return stream.getvalue()


def test_fits_80_columns(result: Result) -> None:
    text = summary(result)
    assert max(map(len, text.splitlines())) <= 80
    for expected in (
        "made_up: 21.35 ms simulated",
        "top_mlp_0",
        "500.0 µs",  # exposed communication
        "57.8 %",  # of the iteration
        "135.2 Gbit/s",
        "3 drops, 3 retransmissions, 1 RTOs",
        "not sampled",  # no RTT samples
        "49.38 k per second",
        "cosim 0.1.0, ns3 3.44, python 3.11.7",
    ):
        assert expected in text


def test_many_collectives_are_grouped(raw_result: dict[str, Any]) -> None:
    collective = raw_result["collectives"][0]
    raw_result["collectives"] = [
        collective | {"time_ns": 1000.0 * (index + 1)} for index in range(MANY_COLLECTIVES + 1)
    ]
    text = summary(Result.model_validate(raw_result))
    assert "top_mlp_0.weight_gradient" not in text
    line = next(line for line in text.splitlines() if line.startswith("all_reduce"))
    # 1 … 17 µs: 9 in the mean.
    assert line.split()[1:] == ["dbt", "17.04", "MB", "17", "9.000", "µs", "17.00", "µs"]


def test_partial_result_says_so(raw_result: dict[str, Any]) -> None:
    raw_result |= {"status": "time_limit", "error": "1 ms passed", "iterations": [], "layers": []}
    assert "time limit: partial result" in summary(Result.model_validate(raw_result))


@pytest.mark.parametrize("name", ["[red]x[/red]", "[/]"])
def test_names_are_no_markup(raw_result: dict[str, Any], name: str) -> None:
    raw_result["layers"][0]["name"] = name
    assert name in summary(Result.model_validate(raw_result))
