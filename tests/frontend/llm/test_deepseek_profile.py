"""A layer of DeepSeek-V3 on an H800 against the kernels of its public profile.

deepseek-ai/profile-data, train.json (4496024): a forward and a backward chunk of DualPipe with
four layers of experts each, 64 ranks of ep, 4096 tokens, and equal loads of the experts. 20 of the
132 SMs exchange tokens. Below are the summed durations of the kernels, for one layer.
"""

from typing import Any

import pytest

from frontend import load_scenario
from frontend.models.transformer import network_matrices
from frontend.workloads.llm.operators import Operators
from frontend.workloads.llm.partition import Kind, block_activations
from frontend.workloads.llm.workload import LlmWorkload

from .llms import scenario

MS = 10**9


def workload(**keys: Any) -> LlmWorkload:
    made = scenario(
        512,
        model={"card": "deepseek_v3", "sequence": 4096},
        layout={"ep": 64, "pp": 8, "chunks": 2, "schedule": "dual_pipe"},
        global_batch=1024,
        precision="fp8",
        dispatch_element="1B",
        check_memory=False,
        compute={"accelerator": "h800", "kernels": "shapes"},
        **keys,
    )
    found = load_scenario(made).only_work.workload
    assert isinstance(found, LlmWorkload)
    return found


AS_TRAINED = workload(recompute="light", fp8_scaling="blocks", gradient_element="2B")


def layer_ms(own: LlmWorkload) -> float:
    """Return the time of both phases of a layer with experts."""
    has = Operators(own)
    parts = (has.projections, has.scores, has.output_projection, has.router, has.experts[0])
    return sum(map(sum, parts)) / MS


def test_a_layer_takes_as_long_as_its_kernels():
    """29.5 ms on the stream of the computation, and 2.8 ms of weights' gradients beside it.

    The model has 12 % less: small kernels, such as those of the choice of experts, are missing.
    """
    profile = 118.19 / 4 + 11.36 / 4
    assert layer_ms(AS_TRAINED) == pytest.approx(0.88 * profile, rel=0.02)


def test_gradients_of_weights_take_as_long_as_their_kernels():
    """60 kernels of four layers, 15 a layer, some of them side by side; one sets the rate here."""
    has = Operators(AS_TRAINED)
    parts = (has.projections, has.output_projection, has.experts[0])
    ours = sum(part.weight_gradient for part in parts) / MS
    assert ours == pytest.approx((21.40 + 11.36) / 4, rel=0.11)


def test_what_is_computed_again_is_forward_work():
    """Norms, activation functions, and the projections up from 1536 and 512 latent elements."""
    plain, light = (Operators(workload(recompute=how)) for how in ("none", "light"))
    again = sum(light.projections) - sum(plain.projections)
    norm = light._norm.input_gradient - plain._norm.input_gradient
    assert norm == plain._norm.forward
    assert plain.projections.forward == light.projections.forward
    up = light._products("up", [])  # nothing
    assert sum(up) == 0
    assert 0.3 * MS < again - norm < 0.8 * MS
    experts = sum(light.experts[0]) - sum(plain.experts[0])
    kernels = plain._kernels
    assert kernels is not None
    # Of 8 tokens each for 4 experts and of the shared one: two factors are read, a product written.
    moved = [3 * tokens * 2048 * 2 for tokens in (4 * 8192, 4096)]
    assert experts == sum(map(kernels.pass_ps, moved))


def test_blocks_are_cast_along_rows_and_along_columns():
    """Each of 7 matrices casts its input and the gradient of its output: two kernels, not one."""
    delayed, blocks = (Operators(workload(fp8_scaling=how)) for how in ("delayed", "blocks"))
    kernels = delayed._kernels
    assert kernels is not None
    sides = []
    for width, tokens in ((2048, 8192 * 4), (2048, 4096)):
        for matrix in network_matrices(7168, width, gated=True):
            sides += [tokens * matrix.rows, tokens * matrix.columns]
    more = sum(2 * kernels.pass_ps(3 * each) - kernels.pass_ps(4 * each) for each in sides)
    assert sum(blocks.experts[0][:2]) - sum(delayed.experts[0][:2]) == more


def test_what_is_computed_again_is_not_kept():
    """Kept: both residuals, latent elements, the attention's result, and the inputs of networks."""
    tokens, hidden = 4096, 7168
    inputs = 8 * tokens * (2 * 2048 + hidden) + tokens * 2 * 2048
    attention = 1536 + 512 + 64 + 128 * 128
    expected = 2 * (tokens * (2 * hidden + attention) + inputs)
    assert block_activations(AS_TRAINED, Kind.EXPERTS) == expected
    assert expected < block_activations(workload(), Kind.EXPERTS)
