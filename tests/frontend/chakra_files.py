"""Writes small Chakra traces, as other programs write them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from frontend.formats.chakra import execution_trace_pb2 as pb
from frontend.formats.chakra.schema import TYPE_OF
from frontend.stream import varint

METADATA, MEM_LOAD, COMP, SEND, RECV, COLL = 1, 2, 4, 5, 6, 7


def delimited(*messages: Any) -> bytes:
    contents = [message.SerializeToString() for message in messages]
    return b"".join(varint(len(content)) + content for content in contents)


@dataclass
class Rank:
    """Builds the trace of a rank. Methods add a node and return its id."""

    nodes: list[pb.Node] = field(default_factory=list)
    first_id: int = 0
    version: str = "0.0.4"
    is_cpu_op: tuple[str, Any] | None = ("bool_val", False)
    number: str = "int64_val"
    """Type of the attributes that are numbers."""

    def add(self, kind: int, after: Sequence[int] = (), name: str = "", **values: Any) -> int:
        """Add a node. A value is a number or a text; a tuple also gives its type."""
        number = self.first_id + len(self.nodes)
        made = pb.Node(id=number, name=name or f"n{number}", type=kind, data_deps=after)
        made.duration_micros = values.pop("micros", 0)
        made.ctrl_deps.extend(values.pop("ctrl", ()))
        if kind != METADATA and self.is_cpu_op is not None and "is_cpu_op" not in values:
            values["is_cpu_op"] = self.is_cpu_op
        for key, value in values.items():
            if not isinstance(value, tuple):
                value = ("string_val" if isinstance(value, str) else self.number, value)
            attribute = made.attr.add(name=key)
            if value[0] == "bool_list":
                attribute.bool_list.values.extend(value[1])
            else:
                setattr(attribute, *value)
        self.nodes.append(made)
        return number

    def compute(self, micros: int, after: Sequence[int] = (), **values: Any) -> int:
        return self.add(COMP, after, micros=micros, **values)

    def collective(
        self, operation: str, size: Any, after: Sequence[int] = (), **values: Any
    ) -> int:
        kind = TYPE_OF[operation]
        return self.add(COLL, after, comm_type=kind, comm_size=size, **values)

    def send(self, peer: int, size: int, after: Sequence[int] = (), **values: Any) -> int:
        return self.add(SEND, after, comm_dst=peer, comm_size=size, comm_tag=0, **values)

    def receive(self, peer: int, size: int, after: Sequence[int] = (), **values: Any) -> int:
        return self.add(RECV, after, comm_src=peer, comm_size=size, comm_tag=0, **values)

    def content(self) -> bytes:
        return delimited(pb.GlobalMetadata(version=self.version), *self.nodes)


def write(folder: Path, ranks: Sequence[Rank], zipped: bool = False) -> str:
    """Write the traces of all ranks, and return the scenario's `traces`."""
    for number, rank in enumerate(ranks):
        content = rank.content()
        (folder / f"t.{number}.et").write_bytes(gzip.compress(content) if zipped else content)
    return str(folder / "t.{rank}.et")


def scenario(
    folder: Path,
    ranks: Sequence[Rank],
    groups: Mapping[str, Any] | None = None,
    *,
    copies: int = 1,
    **changes: Any,
) -> dict[str, Any]:
    """Return a scenario that reads traces; `changes` go to the workload."""
    workload: dict[str, Any] = {"kind": "chakra", "traces": write(folder, ranks)}
    if groups is not None:
        (folder / "groups.json").write_text(json.dumps(groups))
        workload["groups"] = str(folder / "groups.json")
    return {
        "fabric": "analytical",
        "topology": {
            "family": "flat",
            "ranks": copies * len(ranks),
            "bandwidth": "100Gbps",
            "latency": "1us",
            "buffer": "unlimited",
        },
        "workload": workload | ({"replicas": copies} if copies > 1 else {}) | changes,
    }
