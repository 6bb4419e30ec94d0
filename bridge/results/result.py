"""The result of a simulation, and how it is read from and written to result.json.

The simulator provides the measurements. This module adds what only Python knows (wall time,
versions, the resolved scenario) and fixes the order of the keys. Two runs of the same scenario
differ only in ``simulator.wall_s``, ``simulator.cpu_s`` and ``simulator.peak_rss_bytes``.
"""

from __future__ import annotations

import json
import math
import os
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, PrivateAttr, ValidationError

from bridge.errors import ResultError
from bridge.files import prepare_directory, remove, write_together, write_whole
from bridge.results.measurements import (
    Collective,
    CriticalPath,
    Estimate,
    Goodput,
    Iteration,
    IterationTimes,
    Job,
    Layer,
    LayerIteration,
    NetworkEvents,
    NetworkStatistics,
    Pauses,
    Rdma,
    Reconfiguration,
    Reordering,
    Replay,
    Schedule,
    SharedLink,
    Simulator,
    System,
    Training,
    own_names,
)
from bridge.results.notebook import data_frames, result_html
from bridge.results.run_tables import RunTables
from frontend.loading.stored import as_now
from frontend.schema.outputs import chosen
from topology_gen.files import MOST_RECORD_BYTES, read_text

if TYPE_CHECKING:
    import pandas as pd

#: The version of the format of result.json; incompatible changes increase it.
SCHEMA_VERSION = 1

#: The file that `Result.save` writes to a folder.
FILE_NAME = "result.json"
_A_RESULT = f"the {FILE_NAME} of a run, or its folder"

#: Where it writes an incomplete result if `FILE_NAME` holds a complete one.
PARTIAL_NAME = "result.partial.json"


