"""The stream reader agrees with Python's protobuf, and rejects invalid streams."""

import re
from collections.abc import Callable

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from bridge import _core
from frontend import collectives
from frontend import network_api_pb2 as api
from frontend.schema.ports import Links, Switches
from frontend.stream import decode, encode
from frontend.transports import PROTOCOLS
from frontend.transports.roce import RoceTransport
from tests.ns3_scratch.streams import (
    Trace,
    collective,
    header,
    one_collective,
    program,
    run,
    settings,
    star,
    tcp,
)

RING = collectives.build("all_reduce", "ring", 3)
RECORDS = one_collective(RING, 30_000, chunks=2)
STREAM = encode(RECORDS)
SETTINGS, TOPOLOGY, PROGRAM, COLLECTIVE, TRACE = range(1, 6)


def varint(number: int) -> bytes:
    result = bytearray()
    while number >= 0x80:
        result.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*result, number])


def unpacked(message: Message) -> bytes:
    """Serialise with a separate key per number of repeated fields, and with unknown fields."""
    result = b""
    for descriptor, value in message.ListFields():
        for item in value if descriptor.is_repeated else [value]:
            if descriptor.type in (FieldDescriptor.TYPE_MESSAGE, FieldDescriptor.TYPE_STRING):
                data = item.encode() if isinstance(item, str) else unpacked(item)
                result += varint(descriptor.number << 3 | 2) + varint(len(data)) + data
            else:
                result += varint(descriptor.number << 3) + varint(int(item))
        result += varint(1000 << 3) + varint(2**64 - 1)
        result += varint(1001 << 3 | 1) + b"8 bytes."
        result += varint(1002 << 3 | 2) + varint(3) + b"abc"
        result += varint(1003 << 3 | 5) + b"4 by"
    return result


def test_unpacked_and_unknown_fields_are_read() -> None:
    other = b"".join(varint(len(data)) + data for data in map(unpacked, RECORDS))
    assert [*decode(other)] != RECORDS  # the unknown fields are there
    assert run(other) == run(STREAM)


@given(st.binary(max_size=300))
def test_random_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="stream"):
        _core.Simulation(data)


def understood(stream: bytes) -> bool:
    try:
        for _ in decode(stream):
            pass
    except ValueError:
        return False
    return True


@given(st.data())
def test_damaged_streams_run_or_are_refused(data: st.DataObject) -> None:
    """The reader rejects what Python's protobuf rejects, and no accepted stream crashes the run."""
    damaged = bytearray(STREAM)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        match data.draw(st.sampled_from(["replace", "insert", "delete", "cut"])):
            case "replace":
                damaged[at] = data.draw(st.integers(0, 255))
            case "insert":
                damaged.insert(at, data.draw(st.integers(0, 255)))
            case "delete" if len(damaged) > 1:
                del damaged[at]
            case "cut" if at > 0:
                del damaged[at:]
    try:
        simulation = _core.Simulation(bytes(damaged))
    except ValueError as error:
        assert str(error)
        return
    assert understood(bytes(damaged))
    try:
        simulation.build()
        simulation.run()
    except ValueError as error:  # names of fabrics and congestion controls are checked here
        assert "is not one of" in str(error) or "congestion" in str(error)
    finally:
        simulation.close()


def test_every_cut_inside_a_record_is_refused() -> None:
    whole = {len(encode(RECORDS[:count])) for count in range(len(RECORDS) + 1)}
    for length in set(range(len(STREAM))) - whole | {0}:
        with pytest.raises(ValueError, match="stream"):
            _core.Simulation(STREAM[:length])


ROCE_OF_NS3 = PROTOCOLS["roce"].fields(
    RoceTransport(protocol="roce", header="ns3"), Links(), Switches()
)


def changed(index: int, change: Callable[[api.Record], object]) -> list[api.Record]:
    records = [api.Record.FromString(record.SerializeToString()) for record in RECORDS]
    change(records[index])
    return records


def assign(values: list[int] | object, index: int, value: int) -> None:
    values[index] = value  # type: ignore[index]


def add_path(topology: api.Topology, source: int, target: int) -> None:
    """Append the path of a pair a second time, as its route 1."""
    at = list(zip(topology.path_source, topology.path_target, strict=True)).index((source, target))
    topology.path_source.append(source)
    topology.path_target.append(target)
    topology.path_links.extend(topology.path_links[2 * at : 2 * at + 2])
    topology.path_begin.append(len(topology.path_links))


def drop_path(topology: api.Topology, source: int, target: int) -> None:
    at = list(zip(topology.path_source, topology.path_target, strict=True)).index((source, target))
    del topology.path_source[at], topology.path_target[at], topology.path_begin[-1]
    del topology.path_links[2 * at : 2 * at + 2]


