"""cosim's JSON files are written and read without loss, and bad files are errors."""

import json

import pytest

from tests.topology_gen import msccl_files
from topology_gen import graphs
from topology_gen.errors import AlgorithmError, FileFormatError, ScheduleError, TopologyError
from topology_gen.formats.msccl import read_xml
from topology_gen.formats.registry import read
from topology_gen.formats.schedule_json import read_json, write_json
from topology_gen.lowering.algorithm import Algorithm
from topology_gen.schedules import bfb
from topology_gen.schedules.all_reduce import AllReduce, all_reduce
from topology_gen.schedules.all_to_all_schedule import all_to_all_schedule
from topology_gen.schedules.replay import replay
from topology_gen.schedules.schedule import Schedule

GRAPH = graphs.generalized_kautz(2, 7)


@pytest.mark.parametrize(
    "content",
    [
        bfb.all_gather(GRAPH),
        bfb.reduce_scatter(GRAPH, chunks=3),
        all_reduce(GRAPH),
        all_to_all_schedule(GRAPH).schedule,
        read_xml(msccl_files.all_pairs_all_reduce(3).encode()),
    ],
    ids=lambda content: content.operation,
)
def test_nothing_is_lost(content):
    text = write_json(content)
    again = read_json(text.encode())
    assert type(again) is type(content)
    assert write_json(again) == text
    if isinstance(content, Algorithm) or isinstance(again, Algorithm):
        assert again == content
        return
    assert (again.graph.name, again.graph.edges()) == (GRAPH.name, GRAPH.edges())
    assert (again.steps, again.sends) == (content.steps, content.sends)
    assert again.bandwidth_time == content.bandwidth_time
    for part in again.parts if isinstance(again, AllReduce) else (again,):
        replay(part)


def test_size(monkeypatch):
    monkeypatch.setattr("topology_gen.formats.schedule_json.MOST_SENDS", 41)
    with pytest.raises(FileFormatError, match="42 sends: expected at most 41 for a file"):
        write_json(bfb.all_gather(GRAPH, chunks=1))


def test_symmetry_stays():
    schedule = bfb.all_gather(graphs.torus([3, 3]))
    again = read_json(write_json(schedule).encode())
    assert isinstance(again, Schedule)
    assert again.graph.vertex_transitive


SCHEDULE = json.loads(write_json(bfb.all_gather(graphs.ring(3))))
ALGORITHM = json.loads(write_json(read_xml(msccl_files.ring_all_reduce(2, 1).encode())))


def changed(document, **values):
    return json.dumps(document | values).encode()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "expected JSON, but"),
        (b"[]", "the file: expected a JSON object"),
        (b"{}", "format: is missing"),
        (b"[" * 100_000, "expected JSON, but"),
        (changed(SCHEDULE, format="other"), "format: 'other': expected one of cosim-schedule"),
        (changed(SCHEDULE, version=2), "version is 2: expected 1"),
        (changed(SCHEDULE, operation="sum"), "operation: 'sum': expected one of"),
        (changed(SCHEDULE, chunks=0), "chunks: 0: expected a whole number from 1"),
        (changed(SCHEDULE, chunks=True), "chunks: True: expected a whole number"),
        (changed(SCHEDULE, link=3), "link: expected a list"),
        (changed(SCHEDULE, link=[-1]), r"link: expected whole numbers from 0 to 2\^32 - 1"),
        (changed(SCHEDULE, link=[0.5]), "link: expected whole numbers"),
        (
            changed(SCHEDULE, link=[0]),
            "link: expected lists link, shard, first and count of equal length",
        ),
        (changed(SCHEDULE, step_begin=[0, 99]), "step_begin: expected numbers that ascend from 0"),
        (changed(SCHEDULE, graph=None), "graph: expected a JSON object"),
        (changed(SCHEDULE, graph={"edges": []}), "graph.name: is missing"),
        (
            changed(SCHEDULE, graph=SCHEDULE["graph"] | {"nodes": 2}),
            "graph.nodes: 2: expected a whole number from 3",
        ),
        (
            changed(SCHEDULE, graph=SCHEDULE["graph"] | {"nodes": 4, "vertex_transitive": True}),
            "graph.vertex_transitive: expected false",
        ),
        (
            changed(SCHEDULE, graph=SCHEDULE["graph"] | {"nodes": 10**9}),
            "graph.nodes: 1000000000: expected at most",
        ),
        (changed(SCHEDULE, operation="all_reduce"), "parts: is missing"),
        (changed(SCHEDULE, operation="all_reduce", parts=[]), "parts: expected 2 of them, not 0"),
        (
            changed(SCHEDULE, operation="all_reduce", parts=[SCHEDULE, SCHEDULE]),
            r"parts\[0\].operation: expected reduce_scatter",
        ),
        (changed(ALGORITHM, gpus=[{}]), r"gpus\[0\].blocks: is missing"),
        (changed(ALGORITHM, in_place=1), "in_place: 1: expected true or false"),
        (changed(ALGORITHM, name=1), "name: 1: expected a text"),
    ],
)
def test_bad_files(content, sentence):
    with pytest.raises(FileFormatError, match=sentence):
        read_json(content)


@pytest.mark.parametrize(
    ("instruction", "sentence"),
    [
        (["s"], "expected .kind, buffer, chunk"),
        (["x", "i", 0, "i", 0, 1, None, False], "expected .kind, buffer, chunk"),
        (["s", "q", 0, "i", 0, 1, None, False], "expected .kind, buffer, chunk"),
        (["s", "i", 0, "i", 0, 0, None, False], "expected .kind, buffer, chunk"),
        (["s", "i", 0, "i", 0, 1, [0, 9], False], "waits for an instruction that is missing"),
        (["s", "i", 0, "i", 0, 1, [0], False], "expected .kind, buffer, chunk"),
        (["s", "i", 0, "i", 0, 1, None, 1], "expected .kind, buffer, chunk"),
    ],
)
def test_bad_instructions(instruction, sentence):
    document = json.loads(json.dumps(ALGORITHM))
    document["gpus"][1]["blocks"][0]["instructions"][0] = instruction
    with pytest.raises(FileFormatError, match=rf"gpus\[1\].blocks\[0\].instructions: .*{sentence}"):
        read_json(json.dumps(document).encode())


def test_parts_that_do_not_fit():
    gather = bfb.all_gather(graphs.ring(3))
    with pytest.raises(ScheduleError, match="expected the reduce_scatter of an all_reduce to be"):
        AllReduce(gather, gather)
    with pytest.raises(ScheduleError, match="halves of an all_reduce to use the same links"):
        AllReduce(bfb.reduce_scatter(graphs.ring(4)), gather)
    with pytest.raises(AlgorithmError, match="1 ranks: expected at least 2"):
        read_json(changed(ALGORITHM, gpus=ALGORITHM["gpus"][:1]))
    with pytest.raises(AlgorithmError, match="expected in_place, out_of_place or both to be true"):
        read_json(changed(ALGORITHM, in_place=False))


def test_formats_are_told_apart():
    xml = msccl_files.ring_all_reduce(2, 1)
    assert read(xml.encode()).form == "msccl-xml"
    assert read(b"\xef\xbb\xbf  <!-- made by hand -->\n" + xml.encode()).form == "msccl-xml"
    assert read(changed(SCHEDULE)).form == "json"
    for content in (b"", b"gpus", b'{"gpus": []}', b"<algo"):
        with pytest.raises(TopologyError):
            read(content)
