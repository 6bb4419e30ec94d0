"""What `cosim schedule check` reports about a file, and the text that `export` writes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from frontend.collectives.algorithm_files import checked
from topology_gen.errors import AlgorithmError
from topology_gen.formats.msccl import refusals, write_xml
from topology_gen.formats.mscclpp import write_plan
from topology_gen.formats.registry import Content
from topology_gen.lowering.algorithm import Algorithm
from topology_gen.lowering.lowering import Lowering
from topology_gen.lowering.order import Order
from topology_gen.schedules.all_reduce import AllReduce
from topology_gen.schedules.replay import replay
from topology_gen.schedules.schedule import Schedule

CHANNELS = (1, 2, 4, 8, 16, 32)


def facts(content: Content) -> dict[str, Any]:
    """Return the properties of a file's schedule or algorithm, after executing it.

    Raises
    ------
    ScheduleError, AlgorithmError
        The schedule or the algorithm is wrong.
    """
    what = content.what
    head: dict[str, Any] = {"format": content.form, "operation": what.operation}
    if content.ignored:
        head["ignored"] = list(content.ignored)
    if isinstance(what, Algorithm):
        return head | _of_algorithm(what)
    return head | _of_schedule(what)


@dataclass(frozen=True)
class ThreadBlocks:
    """How MSCCL XML is made from a schedule; None stands for the default of each.

    Attributes
    ----------
    channels : int, optional
        Thread blocks for each link and direction; by default, the least power of two that the
        format accepts, up to 32.
    protocol : str, optional
        The protocol that the file names; by default that of the algorithm, or Simple.
    most_bytes : int, optional
        The greatest size of the data; by default there is no limit.
    fuses : bool, optional
        Whether receives are fused with sends; by default they are.
    gathers : bool, optional
        Whether an all-gather goes through scratch memory; by default, if this takes fewer steps.
    """

    channels: int | None = None
    protocol: str | None = None
    most_bytes: int | None = None
    fuses: bool | None = None
    gathers: bool | None = None

    def given(self) -> list[str]:
        """Return the given options of the command that concern only schedules."""
        values = {
            "--channels": self.channels,
            "--max-bytes": self.most_bytes,
            "--fuse" if self.fuses else "--no-fuse": self.fuses,
            "--consolidate": self.gathers,
        }
        return [option for option, value in values.items() if value is not None]


def export(
    what: Schedule | AllReduce | Algorithm, form: str, options: ThreadBlocks = ThreadBlocks()
) -> str:
    """Return a checked schedule or algorithm as text in "msccl-xml" or "mscclpp-json".

    Parameters
    ----------
    what : Schedule, AllReduce or Algorithm
        What to write.
    form : str
        "msccl-xml" or "mscclpp-json".
    options : ThreadBlocks
        How MSCCL XML is made.

    Raises
    ------
    AlgorithmError
        The format cannot hold it.
    """
    given, protocol = options.given(), options.protocol
    if form == "mscclpp-json":
        given += ["--protocol"] if protocol not in (None, "Simple") else []
        if given:
            raise AlgorithmError(
                f"expected no {given[0]} for an MSCCL++ plan, whose protocol is Simple"
            )
        if isinstance(what, Algorithm):
            raise AlgorithmError(
                "MSCCL++ plans are written from schedules with steps; this is an algorithm of "
                "thread blocks"
            )
        return write_plan(what)
    if isinstance(what, Algorithm):
        if given:
            raise AlgorithmError(
                f"expected no {given[0]} for an algorithm of thread blocks, which has its own; "
                f"export a schedule with {given[0]} instead"
            )
        return write_xml(what if protocol is None else replace(what, protocol=protocol))
    lowering = Lowering(what, options.gathers, options.fuses is not False)
    for number in CHANNELS if options.channels is None else (options.channels,):
        table = lowering.table(number, protocol or "Simple", options.most_bytes or 0)
        if not refusals(table):
            break
    return write_xml(table)


def _of_schedule(schedule: Schedule | AllReduce) -> dict[str, Any]:
    graph = schedule.graph
    parts = schedule.parts if isinstance(schedule, AllReduce) else (schedule,)
    loads: list[Fraction] = [Fraction(0)] * graph.links
    steps: list[Fraction] = []
    for part in parts:
        steps += replay(part).loads
        total = np.bincount(part.link, part.count, minlength=graph.links).astype(np.int64)
        loads = [
            load + Fraction(count, part.chunks)
            for load, count in zip(loads, total.tolist(), strict=True)
        ]
    ends = graph.edges()
    return {
        "name": graph.name,
        "n": graph.nodes,
        "steps": schedule.steps,
        "t_b": str(schedule.bandwidth_time),
        "u_per_step": [str(load) for load in steps],
        "chunks_per_shard": [part.chunks for part in parts],
        "sends": schedule.sends,
        "max_link_load": str(max(loads, default=Fraction(0))),
        "link_loads": [
            {"from": source, "to": target, "shards": str(load)}
            for (source, target), load in zip(ends, loads, strict=True)
        ],
    }


def _of_algorithm(algorithm: Algorithm) -> dict[str, Any]:
    found = checked(algorithm)
    order = Order(algorithm)
    traffic = order.traffic()
    share = Fraction(algorithm.ranks, algorithm.chunks)
    loads = {pair: count * share for pair, count in traffic.chunks.items()}
    return {
        "name": algorithm.name,
        "n": algorithm.ranks,
        "steps": len(traffic.rounds),
        "chunks": algorithm.chunks,
        "messages": traffic.messages,
        "in_place": algorithm.in_place,
        "out_of_place": algorithm.out_of_place,
        "adds_to": "dst" if found.adds_to_target else "src",
        "slots": order.slots(),
        "redundant_receives": found.redundant,
        "protocol": algorithm.protocol,
        "least_bytes": algorithm.least_bytes,
        "most_bytes": algorithm.most_bytes or None,
        "msccl_refuses": refusals(algorithm)[:1],
        "max_link_load": str(max(loads.values(), default=Fraction(0))),
        "link_loads": [
            {"from": source, "to": target, "shards": str(load)}
            for (source, target), load in loads.items()
        ],
    }
