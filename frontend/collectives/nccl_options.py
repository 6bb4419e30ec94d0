"""Options of the algorithm `nccl`: `nccl` beside the algorithms."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer

from frontend.collectives.nccl_plugins import PluginName
from frontend.schema.base import Model, listed
from frontend.schema.quantities import Delay

NcclAlgorithms = Annotated[
    tuple[
        Literal["ring", "tree", "nvls", "nvls_tree", "pat", "collnet_direct", "collnet_chain"], ...
    ],
    BeforeValidator(listed),
    PlainSerializer(list, return_type=list[str]),
]
NcclProtocols = Annotated[
    tuple[Literal["LL", "LL128", "Simple"], ...],
    BeforeValidator(listed),
    PlainSerializer(list, return_type=list[str]),
]


def _version(value: Any) -> Any:
    """Return the text of a number: 2.20 without quotes is the number 2.2."""
    if isinstance(value, float) and value == round(value, 2):
        return f"{value:.2f}"
    return value


_Version = Literal[
    "2.18", "2.19", "2.20", "2.21", "2.22", "2.23", "2.24", "2.25", "2.26", "2.27", "2.28", "2.29",
    "2.30",
]  # fmt: skip
_Number = Annotated[float, Field(ge=2.18, le=2.3)]
NcclVersion = Annotated[
    _Version, BeforeValidator(_version, json_schema_input_type=_Version | _Number)
]

HostFactor = Annotated[float, Field(ge=0.1, le=100)]
"""A number of a host over that of NCCL's tuner."""


class NcclOptions(Model):
    """Options of the algorithm `nccl`."""

    plugin: PluginName | None = None
    """How NCCL uses the network, with the settings of its vendor: InfiniBand and RoCE (verbs),
    AWS's EFA, or Google's TCPX and TCPXO. null: that of the server."""
    plugin_tuner: bool = True
    """Whether the plug-in's own tuner chooses, where it has one (p5, p5en and p6 of AWS)."""
    net_latency: Delay | None = None
    """Latency that the plug-in of the network tells NCCL, by which NCCL chooses. null: that of the
    plug-in, such as 75us for AWS's p5."""
    net_step: Delay | None = None
    """What a step between servers takes more than over InfiniBand. null: that of the plug-in,
    such as 19us for AWS's p5; or `net_latency`, if that is given."""
    algorithms: NcclAlgorithms = ()
    """The algorithms that NCCL may take (`NCCL_ALGO`); none: those of the plug-in."""
    protocols: NcclProtocols = ()
    """The protocols that NCCL may take (`NCCL_PROTO`); none: those of the plug-in."""
    version: NcclVersion = "2.30"
    """The version of NCCL by whose tuner it chooses. Times are those of 2.30."""
    issue: Delay = Delay.parse("0us")
    """What it takes a host to issue an operation, beyond what NCCL's tuner has. `cosim calibrate`
    fits this and the three numbers below to a log."""
    step: HostFactor = 1.0
    """Time of a step over a link, over that of NCCL's tuner."""
    scale_up: HostFactor = 1.0
    """Rate that the scale-up network reaches, over that of NCCL's tuner."""
    scale_out: HostFactor = 1.0
    """Rate that NICs reach, over their nominal one."""