def depend(trace: api.Trace, dep: int) -> None:
    """Make the only node depend on `dep`."""
    trace.dep.append(dep)
    trace.dep_begin[1] = 1


def begin_in_phase_1(program: api.Program) -> None:
    """Give the program a second phase, which only its first step is in."""
    program.phase_dimension.append(0)
    program.phase[0] = 1


WRONG: dict[str, tuple[list[api.Record], str]] = {
    "no header": (RECORDS[1:], "does not start with a header"),
    "version": ([header(version=3), *RECORDS[1:]], "has version 3, but this build reads version 2"),
    "no topology": (RECORDS[:2], "no topology record"),
    "two settings": ([*RECORDS, RECORDS[1]], "second settings record"),
    "program id": (changed(PROGRAM, lambda r: setattr(r.program, "id", 1)), "program 0 has id 1"),
    "segment": (
        changed(SETTINGS, lambda r: setattr(r.settings.tcp, "segment_bytes", 15)),
        "segment_bytes is 15, but at least 16 are needed",
    ),
    "limits": (
        changed(SETTINGS, lambda r: r.settings.system.concurrent_chunks.append(1)),
        "concurrent_chunks has 2 entries, but 1 are expected",
    ),
    "no slot": (
        changed(SETTINGS, lambda r: assign(r.settings.system.concurrent_chunks, 0, 0)),
        r"concurrent_chunks\[0\] is 0, but at least 1 are needed",
    ),
    "time": (
        changed(SETTINGS, lambda r: setattr(r.settings, "time_limit_ps", 2**63)),
        "time_limit_ps is 9223372036854775808, but at most",
    ),
    "ranks": (changed(TOPOLOGY, lambda r: setattr(r.topology, "ranks", 9)), "4 nodes for 9 ranks"),
    "endpoints": (
        changed(TOPOLOGY, lambda r: setattr(r.topology, "endpoints", 5)),
        "topology: 5 endpoints, but 4 nodes",
    ),
    "classes of some paths": (
        changed(TOPOLOGY, lambda r: r.topology.path_class.extend([0, 1])),
        "path_class has 2 entries, but 6 are expected",
    ),
    "class of ACKs": (
        changed(TOPOLOGY, lambda r: r.topology.path_class.extend([0, 1, 6, 0, 0, 0])),
        r"path_class\[2\] is 6, but ",
    ),
    "failure of no job": (
        changed(
            TOPOLOGY,
            lambda r: r.topology.events.add(kind=api.NetworkEvent.JOB_FAILURE, jobs=[1]),
        ),
        r"events\[0\].jobs has 1, but there are 0 jobs",
    ),
    "failure without a job": (
        changed(
            TOPOLOGY,
            lambda r: r.topology.events.add(kind=api.NetworkEvent.JOB_FAILURE),
        ),
        r"events\[0\].jobs is empty",
    ),
    "path of a failure": (
        changed(TOPOLOGY, lambda r: r.topology.events.add(paths=[6])),
        r"events\[0\].paths\[0\] is 6, but there are 6 paths",
    ),
    "transports of some paths": (
        changed(TOPOLOGY, lambda r: r.topology.path_transport.extend([0, 0])),
        "path_transport has 2 entries, but 6 are expected",
    ),
    "transport that does not exist": (
        changed(TOPOLOGY, lambda r: r.topology.path_transport.extend([0, 0, 0, 1, 0, 0])),
        r"path_transport\[3\] is 1, but there are 0 transports",
    ),
    "transport of another format": (
        changed(
            SETTINGS,
            lambda r: r.settings.transports.add().tcp.MergeFrom(tcp(segment_bytes=900)),
        ),
        r"the packets of transports\[0\] have another format",
    ),
    "transport of another protocol": (
        changed(
            SETTINGS,
            lambda r: r.settings.transports.add().roce.MergeFrom(
                api.Roce(congestion_control="none")
            ),
        ),
        r"settings: transports\[0\].roce.",
    ),
    "time unit of another protocol": (
        changed(
            SETTINGS,
            lambda r: r.settings.transports.add(roce=ROCE_OF_NS3),
        ),
        "roce.time_unit_ps is 1000, but beside TCP 1 is accepted",
    ),
    "marking of some links": (
        changed(
            TOPOLOGY,
            lambda r: r.topology.markings.add(classes=[3], link_ecn_threshold_bytes=[1]),
        ),
        r"markings\[0\].link_ecn_threshold_bytes has 1 entries, but ",
    ),
    "lossy classes without a part of memory": (
        changed(TOPOLOGY, lambda r: r.topology.lossy_classes.append(0)),
        "lossy_classes has 1 entries, but shared_memory_alpha_ppm is 0",
    ),
    "window of a transport": (
        changed(
            SETTINGS,
            lambda r: r.settings.transports.add().tcp.MergeFrom(
                api.Tcp(mtu_bytes=1500, segment_bytes=1000)
            ),
        ),
        r"settings: transports\[0\].tcp.send_buffer_bytes",
    ),
    "end of a path": (
        changed(TOPOLOGY, lambda r: assign(r.topology.path_source, 0, 3)),
        r"path_source\[0\] is 3, but there are 3 endpoints",
    ),
    "link target": (
        changed(TOPOLOGY, lambda r: assign(r.topology.link_target, 0, 7)),
        r"link_target\[0\] is 7, but there are 4 nodes",
    ),
    "rate": (
        changed(TOPOLOGY, lambda r: assign(r.topology.link_rate_bps, 1, 0)),
        r"link_rate_bps\[1\] is 0, but 1000 … ",
    ),
    "link arrays": (
        changed(TOPOLOGY, lambda r: r.topology.link_latency_ps.pop()),
        "link_latency_ps has 5 entries, but 6 are expected",
    ),
    "link to itself": (
        changed(TOPOLOGY, lambda r: assign(r.topology.link_target, 0, 0)),
        r"links\[0\] goes from 0 to itself",
    ),
    "event": (
        changed(TOPOLOGY, lambda r: r.topology.events.add(time_ps=2**62)),
        r"topology: events\[0\]\.time_ps is 4611686018427387904, but at most",
    ),
    "path": (
        changed(TOPOLOGY, lambda r: assign(r.topology.path_links, 1, 0)),
        "path 0 continues at node 3 with link 0",
    ),
    "path end": (
        changed(TOPOLOGY, lambda r: assign(r.topology.path_target, 0, 2)),
        "path 0 ends at node 1 instead of rank 2",
    ),
    "path slices": (
        changed(TOPOLOGY, lambda r: assign(r.topology.path_begin, 1, 13)),
        "path_begin does not rise from 0 to 12",
    ),
    "no way back": (
        changed(TOPOLOGY, lambda r: drop_path(r.topology, 2, 0)),
        "no path from rank 2 to rank 0",
    ),
    "path order": (
        changed(TOPOLOGY, lambda r: add_path(r.topology, 0, 1)),
        "the paths from rank 0 to rank 1 are not adjacent",
    ),
    "route": (
        changed(PROGRAM, lambda r: r.program.route.extend([1] * len(r.program.op))),
        r"needs one \(both ways: data and acknowledgements\) as route 1",
    ),
    "route array": (
        changed(PROGRAM, lambda r: r.program.route.append(0)),
        "route has 1 entries, but",
    ),
    "peer": (changed(PROGRAM, lambda r: assign(r.program.peer, 0, 3)), "step 0 has peer 3"),
    "mate": (
        changed(PROGRAM, lambda r: assign(r.program.target, 0, 0)),
        "step 0 sends to step 0, which does not match it",
    ),
    "op": (changed(PROGRAM, lambda r: assign(r.program.op, 0, 5)), "step operation 5 is unknown"),
    "space": (
        changed(PROGRAM, lambda r: assign(r.program.offset, 0, 3)),
        "step 0 reaches past the 3 units",
    ),
    "dependency": (
        changed(PROGRAM, lambda r: assign(r.program.dep, 0, 10_000)),
        "depends on step 10000",
    ),
    "phase": (
        changed(PROGRAM, lambda r: assign(r.program.phase, 0, 1)),
        r"phase\[0\] is 1, but there are 1 phases",
    ),
    "phase order": (
        changed(PROGRAM, lambda r: begin_in_phase_1(r.program)),
        "not sorted by phase",
    ),
    "phase dimension": (
        changed(PROGRAM, lambda r: assign(r.program.phase_dimension, 0, 1)),
        r"phase_dimension\[0\] is 1, but there are 1 dimensions",
    ),
    "collective's program": (
        changed(COLLECTIVE, lambda r: setattr(r.collective, "program", 1)),
        "program 1 is not in the stream",
    ),
    "group": (
        changed(COLLECTIVE, lambda r: r.collective.ranks.append(0)),
        "ranks has 4 entries, but 3 are expected",
    ),
    "rank twice": (
        changed(COLLECTIVE, lambda r: assign(r.collective.ranks, 0, 1)),
        "a rank occurs twice",
    ),
    "no chunk": (
        changed(COLLECTIVE, lambda r: setattr(r.collective, "chunks", 0)),
        "chunks is 0",
    ),
    "too many bytes": (
        changed(COLLECTIVE, lambda r: setattr(r.collective, "bytes", 2**60)),
        "are more than",
    ),
    "iteration": (
        changed(COLLECTIVE, lambda r: setattr(r.collective, "iteration", 1)),
        "has layer 0 and iteration 1, but the traces have 1 layers and 1 iterations",
    ),
    "node's iteration": (
        changed(TRACE, lambda r: assign(r.trace.iteration, 0, 2**32 - 1)),
        "an iteration has index 4294967295",
    ),
    "node's collective": (
        changed(TRACE, lambda r: assign(r.trace.collective, 0, 1)),
        "issues collective 1, which is not in the stream",
    ),
    "node's layer": (
        changed(TRACE, lambda r: assign(r.trace.layer, 0, 1)),
        r"layer\[0\] is 1, but there are 1 layers",
    ),
    "node's dependency": (
        changed(TRACE, lambda r: depend(r.trace, 1)),
        r"dep\[0\] is 1, but there are 1 nodes",
    ),
    "node's job": (
        changed(TRACE, lambda r: r.trace.job.__setitem__(slice(None), [1] * len(r.trace.names))),
        r"job\[0\] is 1, but there are 0 jobs",
    ),
    "jobs of some nodes": (
        changed(TRACE, lambda r: r.trace.job.append(0)),
        "job has",
    ),
    "routes of some nodes": (
        changed(TRACE, lambda r: r.trace.route.append(0)),
        "route has",
    ),
    "other jobs": (
        [*RECORDS, api.Record(trace=api.Trace(layers=["layer"], dep_begin=[0], jobs="x"))],
        "jobs differ from those of trace 0",
    ),
    "two traces": ([*RECORDS, RECORDS[TRACE]], "rank 0 has more than one trace"),
    "names": (
        changed(TRACE, lambda r: r.trace.MergeFromString(b"\x12\x01x\x1a\x01y")),
        "names has 2 entries",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_streams_are_refused_with_one_sentence(name: str) -> None:
    records, text = WRONG[name]
    with pytest.raises(ValueError, match=text) as error:
        _core.Simulation(encode(records))
    assert "\n" not in str(error.value)


def test_text_that_is_not_utf8_is_refused() -> None:
    stream = encode([header(name="Näme"), *RECORDS[1:]])
    assert run(stream) == run(STREAM)
    with pytest.raises(ValueError, match="not UTF-8"):
        _core.Simulation(stream.replace("ä".encode(), b"\xc3\x28"))
    with pytest.raises(ValueError, match="contains a NUL byte"):
        _core.Simulation(stream.replace("ä".encode(), b"\0a"))


def issues(*traces: Trace) -> bytes:
    group = [collective(0, 0, [0, 1, 2], 3000), *(trace.record() for trace in traces)]
    return encode([header(), settings(), star(4), program(0, RING), *group])


def test_a_collective_is_issued_once_by_its_own_ranks() -> None:
    twice = Trace([0, 1, 2])
    twice.issue(0)
    twice.issue(0)
    with pytest.raises(ValueError, match="rank 0 issues collective 0 twice"):
        _core.Simulation(issues(twice))
    foreign = Trace([0, 1, 2, 3])
    foreign.issue(0)
    with pytest.raises(ValueError, match=r"rank 3 issues collective 0 .* but is not in its group"):
        _core.Simulation(issues(foreign))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("smoke signals", "smoke signals"),
        ("", ""),
        ("\x1b[31m", "?[31m"),
        ("0" * 999, "0" * 64 + "..."),
    ],
)
def test_a_fabric_that_does_not_exist_is_refused_when_building(name: str, shown: str) -> None:
    """The sentence names it, but a name cannot control a terminal, or fill it."""
    simulation = _core.Simulation(encode(one_collective(RING, 3000, fabric=name)))
    sentence = re.escape(f"fabric '{shown}' is not one of ")
    with pytest.raises(ValueError, match=f"^{sentence}.*analytical"):
        simulation.build()
    simulation.close()


@pytest.mark.parametrize("name", ["analytical", "native"])
def test_a_fabric_without_classes_is_refused_when_building(name: str) -> None:
    records = one_collective(RING, 3000, fabric=name)
    records[TOPOLOGY].topology.path_class.extend([0, 1, 2, 3, 4, 5])
    simulation = _core.Simulation(encode(records))
    sentence = f"^fabric '{name}' is not one of express, flow, whose ports have a queue for each "
    with pytest.raises(ValueError, match=sentence):
        simulation.build()
    simulation.close()


def test_a_congestion_control_that_does_not_exist_is_refused_when_building() -> None:
    transport = tcp(congestion_control="Hope")
    simulation = _core.Simulation(
        encode(one_collective(RING, 3000, fabric="express", transport=transport))
    )
    with pytest.raises(ValueError, match="Hope"):
        simulation.build()
    simulation.close()
