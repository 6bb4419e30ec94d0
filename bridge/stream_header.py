"""Reads the header of a stream: the scenario and the seed that a result reports."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from bridge.errors import StreamError
from frontend.loading.stored import as_now, lost_in_streams
from frontend.scenario.file_paths import FILES
from frontend.schema.outputs import chosen
from frontend.stream import VERSION, decode


@dataclass(frozen=True)
class StreamHeader:
    """The first record of a stream.

    Attributes
    ----------
    seed : int
        Seed of ns-3's random variables.
    scenario : dict
        The resolved scenario that was compiled.
    files : dict or None
        The SHA-256 of each file that the scenario names, by path; None if it names none.
    """

    seed: int
    scenario: dict[str, Any]
    files: dict[str, str] | None = None


def read_header(stream: bytes) -> StreamHeader:
    """Return the header of a stream.

    Parameters
    ----------
    stream : bytes
        Length-delimited records in the format of ``frontend/network_api.proto``.

    Raises
    ------
    StreamError
        The bytes are not a stream, are one of another version, or need a setting that cosim no
        longer has.
    """
    try:
        record = next(decode(stream))
        if record.WhichOneof("kind") != "header":
            raise ValueError
        scenario = json.loads(record.header.scenario_json or "{}")
    except (StopIteration, ValueError, RecursionError):
        raise StreamError("not a stream: it does not begin with a header record") from None
    if record.header.version != VERSION:
        raise StreamError(
            f"the stream has version {record.header.version}, "
            f"expected {VERSION}: compile the scenario again"
        )
    files = scenario.pop(FILES, None) if isinstance(scenario, dict) else None
    if not _is_scenario(scenario) or not _are_digests(files):
        raise StreamError("the header of the stream has no scenario: compile the scenario again")
    scenario = as_now(scenario)
    for path, removed in lost_in_streams(scenario):
        raise StreamError(
            f"the stream has {path}, which cosim no longer has: {removed.expected}: compile the "
            "scenario again without this key"
        )
    return StreamHeader(record.header.seed, scenario, files)


def _are_digests(content: Any) -> bool:
    return content is None or (
        isinstance(content, dict) and all(isinstance(one, str) for one in content.values())
    )


def _is_scenario(content: Any) -> bool:
    """Return whether content has what a result needs of its scenario; a stream may have none."""
    if content == {}:
        return True
    if not isinstance(content, dict):
        return False
    topology, jobs = content.get("topology"), content.get("jobs")
    if not isinstance(topology, dict) or "family" not in topology:
        return False
    if not (_has_workload(content) or (isinstance(jobs, list) and all(map(_has_workload, jobs)))):
        return False
    try:
        chosen(content)
    except ValueError:
        return False
    return True


def _has_workload(content: Any) -> bool:
    workload = content.get("workload") if isinstance(content, dict) else None
    return isinstance(workload, dict) and isinstance(workload.get("kind"), str)
