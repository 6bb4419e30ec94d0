"""Check values that depend on several parts of a scenario.

`check` runs while a scenario is loaded and needs no optimiser.
"""

import re

from frontend.collectives.choices import algorithm_of
from frontend.collectives.registry import ALGORITHMS, algorithm_names
from frontend.errors import RefusedError
from frontend.fabrics import CHANGING, CLASSED, FABRICS, LOSING
from frontend.resolve.events import background, happenings, is_link_event
from frontend.resolve.failures import downs, fails
from frontend.resolve.layout import layout
from frontend.resolve.turns import turns
from frontend.scenario import Scenario
from frontend.scenario.work import Work
from frontend.schema.base import Problems
from frontend.schema.outputs import ranks_of
from frontend.schema.ports import PPP_HEADER_BYTES
from frontend.schema.transport import Transport
from frontend.topologies import TOPOLOGIES, Layout
from frontend.transports import PROTOCOLS

_MOST_CHUNKS = 1 << 20
"""Chunks of a collective that the simulator takes."""


def check(scenario: Scenario) -> None:
    """Check everything that does not depend on the result of a topology optimiser.

    Raises
    ------
    RefusedError
        For the first value that cannot work.
    """
    made = layout(scenario)
    for problems in (
        _fabric(scenario),
        _topology(scenario),
        _transport(scenario),
        _routing(scenario),
        _system(scenario),
        _outputs(scenario, made),
        _workload(scenario, made),
    ):
        for path, expected in problems:
            raise RefusedError(path, expected)
    if not TOPOLOGIES[scenario.topology.family].optimised:
        check_graph(scenario, made)
        check_events(scenario, made)


def check_graph(scenario: Scenario, made: Layout) -> None:
    """Check that the collective algorithms can run on the links between ranks.

    An optimiser may have to find these links first.

    Raises
    ------
    RefusedError
        For the first algorithm that cannot run.
    """
    for work in scenario.work:
        for _, path, choice in work.kind.algorithms(work.workload, work.collective):
            problem = algorithm_of(choice).graph_problem
            # Ask for the graph last, because an optimiser may have to find it.
            if problem is not None and made.graph is not None:
                expected = problem(made.graph)
                if expected is not None:
                    raise RefusedError(work.path(path), expected)


def check_events(scenario: Scenario, made: Layout) -> None:
    """Check that events name nodes, links and ranks of the network.

    Raises
    ------
    RefusedError
        For the first event that does not.
    """
    if scenario.events:
        happenings(scenario, made.network(0))
        background(scenario, made.ranks)
        downs(scenario, made)


def _fabric(scenario: Scenario) -> Problems:
    """Check that the fabric supports circuits that change during the run."""
    family = TOPOLOGIES[scenario.topology.family]
    reason = FABRICS[scenario.fabric].fixed_links
    if reason and family.changes_links(scenario.topology):
        expected = _either(CHANGING)
        yield "fabric", f"expected {expected}, because topology.reconfiguration is given: {reason}"


def _routing(scenario: Scenario) -> Problems:
    """Check that the fabric can do what events and routing ask of it."""
    routing = scenario.routing
    fabric = FABRICS[scenario.fabric]
    circuits = TOPOLOGIES[scenario.topology.family].changes_links(scenario.topology)
    for path, transport in scenario.transports.items():
        if circuits and not PROTOCOLS[transport.protocol].changes_circuits():
            yield (
                f"{path}.protocol",
                "expected tcp, because topology.reconfiguration is given, and connections pause "
                "while circuits change",
            )
    changing = [number for number, event in enumerate(scenario.events) if is_link_event(event)]
    if changing and circuits:
        yield (
            f"events.{changing[0]}.event",
            "expected no event that changes links, because topology.reconfiguration is given",
        )
    if changing and fabric.fixed_links:
        expected = _either(CHANGING)
        yield "fabric", f"expected {expected}, because events change links: {fabric.fixed_links}"
    loses = TOPOLOGIES[scenario.topology.family].loses_packets(scenario.topology)
    if loses and not fabric.can_lose:
        yield "fabric", f"expected {_either(LOSING)}, because links lose packets"
    if routing.policy in ("spray", "flowlet") and (circuits or scenario.fabric != "express"):
        yield (
            "routing.policy",
            "expected family, ecmp or paths, because only the fabric express without circuits can "
            "send packets of a connection over several paths",
        )
    if routing.policy != "family" and circuits:
        yield "routing.policy", "expected family, because topology.reconfiguration is given"
    count = scenario.transport.flows_per_pair
    if routing.weights and routing.policy != "paths":
        yield "routing.weights", "expected none, because only routing.policy: paths has weights"
    if routing.weights and sum(routing.weights) != count:
        yield (
            "routing.weights",
            f"expected weights that sum to transport.flows_per_pair ({count})",
        )


