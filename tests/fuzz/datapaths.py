"""Random networks, transports and collectives, which `express` and `native` must carry alike."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from frontend.transports.tcp import CONGESTION_CONTROLS, HEADER_BYTES
from tests.fuzz.cases import Case, Seed
from tests.fuzz.mutators import Mutator

_FILE = "case.yaml"
_EXPRESS = ("run", _FILE, "--json")
_NATIVE = (*_EXPRESS, "--set", "fabric=native")

_OPERATIONS = {
    "all_reduce": ("ring", "direct", "dbt", "halving_doubling"),
    "reduce_scatter": ("ring", "direct", "dbt"),
    "all_gather": ("ring", "direct", "dbt"),
    "all_to_all": ("ring", "direct"),
    "broadcast": ("ring", "direct", "dbt"),
    "reduce": ("ring", "direct", "dbt"),
    "gather": ("direct",),
    "scatter": ("direct",),
}
"""The algorithms that run on every network, of each operation with data."""

_MOST_SEGMENTS = 150
"""Segments of most buffers, which keep a run on `native` below a second."""


def seeds() -> Iterator[Seed]:
    """Return a seed for each congestion control."""
    for variant in CONGESTION_CONTROLS:
        draw = _drawer(variant)
        scenario = draw(random.Random(variant), b"")
        yield Seed(Case(_EXPRESS, {_FILE: scenario}, _NATIVE), _FILE, (draw,))


def _drawer(variant: str) -> Mutator:
    def draw(chance: random.Random, _: bytes) -> bytes:
        return json.dumps(_scenario(chance, variant), indent=1).encode()

    return draw


def _scenario(chance: random.Random, variant: str) -> dict[str, Any]:
    mtu = chance.choice([296, 576, 1500, 1500, 4096, 9000])
    header = chance.choice([2, 2, 18, 38])
    transport = _transport(chance, variant, mtu)
    topology = _topology(chance, mtu + header)
    switches = {"buffer_unit": chance.choice(["bytes", "bytes", "packets"])}
    if transport["ecn"]:
        room = 1 if topology["buffer"] != "unlimited" else chance.choice([1, 4, 16])
        switches["ecn_marking"] = chance.choice(["enqueue", "dequeue"])
        switches["ecn_threshold"] = f"{chance.randint(1, room * (mtu + header))}B"
    operation = chance.choice(list(_OPERATIONS))
    segments = chance.randint(1, _MOST_SEGMENTS) * chance.choice([1, 1, 1, 1, 6])
    size = int(transport["mss"][:-1]) * segments
    return {
        "topology": topology,
        "links": {"mtu": f"{mtu}B", "header": f"{header}B"},
        "switches": switches,
        "workload": {
            "kind": "collective",
            "operation": operation,
            "algorithm": chance.choice(_OPERATIONS[operation]),
            "bytes": f"{size + chance.choice([0, 1, 777])}B",
        },
        "system": {
            "chunks": chance.choice([1, 1, 2, 4]),
            "scheduling": chance.choice(["lifo", "fifo"]),
            "injection_latency": chance.choice(["0", "10ns"]),
        },
        "transport": transport,
    }


def _transport(chance: random.Random, variant: str, mtu: int) -> dict[str, Any]:
    timestamps = chance.random() < 0.3
    most = mtu - HEADER_BYTES - 12 * timestamps
    mss = most if chance.random() < 0.7 else chance.randint(64, most)
    scaling = chance.random() < 0.8
    windows = [w for w in (2000, 16_000, 64_000, 65_535, 500_000) if w >= mss]
    timeout_us = chance.choice([1000, 5000, 50_000])
    return {
        "variant": variant,
        "mss": f"{mss}B",
        "timestamps": timestamps,
        "sack": chance.random() < 0.7,
        "window_scaling": scaling,
        "window": f"{chance.choice([w for w in windows if scaling or w <= 65_535])}B",
        "initial_cwnd": chance.choice([1, 1, 2, 3, 4, 10, 10, 15, 16, 17, 40]),
        "min_rto": f"{timeout_us}us",
        "delayed_ack": {
            "segments": chance.choice([1, 1, 1, 2, 3]),
            "timeout": f"{chance.choice([20, 100, 900])}us",
        },
        "recovery": chance.choice(["prr", "classic"]),
        "flows_per_pair": chance.choice([1, 1, 1, 2, 3]),
        "ecn": variant == "dctcp" or chance.random() < 0.3,
    }


def _topology(chance: random.Random, packet: int) -> dict[str, Any]:
    ports = 4
    family: dict[str, Any]
    match chance.choice(["flat", "flat", "leaf_spine", "generalized_kautz", "torus"]):
        case "flat":
            ports = chance.randint(2, 6)
            family = {"family": "flat", "ranks": ports}
        case "leaf_spine":
            family = {
                "family": "leaf_spine",
                "servers": chance.choice([4, 6]),
                "radix": 4,
                "oversubscription": chance.choice([1, 3]),
            }
        case "torus":
            family = {
                "family": "direct_connect",
                "graph": f"torus:dims={chance.choice(['3x2', '5', '2x2'])}",
            }
        case _:
            graph = f"generalized_kautz:d=2,n={chance.randint(4, 6)}"
            family = {"family": "direct_connect", "graph": graph}
    room = chance.choice([1, 2, 3, 5, 8, 20]) * packet * ports
    return {
        **family,
        "bandwidth": f"{chance.choice([1, 7.3, 10, 25, 40, 100, 400])}Gbps",
        "latency": f"{chance.choice([0, 100, 500, 720, 1000, 5000, 50_000])}ns",
        "buffer": chance.choice(["unlimited", f"{room}B", f"{room}B"]),
    }
