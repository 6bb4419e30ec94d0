"""Networks of servers: rails with a switch each, leaf–spine and three-tier Clos networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph
from topology_gen.networks.graph import GraphLink, NetworkGraph, both_ways
from topology_gen.networks.servers import Server, joined


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
