"""MSCCL XML: the runtime's own parser accepts what is written, and bad files are errors."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from tests.topology_gen import msccl_files
from topology_gen import graphs
from topology_gen.errors import AlgorithmError, FileFormatError
from topology_gen.formats.msccl import read_xml, read_xml_and_ignored, refusals, write_xml
from topology_gen.lowering.algorithm import Block, Kind, Step
from topology_gen.lowering.lowering import lower
from topology_gen.lowering.order import Order
from topology_gen.schedules import bfb

RING = msccl_files.ring_all_reduce(3, 2)
SCHEDULE = bfb.reduce_scatter(graphs.circulant(8, [1, 3]))


def test_what_is_read():
    algorithm = read_xml(RING.encode())
    assert (algorithm.name, algorithm.operation) == ("allreduce_ring", "all_reduce")
    assert (algorithm.ranks, algorithm.chunks) == (3, 6)
    assert (algorithm.in_place, algorithm.out_of_place) == (True, False)
    first = algorithm.gpus[1].blocks[0]
    assert (first.send, first.receive, first.channel) == (2, 0, 0)
    assert [step.kind for step in first.instructions] == ["s", "rrs", "rrcs", "rcs", "r"]
    # A file that says so is for both.
    both = RING.replace('inplace="1"', 'inplace="1" outofplace="1" minBytes="8" maxBytes="64"')
    algorithm = read_xml(both.encode())
    assert (algorithm.in_place, algorithm.out_of_place) == (True, True)
    assert (algorithm.least_bytes, algorithm.most_bytes) == (8, 64)


def test_dependencies_resolve_to_what_tells():
    pairs = msccl_files.all_pairs_all_reduce(3)
    blocks = read_xml(pairs.encode()).gpus[0].blocks
    adding = next(block for block in blocks if block.send is None)
    waits = [step.after for step in adding.instructions if step.after is not None]
    assert waits == [Step(2, 1), Step(1, 1)]  # the nop's, and the sum's own
    # A flag that is raised later serves too: its number only grows.
    late = re.sub(r'(s="1" type="r" .*)hasdep="1"', r'\1hasdep="0"', pairs, count=1)
    assert late != pairs
    blocks = read_xml(late.encode()).gpus[0].blocks
    adding = next(block for block in blocks if block.send is None)
    assert Step(1, 3) in [step.after for step in adding.instructions]


@pytest.mark.parametrize("channels", [1, 2])
def test_what_the_runtimes_reader_wants(channels):
    text = write_xml(lower(SCHEDULE, channels))
    lines = text.splitlines()
    # The first thing that it reads must be `algo`, and attributes are apart by one space.
    assert lines[0].startswith("<algo name=")
    for line in lines:
        assert re.fullmatch(r'</\w+>|<\w+( \w+="[^"<>&]*")+/?>', line.strip())
    blocks = re.findall(r'<tb id="(\d+)" send="(-?\d+)" recv="(-?\d+)" chan="(\d+)">', text)
    assert all(send != "-1" or receive != "-1" for _, send, receive, _ in blocks)
    assert {channel for *_, channel in blocks} == set("01"[:channels])
    for block in re.findall(r"<tb .*?</tb>", text, re.DOTALL):
        steps = re.findall(r'<step s="(\d+)" type="(\w+)"(.*)/>', block)
        assert [int(number) for number, *_ in steps] == list(range(len(steps)))
        for _, kind, rest in steps:  # a nop waits, and what follows waits as well
            if kind == "nop":
                assert 'srcbuf="i" srcoff="-1" dstbuf="o" dstoff="-1" cnt="0" depid=' in rest
                assert 'depid="-1"' not in rest
        for (_, kind, _), (*_, rest) in pairwise(steps):
            assert kind != "nop" or 'depid="-1"' not in rest


def test_parallel_links_get_channels_of_their_own():
    algorithm = lower(bfb.all_gather(graphs.unidirectional_ring(3, 2)), channels=2)
    assert sorted(block.channel for block in algorithm.gpus[0].blocks if block.send == 1) == [
        0, 1, 2, 3,
    ]  # fmt: skip


def test_what_the_runtime_ignores_is_named():
    # NCCLize writes such attributes, and other tools elements with content.
    text = RING.replace("<algo", '<algo redop="sum" unit="x"').replace("<tb", '<tb warps="4"')
    text = text.replace("<gpu", "<device><gpu id='9'/>text</device><gpu", 1)
    algorithm, ignored = read_xml_and_ignored(text.encode())
    assert algorithm == read_xml(RING.encode())
    blocks = RING.count("<tb")
    assert ignored == (
        "line 1: attribute unit of <algo> is ignored, as the runtime ignores it",
        "line 2: element <device> is ignored, as the runtime ignores it",
        "line 3: attribute warps of <tb> is ignored, as the runtime ignores it "
        f"(and {blocks - 1} more)",
    )


STEP = '<step s="0" type="s" srcbuf="i" srcoff="0"'


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("<algo", "<system><algo", "line 1: <system>: unknown element: expected algo"),
        ("<gpu", f'{STEP} dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/><gpu',
         "line 2: <step>: expected this element inside <tb>, not inside <algo>"),
        ("<algo", "<gpu/><algo", "<gpu>: expected this element inside <algo>, not inside <None>"),
        ("<algo", "<!DOCTYPE a [<!ENTITY b 'c'>]><algo",
         "line 1: expected a file without a document type"),
        ("</tb>", "text</tb>", "line 9: expected elements only, not the text 'text'"),
        ("</algo>", "", "it is not XML: no element found"),
        ('type="s"', 'type="send"', "line 4: <step>: type is 'send': expected one of s, r, rcs"),
        ('coll="allreduce"', 'coll="alltoallv"', "coll is 'alltoallv': expected one of allreduce"),
        ('proto="Simple"', 'proto="Fast"', "proto is 'Fast': expected one of Simple, LL, LL128"),
        (' proto="Simple"', "", "missing attribute proto"),
        ('srcbuf="i"', 'srcbuf="x"', "srcbuf is 'x': expected one of i, o, s"),
        ('ngpus="3"', 'ngpus="4"', "<algo>: gpu 3 is missing: expected 0 … 3"),
        ('ngpus="3"', 'ngpus="2"', "<gpu>: id 2: expected 0 … 1"),
        ('<gpu id="1"', '<gpu id="0"', "<gpu>: id 0 is also that of line 2"),
        ('<tb id="1"', '<tb id="2"', "<gpu>: tb 1 is missing: expected 0 … 1"),
        ('chan="1"', 'chan="7"', "chan is '7': expected a whole number from 0 to 1"),
        ('s="1"', 's="7"', "s is 7: expected 1, its place here"),
        ('cnt="1"', 'cnt="0"', "cnt is '0': expected a whole number from 1"),
        ('cnt="1"', 'cnt="1.5"', "cnt is '1.5': expected a whole number"),
        ('srcoff="0"', 'srcoff="-2"', "srcoff is '-2': expected a whole number from -1"),
        ('hasdep="0"', 'hasdep="2"', "hasdep is '2': expected a whole number from 0 to 1"),
        ('depid="-1"', 'depid="9"', "depid is 9: expected a tb of this gpu, 0 … 1"),
        ('depid="-1" deps="-1"', 'depid="1" deps="9"', "deps is 9: expected a step of tb 1, 0 … 4"),
        ('depid="-1" deps="-1"', 'depid="1" deps="0"', "waits forever for tb 1 step 0"),
        ('nchunksperloop="6"', 'nchunksperloop="0"', "nchunksperloop is '0': expected a whole"),
    ],
)  # fmt: skip
def test_bad_files(old, new, sentence):
    assert old in RING
    with pytest.raises(FileFormatError, match=re.escape(sentence)):
        read_xml(RING.replace(old, new, 1).encode())


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('send="1" recv="2" chan="0"', 'send="0" recv="2" chan="0"',
         "gpu 0 tb 0: peer 0: expected another rank from 0 to 2"),
        ('send="1" recv="2" chan="0"', 'send="3" recv="2" chan="0"',
         "gpu 0 tb 0: peer 3: expected another rank"),
        ('send="1" recv="2" chan="0"', 'send="-1" recv="2" chan="0"',
         "gpu 0 tb 0 step 0 sends: expected the tb to have a send peer"),
        ('send="1" recv="2" chan="1"', 'send="1" recv="2" chan="0"',
         "gpu 0 tb 0 and tb 1 both send to 1 over channel 0: expected one of them"),
        ('send="1" recv="2" chan="0"', 'send="2" recv="2" chan="0"',
         "from rank 0 to rank 2 over channel 0: 4 sends, but 0 receives: expected equal numbers"),
    ],
)  # fmt: skip
def test_bad_connections(old, new, sentence):
    assert old in RING
    with pytest.raises(AlgorithmError, match=re.escape(sentence)):
        read_xml(RING.replace(old, new, 1).encode()).connections()


def test_chunks_that_ranks_cannot_share():
    gather = msccl_files.hierarchical_all_gather(1)
    with pytest.raises(
        AlgorithmError, match="5 chunks: expected a multiple of the number of ranks, 4"
    ):
        read_xml(gather.replace('nchunksperloop="4"', 'nchunksperloop="5"').encode())


def test_what_waits_for_each_other():
    pairs = msccl_files.all_pairs_all_reduce(3)
    assert Order(read_xml(pairs.encode())).slots() == 1
    # The first send waits for a sum, which waits for what comes after the send.
    send = 'type="s" srcbuf="i" srcoff="3" dstbuf="s" dstoff="0" cnt="3" '
    stuck = pairs.replace(f'{send}depid="-1" deps="-1"', f'{send}depid="0" deps="2"', 1)
    assert stuck != pairs
    with pytest.raises(AlgorithmError, match="instructions wait for each other"):
        Order(read_xml(stuck.encode()))


def test_limits():
    algorithm = lower(SCHEDULE)
    assert refusals(algorithm) == []
    gpu = algorithm.gpus[0]
    block = gpu.blocks[0]
    step = block.instructions[0]

    def with_blocks(*blocks: Block):
        return replace(algorithm, gpus=(gpu._replace(blocks=blocks), *algorithm.gpus[1:]))

    def with_steps(*steps):
        return with_blocks(block._replace(instructions=steps))

    far = step._replace(source=step.source._replace(offset=2**15))
    for wrong, sentence in [
        (with_blocks(*[block._replace(send=None)] * 129), "gpu 0 has 129 thread blocks"),
        (with_blocks(*[block] * 33), "33 thread blocks that send over a channel: expected at mo"),
        (with_blocks(block._replace(channel=32)), "tb 0 has channel 32: expected 0 … 31"),
        (with_steps(*[step] * 257), "tb 0 has 257 steps: expected at most 256"),
        (with_steps(step._replace(chunks=72)), "step 0 has 72 chunks: expected at most 71"),
        (with_blocks(*[block._replace(instructions=(step,) * 200, send=None)] * 21),
         "gpu 0 has 4230 elements, including those of all ranks: expected at most 4095"),
        (with_steps(far), "step 0 is at chunk 32768: expected at most 32767"),
        (replace(algorithm, name="<"), "the name '<': expected at most 63 characters"),
        (replace(algorithm, name="x" * 64), "expected at most 63 characters"),
    ]:  # fmt: skip
        assert sentence in refusals(wrong)[0]
        with pytest.raises(AlgorithmError, match="the MSCCL runtime would reject the algorithm"):
            write_xml(wrong)
    nops = with_steps(*[step._replace(kind=Kind.NOP, chunks=99)] * 256)
    assert refusals(nops) == []


def test_long_runs_are_cut():
    # 100 chunks of a shard go in messages of 71 and 29.
    algorithm = lower(bfb.all_gather(graphs.unidirectional_ring(2), chunks=100))
    sends = [step for *_, step in algorithm.steps() if step.kind is Kind.SEND]
    assert sorted(step.chunks for step in sends) == [29, 29, 71, 71]
