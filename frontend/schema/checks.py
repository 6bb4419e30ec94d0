"""Checks over several keys: each yields (key path, what is accepted) for what cannot work."""

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

from frontend import collectives
from frontend.errors import ScenarioError
from frontend.schema.cluster import ClusterWorkload
from frontend.schema.collective import (
    DIRECT_CONNECT,
    HIERARCHICAL,
    AlgorithmFile,
    AnyAlgorithm,
    CollectiveAlgorithms,
)
from frontend.schema.direct_connect import DirectTopology
from frontend.schema.fat_tree import FatTree
from frontend.schema.topology import FlatTopology, HierarchicalTopology, Topology
from frontend.schema.topoopt import DemandTopology, TopoOptTopology
from frontend.schema.training import Training, TrainingWorkload
from frontend.schema.transport import HEADER_BYTES, TIMESTAMP_OPTION_BYTES, Transport
from frontend.schema.workload import CollectiveWorkload, DlrmWorkload, Workload
from topology_gen.networks.fat_tree import arity

Problems = Iterator[tuple[str, str]]

_UNSCALED_WINDOW = 65535  # the window field of TCP has 16 bits
_LARGEST_WINDOW = 65535 << 14  # RFC 7323's largest scale


def demand(topology: Topology, workload: Workload) -> Problems:
    """Give a topology the workload's demand, if it asks for that and there is one."""
    if not isinstance(topology, DemandTopology) or not topology.asks_workload:
        return
    if isinstance(workload, ClusterWorkload) and isinstance(topology, TopoOptTopology):
        yield from _jobs(topology, workload)
        topology.set_shards(_workloads("cluster").shards(workload, topology))
    elif isinstance(workload, TrainingWorkload):
        yield from _strategy("workload.strategy", workload, topology.ranks)
        topology.settle(_workloads("training").transfers(workload, topology.ranks))
    else:
        yield "topology.demand", "expected a demand, as workload.kind is not training"


def _switches(topology: Topology) -> list[tuple[str, int, int]]:
    """Key path of each buffer, its bytes (0: unlimited) and the ports that share it."""
    if isinstance(topology, FlatTopology):
        return [("topology.buffer", topology.buffer, topology.ranks)]
    if isinstance(topology, DirectTopology):
        return [("topology.buffer", topology.buffer, 1)]  # a port's own
    if isinstance(topology, FatTree):
        return [("topology.buffer", topology.buffer, arity(topology.ranks))]
    up, out = topology.scale_up, topology.scale_out
    return [
        ("topology.scale_up.buffer", up.buffer, up.ranks),
        ("topology.scale_out.buffer", out.buffer, topology.ranks),
    ]


def fabric(fabric: str, topology: Topology) -> Problems:
    """Links that change during the run on a fabric whose links cannot."""
    if fabric == "native" and getattr(topology, "reconfiguration", None) is not None:
        yield (
            "fabric",
            "expected express, flow or analytical, as topology.reconfiguration is given: ns-3's "
            "PointToPointChannel joins two devices for the whole run, and the timers of a stock "
            "TCP socket cannot stand still while links change",
        )


def topology(topology: Topology, tcp: Transport) -> Problems:
    """Rank counts that do not divide, and buffers that cannot hold what they must."""
    if isinstance(topology, HierarchicalTopology):
        up = topology.scale_up
        if topology.ranks % up.ranks:
            yield "topology.ranks", f"expected a multiple of topology.scale_up.ranks ({up.ranks})"
        if up.bandwidth < up.switches:
            yield "topology.scale_up.bandwidth", "expected at least 1 bit/s for each switch"
    packet = tcp.mtu + tcp.link_header
    for path, buffer, ports in _switches(topology):
        if buffer and buffer // ports < packet:
            yield (
                path,
                f"expected at least {packet * ports} bytes: a packet of {packet} bytes (mtu and "
                f"link_header) for each of {ports} ports",
            )
    if isinstance(topology, HierarchicalTopology):
        yield from _scale_up_without_loss(topology, tcp)


