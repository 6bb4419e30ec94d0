"""Reads files of schedules and algorithms in any format, which the content identifies."""

from __future__ import annotations

import json
from typing import NamedTuple

from topology_gen.errors import FileFormatError
from topology_gen.formats.msccl import read_xml_and_ignored
from topology_gen.formats.mscclpp import read_plan
from topology_gen.formats.schedule_json import read_json
from topology_gen.lowering.algorithm import Algorithm
from topology_gen.lowering.lowering import lower
from topology_gen.schedules.all_reduce import AllReduce
from topology_gen.schedules.replay import replay
from topology_gen.schedules.schedule import Schedule

MSCCL_XML, MSCCLPP_JSON, JSON = "msccl-xml", "mscclpp-json", "json"


class Content(NamedTuple):
    """The content of a file, its format, and a phrase for everything in it that was ignored."""

    form: str
    what: Schedule | AllReduce | Algorithm
    ignored: tuple[str, ...] = ()


def read(content: bytes) -> Content:
    """Return the schedule or algorithm of a file in any of the formats.

    Parameters
    ----------
    content : bytes
        MSCCL XML, an MSCCL++ execution plan, or the JSON of `topology_gen.formats.schedule_json`.

    Raises
    ------
    TopologyError
        The content has none of these formats, or is not valid.
    """
    begin = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    if begin[:1] == b"<":
        return Content(MSCCL_XML, *read_xml_and_ignored(content))
    if begin and begin[:1] not in b"{[":
        first = begin.split(b"\n", 1)[0][:40].decode("utf-8", "replace")
        raise FileFormatError(f"expected MSCCL XML or JSON, but it begins with {first!r}")
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None  # read_json raises the error
    if isinstance(document, dict) and "format" not in document and "gpus" in document:
        return Content(MSCCLPP_JSON, read_plan(content))
    return Content(JSON, read_json(content))


def as_algorithm(what: Schedule | AllReduce | Algorithm) -> Algorithm:
    """Return the algorithm of a schedule, after a replay, or an algorithm as it is.

    Raises
    ------
    ScheduleError
        The schedule is wrong.
    AlgorithmError
        The schedule is too large for thread blocks.
    """
    if isinstance(what, Algorithm):
        return what
    for part in what.parts if isinstance(what, AllReduce) else (what,):
        replay(part)
    return lower(what)