class Result(BaseModel):
    """The measurements of one simulation."""

    model_config = ConfigDict(
        frozen=True,
        defer_build=True,
        extra="forbid",
        json_schema_serialization_defaults_required=True,
        title="Simulation result",
    )

    schema_version: int = SCHEMA_VERSION
    """Version of this format; an incompatible change increases it."""
    status: Literal["complete", "interrupted", "deadlock", "failed", "time_limit"]
    """How the run ended. All other fields are partial unless this is "complete"."""
    error: str | None = None
    """Why the simulation did not complete. Absent if it did."""
    time_ns: float
    """Simulated time at which the workload ended [ns]."""
    iterations: tuple[Iteration, ...]
    """One entry for each training iteration. Empty if jobs share a cluster."""
    jobs: tuple[Job, ...] | None = None
    """One entry for each job that has started. Present only if jobs share a cluster."""
    iteration_times: IterationTimes | None = None
    """Iteration times of all jobs together. Present only if jobs share a cluster."""
    schedule: Schedule | None = None
    """When and where jobs ran. Present only with `jobs`, if all have ended."""
    training: Training | None = None
    """Rates of the training. Present only if a language model is trained to the end."""
    goodput: Goodput | None = None
    """What failures and checkpoints leave of a long training. Present only with
    `workload.failures`."""
    layers: tuple[Layer, ...]
    """One entry for each layer, summed over all iterations."""
    layer_iterations: tuple[LayerIteration, ...] = ()
    """One entry for each layer and iteration."""
    collectives: tuple[Collective, ...]
    """One entry for each collective that was issued."""
    network: NetworkStatistics
    """What the network carried and lost."""
    reconfigurations: tuple[Reconfiguration, ...] | None = None
    """One entry for each change of the circuits. Absent if circuits do not change."""
    network_events: NetworkEvents | None = None
    """What happened to links and ranks. Absent without `events` and without links that lose
    packets."""
    reordering: Reordering | None = None
    """Packets that overtook each other. Present only on `express`, with `routing.policy: spray` or
    `flowlet`, with events that change links, or with links that lose packets."""
    shared_links: tuple[SharedLink, ...] | None = None
    """The links between switches that most flows share. Absent if `routing.shared_links` is 0."""
    estimate: Estimate | None = None
    """How far estimates of similar scenarios are from the packet level. Present only if the fabric
    estimates."""
    critical_path: tuple[CriticalPath, ...] | None = None
    """What makes each iteration as long as it is. Present only with `outputs.critical_path`."""
    files: dict[str, str] | None = None
    """The SHA-256 of the algorithm files and traces that the scenario names, by path. Absent if it
    names none. With them, the result runs again from every folder."""
    replay: Replay | None = None
    """What the network carried without simulating its packets again. Present only on `express`,
    unless `simulation.replay` is off or does not apply."""
    rdma: Rdma | None = None
    """What queue pairs did; null unless `transport.protocol` is roce."""
    pauses: Pauses | None = None
    """What lossless switches paused; null unless `switches.buffer_sharing` is pfc."""
    system: System
    """The activity of the system layer."""
    simulator: Simulator
    """The cost of the run itself, and its versions."""
    scenario: dict[str, Any]
    """The scenario with all defaults filled in. Paths of files are absolute."""

    __dir__ = own_names

    _tables: RunTables = PrivateAttr(default_factory=RunTables)

    @property
    def name(self) -> str:
        """The name of the scenario."""
        return str(self.scenario.get("name", "simulation"))

    @property
    def tables(self) -> RunTables:
        """The tables of links, flows and completion times, which are files beside result.json."""
        return self._tables

    def with_tables(self, tables: RunTables) -> Result:
        """Return the same result with the tables of its run."""
        result = self.model_copy()
        result._tables = tables
        return result

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain dictionaries, lists, numbers and strings.

        Returns
        -------
        dict
            Keys in the order of result.json.
        """
        document = self.model_dump(mode="json")
        for name in OPTIONAL:
            if document[name] is None:
                del document[name]
        for kind, blocks in (
            (Collective, document["collectives"]),
            (Simulator, [document["simulator"]]),
        ):
            for block in blocks:
                for name, default in ONLY_IF_OTHER[kind].items():
                    if block[name] == default:
                        del block[name]
        return document

    def to_pandas(self) -> dict[str, pd.DataFrame]:
        """Return a table for each list of the result, as pandas data frames.

        Returns
        -------
        dict
            Name of the field (``"iterations"``, ``"layers"``, ``"layer_iterations"``,
            ``"collectives"``, ``"dimensions"`` …) to its table: a row for each entry, and a column
            for each of its fields, with the same name and unit. In ``"job_iterations"``,
            ``"job_failures"`` and ``"job_checkpoints"``, the column ``job`` is the index of the
            job. An empty list gives an empty table. The files of a run are tables, too:
            ``"links"``, ``"flows"``, ``"fct"``, and if the result has a folder
            ``"link_series"`` and ``"flow_series"``.

        Raises
        ------
        InputError
            pandas is not installed.
        ResultError
            A file beside result.json cannot be read.
        """
        return data_frames(self.to_dict(), self._tables)

    def __repr__(self) -> str:
        name = self.scenario.get("name", "scenario")
        parts = [self.status, f"{self.time_ns / 1e6:.4g} ms simulated"]
        for values, noun in ((self.iterations, "iteration"), (self.layers, "layer")):
            if values:
                parts.append(f"{len(values)} {noun}{'s' if len(values) > 1 else ''}")
        return f"<Result {name}: {', '.join(parts)}>"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return result_html(
            self.name, self.status, self.time_ns, self.iterations, self.layers, self.network
        )

    def to_json(self) -> str:
        """Return the text of result.json: keys in fixed order, indented by two spaces.

        Returns
        -------
        str
        """
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def save(self, directory: str | os.PathLike[str]) -> Path:
        """Write ``result.json`` and the tables of the run to a folder.

        The files are written completely or not at all.

        An incomplete result does not replace a complete one: it goes to ``result.partial.json``.

        Parameters
        ----------
        directory : path
            The folder; created if it does not exist.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        OutputError
            The folder cannot be created or written to.
        """
        folder = prepare_directory(directory)
        partial = folder / PARTIAL_NAME
        if self.status != "complete" and _is_complete(folder):
            write_whole(partial, self.to_json().encode())
            return partial
        form = chosen(self.scenario).format
        tables = self._tables.contents(self.to_dict()["collectives"], form)
        write_together(
            (folder / name, content)
            for name, content in chain(tables, [(FILE_NAME, self.to_json().encode())])
        )
        for name in (PARTIAL_NAME, *self._tables.outdated(form)):
            remove(folder / name)  # it was of an earlier run
        return folder / FILE_NAME

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Return the result that `save` wrote to a file.

        Parameters
        ----------
        path : path
            The file, or its folder.

        Returns
        -------
        Result

        Raises
        ------
        ResultError
            The file is not a result, or has another schema version.
        """
        file = Path(path)
        if file.is_dir():
            file /= FILE_NAME
        try:
            text = read_text(file, MOST_RECORD_BYTES)
            document = json.loads(text, parse_float=_finite, parse_constant=_finite)
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            problem = f"no such file, expected {_A_RESULT}" if missing else error.strerror
            raise ResultError(f"{file}: {problem}") from None
        except (ValueError, RecursionError):  # the second if it is nested very deeply
            raise ResultError(f"{file}: no JSON, expected {_A_RESULT}") from None
        if not isinstance(document, dict) or "schema_version" not in document:
            raise ResultError(f"{file}: expected {_A_RESULT}")
        version = document["schema_version"]
        if version != SCHEMA_VERSION:
            raise ResultError(
                f"{file}: schema_version is {version!r}, expected a result of version "
                f"{SCHEMA_VERSION}"
            )
        document.pop("repeat", None)  # what earlier versions skipped
        if "scenario" in document:
            document["scenario"] = as_now(document["scenario"])
        try:
            return cls.model_validate(document).with_tables(RunTables(folder=file.parent))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise ResultError(f"{file}: {where}: {first['msg']}") from None


#: Fields that are left out if they do not apply: no error, one job, circuits that do not change, or
#: no events, or an output that is not asked for.
OPTIONAL = [name for name, field in Result.model_fields.items() if field.default is None]

#: Fields of blocks that are left out if they have this value.
ONLY_IF_OTHER: dict[type[BaseModel], dict[str, Any]] = {
    kind: {
        name: field.default for name, field in kind.model_fields.items() if not field.is_required()
    }
    for kind in (Collective, Simulator)
}


def _finite(text: str) -> float:
    """Return a number; refuse 1e999, and NaN and Infinity, which Python reads but JSON lacks."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _is_complete(folder: Path) -> bool:
    try:
        return Result.load(folder).status == "complete"
    except ResultError:
        return False


def result_schema() -> dict[str, Any]:
    """Return the JSON Schema of result.json.

    Returns
    -------
    dict
        A schema of draft 2020-12, with a description of every field.
    """
    # Imported here because it takes as long as reading a result.
    from frontend.schema.docstrings import DocumentedSchema

    schema = Result.model_json_schema(mode="serialization", schema_generator=DocumentedSchema)
    for kind, defaults in ONLY_IF_OTHER.items():
        block = schema["$defs"][kind.__name__]
        block["required"] = [name for name in block["required"] if name not in defaults]
    schema["required"] = [name for name in schema["required"] if name not in OPTIONAL]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def result_schema_text() -> str:
    """Return the text of ``docs/result.schema.json``, the JSON Schema of result.json."""
    return json.dumps(result_schema(), indent=2, ensure_ascii=False) + "\n"
