"""Topologies of servers: `rail_optimized`, `rail_only` and `leaf_spine`."""

from typing import Annotated, Any, Literal, get_args

from pydantic import Field, model_validator

from frontend.schema.base import Count, Model, Whole
from frontend.schema.graph import ClusterTopology
from frontend.schema.quantities import Delay, Rate
from frontend.schema.topoopt import DemandChoice, Discount
from topology_gen.networks.servers import SERVERS

ServerName = Literal["dgx_a100", "dgx_h100", "hgx_b200", "gb200_nvl72", "mi300x"]

Ratio = Annotated[float, Field(gt=0, le=1000)]
"""A positive ratio."""


class ServerModel(Model):
    """A server: one of the known ones, or one with other numbers. A plain name stands for
    `{model: …}`."""

    model: ServerName = "dgx_h100"
    """The server whose numbers hold where you give none."""
    gpus: Count | None = None
    """Number of GPUs; every GPU is a rank."""
    scale_up_switches: Whole | None = None
    """Number of scale-up switches, such as NVSwitches; 0: every GPU is linked to every other."""
    scale_up_bandwidth: Rate | None = None
    """Total scale-up rate of a GPU in each direction."""
    scale_up_latency: Delay | None = None
    """Propagation latency of each scale-up link."""
    nics: Count | None = None
    """Number of NICs, a multiple or a divisor of the GPUs. NIC k is in rail k."""
    nic_bandwidth: Rate | None = None
    """Rate of each NIC in each direction."""
    pcie_bandwidth: Rate | None = None
    """Rate between a GPU and its NICs in each direction."""

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        return {"model": value} if isinstance(value, str) else value


assert set(get_args(ServerName)) == set(SERVERS)


class ServersTopology(ClusterTopology):
    """Servers of GPUs with scale-up networks inside, and a scale-out network between their NICs.
    Ranks are numbered server by server."""

    servers: Count
    """Number of servers."""
    latency: Delay = Delay.parse("0.5us")
    """Propagation latency of each link outside the servers, one way."""


class RailOptimizedTopology(ServersTopology):
    """NIC k of all servers of a pod is on leaf k, and spines join all leaves."""

    family: Literal["rail_optimized"]
    """Servers on rails: a leaf for each NIC of a pod's servers, and spines between the leaves."""
    server: ServerModel = ServerModel()
    """The server."""
    pod: Count | None = None
    """Servers of a pod (scalable unit); null: all servers."""
    uplink: Rate | None = None
    """Rate of each link between a leaf and a spine; null: that of a NIC."""
    oversubscription: Ratio = 1.0
    """Rate of a leaf to its servers over its rate to the spines."""
    spines: Count | None = None
    """Number of spines; null: each leaf has one link to each spine."""
    pxn: bool = False
    """Whether packets may pass a GPU: those to another rail go over the scale-up network to the GPU
    of that rail, and not over the spines (as NCCL's PXN)."""


class RailOnlyTopology(ServersTopology):
    """NIC k of all servers is on switch k, and nothing joins the rails but the servers. Packets to
    another rail pass a GPU of that rail."""

    family: Literal["rail_only"]
    """Servers on rails that only the scale-up networks join."""
    server: ServerModel = ServerModel()
    """The server."""
    rail: str | None = None
    """Links inside a rail without a switch: a direct-connect topology of all servers, written as
    `family:key=value,…`; null: each rail has a switch."""


class LeafSpineTopology(ServersTopology):
    """All NICs of a server are on the same leaf, and spines join all leaves (folded Clos). Without
    `server`, every server is a rank with one NIC."""

    family: Literal["leaf_spine"]
    """Leaf–spine or three-tier Clos network of switches with any radix and oversubscription."""
    server: ServerModel | None = None
    """The server; null: a single rank with one NIC."""
    bandwidth: Rate = Rate.parse("100Gbps")
    """Rate of the NIC of a single rank. With `server`, NICs have the rate of the server."""
    radix: Count = 64
    """Ports of a switch."""
    uplink: Rate | None = None
    """Rate of each link between switches; null: that of a NIC."""
    oversubscription: Ratio = 1.0
    """Rate of a leaf to its NICs over its rate upwards."""
    tiers: Literal[2, 3] = 2
    """2: leaves and spines; 3: leaves, aggregation switches and cores."""
    spines: Count | None = None
    """Number of spines with two tiers; null: each leaf has one link to each spine."""


class DirectServersTopology(ServersTopology):
    """The NICs of servers are linked to each other directly. Packets pass a GPU with a NIC to the
    other server, and other servers between servers that are not neighbours."""

    family: Literal["direct_servers"]
    """Servers whose NICs a direct-connect topology joins."""
    server: ServerModel = ServerModel()
    """The server."""
    scale_out: str
    """Links between servers: a direct-connect topology of all servers, written as
    `family:key=value,…`. The NICs of a server are its ports: they are a multiple of the degree,
    and then links are bundles, or a divisor of it, and then links share a NIC."""


class TopoOptServersTopology(ServersTopology):
    """The NICs of servers are linked by TopoOpt for the transfers between servers: rings for
    all-reduces, and matchings for the others. Packets take shortest paths over links and GPUs."""

    family: Literal["topoopt_servers"]
    """Servers whose NICs TopoOpt links for the job's transfers."""
    server: ServerModel = ServerModel()
    """The server."""
    d: Count | None = None
    """Degree: number of ports of each server, a multiple or a divisor of its NICs; null: the
    NICs."""
    demand: DemandChoice | None = None
    """The transfers between servers: a mapping as of the family `topoopt`; `workload`: what the
    servers transfer in an iteration of `workload.kind: training`; null: one all-reduce."""
    duplex: bool = True
    """true: rings go both ways and take two ports of each server; false: one way and one port."""
    discount: Discount = "exponential"
    """Value of the x-th link between the same two servers, as of the family `topoopt`."""
