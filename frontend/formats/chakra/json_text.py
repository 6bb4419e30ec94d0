"""Chakra traces as JSON, which Chakra's jsonizer writes and its dejsonizer reads.

A file holds the messages of a trace in protobuf's JSON: the metadata and then the nodes, one object
after another or as one array.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.protobuf.json_format import ParseDict, ParseError

from frontend.errors import ScenarioError
from frontend.formats.chakra import execution_trace_pb2 as pb
from frontend.formats.chakra.schema import NUMBERS, TEXTS, ChakraType
from frontend.stream import varint

_TYPES = {f"{one.name}_NODE": int(one) for one in ChakraType}
_UNREAD = ("startTimeMicros", "start_time_micros", "outputs")
_READ = frozenset({*NUMBERS, *TEXTS})


def to_binary(path: Path, text: bytes) -> bytes:
    """Return the content of a JSON file as the content of a binary file.

    Parameters
    ----------
    path : Path
        The file, for error messages.
    text : bytes
        Its content.

    Raises
    ------
    ScenarioError
        If the content is no JSON, or an object is no message of a trace.
    """
    parts = []
    for number, found in enumerate(_objects(path, text)):
        if not isinstance(found, dict):
            raise ScenarioError(f"{path}: object {number}: expected a mapping, as of a node")
        try:
            message: Any = (
                ParseDict(_node(found), pb.Node())
                if number
                else ParseDict(found, pb.GlobalMetadata(), ignore_unknown_fields=True)
            )
        except (ParseError, TypeError, ValueError, AttributeError) as error:
            reason = " ".join(str(error).split())
            raise ScenarioError(
                f"{path}: object {number} ({found.get('name', '')}): {reason}: expected a node of "
                "a Chakra trace"
            ) from None
        content = message.SerializeToString()
        parts += [varint(len(content)), content]
    return b"".join(parts)


def _objects(path: Path, text: bytes) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    try:
        content = text.decode().strip()
        if content.startswith("["):
            yield from json.loads(content)
            return
        place = 0
        while place < len(content):
            found, place = decoder.raw_decode(content, place)
            yield found
            while content[place : place + 1].isspace():
                place += 1
    except (ValueError, RecursionError) as error:
        raise ScenarioError(
            f"{path}: {error}: expected the JSON objects of a Chakra trace"
        ) from None


def _node(found: dict[str, Any]) -> dict[str, Any]:
    """Return a node without what cosim does not read, and its type as a number."""
    node = {key: value for key, value in found.items() if key not in _UNREAD}
    kind = node.get("type", 0)
    if kind in _TYPES:
        node["type"] = _TYPES[kind]
    if "inputs" in node:
        node["inputs"] = {"values": node["inputs"].get("values", "")}
    node["attr"] = [
        {key: value for key, value in one.items() if key not in ("docString", "doc_string")}
        for one in node.get("attr", [])
        if one.get("name") in _READ
    ]
    return node
