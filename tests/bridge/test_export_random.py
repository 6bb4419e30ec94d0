"""Random workloads give the same time after their collectives have become messages.

Two independent parts of the simulator compute this time: the collective engine runs the programs of
the collectives, and the trace executor runs the messages of the files.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import bridge
from frontend import load_scenario
from frontend.compiler.export import export_chakra, export_goal

RANKS = 8
LINK = {"bandwidth": "100Gbps", "latency": "0.5us"}

topologies = st.sampled_from(
    [
        {"family": "flat", "ranks": RANKS, **LINK, "buffer": "90KB"},
        {"family": "direct_connect", "graph": f"ring:n={RANKS},d=2", **LINK, "buffer": "unlimited"},
        {
            "family": "direct_connect",
            "graph": "torus:dims=4x2",
            "bandwidth": "25Gbps",
            "latency": "0ns",
        }
        | {"buffer": "unlimited"},
        {
            "family": "hierarchical",
            "ranks": RANKS,
            "scale_up": {"ranks": 4, "switches": 2, **LINK, "buffer": "unlimited"},
            "scale_out": {**LINK, "bandwidth": "40Gbps", "buffer": "1MB"},
        },
    ]
)

collectives = st.builds(
    lambda both, size: {"kind": "collective", "bytes": f"{size}B", **both},
    st.sampled_from(
        [
            {"operation": "all_reduce", "algorithm": "ring"},
            {"operation": "all_reduce", "algorithm": "dbt"},
            {"operation": "all_reduce", "algorithm": "halving_doubling"},
            {"operation": "all_gather", "algorithm": "direct"},
            {"operation": "all_to_all", "algorithm": "direct"},
            {"operation": "reduce", "algorithm": "dbt"},
            {"operation": "scatter", "algorithm": "direct"},
            {"operation": "broadcast", "algorithm": "ring"},
            {"operation": "all_reduce", "algorithm": "ring", "group": [1, 2, 5, 6]},
        ]
    ),
    st.integers(8, 200_000),
)
dlrms = st.builds(
    lambda batch, tables: {
        "kind": "dlrm",
        "iterations": 1,
        "batch_per_gpu": batch,
        "dense_features": 50,
        "bottom_mlp": [32, 16],
        "top_mlp": [64, 64, 1],
        "embedding": {"tables": tables, "dimension": 16},
    },
    st.integers(1, 64),
    st.sampled_from([8, 16]),
)
mixtures = st.builds(
    lambda heads, every: {
        "kind": "moe",
        "encoder": {"layers": 2, "tokens": 16, "expert_every": every},
        "decoder": {"layers": 1, "tokens": 8, "expert_every": 1},
        "model_width": 16 * heads,
        "hidden_width": 64,
        "heads": heads,
        "head_width": 16,
        "vocabulary": 100,
        "experts": RANKS,
        "batch_per_gpu": 1,
        "capacity_factor": 1.0,
        "bucket": "10KB",
        "compute": {"peak_flops": "100TFLOPS", "memory_bandwidth": "1TB/s"},
    },
    st.integers(1, 4),
    st.integers(1, 2),
)
models = st.builds(
    lambda layout, overlap: {
        "kind": "llm",
        "model": {
            "layers": 4,
            "hidden": 64,
            "heads": 4,
            "feed_forward": 128,
            "vocabulary": 256,
            "sequence": 32,
            "experts": {"count": 4, "top_k": 2, "width": 32, "shared": 1},
        },
        "global_batch": 8,
        "layout": layout,
        "bucket": "20KB",
        "overlap": {"tp": overlap, "ep": overlap, "dp_slowdown": 1},
    },
    st.sampled_from(
        [
            {"tp": 2, "ep": 2, "zero": 3},
            {"tp": 2, "pp": 2, "zero": 1, "sequence_parallel": False},
            {"cp": 2, "pp": 2, "chunks": 2, "ep": 2, "zero": 2},
        ]
    ),
    st.booleans(),
)
systems = st.fixed_dictionaries(
    {
        "admission": st.just("local"),
        "concurrent_chunks": st.just(1000),
        "chunks": st.integers(1, 5),
        "injection_latency": st.sampled_from(["0ns", "10ns", "1us"]),
        "reduction_bandwidth": st.sampled_from([None, "2GB/s", "50GB/s"]),
        "send": st.sampled_from([{}, {"message": "200ns", "bandwidth": "20GB/s"}]),
    }
)


def check(fabric: str, topology: Any, workload: Any, system: Any) -> None:
    """Compare the time of a scenario with that of both forms of its messages."""
    given = load_scenario(
        {
            "fabric": fabric,
            "topology": topology,
            "workload": workload,
            "system": system,
            "transport": {"min_rto": "1ms"},
        }
    )
    time = bridge.run(given).time_ns
    with tempfile.TemporaryDirectory() as folder:
        goal = bridge.run(export_goal(given, Path(folder))[-1]).time_ns
        chakra = bridge.run(export_chakra(given, Path(folder), messages=True)[-1]).time_ns
    assert (goal, chakra) == (time, time)


ANY = {
    "fabric": st.sampled_from(["express", "native", "flow", "analytical"]),
    "topology": topologies,
    "workload": collectives | dlrms | mixtures | models,
    "system": systems,
}


@hypothesis_settings(max_examples=6, deadline=None)
@given(**ANY)
def test_messages_of_a_workload(fabric: str, topology: Any, workload: Any, system: Any) -> None:
    check(fabric, topology, workload, system)


@pytest.mark.long
@hypothesis_settings(max_examples=300, deadline=None)
@given(**ANY)
def test_messages_of_many_workloads(fabric: str, topology: Any, workload: Any, system: Any) -> None:
    check(fabric, topology, workload, system)
