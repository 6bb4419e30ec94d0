"""The pipeline: its order, its messages, and its bubble on a network that takes no time."""

from collections import Counter
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from frontend.workloads.llm.schedule import (
    Pass,
    dual_pipe_steps,
    steps,
    together,
    zero_bubble_steps,
)
from frontend.workloads.plan import NodeType

from .llms import CARD, peer_of, resolved

PIPELINES = st.tuples(st.sampled_from([2, 4]), st.integers(1, 4), st.sampled_from([1, 2]))


def pipeline(stages, rounds, chunks, schedule="1f1b", **workload):
    """Return the plan of a pipeline of equal stages, without ends and updates."""
    return resolved(
        2 * stages,
        **{"model": CARD | {"vocabulary": 0}} | workload,
        layout={"pp": stages, "chunks": chunks, "schedule": schedule},
        global_batch=2 * stages * rounds,
        compute={"update_accesses": 0},
    ).plan


def ends(plan):
    """Return the end of each node of each trace, if communication takes no time."""
    traces = plan.all_traces()
    trace_of = {rank: number for number, trace in enumerate(traces) for rank in trace.ranks}
    done: list[dict[int, int]] = [{} for _ in traces]
    sent: dict[tuple[int, int], tuple[int, int]] = {}
    free = [0] * len(traces)
    place = [0] * len(traces)
    while True:
        before = sum(map(len, done))
        for number, trace in enumerate(traces):
            for index, node in enumerate(trace.nodes):
                if index in done[number] or any(d not in done[number] for d in node.dependencies):
                    continue
                start = max((done[number][d] for d in node.dependencies), default=0)
                if node.type == NodeType.COMPUTE:
                    computes = [i for i, n in enumerate(trace.nodes) if n.type == NodeType.COMPUTE]
                    if computes[place[number]] != index:
                        continue
                    place[number] += 1
                    start = free[number] = max(start, free[number]) + node.duration_ps
                elif node.type == NodeType.SEND:
                    peer = trace_of[peer_of(trace, node, trace.ranks[0])]
                    sent[peer, node.tag] = (start, node.bytes)
                elif node.type == NodeType.RECV:
                    if (number, node.tag) not in sent:
                        continue
                    arrived, size = sent.pop((number, node.tag))
                    assert size == node.bytes
                    start = max(start, arrived)
                done[number][index] = start
        if sum(map(len, done)) == before:
            assert not sent
            assert all(len(done[n]) == len(trace.nodes) for n, trace in enumerate(traces))
            return done


@settings(max_examples=12, deadline=None)
@given(PIPELINES)
def test_bubble_is_the_published_fraction_exactly(sizes):
    stages, rounds, chunks = sizes
    plan = pipeline(*sizes)
    finished = max(max(times.values()) for times in ends(plan))
    for trace in plan.all_traces():
        busy = sum(node.duration_ps for node in trace.nodes)
        # Narayanan et al., SC 2021, section 2.2: (p - 1) / (v · m)
        assert Fraction(finished - busy, busy) == Fraction(stages - 1, chunks * stages * rounds)


@settings(max_examples=8, deadline=None)
@given(st.sampled_from([2, 4]), st.integers(1, 4), st.booleans(), st.booleans())
def test_bubble_of_zero_bubble_is_the_published_one_exactly(stages, rounds, experts, full):
    model = {"experts": {"count": 4, "top_k": 1, "width": 96}} if experts else {}
    plan = pipeline(
        stages, rounds, 1, "zero_bubble",
        recompute="full" if full else "none", model=CARD | {"vocabulary": 0} | model,
    )  # fmt: skip
    finished = max(max(times.values()) for times in ends(plan))
    for trace in plan.all_traces():
        times: Counter[str] = Counter()
        for node in trace.nodes:
            last = node.name.split(".")[-1]
            times["W" if last == "weight_gradient" else "FB"] += node.duration_ps
        # Qi et al., ICLR 2024, table 2: (p - 1) · (F + B - W), if F and B are at least W
        micro_batches = stages * rounds
        each = (times["FB"] - times["W"]) // micro_batches
        assert finished - times.total() == (stages - 1) * each


def dual_pipe_end(stages, micro_batches, forward, inputs, weights, both):
    """Return the end of DualPipe's steps and how long each stage computes, without a network.

    Steps that are computed together begin when both can, take `both`, and end together.
    """
    lasts = {
        Pass.FORWARD: forward, Pass.BACKWARD: inputs + weights, Pass.INPUT: inputs,
        Pass.WEIGHTS: weights,
    }  # fmt: skip
    left = [together(dual_pipe_steps(one, stages, micro_batches))[::-1] for one in range(stages)]
    done: dict[tuple[bool, int, int], int] = {}
    free, busy = [0] * stages, [0] * stages

    def needs(stage, step):
        """Return what has to be done: the pass before, of the chunk before or of the same one."""
        number = 2 * stages - 1 - stage if step.chunk else stage
        if step.kind == Pass.WEIGHTS or (step.forward and number == 0):
            return ()
        if step.forward:
            return ((True, number - 1, step.micro_batch),)
        if number == 2 * stages - 1:
            return ((True, number, step.micro_batch),)
        return ((False, number + 1, step.micro_batch),)

    while any(left):
        able = [
            stage
            for stage, own in enumerate(left)
            if own and all(one in done for step in own[-1] for one in needs(stage, step))
        ]
        assert able, "deadlock"
        for stage in able:
            pair = left[stage].pop()
            begin = max([free[stage], *(done[one] for step in pair for one in needs(stage, step))])
            duration = both if len(pair) == 2 else lasts[pair[0].kind]
            free[stage], busy[stage] = begin + duration, busy[stage] + duration
            for step in pair:
                number = 2 * stages - 1 - stage if step.chunk else stage
                if step.kind != Pass.WEIGHTS:
                    done[step.forward, number, step.micro_batch] = free[stage]
    return max(free), busy


