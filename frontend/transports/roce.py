"""`transport: {protocol: roce}`: RDMA over Ethernet, with what decides the rate of a queue pair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from frontend import units
from frontend.fabrics import Fabric
from frontend.schema.base import Count, Model, Problems, Whole
from frontend.schema.ports import Links, Switches
from frontend.schema.quantities import Delay, PositiveDelay, PositiveSize, Rate, Size
from frontend.schema.transport import Transport
from frontend.transports.registry import Protocol, Thresholds

_PPB = 10**9
_INT_BYTES = 42
"""Telemetry of five hops of 8 bytes, and a count."""
_TIMESTAMP_BYTES = 8
_DATA_CLASS, _ACK_CLASS = 3, 6
"""Traffic classes: switches may pause that of data; ACKs and notifications go first."""

_Part = Annotated[float, Field(ge=1e-9, le=1)]
"""A share, in the resolution of the stream."""

_THRESHOLDS = {25: (100, 400), 50: (200, 800), 100: (400, 1600), 200: (600, 2400), 400: (800, 3200)}
"""Rate of a link in Gb/s: where marking begins and where it is certain, in kB. Source: the
configuration of the public simulator of Y. Li et al., "HPCC", SIGCOMM 2019."""


class QueuePairWindow(Size):
    """Bytes in flight, or `bdp`, or `none`. The words are held as 0 bytes."""

    @classmethod
    def parse(cls, value: object) -> Self:
        """As `Quantity.parse`, and the two words."""
        if isinstance(value, str) and value.strip() in ("bdp", "none"):
            result = cls(0)
            result.given = value.strip()
            return result
        try:
            result = super().parse(value)
        except ValueError as error:
            raise ValueError(f"{error}, or bdp or none") from None
        if result == 0 and not isinstance(value, cls):
            raise ValueError(f"expected {units.accepted(cls.kind)}, more than 0, or bdp or none")
        return result

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        written = super().__get_pydantic_json_schema__(schema, handler)
        return {"anyOf": [{"enum": ["bdp", "none"]}, written.get("anyOf", [written])[0]]}


class RoceEcn(Model):
    """Which packets switches mark, when they leave an egress queue."""

    enabled: bool = True
    """Whether switches mark packets."""
    kmin: PositiveSize | None = None
    """Queue length from which packets are marked with a chance that rises from 0; null: by the
    rate of the link, 400 kB at 100 Gb/s."""
    kmax: PositiveSize | None = None
    """Queue length from which all packets are marked; null: by the rate of the link, 1600 kB at
    100 Gb/s."""
    pmax: _Part = 0.2
    """The chance just below `kmax`."""


class Cnp(Model):
    """How a receiver tells the sender of marked packets."""

    carrier: Literal["acks", "packets"] | None = None
    """acks: each ACK says whether a packet was marked; packets: congestion notification packets of
    their own; null: as the preset."""
    interval: PositiveDelay = PositiveDelay.parse("50us")
    """packets: least time between two of a connection."""


class Dcqcn(Model):
    """Parameters of `congestion_control: dcqcn`; null: as the preset."""

    gain: _Part = 1 / 256
    """Weight of a new value in the estimate α of how much is marked."""
    alpha_interval: PositiveDelay | None = None
    """Time between two updates of α: 55us (mellanox), 1us (hpcc_2019)."""
    decrease_interval: PositiveDelay = PositiveDelay.parse("4us")
    """Time between two decreases of the rate, if a notification came in between."""
    increase_interval: PositiveDelay | None = None
    """Time between two increases of the rate: 300us (mellanox), 900us (hpcc_2019)."""
    byte_counter: PositiveSize | None = None
    """Bytes sent between two further increases (the paper: 10MB); null: only the time counts."""
    fast_recovery: Whole | None = None
    """Increases after a decrease that only go back to the rate before it: 5 (mellanox), 1
    (hpcc_2019)."""
    first_rate: _Part = 1.0
    """Part of the rate that the first notification leaves."""
    clamp_target: bool = False
    """Whether each decrease, and not only the first one after an increase, sets the rate to which
    fast recovery goes back."""


class Hpcc(Model):
    """Parameters of `congestion_control: hpcc`."""

    target: _Part = 0.95
    """Utilization of the busiest link that is aimed at (η)."""
    stages: Whole = 0
    """Additive increases between two multiplicative changes; the paper has 5, the public simulator
    0."""
    fast_react: bool = True
    """Whether each ACK changes the rate, and not only one of each round trip."""


class Timely(Model):
    """Parameters of `congestion_control: timely`."""

    low: PositiveDelay = PositiveDelay.parse("50us")
    """Round-trip time below which the rate always rises."""
    high: PositiveDelay = PositiveDelay.parse("500us")
    """Round-trip time above which the rate always falls."""
    min_rtt: PositiveDelay = PositiveDelay.parse("20us")
    """By which the gradient of round-trip times is divided."""
    weight: _Part = 0.875
    """Weight of a new difference of round-trip times."""
    beta: _Part = 0.8
    """Largest part by which the rate falls."""
    hyper_after: Count = 5
    """Increases in a row after which they are large."""


class RateDctcp(Model):
    """Parameters of `congestion_control: dctcp`."""

    gain: _Part = 1 / 256
    """Weight of a new value in the estimate α of how much is marked."""
    increase: Rate = Rate.parse("1Gbps")
    """Step of the rate in a round trip without a mark."""


class RoceTransport(Transport):
    """The queue pairs of RDMA over converged Ethernet (RoCE), one for each connection. Each ordered
    pair of ranks that communicates has `flows_per_pair` connections."""

    protocol: Literal["roce"]
    """RDMA over Ethernet: queue pairs that send at a rate."""
    congestion_control: Literal["dcqcn", "dctcp", "hpcc", "timely", "none"] = "dcqcn"
    """What decides the rate. dcqcn: marks, as network interfaces ship (Zhu et al. 2015); dctcp: the
    part of marked packets; hpcc: what switch ports write into packets (Li et al. 2019); timely:
    round-trip times (Mittal et al. 2015); none: line rate."""
    preset: Literal["mellanox", "hpcc_2019"] = "mellanox"
    """Values of the keys that are null. mellanox: as network interfaces ship; hpcc_2019: as the
    public simulator of the HPCC paper is configured."""
    header: Literal["ethernet", "ns3"] = "ethernet"
    """Bytes of a data packet beside its payload. ethernet: 82, as on a wire (preamble, gap,
    Ethernet, IPv4, UDP, base transport header and two checksums); ns3: 48, as in the public ns-3
    code, which cuts transmission times to whole nanoseconds. hpcc adds 42 bytes, timely 8 with ns3.
    `links.header` does not count."""
    payload: PositiveSize | None = None
    """Payload of a full packet; null: 4096B (mellanox), 1000B (hpcc_2019)."""
    window: QueuePairWindow | None = None
    """Most bytes in flight. none: no limit; bdp: the bandwidth-delay product of the path; null:
    none (mellanox), bdp (hpcc_2019 and hpcc)."""
    variable_window: bool | None = None
    """Whether the window shrinks with the rate; null: false (mellanox), true (hpcc_2019)."""
    recovery: Literal["go_back_n", "selective_repeat"] = "go_back_n"
    """What is sent again after a loss. go_back_n: everything from the missing packet on;
    selective_repeat: only what is missing (IRN, Mittal et al. 2018)."""
    timeout: PositiveDelay = PositiveDelay.parse("67108864ns")
    """Time without an acknowledgement after which data is sent again."""
    retries: Annotated[int, Field(ge=0, le=1000)] = 7
    """Timeouts in a row that a connection survives; the next one fails the run."""
    ack_interval: PositiveSize = PositiveSize.parse("1B")
    """Bytes that an ACK waits for. The last packet of a message, and of a window, is always
    acknowledged."""
    nack_interval: Delay = Delay.parse("500us")
    """Least time between two requests for the same missing packet."""
    acks_first: bool | None = None
    """Whether ACKs and notifications go before data, and are never paused; null: true (mellanox),
    false (hpcc_2019)."""
    cnp: Cnp = Cnp()
    """How a receiver tells the sender of marked packets."""
    ecn: RoceEcn = RoceEcn()
    """Which packets switches mark."""
    min_rate: Rate = Rate.parse("100Mbps")
    """Lowest rate of a connection."""
    rate_ai: Rate = Rate.parse("50Mbps")
    """Step of the rate (additive increase)."""
    rate_hai: Rate = Rate.parse("100Mbps")
    """Large step of the rate (hyper increase)."""
    dcqcn: Dcqcn = Dcqcn()
    """Parameters of dcqcn."""
    hpcc: Hpcc = Hpcc()
    """Parameters of hpcc."""
    timely: Timely = Timely()
    """Parameters of timely."""
    dctcp: RateDctcp = RateDctcp()
    """Parameters of dctcp."""


class _Roce(Protocol[RoceTransport]):
    model = RoceTransport
    data_class = _DATA_CLASS
    of_network: ClassVar = {
        "header": "packets of all jobs have the same headers",
        "payload": "packets of all jobs have the same size",
        "ecn": "switches mark the packets of all jobs in the same way",
        "flows_per_pair": "messages of all jobs are divided in the same way",
    }

    def header_bytes(self, transport: RoceTransport) -> int:
        """Return everything on the wire beside the payload."""
        telemetry = {"hpcc": _INT_BYTES}.get(transport.congestion_control, 0)
        if transport.header == "ethernet":
            return 82 + telemetry
        return 48 + (_TIMESTAMP_BYTES if transport.congestion_control == "timely" else telemetry)

    def wire_header_bytes(self, transport: RoceTransport, links: Links) -> int:
        return self.header_bytes(transport)

    def payload_bytes(self, transport: RoceTransport, links: Links) -> int:
        return _payload(transport)

    def window_bytes(self, transport: RoceTransport) -> int:
        return max(transport.window or 0, 1)

    def changes_circuits(self) -> bool:
        return False

    def problems(self, transport: RoceTransport, links: Links, fabric: Fabric) -> Problems:
        ecn = transport.ecn
        if fabric.name == "native":
            yield (
                "fabric",
                "expected express, flow or analytical, because transport.protocol is roce and "
                "native has ns-3's TCP",
            )
        full = self.payload_bytes(transport, links) + self.header_bytes(transport)
        if full > 65535:
            yield (
                "transport.payload",
                f"expected at most {65535 - self.header_bytes(transport)} bytes",
            )
        if transport.ack_interval > 2**30:
            yield "transport.ack_interval", "expected at most 1GiB"
        if (ecn.kmin is None) != (ecn.kmax is None):
            missing = "kmin" if ecn.kmin is None else "kmax"
            yield f"transport.ecn.{missing}", "expected a size, because the other threshold has one"
        elif ecn.kmin is not None and ecn.kmax is not None and ecn.kmax < ecn.kmin:
            yield "transport.ecn.kmax", f"expected at least transport.ecn.kmin ({ecn.kmin})"
        if _needs_marks(transport) and not ecn.enabled:
            because = f"transport.congestion_control is {transport.congestion_control}"
            yield "transport.ecn.enabled", f"expected true, because {because}"
        if transport.timely.high <= transport.timely.low:
            yield "transport.timely.high", "expected more than transport.timely.low"

    def format_problems(self, whole: RoceTransport, own: RoceTransport) -> Problems:
        if _payload(own) != _payload(whole):
            yield (
                "transport.preset",
                f"expected {whole.preset}, because packets of all jobs have the same size, and the "
                "preset decides it without transport.payload",
            )
        headers = self.header_bytes(whole)
        if self.header_bytes(own) != headers:
            known = get_args(RoceTransport.model_fields["congestion_control"].annotation)
            alike = [
                name
                for name in known
                if self.header_bytes(own.model_copy(update={"congestion_control": name})) == headers
            ]
            yield (
                "transport.congestion_control",
                f"expected {', '.join(alike)}, because packets of all jobs have the same headers, "
                "and what hpcc, and with header: ns3 timely, write into them makes them longer",
            )

    def thresholds(
        self, transport: RoceTransport, switches: Switches, rates: NDArray[np.uint64]
    ) -> Thresholds | None:
        ecn = transport.ecn
        if not ecn.enabled:
            return None
        begin, end = (
            np.array([_by_rate(int(rate), which) for rate in rates], dtype=np.uint64)
            if given is None
            else np.full(len(rates), given, dtype=np.uint64)
            for which, given in enumerate((ecn.kmin, ecn.kmax))
        )
        return Thresholds(begin, end, ecn.pmax, at_dequeue=True)

    def fields(
        self, transport: RoceTransport, links: Links, switches: Switches
    ) -> Mapping[str, Any]:
        is_public = transport.preset == "hpcc_2019"
        is_hpcc = transport.congestion_control == "hpcc"
        is_ethernet = transport.header == "ethernet"
        by_preset = "bdp" if is_public or is_hpcc else "none"
        window = QueuePairWindow.parse(by_preset) if transport.window is None else transport.window
        variable, dcqcn = transport.variable_window, transport.dcqcn
        carrier = transport.cnp.carrier or ("acks" if is_public else "packets")
        sends_cnps = carrier == "packets" and transport.congestion_control == "dcqcn"
        telemetry = self.header_bytes(transport) - (82 if is_ethernet else 48)
        timely, dctcp = transport.timely, transport.dctcp
        acks_first = not is_public if transport.acks_first is None else transport.acks_first
        return {
            "congestion_control": transport.congestion_control,
            "payload_bytes": self.payload_bytes(transport, links),
            "header_bytes": self.header_bytes(transport),
            "ack_bytes": 86 + telemetry if is_ethernet else max(60, 46 + telemetry),
            "cnp_bytes": (98 if is_ethernet else 60) if sends_cnps else 0,
            "cnp_interval_ps": transport.cnp.interval,
            "time_unit_ps": 1 if is_ethernet else 1000,
            "telemetry": is_hpcc,
            "window_bytes": window,
            "product_window": window.written() == "bdp",
            "variable_window": is_public if variable is None else variable,
            "ack_interval_bytes": transport.ack_interval,
            "nack_interval_ps": transport.nack_interval,
            "timeout_ps": transport.timeout,
            "retries": transport.retries,
            "data_class": _DATA_CLASS,
            "ack_class": _ACK_CLASS if acks_first else _DATA_CLASS,
            "ecn": transport.ecn.enabled and _needs_marks(transport),
            "recovery": transport.recovery.upper(),
            "min_rate_bps": transport.min_rate,
            "increase_bps": transport.rate_ai,
            "hyper_increase_bps": transport.rate_hai,
            "dcqcn": {
                "gain_ppb": round(dcqcn.gain * _PPB),
                "alpha_interval_ps": dcqcn.alpha_interval or (1 if is_public else 55) * 10**6,
                "cut_interval_ps": dcqcn.decrease_interval,
                "rise_interval_ps": dcqcn.increase_interval or (900 if is_public else 300) * 10**6,
                "counter_bytes": dcqcn.byte_counter or 0,
                "recovery_steps": (
                    (1 if is_public else 5) if dcqcn.fast_recovery is None else dcqcn.fast_recovery
                ),
                "first_rate_ppb": round(dcqcn.first_rate * _PPB),
                "clamps_target": dcqcn.clamp_target,
            },
            "hpcc": {
                "target_ppb": round(transport.hpcc.target * _PPB),
                "stages": transport.hpcc.stages,
                "reacts_fast": transport.hpcc.fast_react,
            },
            "timely": {
                "short_rtt_ps": timely.low,
                "long_rtt_ps": timely.high,
                "min_rtt_ps": timely.min_rtt,
                "weight_ppb": round(timely.weight * _PPB),
                "beta_ppb": round(timely.beta * _PPB),
                "hyper_after": timely.hyper_after,
            },
            "dctcp": {
                "gain_ppb": round(dctcp.gain * _PPB),
                "increase_bps": dctcp.increase,
            },
        }


def _payload(transport: RoceTransport) -> int:
    return transport.payload or (4096 if transport.preset == "mellanox" else 1000)


def _needs_marks(transport: RoceTransport) -> bool:
    return transport.congestion_control in ("dcqcn", "dctcp")


def _by_rate(rate_bps: int, which: int) -> int:
    """Return a threshold for a link in bytes; rates between two of the table are interpolated."""
    rates = np.array([0, *_THRESHOLDS], dtype=float) * 1e9
    sizes = np.array([0, *(pair[which] for pair in _THRESHOLDS.values())], dtype=float) * 1e3
    if rate_bps > rates[-1]:
        return int(sizes[-1] * rate_bps / rates[-1])
    return max(1, int(np.interp(rate_bps, rates, sizes)))


PROTOCOL = _Roce()
