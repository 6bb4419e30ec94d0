"""The points of the benchmark: scenarios, and what each is compared with."""

from typing import Any, NamedTuple

REFERENCE = "native"
"""Stock ns-3: PointToPointNetDevice, Ipv4 and the same TCP."""

SIMGRID = "simgrid"
"""Not a fabric of ours: SimGrid's CM02 model, where its Python package is installed."""

HTSIM = "htsim"
"""Not a fabric of ours: htsim's TCP, which is leaner than ns-3's, where a checkout is given."""


class Point(NamedTuple):
    """One thing to simulate, on each of some fabrics, in a process of its own for each."""

    name: str
    scenario: str
    fabrics: tuple[str, ...]
    overrides: dict[str, Any]
    pattern: str = "workload"
    """"workload" of the scenario; "permutation": one message from each rank to the next;
    "incast": one from each rank to the last."""
    message_bytes: int = 0
    """Of a pattern's messages."""


_COLLECTIVE = "scenarios/collective.yaml"
_ROCE = {
    "topology.ranks": 16,
    "links.mtu": "4200B",
    "switches": {"buffer_sharing": "pfc"},
    "transport": {"protocol": "roce", "congestion_control": "dcqcn"},
}
_LLM = "scenarios/llm_llama3_70b_h100.yaml"
_ALL = ("native", "express", "flow", "analytical")

QUICK = [
    Point(
        "permutation, 16 ranks, MTU 1500",
        _COLLECTIVE,
        (*_ALL, SIMGRID, HTSIM),
        {"topology.ranks": 16, "links.mtu": "1500B"},
        pattern="permutation",
        message_bytes=8_000_000,
    ),
    Point(
        "permutation, 16 ranks, MTU 9000",
        _COLLECTIVE,
        (*_ALL, SIMGRID, HTSIM),
        {"topology.ranks": 16},
        pattern="permutation",
        message_bytes=32_000_000,
    ),
    Point(
        "all-to-all of 8 MiB, 128 ranks, MTU 9000",
        _COLLECTIVE,
        (*_ALL, SIMGRID, HTSIM),
        {"workload.operation": "all_to_all", "workload.bytes": "8MiB"},
    ),
    Point(
        "all-to-all of 8 MiB, 128 ranks, MTU 1500",
        _COLLECTIVE,
        ("express", HTSIM),
        {
            "workload.operation": "all_to_all",
            "workload.bytes": "8MiB",
            "links.mtu": "1500B",
        },
    ),
    Point(
        "all-to-all of 1 byte a pair, 128 ranks",
        _COLLECTIVE,
        ("native", "express"),
        {"workload.operation": "all_to_all", "workload.bytes": "128B"},
    ),
    Point(
        "ring all-reduce of 8 MiB, 128 ranks",
        _COLLECTIVE,
        ("express", "flow", "analytical"),
        {"workload.algorithm": "ring", "workload.bytes": "8MiB"},
    ),
    Point(
        "DBT all-reduce of 8 MiB in 1024 chunks, 128 ranks",
        _COLLECTIVE,
        ("express", "flow", "analytical"),
        {"workload.algorithm": "dbt", "workload.bytes": "8MiB", "system.chunks": 1024},
    ),
    Point(
        "permutation over RoCE, 16 ranks",
        _COLLECTIVE,
        ("express",),
        _ROCE,
        pattern="permutation",
        message_bytes=256_000_000,
    ),
    Point(
        "incast of 7 times 10 MB over RoCE",
        "scenarios/incast_roce_small.yaml",
        ("express",),
        {},
        pattern="incast",
        message_bytes=10_000_000,
    ),
    Point(
        "Llama 3 8B, 128 ranks",
        _LLM,
        ("express", "flow", "analytical"),
        {
            "topology.ranks": 128,
            "workload.model": "llama3_8b",
            "workload.layout": {"tp": 8, "zero": 1},
            "workload.global_batch": 16,
        },
    ),
]

FULL = [
    Point("Llama 3 70B, 1024 ranks", _LLM, ("express", "flow", "analytical"), {}),
    Point("dlrm_hier", "scenarios/dlrm_hier.yaml", ("express", "flow", "analytical"), {}),
    Point("dlrm_hier_opt", "scenarios/dlrm_hier_opt.yaml", ("express", "flow", "analytical"), {}),
    Point("dlrm_flat100", "scenarios/dlrm_flat100.yaml", ("express", "flow", "analytical"), {}),
    Point("dlrm_flat800", "scenarios/dlrm_flat800.yaml", ("express", "flow", "analytical"), {}),
    Point(
        "all-to-all of 8 MiB, 1024 ranks",
        _COLLECTIVE,
        ("flow", "analytical"),
        {
            "topology.ranks": 1024,
            "workload.operation": "all_to_all",
            "workload.bytes": "8MiB",
        },
    ),
    Point(
        "rings of NCCL over 64 servers of 8, all-reduce of 256 MiB, 512 ranks",
        "scenarios/dgx_h100_256.yaml",
        ("flow", "analytical"),
        {
            "topology.servers": 64,
            "workload.algorithm": "nccl",
            "workload.nccl.algorithms": ["ring"],
            "system.chunks": 1,
        },
    ),
    Point(
        "DBT all-reduce of 64 MB in 256 chunks, 1024 ranks",
        _COLLECTIVE,
        ("express",),
        {
            "topology.ranks": 1024,
            "topology.buffer": "8GB",
            "workload.algorithm": "dbt",
            "workload.bytes": "64MB",
            "system.chunks": 256,
        },
    ),
]
