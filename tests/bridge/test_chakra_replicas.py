"""Law: a job with more replicas is its own small trace with copies, to the picosecond."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import bridge
from frontend import load_scenario
from tests.bridge.command_line import invoke
from tests.frontend.chakra_files import METADATA, Rank
from tests.frontend.chakra_files import scenario as of_traces
from tests.frontend.chakra_plans import refusal

NETWORK = {"family": "flat", "bandwidth": "100Gbps", "latency": "1us", "buffer": "64MB"}


def job(dp: int, *, tp: int, pp: int) -> dict[str, Any]:
    """Return a language model whose replicas are the outermost dimension."""
    card = {"layers": 4, "hidden": 512, "heads": 8, "feed_forward": 1024, "vocabulary": 512}
    work = {
        "kind": "llm",
        "model": card | {"sequence": 128},
        "global_batch": 4 * dp,
        "layout": {"tp": tp, "pp": pp, "dp": dp, "order": "tp-cp-ep-pp-dp"},
        "algorithms": {"tp": "ring", "dp": "ring"},
    }
    return {"name": "job", "topology": NETWORK | {"ranks": tp * pp * dp}, "workload": work}


@pytest.mark.parametrize("fabric", ["express", "flow", "analytical"])
@pytest.mark.parametrize(("tp", "pp", "dp", "replicas"), [(2, 2, 2, 2), (1, 4, 2, 3), (4, 1, 2, 2)])
def test_a_larger_job_is_the_trace_of_a_smaller_one(
    fabric: str, tp: int, pp: int, dp: int, replicas: int, tmp_path: Path
) -> None:
    ranks = tp * pp * dp
    small = tmp_path / "job.yaml"
    small.write_text(json.dumps(job(dp, tp=tp, pp=pp)))
    invoke("compile", small, "--format", "chakra", "-o", tmp_path / "traces")
    groups = json.loads((tmp_path / "traces" / "job.groups.json").read_text())
    data = [name for name, own in groups.items() if own[1] - own[0] == tp * pp]
    changes = {
        "topology.ranks": ranks * replicas,
        "workload.replicas": replicas,
        "workload.data_groups": data,
        "fabric": fabric,
    }
    scaled = bridge.run(load_scenario(tmp_path / "traces" / "job.yaml", changes))
    whole = bridge.run(load_scenario(job(dp * replicas, tp=tp, pp=pp), {"fabric": fabric}))
    assert scaled.time_ns == whole.time_ns
    sent = [sum(row["wire_bytes"] for row in one.tables.rows("links")) for one in (scaled, whole)]
    assert sent[0] == sent[1]


def described(purpose: str, **more: Any) -> list[Rank]:
    """Return two ranks with an all-reduce in a group, and a broadcast from rank 1 in another."""
    ranks = [Rank(), Rank()]
    for rank in ranks:
        node = rank.add(METADATA)
        listed = [
            {"pg_name": "1", "pg_desc": purpose, "ranks": [0, 1]},
            {"pg_name": "2", "pg_desc": "TENSOR_MODEL_PARALLEL_GROUP", "ranks": [0, 1]},
        ]
        rank.nodes[node].inputs.values = f"['{json.dumps(listed)}']"
        first = rank.collective("all_reduce", 2**20, pg_name="1")
        rank.collective("broadcast", 2**20, [first], pg_name="2", comm_src=1, **more)
    return ranks


@pytest.mark.parametrize(
    "purpose", ["DATA_PARALLEL_GROUP_WITH_CP", "default_pg", "mesh_dp_shard", "fsdp", "Data"]
)
def test_the_description_of_a_group_says_whether_it_grows(purpose: str, tmp_path: Path) -> None:
    scenario = of_traces(tmp_path, described(purpose), copies=3)
    scenario["collective"] = {"all_reduce": "ring", "broadcast": "direct"}
    sent = [0] * 6
    for row in bridge.run(scenario).tables.rows("links"):
        if row["source"] < 6:  # a rank
            sent[row["source"]] += row["wire_bytes"]
    ring = 2 * 5 / 6 * 2**20
    assert sent == pytest.approx([ring + rank % 2 * 2**20 for rank in range(6)], rel=0.02)


@pytest.mark.parametrize(
    ("purpose", "named", "sentence"),
    [
        ("", None, "expected the process groups that reduce gradients, as the traces do not"),
        ("EXPERT_MODEL_PARALLEL_GROUP", None, "no process group of the traces reduces gradients"),
        ("Update", None, "no process group of the traces reduces gradients"),
        ("dp", ["3"], "value 3: expected process groups with collectives, which are 1, 2"),
        ("dp", [], "no process group of the traces reduces gradients"),
    ],
)
def test_traces_that_do_not_say_enough(
    purpose: str, named: list[str] | None, sentence: str, tmp_path: Path
) -> None:
    assert sentence in refusal(tmp_path, described(purpose), copies=2, data_groups=named)
