"""Chakra traces as JSON: the same trace as in the binary file, and refusals."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf.json_format import MessageToDict

from frontend.errors import ScenarioError
from frontend.formats.chakra import execution_trace_pb2 as pb
from frontend.formats.chakra.decode import ChakraTrace, read_trace
from frontend.formats.chakra.schema import ChakraType
from tests.frontend.chakra_files import METADATA, Rank


def rank() -> Rank:
    made = Rank(number="uint64_val")
    made.add(METADATA, name="groups")
    made.nodes[0].inputs.values = '[{"pg_name": "1", "ranks": [0, 1]}]'
    first = made.compute(2**40, num_ops=2**50, tensor_size=("double_val", 8.0))
    second = made.collective("all_reduce", 2**33, [first], pg_name="1", ctrl=[0])
    made.collective("all_gather", 7, [second], involved_dim=("bool_list", [True, False]))
    made.send(1, 64, [second], layer="end")
    return made


def objects(made: Rank) -> list[dict[str, Any]]:
    """Return the messages as the schema's JSON, with names of types and what cosim skips."""
    found: list[dict[str, Any]] = [MessageToDict(pb.GlobalMetadata(version="0.0.4"))]
    for node in made.nodes:
        one = MessageToDict(node)
        one["type"] = f"{ChakraType(node.type).name}_NODE"
        one["startTimeMicros"] = "5"
        one["outputs"] = {"values": "[]", "shapes": "[]", "types": "[]"}
        if "inputs" in one:
            one["inputs"] |= {"shapes": "[]", "types": "[]"}
        one["attr"] = [
            {"name": "stride", "docString": "", "int64List": {"values": ["1"]}},
            *({"docString": "some"} | attribute for attribute in one["attr"]),
        ] if "attr" in one else []  # fmt: skip
        found.append(one)
    return found


def same(one: ChakraTrace, other: ChakraTrace) -> None:
    for name in ("id", "type", "duration_micros", "dep_begin", "dep"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert (one.names, one.inputs) == (other.names, other.inputs)
    for name, columns in one.numbers.items():
        assert [one.tolist() for one in columns] == [one.tolist() for one in other.numbers[name]]
    for name, places in one.texts.items():
        known = [one.table[place] if place >= 0 else None for place in places]
        wanted = [other.table[place] if place >= 0 else None for place in other.texts[name]]
        assert known == wanted


def test_json_has_the_same_nodes(tmp_path: Path) -> None:
    made = rank()
    binary = tmp_path / "t.0.et"
    binary.write_bytes(made.content())
    wanted = read_trace(binary)
    assert wanted.size == 5
    every = objects(made)
    texts = {
        "lines.json": "\n".join(json.dumps(one, indent=2) for one in every),
        "joined.json": "".join(json.dumps(one, indent=2) for one in every),
        "array.json": json.dumps(every),
    }
    for name, text in texts.items():
        file = tmp_path / name
        file.write_text(text)
        same(read_trace(file), wanted)
    zipped = tmp_path / "t.0.json.gz"
    zipped.write_bytes(gzip.compress(texts["array.json"].encode()))
    same(read_trace(zipped), wanted)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"type": "COMP"}, r"object 2 \(n1\): .*type.*: expected a node of a Chakra trace"),
        ({"id": "-1"}, r"object 2 \(n1\): .*id"),
        ({"durationMicros": "soon"}, r"object 2 \(n1\): .*durationMicros"),
        ({"dataDeps": [{}]}, r"object 2 \(n1\): .*dataDeps"),
        ({"deps": [1]}, r'object 2 \(n1\): .*"deps"'),
        ({"attr": [{"name": "comm_size", "int64List": {"values": ["1"]}}]}, "int64List"),
        ({"attr": 5}, r"object 2 \(n1\)"),
        ({"inputs": []}, r"object 2 \(n1\)"),
        ({"type": 12}, r"node 1 \(n1\): type 12: expected 0 to 7"),
    ],
)
def test_wrong_nodes_are_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    every = objects(rank())
    every[2] |= change
    file = tmp_path / "t.0.json"
    file.write_text(json.dumps(every))
    with pytest.raises(ScenarioError, match=rf"t\.0\.json: {message}|{message}") as caught:
        read_trace(file)
    assert "t.0.json: " in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"version": "1"} nodes', "[1, 2]", "[" * 10**5, '{"version": "1"} 5', "\udcff"],
)
def test_other_texts_are_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "t.0.json"
    file.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ScenarioError, match=r"t\.0\.json: .*expected"):
        read_trace(file)
