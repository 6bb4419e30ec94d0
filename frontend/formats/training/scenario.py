"""A scenario around a model and a layout: servers of eight H100, and the text of its file."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from ruamel.yaml import YAML

SERVER = 8
"""GPUs of a server."""

NETWORK = (
    f"topology: the file knows no network: the scenario has servers of {SERVER} H100 with 3600 "
    "Gbit/s of NVLink and 400 Gbit/s of network for each GPU; change topology and "
    "workload.compute to yours"
)
"""What each scenario says about its network."""

FOUR_BITS = (
    "the scenario has b200, as an H100 has no 4 bits; its network is that of servers with H100"
)
"""What a scenario in 4 bits says as well."""


def accelerator(workload: Mapping[str, Any]) -> str:
    """Return the accelerator of a scenario: the first one that has the precision of a workload."""
    return "b200" if workload.get("precision") == "fp4" else "h100"


def training_scenario(name: str, gpus: int, workload: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario that trains a model on some GPUs.

    Parameters
    ----------
    name : str
        Its name.
    gpus : int
        Number of ranks.
    workload : dict
        Keys of `workload` besides `kind`.
    """
    together = SERVER if gpus % SERVER == 0 else gpus
    up = {"ranks": together, "switches": 4, "bandwidth": "3600Gbps", "latency": "0.5us"}
    out = {"bandwidth": "400Gbps", "latency": "1us"}
    return {
        "schema_version": 1,
        "name": name,
        "fabric": "analytical",
        "topology": {
            "family": "hierarchical",
            "ranks": gpus,
            "scale_up": up | {"buffer": "unlimited"},
            "scale_out": out | {"buffer": "unlimited"},
        },
        "workload": {"kind": "llm", **workload},
        "system": {"concurrent_chunks": 64, "injection_latency": "1us"},
        "links": {"mtu": "9000B"},
        "transport": {"variant": "new_reno", "window": "4MB", "initial_cwnd": 10},
    }


def training_text(scenario: dict[str, Any], command: str, notes: Sequence[str]) -> str:
    """Return the file of a scenario, which begins with the notes as comments."""
    lines = [f"# Made by `cosim import {command}`.", *(f"# {note}." for note in notes)]
    buffer = io.StringIO()
    yaml = YAML()
    yaml.width = 4096
    yaml.dump(scenario, buffer)
    return "\n".join(lines) + "\n" + buffer.getvalue()
