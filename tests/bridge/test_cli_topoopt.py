"""`cosim topo totient` and `cosim topo topoopt`: output and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bridge.cli.main import main
from tests.bridge.command_line import answer_of

pytestmark = pytest.mark.usefixtures("elsewhere")


def test_totient():
    assert answer_of("topo totient --n 12") == {"n": 12, "permutations": [1, 5, 7, 11]}
    assert answer_of("topo totient --n 12 --duplex")["permutations"] == [1, 5]
    assert answer_of("topo totient --n 25 --primes --duplex")["permutations"] == [1, 2, 3, 7, 11]


def test_topoopt():
    found = answer_of("topo topoopt --n 128 --degree 4")
    assert found["coins"] == [1, 11]
    assert found["diameter"] == 9
    # Section 5.5: 5.7 with degree 4, 3 with degree 8.
    assert found["mean_path_length"] == pytest.approx(5.48, abs=0.005)
    assert len(found["links"]) == 512
    assert [0, 11] in found["links"]
    assert answer_of("topo topoopt --n 128 --degree 8")["mean_path_length"] == pytest.approx(
        2.93, abs=0.005
    )
    assert answer_of("topo topoopt --n 128 --degree 4 --simplex")["coins"] == [1, 3, 11, 37]


def test_a_failed_fibre():
    found = answer_of("topo topoopt --n 128 --degree 4 --fail 0-11")
    assert found["all_reduce_slowdown"] == pytest.approx(2)
    assert found["all_reduce_slowdown_repaired"] is None


def test_demand():
    mp = [[0] * 6 for _ in range(6)]
    mp[0][3] = 100
    group = {"members": list(range(6)), "bytes": 1}
    demand = {"nodes": 6, "all_reduce": [group], "mp": mp}
    Path("demand.json").write_text(json.dumps(demand))
    found = answer_of("topo topoopt --demand demand.json --degree 3")
    assert (found["coins"], found["matchings"]) == ([1], [[[0, 3]]])
    assert found["routes"]["model_parallel"] == [{"source": 0, "target": 3, "paths": [[0, 3]]}]
    assert found["routes"]["all_reduce"] == [
        {"group": 0, "strides": [[1], [1, 1], [5, 5, 5], [5, 5], [5]]}
    ]
    text = CliRunner().invoke(main, ["topo", "topoopt", "--demand", "demand.json", "--degree", "3"])
    assert "group 0: +1;" in text.stdout


def test_routes_of_model_parallel_pairs():
    mp = [[0] * 12 for _ in range(12)]
    mp[0][6] = mp[0][1] = 1
    group = {"members": list(range(12)), "bytes": 10**6}
    Path("demand.json").write_text(json.dumps({"nodes": 12, "all_reduce": [group], "mp": mp}))
    command = "topo topoopt --demand demand.json --degree 4"
    near, far = answer_of(command)["routes"]["model_parallel"]
    assert near == {"source": 0, "target": 1, "paths": [[0, 1]]}
    assert [len(path) for path in far["paths"]] == [3, 3]
    far = answer_of(f"{command} --paths 9")["routes"]["model_parallel"][1]
    assert sorted(far["paths"]) == [[0, 1, 6], [0, 5, 6], [0, 7, 6], [0, 11, 6]]
    assert answer_of(f"{command} --paths 1")["routes"]["model_parallel"][1]["paths"] == [[0, 1, 6]]
    refused = CliRunner().invoke(main, [*command.split(), "--paths", "0", "--json"])
    assert refused.exit_code == 2
    assert "0 paths: expected at least 1" in refused.output
