"""The summary of a result on the terminal."""

from __future__ import annotations

from collections import Counter
from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from bridge.present.report import MANY_COLLECTIVES, print_report
from bridge.present.table import table
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
        "16.91 GB/s",
        "3 drops, 3 retransmissions, 1 RTOs",
        "not sampled",  # no RTT samples
        "49.38 k per second",
        "cosim 0.1.0, ns3 3.44, python 3.11.7",
    ):
        assert expected in text


@given(
    st.lists(
        st.tuples(st.text("abc_", min_size=1, max_size=30), *[st.integers(0, 10**12)] * 6),
        min_size=1,
        max_size=5,
    ),
    st.integers(40, 120),
)
def test_no_number_is_cut(rows: list[tuple[Any, ...]], width: int) -> None:
    """On any terminal of 40 columns, each row of each part has its name and its whole numbers."""
    headings = ("name", *(f"column {number}" for number in range(6)))
    cells = [(name, *map(str, numbers)) for name, *numbers in rows]
    stream = StringIO()
    Console(file=stream, width=width).print(table(headings, cells))
    shown = stream.getvalue()
    assert max(map(len, shown.splitlines())) <= width
    words = Counter(shown.split())
    wanted = Counter(text for _, *numbers in cells for text in numbers)
    assert all(words[text] >= count for text, count in wanted.items())
    assert all(shown.count(heading) == 1 for heading in headings[1:])


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


def test_many_layers_are_grouped(raw_result: dict[str, Any]) -> None:
    """Sixteen blocks of two layers, each 1.5 ms of computation, and two other layers."""
    block = raw_result["layers"][0]
    raw_result["layers"] += [
        block | {"name": f"block_{number}.{part}"}
        for number in range(16)
        for part in ("attention", "dense_1")
    ]
    lines = summary(Result.model_validate(raw_result)).splitlines()
    for name in ("block_*.attention (16)", "block_*.dense_* (16)"):
        (line,) = [line for line in lines if line.startswith(name)]
        assert line.removeprefix(name).split() == [
            "24.00",
            "ms",
            "32.00",
            "ms",
            "8.000",
            "ms",
            "25.0",
            "%",
        ]
    assert any(line.startswith("top_mlp_0 ") for line in lines)


def test_marks_are_shown_if_there_are_any(raw_result: dict[str, Any]) -> None:
    assert "ECN" not in summary(Result.model_validate(raw_result))
    raw_result["network"]["ecn_marks"] = 9188
    assert "9.188 k packets with ECN" in summary(Result.model_validate(raw_result))


def test_an_estimate_has_no_packets(raw_result: dict[str, Any]) -> None:
    raw_result["scenario"]["fabric"] = "flow"
    text = summary(Result.model_validate(raw_result))
    for packets in ("packets", "RTO", "RTT", "drops"):
        assert packets not in text
    assert "FCT" in text


def test_partial_result_says_so(raw_result: dict[str, Any]) -> None:
    raw_result |= {"status": "time_limit", "error": "1 ms passed", "iterations": [], "layers": []}
    assert "time limit: partial result" in summary(Result.model_validate(raw_result))


@pytest.mark.parametrize("name", ["[red]x[/red]", "[/]"])
def test_names_are_no_markup(raw_result: dict[str, Any], name: str) -> None:
    raw_result["layers"][0]["name"] = name
    assert name in summary(Result.model_validate(raw_result))
