"""What jobs do to each other: nothing if they share nothing, and half the rate on one link."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from bridge.cli.main import main

FABRICS = ["express", "flow"]
WORK = {"kind": "collective", "operation": "all_to_all", "algorithm": "direct", "bytes": "4MB"}
LONG = WORK | {"bytes": "40MB"}
ONE_LINK = {
    "family": "graph",
    "nodes": ["gpu0", "gpu1", "gpu2", "gpu3", "leaf0", "leaf1"],
    "links": [
        *[[f"gpu{rank}", f"leaf{rank // 2}", "100Gbps", "1us"] for rank in range(4)],
        ["leaf0", "leaf1", "10Gbps", "1us"],
    ],
    "buffer": "8MB",
}


def told(tmp_path, placements, fabric="flow", work=WORK, **more):
    jobs = [
        {"name": f"j{number}", "placement": placement, "workload": work}
        for number, placement in enumerate(placements)
    ]
    content = {"topology": ONE_LINK, "fabric": fabric, "jobs": jobs, **more}
    file = tmp_path / "mix.yaml"
    file.write_text(json.dumps(content))
    answer = CliRunner().invoke(main, ["interference", str(file), "--json"])
    assert answer.exit_code == 0, answer.stderr
    return json.loads(answer.stdout)


@pytest.mark.parametrize("fabric", FABRICS)
def test_jobs_that_share_nothing_do_nothing_to_each_other(tmp_path, fabric):
    found = told(tmp_path, [[0, 1], [2, 3]], fabric)
    assert [job["slowdown"] for job in found["jobs"]] == [1, 1]
    assert found["fairness"] == 1
    assert found["pairs"] == []


@pytest.mark.parametrize("fabric", FABRICS)
def test_two_jobs_on_one_link_take_twice_as_long(tmp_path, fabric):
    """They share the link between the leaves, in both directions, and nothing else."""
    found = told(tmp_path, [[0, 2], [1, 3]], fabric, transport={"window": "1MB"}, work=LONG)
    for job in found["jobs"]:
        assert job["slowdown"] == pytest.approx(2, rel=0.03)
        assert job["iteration_slowdowns"] == [pytest.approx(job["slowdown"])]
    assert found["fairness"] == pytest.approx(1, abs=1e-3)
    (pair,) = found["pairs"]
    assert (pair["first"], pair["second"], pair["links"]) == ("j0", "j1", 2)
    assert pair["first_bytes"] == pair["second_bytes"] > 4e6


def test_jobs_after_each_other_share_no_time(tmp_path):
    """The second one waits for the ranks of the first one; then it is as fast as alone."""
    found = told(tmp_path, [[0, 2], [2, 1]], queueing="fifo")
    first, second = found["jobs"]
    assert [first["slowdown"], second["slowdown"]] == [1, 1]
    assert second["waiting_ns"] == first["completion_ns"]
    assert second["completion_ns"] == second["waiting_ns"] + second["alone_ns"]
    assert found["pairs"] == []


def test_fairness_is_jains_index(tmp_path):
    """Of three jobs, the two that share the link have half of their speed: 4 / (3 · 1.5)."""
    wide = json.loads(json.dumps(ONE_LINK))
    wide["nodes"] += ["gpu4", "gpu5"]
    wide["nodes"].sort()
    wide["links"] += [["gpu4", "leaf0", "100Gbps", "1us"], ["gpu5", "leaf0", "100Gbps", "1us"]]
    found = told(tmp_path, [[0, 2], [1, 3], [4, 5]], topology=wide)
    assert found["fairness"] == pytest.approx(4 / 4.5, rel=1e-3)


def test_other_traffic_is_a_part_of_the_slowdown(tmp_path):
    traffic = {"event": "traffic", "sources": [1], "targets": [3], "load": "5Gbps"}
    traffic |= {"sizes": [["64KB", 1]], "at": "0s", "until": "10ms"}
    quiet = told(tmp_path, [[0, 2]])
    found = told(tmp_path, [[0, 2]], events=[traffic])
    assert found["jobs"][0]["alone_ns"] == quiet["jobs"][0]["alone_ns"]
    assert found["jobs"][0]["slowdown"] > 1.3
