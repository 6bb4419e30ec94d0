"""Reads a part of the timeline of a run, line by line: the whole may not fit into memory."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.errors import ResultError
from topology_gen.files import UnfitFileError, open_regular

#: The timeline in the folder of a run.
TIMELINE = "timeline.json.gz"

#: The track of the computation of a rank; the others are its communication streams.
_COMPUTE = 1

#: The kind of slices in this track.
COMPUTING = "compute"

#: The kind of the time for which a rank is ready to receive a message.
RECEIVE = "receive"

#: The kind of the time for which a retransmission timer ran until it expired.
TIMEOUT = "timeouts (RTO)"

#: What begins the lines of the events that begin and end slices, and of marks.
_SHOWN = (b'{"ph":"B"', b'{"ph":"E"', b'{"ph":"i"')


#: No event is at a later time [us].
_LATEST = 2.0**64

#: No event has a longer line, in bytes; a damaged file may have no lines.
_LONGEST_LINE = 1 << 20


@dataclass(frozen=True)
class Slice:
    """What a rank does for some time: it computes, communicates, or waits for TCP's timer."""

    rank: int
    """The rank."""
    name: str
    """The node of the workload, or the collective."""
    kind: str
    """`COMPUTING`, `TIMEOUT`, timer, send or `RECEIVE`; of a collective its operation."""
    start_ns: float
    """Its begin."""
    end_ns: float
    """Its end."""
    waited_for: str = ""
    """What a computation had to wait for last: a node of the workload, or a collective."""


def slices(file: Path, ranks: Collection[int], start_ns: float, end_ns: float) -> list[Slice]:
    """Return the outermost slices of some ranks in a time window, in the order of their ends.

    Parameters
    ----------
    file : Path
        A ``timeline.json.gz``.
    ranks : collection of int
        The ranks.
    start_ns, end_ns : float
        The window. A slice that is only partly in it is returned as a whole, unless its begin or
        end is not in the file or after the window: then it is cut there.

    Raises
    ------
    ResultError
        The file is not a timeline of a run.
    """
    open_slices: dict[tuple[int, int], list[dict[str, Any]]] = {}
    found = []

    def close(begun: dict[str, Any], at_ns: float) -> None:
        if at_ns > start_ns:
            start = 1000 * begun["ts"]
            awaited = begun["args"].get("waited_for", "")
            found.append(Slice(begun["pid"], begun["name"], _kind(begun), start, at_ns, awaited))

    for event in _events(file, ranks):
        at_ns = 1000 * event["ts"]
        if at_ns > end_ns:
            break  # events are in the order of time, but for the begin of the window
        stack = open_slices.setdefault((event["pid"], event["tid"]), [])
        if event["ph"] == "B":
            stack.append(event)
        elif event["ph"] == "i":
            waited = event["args"].get("waited_us")
            if waited is not None:
                start = at_ns - 1000 * waited
                found.append(Slice(event["pid"], event["name"], TIMEOUT, start, at_ns))
        elif stack:
            begun = stack.pop()
            if not stack:
                close(begun, at_ns)
    for stack in open_slices.values():
        if stack:
            close(stack[0], end_ns)
    return found


def _kind(begun: dict[str, Any]) -> str:
    if begun["tid"] == _COMPUTE:
        return COMPUTING
    arguments = begun.get("args", {})
    kind: str = arguments.get("operation") or "timer"
    return kind


def _events(file: Path, ranks: Collection[int]) -> Iterator[dict[str, Any]]:
    # Most lines are about other ranks or of other kinds, so few are parsed.
    begins = tuple(b'%s,"pid":%d,' % (kind, rank) for kind in _SHOWN for rank in ranks)
    try:
        with open_regular(file, None) as packed, gzip.open(packed) as lines:
            while line := lines.readline(_LONGEST_LINE):
                if line.startswith(begins):
                    yield _event(json.loads(line.rstrip(b",\n")))
    except UnfitFileError as error:
        raise ResultError(f"{file}: {error.strerror}: expected a timeline of a run") from None
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise ResultError(f"{file}: expected a timeline of a run ({error})") from None


def _event(content: dict[str, Any]) -> dict[str, Any]:
    """Return an event, with all of what `slices` reads; raise ValueError if something is wrong."""
    arguments = content.setdefault("args", {})
    if not isinstance(arguments, dict):
        raise ValueError("an event with arguments that have no names")
    for time in (content.get("ts"), arguments.get("waited_us", 0)):
        if not isinstance(time, int | float) or not 0 <= time < _LATEST:
            raise ValueError(f"an event with the time {time!r:.40}")
    names = (arguments.get(name, "") for name in ("operation", "waited_for"))
    for text in (content.setdefault("name", ""), *names):
        if not isinstance(text, str):
            raise ValueError(f"an event with the name {text!r:.40}")
    for number in (content["pid"], content.get("tid")):
        if not isinstance(number, int):
            raise ValueError(f"an event on the track {number!r:.40}")
    return content