@given(st.integers(1, 8), st.integers(0, 12), st.integers(1, 50), st.integers(0, 50))
def test_bubble_of_dual_pipe_is_the_published_one_exactly(stages, more, each, hidden):
    """Source: README of deepseek-ai/DualPipe; its PP is twice the stages."""
    both = 3 * each - min(hidden, each)
    end, busy = dual_pipe_end(stages, 2 * stages + more, each, each, each, both)
    # Earlier stages have fewer pairs, so they compute longer and wait for less.
    assert busy == sorted(busy, reverse=True)
    assert end - busy[-1] == (stages - 1) * (both + 2 * each - 3 * each)


@settings(max_examples=8, deadline=None)
@given(st.sampled_from([2, 4]), st.integers(2, 4), st.booleans())
def test_a_plan_of_dual_pipe_takes_as_long_as_its_steps(stages, rounds, experts):
    model = {"experts": {"count": 4, "top_k": 1, "width": 96}} if experts else {}
    plan = pipeline(stages, rounds, 2, "dual_pipe", model=CARD | {"vocabulary": 0} | model)
    finished = max(max(times.values()) for times in ends(plan))
    trace = plan.all_traces()[0]
    each = {True: 0, False: 0, None: 0}
    for node in trace.nodes:
        last = node.name.split(".")[-1]
        kind = None if last == "weight_gradient" else "gradient" not in last
        each[kind] += node.duration_ps
    chunks = 2 * stages * rounds
    forward, inputs, weights = (each[kind] // chunks for kind in (True, False, None))
    whole = forward + inputs + weights
    end, _ = dual_pipe_end(stages, stages * rounds, forward, inputs, weights, whole)
    assert finished == end


@given(st.integers(1, 8), st.integers(0, 20))
def test_a_stage_of_dual_pipe_holds_one_more_than_twice_the_stages(stages, more):
    for stage in range(stages):
        order = dual_pipe_steps(stage, stages, 2 * stages + more)
        assert len({step._replace(beside=False) for step in order}) == len(order)
        held = most = 0
        for place, step in enumerate(order):
            held += (step.kind == Pass.FORWARD) - (step.kind in (Pass.BACKWARD, Pass.WEIGHTS))
            most = max(most, held)
            if step.kind == Pass.WEIGHTS:
                assert step._replace(kind=Pass.INPUT) in order[:place]
            elif not step.forward:
                assert step._replace(kind=Pass.FORWARD, beside=False) in order[:place]
        assert held == 0
        assert most <= 2 * stages + 1


@given(st.integers(1, 8), st.integers(1, 20))
def test_gradients_of_weights_follow_and_no_stage_holds_more_than_the_first(stages, micro_batches):
    for stage in range(stages):
        order = zero_bubble_steps(stage, stages, micro_batches)
        assert len(set(order)) == len(order) == 3 * micro_batches
        held = 0
        for place, step in enumerate(order):
            held += (step.kind == Pass.FORWARD) - (step.kind == Pass.WEIGHTS)
            assert 0 <= held <= min(stages, micro_batches)
            if step.kind != Pass.FORWARD:
                before = Pass.FORWARD if step.kind == Pass.INPUT else Pass.INPUT
                assert order.index(step._replace(kind=before)) < place


@given(st.integers(1, 8), st.integers(1, 5), st.integers(1, 4))
def test_each_step_is_there_once_and_backward_follows_forward(stages, rounds, chunks):
    for stage in range(stages):
        order = steps(stage, stages, stages * rounds, chunks)
        assert len(set(order)) == len(order) == 2 * stages * rounds * chunks
        for chunk in range(chunks):
            for forward in (True, False):
                own = [s.micro_batch for s in order if (s.forward, s.chunk) == (forward, chunk)]
                assert own == list(range(stages * rounds))
        assert all(
            order.index(s) < order.index(s._replace(kind=Pass.BACKWARD)) for s in order if s.forward
        )


@settings(max_examples=10, deadline=None)
@given(
    PIPELINES, st.sampled_from(["tp-cp-ep-dp-pp", "pp-dp-ep-cp-tp", "tp-pp-cp-ep-dp"]),
    st.booleans(),
)  # fmt: skip
def test_every_send_has_its_receive(sizes, order, dual):
    stages, rounds, chunks = sizes
    schedule = {"schedule": "dual_pipe"} if dual and chunks == 2 and rounds > 1 else {}
    resolution = resolved(
        4 * stages,
        layout={"pp": stages, "chunks": chunks, "tp": 2, "order": order} | schedule,
        global_batch=2 * stages * rounds,
        iterations=2,
    )
    ends_of: dict[NodeType, list[tuple[int, ...]]] = {NodeType.SEND: [], NodeType.RECV: []}
    for trace in resolution.plan.all_traces():
        for node in trace.nodes:
            if node.type in ends_of:
                for rank in trace.ranks or ():
                    pair = (rank, peer_of(trace, node, rank))
                    pair = pair if node.type == NodeType.SEND else pair[::-1]
                    ends_of[node.type].append((*pair, node.tag, node.bytes))
    sends, receives = ends_of.values()
    assert sorted(sends) == sorted(receives)
    assert len(set(sends)) == len(sends)
