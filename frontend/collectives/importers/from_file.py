"""Build the program of an algorithm file."""

from __future__ import annotations

from pathlib import Path

from frontend.collectives.importers.from_algorithm import checked
from frontend.collectives.program.errors import CollectiveError
from frontend.collectives.program.program import Program
from topology_gen import TopologyError
from topology_gen.formats.registry import as_algorithm, read


def from_file(path: Path, operation: str, group_size: int, *, dimension: str) -> Program:
    """Return the checked program of an algorithm file.

    Parameters
    ----------
    path : Path
        File with MSCCL XML, an MSCCL++ execution plan, or cosim's own JSON.
    operation : str
        "all_reduce", "reduce_scatter", "all_gather" or "all_to_all".
    group_size : int
        Number of members of the group.
    dimension : str
        Network dimension of the program.

    Raises
    ------
    CollectiveError
        If the file cannot be read, is wrong, or is for another operation or number of ranks.
    """
    try:
        algorithm = as_algorithm(read(path.read_bytes()).what)
        if (algorithm.operation, algorithm.ranks) != (operation, group_size):
            raise CollectiveError(
                f"{path}: {algorithm.operation} over {algorithm.ranks} ranks: "
                f"expected {operation} over {group_size}"
            )
        return checked(algorithm, dimension).program
    except OSError as error:
        raise CollectiveError(f"{path}: {error.strerror}: expected an algorithm file") from None
    except TopologyError as error:
        raise CollectiveError(f"{path}: {error}") from None
