"""Workloads and networks of the tests of jobs."""

from typing import Any

RING = {"kind": "collective", "operation": "all_reduce", "algorithm": "ring", "bytes": "1MB"}
DLRM: dict[str, Any] = {
    "kind": "dlrm",
    "iterations": 2,
    "batch_per_gpu": 8,
    "bottom_mlp": [64, 16],
    "top_mlp": [64, 1],
    "embedding": {"tables": 8, "dimension": 16, "pooling": 4},
}
FLAT = {"family": "flat", "ranks": 8, "bandwidth": "100Gbps", "latency": "1us", "buffer": "4MB"}
CLOS = {"family": "leaf_spine", "servers": 8, "radix": 6, "spines": 1, "buffer": "4MB"}
CLOS |= {"oversubscription": 4}  # one link between each leaf and the spine
