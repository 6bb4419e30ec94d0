"""Read the trace of one rank into columns."""

from __future__ import annotations

import gzip
import io
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frontend.errors import ScenarioError
from frontend.formats.chakra.schema import NUMBERS, TEXTS, ChakraType
from frontend.nodes import Ids, Wide
from topology_gen.files import MOST_RECORD_BYTES, read_bytes

try:
    from frontend._decoder import decode_chakra
except ModuleNotFoundError as error:
    if error.name != "frontend._decoder":
        raise
    raise ModuleNotFoundError(
        "the compiled module frontend._decoder is missing: did you forget to build? (`make setup`)",
        name=error.name,
    ) from None

_GZIP = b"\x1f\x8b"
_JSON = (".json", ".json.gz")
_PIECE_BYTES = 2**20
_PRESENT, _UNUSABLE = 1, 2


@dataclass
class ChakraTrace:
    """The nodes of one rank, as the file has them, in the order of their ids.

    Attributes
    ----------
    path : Path
        The file.
    id : array of uint64
        Ids of the nodes, rising.
    type : array of uint32
        Their `ChakraType`.
    names : list of str
        Their names.
    duration_micros : array of uint64
        Their durations in microseconds.
    dep_begin, dep : array of uint32
        Slices of the indices of the nodes that each node waits for, by data or by control.
    numbers : dict
        For each attribute, its value for each node, and whether the node has it.
    texts : dict
        For each attribute, its index in `table` for each node, or -1.
    table : list of str
        Texts of attributes.
    inputs : list of (int, str)
        The input values of METADATA nodes.
    dangling : list of (int, int)
        Nodes, and the ids of nodes that they depend on and that the file does not have. `dep` is
        without these dependencies.
    """

    path: Path
    id: Wide
    type: Ids
    names: list[str]
    duration_micros: Wide
    dep_begin: Ids
    dep: Ids
    numbers: dict[str, tuple[Wide, NDArray[np.uint8]]]
    texts: dict[str, NDArray[np.int32]]
    table: list[str]
    inputs: list[tuple[int, str]]
    dangling: list[tuple[int, int]] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return int(self.id.size)

    def describe(self, node: int) -> str:
        """Return the file, the id and the name of a node."""
        return f"{self.path}: node {self.id[node]} ({self.names[node]})"

    def fail(self, node: int, what: str) -> ScenarioError:
        """Return an error about a node."""
        return ScenarioError(f"{self.describe(node)}: {what}")

    def has(self, name: str) -> NDArray[np.bool_]:
        """Return which nodes have a number."""
        present: NDArray[np.bool_] = self.numbers[name][1] == _PRESENT
        return present

    def number(self, name: str, where: NDArray[np.bool_], default: int | None = None) -> Wide:
        """Return an attribute of all nodes, which the nodes at `where` must have as a number.

        Raises
        ------
        ScenarioError
            For the first node at `where` whose attribute is no whole number, or that has none and
            there is no default.
        """
        values, presence = self.numbers[name]
        wrong = where & (presence == _UNUSABLE)
        if wrong.any():
            node = int(np.argmax(wrong))
            raise self.fail(node, f"attribute {name}: expected a whole number of at least 0")
        absent = presence != _PRESENT
        if default is None and (where & absent).any():
            node = int(np.argmax(where & absent))
            raise self.fail(node, f"no attribute {name}: expected one")
        return np.where(absent, np.uint64(default or 0), values)


def read_trace(path: Path, control: bool = True) -> ChakraTrace:
    """Return the trace in a file: binary or JSON, and maybe compressed with gzip.

    Parameters
    ----------
    path : Path
        The file.
    control : bool, optional
        Whether control dependencies count, and not only data dependencies.

    Raises
    ------
    ScenarioError
        If the file cannot be read, is not a Chakra trace, has two nodes with the same id or a node
        of an unknown type.
    """
    try:
        data = read_bytes(path, MOST_RECORD_BYTES)
        if data.startswith(_GZIP):
            data = _decompressed(path, data)
        if path.name.endswith(_JSON):
            from frontend.formats.chakra import json_text  # few traces are JSON

            data = json_text.to_binary(path, data)
    except FileNotFoundError:
        raise ScenarioError(f"{path}: no such file: expected the trace of a rank") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ScenarioError(f"{path}: damaged gzip file ({error})") from None
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror}: expected a readable file") from None
    try:
        raw = decode_chakra(data, list(NUMBERS), list(TEXTS), control)
    except ValueError as error:
        reason = str(error).removeprefix("the stream ")
        raise ScenarioError(f"{path}: the file {reason}: expected a Chakra trace") from None
    order = np.argsort(raw["id"], kind="stable")
    sorted_already = bool((order == np.arange(order.size)).all())
    trace = ChakraTrace(
        path=path,
        id=raw["id"][order],
        type=raw["type"][order],
        names=raw["name"] if sorted_already else [raw["name"][i] for i in order.tolist()],
        duration_micros=raw["duration_micros"][order],
        dep_begin=np.zeros(0, np.uint32),
        dep=np.zeros(0, np.uint32),
        numbers={name: (v[order], p[order]) for name, (v, p) in raw["numbers"].items()},
        texts={name: values[order] for name, values in raw["texts"].items()},
        table=raw["table"],
        inputs=[(int(np.argmax(order == node)), text) for node, text in raw["inputs"]],
    )
    twice = np.flatnonzero(trace.id[1:] == trace.id[:-1])
    if twice.size:
        raise trace.fail(int(twice[0]) + 1, "a second node with this id: expected different ids")
    if (trace.type > max(ChakraType)).any():
        node = int(np.argmax(trace.type > max(ChakraType)))
        raise trace.fail(node, f"type {trace.type[node]}: expected 0 to {max(ChakraType)}")
    _set_dependencies(trace, order, raw["dep_begin"], raw["dep"])
    return trace


def _decompressed(path: Path, data: bytes) -> bytes:
    """Return what a gzip file holds, which may be a thousand times as much."""
    content = bytearray()
    with gzip.open(io.BytesIO(data)) as file:
        while piece := file.read(_PIECE_BYTES):
            content += piece
            if len(content) > MOST_RECORD_BYTES:
                most = f"{MOST_RECORD_BYTES >> 20} MiB"
                raise ScenarioError(f"{path}: expected at most {most} when it is decompressed")
    return bytes(content)


def _set_dependencies(trace: ChakraTrace, order: NDArray[np.intp], begin: Wide, dep: Wide) -> None:
    """Turn ids into indices, in rising order and each once."""
    place = np.empty(trace.size, np.int64)
    place[order] = np.arange(trace.size)
    lengths = (begin[1:] - begin[:-1]).astype(np.int64)
    later = np.repeat(place, lengths)
    earlier = np.minimum(np.searchsorted(trace.id, dep), max(trace.size - 1, 0))
    unknown = trace.id[earlier] != dep if trace.size else np.zeros(0, np.bool_)
    if unknown.any():
        trace.dangling = list(zip(later[unknown].tolist(), dep[unknown].tolist(), strict=True))
        later, earlier = later[~unknown], earlier[~unknown]
    code = np.unique(later * trace.size + earlier) if later.size else np.zeros(0, np.int64)
    later, earlier = np.divmod(code, max(trace.size, 1))
    trace.dep = earlier.astype(np.uint32)
    trace.dep_begin = np.searchsorted(later, np.arange(trace.size + 1)).astype(np.uint32)
