"""Fixtures: a small scenario that runs in a moment, and a result to format."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from bridge import simulator
from bridge.results.result import Result


@pytest.fixture
def small() -> dict[str, Any]:
    """Return a ring all-reduce of 64 kB over four ranks at 100 Gb/s."""
    return {
        "name": "small",
        "topology": {
            "family": "flat",
            "ranks": 4,
            "bandwidth": "100Gbps",
            "latency": "0.5us",
            "buffer": "1GB",
        },
        "workload": {
            "kind": "collective",
            "operation": "all_reduce",
            "algorithm": "ring",
            "bytes": "64KB",
        },
    }


@pytest.fixture
def raw_result() -> dict[str, Any]:
    """Return a result as the simulator and the bridge give it, with numbers that are made up."""
    return {
        "schema_version": 1,
        "status": "complete",
        "time_ns": 21_345_678.125,
        "iterations": [
            {
                "index": 0,
                "start_ns": 0,
                "end_ns": 21_345_678.125,
                "time_ns": 21_345_678.125,
                "compute_ns": 9_000_000,
                "exposed_comm_ns": 12_345_678.125,
            }
        ],
        "layers": [
            {
                "name": "top_mlp_0",
                "compute_ns": 1_500_000,
                "raw_comm_ns": 2_000_000.5,
                "exposed_comm_ns": 500_000,
            },
            {"name": "loss", "compute_ns": 1000, "raw_comm_ns": 0, "exposed_comm_ns": 0},
        ],
        "layer_iterations": [
            {
                "iteration": 0,
                "name": "top_mlp_0",
                "compute_ns": 1_500_000,
                "raw_comm_ns": 2_000_000.5,
                "exposed_comm_ns": 500_000,
            }
        ],
        "collectives": [
            {
                "name": "top_mlp_0.weight_gradient",
                "operation": "all_reduce",
                "algorithm": "dbt",
                "bytes": 17_039_360,
                "chunks": 128,
                "group_size": 128,
                "iteration": 0,
                "layer": "top_mlp_0",
                "start_ns": 1_000_000,
                "end_ns": 3_000_000.5,
                "time_ns": 2_000_000.5,
                "algbw_bps": 68_157_422_960.6,
                "busbw_bps": 135_249_886_187.3,
            }
        ],
        "network": {
            "messages": 4064,
            "payload_bytes": 34_000_000,
            "wire_bytes": 34_200_000,
            "packets": 8000,
            "data_packets": 4000,
            "drops": 3,
            "retransmissions": 3,
            "rto_events": 1,
            "ecn_marks": 0,
            "link_utilization_mean": 0.25,
            "flows": 256,
            "rtt_flows": 0,
            "rtt_mean_ns": 0,
            "rtt_p50_ns": 0,
            "rtt_p99_ns": 0,
            "fct_mean_ns": 2500.5,
            "fct_p50_ns": 2400,
            "fct_p99_ns": 9000,
            "fct_max_ns": 50_000_000,
            "dimensions": [
                {
                    "name": "scale_out",
                    "links": 256,
                    "wire_bytes": 34_200_000,
                    "drops": 3,
                    "max_queue_bytes": 65_000,
                    "utilization_mean": 0.25,
                    "utilization_max": 0.5,
                }
            ],
        },
        "system": {"max_outstanding_chunks": {"scale_out": 64}},
        "simulator": {
            "events": 123_456,
            "wall_s": 2.5,
            "cpu_s": 2.25,
            "peak_rss_bytes": 123_000_000,
            "seed": 1,
            "versions": {"cosim": "0.1.0", "ns3": "3.44", "python": "3.11.7"},
        },
        "scenario": {"name": "made_up", "fabric": "express"},
    }


@pytest.fixture
def result(raw_result: dict[str, Any]) -> Result:
    """Return the same as an object."""
    return Result.model_validate(raw_result)


@pytest.fixture
def small_file(small: dict[str, Any], tmp_path: Path) -> Path:
    """Return the small scenario as a file; JSON is YAML too."""
    file = tmp_path / "small.yaml"
    file.write_text(json.dumps(small), encoding="utf-8")
    return file


@pytest.fixture
def without_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the compiled part away, as if it had not been built."""
    monkeypatch.setitem(sys.modules, "bridge._core", None)
    monkeypatch.delitem(sys.modules, "bridge.simulator.core", raising=False)
    monkeypatch.delattr(simulator, "core", raising=False)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test in an empty folder, which also has the cache of searches."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
