"""Networks of ASTRA-sim's analytical backend as topologies of a scenario."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from frontend.formats.astra_sim.imported import Imported
from topology_gen.formats.graphs.dimensions import Dimension


def topology_of(path: Path, found: Sequence[Dimension], made: Imported) -> dict[str, Any]:
    """Return the family of one dimension or of a torus, or else a graph of all links.

    Parameters
    ----------
    path : Path
        The network file, which a graph reads.
    found : sequence of Dimension
        The dimensions in it.
    made : Imported
        Receives the file if the topology names it.
    """
    first = found[0]
    links = {"bandwidth": first.bandwidth, "latency": first.latency, "buffer": "unlimited"}
    if len(found) == 1 and first.kind == "Switch":
        return {"family": "flat", "ranks": first.size, **links}
    if len(found) == 1 and first.kind == "FullyConnected":
        return {"family": "direct_connect", "graph": f"complete:n={first.size}", **links}
    if len(found) == 1 and first.size > 2:
        return {"family": "direct_connect", "graph": f"ring:n={first.size},d=2", **links}
    rings = all(one == ("Ring", one.size, first.bandwidth, first.latency) for one in found)
    if rings and len(found) > 1 and min(one.size for one in found) > 2:
        # the last of our dimensions changes fastest with the number of the rank
        lengths = "x".join(str(one.size) for one in reversed(found))
        return {"family": "direct_connect", "graph": f"torus:dims={lengths}", **links}
    return {"family": "graph", "file": made.name(path), "buffer": "unlimited"}