def _scale_up_without_loss(topology: HierarchicalTopology, tcp: Transport) -> Problems:
    """Scale-up links must never drop (paper, Section III.C.2), whatever the workload does.

    A receiver's port of an NV switch serves ceil(ranks/switches) senders, as switch = (src + dst)
    mod switches. Each has at most one window in flight, in packets of mtu + link_header.
    """
    up = topology.scale_up
    senders = min(-(-up.ranks // up.switches), up.ranks - 1)
    in_flight = senders * -(-tcp.window // tcp.mss) * (tcp.mtu + tcp.link_header)
    if up.buffer and up.buffer // up.ranks < in_flight:
        yield (
            "topology.scale_up.buffer",
            f"expected at least {in_flight * up.ranks} bytes or unlimited: scale-up links must not "
            f"drop, and {senders} windows of {int(tcp.window)} bytes meet at each of {up.ranks} "
            "ports",
        )


def transport(topology: Topology, tcp: Transport) -> Problems:
    """TCP settings that contradict each other."""
    headers = HEADER_BYTES + TIMESTAMP_OPTION_BYTES * tcp.timestamps
    if tcp.mss > tcp.mtu - headers:
        yield (
            "transport.mss",
            f"expected at most transport.mtu minus {headers} bytes of headers "
            f"({tcp.mtu - headers})",
        )
    if tcp.window < tcp.mss:
        yield "transport.window", f"expected at least one segment (transport.mss, {int(tcp.mss)})"
    if tcp.window > _UNSCALED_WINDOW and not tcp.window_scaling:
        yield (
            "transport.window",
            f"expected at most {_UNSCALED_WINDOW} bytes while transport.window_scaling is false",
        )
    if tcp.window > _LARGEST_WINDOW:
        yield "transport.window", f"expected at most {_LARGEST_WINDOW} bytes (TCP's largest window)"
    if tcp.delayed_ack.segments > 1 and tcp.delayed_ack.timeout >= tcp.min_rto:
        yield (
            "transport.delayed_ack.timeout",
            f"expected less than transport.min_rto ({tcp.min_rto.written()}), or a delayed ACK "
            "ends in a retransmission timeout",
        )
    if tcp.variant == "dctcp" and not tcp.ecn.enabled:
        yield "transport.ecn.enabled", "expected true, as transport.variant is dctcp"
    if tcp.ecn.enabled and tcp.ecn.threshold is None:
        yield "transport.ecn.threshold", "expected a size such as 200KB, as ECN is enabled"
    if tcp.ecn.enabled and tcp.ecn.threshold is not None:
        for path, buffer, ports in _switches(topology):
            if buffer and tcp.ecn.threshold > buffer // ports:
                yield (
                    "transport.ecn.threshold",
                    f"expected at most the buffer of one port ({path} / {ports} = "
                    f"{buffer // ports} bytes)",
                )


def workload(
    topology: Topology,
    workload: Workload,
    collective: CollectiveAlgorithms | None,
) -> Problems:
    """Work that does not divide over the ranks, and algorithms that cannot carry it."""
    if isinstance(workload, CollectiveWorkload):
        if collective is not None:
            yield "collective", "expected nothing: workload.algorithm names the only algorithm"
        yield from _algorithm(
            topology, workload.operation, "workload.algorithm", workload.algorithm
        )
        return
    if isinstance(workload, DlrmWorkload):
        yield from _columns(topology, workload)
    elif isinstance(workload, TrainingWorkload):
        yield from _strategy("workload.strategy", workload, topology.ranks)
    elif isinstance(workload, ClusterWorkload):
        yield from _jobs(topology, workload)
    elif workload.experts % topology.ranks:
        yield "workload.experts", f"expected a multiple of the {topology.ranks} ranks"
    if collective is None:
        yield "collective", "expected a mapping with all_reduce and all_to_all"
        return
    for operation, name in (
        ("all_reduce", collective.all_reduce),
        ("all_to_all", collective.all_to_all),
    ):
        yield from _algorithm(topology, operation, f"collective.{operation}", name)


def _strategy(path: str, workload: Training, servers: int) -> Problems:
    training = _workloads("training")
    try:
        training.strategy(workload, training.operator_graph(workload, servers))
    except ScenarioError as error:
        yield path, str(error)


def _jobs(topology: Topology, workload: ClusterWorkload) -> Problems:
    if workload.active * workload.servers > topology.ranks:
        most = topology.ranks // workload.servers
        yield (
            "workload.active",
            f"expected at most {most}: the {topology.ranks} ranks of the topology are enough for "
            f"so many jobs of {workload.servers}",
        )
    if workload.provisioning is not None and not isinstance(topology, TopoOptTopology):
        yield "workload.provisioning", "expected null, as nothing is linked anew for a job"
    names = [kind.name for kind in workload.mix]
    for index, kind in enumerate(workload.mix):
        if kind.name in names[:index]:
            yield f"workload.mix.{index}.name", "expected names that differ"
        yield from _strategy(f"workload.mix.{index}.strategy", kind, workload.servers)


def _workloads(name: str) -> ModuleType:
    # Workloads build on the schema, so that they cannot be imported with it.
    return import_module(f"frontend.workloads.{name}")


def _columns(topology: Topology, workload: DlrmWorkload) -> Problems:
    columns = workload.embedding.tables * workload.embedding.dimension
    if columns % topology.ranks:
        yield (
            "workload.embedding.tables",
            f"expected tables × dimension ({columns}) to be a multiple of topology.ranks "
            f"({topology.ranks}), which share the columns evenly",
        )


def _algorithm(
    topology: Topology,
    operation: str,
    path: str,
    name: AnyAlgorithm,
) -> Problems:
    if isinstance(name, AlgorithmFile):
        return  # read when the scenario is compiled
    known = collectives.algorithm_names()[operation]
    if name not in known:
        yield path, f"expected an algorithm for {operation}: {', '.join(known)}"
    wrong = [] if isinstance(topology, HierarchicalTopology) else list(HIERARCHICAL)
    wrong += [] if isinstance(topology, DirectTopology) else list(DIRECT_CONNECT)
    if name in wrong:
        kind = "direct-connect" if isinstance(topology, DirectTopology) else topology.family
        right = [algorithm for algorithm in known if algorithm not in wrong]
        yield path, f"expected, on a {kind} topology, one of {', '.join(right)}"
    if name == "bfb" and isinstance(topology, DirectTopology) and not topology.graph.regular:
        yield path, "expected another algorithm, as the topology is not regular"