def _either(names: tuple[str, ...]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def _outputs(scenario: Scenario, made: Layout) -> Problems:
    """Check that a fabric can be sampled, and that a timeline shows something."""
    if scenario.outputs.series is not None and FABRICS[scenario.fabric].is_estimator:
        yield "outputs.series", f"expected a fabric with packets, but {scenario.fabric} estimates"
    timeline = scenario.outputs.timeline
    if timeline is None:
        return
    if any(rank >= made.ranks for rank in ranks_of(timeline.ranks)):
        yield "outputs.timeline.ranks", f"expected ranks from 0 to {made.ranks - 1}"
    if timeline.end is not None and timeline.end <= timeline.start:
        yield "outputs.timeline.end", "expected a time after outputs.timeline.start"


def _topology(scenario: Scenario) -> Problems:
    """Check the topology's parameters, and that its buffers hold a packet for every port."""
    family, protocol = TOPOLOGIES[scenario.topology.family], PROTOCOLS[scenario.transport.protocol]
    links, transport = scenario.links, scenario.transport
    packets = -(-protocol.window_bytes(transport) // protocol.payload_bytes(transport, links))
    yield from family.problems(scenario.topology, packets * links.packet_bytes)
    packet = links.packet_bytes
    for path, buffer, ports in family.buffers(scenario.topology):
        if buffer and buffer // ports < packet:
            yield (
                path,
                f"expected at least {packet * ports} bytes: a packet of {packet} bytes "
                f"(links.mtu and links.header) for each of {ports} ports",
            )


def _transport(scenario: Scenario) -> Problems:
    """Check that transport, links and switches do not contradict each other."""
    transport, links, switches = scenario.transport, scenario.links, scenario.switches
    family, fabric = TOPOLOGIES[scenario.topology.family], FABRICS[scenario.fabric]
    yield from PROTOCOLS[transport.protocol].problems(transport, links, fabric)
    if links.mtu.is_unlimited and not fabric.is_estimator:
        because = f"because the fabric {fabric.name} has packets"
        yield "links.mtu", f"expected a size such as 9000B, {because}"
    if scenario.fabric == "native" and links.header < PPP_HEADER_BYTES:
        yield (
            "links.header",
            f"expected at least {PPP_HEADER_BYTES} bytes, which ns-3's PointToPointNetDevice adds "
            "to each packet of the fabric native",
        )
    if transport.flows_per_pair > 1 and family.changes_links(scenario.topology):
        yield "transport.flows_per_pair", "expected 1, because topology.reconfiguration is given"
    if switches.buffer_unit != "bytes":
        if switches.buffer_sharing != "per_port":
            because = f"because switches.buffer_sharing is {switches.buffer_sharing}"
            yield "switches.buffer_unit", f"expected bytes, {because}"
        if "roce" in scenario.protocols:
            yield "switches.buffer_unit", "expected bytes, because buffers of roce hold bytes"
    if switches.buffer_sharing == "pfc":
        expected = "expected per_port or dynamic, because"
        if scenario.fabric == "native":
            yield (
                "switches.buffer_sharing",
                f"{expected} the fabric is native, and ns-3's devices cannot be paused",
            )
        if family.changes_links(scenario.topology):
            yield "switches.buffer_sharing", f"{expected} topology.reconfiguration is given"
    marked = {
        path: one
        for path, one in scenario.transports.items()
        if one.protocol == "tcp" and one.uses_ecn
    }
    if not marked:
        return
    if switches.ecn_threshold is None:
        for path, one in marked.items():
            if one.variant != "dctcp":
                expected = f"expected a size such as 200KB, because {path}.ecn is true"
                yield "switches.ecn_threshold", expected
        return
    for path, buffer, ports in family.buffers(scenario.topology):
        if buffer and switches.ecn_threshold > buffer // ports:
            yield (
                "switches.ecn_threshold",
                f"expected at most the buffer of one port ({path} / {ports} = "
                f"{buffer // ports} bytes)",
            )


def _system(scenario: Scenario) -> Problems:
    """Check that the settings of the system layer do not contradict each other."""
    system = scenario.system
    if max(dict(system.chunks).values()) > _MOST_CHUNKS:
        yield "system.chunks", f"expected at most {_MOST_CHUNKS}"
    if system.chunk_order == "arrival" and system.admission != "negotiated":
        yield (
            "system.chunk_order",
            "expected index, because system.admission is local, and ranks to which chunks come in "
            "different orders would wait for each other",
        )


def _workload(scenario: Scenario, made: Layout) -> Problems:
    """Check that the work divides over the ranks and that the algorithms support it."""
    if fails(scenario) and not scenario.jobs:
        yield "workload", "expected jobs instead, because hosts fail, and with them jobs"
    if scenario.jobs:
        yield from _jobs(scenario)
        yield from _storage(scenario, made.ranks)
        yield from _transports(scenario)
        yield from _protocols(scenario)
        yield from _failures(scenario)
        yield from _classes(scenario)
        yield from _routes(scenario)
    works, checked = scenario.work, set()
    for turn in turns(scenario, made.ranks, made):
        work = works[turn.job]
        if work.prefix not in checked:
            for path, expected in _one_workload(scenario, made, work, len(turn.members)):
                yield work.path(path), expected
        checked.add(work.prefix)


def _jobs(scenario: Scenario) -> Problems:
    """Check what concerns all jobs together."""
    if scenario.collective is not None:
        yield "collective", "expected no value, because each job has its own (jobs.0.collective)"
    for number, job in enumerate(scenario.jobs):
        if scenario.mix is None and job.share != 1:
            yield f"jobs.{number}.share", "expected no value, because the scenario has no mix"
        if scenario.mix is not None and job.arrivals is not None:
            yield f"jobs.{number}.arrivals", "expected no value, because mix has the arrivals"
    names = [(f"jobs.{number}.", job.name) for number, job in enumerate(scenario.jobs)]
    names += [(work.prefix, work.job.name) for work in scenario.work if work.job is not None]
    owners: dict[str, str] = {}
    for prefix, name in names:
        if owners.setdefault(name, prefix) != prefix:
            yield f"{prefix}name", f"expected a different name for each job, not {name}"


def _storage(scenario: Scenario, ranks: int) -> Problems:
    """Check the checkpoints of jobs, and the ranks that have them."""
    for number, job in enumerate(scenario.jobs):
        if job.recovery.write is not None and job.recovery.interval is None:
            expected = "expected no value, because recovery.interval is null"
            yield f"jobs.{number}.recovery.write", expected
    given = [
        (f"jobs.{number}.{key}", checkpoint)
        for number, job in enumerate(scenario.jobs)
        for key, checkpoint in job.checkpoints.items()
    ]
    for path, checkpoint in given:
        if TOPOLOGIES[scenario.topology.family].optimised:
            because = "because an optimiser makes the links of this topology for the workloads"
            yield path, f"expected no value, {because}"
        if max(checkpoint.storage) >= ranks:
            yield f"{path}.storage", f"expected ranks from 0 to {ranks - 1}"
        if len(set(checkpoint.storage)) < len(checkpoint.storage):
            yield f"{path}.storage", "expected each rank once"


def _transports(scenario: Scenario) -> Problems:
    """Check that transports of a protocol differ only in what hosts do."""
    fabric, transports = FABRICS[scenario.fabric], scenario.transports
    first = {scenario.transport.protocol: "transport"}
    for number, job in enumerate(scenario.jobs):
        if job.transport is None:
            continue
        prefix, own = f"jobs.{number}.", scenario.transport_of(job)
        protocol = PROTOCOLS[own.protocol]
        like = first.setdefault(own.protocol, f"{prefix}transport")
        for key, because in protocol.of_network.items():
            path = "transport" if key in Transport.model_fields else like
            if getattr(own, key) != getattr(transports[path], key):
                yield (
                    f"{prefix}transport.{key}",
                    f"expected the value of {path}.{key}, or none, because {because}",
                )
        found = (
            *protocol.format_problems(transports[like], own),
            *protocol.problems(own, scenario.links, fabric),
        )
        # A key that the job does not give is one of the scenario.
        given = re.compile(rf"\b(?=transport\.({'|'.join(job.transport.model_fields_set)})\b)")
        for path, expected in found:
            yield given.sub(prefix, path), given.sub(prefix, expected)


def _protocols(scenario: Scenario) -> Problems:
    """Check that two protocols can share the links, if jobs have another one."""
    if len(scenario.protocols) == 1:
        return
    for path, transport in scenario.transports.items():
        if getattr(transport, "header", "ethernet") != "ethernet":
            yield (
                f"{path}.header",
                "expected ethernet, because ns3 cuts the transmission times of all packets, and "
                "there is tcp, too",
            )
    if not scenario.has_classes:
        return
    used = {scenario.traffic_class_of(None): scenario.transport.protocol}
    for number, job in enumerate(scenario.jobs):
        level, protocol = scenario.traffic_class_of(job), scenario.transport_of(job).protocol
        if used.setdefault(level, protocol) != protocol:
            yield (
                f"jobs.{number}.traffic_class",
                f"expected another class than {level}, which has {used[level]}, because switches "
                f"mark packets of {protocol} in another way",
            )


def _failures(scenario: Scenario) -> Problems:
    """Check that jobs can fail, if hosts or links do."""
    if not fails(scenario):
        return
    because = "because jobs can fail"
    if scenario.fabric == "native":
        fabrics = _either(tuple(name for name in FABRICS if name != "native"))
        yield "fabric", f"expected {fabrics}, {because}, and ns-3's sockets cannot be dropped"
    if TOPOLOGIES[scenario.topology.family].changes_links(scenario.topology):
        yield "topology.reconfiguration", f"expected no value, {because}"
    if getattr(scenario.topology, "provisioning", None) is not None:
        yield "topology.provisioning", f"expected no value, {because}"


def _classes(scenario: Scenario) -> Problems:
    """Check that packets of jobs can have traffic classes, if jobs ask for it."""
    if not scenario.has_classes:
        return
    because = "because jobs have traffic classes"
    if not FABRICS[scenario.fabric].has_classes:
        queues = "whose links serve classes one after another"
        yield "fabric", f"expected {_either(CLASSED)}, {queues}, {because}"
    if TOPOLOGIES[scenario.topology.family].changes_links(scenario.topology):
        yield "topology.reconfiguration", f"expected no value, {because}"


def _routes(scenario: Scenario) -> Problems:
    """Check that jobs can select their paths, if they do."""
    if not scenario.has_routes:
        return
    because = "because jobs select their paths"
    if TOPOLOGIES[scenario.topology.family].changes_links(scenario.topology):
        yield "topology.reconfiguration", f"expected no value, {because}"
    if TOPOLOGIES[scenario.topology.family].asked_ranks(scenario.topology) is not None:
        first = next(number for number, job in enumerate(scenario.jobs) if job.route)
        yield f"jobs.{first}.route", "expected 0, because this topology is made for the workloads"


def _one_workload(scenario: Scenario, made: Layout, work: Work, ranks: int) -> Problems:
    family, kind = TOPOLOGIES[scenario.topology.family], work.kind
    yield from kind.problems(work.workload, ranks, family)
    names_its_own = kind.default_collective() is None
    if names_its_own and work.collective is not None:
        yield "collective", f"expected no value, because {kind.own_algorithms}"
    if not names_its_own and work.collective is None:
        yield "collective", "expected a mapping with all_reduce and all_to_all"
    for operation, path, choice in kind.algorithms(work.workload, work.collective):
        algorithm = algorithm_of(choice)
        known = algorithm_names()[operation]
        if operation not in algorithm.operations:
            yield path, f"expected an algorithm for {operation}: {', '.join(known)}"
        if not algorithm.needs <= made.features:
            right = [other for other in known if ALGORITHMS[other].needs <= made.features]
            yield path, f"expected one of {', '.join(right)} on a {family.label} topology"
