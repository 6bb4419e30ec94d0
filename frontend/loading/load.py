"""Load a scenario from a file, dict or Scenario, apply overrides, and check the result."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from frontend.errors import RefusedError, ScenarioError, warn
from frontend.loading import moved
from frontend.loading import overrides as overriding
from frontend.loading.overrides import Overrides, python_values
from frontend.loading.problems import KeyPath, Origin, describe, describe_refusal, no_scenario
from frontend.loading.stored import as_now
from frontend.resolve import check
from frontend.scenario import Scenario
from frontend.scenario.file_paths import change_paths
from frontend.schema.files import FOLDER, GIVEN, KNOWN, OWN, require_allowed
from frontend.yaml_document import read
from topology_gen.files import read_text

STDIN = "-"
"""The name of a file that stands for the standard input."""

OWN_KEYS = "x-"
"""How keys begin that are the user's own, such as a place for YAML anchors; cosim ignores them."""


@dataclass(frozen=True)
class Content:
    """The content of a scenario that has been read and not been checked yet."""

    data: Any
    name: str
    """The file; empty if there is none."""
    lines: Mapping[KeyPath, int]
    """The line of each key path."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The SHA-256 of the files that a run of the scenario has read, by absolute path."""


Source = str | os.PathLike[str] | Mapping[str, Any] | Scenario | Content

ANY_WORKLOAD = {
    "kind": "collective", "operation": "all_to_all", "algorithm": "direct", "bytes": "1B",
}  # fmt: skip
"""A workload for every network, in place of one that a network does not need."""


def load_scenario(source: Source, overrides: Overrides = ()) -> Scenario:
    """Return the checked scenario of a file, dict or Scenario.

    No topology optimiser runs. `resolve` does the checks that need the links which an optimiser
    finds.

    Parameters
    ----------
    source : path, mapping, Scenario or Content
        A YAML 1.2 file, ``"-"`` for the standard input, or its content. The file `result.json` of
        a run gives its scenario.
    overrides : mapping of key path to value, or sequence of "key.path=value"
        Values to set before checking, as `cosim run --set` does.

    Raises
    ------
    ScenarioError
        If anything is wrong. The text is one sentence with the place (file and line, or the
        override), the key path, the value, and what is accepted.

    Examples
    --------
    >>> topology = {"family": "flat", "ranks": 4, "bandwidth": "1Gbps", "latency": "1us"}
    >>> workload = {"kind": "collective", "operation": "all_reduce", "algorithm": "ring"}
    >>> scenario = load_scenario(
    ...     {"topology": topology | {"buffer": "1MB"}, "workload": workload | {"bytes": "1MB"}},
    ...     ["topology.bandwidth=2Gbps"],
    ... )
    >>> int(scenario.topology.bandwidth)
    2000000000
    """
    return _checked(read_scenario(source), overrides)


def load_network(source: Source, overrides: Overrides = ()) -> Scenario:
    """Return a scenario whose network matters, but not its workload, which may be missing.

    Parameters
    ----------
    source, overrides
        As for `load_scenario`.

    Raises
    ------
    ScenarioError
        As for `load_scenario`.

    Examples
    --------
    >>> topology = {"family": "flat", "ranks": 4, "bandwidth": "1Gbps", "latency": "1us"}
    >>> scenario = load_network({"topology": topology | {"buffer": "1MB"}})
    >>> scenario.topology.ranks, scenario.workload.kind
    (4, 'collective')
    """
    document = read_scenario(source)
    if isinstance(document.data, Mapping) and "jobs" not in document.data:
        document = replace(document, data={"workload": ANY_WORKLOAD, **document.data})
    return _checked(document, overrides)


def _checked(document: Content, overrides: Overrides) -> Scenario:
    data, origin = document.data, Origin(document.name, document.lines)
    if not isinstance(data, Mapping):
        raise ScenarioError(f"{origin.name or 'scenario'}: {no_scenario(data)}")
    data = {key: value for key, value in data.items() if not str(key).startswith(OWN_KEYS)}
    try:
        data = overriding.apply(data, overrides, origin)
        context: dict[str, Any] = {FOLDER: origin.folder}
        if origin.name:
            own = (origin.folder.resolve(), Path(origin.name).resolve().parent)
            context |= {GIVEN: origin.given, OWN: own, KNOWN: document.files}
        scenario = Scenario.model_validate(data, context=context)
        _require_allowed_files(scenario, context)
        check(scenario)
    except ValidationError as error:
        raise ScenarioError(describe(error, data, origin)) from None
    except RefusedError as error:
        raise ScenarioError(describe_refusal(error, data, origin)) from None
    except RecursionError:
        raise ScenarioError(f"{origin.name or 'scenario'}: expected fewer levels") from None
    return scenario


