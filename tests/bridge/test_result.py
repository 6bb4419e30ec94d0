"""result.json has a fixed order, is written completely or not at all, and can be read back."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import bridge
from bridge.errors import InputError, ResultError
from bridge.results.measurements import JobIteration
from bridge.results.result import Result, result_schema

CONTRACT = {
    (): "schema_version iterations layers collectives network simulator scenario",
    ("iterations", 0): "time_ns",
    ("layers", 0): "name compute_ns raw_comm_ns exposed_comm_ns",
    ("collectives", 0): "name operation algorithm bytes start_ns end_ns",
    ("network",): "payload_bytes wire_bytes packets drops retransmissions rto_events "
    "link_utilization_mean rtt_mean_ns rtt_p50_ns rtt_p99_ns",
    ("simulator",): "events wall_s cpu_s peak_rss_bytes seed versions",
}


@pytest.mark.parametrize("path", CONTRACT, ids=str)
def test_fields_that_others_rely_on(result: Result, path: tuple[str | int, ...]) -> None:
    part: Any = json.loads(result.to_json())
    for key in path:
        part = part[key]
    assert set(CONTRACT[path].split()) <= set(part)


def test_json_does_not_depend_on_the_order_of_the_input(raw_result: dict[str, Any]) -> None:
    shuffled = {key: raw_result[key] for key in reversed(raw_result)}
    shuffled["network"] = dict(reversed(raw_result["network"].items()))
    expected = Result.model_validate(raw_result).to_json()
    assert Result.model_validate(shuffled).to_json() == expected
    assert expected.endswith("}\n")


def test_picoseconds_survive(raw_result: dict[str, Any], tmp_path: Path) -> None:
    # An hour of simulated time, to the picosecond: fifteen digits and more fit a double.
    raw_result["time_ns"] = 3_600_000_000.123
    saved = Result.model_validate(raw_result).save(tmp_path)
    assert '"time_ns": 3600000000.123' in saved.read_text()
    assert Result.load(saved).time_ns == 3_600_000_000.123


def test_error_is_absent_from_a_complete_result(raw_result: dict[str, Any]) -> None:
    assert "error" not in Result.model_validate(raw_result).to_dict()
    failed = raw_result | {"status": "deadlock", "error": "rank 0 waits"}
    assert Result.model_validate(failed).to_dict()["error"] == "rank 0 waits"


def test_sizes_of_an_earlier_version_have_units(raw_result: dict[str, Any], tmp_path: Path) -> None:
    """Earlier versions wrote sizes as numbers; what they measured stays."""
    raw_result["scenario"] |= {"transport": {"mtu": 9000}}
    (tmp_path / "result.json").write_text(json.dumps(raw_result))
    loaded = Result.load(tmp_path)
    assert loaded.scenario["links"]["mtu"] == "9000B"
    assert loaded.collectives[0].bytes == raw_result["collectives"][0]["bytes"]


def test_a_block_that_is_gone_is_left_out(raw_result: dict[str, Any], tmp_path: Path) -> None:
    document = Result.model_validate(raw_result).to_dict()
    old = document | {"repeat": {"mode": "exact", "skipped": [], "note": "no iteration repeats"}}
    (tmp_path / "result.json").write_text(json.dumps(old))
    assert Result.load(tmp_path).to_dict() == document


def test_result_is_frozen(result: Result) -> None:
    with pytest.raises(ValidationError):
        result.time_ns = 0  # type: ignore[misc]


def test_unknown_field_is_refused(raw_result: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="extra"):
        Result.model_validate(raw_result | {"surprise": 1})


def test_save_makes_the_folder_and_leaves_one_file(result: Result, tmp_path: Path) -> None:
    file = result.save(tmp_path / "a" / "b")
    assert os.listdir(file.parent) == ["result.json"]
    assert file.read_text(encoding="utf-8") == result.to_json()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "no JSON, expected the result"),
        ("[]", "expected the result.json of a run"),
        ('{"schema_version": 99}', "schema_version is 99"),
        ('{"schema_version": 1}', "status"),
    ],
)
def test_load_refuses_what_is_no_result(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "result.json").write_text(text)
    with pytest.raises(ResultError, match=message):
        Result.load(tmp_path)


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_load_refuses_numbers_that_json_does_not_have(
    result: Result, tmp_path: Path, number: str
) -> None:
    """Python reads them, but cannot print them as JSON."""
    text = result.to_json()
    for name in ("time_ns", "seed"):  # a measurement, and a value of the scenario
        changed = re.sub(rf'"{name}": [^,\n]+', f'"{name}": {number}', text, count=1)
        assert changed != text
        (tmp_path / "result.json").write_text(changed)
        with pytest.raises(ResultError, match="no JSON, expected the result"):
            Result.load(tmp_path)


def test_every_field_is_described() -> None:
    schema = result_schema()
    for model in (schema, *schema["$defs"].values()):
        for name, field in model["properties"].items():
            # A block is described where it is defined.
            assert {"description", "$ref"} & set(field), f"{model['title']}.{name}"


def test_schema_requires_what_is_always_there(raw_result: dict[str, Any]) -> None:
    schema = result_schema()
    assert set(schema["required"]) == set(raw_result)
    assert set(schema["$defs"]["NetworkStatistics"]["required"]) == set(raw_result["network"])


def test_tables(raw_result: dict[str, Any]) -> None:
    """Each list is a table whose rows are its entries."""
    pytest.importorskip("pandas")
    jobs = [
        {"name": name, "start_ns": 0.0, "iterations": [dict.fromkeys(JobIteration.model_fields, 1)]}
        for name in ("a", "b")
    ]
    result = Result.model_validate(raw_result | {"jobs": jobs})
    tables, document = result.to_pandas(), result.to_dict()
    for name in ("iterations", "layers", "collectives"):
        assert tables[name].to_dict("records") == document[name]
    assert tables["dimensions"].to_dict("records") == document["network"]["dimensions"]
    assert tables["job_iterations"]["job"].tolist() == [0, 1]
    assert tables["jobs"].columns.tolist() == ["name", "start_ns"]
    assert "reconfigurations" not in tables


def test_tables_need_pandas(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="the extra `pandas`"):
        result.to_pandas()


def test_representation_is_one_line(result: Result) -> None:
    assert re.fullmatch(r"<Result \S+: complete, \S+ ms simulated, .*>", repr(result))
    assert str(result) == repr(result)
    assert len(repr(result)) < 100


def test_completion_shows_what_a_result_has(small: dict[str, Any]) -> None:
    result = bridge.run(small)
    names = {name for name in dir(result) if not name.startswith("_")}
    methods = {"load", "name", "save", "tables", "to_dict", "to_json", "to_pandas", "with_tables"}
    assert names == {*bridge.Result.model_fields, *methods}
    for block in (result.network, result.simulator, result.collectives[0]):
        shown = {name for name in dir(block) if not name.startswith("_")}
        assert shown == set(type(block).model_fields)
        assert all(hasattr(block, name) for name in dir(block))
