"""A host that launches operators one after another, against its queue, operator by operator.

An operator begins on the accelerator when the one before has ended there and the host has launched
it: b_i = max(e_{i-1}, l_i), e_i = b_i + d_i. Launches follow each other, l_i = l_{i-1} + h_i, and
after a router r of the forward phase the host waits: l_{r+1} = max(l_r, e_r) + h_{r+1}.
"""

import pytest

import cosim
from frontend import load_scenario
from frontend.compiler.costs import Costs
from frontend.resolve.resolved import resolve
from frontend.workloads.plan import NodeType

from .test_llm import CARD, fast

US = 10**6
LAUNCHES = {
    # Queries, keys and values; two rotations, the attention; the projection and its sum.
    "attention.forward": (2, 4),
    "attention.input_gradient": (2, 4),
    # Two matrices, the activation and the sum.
    "feed_forward.forward": (2, 2),
    "feed_forward.input_gradient": (2, 2),
    # A matrix and the choice of experts.
    "experts.router": (1, 1),
    "experts.router_gradient": (1, 1),
    "experts.forward": (2, 1),
    "experts.input_gradient": (2, 1),
}
"""Linear layers and other operators of a computation; gradients of weights are launched before."""
EXPERTS = 16


def training(host, model=CARD):
    return fast(
        2,
        model=model,
        global_batch=4,
        overlap={"dp": False},
        compute={"kernels": "shapes", "update_accesses": 1, "host": host},
    )


def computations(model=CARD) -> list[tuple[str, int]]:
    """Return the computations of an iteration but for the update, with their durations."""
    scenario = load_scenario(training(None, model))
    [trace] = resolve(scenario).plan.all_traces()
    found = [(node.name, node.duration_ps) for node in trace.nodes if node.type == NodeType.COMPUTE]
    return found[:-1]


def queue_ps(linear_ps: int, operator_ps: int, expert_ps: int = 0, model=CARD) -> int:
    """Return when the last computation ends."""
    launched = end = 0
    for name, duration in computations(model):
        linears, others = LAUNCHES.get(name, (0, 0))
        launched += linears * linear_ps + others * operator_ps
        if name in ("experts.forward", "experts.input_gradient"):
            launched += EXPERTS * expert_ps
        end = max(end, launched) + duration
        if name == "experts.router" and linear_ps:
            launched = max(launched, end)
    return end


def step_ps(host, model=CARD):
    return 1000 * cosim.run(training(host, model)).iterations[0].time_ns


@pytest.mark.parametrize("linear_us", [1, 10, 20, 40, 1000])
def test_an_operator_waits_for_its_launch_and_for_the_one_before(linear_us):
    """What is after the last computation (a reduction, the update) takes as long as without it."""
    after = step_ps(None) - queue_ps(0, 0)
    host = {"linear": f"{linear_us}us", "operator": "2us"}
    expected = queue_ps(linear_us * US, 2 * US) + after
    assert step_ps(host) == pytest.approx(expected, abs=2000)


@pytest.mark.parametrize("linear_us", [1, 10, 20, 40, 1000])
@pytest.mark.parametrize("expert_us", [0, 5])
def test_the_host_waits_for_routers_and_launches_experts(linear_us, expert_us):
    model = CARD | {"experts": {"count": EXPERTS, "top_k": 2, "width": 512}}
    after = step_ps(None, model) - queue_ps(0, 0, model=model)
    host = {"linear": f"{linear_us}us", "operator": "2us", "expert": f"{expert_us}us"}
    expected = queue_ps(linear_us * US, 2 * US, expert_us * US, model) + after
    assert step_ps(host, model) == pytest.approx(expected, abs=2000)
    # With few launches, the wait for the router is what keeps the host from getting ahead.
    assert step_ps(host, model) > step_ps(None, model)


def test_a_slow_host_decides_alone():
    """With launches of 1 ms, a step lasts as all launches, and what is left after the last one."""
    total = sum(
        linears * 1000 * US + others * 2 * US
        for name, _ in computations()
        for linears, others in [LAUNCHES.get(name, (0, 0))]
    )
    last = sum(duration for _, duration in computations()[-2:])
    assert queue_ps(1000 * US, 2 * US) == total + last
    assert total == 2 * CARD["layers"] * 2 * (4 * 1000 * US + 6 * 2 * US)  # two micro-batches


def test_a_single_stage_has_no_bubble():
    """It waits for its host, and not for another stage."""
    result = cosim.run(training({"linear": "1ms", "operator": "2us"}))
    assert result.training is not None
    assert result.training.bubble_fraction == 0


def test_each_exchange_is_launched():
    """Ranks of tp exchange activations, ten times in a layer."""
    slow, slower = (
        cosim.run(
            fast(
                2,
                global_batch=1,
                layout={"tp": 2},
                compute={"host": {"linear": "1ms", "operator": operator}, "update_accesses": 0},
            )
        )
        for operator in ("1us", "101us")
    )
    # Four collectives forward; backward as many, and two more for the inputs.
    others = CARD["layers"] * (2 * 6 + 4 + 6)
    more_ns = slower.iterations[0].time_ns - slow.iterations[0].time_ns
    # What is launched after the last computation does not count.
    assert 0 <= others * 100_000 - more_ns <= 2 * 100_000


@pytest.mark.parametrize("experts", [None, {"count": EXPERTS, "top_k": 2, "width": 512}])
def test_the_estimate_has_the_host_too(experts):
    host = {"linear": "1ms", "operator": "2us", "expert": "50us"}
    scenario = load_scenario(training(host, CARD | {"experts": experts}))
    work = scenario.only_work
    [found] = work.kind.estimates(work.workload, 2, Costs(resolve(scenario)), [{}])
    simulated = cosim.run(scenario).iterations[0].time_ns / 1e9
    assert found.seconds == pytest.approx(simulated, rel=0.01)
