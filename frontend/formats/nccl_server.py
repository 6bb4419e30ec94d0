"""Scenarios around servers, as NCCL sees them: on rails, and of a topology file of NCCL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from frontend import units
from frontend.errors import ScenarioError
from topology_gen import files
from topology_gen.errors import FileFormatError
from topology_gen.formats.nccl_topology import ServerFile, read_server


def read_server_file(path: Path) -> ServerFile:
    """Return what a topology file of NCCL tells; raise ScenarioError if it cannot be read."""
    try:
        return read_server(files.read_bytes(path))
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror}: expected a readable file") from None
    except FileFormatError as error:
        raise ScenarioError(f"{path}: {error}") from None


def on_rails(name: str, server: dict[str, Any], servers: int, **topology: Any) -> dict[str, Any]:
    """Return an estimate on servers on rails, without its workload.

    Parameters
    ----------
    name : str
        Its name.
    server : dict
        The keys of `topology.server`.
    servers : int
        Number of servers.
    **topology
        Other keys of `topology`.
    """
    rails = {"family": "rail_optimized", "servers": servers, "server": server, "buffer": "64MB"}
    return {
        "name": name,
        "fabric": "analytical",
        "topology": rails | topology,
        "links": {"mtu": "9000B"},
        "transport": {"window": "unlimited"},
    }


def server_scenario(
    name: str, server: dict[str, Any], servers: int, net_latency_us: float
) -> dict[str, Any]:
    """Return a scenario with an all-reduce by NCCL on servers on rails.

    Parameters
    ----------
    name : str
        Its name.
    server : dict
        The keys of `topology.server`.
    servers : int
        Number of servers.
    net_latency_us : float
        The latency that the plug-in of the network tells NCCL.
    """
    work: dict[str, Any] = {
        "kind": "collective",
        "operation": "all_reduce",
        "algorithm": "nccl",
        "bytes": "1GiB",
    }
    if net_latency_us:
        latency = round(net_latency_us * units.parse("1us", units.TIME))
        work["nccl"] = {"net_latency": units.written(latency, units.TIME)}
    made = on_rails(name, server, servers, latency="0.5us")
    return {"schema_version": 1, **made, "workload": work}
