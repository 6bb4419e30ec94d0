"""The header of a stream."""

from __future__ import annotations

import json

import pytest

from bridge.errors import StreamError
from bridge.stream_header import read_header
from frontend import network_api_pb2
from frontend.stream import VERSION, encode

SCENARIO = {"topology": {"family": "flat"}, "workload": {"kind": "collective"}}


def stream(version: int = VERSION, scenario: str = json.dumps(SCENARIO)) -> bytes:
    header = network_api_pb2.Header(version=version, seed=7, scenario_json=scenario)
    return encode([network_api_pb2.Record(header=header)])


def test_header() -> None:
    header = read_header(stream() + b"more records")
    assert (header.seed, header.scenario) == (7, SCENARIO)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not a stream",
        b"\xff" * 20,
        stream()[:10],
        b"\x00",
        bytes([2]) + b"\x12\x00",  # settings first
        stream(scenario="{"),
    ],
)
def test_no_header(data: bytes) -> None:
    with pytest.raises(StreamError, match="not a stream"):
        read_header(data)


def test_other_version() -> None:
    with pytest.raises(StreamError, match=f"version {VERSION + 1}, expected {VERSION}"):
        read_header(stream(version=VERSION + 1))


@pytest.mark.parametrize(
    ("path", "same", "other", "expected"),
    [
        ("transport.data_retries", 15, 9, "it is always 15"),
        ("simulation.repeat", "exact", "approximate", "on express, simulation.replay"),
        ("system.negotiation_latency", "0ns", "1us", "it is always 0"),
    ],
)
def test_a_setting_that_is_gone(path: str, same: object, other: object, expected: str) -> None:
    """A stream is read if the setting changes nothing; another one would run differently."""
    block, key = path.split(".")
    old = SCENARIO | {block: {key: same}}
    assert read_header(stream(scenario=json.dumps(old))).scenario == SCENARIO | {block: {}}
    with pytest.raises(StreamError, match=f"{path}, which cosim no longer has: {expected}"):
        read_header(stream(scenario=json.dumps(SCENARIO | {block: {key: other}})))


@pytest.mark.parametrize(
    "scenario",
    [
        [],
        {"name": "x"},
        SCENARIO | {"topology": []},
        SCENARIO | {"workload": {"kind": ["collective"]}},
        SCENARIO | {"outputs": {"timelime": None}},
    ],
)
def test_header_without_a_scenario(scenario: object) -> None:
    with pytest.raises(StreamError, match="the header of the stream has no scenario"):
        read_header(stream(scenario=json.dumps(scenario)))
