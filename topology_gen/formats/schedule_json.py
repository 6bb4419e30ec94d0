"""Reads and writes schedules and algorithms as JSON, without loss; version 1 of the format.

A schedule consists of its arrays and the links of its digraph. An all-reduce has two schedules as
`parts`. An algorithm of thread blocks has its ranks as `gpus`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topology_gen.errors import FileFormatError
from topology_gen.formats.json_fields import Fields, parse
from topology_gen.graphs.digraph import GREATEST_NODES, Digraph, from_edges
from topology_gen.lowering.algorithm import (
    Algorithm,
    Block,
    Buffer,
    Gpu,
    Instruction,
    Kind,
    Place,
    Step,
)
from topology_gen.schedules.all_reduce import AllReduce
from topology_gen.schedules.schedule import Schedule

SCHEDULE, ALGORITHM = "cosim-schedule", "cosim-algorithm"
VERSION = 1

MOST_SENDS = 2**24
"""Greatest number of sends in a file; a send takes a few dozen bytes."""

_MOST_BYTES = 2**63 - 1

_ARRAYS = ("step_begin", "link", "shard", "first", "count")
_SCHEDULES = ("all_gather", "reduce_scatter", "all_to_all", "all_reduce", "broadcast", "reduce")
_OPERATIONS = (*_SCHEDULES, "gather", "scatter")


def write_json(content: Schedule | AllReduce | Algorithm) -> str:
    """Return a schedule or an algorithm as JSON.

    Raises
    ------
    FileFormatError
        The schedule has too many sends for a file.

    Examples
    --------
    >>> from topology_gen.schedules import bfb
    >>> from topology_gen import graphs
    >>> schedule = bfb.all_gather(graphs.ring(4))
    >>> read_json(write_json(schedule).encode()).steps
    2
    """
    if isinstance(content, Algorithm):
        document = _algorithm(content)
    else:
        if content.sends > MOST_SENDS:
            raise FileFormatError(
                f"{content.sends} sends: expected at most {MOST_SENDS} for a file"
            )
        document = {
            "format": SCHEDULE,
            "version": VERSION,
            "operation": content.operation,
            "graph": {
                "name": content.graph.name,
                "nodes": content.graph.nodes,
                "vertex_transitive": content.graph.vertex_transitive,
                "edges": content.graph.edges(),
            },
        }
        if isinstance(content, AllReduce):
            document["parts"] = [
                {"operation": part.operation, **_arrays(part)} for part in content.parts
            ]
        else:
            document |= _arrays(content)
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False) + "\n"


def read_json(content: bytes) -> Schedule | AllReduce | Algorithm:
    """Return the schedule or algorithm that `write_json` wrote.

    The content is not executed; use a replay to check that it is right.

    Raises
    ------
    FileFormatError
        The content is not JSON, has another format or version, or a field is missing or not valid.
    ScheduleError, AlgorithmError, EdgeListError
        The fields do not fit together.
    """
    document = parse(content)
    kind = document.word("format", (SCHEDULE, ALGORITHM))
    version = document.number("version")
    if version != VERSION:
        raise FileFormatError(f"version is {version}: expected {VERSION}")
    if kind == ALGORITHM:
        return _read_algorithm(document)
    operation: Any = document.word("operation", _SCHEDULES)
    graph = _read_graph(document.part("graph"))
    if operation != "all_reduce":
        return _read_arrays(document, operation, graph)
    first, second = document.parts("parts", 2)
    return AllReduce(
        _read_arrays(first, "reduce_scatter", graph), _read_arrays(second, "all_gather", graph)
    )


def _arrays(schedule: Schedule) -> dict[str, Any]:
    arrays = {name: getattr(schedule, name).tolist() for name in _ARRAYS}
    return {"chunks": schedule.chunks, **arrays}


def _read_arrays(fields: Fields, operation: Any, graph: Digraph) -> Schedule:
    if fields.word("operation", _SCHEDULES) != operation:
        raise fields.error("operation", f"expected {operation}")
    begin, *columns = (_array(fields, name, 64 if name == "step_begin" else 32) for name in _ARRAYS)
    link, shard, first, count = columns
    if any(column.size != link.size for column in columns):
        raise fields.error("link", "expected lists link, shard, first and count of equal length")
    if not begin.size or begin[0] or begin[-1] != link.size or np.any(begin[1:] < begin[:-1]):
        raise fields.error("step_begin", f"expected numbers that ascend from 0 to {link.size}")
    chunks = fields.number("chunks", 1)
    return Schedule(operation, graph, chunks, begin.astype(np.uint64), link, shard, first, count)


def _array(fields: Fields, name: str, bits: int) -> NDArray[Any]:
    values = fields.array(name)
    if any(type(value) is not int or not 0 <= value < 2**bits for value in values):
        raise fields.error(name, f"expected whole numbers from 0 to 2^{bits} - 1")
    return np.array(values, np.uint64 if bits == 64 else np.uint32)


def _read_graph(fields: Fields) -> Digraph:
    graph = from_edges(fields.array("edges"), fields.text("name"))
    nodes = fields.number("nodes", graph.nodes)
    if nodes > GREATEST_NODES:
        raise fields.error("nodes", f"{nodes}: expected at most {GREATEST_NODES}")
    transitive = fields.flag("vertex_transitive")
    if transitive and graph.links % nodes:
        raise fields.error(
            "vertex_transitive", "expected false, as the nodes do not share the links equally"
        )
    return Digraph(graph.name, nodes, graph.source, graph.target, transitive)


def _algorithm(algorithm: Algorithm) -> dict[str, Any]:
    return {
        "format": ALGORITHM,
        "version": VERSION,
        "operation": algorithm.operation,
        "name": algorithm.name,
        "chunks": algorithm.chunks,
        "in_place": algorithm.in_place,
        "out_of_place": algorithm.out_of_place,
        "protocol": algorithm.protocol,
        "least_bytes": algorithm.least_bytes,
        "most_bytes": algorithm.most_bytes,
        "root": algorithm.root,
        "gpus": [
            {
                "input": gpu.input,
                "output": gpu.output,
                "scratch": gpu.scratch,
                "blocks": [
                    {
                        "send": block.send,
                        "receive": block.receive,
                        "channel": block.channel,
                        "instructions": [_instruction(step) for step in block.instructions],
                    }
                    for block in gpu.blocks
                ],
            }
            for gpu in algorithm.gpus
        ],
    }


def _instruction(step: Instruction) -> list[Any]:
    after = list(step.after) if step.after is not None else None
    return [step.kind, *step.source, *step.target, step.chunks, after, step.awaited]


def _read_algorithm(fields: Fields) -> Algorithm:
    operation: Any = fields.word("operation", _OPERATIONS)
    return Algorithm(
        name=fields.text("name"),
        operation=operation,
        chunks=fields.number("chunks", 1),
        in_place=fields.flag("in_place"),
        out_of_place=fields.flag("out_of_place"),
        protocol=fields.text("protocol"),
        least_bytes=fields.number("least_bytes", most=_MOST_BYTES),
        most_bytes=fields.number("most_bytes", most=_MOST_BYTES),
        root=fields.number("root") if fields.has("root") else 0,
        gpus=tuple(_read_gpu(gpu) for gpu in fields.parts("gpus")),
    )


def _read_gpu(fields: Fields) -> Gpu:
    blocks = fields.parts("blocks")
    lengths = [len(block.array("instructions")) for block in blocks]
    return Gpu(
        fields.number("input"),
        fields.number("output"),
        fields.number("scratch"),
        tuple(
            Block(
                block.number_or_none("send"),
                block.number_or_none("receive"),
                block.number("channel", -1),
                tuple(
                    _read_instruction(block, values, lengths)
                    for values in block.array("instructions")
                ),
            )
            for block in blocks
        ),
    )


def _read_instruction(block: Fields, values: Any, lengths: Sequence[int]) -> Instruction:
    try:
        kind, source, at, target, to, count, after, awaited = values
        numbers = [at, to, count, *(after or ())]
        if any(type(one) is not int or not -1 <= one < 2**31 for one in numbers):
            raise ValueError
        if type(awaited) is not bool:
            raise ValueError
        step = Step(*after) if after is not None else None
        if step is not None and not (
            0 <= step.block < len(lengths) and 0 <= step.number < lengths[step.block]
        ):
            raise block.error("instructions", f"{values} waits for an instruction that is missing")
        places = Place(Buffer(source), at), Place(Buffer(target), to)
        found = Instruction(Kind(kind), *places, count, step, awaited)
        if count < 1 and found.kind is not Kind.NOP:
            raise ValueError
    except (TypeError, ValueError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise block.error(
            "instructions",
            f"{str(values)[:80]}: expected [kind, buffer, chunk, buffer, chunk, count, "
            "[block, step] or null, true or false]",
        ) from None
    return found
