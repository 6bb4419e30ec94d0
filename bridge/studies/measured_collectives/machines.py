"""The machines of the published tables, and the scenario of a row."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Group:
    """Rows of one machine.

    Attributes
    ----------
    text : str
        The machine in words.
    server : mapping
        `topology.server` in a scenario. The planes of NVSwitches are one switch, because NVLink
        spreads each transfer over all of them, and the four EFA adapters of a GPU of a p5 are one
        NIC of their total rate.
    reduces : bool
        Whether NVSwitches reduced (NVLS), which `nccl` does not simulate.
    net_latency : str
        Latency that the plug-in of the network tells NCCL (aws/aws-ofi-nccl 2daf7d303aa1,
        `src/platform-aws.cpp`).
    """

    text: str
    server: Mapping[str, Any]
    reduces: bool = False
    net_latency: str = "0us"


def _server(model: str, **given: Any) -> dict[str, Any]:
    return {"model": model, "scale_up_switches": 1} | given


_NIC = {"nics": 8, "nic_bandwidth": "400Gbps"}

GROUPS: dict[str, Group] = {
    "a100": Group("8 A100, one server", _server("dgx_a100")),
    "h200": Group("4 to 8 H200, one server, NVLS off", _server("hgx_h200")),
    "b200": Group("4 to 8 B200, one server, NVLS off", _server("hgx_b200")),
    "h200-nvls": Group("8 H200, one server", _server("hgx_h200"), reduces=True),
    "b200-nvls": Group("8 B200, one server", _server("hgx_b200"), reduces=True),
    "gb200-nvls": Group("72 GB200, one NVL72", _server("gb200_nvl72"), reduces=True),
    "p5": Group(
        "servers of 8 H100, 32 EFA adapters of 100 Gb/s each",
        _server("p5", **_NIC),
        net_latency="75us",
    ),
    "p5en-ring": Group(
        "servers of 8 H200, 16 EFA adapters of 200 Gb/s",
        _server("p5en", **_NIC),
        net_latency="35us",
    ),
    "p6-b200": Group(
        "servers of 8 B200, 8 EFA adapters of 400 Gb/s", _server("hgx_b200"), net_latency="35us"
    ),
    "a100-2x4-ring": Group(
        "servers of 4 A100, 4 NICs of 200 Gb/s, NCCL_ALGO=RING",
        _server("dgx_a100", gpus=4, nics=4),
    ),
    "b200-ib": Group("servers of 8 B200, 8 NDR NICs of 400 Gb/s", _server("hgx_b200")),
    "spark": Group("two DGX Spark, one cable of 200 Gb/s", {"model": "dgx_spark"}),
}


@dataclass(frozen=True)
class Row:
    """A row of a published table.

    Attributes
    ----------
    group, operation : str
        The machine, and the operation.
    servers, gpus, bytes : int
        Servers, GPUs of all of them, and the size.
    measured_us : float, optional
        The time; None for a blind row that nobody has read yet.
    source : str
        Repository, commit and file, or repository and issue.
    """

    group: str
    operation: str
    servers: int
    gpus: int
    bytes: int
    measured_us: float | None
    source: str

    @property
    def name(self) -> str:
        """A name of the row's simulation."""
        return (
            f"{self.group} {self.servers}x{self.gpus // self.servers} {self.operation} {self.bytes}"
        )

    @property
    def reduces(self) -> bool:
        """Whether NVSwitches reduced."""
        return GROUPS[self.group].reduces

    def scenario(self) -> dict[str, Any]:
        """Return the scenario of the row."""
        server = dict(GROUPS[self.group].server)
        local = self.gpus // self.servers
        if self.servers == 1:
            server |= {"gpus": local, "nics": local}
        return {
            "name": self.name.replace(" ", "-"),
            "description": self.source,
            "fabric": "analytical",
            "topology": {
                "family": "rail_optimized",
                "servers": self.servers,
                "server": server,
                "latency": "0.5us",
                "buffer": "64MB",
                "pxn": True,
            },
            "links": {"mtu": "9000B"},
            "transport": {"window": "unlimited"},
            "workload": {
                "kind": "collective",
                "operation": self.operation,
                "algorithm": "nccl",
                "nccl_net_latency": GROUPS[self.group].net_latency,
                "bytes": f"{self.bytes}B",
            },
        }


def rows() -> list[Row]:
    """Return the rows that were measured, in the order of `rows.csv`."""
    with (FOLDER / "rows.csv").open(encoding="utf-8", newline="") as file:
        return [
            Row(
                one["group"],
                one["operation"],
                int(one["servers"]),
                int(one["gpus"]),
                int(one["bytes"]),
                float(one["time_us"]) if one["time_us"] else None,
                " ".join(filter(None, (one["repository"], one["commit"], one["file"]))),
            )
            for one in csv.DictReader(file)
        ]
