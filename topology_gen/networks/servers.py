"""Servers, and their networks: rails with a switch each, leaf–spine and three-tier Clos networks.

A server has GPUs, the scale-up network between them, and NICs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph
from topology_gen.networks.graph import GraphLink, NetworkGraph, both_ways

_GBPS = 10**9


@dataclass(frozen=True)
class Server:
    """A server; every GPU of it is a rank.

    Attributes
    ----------
    gpus : int
        Number of GPUs.
    scale_up_switches : int
        Number of scale-up switches, to each of which every GPU has a link; 0: every GPU has a link
        to every other. A message passes one of them.
    scale_up_bps : int
        Total scale-up bandwidth of a GPU in each direction.
    scale_up_latency_ps : int
        Propagation latency of each scale-up link.
    nics : int
        Number of NICs: a multiple of the GPUs, or a divisor. NIC k is in rail k.
    nic_bps : int
        Rate of each NIC in each direction.
    pcie_bps : int
        Rate of a GPU's PCIe link in each direction, which all its traffic to NICs passes; 0: no
        limit.
    in_network : bool
        Whether the scale-up switches add up and multicast what GPUs send, as NVLink SHARP does.
    nccl_plugin : str
        How NCCL uses the NICs.
    cpu : str
        Vendor of the processors: ``intel``, ``amd`` or ``arm``.

    Raises
    ------
    ParameterError
        There are no GPUs or NICs, or they do not divide into each other.
    """

    gpus: int
    scale_up_switches: int
    scale_up_bps: int
    scale_up_latency_ps: int
    nics: int
    nic_bps: int
    pcie_bps: int = 0
    in_network: bool = False
    nccl_plugin: str = "verbs"
    cpu: str = "intel"

    def __post_init__(self) -> None:
        if self.gpus < 1:
            raise ParameterError(f"{self.gpus} GPUs: expected at least 1", "gpus")
        if self.nics < 1 or (self.nics % self.gpus and self.gpus % self.nics):
            raise ParameterError(
                f"{self.nics} NICs: expected a multiple or a divisor of the {self.gpus} GPUs",
                "nics",
            )

    @property
    def nics_per_gpu(self) -> int:
        """NICs of each GPU; 0 if several GPUs share a NIC."""
        return self.nics // self.gpus

    @property
    def shares_pcie(self) -> bool:
        """Whether the PCIe link of a GPU is slower than its NICs together."""
        return self.nics_per_gpu > 1 and 0 < self.pcie_bps < self.nics_per_gpu * self.nic_bps

    @property
    def port_bps(self) -> int:
        """The rate of the link between a NIC and a switch outside the server."""
        alone = self.nics_per_gpu == 1 and self.pcie_bps
        return min(self.nic_bps, self.pcie_bps) if alone else self.nic_bps

    @property
    def endpoint_bps(self) -> int:
        """The rate of a NIC when all NICs of its GPU send."""
        limited = self.pcie_bps and self.nics_per_gpu
        return min(self.nic_bps, self.pcie_bps // self.nics_per_gpu) if limited else self.nic_bps

    def ranks(self, number: int) -> list[str]:
        """Return the names of the GPUs of a server."""
        return [f"gpu{number}.{gpu}" for gpu in range(self.gpus)]

    def switches(self, number: int) -> list[str]:
        """Return the names of the scale-up switches of a server, and of its shared NICs."""
        names = [f"nv{number}.{switch}" for switch in range(self.scale_up_switches)]
        if not self.nics_per_gpu:
            names += [f"nic{number}.{nic}" for nic in range(self.nics)]
        return names

    def nic(self, number: int, nic: int) -> str:
        """Return the node that has a NIC: its GPU, or the NIC itself if several GPUs share it."""
        if self.nics_per_gpu:
            return f"gpu{number}.{nic // self.nics_per_gpu}"
        return f"nic{number}.{nic}"

    def port(self, number: int, nic: int) -> str:
        """Return the node that the link of a NIC to a switch outside the server leaves.

        NICs that share a PCIe link leave a switch of their own, to which this link leads.
        """
        gpu = nic // max(self.nics_per_gpu, 1)
        return f"pcie{number}.{gpu}" if self.shares_pcie else self.nic(number, nic)

    def pcie_links(self, number: int) -> Iterator[GraphLink]:
        """Yield the links of GPUs to the PCIe switches of a server, each in one direction."""
        if self.shares_pcie:
            for gpu, rank in enumerate(self.ranks(number)):
                yield GraphLink(rank, f"pcie{number}.{gpu}", self.pcie_bps, 0)

    def links(self, number: int) -> Iterator[GraphLink]:
        """Yield the other links inside a server, each in one direction."""
        ranks, latency = self.ranks(number), self.scale_up_latency_ps
        if self.scale_up_switches:
            rate = self.scale_up_bps // self.scale_up_switches
            for rank in ranks:
                for switch in range(self.scale_up_switches):
                    yield GraphLink(rank, f"nv{number}.{switch}", rate, latency, scale_up=True)
        else:
            rate = self.scale_up_bps // max(self.gpus - 1, 1)
            for first, second in combinations(ranks, 2):
                yield GraphLink(first, second, rate, latency, scale_up=True)
        if not self.nics_per_gpu:
            rate = self.pcie_bps or self.nic_bps
            for gpu, rank in enumerate(ranks):
                nic = gpu * self.nics // self.gpus
                yield GraphLink(rank, f"nic{number}.{nic}", rate, 0)


_NVLINK_HOP_PS = 468_125
"""Half of the latency between two GPUs of an HGX H100 over an NVSwitch, as ASTRA-sim's analytical
network was fitted to it (936.25 ns)."""

_AMPERE = Server(
    8,
    1,
    2400 * _GBPS,
    _NVLINK_HOP_PS,
    nics=8,
    nic_bps=200 * _GBPS,
    pcie_bps=256 * _GBPS,
    cpu="amd",
)
_HOPPER = Server(
    8,
    1,
    3600 * _GBPS,
    _NVLINK_HOP_PS,
    nics=8,
    nic_bps=400 * _GBPS,
    pcie_bps=512 * _GBPS,
    in_network=True,
)

SERVERS: dict[str, Server] = {
    "dgx_a100": _AMPERE,
    "dgx_h100": _HOPPER,
    "hgx_h100": _HOPPER,
    "hgx_h200": _HOPPER,
    "hgx_b200": replace(_HOPPER, scale_up_bps=7200 * _GBPS),
    "gb200_nvl72": replace(_HOPPER, gpus=72, scale_up_bps=7200 * _GBPS, nics=72, cpu="arm"),
    "p4d": replace(_AMPERE, nics=4, nic_bps=100 * _GBPS, nccl_plugin="efa_p4d", cpu="intel"),
    "p5": replace(_HOPPER, nccl_plugin="efa_p5", cpu="amd"),
    "p5en": replace(_HOPPER, nccl_plugin="efa_p5en"),
    "a3_mega": replace(_HOPPER, nic_bps=200 * _GBPS, nccl_plugin="tcpxo"),
    "dgx_spark": Server(1, 0, _GBPS, 0, nics=1, nic_bps=200 * _GBPS, cpu="arm"),
    "mi300x": Server(
        8,
        0,
        7 * 512 * _GBPS,
        _NVLINK_HOP_PS,
        nics=8,
        nic_bps=400 * _GBPS,
        pcie_bps=512 * _GBPS,
        cpu="amd",
    ),
}
"""Servers by name, with the numbers of their data sheets. `scale_up_bps` is one direction: half of
what data sheets state, such as 900 GB/s for the H100. NVLink spreads each transfer over all
NVSwitches of a server, so any two GPUs have all of it between them: they are one switch here.
`p4d`, `p5` and `p5en` are those of AWS: the four or two EFA adapters of a GPU of a `p5` or `p5en`
are one NIC of their total rate, over which AWS's plug-in for NCCL divides each message
(aws/aws-ofi-nccl, `src/nccl_ofi_topo.cpp`). `a3_mega` is that of Google Cloud with the NICs of its
GPUs. `dgx_spark` has one GPU, so its scale-up numbers mean nothing.
NVSwitches reduce from their third generation on, that of the H100."""


def joined(
    name: str, servers: int, server: Server, switches: Sequence[str], outside: Sequence[GraphLink]
) -> NetworkGraph:
    """Return servers with everything inside them, and a network between them.

    Parameters
    ----------
    name : str
        The name of the network.
    servers : int
        Number of servers.
    server : Server
        The server.
    switches : sequence of str
        The switches outside the servers.
    outside : sequence of GraphLink
        The links outside the servers, each in one direction. Those that leave a `Server.port` may
        share PCIe links.
    """
    numbers = range(servers)
    leaving = {link.source for link in outside}
    pcie = [link for number in numbers for link in server.pcie_links(number)]
    pcie = [link for link in pcie if link.target in leaving]
    inside = both_ways([link for number in numbers for link in server.links(number)] + pcie)
    within = [switch for number in numbers for switch in server.switches(number)]
    return NetworkGraph(
        name,
        [rank for number in numbers for rank in server.ranks(number)],
        [*within, *(link.target for link in pcie), *switches],
        [*inside, *outside],
    )


def host(nic_bps: int) -> Server:
    """Return a server that is one rank with one NIC.

    Examples
    --------
    >>> host(100 * 10**9).ranks(3)
    ['gpu3.0']
    """
    return replace(SERVERS["mi300x"], gpus=1, nics=1, nic_bps=nic_bps, pcie_bps=0)


def direct_servers(
    graph: Digraph, server: Server, latency_ps: int, ports: int | None = None
) -> NetworkGraph:
    """Return servers whose NICs a direct-connect topology joins.

    The NICs of a server are its ports. With more NICs than ports, each link of the topology is a
    bundle of links, one of each NIC of a port. With more ports than NICs, each NIC is divided
    evenly among its links. The two directions between two servers use the same NICs as far as
    there are both; other links take the next free ones. Packets to another server pass the GPU
    with the NIC to it, and those between servers that are not neighbours pass other servers.

    Parameters
    ----------
    graph : Digraph
        The links between servers, which are its nodes.
    server : Server
        The server.
    latency_ps : int
        Propagation latency of the links between servers.
    ports : int, optional
        Ports of a server, at least as many as its links; by default, as many as the most links.

    Raises
    ------
    ParameterError
        The NICs are neither a multiple nor a divisor of the ports.

    Examples
    --------
    >>> from topology_gen.graphs import ring
    >>> from topology_gen.networks.servers import SERVERS
    >>> network = direct_servers(ring(4), SERVERS["dgx_h100"], 500_000)
    >>> [link.target for link in network.links if link.source == "gpu0.0" and not link.scale_up]
    ['gpu1.0']
    """
    ports, nics = ports or graph.ports, server.nics
    if nics % ports and ports % nics:
        raise ParameterError(
            f"{ports} ports of a server: expected a multiple or a divisor of its {nics} NICs",
            "scale_out",
        )
    copies, shared = max(1, nics // ports), max(1, ports // nics)
    links = [
        GraphLink(
            server.nic(source, (out * copies + copy) // shared),
            server.nic(target, (into * copies + copy) // shared),
            server.endpoint_bps // shared,
            latency_ps,
        )
        for source, target, out, into in _port_numbers(graph)
        for copy in range(copies)
    ]
    return joined("direct_servers", graph.nodes, server, [], links)


def _port_numbers(graph: Digraph) -> list[tuple[int, int, int, int]]:
    """Return source, target, and the ports at both for each link; self-loops are left out."""
    left = Counter((source, target) for source, target in graph.edges() if source != target)
    both = {pair: min(count, left[pair[::-1]]) for pair, count in left.items()}
    sent, taken = Counter[int](), Counter[int]()
    found = []
    for source, target in sorted(left):
        for _ in range(both[source, target] if source < target else 0):
            one, other = sent[source], sent[target]
            found += [(source, target, one, other), (target, source, other, one)]
            sent.update((source, target))
    taken.update(sent)
    for source, target in sorted(left):
        for _ in range(left[source, target] - both[source, target]):
            found.append((source, target, sent[source], taken[target]))
            sent[source] += 1
            taken[target] += 1
    return found


@dataclass(frozen=True)
class Tier:
    """The links of the switches: rate of each link, and latency of all links outside servers.

    Attributes
    ----------
    rate_bps : int
        Rate of each link between switches, in each direction.
    latency_ps : int
        Propagation latency.
    """

    rate_bps: int
    latency_ps: int


def rail_optimized(
    servers: int,
    server: Server,
    uplinks: Tier,
    pod: int | None = None,
    oversubscription: float = 1.0,
    spines: int | None = None,
) -> NetworkGraph:
    """Return servers on rails: NIC k of all servers of a pod is on leaf k, and spines join leaves.

    Every leaf has the same number of links to every spine.

    Parameters
    ----------
    servers : int
        Number of servers, at least 1.
    server : Server
        The server.
    uplinks : Tier
        The links between leaves and spines; the latency is also that of the NICs' links.
    pod : int, optional
        Servers of a pod, also called a scalable unit; all servers by default. The last pod may have
        fewer.
    oversubscription : float
        Rate of a leaf to its servers over its rate to the spines.
    spines : int, optional
        Number of spines. By default, each leaf has one link to each spine.

    Raises
    ------
    ParameterError
        A number is out of range, or the links of a leaf do not divide among the spines.

    Examples
    --------
    >>> from topology_gen.networks.servers import SERVERS
    >>> graph = rail_optimized(4, SERVERS["dgx_h100"], Tier(400 * 10**9, 500_000), pod=2)
    >>> len(graph.ranks), [name for name in graph.switches if name.startswith("spine")]
    (32, ['spine0', 'spine1'])
    """
    pod = servers if pod is None else pod
    if servers < 1:
        raise ParameterError(f"{servers} servers: expected at least 1", "servers")
    if not 1 <= pod <= servers:
        raise ParameterError(f"{pod} servers of a pod: expected 1 … {servers}", "pod")
    pods, rails = -(-servers // pod), server.nics
    links = [
        GraphLink(
            server.port(number, rail),
            f"leaf{number // pod}.{rail}",
            server.port_bps,
            uplinks.latency_ps,
        )
        for number in range(servers)
        for rail in range(rails)
    ]
    leaves = [f"leaf{p}.{rail}" for p in range(pods) for rail in range(rails)]
    if not oversubscription > 0:
        raise ParameterError(f"{oversubscription}: expected more than 0", "oversubscription")
    wanted = pod * server.port_bps / (uplinks.rate_bps * oversubscription)
    names, up = _spines(leaves, wanted, spines, uplinks)
    return joined("rail_optimized", servers, server, [*leaves, *names], both_ways(links + up))


def rail_only(
    servers: int, server: Server, latency_ps: int, rail: Digraph | None = None
) -> NetworkGraph:
    """Return servers on rails that nothing joins but the scale-up networks in the servers.

    Messages between different rails pass a GPU that is in both the server of one end and the rail
    of the other.

    Parameters
    ----------
    servers : int
        Number of servers, at least 2.
    server : Server
        The server.
    latency_ps : int
        Propagation latency of the NICs' links.
    rail : Digraph, optional
        The links inside each rail, whose nodes are the servers; each NIC is divided evenly among
        its links. By default, each rail has a switch.

    Raises
    ------
    ParameterError
        A number is out of range.

    References
    ----------
    W. Wang et al., "Rail-only: a low-cost high-performance network for training LLMs with trillion
    parameters", Hot Interconnects 2024.
    """
    if servers < 2:
        raise ParameterError(f"{servers} servers: expected at least 2", "servers")
    if rail is not None and rail.nodes != servers:
        raise ParameterError(f"{rail.nodes} nodes: expected the {servers} servers", "rail")
    if rail is not None and not server.nics_per_gpu:
        raise ParameterError("expected a NIC for each GPU, as GPUs forward packets", "rail")
    links, leaves = list[GraphLink](), list[str]()
    for number in range(server.nics):
        if rail is None:
            leaves.append(f"leaf{number}")
            ports = [server.port(one, number) for one in range(servers)]
            links += both_ways(
                [GraphLink(port, leaves[-1], server.port_bps, latency_ps) for port in ports]
            )
        else:
            ends = [server.nic(one, number) for one in range(servers)]
            rate = server.endpoint_bps // rail.ports
            links += [
                GraphLink(ends[source], ends[target], rate, latency_ps)
                for source, target in rail.edges()
                if source != target
            ]
    return joined("rail_only", servers, server, leaves, links)


def leaf_spine(
    servers: int,
    server: Server,
    uplinks: Tier,
    radix: int,
    oversubscription: float = 1.0,
    tiers: int = 2,
    spines: int | None = None,
) -> NetworkGraph:
    """Return servers on a folded Clos network; all NICs of a server are on the same leaf.

    A leaf has so many of its ports for NICs that the rate to them is `oversubscription` times the
    rate to the switches above. In three tiers, the leaves of a pod are joined by half the ports of
    the pod's aggregation switches, and the other half leads to the cores.

    Parameters
    ----------
    servers, server, uplinks, spines
        As for `rail_optimized`; `spines` only for two tiers.
    radix : int
        Ports of a switch.
    oversubscription : float
        Rate of a leaf to its NICs over its rate upwards.
    tiers : int
        2 or 3.

    Raises
    ------
    ParameterError
        A number is out of range, or the switches have too few ports for so many servers.

    Examples
    --------
    >>> from topology_gen.networks.servers import host
    >>> graph = leaf_spine(16, host(10**11), Tier(10**11, 10**6), radix=8)
    >>> sum(name.startswith("leaf") for name in graph.switches), len(graph.links)
    (4, 64)
    """
    if servers < 1:
        raise ParameterError(f"{servers} servers: expected at least 1", "servers")
    if tiers not in (2, 3):
        raise ParameterError(f"{tiers} tiers: expected 2 or 3", "tiers")
    if not oversubscription > 0:
        raise ParameterError(f"{oversubscription}: expected more than 0", "oversubscription")
    ratio = oversubscription * uplinks.rate_bps / server.port_bps
    per_leaf = int(radix * ratio / (1 + ratio) + 1e-9) // server.nics
    if per_leaf < 1:
        raise ParameterError(
            f"radix {radix}: expected enough ports for the {server.nics} NICs of a server and the "
            "links upwards",
            "radix",
        )
    count = -(-servers // per_leaf)
    wanted = per_leaf * server.nics / ratio
    leaves = [f"leaf{leaf}" for leaf in range(count)]
    links = [
        GraphLink(
            server.port(number, nic),
            leaves[number // per_leaf],
            server.port_bps,
            uplinks.latency_ps,
        )
        for number in range(servers)
        for nic in range(server.nics)
    ]
    if count == 1:
        above, up = list[str](), list[GraphLink]()
    elif tiers == 2:
        above, up = _spines(leaves, wanted, spines, uplinks)
        if len(up) // len(above) > radix:
            raise ParameterError(
                f"{count} leaves: expected at most {radix}, the ports of a spine", "radix"
            )
    else:
        above, up = _pods(leaves, wanted, radix, uplinks)
    return joined("leaf_spine", servers, server, [*leaves, *above], both_ways(links + up))


def _spines(
    leaves: Sequence[str], wanted: float, spines: int | None, uplinks: Tier
) -> tuple[list[str], list[GraphLink]]:
    """Return spines and the links of the leaves to them, at least `wanted` of each leaf."""
    if len(leaves) < 2:
        return [], []
    each = max(1, -int(-(wanted - 1e-9) // 1))
    count = each if spines is None else spines
    if count < 1 or (each % count and each > count):
        raise ParameterError(
            f"{count} spines: expected a divisor of the {each} links of a leaf upwards", "spines"
        )
    parallel = max(1, each // count)
    names = [f"spine{spine}" for spine in range(count)]
    links = [
        GraphLink(leaf, name, uplinks.rate_bps, uplinks.latency_ps)
        for leaf in leaves
        for name in names
        for _ in range(parallel)
    ]
    return names, links


def _pods(
    leaves: Sequence[str], wanted: float, radix: int, uplinks: Tier
) -> tuple[list[str], list[GraphLink]]:
    """Return aggregation and core switches, and the links between leaves, these and cores."""
    half = radix // 2
    each = max(1, -int(-(wanted - 1e-9) // 1))
    pods = -(-len(leaves) // half)
    if half < 1 or pods > radix:
        raise ParameterError(
            f"{len(leaves)} leaves in {pods} pods: expected at most {radix} pods, the ports of a "
            "core",
            "radix",
        )
    aggregation = [[f"agg{pod}.{number}" for number in range(each)] for pod in range(pods)]
    links = [
        GraphLink(leaf, name, uplinks.rate_bps, uplinks.latency_ps)
        for number, leaf in enumerate(leaves)
        for name in aggregation[number // half]
    ]
    if pods == 1:
        return aggregation[0], links
    cores = [[f"core{number}.{core}" for core in range(half)] for number in range(each)]
    links += [
        GraphLink(name, core, uplinks.rate_bps, uplinks.latency_ps)
        for pod in aggregation
        for number, name in enumerate(pod)
        for core in cores[number]
    ]
    return [name for group in (*aggregation, *cores) for name in group], links
