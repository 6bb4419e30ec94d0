"""Build the program of an algorithm file."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from frontend.collectives.importers.from_algorithm import checked
from frontend.collectives.program.errors import CollectiveError
from frontend.collectives.program.program import Program
from topology_gen import TopologyError
from topology_gen.files import read_bytes
from topology_gen.formats.registry import as_algorithm, read
from topology_gen.lowering.algorithm import Algorithm


def from_file(
    path: Path, operation: str, group_size: int, *, dimension: str, root: int | None = None
) -> Program:
    """Return the checked program of an algorithm file.

    Parameters
    ----------
    path : Path
        File with MSCCL XML, an MSCCL++ execution plan, or cosim's own JSON.
    operation : str
        One of `frontend.collectives.OPERATIONS`.
    group_size : int
        Number of members of the group.
    dimension : str
        Network dimension of the program.
    root : int, optional
        The member at which a broadcast or scatter starts, or a reduce or gather ends.

    Raises
    ------
    CollectiveError
        If the file cannot be read, is wrong, or is for another operation, number of ranks or root.
    """
    algorithm = _algorithm(path)
    if (algorithm.operation, algorithm.ranks) != (operation, group_size):
        raise CollectiveError(
            f"{path}: {algorithm.operation} over {algorithm.ranks} ranks: "
            f"expected {operation} over {group_size}"
        )
    if root is not None and root != algorithm.root:
        raise CollectiveError(
            f"{path}: {operation} with root {algorithm.root}: expected root {root}"
        )
    try:
        return checked(algorithm, dimension).program
    except TopologyError as error:
        raise CollectiveError(f"{path}: {error}") from None


def check_size(path: Path, size: int) -> None:
    """Check that the algorithm of a file is made for collectives of a size.

    Parameters
    ----------
    path : Path
        The file.
    size : int
        Bytes of the collective.

    Raises
    ------
    CollectiveError
        If the file cannot be read, or its range of sizes does not contain `size`.
    """
    algorithm = _algorithm(path)
    least, most = algorithm.least_bytes, algorithm.most_bytes
    if not least <= size <= (most or size):
        raise CollectiveError(
            f"{path}: made for {least} … {most or 'any number of'} bytes (minBytes, maxBytes), and "
            f"the runtime does not use it for others: expected a size in this range, not {size} "
            "bytes"
        )


def _algorithm(path: Path) -> Algorithm:
    try:
        return _read(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise CollectiveError(f"{path}: {error.strerror}: expected an algorithm file") from None
    except TopologyError as error:
        raise CollectiveError(f"{path}: {error}") from None


@lru_cache(maxsize=4)
def _read(path: Path, changed_ns: int) -> Algorithm:
    """Return the algorithm of a file, which is read once for each time of change."""
    return as_algorithm(read(read_bytes(path)).what)
