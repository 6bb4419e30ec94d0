"""The result of a simulation: what result.json holds, and how it is written.

The simulator measures; this module adds what only Python knows (wall time, versions, the resolved
scenario) and fixes the order of the keys. Two runs of one scenario differ in nothing but
``simulator.wall_s``, ``simulator.cpu_s`` and ``simulator.peak_rss_bytes``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from bridge.errors import ResultError
from bridge.files import prepare_directory, write_whole
from bridge.results.measurements import (
    Collective,
    Iteration,
    IterationTimes,
    Job,
    Layer,
    LayerIteration,
    NetworkStatistics,
    Reconfiguration,
    Simulator,
    System,
)

#: Counts incompatible changes of result.json.
SCHEMA_VERSION = 1

#: The file that `Result.save` writes into a folder.
FILE_NAME = "result.json"

#: Blocks that not every result has: none of a complete run, one job, or links that stay.
OPTIONAL = ("error", "jobs", "iteration_times", "reconfigurations")


class Result(BaseModel):
    """What one simulation measured."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        json_schema_serialization_defaults_required=True,
        title="Simulation result",
    )

    schema_version: int = SCHEMA_VERSION
    """Version of this format. It increases with each incompatible change."""
    status: Literal["complete", "interrupted", "deadlock", "failed", "time_limit"]
    """How the run ended. Unless it is complete, all other blocks are partial."""
    error: str | None = None
    """Why the simulation did not complete; absent if it did."""
    time_ns: float
    """Simulated time at which the workload ended [ns]."""
    iterations: tuple[Iteration, ...]
    """One entry for each training iteration; none if jobs share a cluster."""
    jobs: tuple[Job, ...] | None = None
    """One entry for each job that has started; absent unless jobs share a cluster."""
    iteration_times: IterationTimes | None = None
    """Statistics over all jobs; absent unless jobs share a cluster."""
    layers: tuple[Layer, ...]
    """One entry for each layer, summed over the iterations."""
    layer_iterations: tuple[LayerIteration, ...] = ()
    """The same for each layer and iteration."""
    collectives: tuple[Collective, ...]
    """One entry for each collective issued."""
    network: NetworkStatistics
    """What the fabric counted."""
    reconfigurations: tuple[Reconfiguration, ...] | None = None
    """One entry for each change of the circuits; absent if they do not change."""
    system: System
    """What the system layer did."""
    simulator: Simulator
    """What the simulation cost."""
    scenario: dict[str, Any]
    """The scenario with every default filled in."""

    def to_dict(self) -> dict[str, Any]:
        """Give the result as plain dictionaries, lists, numbers and strings.

        Returns
        -------
        dict
            Keys in the order of result.json.
        """
        document = self.model_dump(mode="json")
        for name in OPTIONAL:
            if document[name] is None:
                del document[name]
        return document

    def to_json(self) -> str:
        """Write the result as result.json holds it: fixed key order, two spaces, a last newline.

        Returns
        -------
        str
        """
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def save(self, directory: str | os.PathLike[str]) -> Path:
        """Write ``result.json`` into a folder, whole or not at all.

        Parameters
        ----------
        directory : path
            Made if it does not exist.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        OutputError
            If the folder cannot be made or written to.
        """
        file = prepare_directory(directory) / FILE_NAME
        write_whole(file, self.to_json().encode())
        return file

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Read a result that `save` wrote.

        Parameters
        ----------
        path : path
            The file, or the folder that holds it.

        Returns
        -------
        Result

        Raises
        ------
        ResultError
            If the file is not a result, or one of another schema version.
        """
        file = Path(path)
        if file.is_dir():
            file /= FILE_NAME
        try:
            document = json.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise ResultError(f"{file}: {error.strerror}") from None
        except ValueError:
            raise ResultError(f"{file}: not a JSON file") from None
        version = document.get("schema_version") if isinstance(document, dict) else None
        if version != SCHEMA_VERSION:
            raise ResultError(
                f"{file}: schema_version is {version!r}, expected a result of version "
                f"{SCHEMA_VERSION}"
            )
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise ResultError(f"{file}: {where}: {first['msg']}") from None


def result_schema() -> dict[str, Any]:
    """Give the JSON Schema of result.json.

    Returns
    -------
    dict
        Draft 2020-12, with a description at every field.
    """
    schema = Result.model_json_schema(mode="serialization")
    schema["required"] = [name for name in schema["required"] if name not in OPTIONAL]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def result_schema_text() -> str:
    """Give the JSON Schema as ``docs/result.schema.json`` holds it."""
    return json.dumps(result_schema(), indent=2, ensure_ascii=False) + "\n"
