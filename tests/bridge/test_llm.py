"""Training of language models from scenario to summary."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

import bridge
import cosim
from bridge.cli.main import main
from bridge.results.measurements import Training
from frontend import load_scenario

SMALL = Path(__file__).parents[2] / "scenarios" / "llm_llama3_8b_small.yaml"
CARD = {
    "layers": 8, "hidden": 1024, "heads": 8, "feed_forward": 4096, "vocabulary": 0,
    "sequence": 512,
}  # fmt: skip


def fast(ranks, **workload):
    """Return a scenario on a network that takes almost no time."""
    links = {"bandwidth": "200Tbps", "latency": "0ns", "buffer": "unlimited"}
    return {
        "fabric": "analytical",
        "topology": {"family": "flat", "ranks": ranks, **links},
        "workload": {"kind": "llm", "model": CARD} | workload,
        "system": {"injection_latency": "0ns"},
    }


def training(result: cosim.Result) -> Training:
    assert result.training is not None
    return result.training


@pytest.mark.parametrize(("stages", "batches", "chunks"), [(2, 3, 1), (4, 8, 1), (4, 4, 2)])
def test_the_bubble_is_the_published_fraction(stages, batches, chunks):
    result = cosim.run(
        fast(
            stages,
            global_batch=batches,
            layout={"pp": stages, "chunks": chunks},
            compute={"update_accesses": 0},
        )
    )
    # Messages of 1 MB take 84 ns, which the fraction leaves out.
    ideal = (stages - 1) / (batches * chunks)
    assert training(result).bubble_fraction == pytest.approx(ideal, rel=4e-3)


@pytest.mark.parametrize(
    ("accelerator", "precision", "peak"),
    [("h100", "bf16", 989.4e12), ("gb200", "fp8", 5e15), ("gb300", "fp4", 15e15)],
)
def test_rates_follow_from_the_time(accelerator, precision, peak):
    compute = {"accelerator": accelerator}
    changes = {"precision": precision, "compute": compute}
    result = cosim.run(fast(4, global_batch=8, iterations=2, **changes))
    seconds = result.time_ns / 1e9 / 2
    assert training(result).tokens_per_s == pytest.approx(8 * 512 / seconds)
    # 6 FLOPs for each of 12 h² + … weights: 4 h² of attention, 3 · 4 h² of the gated network; and
    # 12 · layers · h · s of attention.
    flop = 6 * 8 * (4 + 12) * 1024**2 + 12 * 8 * 1024 * 512
    assert training(result).mfu == pytest.approx(flop * 8 * 512 / seconds / 4 / peak)


def test_communication_counts_for_its_dimension():
    result = cosim.run(SMALL, {"fabric": "flow", "workload.layout.cp": 2})
    exposed = {layer.name: layer.exposed_comm_ns for layer in result.layers}
    waits = {name for name, time in exposed.items() if time}
    assert {"tensor_parallel", "context_parallel", "pipeline_parallel"} <= waits
    assert "expert_parallel" not in waits
    groups = {one.groups for one in result.collectives if "attention" in one.name}
    assert groups == {2, 4}  # a stage has 8 ranks: 2 groups of tp, and 4 of cp


@pytest.mark.parametrize(
    ("layout", "key", "values"),
    [
        ({"tp": 2, "pp": 2}, "dp", (False, True)),
        ({"tp": 4}, "tp", (False, True)),
        ({"tp": 2, "ep": 4}, "ep", (False, True)),
        ({"tp": 2, "zero": 3}, "prefetch", (0, 1, 2)),
    ],
)
def test_overlap_hides_communication(layout, key, values):
    experts = {"experts": {"count": 8, "top_k": 2, "width": 512}} if "ep" in layout else {}
    times = [
        cosim.run(
            SMALL,
            {
                "fabric": "flow",
                "topology.scale_out.bandwidth": "3200Gbps",
                "workload.model": CARD | experts,
                "workload.layout": layout,
                "workload.overlap": {"dp_slowdown": 1, key: value},
            },
        ).time_ns
        for value in values
    ]
    # More overlap hardly ever takes longer (weights that come earlier may share links with
    # gradients), and the first step from none to some saves time.
    assert all(more < 1.015 * less for less, more in pairwise(times))
    assert times[1] < 0.99 * times[0]


def test_the_summary_and_a_replay_have_the_rates(tmp_path):
    run = CliRunner().invoke(main, ["run", str(SMALL), "--out", str(tmp_path / "a")])
    assert run.exit_code == 0
    assert "pipeline bubble" in run.output
    stream = tmp_path / "small.stream"
    cosim.compile(SMALL, out=stream)
    again = cosim.replay(stream)
    stored = json.loads((tmp_path / "a" / "result.json").read_text())
    assert again.to_dict()["training"] == stored["training"]
    assert set(stored["training"]) == {"tokens_per_s", "mfu", "bubble_fraction", "memory_bytes"}


def test_all_defaults_written_out_change_nothing() -> None:
    """What a result keeps of its scenario, and a worker gets, has every key."""
    links = {"latency": "1us", "buffer": "unlimited"}
    scenario = load_scenario(
        {
            "fabric": "analytical",
            "topology": {
                "family": "hierarchical",
                "ranks": 16,
                "scale_up": {"ranks": 8, "switches": 4, "bandwidth": "3600Gbps", **links},
                "scale_out": {"bandwidth": "400Gbps", **links},
            },
            "workload": {
                "kind": "llm",
                "model": "llama3_8b",
                "layout": {"zero": 1},
                "global_batch": 16,
                "check_memory": False,
            },
        }
    )
    first = bridge.run(scenario)
    again = bridge.run(load_scenario(scenario.model_dump(mode="json")))
    # The gathers and reductions of dp have the algorithms of servers and of the network between.
    assert any(one.algorithm == "hierarchical" for one in first.collectives)
    assert again.network == first.network
    assert again.time_ns == first.time_ns


def test_flow_lets_messages_of_stages_pass_gradients() -> None:
    """Stages and replicas share NICs: at the end, each message meets a bucket of gradients."""
    links = {"latency": "1us", "buffer": "unlimited"}
    scenario = {
        "topology": {
            "family": "hierarchical",
            "ranks": 16,
            "scale_up": {"ranks": 2, "switches": 1, "bandwidth": "3600Gbps", **links},
            "scale_out": {"bandwidth": "400Gbps", **links},
        },
        "workload": {
            "kind": "llm",
            "model": {
                "layers": 12, "hidden": 2048, "heads": 16, "feed_forward": 8192, "vocabulary": 0,
                "sequence": 512,
            },
            "layout": {"tp": 2, "pp": 4, "chunks": 3, "zero": 1},
            "global_batch": 8,
            "gradient_element": "2B",
            "overlap": {"dp_slowdown": 1},
        },
        "system": {"injection_latency": "1us"},
        "links": {"mtu": "9000B"},
        "transport": {"window": "4MB", "initial_cwnd": 10},
    }  # fmt: skip
    flow, packets = (
        bridge.run(load_scenario(scenario | {"fabric": fabric})).time_ns
        for fabric in ("flow", "express")
    )
    assert flow == pytest.approx(packets, rel=0.02)


def test_dual_pipe_hides_the_exchange_of_experts() -> None:
    """One chunk computes while tokens of the other one travel, so less of it is exposed."""
    experts = {"count": 8, "top_k": 2, "width": 2048}

    def exposed(schedule: str, chunks: int) -> float:
        times = []
        for rate in ("1600Gbps", "250Tbps"):
            link = {"bandwidth": rate, "latency": "0.1us", "buffer": "unlimited"}
            scenario = {
                "topology": {
                    "family": "hierarchical",
                    "ranks": 16,
                    "scale_up": {"ranks": 16, "switches": 1} | link,
                    "scale_out": link,
                },
                "fabric": "analytical",
                "workload": {
                    "kind": "llm",
                    "model": CARD | {"experts": experts, "sequence": 1024},
                    "global_batch": 256,
                    "layout": {"pp": 2, "ep": 8, "chunks": chunks, "schedule": schedule},
                },
            }
            times.append(cosim.run(scenario).time_ns)
        return times[0] - times[1]

    assert exposed("dual_pipe", 2) < 0.6 * exposed("zero_bubble", 1)
