"""`cosim topo traffic`: measures and picture."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.bridge.command_line import answer_of, invoke

pytestmark = pytest.mark.usefixtures("elsewhere")

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"


def test_measures():
    found = answer_of("topo traffic", "--n 16 --degree 4")
    assert found["bandwidth_tax"] == 1
    assert found["least_over_most_loaded_link"] == 1
    assert np.array(found["matrix"]).sum() == pytest.approx(2 * 15)
    # Strides 1 and 3: of 15 others, 4 are one hop away.
    assert found["path_length_cdf"][0] == [1, pytest.approx(4 / 15)]
    assert found["path_length_cdf"][-1][1] == 1
    assert found["link_bytes_cdf"] == [[pytest.approx(2 * 15 / 64), 1]]


def test_of_a_scenario():
    """Tables on some servers send to all: rows of theirs are full, others have the ring's links."""
    found = answer_of("topo traffic", f"--scenario {SCENARIOS}/topoopt_dlrm_small.yaml --degree 4")
    receivers = (np.array(found["matrix"]) > 0).sum(axis=1)
    assert receivers.max() == found["n"] - 1
    assert found["bandwidth_tax"] > 1
    parallel = "--set workload.strategy=data_parallel --degree 4"
    found = answer_of("topo traffic", f"--scenario {SCENARIOS}/topoopt_dlrm_small.yaml {parallel}")
    matrix = np.array(found["matrix"])
    assert ((matrix > 0).sum(axis=1) == 4).all()  # two rings, both ways
    assert np.ptp(matrix[matrix > 0]) == 0


def test_picture():
    pytest.importorskip("matplotlib")
    Path("job.json").write_text(json.dumps({"nodes": 3, "mp": [[0, 8, 1], [0, 0, 5], [1, 0, 0]]}))
    for name in ("a.svg", "b.svg"):
        answer = invoke("topo traffic", f"--demand job.json --degree 2 --routes 2 -o {name}")
        assert "bandwidth_tax" in answer.stdout
    assert Path("a.svg").read_bytes() == Path("b.svg").read_bytes()
