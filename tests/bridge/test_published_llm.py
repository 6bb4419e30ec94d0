"""Published runs of large models, simulated on `flow`: docs/llm.md states the errors."""

from typing import Any

import pytest

import cosim

# Narayanan et al., SC 2021, tables 1 and 2. Published rates count recomputation: 3/4 is the model.
GPT = {
    "recompute": "full",
    "flash_attention": False,
    "gradient_element": "2B",
    "overlap": {"dp": False},
    "compute": {"accelerator": "a100"},
}
RUNS: dict[str, tuple[int, dict[str, Any], float, float]] = {
    # name: ranks, workload, published MFU, and the relative error that the docs state
    "gpt3_175b-1536": (
        192,
        GPT | {
            "model": "gpt3_175b", "layout": {"tp": 8, "pp": 12, "sequence_parallel": False},
            "global_batch": 192,
        },
        141 / 312 * 0.75,
        0.0,
    ),
    "gpt3_175b-384": (
        192,
        GPT | {
            "model": "gpt3_175b", "layout": {"tp": 8, "pp": 12, "sequence_parallel": False},
            "global_batch": 768,
        },
        153 / 312 * 0.75,
        0.01,
    ),
    "gpt_1t-3072": (
        512,
        GPT | {
            "model": "gpt_1t", "layout": {"tp": 8, "pp": 64, "sequence_parallel": False},
            "global_batch": 512,
        },
        163 / 312 * 0.75,
        -0.09,
    ),
    # Grattafiori et al., table 4.
    "llama3_405b-8192": (
        1024,
        {
            "model": "llama3_405b", "layout": {"tp": 8, "pp": 16, "chunks": 8, "zero": 1},
            "global_batch": 256,
        },
        0.43,
        0.16,
    ),
    "llama3_405b-16384": (
        1024,
        {
            "model": "llama3_405b", "layout": {"tp": 8, "pp": 16, "chunks": 8, "zero": 1},
            "global_batch": 128,
        },
        0.41,
        0.12,
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("name", RUNS)
def test_mfu_of_published_runs(name):
    ranks, workload, published, error = RUNS[name]
    nvlink, network = ("3600Gbps", "400Gbps") if "llama" in name else ("2400Gbps", "200Gbps")
    up = {"ranks": 8, "switches": 4, "bandwidth": nvlink, "latency": "0.5us"}
    out = {"bandwidth": network, "latency": "1us", "buffer": "unlimited"}
    result = cosim.run(
        {
            "fabric": "flow",
            "topology": {
                "family": "hierarchical",
                "ranks": ranks,
                "scale_up": up | {"buffer": "unlimited"},
                "scale_out": out,
            },
            # Few replicas share little of the optimizer's state, so the memory is not checked.
            "workload": {"kind": "llm", "check_memory": False} | workload,
            "system": {"injection_latency": "1us"},
            "links": {"mtu": "9000B"},
            "transport": {"window": "4MB"},
        }
    )
    assert result.training is not None
    assert result.training.mfu / published - 1 == pytest.approx(error, abs=0.006)