def read_scenario(source: Source) -> Content:
    """Read a scenario without checking it, so that it can be loaded with many overrides.

    Parameters
    ----------
    source : path, mapping, Scenario or Content
        As for `load_scenario`. A file is read once, so it may be a pipe.

    Raises
    ------
    ScenarioError
        If the file cannot be read or is not YAML.
    """
    if isinstance(source, Content):
        return source
    if isinstance(source, Scenario):
        # Values that were not set stay unset, so that overriding `mtu` still moves the default of
        # `mss`.
        return Content(source.model_dump(mode="json", exclude_unset=True), "", {})
    if isinstance(source, Mapping):
        try:
            return _in_new_places(Content(python_values(source), "", {}))
        except RecursionError:
            raise ScenarioError("scenario: expected fewer levels") from None
    if not isinstance(source, str | os.PathLike):
        raise ScenarioError(
            f"scenario: {source!r}: expected the path of a YAML file, its content as a mapping, or "
            "a Scenario"
        )
    name = os.fspath(source)
    if "\n" in name:
        raise ScenarioError(
            "scenario: a text of several lines: expected the path of a YAML file, or its content "
            "as a mapping"
        )
    path = Path(source)
    try:
        if name == STDIN:
            name, text = "stdin", sys.stdin.read()
        else:
            text = read_text(path)
    except FileNotFoundError:
        raise ScenarioError(f"{name}: no such file: expected a scenario in YAML") from None
    except UnicodeDecodeError:
        raise ScenarioError(f"{name}: not UTF-8 text: expected a scenario in YAML") from None
    except OSError as error:
        raise ScenarioError(f"{name}: {error.strerror}: expected a readable YAML file") from None
    return _content_of_result(text, name) or _in_new_places(scenario_content(text, name))


def scenario_content(text: str, name: str) -> Content:
    """Return the content of a scenario file whose text is known, without checking it.

    Parameters
    ----------
    text : str
        The text of the file, in YAML.
    name : str
        Path of the file, which need not exist.

    Raises
    ------
    ScenarioError
        If the text is not YAML.
    """
    content = read(text, name)
    if isinstance(content.data, Mapping):
        folder = Path(name).parent
        change_paths(content.data, lambda path: os.fspath(folder / path))
    return Content(content.data, name, content.lines)


def _in_new_places(content: Content) -> Content:
    """Return the content with keys at their new places, and warn of those at old ones."""
    if not isinstance(content.data, Mapping):
        return content
    data, found = moved.in_new_places(content.data, content.name, content.lines)
    if not found:
        return content
    hint = f": `cosim convert {content.name}` rewrites the file" if content.name else ""
    warn(moved.sentence(found, content.name or "scenario", hint))
    lines = dict(content.lines)
    for one in found:
        if one.old in lines:
            lines[one.new] = lines[one.old]
    return replace(content, data=data, lines=lines)


def _content_of_result(text: str, name: str) -> Content | None:
    """Return the scenario in the text of a result.json; None if it is another text."""
    if not text.startswith("{"):
        return None
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    scenario = content.get("scenario") if "simulator" in content else None
    if not isinstance(scenario, dict):
        return None
    read_by_run = content.get("files")
    return Content(as_now(scenario), name, {}, read_by_run if isinstance(read_by_run, dict) else {})


def _require_allowed_files(scenario: Scenario, context: Mapping[str, Any]) -> None:
    """Raise RefusedError if a workload names a file that the scenario may not read."""
    for work in scenario.work:
        for key in work.kind.files:
            name = getattr(work.workload, key)
            for path in work.kind.paths(work.workload, key):
                try:
                    require_allowed(path, name, context)
                except ValueError as error:
                    which = "" if os.fspath(path) == name else f"{path}: "
                    raise RefusedError(work.path(f"workload.{key}"), f"{which}{error}") from None
